"""The stream behind the NATS backend's subject: found, made if that is wanted, and checked before anything is published."""

from __future__ import annotations

from typing import Any

from tardis_jetstream import Connection, NotFound, Refused, find_stream
from tardis_settings import NatsOptions
from tardis_telemetry import get_logger

log = get_logger(__name__)

DUPLICATE_WINDOW_S = 120


async def target_stream(connection: Connection, options: NatsOptions) -> dict[str, Any]:
    """The configuration of the stream that takes the subject. Raises Refused with the setting to change."""
    subject = options.subject or ""
    if options.stream is None:
        return await _stream_config(connection, await _find(connection, subject))
    try:
        config = await _stream_config(connection, options.stream)
    except NotFound:
        log.info("making the target stream", stream=options.stream, subject=subject)
        await _create(connection, options.stream, subject)
        config = await _stream_config(connection, options.stream)
    taken = config.get("subjects") or []
    if not any(covers(pattern, subject) for pattern in taken):
        raise Refused(
            f"nats-stream {options.stream!r} takes {', '.join(taken) or 'no subjects'}, which leaves out nats-subject {subject!r}"
        )
    return config


def covers(pattern: str, subject: str) -> bool:
    """Whether a stream with this subject pattern takes the subject: `*` is one token, `>` at the end is one or more."""
    wanted, tokens = pattern.split("."), subject.split(".")
    if wanted[-1] == ">":
        wanted.pop()
        if len(tokens) <= len(wanted):
            return False
        tokens = tokens[: len(wanted)]
    return len(wanted) == len(tokens) and all(want in ("*", token) for want, token in zip(wanted, tokens, strict=True))


async def _find(connection: Connection, subject: str) -> str:
    try:
        return await find_stream(connection, subject)
    except NotFound:
        raise Refused(f"no stream takes the subject {subject!r}; make one, or set nats-stream to have it made") from None


async def _stream_config(connection: Connection, name: str) -> dict[str, Any]:
    config: dict[str, Any] = (await connection.ask(f"STREAM.INFO.{name}", {}))["config"]
    return config


async def _create(connection: Connection, name: str, subject: str) -> None:
    # The Python client does not know allow_atomic yet, so the request is written out.
    window = DUPLICATE_WINDOW_S * 1_000_000_000
    wanted = {"name": name, "subjects": [subject], "storage": "file", "allow_atomic": True, "duplicate_window": window}
    await connection.ask(f"STREAM.CREATE.{name}", wanted)
