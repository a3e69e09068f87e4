"""The field tables, prepared for the wire. Both encoders, the plain and the compiled one, and `to_record` follow these plans."""

from __future__ import annotations

from typing import NamedTuple

from google.protobuf.descriptor import FieldDescriptor

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent
from tardis_market.tables import PAYLOADS, Field, Kind, Table

from .wire import BYTES, VARINT, tag

_LARGEST = {
    FieldDescriptor.TYPE_UINT32: (1 << 32) - 1,
    FieldDescriptor.TYPE_UINT64: (1 << 64) - 1,
}
_VARINTS = (Kind.INTEGER, Kind.FLAG, Kind.CHOICE)


class Step(NamedTuple):
    """One field of a payload."""

    attr: str
    kind: Kind
    number: int
    tag: bytes
    identity: bool
    choices: dict[str, int]
    largest: int  # of an INTEGER; what is larger is left out, like a fraction


class Plan(NamedTuple):
    table: Table
    steps: tuple[Step, ...]  # by rising field number
    named: bool  # the record has a name, which tells its options
    numbered: bool  # the record has the exchange's own id


def _step(table: Table, field: Field) -> Step:
    message = NormalizedEvent.DESCRIPTOR.fields_by_number[table.case].message_type
    assert message is not None
    wire = message.fields_by_number[field.wire]
    return Step(
        attr=field.attr,
        kind=field.kind,
        number=field.wire,
        tag=tag(field.wire, VARINT if field.kind in _VARINTS else BYTES),
        identity=field.identity,
        choices=dict(field.choices),
        largest=_LARGEST[wire.type] if field.kind is Kind.INTEGER else 0,
    )


def _plan(table: Table) -> Plan:
    steps = tuple(_step(table, field) for field in table.wire_fields)
    attributes = table.record.__struct_fields__
    return Plan(table, steps, named="name" in attributes, numbered="id" in attributes)


PLANS = {table.case: _plan(table) for table in PAYLOADS}
CASE_NAMES = {table.case: table.case_name for table in PAYLOADS}
