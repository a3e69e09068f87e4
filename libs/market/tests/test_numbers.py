"""Numbers are printed as ECMA-262 says, by both halves."""

from __future__ import annotations

import json
import math
import random
import shutil
import struct
import subprocess
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from tardis_market.numbers import decimal_text, js_number
from tardis_market.records import Decimal, Trade

HARD = {
    "0": "0",
    "-0": "0",
    "-0.00": "0",
    "000.5": "0.5",
    "1.": "1",
    ".5": "0.5",
    "-.5e3": "-500",
    "1e21": "1e+21",
    "999999999999999999999": "1e+21",
    "123456789012345680000": "123456789012345680000",
    "1e-6": "0.000001",
    "0.0000010": "0.000001",
    "0.00000099": "9.9e-7",
    "1e-7": "1e-7",
    "9007199254740993": "9007199254740992",
    "123456789012345678": "123456789012345680",
    "0.1234567890123456": "0.1234567890123456",
    "0.30000000000000004": "0.30000000000000004",
    "5e-324": "5e-324",
    "1.7976931348623157e308": "1.7976931348623157e+308",
    "2.2250738585072014E-308": "2.2250738585072014e-308",
    "4.35": "4.35",
    "1E5": "100000",
    "+7": "7",
    "100.000000000000000000000000": "100",
    "1" * 70: "1.1111111111111112e+69",
    " 12 ": "12",
    "": "0",
    "1e400": "null",
    "-1e400": "null",
    "NaN": "null",
    "Infinity": "null",
    "null": "null",
    "1_000": "null",
    "0x10": "null",
    "1e": "null",
    "-": "null",
    ".": "null",
    "1.2.3": "null",
    "٣": "null",
}


def ecma(value: float) -> str:
    """ECMA-262 6.1.6.1.20 in its own words: k digits, the decimal point behind the n-th."""
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    if value < 0:
        return "-" + ecma(-value)
    mantissa, _, power = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    n = len(whole) + int(power or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    k = len(digits)
    if k <= n <= 21:
        return digits + "0" * (n - k)
    if 0 < n <= 21:
        return digits[:n] + "." + digits[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + digits
    exponent = ("+" if n > 0 else "-") + str(abs(n - 1))
    return digits[0] + ("." + digits[1:] if k > 1 else "") + "e" + exponent


def printed(half: SimpleNamespace, values: list[Decimal]) -> list[str]:
    """What the encoder writes as price."""
    trades = [Trade("x", "s", None, value, None, "buy", 1, 1) for value in values]
    lines = half.encode_ndjson(trades).decode().splitlines()
    return [line.split('"price":')[1].split(",")[0] for line in lines]


@pytest.mark.parametrize(("text", "expected"), HARD.items())
def test_hard_cases(half: SimpleNamespace, text: str, expected: str) -> None:
    assert js_number(text) == expected
    forms: list[Decimal] = [text, text.encode(), Raw(text.encode()), b'"' + text.encode() + b'"']
    assert printed(half, forms) == [expected] * len(forms)


def test_python_numbers(half: SimpleNamespace) -> None:
    values: list[Decimal] = [
        7,
        -7,
        10**15,
        -(10**15) - 1,
        2**53 + 1,
        2**63,
        -(2**63),
        10**21,
        10**400,
        1.0,
        -0.0,
        1e16,
        1.5e-7,
        math.nan,
    ]
    values += [math.inf, -math.inf]
    assert printed(half, values) == [
        ecma(float(v)) if v != 10**400 else "null" for v in values if v is not None and not isinstance(v, Raw)
    ]
    assert printed(half, values) == [js_number(value) for value in values]


@given(st.floats())
@settings(max_examples=300)
def test_any_double(half: SimpleNamespace, value: float) -> None:
    assert js_number(value) == ecma(value)
    assert printed(half, [value, repr(value) if math.isfinite(value) else "NaN"]) == [ecma(value)] * 2


@given(st.from_regex(r"-?[0-9]{1,20}(\.[0-9]{1,20})?", fullmatch=True, alphabet=st.characters(codec="ascii")))
@settings(max_examples=400)
def test_any_decimal(half: SimpleNamespace, text: str) -> None:
    assert js_number(text) == ecma(float(text))
    assert printed(half, [text]) == [ecma(float(text))]


@given(st.integers())
@settings(max_examples=100)
def test_any_integer(half: SimpleNamespace, value: int) -> None:
    assert printed(half, [value]) == [ecma(float(value))]


def test_decimals_keep_their_digits() -> None:
    values: list[Decimal] = ["1.50", b'"1.50"', Raw(b"1.50"), Raw(b'"1.50"'), 3, 1e21, b'"']
    assert [decimal_text(value) for value in values] == ["1.50"] * 4 + ["3", "1e+21", '"']
    assert js_number(None) == "null"
    with pytest.raises(TypeError):
        decimal_text([])  # type: ignore[arg-type]


def test_equal_to_a_javascript_engine(half: SimpleNamespace) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on PATH")
    chance = random.Random(7)
    values = [struct.unpack("<d", chance.randbytes(8))[0] for _ in range(2000)]
    values += [chance.randrange(10**17) / 10 ** chance.randrange(20) for _ in range(2000)]
    values = [value for value in values if math.isfinite(value)]
    script = "console.log(JSON.stringify(JSON.parse(require('fs').readFileSync(0)).map(String)))"
    answer = subprocess.run([node, "-e", script], input=json.dumps(values), capture_output=True, text=True, check=True).stdout
    assert printed(half, list(values)) == json.loads(answer)
