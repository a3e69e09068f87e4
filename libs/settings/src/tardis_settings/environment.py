"""Settings handed on to a child process through its environment: secrets never stand on a command line."""

from pydantic import ByteSize, SecretStr

from tardis_settings.options import Options, show_plain


def environment(*groups: Options) -> dict[str, str]:
    """Every setting in effect under its variable; what has no value is left out."""
    return {
        s.env: text for group in groups for s in group.settings() if (text := _plain(getattr(group, s.field))) not in (None, "")
    }


def _plain(value: object) -> str | None:
    match value:
        case None:
            return None
        case SecretStr():
            return value.get_secret_value()
        case ByteSize():
            return str(int(value))
        case _:
            return show_plain(value)
