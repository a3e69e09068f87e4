"""The three places a setting can come from: command line, environment, file. Each gives {setting: what was given}."""

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tardis_settings.errors import InvalidSetting, UnknownOption
from tardis_settings.masking import one_line
from tardis_settings.options import Setting, env_name, file_key

MAX_SECRET_BYTES = 64 * 1024
MAX_CONFIG_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Given:
    """A value and the name under which the operator gave it."""

    label: str
    value: Any


Found = dict[str, Given]


def read_flags(argv: Sequence[str], settings: Sequence[Setting]) -> Found:
    """`--x value`, `--x=value`, and `--x` alone for switches. The last of several wins."""
    known = {f"--{name}": (s, False) for s in settings for name in s.names}
    known |= {f"--{name}-file": (s, True) for s in settings if s.secret for name in s.names}
    found: Found = {}
    words = list(argv)
    while words:
        flag, equals, value = words.pop(0).partition("=")
        if flag not in known:
            raise UnknownOption(_unknown(flag, known))
        setting, names_file = known[flag]
        if not equals:
            value = _following_value(flag, setting, words)
        found[setting.name] = Given(flag, read_secret_file(flag, value) if names_file else value)
    return found


def _following_value(flag: str, setting: Setting, words: list[str]) -> str:
    if setting.switch:
        return words.pop(0) if words and words[0] in ("true", "false", "1", "0") else "true"
    if not words or words[0].startswith("--"):
        raise InvalidSetting(f"{flag}: a value is missing, allowed: {setting.allowed}")
    return words.pop(0)


def _unknown(flag: str, known: Iterable[str]) -> str:
    if not flag.startswith("-"):
        return "Unknown argument: options begin with --"  # a stray word may be the second half of a secret
    return f"Unknown option: {one_line(flag)} (nearest known: {_nearest(flag, known)})"


def _nearest(word: str, known: Iterable[str]) -> str:
    return difflib.get_close_matches(word, list(known), n=1, cutoff=0.0)[0]


def read_env(env: Mapping[str, str], settings: Sequence[Setting]) -> Found:
    """`TM_…` variables; an empty one counts as not given, because charts and compose files set them so."""
    found: Found = {}
    for setting in settings:
        given = [Given(env_name(n), env[env_name(n)]) for n in setting.names if env.get(env_name(n))]
        if setting.secret:
            paths = [f"{env_name(n)}_FILE" for n in setting.names if env.get(f"{env_name(n)}_FILE")]
            if given and paths:
                raise InvalidSetting(f"{paths[0]}: {given[0].label} is given too, allowed: one of the two")
            given += [Given(label, read_secret_file(label, env[label])) for label in paths]
        if given:
            first = given[0]
            # The contract: only exactly `true` turns such a switch on, anything else is quietly off.
            found[setting.name] = Given(first.label, first.value == "true") if setting.contract_switch else first
    return found


def read_secret_file(label: str, path: str) -> str:
    """A secret mounted as a file, without the line end that editors and `kubectl` leave."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_SECRET_BYTES + 1)
        if len(content) > MAX_SECRET_BYTES:
            raise InvalidSetting(f"{label}: the file is too large, allowed: up to {MAX_SECRET_BYTES} bytes")
        return content.decode().rstrip("\r\n")
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"{label}: cannot read the file ({_reason(error)}), allowed: path of a readable text file") from None


def read_file(given: Given, settings: Sequence[Setting], accepted: Sequence[Setting]) -> Found:
    """A YAML or TOML file. Keys of groups this program does not load are accepted, so that a fleet can share one file."""
    content = flatten(_parse(given), {s.prefix for s in accepted})
    known = {file_key(s.prefix, name): s for s in accepted for name in s.names}
    known |= {f"{file_key(s.prefix, name)}-file": s for s in accepted if s.secret for name in s.names}
    own = {s.name for s in settings}
    found: Found = {}
    for key, value in content.items():
        if key not in known:
            raise InvalidSetting(f"{one_line(key)} in {given.label}: no such setting (nearest known: {_nearest(key, known)})")
        setting = known[key]
        if value is None or setting.name not in own:
            continue
        label = f"{key} in {given.label}"
        if setting.name in found:
            raise InvalidSetting(f"{label}: {found[setting.name].label} is given too, allowed: one of the two")
        found[setting.name] = Given(label, _file_value(label, setting, key, value))
    return found


def _file_value(label: str, setting: Setting, key: str, value: Any) -> Any:
    if setting.secret and key.endswith("-file"):
        return read_secret_file(label, str(value))
    return value


def flatten(content: dict[Any, Any], prefixes: set[str]) -> dict[str, Any]:
    """`{nats: {max_batch_size: 5}}` becomes `{"nats.max-batch-size": 5}`."""
    flat: dict[str, Any] = {}
    for key, value in content.items():
        name = str(key).replace("_", "-")
        if isinstance(value, dict) and name in prefixes:
            flat |= {f"{name}.{str(inner).replace('_', '-')}": v for inner, v in value.items()}
        elif value is not None:
            flat[name] = value
    return flat


def _parse(given: Given) -> dict[Any, Any]:
    path = Path(str(given.value))
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_CONFIG_BYTES + 1)
        if len(raw) > MAX_CONFIG_BYTES:
            raise InvalidSetting(f"{given.label}: the file is too large, allowed: up to {MAX_CONFIG_BYTES} bytes")
        content = tomllib.loads(raw.decode()) if path.suffix == ".toml" else yaml.safe_load(raw.decode())
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise InvalidSetting(f"{given.label}: cannot read the file ({_reason(error)}), allowed: a YAML or TOML file") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InvalidSetting(f"{given.label}: the file holds no settings, allowed: a mapping such as nats: {{servers: …}}")
    return content


def _reason(error: Exception) -> str:
    """Why in a few words: parser messages may quote the line with the secret on it."""
    if isinstance(error, OSError):
        return (error.strerror or type(error).__name__).lower()
    mark = getattr(error, "problem_mark", None)
    return f"not well-formed at line {mark.line + 1}" if mark else "not well-formed"
