"""A group of settings is a pydantic model; each of its fields is one setting with all its faces."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ByteSize, ConfigDict, Field, SecretStr, model_validator
from pydantic.fields import FieldInfo

from tardis_settings.kinds import allowed_values, bare_kind, is_contract_switch
from tardis_settings.masking import MASK, mask_credentials


def setting(
    default: Any = None,
    meaning: str = "",
    *,
    default_factory: Callable[[], Any] | None = None,
    shown_default: str | None = None,
    name: str | None = None,
    full_name: str | None = None,
    aliases: tuple[str, ...] = (),
    allowed: str | None = None,
    **constraints: Any,
) -> Any:
    """A pydantic field plus what its other faces need.

    `name` replaces the field's name after the group's prefix, `full_name` replaces both. `shown_default` stands in the
    reference where the real default depends on the machine. `aliases` are full kebab-case names.
    """
    traits = {"name": name, "fullName": full_name, "aliases": list(aliases), "shownDefault": shown_default, "allowed": allowed}
    extra: dict[str, Any] = {"tardis": {key: value for key, value in traits.items() if value}}
    if default_factory is not None:
        return Field(default_factory=default_factory, description=meaning, json_schema_extra=extra, **constraints)
    return Field(default, description=meaning, json_schema_extra=extra, **constraints)


@dataclass(frozen=True)
class Setting:
    """One field of a group, seen from outside: `--nats-servers`, `TM_NATS_SERVERS`, `nats.servers`."""

    prefix: str
    field: str
    info: FieldInfo

    @cached_property
    def _traits(self) -> dict[str, Any]:
        extra = self.info.json_schema_extra
        traits = extra.get("tardis") if isinstance(extra, dict) else None
        return traits if isinstance(traits, dict) else {}

    @cached_property
    def name(self) -> str:
        if full := self._traits.get("fullName"):
            return str(full)
        own = self._traits.get("name") or self.field.replace("_", "-")
        return f"{self.prefix}-{own}" if self.prefix else str(own)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self._traits.get("aliases", ()))

    @property
    def flag(self) -> str:
        return f"--{self.name}"

    @property
    def env(self) -> str:
        return env_name(self.name)

    @property
    def file_key(self) -> str:
        return file_key(self.prefix, self.name)

    @property
    def meaning(self) -> str:
        return self.info.description or ""

    @property
    def allowed(self) -> str:
        return str(self._traits.get("allowed") or allowed_values(self.info))

    @property
    def secret(self) -> bool:
        return bare_kind(self.info.annotation) is SecretStr

    @property
    def switch(self) -> bool:
        return bare_kind(self.info.annotation) is bool

    @property
    def contract_switch(self) -> bool:
        return is_contract_switch(self.info)

    @property
    def default_text(self) -> str:
        """The default as an operator would write it; the same text on every machine."""
        return self._traits.get("shownDefault") or show_plain(self.info.default)


def env_name(name: str) -> str:
    return "TM_" + name.upper().replace("-", "_")


def file_key(prefix: str, name: str) -> str:
    inside = bool(prefix) and name.startswith(f"{prefix}-")
    return f"{prefix}.{name.removeprefix(f'{prefix}-')}" if inside else name


def show_plain(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case ByteSize():
            return value.human_readable(separator="").replace(".0", "")
        case tuple():
            return ",".join(map(str, value))
        case _:
            return str(value)


class Options(BaseModel):
    """Base of all groups: immutable, closed, and silent about the values it refuses."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)

    prefix: ClassVar[str] = ""

    def __init_subclass__(cls, *, prefix: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.prefix = prefix

    @classmethod
    def settings(cls) -> tuple[Setting, ...]:
        return tuple(Setting(cls.prefix, field, info) for field, info in cls.model_fields.items())

    @classmethod
    def title(cls) -> str:
        """The first line of the group's docstring heads it in help and reference."""
        return (cls.__doc__ or cls.__name__).strip().splitlines()[0].rstrip(".")

    def half_configured(self) -> str | None:
        """What is missing or contradicts itself, beginning with the name of the setting; None when all is well."""
        return None

    @model_validator(mode="after")
    def _refuse_half_a_configuration(self) -> Self:
        if problem := self.half_configured():
            raise ValueError(problem)
        return self


def describe(options: Options) -> dict[str, object]:
    """The settings in effect by name, fit for `/status`: secrets and credentials inside URLs are masked."""
    return {s.name: _shown(getattr(options, s.field)) for s in options.settings()}


def _shown(value: object) -> object:
    match value:
        case None | bool() | int() | float():
            return value
        case SecretStr():
            return MASK if value else None
        case tuple():
            return [_shown(part) for part in value]
        case _:
            return mask_credentials(str(value))
