"""Provisioning a server that cannot be a queue fails with one error that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tardis_handoff import provision, stream_name
from tardis_jetstream import Access, Connection, Refused, Unavailable
from tardis_testing import NatsServer, free_port


async def test_a_server_without_jetstream_is_refused(tmp_path: Path) -> None:
    with NatsServer(tmp_path / "nats", "-js=false") as server:
        queue = Connection(Access(servers=(server.url,)), name="test")
        with pytest.raises(Refused, match="JetStream is not enabled"):
            await provision(queue, ["nats"], lanes=1, max_bytes=1 << 24)
        await queue.close()


async def test_a_subject_that_another_stream_holds_is_refused(nats_server: NatsServer) -> None:
    queue = Connection(Access(servers=(nats_server.url,)), name="test")
    await (await queue.jetstream()).add_stream(name="FOREIGN", subjects=["bronze.nats.*"])
    with pytest.raises(Refused, match="overlap"):
        await provision(queue, ["nats"], lanes=1, max_bytes=1 << 24)
    await queue.close()


async def test_a_stream_that_cannot_be_changed_is_named(nats_server: NatsServer) -> None:
    queue = Connection(Access(servers=(nats_server.url,)), name="test")
    await provision(queue, ["nats"], lanes=1, max_bytes=1 << 24)
    js = await queue.jetstream()
    await js.update_stream(name=stream_name("nats"), subjects=["elsewhere"], retention="workqueue", discard="new")
    await js.add_stream(name="FOREIGN", subjects=["bronze.nats.*"])
    with pytest.raises(Refused, match=f"{stream_name('nats')} cannot be brought into shape"):
        await provision(queue, ["nats"], lanes=1, max_bytes=1 << 24)
    await queue.close()


async def test_a_server_that_does_not_come_up_is_given_up() -> None:
    queue = Connection(Access(servers=(f"nats://127.0.0.1:{free_port()}",)), name="test")
    with pytest.raises(Unavailable, match="cannot connect"):
        await provision(queue, ["nats"], lanes=1, max_bytes=1 << 24, wait_s=0.3)
