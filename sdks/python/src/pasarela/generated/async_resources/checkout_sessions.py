"""Checkout sessions.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from ...calls import Call
from ...model import DECIMAL, NUMBER, TIME, VALUE, Amount, Instant, encode
from ...pages import AsyncPage
from ...session import AsyncSession
from .. import models


class AsyncCheckoutSessions:
    """A page on which a buyer pays once, priced in US dollars: send the buyer to `url`, or embed it with
    `clientSecret` and `/checkout.js`.
    """

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    @overload
    async def create(
        self,
        *,
        amount_usd: Amount,
        description: str | None = None,
        reference: str | None = None,
        success_url: str | None = None,
        cancel_url: str | None = None,
        methods: Sequence[Literal["c2p", "usdt", "cop", "card", "pago_movil"]] | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.CheckoutSession: ...

    @overload
    async def create(
        self,
        *,
        amount_usd: Amount,
        description: str | None = None,
        reference: str | None = None,
        success_url: str | None = None,
        cancel_url: str | None = None,
        methods: Sequence[Literal["c2p", "usdt", "cop", "card", "pago_movil"]] | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def create(
        self,
        *,
        amount_usd: Amount,
        description: str | None = None,
        reference: str | None = None,
        success_url: str | None = None,
        cancel_url: str | None = None,
        methods: Sequence[Literal["c2p", "usdt", "cop", "card", "pago_movil"]] | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CheckoutSession | models.DryRun:
        """Open a checkout session.

        Needs the scope `collect`.

        Args:
            amount_usd: US dollars, at most 2 decimals; read as the exact decimal that is written.
            success_url: https; http to loopback in test mode.
            methods: Every enabled one if empty or missing.
            metadata: Yours, at most 4096 bytes, without control characters.
        """
        body = encode(
            {
                "amount_usd": ("amountUsd", NUMBER),
                "description": ("description", VALUE),
                "reference": ("reference", VALUE),
                "success_url": ("successUrl", VALUE),
                "cancel_url": ("cancelUrl", VALUE),
                "methods": ("methods", VALUE),
                "metadata": ("metadata", VALUE),
            },
            {
                "amount_usd": amount_usd,
                "description": description,
                "reference": reference,
                "success_url": success_url,
                "cancel_url": cancel_url,
                "methods": methods,
                "metadata": metadata,
            },
        )
        call = Call(
            "POST",
            "/v1/checkout/sessions",
            body=body,
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.CheckoutSession.from_json)

    async def list(
        self,
        *,
        status: Literal["open", "paid", "expired"] | None = None,
        reference: str | None = None,
        from_: Instant | None = None,
        to: Instant | None = None,
        min_amount: Amount | None = None,
        max_amount: Amount | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> AsyncPage[models.ListedCheckoutSession]:
        """List checkout sessions.

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
            "/v1/checkout/sessions",
            query={"status": status, "reference": reference, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "minAmount": None if min_amount is None else DECIMAL.encode(min_amount), "maxAmount": None if max_amount is None else DECIMAL.encode(max_amount), "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.page(call, models.ListedCheckoutSession.from_json)

    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CheckoutSession:
        """Read a checkout session.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/checkout/sessions/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.CheckoutSession.from_json)
