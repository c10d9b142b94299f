"""Balance.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ...calls import Call
from ...model import TIME, Instant, encode
from ...pages import Page
from ...session import Session
from .. import models


class Balance:
    """The balance, what of it is held, and every movement behind it: the sum of `amountVes` over all movements is
    `ledgerNetVes`, and `ledgerNetVes` less `reserveVes` and `heldVes` is `availableVes`, always.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(
        self,
        *,
        at: Instant | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Balance:
        """Read the balance, now or as it was.

        Needs the scope `read`.

        Args:
            at: A moment of the past; what had happened until then, inclusive.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/balance",
            query={"at": None if at is None else TIME.encode(at)},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Balance.from_json)

    def list_movements(
        self,
        *,
        type: Sequence[Literal["payment", "fee", "fee_reversal", "reversal", "chargeback", "chargeback_fee", "chargeback_reversal", "payout", "payout_fee", "payout_reversal", "adjustment", "seller_transfer", "seller_transfer_reversal", "conversion", "conversion_reversal", "PLATFORM_FEE", "deposit"]] | None = None,
        payment_id: str | None = None,
        payout_id: str | None = None,
        from_: Instant | None = None,
        to: Instant | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Page[models.Movement]:
        """List movements.

        Needs the scope `read`.

        Args:
            from_: Inclusive.
            to: Exclusive.
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.
        """
        call = Call(
            "GET",
            "/v1/balance/transactions",
            query={"type": type, "paymentId": payment_id, "payoutId": payout_id, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.Movement.from_json)
