"""What Bronze costs: CPU microseconds per event, ours compiled and plain beside google.protobuf (upb), all in one run.

Each figure is the best of many short rounds: a busy machine disturbs some of them, hardly all.

python tests/perf/bench_bronze.py [--events 2000] [--rounds 15]
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable
from time import process_time
from typing import Any

from msgspec import Raw
from xxhash import xxh3_128_digest

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent
from tardis_bronze import LaneEvents, coalesce, decode, peek, read_pack, write_pack
from tardis_bronze.stream import BronzeStream as PlainStream
from tardis_market.records import BookChange, Decimal, Levels, Record, Trade

START = 15_805_152_000_000_000
NOW = 1_600_000_000_123_456_789
BLOCK = 500
META = {"request_id": "0b7e", "transport": "http"}


def trades(count: int) -> list[Record]:
    return [
        Trade(
            "bitmex",
            "XBTUSD",
            f"{i:08x}-5a1b-4c52",
            f"{9300 + i % 50}.5",
            str(100 + i % 900),
            "buy",
            START // 10 + i,
            START + 7 * i,
        )
        for i in range(count)
    ]


def books(count: int) -> list[Record]:
    """Eleven levels each: six bids, five asks, as an exchange sends them."""

    def side(i: int, levels: int) -> Raw:
        return Raw(
            ("[" + ",".join(f'["{9300 + (i + k) % 90}.5","{(i * 37 + k * 11) % 9000}.25"]' for k in range(levels)) + "]").encode()
        )

    return [BookChange("bitmex", "XBTUSD", False, side(i, 6), side(i + 9, 5), START // 10 + i, START + 7 * i) for i in range(count)]


def small_books(count: int) -> list[Record]:
    """Two levels as pairs of text, which is what most book changes of BitMEX come down to."""

    def side(i: int) -> list[tuple[Decimal, Decimal]]:
        return [(f"{9300 + i % 90}.5", str(i * 37 % 9000))]

    return [BookChange("bitmex", "XBTUSD", False, side(i), side(i + 9), START // 10 + i, START + 7 * i) for i in range(count)]


def upb_event(seq: int, local: int, data_type: str) -> NormalizedEvent:
    event = NormalizedEvent(
        source="producer", exchange="bitmex", symbol="XBTUSD", origin="ORIGIN_REPLAY", stream_id="s-1", stream_seq=seq
    )
    event.meta.update(META)
    event.meta["data_type"] = data_type
    event.local_ts.seconds, event.local_ts.nanos = divmod(local * 100, 10**9)
    event.ingest_ts.seconds, event.ingest_ts.nanos = divmod(NOW, 10**9)
    event.event_id = bytes(16)
    return event


def upb_trades(rows: list[tuple[Any, ...]]) -> int:
    size = 0
    for seq, (ident, price, amount, at, local) in enumerate(rows, 1):
        event = upb_event(seq, local, "trade")
        trade = event.trade
        trade.trade_id, trade.price_str, trade.qty_str, trade.side = ident, price, amount, 1  # type: ignore[assignment]
        trade.event_ts.seconds, trade.event_ts.nanos = divmod(at * 1000, 10**9)
        size += len(event.SerializeToString())
    return size


def upb_books(rows: list[tuple[Any, ...]]) -> int:
    """The levels are parsed beforehand, which ours does inside the measure."""
    size = 0
    for seq, (bids, asks, at, local) in enumerate(rows, 1):
        event = upb_event(seq, local, "book_change")
        book = event.book_change
        for target, levels in ((book.bids, bids), (book.asks, asks)):
            for price, amount in levels:
                target.add(price_str=price, qty_str=amount)
        book.event_ts.seconds, book.event_ts.nanos = divmod(at * 1000, 10**9)
        size += len(event.SerializeToString())
    return size


def best(rounds: int, works: dict[str, tuple[int, Callable[[], object]]]) -> dict[str, float]:
    """CPU microseconds per event, the best of several rounds. The works take turns, so that a slow minute hits all of them; each
    runs once before it is timed, because in a replay the records were made just before and lie in the caches."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, (count, work) in works.items():
            work()
            begin = process_time()
            work()
            taken[name].append((process_time() - begin) / count * 1e6)
    return {name: min(times) for name, times in taken.items()}


