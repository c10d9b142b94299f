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
from typing import Any, Union, cast

from .errors import SignatureError
from .generated import shared
from .generated.models import EVENTS
from .model import TIME, Model, read_json

TOLERANCE_SECONDS = 300

#: What was received. A str is taken as its UTF-8.
Body = Union[bytes, bytearray, memoryview, str]


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


def verify_webhook(body: Body, headers: Mapping[str, str], secret: str | Iterable[str], *, tolerance: float = TOLERANCE_SECONDS, now: float | None = None, timestamped: str | None = None) -> WebhookEvent:
    """The event of a delivery, or SignatureError.

    `body` is what was received, byte for byte, as bytes or str: parse nothing before. `headers` have names in any case. While a secret
    is being changed give both. What was sent more than `tolerance` seconds ago, or ahead, is refused as a replay.
    `timestamped` names the header of an endpoint's own signature, such as `Svc-Signature`, where that is to be verified
    instead of `webhook-signature`: the endpoint's `signature` is then `timestamped`.
    """
    body = bytes_of(body)
    given = {name.lower(): value for name, value in headers.items()}
    id, sent_at, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if timestamped is None:
        wanted = [standard_signature(one, id, sent_at, body) for one in secrets]
        sent = signatures.split()
    else:
        sent_at, _, signatures = given.get(timestamped.lower(), "").removeprefix("t=").partition(",")
        wanted = [timestamped_signature(one, sent_at, body) for one in secrets]
        sent = signatures.split(",")
    if not id or not re.fullmatch(r"[0-9]{1,15}", sent_at):
        raise SignatureError(shared.WEBHOOK_HEADERS)
    # Every pair is compared, each in constant time: how long it takes says nothing.
    if not any([hmac.compare_digest(one.encode(), right.encode()) for one in sent for right in wanted]):
        raise SignatureError(shared.WEBHOOK_SIGNATURE)
    if abs((time.time() if now is None else now) - int(sent_at)) > tolerance:
        raise SignatureError(shared.WEBHOOK_TIME)
    try:
        envelope = read_json(body)
        return WebhookEvent(id, envelope["event"], envelope["data"], TIME.decode(envelope["timestamp"]))
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise SignatureError(shared.WEBHOOK_EVENT) from failure


def sign_webhook(body: Body, secret: str, *, id: str = "evt_test", sent_at: int | None = None, timestamped: str | None = None) -> dict[str, str]:
    """The headers of a delivery as the gateway would sign it now: for the tests of a program that receives webhooks.

    `body` is an event as text: `{"event": "payment.completed", "data": {…}, "timestamp": "2026-01-01T00:00:00.000Z"}`.
    `sent_at` is in seconds since 1970. `timestamped` names the header of an endpoint whose `signature` is `timestamped`.
    """
    time_text, body = str(int(time.time()) if sent_at is None else sent_at), bytes_of(body)
    headers = {"webhook-id": id, "webhook-timestamp": time_text, "webhook-signature": standard_signature(secret, id, time_text, body)}
    if timestamped is not None:
        headers[timestamped.lower()] = f"t={time_text},{timestamped_signature(secret, time_text, body)}"
    return headers


def standard_signature(secret: str, id: str, sent_at: str, body: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(key_of(secret), f"{id}.{sent_at}.".encode() + body, hashlib.sha256)).decode()


def timestamped_signature(secret: str, sent_at: str, body: bytes) -> str:
    key_of(secret)  # here the whole text of a secret is the key; one that is none is refused all the same
    return "v1=" + hmac.digest(secret.encode(), f"{sent_at}.".encode() + body, hashlib.sha256).hex()


def bytes_of(body: Body) -> bytes:
    if not isinstance(body, (bytes, bytearray, memoryview, str)):
        raise TypeError(shared.WEBHOOK_BODY)
    return body.encode() if isinstance(body, str) else bytes(body)


def key_of(secret: str) -> bytes:
    """The key in `whsec_…`."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise ValueError(shared.WEBHOOK_SECRET)
    return key
