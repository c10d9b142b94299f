"""Client of the payments gateway Pasarela. `Pasarela` is where to begin, or `AsyncPasarela` in an event loop; `models` has the objects that calls take and answer."""

from . import models
from .async_transport import AsyncTransport
from .calls import CallOptions, KeyedOptions
from .client import AsyncPasarela, Pasarela
from .errors import (
    ApiError,
    BadField,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    NotFound,
    PasarelaError,
    RateLimited,
    Refused,
    SignatureError,
    Unauthorized,
    Unavailable,
)
from .generated.version import VERSION as __version__
from .model import Amount, Instant, ResponseInfo
from .pages import AsyncPage, Page
from .retries import Policy
from .streams import StreamCall, StreamOutcome
from .transport import Answer, HttpTransport, NoAnswer, Transport
from .webhooks import WebhookEvent, sign_webhook, verify_webhook

__all__ = [
    "Amount",
    "Answer",
    "ApiError",
    "AsyncPage",
    "AsyncPasarela",
    "AsyncTransport",
    "BadField",
    "CallOptions",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "HttpTransport",
    "Instant",
    "InvalidRequest",
    "KeyedOptions",
    "NoAnswer",
    "NotFound",
    "Page",
    "Pasarela",
    "PasarelaError",
    "Policy",
    "RateLimited",
    "Refused",
    "ResponseInfo",
    "SignatureError",
    "StreamCall",
    "StreamOutcome",
    "Transport",
    "Unauthorized",
    "Unavailable",
    "WebhookEvent",
    "__version__",
    "models",
    "sign_webhook",
    "verify_webhook",
]
