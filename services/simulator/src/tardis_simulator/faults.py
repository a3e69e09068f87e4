"""Faults on demand: what a client of a market data API has to live with."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from tardis_simulator.queries import read_minute
from tardis_simulator.slices import Slice

MAX_FAULTS = 100


def _check_minute(text: str) -> str:
    read_minute(text)
    return text


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)


class Match(_Closed):
    """Which requests are meant; a missing field means all."""

    exchange: str | None = None
    minute: Annotated[str, AfterValidator(_check_minute)] | None = None

    def fits(self, wanted: Slice) -> bool:
        if self.exchange not in (None, wanted.exchange):
            return False
        return self.minute is None or _covers(wanted, read_minute(self.minute))


class Fault(_Closed):
    """One effect or several; `times` for the first n matching requests, `every` for each nth, neither for all."""

    status: int | None = Field(None, ge=400, le=599)
    retry_after: int | None = Field(None, ge=0)
    cut_after_bytes: int | None = Field(None, ge=0)
    stall_after_bytes: int | None = Field(None, ge=0)
    stall_s: float | None = Field(None, gt=0, le=3600)
    garbage: bool = False
    garbage_line: bool = False
    times: int | None = Field(None, ge=1)
    every: int | None = Field(None, ge=1)
    match: Match = Match()

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.times and self.every:
            raise ValueError("give times or every, not both")
        if (self.stall_after_bytes is None) != (self.stall_s is None):
            raise ValueError("stallAfterBytes and stallS belong together")
        if self.retry_after is not None and self.status is None:
            raise ValueError("retryAfter needs a status")
        bodily = (self.cut_after_bytes, self.stall_after_bytes, self.garbage or None, self.garbage_line or None)
        if self.status is None and all(effect is None for effect in bodily):
            raise ValueError("give an effect: status, cutAfterBytes, stallAfterBytes, garbage or garbageLine")
        return self

    def due(self, nth: int) -> bool:
        """Whether the nth matching request is hit."""
        if self.times is not None:
            return nth <= self.times
        return self.every is None or nth % self.every == 0


@dataclass
class _Switched:
    """A fault that is on, with how many requests it fitted and how many it hit."""

    fault: Fault
    seen: int = 0
    hits: int = 0


class Faults:
    """The faults that are switched on."""

    def __init__(self) -> None:
        self._on: list[_Switched] = []

    def add(self, fault: Fault) -> bool:
        if len(self._on) >= MAX_FAULTS:
            return False
        self._on.append(_Switched(fault))
        return True

    def clear(self) -> None:
        self._on.clear()

    def take(self, wanted: Slice) -> Fault | None:
        """The fault that hits this request: the first that is due, though all that fit count the request."""
        hit: _Switched | None = None
        for switched in self._on:
            if switched.fault.match.fits(wanted):
                switched.seen += 1
                if hit is None and switched.fault.due(switched.seen):
                    hit = switched
        if hit is None:
            return None
        hit.hits += 1
        return hit.fault

    def describe(self) -> list[dict[str, object]]:
        shown = (s.fault.model_dump(by_alias=True, exclude_defaults=True) for s in self._on)
        return [{**fault, "seen": s.seen, "hits": s.hits} for fault, s in zip(shown, self._on, strict=True)]


def _covers(wanted: Slice, minute: datetime) -> bool:
    return 0 <= (minute - wanted.start).total_seconds() < wanted.size * 60
