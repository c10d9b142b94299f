"""Chargebacks.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from typing import Literal

from ...calls import Call
from ...model import DECIMAL, TIME, Amount, Instant, encode
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
        from_: Instant | None = None,
        to: Instant | None = None,
        min_amount: Amount | None = None,
        max_amount: Amount | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Page[models.Chargeback]:
        """List chargebacks.

        Needs the scope `read`.

        Args:
            from_: Made at this instant or later.
            to: Made before this instant.
            min_amount: Of this amount or more, in its own currency.
            max_amount: Of this amount or less, in its own currency.
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.
        """
        call = Call(
            "GET",
            "/v1/chargebacks",
            query={"status": status, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "minAmount": None if min_amount is None else DECIMAL.encode(min_amount), "maxAmount": None if max_amount is None else DECIMAL.encode(max_amount), "limit": limit, "cursor": cursor},
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
