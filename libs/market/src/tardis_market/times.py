"""Times as integers since 1970 whose size tells the unit: below 10**14 milliseconds, below 10**16 microseconds, else 100 ns.

The three ranges do not meet for any day from 2001-09-09 to 2286-11-20, which is where market data lives. The unit also says how
many decimals a time is printed with: three for milliseconds, six (cut, not rounded) for the finer ones.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

MICROSECONDS_FROM = 10**14
TICKS_FROM = 10**16
EARLIEST = -62_135_596_800_000  # 0001-01-01 in milliseconds
LATEST = 2_534_023_008_000_000_000  # 10000-01-01 in units of 100 ns

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):?(\d\d))?",
    re.ASCII,
)
_LOCAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z", re.ASCII)


def to_ticks(time: int) -> int:
    """Units of 100 ns."""
    if time >= TICKS_FROM:
        return time
    return time * 10 if time >= MICROSECONDS_FROM else time * 10_000


def to_ns(time: int) -> int:
    return to_ticks(time) * 100


def to_ms(time: int) -> int:
    return to_ticks(time) // 10_000


def time_text(time: int) -> str:
    """`2020-02-01T00:00:00.123Z`, or with six decimals."""
    if not EARLIEST <= time < LATEST:
        raise ValueError("time out of range")
    seconds, ticks = divmod(to_ticks(time), 10_000_000)
    moment = _moment(seconds)
    return f"{moment}.{ticks // 10:06d}Z" if time >= MICROSECONDS_FROM else f"{moment}.{ticks // 10_000:03d}Z"


@lru_cache(maxsize=1024)
def _moment(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()


def parse_time(text: str) -> int:
    """ISO text (UTC unless it names an offset) -> milliseconds, or microseconds if it has more than three decimals."""
    found = _ISO.fullmatch(text)
    if found is None:
        raise ValueError(f"not a time: {text[:40]!r}")
    decimals = found[7] or ""
    microseconds = _seconds(found) * 1_000_000 + int(decimals[:6].ljust(6, "0"))
    fine = len(decimals) > 3 and microseconds >= MICROSECONDS_FROM
    return microseconds if fine else microseconds // 1000


def parse_local(text: str) -> int:
    """The 28 characters before a message of a slice -> units of 100 ns."""
    found = _ISO.fullmatch(text) if _LOCAL.fullmatch(text) else None
    ticks = _seconds(found) * 10_000_000 + int(found[7]) if found else 0
    if ticks < TICKS_FROM:
        raise ValueError(f"not a local time: {text[:40]!r}")
    return ticks


def _seconds(found: re.Match[str]) -> int:
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    zone = UTC
    if found[8]:
        offset = timedelta(hours=int(found[9]), minutes=int(found[10]))
        zone = timezone(-offset if found[8] == "-" else offset)
    since = datetime(year, month, day, hour, minute, second, tzinfo=zone) - _EPOCH
    return since.days * 86400 + since.seconds
