"""What a client asks for, checked; the texts of the errors are part of the contract."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from .dates import parse_date

MAX_OPTIONS_BYTES = 16 << 10  # they stand in the URL, and the whole head of a request may be no longer


class RequestError(Exception):
    """The request cannot be served; the text is for the client. `typed` tells whether the answer names a content type."""

    def __init__(self, message: str, *, typed: bool = True) -> None:
        super().__init__(message)
        self.typed = typed


class NormalizedReplay(msgspec.Struct, rename="camel", kw_only=True):
    """One option set of /replay-normalized."""

    exchange: str
    start: datetime
    end: datetime
    data_types: list[str]
    symbols: list[str] | None = None
    with_disconnect_messages: bool = False
    api_key: str | None = None
    publish: bool = True
    request_id: str = ""

    def __repr__(self) -> str:
        """Without the key: a repr ends up in logs."""
        return f"NormalizedReplay({self.exchange}, {self.start:%Y-%m-%dT%H:%M}, {self.end:%Y-%m-%dT%H:%M}, {self.request_id!r})"


def parse_normalized(text: str | None, request_id: str) -> NormalizedReplay:
    options = _decode(text)
    if isinstance(options, list):
        if len(options) != 1:
            raise RequestError("options: one option set is served at a time")
        options = options[0]
    if not isinstance(options, dict):
        raise RequestError("options: an object is needed")
    data_types = options.get("dataTypes")
    if not isinstance(data_types, list) or not all(isinstance(name, str) for name in data_types):
        raise RequestError('Invalid "dataTypes" argument. Please provide a list of data types.')
    start, end = _date(options, "from"), _date(options, "to")
    if end < start:
        raise RequestError(
            'Invalid "to" and "from" arguments combination. Please provide "to" date that is later than "from" date.'
        )
    return NormalizedReplay(
        exchange=_text(options.get("exchange")),
        start=start,
        end=end,
        data_types=data_types,
        symbols=_symbols(options.get("symbols")),
        with_disconnect_messages=options.get("withDisconnectMessages") is True,
        api_key=options["apiKey"] if isinstance(options.get("apiKey"), str) else None,
        publish=options.get("publish") is not False,
        request_id=request_id,
    )


def _decode(text: str | None) -> Any:
    if text is None:
        raise RequestError("options: missing; a JSON object is needed", typed=False)
    if len(text) > MAX_OPTIONS_BYTES:
        raise RequestError(f"options: longer than {MAX_OPTIONS_BYTES} bytes", typed=False)
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise RequestError(f"options: not valid JSON ({error})", typed=False) from None


def _text(value: object) -> str:
    return "undefined" if value is None else str(value)


def _date(options: dict[str, Any], name: str) -> datetime:
    value = options.get(name)
    try:
        if not isinstance(value, str):
            raise ValueError("not a text")
        return parse_date(value)
    except (ValueError, OverflowError):
        raise RequestError(f'Invalid "{name}" argument: {_text(value)[:100]}. Please provide valid date string.') from None


def _symbols(value: object) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(symbol, str) for symbol in value):
        raise RequestError('Invalid "symbols" argument. Please provide a list of symbols.')
    return value
