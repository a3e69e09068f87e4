"""`load`: flag over environment over file over default, into validated groups."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn, TypeVar

from pydantic import ValidationError

from tardis_settings.errors import Answered, InvalidPort, InvalidSetting, SettingsError
from tardis_settings.groups import GROUPS
from tardis_settings.help import help_text
from tardis_settings.masking import show_value
from tardis_settings.options import Options, Setting, describe
from tardis_settings.sources import Found, Given, read_env, read_file, read_flags

Group = TypeVar("Group", bound=Options)


class Loaded:
    """Group instances by type (`loaded[NatsOptions].servers`) and where each setting came from."""

    def __init__(self, groups: Sequence[Options], sources: Mapping[str, str]) -> None:
        self._groups = {type(group): group for group in groups}
        self.sources = dict(sources)

    def __getitem__(self, group: type[Group]) -> Group:
        found = self._groups[group]
        assert isinstance(found, group)
        return found

    def describe(self) -> dict[str, object]:
        """All settings in effect, masked, for `/status` and the start-up log."""
        return {name: value for group in self._groups.values() for name, value in describe(group).items()}


def load(
    *groups: type[Options],
    argv: Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
    program: str = "tardis",
    version: str = "0.1.0",
) -> Loaded:
    """Read the groups, or raise: `SettingsError` with its exit code, `Answered` for `--help` and `--version`."""
    argv = sys.argv[1:] if argv is None else argv
    env = os.environ if env is None else env
    _answer(argv, groups, program, version)
    settings = [s for group in groups for s in group.settings()]
    flags, variables = read_flags(argv, settings), read_env(env, settings)
    found = _file_settings(flags, variables, settings) | variables | flags | _platform_port(env, settings)
    instances = [_build(group, found) for group in groups]
    return Loaded(instances, {s.name: found[s.name].label if s.name in found else "default" for s in settings})


def load_or_exit(
    *groups: type[Options],
    argv: Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
    program: str = "tardis",
    version: str = "0.1.0",
) -> Loaded:
    """`load` for a program's main: prints help, version or the one line that is wrong, and exits."""
    try:
        return load(*groups, argv=argv, env=env, program=program, version=version)
    except Answered as answer:
        sys.stdout.write(answer.text + "\n")
        sys.exit(0)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_code)


def _answer(argv: Sequence[str], groups: Sequence[type[Options]], program: str, version: str) -> None:
    if "-h" in argv or "--help" in argv:
        raise Answered(help_text(groups, program))
    if "-v" in argv or "--version" in argv:
        raise Answered(version)


def _file_settings(flags: Found, variables: Found, settings: Sequence[Setting]) -> Found:
    given = flags.get("config") or variables.get("config")
    if given is None:
        return {}
    accepted = list({s.name: s for s in (*settings, *(s for group in GROUPS for s in group.settings()))}.values())
    return read_file(given, settings, accepted)


def _platform_port(env: Mapping[str, str], settings: Sequence[Setting]) -> Found:
    """Hosting platforms dictate the port by `PORT`; the contract lets it win even over the flag."""
    if env.get("PORT") and any(s.name == "port" for s in settings):
        return {"port": Given("PORT", env["PORT"])}
    return {}


def _build(group: type[Group], found: Found) -> Group:
    given = {s.field: found[s.name] for s in group.settings() if s.name in found}
    try:
        return group(**{field: g.value for field, g in given.items()})
    except ValidationError as error:
        _refuse(group, given, error)


def _refuse(group: type[Options], given: Mapping[str, Given], error: ValidationError) -> NoReturn:
    first = error.errors(include_url=False, include_input=False)[0]
    if not first["loc"]:
        raise InvalidSetting(str(first["ctx"]["error"])) from None
    setting = next(s for s in group.settings() if s.field == first["loc"][0])
    if setting.name == "port":
        raise InvalidPort("Invalid HTTP port") from None
    source = given[setting.field]
    shown = show_value(source.value, secret=setting.secret)
    raise InvalidSetting(f"{source.label}: {shown} does not fit, allowed: {setting.allowed}") from None
