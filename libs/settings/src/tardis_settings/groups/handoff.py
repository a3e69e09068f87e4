"""The way from the gateway to the publishers: spool on disk, then NATS JetStream."""

import socket
import tempfile
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ByteSize, SecretStr

from tardis_settings.groups.nats import credentials_problem
from tardis_settings.kinds import NamedPath, split_list, url_with
from tardis_settings.options import Options, setting

Backend = Literal["kafka", "event-hubs", "kinesis", "nats", "redis"]


def _without_repeats(backends: tuple[Backend, ...]) -> tuple[Backend, ...]:
    if len(set(backends)) != len(backends):
        raise ValueError("a backend is named twice")
    return backends


Backends = Annotated[tuple[Backend, ...], BeforeValidator(split_list), AfterValidator(_without_repeats)]
QueueUrl = Annotated[str, AfterValidator(lambda text: text and url_with("nats", "tls", "ws", "wss")(text))]


class HandoffOptions(Options, prefix="handoff"):
    """Hand-off."""

    url: QueueUrl = setting(
        "", "NATS server that holds the queue; empty starts the embedded one.", allowed="nats:// or tls:// URL, or empty"
    )
    embedded_port: int = setting(4222, "Port of the embedded queue, on loopback only.", ge=1, le=65535)
    user: str | None = setting(None, "User at the queue.")
    password: SecretStr | None = setting(None, "Password at the queue.", name="pass")
    token: SecretStr | None = setting(None, "Token at the queue.")
    creds: NamedPath | None = setting(None, "NATS credentials file for the queue.")
    backends: Backends = setting((), "Backends whose streams are fed; none means publishing is off.")
    lanes: int = setting(8, "Lanes per backend; events of one exchange and symbol share a lane and stay in order.", ge=1, le=256)
    stream_max_bytes: ByteSize = setting(ByteSize(1024**3), "Size limit of each backend's stream.", ge=1024**2)
    spool_dir: NamedPath = setting(
        default_factory=lambda: Path(tempfile.gettempdir(), ".tardis-spool"),
        shown_default="<tmp>/.tardis-spool",
        meaning="Folder of the write-ahead spool.",
    )
    spool_fsync: Literal["never", "interval", "always"] = setting("interval", "When the spool is forced to disk.")
    producer_id: str = setting(
        default_factory=lambda: socket.gethostname() or "tardis",
        shown_default="host name",
        full_name="producer-id",
        meaning="Name of this producer in every event.",
        min_length=1,
        max_length=128,
    )

    @property
    def enabled(self) -> bool:
        return bool(self.backends)

    @property
    def embedded(self) -> bool:
        """The queue runs as a child of this machine's own process."""
        return not self.url

    def half_configured(self) -> str | None:
        if self.embedded and (self.user or self.password or self.token or self.creds):
            return "handoff-url: missing, but credentials for it are given; allowed: both or neither"
        return credentials_problem("handoff", self.user, self.password, self.token, self.creds)
