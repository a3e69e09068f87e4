"""Looking at an envelope gives what protobuf gives, whatever the bytes."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent
from tardis_bronze import EventError, decode, peek
from tardis_market.tables import PAYLOADS

PROPERTY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
CASES = {table.case: table.case_name for table in PAYLOADS}
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.fixture(params=["tardis_bronze.scan", "tardis_bronze._c.read"])
def scan_head(request: pytest.FixtureRequest) -> Any:
    try:
        return importlib.import_module(request.param).scan_head
    except ImportError:
        pytest.skip("compiled half is not built")


def head_of(event: NormalizedEvent) -> tuple[object, ...]:
    case = event.WhichOneof("payload")
    number = event.DESCRIPTOR.fields_by_name[case].number if case else 0
    return event.source, event.exchange, event.symbol, event.origin, number, event.event_id, event.stream_id, event.stream_seq


def sample(case: int = 100) -> NormalizedEvent:
    event = NormalizedEvent(
        source="p", exchange="bitmex", symbol="XBTUSD", origin="ORIGIN_REPLAY", stream_id="s", stream_seq=2**64 - 1
    )
    event.event_id = bytes(range(16))
    event.meta.update({"b": "2", "a": "", "": "x"})
    event.local_ts.seconds = 5
    getattr(event, NormalizedEvent.DESCRIPTOR.fields_by_number[case].name).SetInParent()
    return event


@pytest.mark.parametrize("case", CASES)
def test_a_peek_sees_the_envelope(case: int, scan_head: Any) -> None:
    event = sample(case)
    data = event.SerializeToString()
    assert scan_head(data) == head_of(event)
    head = peek(data)
    assert (head.payload_case, head.meta, head.data) == (CASES[case], dict(event.meta), data)


def test_an_event_without_payload_or_with_a_newer_one_has_no_case(scan_head: Any) -> None:
    assert scan_head(b"")[4] == 0
    assert peek(b"").payload_case == ""
    newer = b"\xf2\x06\x01x"  # field 110
    assert scan_head(sample().SerializeToString() + newer)[4] == 100


def test_fields_of_other_forms_and_repeated_ones_are_read_as_protobuf_does(scan_head: Any) -> None:
    odd = b"\x10\x05" + b"\x12\x01a" + b"\x12\x01b" + b"\x0d\x00\x00\x00\x00" + b"\x19" + bytes(8) + b"\x32\x01x" + b"\x68\x07"
    assert scan_head(odd) == head_of(decode(odd)) == ("", "b", "", 0, 0, b"", "", 7)


@pytest.mark.parametrize("bad", [b"\x12\x05a", b"\x12", b"\xff" * 11, b"\x13", b"\x0d\x00", b"\x12\x01\xff"])
def test_malformed_events_are_refused(bad: bytes, scan_head: Any) -> None:
    with pytest.raises(EventError):
        scan_head(bad)
    with pytest.raises(EventError):
        decode(bad)


def outcome(scan: Any, data: bytes) -> object:
    try:
        return scan(data)
    except EventError as error:
        return str(error)


@settings(PROPERTY, max_examples=300)
@given(st.data())
def test_any_damage_is_judged_alike_and_never_misread(data: st.DataObject) -> None:
    good = sample().SerializeToString()
    at = data.draw(st.integers(0, len(good)))
    bad = good[:at] + data.draw(st.binary(max_size=4)) + good[at + data.draw(st.integers(0, 3)) :]
    plain = outcome(importlib.import_module("tardis_bronze.scan").scan_head, bad)
    try:
        compiled = importlib.import_module("tardis_bronze._c.read").scan_head
    except ImportError:
        compiled = None
    assert compiled is None or outcome(compiled, bad) == plain
    try:
        event = NormalizedEvent.FromString(bad)
    except DecodeError:
        return
    # A field number of 0 or a group is protobuf's to accept or refuse; where both accept, they agree.
    if isinstance(plain, tuple) and 0 <= plain[3] < 2**31:
        assert plain == head_of(event)


@settings(PROPERTY)
@given(text, text, st.dictionaries(text, text, max_size=4))
def test_meta_is_read_as_protobuf_reads_it(exchange: str, symbol: str, meta: dict[str, str]) -> None:
    event = NormalizedEvent(exchange=exchange, symbol=symbol, meta=meta)
    head = peek(event.SerializeToString())
    assert (head.exchange, head.symbol, head.meta) == (exchange, symbol, meta)
