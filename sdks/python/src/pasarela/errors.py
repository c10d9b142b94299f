"""What can go wrong, as exceptions. Programs branch on the class, or on `code`, never on the message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class PasarelaError(Exception):
    """The root of everything that this library raises by itself."""


class SignatureError(PasarelaError, ValueError):
    """A delivery that is not from the gateway, was changed on its way, or was not sent just now. Answer it with 400 and do nothing."""


class ConnectionFailed(PasarelaError):
    """No whole answer came: the address is wrong, the network is down, or it took too long.

    `outcome_unknown` says whether the request may have been carried out. Then do not guess: call again with the same
    `idempotency_key` (it is an attribute here), or ask `client.reference.get_idempotency_key`.
    """

    def __init__(self, message: str, *, outcome_unknown: bool, idempotency_key: str | None) -> None:
        super().__init__(message)
        self.outcome_unknown = outcome_unknown
        self.idempotency_key = idempotency_key


@dataclass(frozen=True)
class BadField:
    """A member of the request that is not right."""

    field: str  # dotted, with index: `card.number`, `items[3].monto`
    message: str


class ApiError(PasarelaError):
    """The gateway said no. A payment that a bank declined is no error: it is a payment with `status` `"FAILED"`."""

    def __init__(self, status: int, body: Any, *, retry_after: int | None, request_id: str | None, idempotency_key: str | None) -> None:
        members: Mapping[str, Any] = body if isinstance(body, dict) else {}
        said = members.get("message")
        self.status = status
        #: The stable code, such as `insufficient_balance`. The public calls have none: there it is the text of the status.
        self.code = str(members.get("error") or f"http_{status}")
        self.message = "; ".join(map(str, said)) if isinstance(said, list) else str(said or f"the answer was {status}")
        #: What support needs to find the request.
        self.request_id = request_id or members.get("requestId")
        #: The address of the page about the code, of all but the public calls.
        self.docs: str | None = members.get("docs")
        #: Every bad field at once, of `invalid_data`.
        self.fields = tuple(BadField(str(bad.get("field")), str(bad.get("message"))) for bad in members.get("fields") or ())
        #: The fields that differ, of `external_ref_conflict`.
        self.differs = tuple(members.get("differs") or ())
        #: What the reference was used for, of `external_ref_conflict`.
        self.existing_id: str | None = members.get("existingId")
        #: The whole answer, for members of single codes, such as `availableVes` of `insufficient_balance`.
        self.body = members
        #: Seconds after which to ask again, if the gateway said.
        self.retry_after = retry_after
        self.idempotency_key = idempotency_key
        super().__init__(self._text())

    @property
    def outcome_unknown(self) -> bool:
        """Whether the request may have been carried out all the same. Then call again with the same `idempotency_key`."""
        return self.status in (500, 502, 504) or self.code in ("storage_unavailable", "http_503")

    def _text(self) -> str:
        more = [f"{bad.field}: {bad.message}" for bad in self.fields] + [f"differs: {name}" for name in self.differs if name not in self.message]
        text = "; ".join([self.message, *(one for one in more if one not in self.message)])  # nothing twice
        return f"{self.status} {self.code}: {text} (request {self.request_id})"


class InvalidRequest(ApiError):
    """400, 413 or 415: the request is not right. `fields` names every bad one."""


class Unauthorized(ApiError):
    """401: no key, an unknown, revoked or expired one."""


class Forbidden(ApiError):
    """403: the key or the account may not do this."""


class NotFound(ApiError):
    """404: no such object for this key."""


class Conflict(ApiError):
    """409 or 410: it is not as the request supposes. Of `external_ref_conflict`, `differs` and `existing_id` say more."""


class Refused(ApiError):
    """422: a rule says no, such as `insufficient_balance`."""


class RateLimited(ApiError):
    """429: too much at once; nothing was done."""


class Unavailable(ApiError):
    """500 and above. `outcome_unknown` says whether it may have happened."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Conflict,
    413: InvalidRequest,
    415: InvalidRequest,
    422: Refused,
    429: RateLimited,
}


def class_of(status: int) -> type[ApiError]:
    """The class of errors with a status."""
    return _BY_STATUS.get(status, Unavailable if status >= 500 else ApiError)
