"""Dates of a request: ISO 8601; without a zone they are UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def parse_date(text: str) -> datetime:
    """Raises ValueError."""
    moment = datetime.fromisoformat(text.strip())
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
