"""Conversions.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from typing import Literal, overload

from ...calls import Call
from ...model import DECIMAL, TIME, VALUE, Amount, Instant, ModelCodec, encode
from ...pages import AsyncPage
from ...session import AsyncSession
from .. import models


class AsyncConversions:
    """From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; accepting it debits at once.
    Held money can be converted too, and the USDT is held as long.
    """

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    @overload
    async def create_quote(
        self,
        *,
        source_currency: Literal["VES", "COP"] | None = None,
        source_amount_ves: Amount | None = None,
        source_amount: Amount | None = None,
        target_amount_usdt: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.ConversionQuote: ...

    @overload
    async def create_quote(
        self,
        *,
        source_currency: Literal["VES", "COP"] | None = None,
        source_amount_ves: Amount | None = None,
        source_amount: Amount | None = None,
        target_amount_usdt: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def create_quote(
        self,
        *,
        source_currency: Literal["VES", "COP"] | None = None,
        source_amount_ves: Amount | None = None,
        source_amount: Amount | None = None,
        target_amount_usdt: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.ConversionQuote | models.DryRun:
        """Ask for a price.

        Exactly one amount: what is spent, or the USDT to receive. USDT is rounded down to the cent, bolívares up to
        the cent, pesos up to the peso.

        Needs the scope `convert`.

        Args:
            source_amount_ves: Bolívares to spend.
            source_amount: Whole pesos to spend.
            target_amount_usdt: USDT to receive.

        Raises:
            ApiError: beside the codes that every call has, with `code` `amount_below_minimum`,
                `conversions_not_enabled`, `invalid_amount`, `rate_unavailable`.
        """
        body = encode(
            {
                "source_currency": ("sourceCurrency", VALUE),
                "source_amount_ves": ("sourceAmountVes", DECIMAL),
                "source_amount": ("sourceAmount", DECIMAL),
                "target_amount_usdt": ("targetAmountUsdt", DECIMAL),
            },
            {
                "source_currency": source_currency,
                "source_amount_ves": source_amount_ves,
                "source_amount": source_amount,
                "target_amount_usdt": target_amount_usdt,
            },
        )
        call = Call(
            "POST",
            "/v1/conversions/quotes",
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
        return await self._session.model(call, models.ConversionQuote.from_json)

    @overload
    async def create(
        self,
        *,
        quote_id: str,
        reference: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Conversion: ...

    @overload
    async def create(
        self,
        *,
        quote_id: str,
        reference: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def create(
        self,
        *,
        quote_id: str,
        reference: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Conversion | models.DryRun:
        """Accept a quote.

        Always send an Idempotency-Key: the same key answers the same conversion. One conversion takes from at most
        20,000 holds; `spendableVes` and `spendableCop` say what that comes to.

        Needs the scope `convert`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `amount_below_minimum`,
                `conversions_not_enabled`, `daily_limit_exceeded`, `insufficient_balance`, `mandate_exceeded`,
                `not_found`, `quote_expired`, `quote_used`, `too_many_attempts`.
        """
        body = encode(
            {
                "quote_id": ("quoteId", VALUE),
                "reference": ("reference", VALUE),
            },
            {
                "quote_id": quote_id,
                "reference": reference,
            },
        )
        call = Call(
            "POST",
            "/v1/conversions",
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
        return await self._session.model(call, models.Conversion.from_json)

    async def list(
        self,
        *,
        status: Literal["PENDING", "COMPLETED", "CANCELED"] | None = None,
        source_currency: Literal["VES", "COP"] | None = None,
        from_: Instant | None = None,
        to: Instant | None = None,
        min_amount: Amount | None = None,
        max_amount: Amount | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> AsyncPage[models.Conversion]:
        """List conversions.

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
            "/v1/conversions",
            query={"status": status, "sourceCurrency": source_currency, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "minAmount": None if min_amount is None else DECIMAL.encode(min_amount), "maxAmount": None if max_amount is None else DECIMAL.encode(max_amount), "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.page(call, models.Conversion.from_json)

    async def get_settings(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.ConversionSettings:
        """Read the settings of conversions.

        Needs the scope `read`.
        """
        call = Call(
            "GET",
            "/v1/conversions/settings",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.ConversionSettings.from_json)

    @overload
    async def update_settings(
        self,
        *,
        auto_convert: models.ConversionSettingsChangeAutoConvert,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.ConversionSettings: ...

    @overload
    async def update_settings(
        self,
        *,
        auto_convert: models.ConversionSettingsChangeAutoConvert,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def update_settings(
        self,
        *,
        auto_convert: models.ConversionSettingsChangeAutoConvert,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.ConversionSettings | models.DryRun:
        """Convert pesos automatically.

        The percentage of the net of each COP payment that is converted on completion. The other settings are the
        operator's.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `mandate_exceeded`.
        """
        body = encode(
            {
                "auto_convert": ("autoConvert", ModelCodec("ConversionSettingsChangeAutoConvert")),
            },
            {
                "auto_convert": auto_convert,
            },
        )
        call = Call(
            "PATCH",
            "/v1/conversions/settings",
            body=body,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.ConversionSettings.from_json)

    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Conversion:
        """Read a conversion.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/conversions/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.Conversion.from_json)

    @overload
    async def cancel(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Conversion: ...

    @overload
    async def cancel(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def cancel(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Conversion | models.DryRun:
        """Cancel a pending conversion.

        What it took is back at once, and held where it was held.

        Needs the scope `convert`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `conversion_not_cancelable`, `not_found`.
        """
        call = Call(
            "POST",
            "/v1/conversions/{id}/cancel",
            parts=(id,),
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.Conversion.from_json)
