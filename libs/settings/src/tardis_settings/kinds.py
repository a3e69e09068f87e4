"""Kinds of values that pydantic does not bring along, and the words that say what a kind allows."""

import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import urlsplit

import annotated_types
from pydantic import AfterValidator, BeforeValidator, ByteSize, SecretStr
from pydantic.fields import FieldInfo


def read_switch(value: object) -> bool:
    """true, false, 1 or 0: a typing error must not silently mean false."""
    match value:
        case bool():
            return value
        case "true" | "1" | 1:
            return True
        case "false" | "0" | 0:
            return False
    raise ValueError("expected true, false, 1 or 0")


def read_contract_switch(value: object) -> bool:
    """A switch that existing scripts already use: only `true` turns it on."""
    if value is True or value == "true":
        return True
    if value is False or value == "false":
        return False
    raise ValueError("expected true or false")


def split_list(value: object) -> object:
    """`a, b,c` as a tuple; lists from a file or a constructor pass unchanged."""
    if not isinstance(value, str):
        return value
    parts = [part.strip() for part in value.split(",")]
    if parts == [""]:
        return ()
    if "" in parts:
        raise ValueError("the list has an empty part")
    return tuple(parts)


def refuse_empty(path: object) -> object:
    """An empty path would mean the working directory, which nobody wants to see cleared."""
    if path == "":
        raise ValueError("expected a path")
    return path


def url_with(*schemes: str) -> Callable[[str], str]:
    """A check that a text is a URL of one of these schemes; trailing slashes are dropped."""

    def check(text: str) -> str:
        parts = urlsplit(text)
        _ = parts.port  # urlsplit checks the port only when it is asked for
        if parts.scheme not in schemes or not parts.hostname or re.search(r"[\s\x00-\x1f]", text):
            raise ValueError(f"expected a URL that begins with {' or '.join(f'{s}://' for s in schemes)}")
        return text.rstrip("/")

    return check


Switch = Annotated[bool, BeforeValidator(read_switch)]
ContractSwitch = Annotated[bool, BeforeValidator(read_contract_switch)]
NamedPath = Annotated[Path, BeforeValidator(refuse_empty)]
HttpUrl = Annotated[str, AfterValidator(url_with("http", "https"))]

_KINDS: dict[Any, str] = {
    SecretStr: "text",
    str: "text",
    Path: "path",
    ByteSize: "bytes, also as 64MiB or 1GiB",
}


def is_contract_switch(field: FieldInfo) -> bool:
    return any(isinstance(m, BeforeValidator) and m.func is read_contract_switch for m in field.metadata)


def bare_kind(annotation: Any) -> Any:
    """The type inside `X | None` and `Annotated[X, ...]`."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return bare_kind(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return bare_kind(next(a for a in get_args(annotation) if a is not type(None)))
    return annotation


def allowed_values(field: FieldInfo) -> str:
    """What may be given for a field, in words."""
    kind = bare_kind(field.annotation)
    if kind is bool:
        return "true, false" if is_contract_switch(field) else "true, false, 1, 0"
    if kind in (int, float):
        return ("whole number" if kind is int else "number") + _bounds(field)
    if get_origin(kind) is Literal:
        return ", ".join(get_args(kind))
    if get_origin(kind) is tuple:
        element = bare_kind(get_args(kind)[0])
        choices = f" out of {', '.join(get_args(element))}" if get_origin(element) is Literal else ""
        return f"comma-separated list{choices}"
    return _KINDS[kind]


def _bounds(field: FieldInfo) -> str:
    lower = next((m.ge for m in field.metadata if isinstance(m, annotated_types.Ge)), None)
    upper = next((m.le for m in field.metadata if isinstance(m, annotated_types.Le)), None)
    above = next((m.gt for m in field.metadata if isinstance(m, annotated_types.Gt)), None)
    if lower is not None and upper is not None:
        return f" from {lower} to {upper}"
    if above is not None:
        return f" above {above}"
    return f" from {lower}" if lower is not None else ""
