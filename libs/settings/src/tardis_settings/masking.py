"""How values are shown to people: credentials hidden, control characters escaped, long texts cut."""

import re

MASK = "***"
SHOWN_CHARACTERS = 80

# Greedy up to the last "@": a password may itself contain "@" or "/", and hiding too much is the safe mistake.
_CREDENTIALS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)?\S*@")


def mask_credentials(text: str) -> str:
    """`nats://user:password@host` becomes `nats://***@host`."""
    return _CREDENTIALS.sub(lambda found: f"{found['scheme'] or ''}{MASK}@", text)


def one_line(text: str) -> str:
    """The text with everything escaped that could break or forge a line, cut to a readable length."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: SHOWN_CHARACTERS + 1])
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def show_value(value: object, *, secret: bool) -> str:
    """The kind of a given value and, unless it is secret, the value itself."""
    kind = _kind(value)
    if secret or value == "" or not isinstance(value, str | int | float):
        return kind
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{kind} '{one_line(mask_credentials(text))}'"


def _kind(value: object) -> str:
    match value:
        case "":
            return "empty text"
        case str():
            return "text"
        case bool():
            return "a switch"
        case int() | float():
            return "a number"
        case list() | tuple():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return f"a value of type {type(value).__name__}"
