"""Reference.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from ...calls import Call
from ...model import NUMBER, Amount, encode
from ...session import Session
from .. import models


class Reference:
    """Banks, and what became of a request whose answer was lost."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list_banks(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> list[models.Bank]:
        """List the banks.

        Needs the scope `read`.
        """
        call = Call(
            "GET",
            "/v1/banks",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, lambda data: [models.Bank.from_json(item) for item in data])

    def get_idempotency_key(
        self,
        key: str,
        *,
        path: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.IdempotencyKey:
        """Find out what became of a request.

        After a lost answer: whether the request with this Idempotency-Key happened, and what it was answered. 404
        means that it did not happen, or more than 24 hours ago.

        Needs the scope `read`.

        Args:
            path: The path that the key was used on, if it was used on several; otherwise the newest use is shown.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/idempotency/{key}",
            parts=(key,),
            query={"path": path},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.IdempotencyKey.from_json)

    def get_quote(
        self,
        usd_amount: Amount,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Quote:
        """Price dollars in bolívares at the BCV rate.

        Needs the scope `read`.

        Args:
            usd_amount: US dollars, at most 2 decimals; read as the exact decimal that is written.

        Raises:
            ApiError: beside the codes that every call has, with `code` `rate_unavailable`.
        """
        call = Call(
            "GET",
            "/v1/quote",
            query={"usdAmount": NUMBER.encode(usd_amount)},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Quote.from_json)
