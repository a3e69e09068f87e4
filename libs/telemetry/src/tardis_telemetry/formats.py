"""The two forms of a log line. Both are one line, scrubbed, and of bounded length."""

import json
import logging
import math
from collections.abc import Mapping
from datetime import UTC, datetime

from tardis_telemetry.context import context_fields
from tardis_telemetry.scrubbing import MASK, is_sensitive, scrub

MAX_VALUE = 2_048
MAX_TRACEBACK = 8_192
MAX_FIELDS = 64

Scalar = str | int | float | bool | None


def _text(value: object) -> str:
    try:
        if isinstance(value, dict | list | tuple):
            return json.dumps(value, default=str, ensure_ascii=False)
        return str(value)
    except Exception:  # a broken __str__ must not cost the line
        return f"<unprintable {type(value).__name__}>"


def _cut(text: str, limit: int = MAX_VALUE) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def _clean(name: str, value: object) -> Scalar:
    """A value that may be shown: masked by its field's name, scrubbed, cut."""
    if value is None or isinstance(value, bool):
        return value
    if is_sensitive(name):
        return MASK
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return _cut(scrub(_text(value)))


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class _Format(logging.Formatter):
    def __init__(self, service: str) -> None:
        super().__init__()
        self.service = service

    def fields(self, record: logging.LogRecord) -> dict[str, Scalar]:
        own: Mapping[str, object] = getattr(record, "fields", None) or {}
        merged = list({**context_fields(), **own}.items())[:MAX_FIELDS]
        shown = {str(name): _clean(str(name), value) for name, value in merged}
        if record.exc_info:
            # The end of a traceback tells more than its beginning.
            shown["exception"] = scrub(self.formatException(record.exc_info))[-MAX_TRACEBACK:]
        return shown

    @staticmethod
    def time(record: logging.LogRecord) -> str:
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @staticmethod
    def message(record: logging.LogRecord) -> str:
        return _cut(scrub(record.getMessage()))


class TextFormat(_Format):
    """`2020-02-01T00:00:00.000Z INFO gateway tardis_feeds.slices: slice fetched exchange=bitmex bytes=123`"""

    def format(self, record: logging.LogRecord) -> str:
        head = f"{self.time(record)} {record.levelname} {self.service} {record.name}: {_one_line(self.message(record))}"
        return " ".join([head, *(f"{_one_line(name)}={self._shown(value)}" for name, value in self.fields(record).items())])

    @staticmethod
    def _shown(value: Scalar) -> str:
        text = value if isinstance(value, str) else json.dumps(value)
        plain = text and text.isprintable() and not any(c in text for c in ' "=')
        return text if plain else json.dumps(text)


class JsonFormat(_Format):
    """One JSON object per line; a field that would hide a part of the head gets an underscore."""

    def format(self, record: logging.LogRecord) -> str:
        head: dict[str, Scalar] = {
            "time": self.time(record),
            "level": record.levelname.lower(),
            "service": self.service,
            "logger": record.name,
            "message": self.message(record),
        }
        fields = {f"{name}_" if name in head else name: value for name, value in self.fields(record).items()}
        return json.dumps(head | fields)
