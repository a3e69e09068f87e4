"""The recorded truth, through the whole road: exact bytes for the client, every event at the backend."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tardis_bronze import Ledger, Report, peek
from tardis_jetstream import Access, Connection, read_stream
from tardis_testing import Road

pytestmark = pytest.mark.corpus


def test_recorded_messages_give_the_recorded_lines(corpus: Path, tmp_path: Path) -> None:
    """A session is served as one minute of slices; mapper state carries on from step to step."""
    recorded = json.loads((corpus / "bitmex.json").read_text())
    overlay = tmp_path / "overlay"
    (overlay / "bitmex").mkdir(parents=True)
    starts = [datetime(2021, 3, 1, hour, 0) for hour in range(len(recorded["sessions"]))]
    for start, session in zip(starts, recorded["sessions"], strict=True):
        lines = [
            f"{step['replayLocalTimestamp']} {json.dumps(step['message'], separators=(',', ':'), ensure_ascii=False)}\n"
            for step in session["steps"]
        ]
        (overlay / "bitmex" / f"{start:%Y-%m-%dT%H-%M}.ndjson").write_text("".join(lines))
    with Road(tmp_path, settings={"TM_SIMULATOR_OVERLAY": str(overlay)}) as road:
        for start, session in zip(starts, recorded["sessions"], strict=True):
            body = b"".join(
                road.replay(
                    **{
                        "from": f"{start:%Y-%m-%dT%H:%M}",
                        "to": f"{start + timedelta(minutes=1):%Y-%m-%dT%H:%M}",
                        "dataTypes": session["replayDataTypes"],
                    }
                )
            )
            expected = [line for step in session["steps"] for line in step["replayLines"]]
            assert len(expected) > 10
            assert body.decode().splitlines() == expected


def test_ten_minutes_have_the_recorded_hash_and_all_of_it_reaches_the_backend(corpus: Path, tmp_path: Path) -> None:
    case = "bitmex HTTP /replay-normalized trade+book_change"
    recorded = json.loads((corpus / "_replay_hashes.json").read_text())["cases"][case]
    with Road(tmp_path, rate=60_000, workers=2) as road:
        digest, size, messages = hashlib.sha256(), 0, 0
        for piece in road.replay(symbols=["XBTUSD", "ETHUSD"], to="2020-02-01T00:10"):
            digest.update(piece)
            size += len(piece)
            messages += piece.count(b"\n")
        assert (messages, size, digest.hexdigest()) == (recorded["messages"], recorded["bytes"], recorded["sha256"])
        report = asyncio.run(_count(road.nats.url, messages))
    assert report.fresh == messages + 1  # the disconnect is published too
    assert (report.lost, report.reordered, report.repeated) == (0, 0, 0)


async def _count(url: str, messages: int) -> Report:
    connection = Connection(Access(servers=(url,)), name="test")
    ledger = Ledger()
    seen = 0
    async with asyncio.timeout(240):
        async for page in read_stream(connection, "market.bronze", from_start=True):
            for message in page:
                ledger.see(peek(message.data))
            seen += len(page)
            if seen > messages:
                break
    await connection.close()
    return ledger.report()
