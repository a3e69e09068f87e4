"""Fields that belong to everything logged inside a `with` block, across awaits and tasks."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_fields: ContextVar[Mapping[str, object] | None] = ContextVar("tardis_log_fields", default=None)


def context_fields() -> Mapping[str, object]:
    return _fields.get() or {}


@contextmanager
def log_context(**fields: object) -> Iterator[None]:
    """`with log_context(request_id=…):` puts the fields on each line; inner blocks add to outer ones."""
    token = _fields.set({**context_fields(), **fields})
    try:
        yield
    finally:
        _fields.reset(token)
