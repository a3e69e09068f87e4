"""From a request's query to a slice, with the vendor's words for what is wrong."""

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from tardis_simulator.feeds import FEEDS
from tardis_simulator.slices import Filter, Pantry, Slice

MAX_SLICE_SIZE = 60


class ApiError(Exception):
    """An answer other than 200: a JSON object with `code` and `message`."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"code": code, "message": message}


@dataclass(frozen=True)
class Access:
    """Who may see what: the first day of each month is free, the rest needs the key, or any key where none is set."""

    key: str | None

    def valid(self, authorization: str | None) -> bool:
        given = (authorization or "").removeprefix("Bearer ").encode()
        return bool(given) and (self.key is None or hmac.compare_digest(given, self.key.encode()))

    def check(self, authorization: str | None) -> None:
        if not self.valid(authorization):
            raise ApiError(401, 100, "Unauthorized, please provide valid API key.")


def read_slice(exchange: str, query: Mapping[str, str], authorization: str | None, pantry: Pantry, access: Access) -> Slice:
    """The slice that is asked for; checks stand in the order in which the vendor reports them."""
    start = _start(query)
    offset, size = _range(query)
    filters = _filters(query)
    try:
        start += timedelta(minutes=offset)
        start + timedelta(minutes=size)
    except OverflowError:
        raise _wrong_range() from None
    _check_names(exchange, filters, pantry)
    compression: Literal["gzip", "zstd"] = "zstd" if query.get("compression", "gzip").startswith("zstd") else "gzip"
    wanted = Slice(exchange, start, size, filters, compression)
    if any(day.day != 1 for day, _ in wanted.minutes):
        access.check(authorization)
    return wanted


def read_minute(text: str) -> datetime:
    """An ISO date cut to its minute, UTC unless it says otherwise."""
    time = datetime.fromisoformat(text.strip())
    time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    return time.replace(second=0, microsecond=0)


def _start(query: Mapping[str, str]) -> datetime:
    try:
        return read_minute(query["from"])
    except (KeyError, ValueError, OverflowError):
        raise ApiError(400, 101, "'from' query param is not a valid ISO 8601 date.") from None


def _range(query: Mapping[str, str]) -> tuple[int, int]:
    try:
        offset, size = int(query.get("offset") or "0"), int(query.get("sliceSize") or "1")
    except ValueError:
        raise _wrong_range() from None
    if offset < 0 or not 1 <= size <= MAX_SLICE_SIZE:
        raise _wrong_range()
    return offset, size


def _wrong_range() -> ApiError:
    return ApiError(400, 102, "invalid 'offset' or 'sliceSize' query param.")


def _filters(query: Mapping[str, str]) -> tuple[Filter, ...]:
    try:
        return tuple(_filter(given) for given in _list(json.loads(query.get("filters") or "[]")))
    except (ValueError, RecursionError):
        raise ApiError(400, 103, "'filters' query param is not a valid JSON array of {channel, symbols}.") from None


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError("not a list")
    return value


def _filter(given: object) -> Filter:
    if not isinstance(given, dict) or not isinstance(given.get("channel"), str):
        raise ValueError("not a filter")
    return Filter(given["channel"], tuple(str(symbol) for symbol in _list(given.get("symbols") or [])))


def _check_names(exchange: str, filters: tuple[Filter, ...], pantry: Pantry) -> None:
    # Names become parts of paths, so nothing but a plain name may reach the overlay.
    if re.fullmatch(r"[a-z0-9][a-z0-9-]*", exchange) and pantry.has_overlay(exchange):
        return
    if exchange not in FEEDS:
        raise ApiError(400, 104, f"unknown exchange '{exchange}'.")
    for asked in filters:
        if asked.channel not in FEEDS[exchange].known_channels:
            raise ApiError(400, 105, f"invalid channel '{asked.channel}' in 'filters' query param.")
