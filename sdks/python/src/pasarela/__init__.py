"""Client of the payments gateway Pasarela. `Pasarela` is where to begin; `models` has the objects that calls take and answer."""

from . import models
from .client import Pasarela
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
from .pages import Page
from .retries import Policy
from .transport import Answer, HttpTransport, NoAnswer, Transport
from .webhooks import WebhookEvent, verify_webhook

__all__ = [
    "Amount",
    "Answer",
    "ApiError",
    "BadField",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "HttpTransport",
    "Instant",
    "InvalidRequest",
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
    "Transport",
    "Unauthorized",
    "Unavailable",
    "WebhookEvent",
    "__version__",
    "models",
    "verify_webhook",
]
