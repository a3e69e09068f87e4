"""How exchanges write times and numbers."""

import time


def iso_second(seconds: int) -> str:
    """2020-02-01T00:00:00, without fraction and zone."""
    t = time.gmtime(seconds)
    return f"{t[0]:04d}-{t[1]:02d}-{t[2]:02d}T{t[3]:02d}:{t[4]:02d}:{t[5]:02d}"


def iso_ms(us: int) -> str:
    """Microseconds since the epoch as 2020-02-01T00:00:00.123Z."""
    seconds, fraction = divmod(us, 1_000_000)
    return f"{iso_second(seconds)}.{fraction // 1000:03d}Z"


def number(value: float) -> str:
    """The shortest JSON number."""
    return repr(int(value)) if value == int(value) else repr(value)
