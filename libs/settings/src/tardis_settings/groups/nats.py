"""NATS as a destination of events."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, SecretStr

from tardis_settings.kinds import NamedPath, split_list, url_with
from tardis_settings.options import Options, setting


def _check_server(text: str) -> str:
    return url_with("nats", "tls", "ws", "wss")(text if "://" in text else f"nats://{text}")


def _check_subject(text: str) -> str:
    """A subject to publish to: tokens joined by dots, no wildcards."""
    if not re.fullmatch(r"[^\s.*>\x00-\x1f]+(\.[^\s.*>\x00-\x1f]+)*", text):
        raise ValueError("not a subject to publish to")
    return text


def _check_stream(text: str) -> str:
    if not re.fullmatch(r"[^\s.*>/\\\x00-\x1f]+", text):
        raise ValueError("not a stream name")
    return text


Servers = Annotated[tuple[Annotated[str, AfterValidator(_check_server)], ...], BeforeValidator(split_list)]
Subject = Annotated[str, AfterValidator(_check_subject)]
Stream = Annotated[str, AfterValidator(_check_stream)]


def credentials_problem(
    prefix: str, user: str | None, password: SecretStr | None, token: SecretStr | None, creds: Path | None
) -> str | None:
    """NATS knows three ways to log in; a client uses exactly one of them."""
    if password and not user:
        return f"{prefix}-user: missing, but {prefix}-pass is given; allowed: both or neither"
    if user and not password:
        return f"{prefix}-pass: missing, but {prefix}-user is given; allowed: both or neither"
    ways = [name for name, value in (("user", user), ("token", token), ("creds", creds)) if value]
    if len(ways) > 1:
        return f"{prefix}-{ways[1]}: {prefix}-{ways[0]} is given too, allowed: one way to log in"
    return None


class NatsOptions(Options, prefix="nats"):
    """NATS."""

    servers: Servers = setting(
        (), "Servers to publish to.", allowed="comma-separated list of nats://, tls://, ws:// or wss:// URLs or host:port"
    )
    subject: Subject | None = setting(None, "Subject of the events.", allowed="subject without blanks and wildcards")
    stream: Stream | None = setting(
        None, "JetStream stream that holds the subject; expected to exist or created.", allowed="stream name"
    )
    user: str | None = setting(None, "User.")
    password: SecretStr | None = setting(None, "Password.", name="pass")
    token: SecretStr | None = setting(None, "Token.")
    creds: NamedPath | None = setting(None, "NATS credentials file.")
    max_batch_size: int = setting(1000, "Events in flight to the server at once.", ge=1, le=100_000)
    retry_max_attempts: int = setting(8, "Attempts before a batch is given back to the queue.", ge=1)
    retry_max_elapsed_s: float = setting(60, "Seconds of retrying before a batch is given back to the queue.", gt=0)

    @property
    def enabled(self) -> bool:
        return bool(self.servers and self.subject)

    def half_configured(self) -> str | None:
        if self.servers and not self.subject:
            return "nats-subject: missing, but nats-servers is given; allowed: both or neither"
        if self.subject and not self.servers:
            return "nats-servers: missing, but nats-subject is given; allowed: both or neither"
        if not self.servers and (self.user or self.password or self.token or self.creds):
            return "nats-servers: missing, but credentials for it are given; allowed: both or neither"
        return credentials_problem("nats", self.user, self.password, self.token, self.creds)