def encoder(half: Callable[..., Any], records: list[Record]) -> Callable[[], list[list[LaneEvents]]]:
    """In blocks, as a replay hands its records over."""
    stream = half(source="producer", origin=2, stream_id="s-1", meta=META)
    blocks = [records[i : i + BLOCK] for i in range(0, len(records), BLOCK)]
    return lambda: [stream.encode(block, NOW) for block in blocks]


def compiled_half() -> Callable[..., Any] | None:
    try:
        return importlib.import_module("tardis_bronze._c.write").BronzeStream  # type: ignore[no-any-return]
    except ImportError:
        return None


def upb_rows(records: list[Any]) -> list[tuple[Any, ...]]:
    if isinstance(records[0], Trade):
        return [(r.id, r.price, r.amount, r.timestamp, r.local_timestamp) for r in records]
    return [(parsed(r.bids), parsed(r.asks), r.timestamp, r.local_timestamp) for r in records]


def parsed(levels: Levels) -> Any:
    return levels if isinstance(levels, list) else json.loads(bytes(levels))


def report(title: str, records: list[Record], upb: Callable[[list[tuple[Any, ...]]], int], rounds: int) -> None:
    count = len(records)
    rows = upb_rows(records)
    blocks = [lane for (lane,) in encoder(PlainStream, records)()]
    # As large as the hand-off lets a pack grow: about 4,096 events.
    lane = LaneEvents(blocks[0].lane, sum(b.count for b in blocks[:8]), b"".join([block.data for block in blocks[:8]]))
    hashed = [bytes(40) + event[120:] for event in read_pack(write_pack(lane)).events()]
    print(f"{title}, {len(lane.data) / lane.count:.0f} bytes each")
    halves = {"compiled": compiled_half(), "plain": PlainStream}
    costs = best(
        rounds,
        {
            "upb": (count, lambda: upb(rows)),
            "id": (lane.count, lambda: [xxh3_128_digest(data) for data in hashed]),
            **{name: (count, encoder(half, records)) for name, half in halves.items() if half is not None},
        },
    )
    theirs, identity = costs.pop("upb"), costs.pop("id")
    print(f"  upb, build and serialize   {theirs:7.3f} us   (no id)")
    for name, ours in costs.items():
        print(f"  ours {name:<21} {ours:7.3f} us   {theirs / ours:5.1f}x upb, with id; about {ours - identity:.3f} us without")
    print(f"  id: hashing alone          {identity:7.3f} us")
    show_packs(lane, rounds)


def show_packs(lane: LaneEvents, rounds: int) -> None:
    pack = write_pack(lane)
    events = read_pack(pack).events()
    works: dict[str, Callable[[], object]] = {
        "pack write": lambda: write_pack(lane),
        "pack read": lambda: read_pack(pack),
        "pack coalesce (2)": lambda: coalesce([pack, pack]),
        "peek": lambda: [peek(event) for event in events],
        "decode (upb)": lambda: [decode(event) for event in events],
    }
    for name, cost in best(rounds, {name: (lane.count, work) for name, work in works.items()}).items():
        print(f"  {name:<26} {cost:7.3f} us")
    print(f"  pack ratio                 {len(lane.data) / len(pack):7.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--events", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print(f"CPU microseconds per event, the best of {options.rounds} rounds of {options.events} events")
    report("trade", trades(options.events), upb_trades, options.rounds)
    report("book change of 2 levels", small_books(options.events), upb_books, options.rounds)
    report("book change of 11 levels", books(options.events), upb_books, options.rounds)


if __name__ == "__main__":
    main()
