"""Makes and checks the queue's streams and lane consumers. Safe to run again and again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig

from tardis_jetstream import Connection, NotFound, Refused, Unavailable
from tardis_telemetry import get_logger

log = get_logger(__name__)

ACK_WAIT_S = 6
IN_PROGRESS_S = 2
API_TIMEOUT_S = 5


def stream_name(backend: str) -> str:
    return f"BRONZE_{backend.replace('-', '_').upper()}"


#: Where publishers put what a backend refuses; one subject per backend.
DEAD_LETTER_STREAM = "BRONZE_DEAD_LETTERS"


def dead_letter_subject(backend: str) -> str:
    return f"bronze-dead.{backend}"


def lane_subject(backend: str, lane: int) -> str:
    return f"bronze.{backend}.{lane}"


def lane_durable(lane: int) -> str:
    return f"lane-{lane}"


async def provision(queue: Connection, backends: Iterable[str], *, lanes: int, max_bytes: int, wait_s: float = 30) -> None:
    """Waits up to `wait_s` for the server, then brings every backend's stream and consumers into place."""
    await _wait_for_server(queue, wait_s)
    await _provision_stream(queue, _dead_letter_config(max_bytes))
    for backend in backends:
        await _provision_stream(queue, _stream_config(backend, max_bytes))
        for lane in range(lanes):
            await _provision_consumer(queue, backend, lane)
        log.info("queue is in place", backend=backend, stream=stream_name(backend), lanes=lanes)


async def _wait_for_server(queue: Connection, wait_s: float) -> None:
    until = time.monotonic() + wait_s
    while True:
        try:
            await queue.client()
            return
        except Unavailable:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.25)


def _stream_config(backend: str, max_bytes: int) -> StreamConfig:
    return StreamConfig(
        name=stream_name(backend),
        subjects=[f"bronze.{backend}.*"],
        retention=RetentionPolicy.WORK_QUEUE,
        discard=DiscardPolicy.NEW,  # the default would delete what nobody has read yet
        storage=StorageType.FILE,
        max_bytes=max_bytes,
        duplicate_window=120,
    )


def _dead_letter_config(max_bytes: int) -> StreamConfig:
    return StreamConfig(
        name=DEAD_LETTER_STREAM,
        subjects=[dead_letter_subject("*")],
        retention=RetentionPolicy.LIMITS,
        discard=DiscardPolicy.NEW,
        storage=StorageType.FILE,
        max_bytes=max_bytes,
        duplicate_window=120,
    )


async def _provision_stream(queue: Connection, wanted: StreamConfig) -> None:
    assert wanted.name is not None
    js = await queue.jetstream()
    try:
        found = (await queue.guarded(js.stream_info(wanted.name), API_TIMEOUT_S)).config
    except NotFound:
        await queue.guarded(js.add_stream(wanted), API_TIMEOUT_S)
        return
    if (found.retention, found.storage) != (wanted.retention, wanted.storage):
        raise Refused(f"stream {found.name} exists with other settings (retention {found.retention}, storage {found.storage})")
    if (found.subjects, found.discard, found.max_bytes) != (wanted.subjects, wanted.discard, wanted.max_bytes):
        try:
            await queue.guarded(js.update_stream(wanted), API_TIMEOUT_S)
        except Refused as error:
            raise Refused(f"stream {found.name} cannot be brought into shape: {error}") from None


async def _provision_consumer(queue: Connection, backend: str, lane: int) -> None:
    js = await queue.jetstream()
    wanted = ConsumerConfig(
        durable_name=lane_durable(lane),
        filter_subject=lane_subject(backend, lane),
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_WAIT_S,
        max_ack_pending=1,  # one pack under way per lane keeps the lane in order whoever pulls
        max_deliver=-1,
    )
    await queue.guarded(js.add_consumer(stream_name(backend), wanted), API_TIMEOUT_S)
