"""Deliveries of events: whether they are from the gateway, of now, and unchanged. As Standard Webhooks signs them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from .errors import SignatureError
from .generated.models import EVENTS
from .model import TIME, Model, read_json

TOLERANCE_SECONDS = 300


@dataclass(frozen=True)
class WebhookEvent:
    """A verified delivery. `id` is the same on every delivery of one event: do what it asks once per id.

    `data` says how things stood when it happened; whole numbers in it are int, others Decimal. `model` is the same as an
    object of `models`: a `Payment`, a `CopPaymentEvent`, …
    """

    id: str
    event: str
    data: Mapping[str, Any]
    timestamp: datetime

    @property
    def model(self) -> Model | None:
        """The data as an object; None of an event that this version does not know."""
        codec = EVENTS.get(self.event)
        return None if codec is None else cast(Model, codec.decode(self.data))


def verify_webhook(body: bytes | bytearray | memoryview | str, headers: Mapping[str, str], secret: str | Iterable[str], *, tolerance: float = TOLERANCE_SECONDS, now: float | None = None, timestamped: str | None = None) -> WebhookEvent:
    """The event of a delivery, or SignatureError.

    `body` is what was received, byte for byte (a text is taken as its UTF-8): parse nothing before. `headers` have names in any case. While a secret
    is being changed give both. What was sent more than `tolerance` seconds ago, or ahead, is refused as a replay.
    `timestamped` names the header of an endpoint's own signature, such as `Svc-Signature`, where that is to be verified
    instead of `webhook-signature`: the endpoint's `signature` is then `timestamped`.
    """
    if not isinstance(body, (bytes, bytearray, memoryview, str)):
        raise TypeError("the body is what was received, as bytes or text: verify it before anything parses it")
    body = body.encode() if isinstance(body, str) else bytes(body)
    given = {name.lower(): value for name, value in headers.items()}
    id, sent_at, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if timestamped is None:
        signed = f"{id}.{sent_at}.".encode() + body
        wanted = [b"v1," + base64.b64encode(hmac.digest(key_of(one), signed, hashlib.sha256)) for one in secrets]
        sent = [one.encode() for one in signatures.split()]
    else:
        sent_at, _, signatures = given.get(timestamped.lower(), "").removeprefix("t=").partition(",")
        signed = f"{sent_at}.".encode() + body
        # Here the whole text of a secret is the key; one that is none is refused all the same.
        wanted = [b"v1=" + hmac.digest(one.encode(), signed, hashlib.sha256).hex().encode() for one in secrets if key_of(one)]
        sent = [one.encode() for one in signatures.split(",")]
    if not id or not re.fullmatch(r"[0-9]{1,15}", sent_at):
        raise SignatureError("a delivery has the headers webhook-id, webhook-timestamp and webhook-signature")
    # Every pair is compared, each in constant time: how long it takes says nothing.
    if not any([hmac.compare_digest(one, right) for one in sent for right in wanted]):
        raise SignatureError("no signature of this delivery is right")
    if abs((time.time() if now is None else now) - int(sent_at)) > tolerance:
        raise SignatureError("the delivery was not sent just now; a replay, or a clock that is wrong")
    try:
        envelope = read_json(body)
        return WebhookEvent(id, envelope["event"], envelope["data"], TIME.decode(envelope["timestamp"]))
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise SignatureError("the delivery is signed, and is no event") from failure


def key_of(secret: str) -> bytes:
    """The key in `whsec_…`."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise ValueError("a signing secret is whsec_ and base64, as the answer that registered the endpoint showed it")
    return key
