"""Where the server is and who we are there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, kw_only=True)
class Access:
    servers: tuple[str, ...] = field(repr=False)  # a URL may hold a password
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    creds: str | None = None

    def connect_arguments(self) -> dict[str, Any]:
        named = {"user": self.user, "password": self.password, "token": self.token, "user_credentials": self.creds}
        return {"servers": list(self.servers), **{key: value for key, value in named.items() if value}}


class Secret(Protocol):
    def get_secret_value(self) -> str: ...


class Login(Protocol):
    """The settings groups that name a NATS login all have these."""

    user: str | None
    password: Any
    token: Any
    creds: Any


def access(servers: Iterable[str], login: Login) -> Access:
    def revealed(secret: Secret | None) -> str | None:
        return secret.get_secret_value() if secret else None

    return Access(
        servers=tuple(servers),
        user=login.user,
        password=revealed(login.password),
        token=revealed(login.token),
        creds=str(login.creds) if login.creds else None,
    )
