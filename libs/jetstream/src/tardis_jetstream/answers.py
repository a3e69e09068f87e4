"""What the server and its client say, in our words: which of it is worth another try, and which is not."""

from __future__ import annotations

import json
from typing import Any

from nats.errors import MaxPayloadError, NoRespondersError
from nats.js.errors import APIError, BadRequestError, NotFoundError, ServiceUnavailableError

from tardis_telemetry import scrub

from .errors import JetStreamError, NotFound, Refused, TooLarge, Unavailable

# All else that a publish may be told passes or can be mended at the server: a missing stream, a lost leader, no room.
_TOO_LARGE = {10054, 10097}
_NOT_ENABLED = {10039, 10076}


def stored_already(answer: bytes) -> bool:
    """Reads a PubAck: whether the message was a repeat; raises if it was not stored."""
    fields = publish_answer(answer)
    if error := fields.get("error"):
        text = f"{error.get('description', 'refused')} ({error.get('err_code', error.get('code'))})"
        raise (TooLarge if error.get("err_code") in _TOO_LARGE else Unavailable)(text)
    return bool(fields.get("duplicate"))


def publish_answer(answer: bytes) -> dict[str, Any]:
    """A server without a stream for the subject answers with a status and no body."""
    try:
        fields = json.loads(answer)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise Unavailable("no stream takes this subject")
    return fields


def translated(error: Exception) -> JetStreamError:
    """An error of the client as one of ours."""
    match error:
        case NoRespondersError():
            return Unavailable("no stream takes this subject")
        case MaxPayloadError():
            return TooLarge("the message is larger than the server's max_payload")
        case NotFoundError():
            return NotFound(error.description or "not found")
        case BadRequestError():
            return Refused(error.description or "bad request")
        case APIError() if error.err_code in _NOT_ENABLED or _nobody_answered(error):
            return Refused("JetStream is not enabled on this server or for this account")
        case APIError():
            return Unavailable(error.description or text_of(error))
        case _:
            return Unavailable(text_of(error))


def _nobody_answered(error: APIError) -> bool:
    return isinstance(error, ServiceUnavailableError) and error.err_code is None


def text_of(error: BaseException) -> str:
    return scrub(str(error)) or type(error).__name__
