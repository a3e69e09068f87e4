"""Messages per CPU-second of the mapper and the encoders, compiled beside plain Python, over BitMEX-like data made here.

Run: python tests/perf/bench_market.py [messages]. Prints figures; nothing is asserted about speed.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from tardis_market import encode, mapping, repeats
from tardis_market.exchanges import find_exchange
from tardis_market.records import Record

START = datetime(2020, 2, 1, tzinfo=UTC)
BLOCK = 65_536
TYPES = ("trade", "book_change")


def messages(count: int) -> Iterator[str]:
    """A book of 400 levels, then updates, inserts, deletes and trades in about the mix of a real day."""
    chance = random.Random(1)
    rows = [level(i, chance.randrange(1, 10**5), price=True) for i in range(400)]
    yield (
        '{"table":"orderBookL2","action":"partial","keys":["symbol","id","side"],"filter":{"symbol":"XBTUSD"},"data":['
        + ",".join(rows)
        + "]}"
    )
    for _ in range(count):
        kind, size = chance.random(), chance.randrange(1, 10**5)
        if kind < 0.65:
            changed = [level(chance.randrange(400), size) for _ in range(1 + (chance.random() < 0.3))]
            yield f'{{"table":"orderBookL2","action":"update","data":[{",".join(changed)}]}}'
        elif kind < 0.8:
            yield f'{{"table":"orderBookL2","action":"insert","data":[{level(chance.randrange(400), size, price=True)}]}}'
        elif kind < 0.92:
            yield f'{{"table":"orderBookL2","action":"delete","data":[{level(chance.randrange(400), None)}]}}'
        else:
            yield f'{{"table":"trade","action":"insert","data":[{trade(chance, size)}]}}'


def level(number: int, size: int | None, *, price: bool = False) -> str:
    text = f'{{"symbol":"XBTUSD","id":{8_799_000_000 - number * 50},"side":"{"Buy" if number < 200 else "Sell"}"'
    text += f',"size":{size}' if size is not None else ""
    return text + (f',"price":{9000 + number / 2:g}}}' if price else "}")


def trade(chance: random.Random, size: int) -> str:
    return (
        f'{{"timestamp":"2020-02-01T00:00:00.026Z","symbol":"XBTUSD","side":"Sell","size":{size},"price":9349.5,'
        f'"tickDirection":"ZeroMinusTick","trdMatchID":"{chance.getrandbits(128):032x}","grossValue":{size * 10695},'
        f'"homeNotional":{size / 9350:.8f},"foreignNotional":{size}}}'
    )


def blocks(count: int) -> list[bytes]:
    made, current, at = [], bytearray(), START
    for message in messages(count):
        at += timedelta(microseconds=1234)
        current += f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond:06d}7Z {message}\n".encode()
        if len(current) > BLOCK:
            made.append(bytes(current))
            current.clear()
    return [*made, bytes(current)] if current else made


def halves() -> dict[str, Any]:
    found: dict[str, Any] = {
        "plain": SimpleNamespace(
            map_block=mapping.map_block,
            mark_repeats=repeats.mark_repeats,
            encode_ndjson=encode.encode_ndjson,
            encode_frames=encode.encode_frames,
        )
    }
    try:
        import tardis_market._c.encode as fast_encode
        import tardis_market._c.repeats as fast_repeats
        import tardis_market._c.scan as fast_scan
    except ImportError:
        print("the compiled half is not built")
        return found
    found["compiled"] = SimpleNamespace(
        map_block=fast_scan.map_block,
        mark_repeats=fast_repeats.mark_repeats,
        encode_ndjson=fast_encode.encode_ndjson,
        encode_frames=fast_encode.encode_frames,
    )
    return found


def spent(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def measure(half: Any, data: list[bytes]) -> dict[str, float]:
    """CPU seconds by stage."""
    mapper = find_exchange("bitmex").mapper(TYPES, START)
    lists: list[list[Record]] = [[] for _ in data]

    def map_all() -> None:
        last = None
        for block, out in zip(data, lists, strict=True):
            last = half.map_block(mapper, block, out, last)

    def mark_all() -> None:
        carry = None
        for out in lists:
            carry = half.mark_repeats(out, carry)

    return {
        "map": spent(map_all),
        "repeats": spent(mark_all),
        "ndjson": spent(lambda: [half.encode_ndjson(out) for out in lists]),
        "frames": spent(lambda: [half.encode_frames(out) for out in lists]),
    }


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    data = blocks(count)
    best: dict[str, dict[str, float]] = {}
    for name, half in halves().items():
        runs = [measure(half, data) for _ in range(1 if name == "plain" else 3)]
        best[name] = {stage: min(run[stage] for run in runs) for stage in runs[0]}
    print(f"{count} messages, {sum(map(len, data)) / 1e6:.1f} MB; messages per CPU-second")
    for stage, plain in best["plain"].items():
        line = f"{stage:8s} plain {count / plain:12,.0f}"
        if "compiled" in best:
            line += f"   compiled {count / best['compiled'][stage]:12,.0f}   {plain / best['compiled'][stage]:6.1f}x"
        print(line)


if __name__ == "__main__":
    main()
