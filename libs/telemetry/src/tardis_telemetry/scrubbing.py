"""`scrub`: no secret leaves the process in a log line, a span or an error text.

Hiding a little too much is the accepted mistake; showing half a secret is not.
"""

import re

MASK = "***"

_SENSITIVE = r"(?:api[_-]?key|access[_-]?key|token|password|passwd|secret|authorization|credential)"

# A name that contains a sensitive word, in a query (token=…), in JSON ("apiKey": "…"), in JSON inside JSON (\"apiKey\":\"…\"),
# in JSON inside a query (%22apiKey%22%3A%22…) or in a Python repr ('password': '…'). The suffix of a name is bounded so that
# no text makes the search slow.
_NAME = rf"(?P<name>{_SENSITIVE}[\w-]{{0,32}}(?:\\*[\"']|%22|%27)?\s*(?:[:=]|%3A|%3D)\s*)"
_VALUE = r"""(?:
    (?P<escape>\\+)"(?:(?!(?<!\\)(?P=escape)").)*   # up to the quote that is escaped as often as the first
  | "(?:\\.|[^"\\])*
  | '(?:\\.|[^'\\])*
  | %22(?:(?!(?<!%5C)%22).)*
  | (?:(?:bearer|basic)\s+)?[^\s&]+
)"""
_NAMED_SECRET = re.compile(_NAME + _VALUE, re.VERBOSE | re.IGNORECASE | re.DOTALL)
_NAME_ALONE = re.compile(_SENSITIVE, re.IGNORECASE)
_USER_INFO = re.compile(r"(?<=://)[^\s/?#]*@")
_AUTHORIZATION = re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{6,}", re.IGNORECASE)
_OPENING = re.compile(r"""\\*["']|%22""")


def scrub(text: str) -> str:
    """The text with credentials in URLs, queries, JSON and headers replaced by `***`."""
    text = _USER_INFO.sub(f"{MASK}@", text)
    text = _NAMED_SECRET.sub(_hide_value, text)
    return _AUTHORIZATION.sub(rf"\1 {MASK}", text)


def is_sensitive(name: str) -> bool:
    """Whether a field of this name must not be shown at all."""
    return _NAME_ALONE.search(name) is not None


def _hide_value(found: re.Match[str]) -> str:
    value = found[0][len(found["name"]) :]
    opening = _OPENING.match(value)
    return found["name"] + (opening[0] if opening else "") + MASK
