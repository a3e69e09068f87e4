"""`tardis COMMAND`: the operator's tools."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from . import provision, tail

COMMANDS: dict[str, tuple[Callable[[Sequence[str]], int], str]] = {
    "provision": (provision.main, "make and check the queue's streams and consumers"),
    "tail": (tail.main, "read a backend's target and print decoded Bronze events"),
}


def main(argv: Sequence[str] | None = None) -> None:
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        print("usage: tardis COMMAND [options]\n")
        for name, (_, meaning) in COMMANDS.items():
            print(f"  {name:10s} {meaning}")
        print("\n`tardis COMMAND --help` lists the options of a command.")
        sys.exit(0 if words else 1)
    if words[0] not in COMMANDS:
        print(f"Unknown command: {words[0][:80]!r}; allowed: {', '.join(COMMANDS)}", file=sys.stderr)
        sys.exit(1)
    sys.exit(COMMANDS[words[0]][0](words[1:]))
