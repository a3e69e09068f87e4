"""The text of `--help`."""

import textwrap
from collections.abc import Sequence

from tardis_settings.options import Options, Setting


def help_text(groups: Sequence[type[Options]], program: str) -> str:
    lines = [f"Usage: {program} [options]", ""]
    for group in groups:
        lines.append(f"{group.title()}:")
        for setting in group.settings():
            lines += _entry(setting)
        lines.append("")
    lines += ["  -h, --help", "      Show this text.", "  -v, --version", "      Show the version.", ""]
    lines.append("Each option is also an environment variable (--api-key: TM_API_KEY) and a key of the file given by --config.")
    lines.append("Secrets can be read from a file: --api-key-file FILE or TM_API_KEY_FILE.")
    return "\n".join(lines)


def _entry(setting: Setting) -> list[str]:
    names = ", ".join(f"--{name}" for name in setting.names)
    head = f"  {names}" if setting.switch else f"  {names} VALUE"
    default = f" Default: {setting.default_text}." if setting.default_text and not setting.secret else ""
    text = f"{setting.meaning} Allowed: {setting.allowed}.{default}"
    return [head, *textwrap.wrap(text, width=100, initial_indent="      ", subsequent_indent="      ")]
