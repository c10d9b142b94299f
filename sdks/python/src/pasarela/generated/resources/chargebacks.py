"""Chargebacks.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from typing import Literal

from ...calls import Call
from ...pages import Page
from ...session import Session
from .. import models


class Chargebacks:
    """What a cardholder's bank took back of a card payment. The amount and the fee come out of the available balance,
    which may go below zero; a dispute that is won returns both.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(
        self,
        *,
        status: Literal["open", "won", "lost"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Page[models.Chargeback]:
        """List chargebacks.

        Needs the scope `read`.

        Args:
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.
        """
        call = Call(
            "GET",
            "/v1/chargebacks",
            query={"status": status, "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.Chargeback.from_json)

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Chargeback:
        """Read a chargeback.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/chargebacks/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Chargeback.from_json)
