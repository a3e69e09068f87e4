"""Does a pack kill the process that reads it? Found out in another process.

The queue counts deliveries, but not which of them were given back in good order: during an outage of the backend a sound pack comes
again and again, to any replica. So a count alone condemns nothing; it only makes a pack suspect, and a suspect is first decoded by
a child. If the child dies, the pack goes to the dead letters as it is.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from tardis_bronze import BronzeError, peek, read_pack

SUSPECT_AFTER = 5
TRIAL_TIMEOUT_S = 30.0
COMMAND = (sys.executable, "-m", "tardis_publisher.trial")
_FAILED = 3


async def survives(data: bytes) -> bool:
    try:
        # In a session of its own, so that Ctrl-C at the terminal is not taken for the pack's doing.
        child = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return True  # no trial, no verdict
    try:
        async with asyncio.timeout(TRIAL_TIMEOUT_S):
            await child.communicate(data)
    except TimeoutError:
        return False
    finally:
        if child.returncode is None:
            child.kill()
        code = await child.wait()
    return code != _FAILED and (code >= 0 or code == -signal.SIGTERM)


def main() -> None:
    data = sys.stdin.buffer.read()
    try:
        _decode(data)
    except Exception:
        sys.exit(_FAILED)


def _decode(data: bytes) -> None:
    """What a lane does with a pack; bytes that are merely wrong are its everyday."""
    try:
        parts = read_pack(data).events()
    except BronzeError:
        return
    for part in parts:
        try:
            peek(part)
        except BronzeError:
            pass


if __name__ == "__main__":
    main()
