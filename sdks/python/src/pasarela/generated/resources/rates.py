"""Public rates and fees.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from typing import Literal

from ...calls import Call
from ...model import TIME, Instant, encode
from ...session import Session
from .. import models


class Rates:
    """Without a key, read-only, for reference: the rate of a real operation is confirmed in the operator's own app.
    Errors are `{statusCode, error, message}`. Browsers may call from the operator's own origins only.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_latest_rate(
        self,
        *,
        pair: str | None = None,
        source: str | None = None,
        method: str | None = None,
        side: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Rate:
        """The latest rate of a pair.



        Args:
            pair: BASE/QUOTE, such as USD/VES.
            source: `p2p`, the market, or `bcv`, the official one. Without it the freshest of all.
            method: `p2p_floor` selects the floor of the market.
            side: `BUY`, `SELL`, `FLOOR` or `OFFICIAL`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/api/v1/fx/latest",
            query={"pair": pair, "source": source, "method": method, "side": side},
            uses_key=False,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Rate.from_json)

    def get_rate_history(
        self,
        *,
        pair: str | None = None,
        source: str | None = None,
        side: str | None = None,
        days: int | None = None,
        start_date: Instant | None = None,
        end_date: Instant | None = None,
        interval: Literal["hour", "day", "auto"] | None = None,
        aggregation: Literal["avg", "min", "max", "first", "last"] | None = None,
        sort: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.RateHistory:
        """The history of a pair.

        The window begins with `startDate`, inclusive, or so many `days` before its end, and ends before `endDate`.
        Buckets are UTC.

        Args:
            pair: BASE/QUOTE, such as USD/VES.
            side: `BUY`, `SELL`, `FLOOR` or `OFFICIAL`.
            days: Not beside `startDate`.
            interval: Single samples if missing. `auto`: samples up to 1 day, hours up to 14 days, days beyond.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/api/v1/fx/history",
            query={"pair": pair, "source": source, "side": side, "days": days, "startDate": None if start_date is None else TIME.encode(start_date), "endDate": None if end_date is None else TIME.encode(end_date), "interval": interval, "aggregation": aggregation, "sort": sort, "limit": limit},
            uses_key=False,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.RateHistory.from_json)

    def get_withdrawal_fee_schedule(
        self,
        *,
        x_tenant_id: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.FeeSchedule:
        """What withdrawals cost.



        Args:
            x_tenant_id: The tenant whose fee policy applies; the server's own if missing.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/api/v1/public/withdraw/fee-schedule",
            headers={"x-tenant-id": x_tenant_id},
            uses_key=False,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.FeeSchedule.from_json)

    def estimate_withdrawal_fee(
        self,
        amount_cents: int,
        *,
        method: Literal["PAGO_MOVIL", "CRYPTO_WALLET", "ACH", "PAYPAL"] | None = None,
        network: str | None = None,
        asset: Literal["USDT", "USDC"] | None = None,
        x_tenant_id: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.FeeEstimate:
        """What a withdrawal would cost.



        Args:
            network: Of a wallet: TRC20, ERC20, BEP20 or POLYGON; TRC20 if missing.
            x_tenant_id: The tenant whose fee policy applies; the server's own if missing.

        Raises:
            ApiError: beside the codes that every call has, with `code` `invalid_amount_cents`, `invalid_asset`,
                `invalid_method`, `invalid_network`, `not_found`.
        """
        call = Call(
            "GET",
            "/api/v1/public/withdraw/estimate-fee",
            query={"amount_cents": amount_cents, "method": method, "network": network, "asset": asset},
            headers={"x-tenant-id": x_tenant_id},
            uses_key=False,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.FeeEstimate.from_json)

    def get_pago_movil_quote(
        self,
        amount_cents: int,
        *,
        calculator: Literal["1", "true", "0", "false"] | None = None,
        x_tenant_id: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.PagoMovilQuote:
        """What a withdrawal by Pago Móvil would bring.



        Args:
            calculator: With `1` or `true` the full fee of the policy is counted, without waivers.
            x_tenant_id: The tenant whose fee policy applies; the server's own if missing.

        Raises:
            ApiError: beside the codes that every call has, with `code` `invalid_amount_cents`, `not_found`,
                `pago_movil_min_amount`, `rate_unavailable`.
        """
        call = Call(
            "GET",
            "/api/v1/public/withdraw/pago-movil-quote",
            query={"amountCents": amount_cents, "calculator": calculator},
            headers={"x-tenant-id": x_tenant_id},
            uses_key=False,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.PagoMovilQuote.from_json)
