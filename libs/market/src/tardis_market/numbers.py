"""Decimal text as JavaScript prints it: `Number(text)` and then ECMA-262 Number::toString."""

from __future__ import annotations

import math
import re

from msgspec import Raw

from .records import Decimal

_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_BLANKS = " \t\n\r\v\f"


def js_number(decimal: Decimal) -> str:
    """The JSON text of the double nearest to `decimal`; "null" for what is no finite number (as JSON.stringify writes NaN)."""
    if type(decimal) is int:
        return _of_int(decimal)
    if type(decimal) is float:
        return _of_float(decimal)
    if decimal is None:
        return "null"
    return _of_float(nearest(decimal_text(decimal)))


def decimal_text(decimal: Decimal) -> str:
    """A decimal with every digit it came with. Raw and bytes were cut out of a JSON text and may still wear quotes."""
    if isinstance(decimal, Raw | bytes):
        text = bytes(decimal).decode()
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    if type(decimal) is str:
        return decimal
    if type(decimal) is int:
        return str(decimal)
    if type(decimal) is float:
        return _of_float(decimal)
    raise TypeError(f"not a decimal: {decimal!r}")


def nearest(text: str) -> float:
    """`Number(text)`: NaN if it is no decimal, 0 if there is nothing but blanks."""
    text = text.strip(_BLANKS)
    if not text:
        return 0.0
    return float(text) if _DECIMAL.fullmatch(text) else math.nan


def _of_int(value: int) -> str:
    if abs(value) < 10**15:
        return str(value)
    try:
        return _of_float(float(value))
    except OverflowError:
        return "null"


def _of_float(value: float) -> str:
    if not math.isfinite(value):
        return "null"
    text = repr(value)
    if "e" in text:
        return _with_exponent(text)
    whole = text.removesuffix(".0")
    return "0" if whole == "-0" else whole


def _with_exponent(text: str) -> str:
    """Python goes to exponents at 1e16 and below 1e-4, JavaScript at 1e21 and below 1e-6."""
    mantissa, _, power = text.partition("e")
    exponent = int(power)
    if exponent >= 21 or exponent < -6:
        return f"{mantissa}e{exponent:+d}"
    sign = "-" if mantissa[0] == "-" else ""
    digits = mantissa.lstrip("-").replace(".", "")
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return f"{sign}{digits}{'0' * (exponent + 1 - len(digits))}"
