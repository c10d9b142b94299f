"""Colombian pesos.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from ...calls import Call
from ...model import DECIMAL, TIME, VALUE, Amount, Instant, ModelCodec, encode
from ...pages import Page
from ...session import Session
from .. import models


class Cop:
    """Collecting pesos by QR or transfer key, by a push notification, or by an SMS code. What is collected is held for
    24 hours; a refund is for the whole amount and possible for 96 hours.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @overload
    def create_payment(
        self,
        *,
        amount_cop: int,
        channel: Literal["qr", "push", "sms"],
        reference: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        buyer: models.CopBuyer | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.CopPayment: ...

    @overload
    def create_payment(
        self,
        *,
        amount_cop: int,
        channel: Literal["qr", "push", "sms"],
        reference: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        buyer: models.CopBuyer | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def create_payment(
        self,
        *,
        amount_cop: int,
        channel: Literal["qr", "push", "sms"],
        reference: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        buyer: models.CopBuyer | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CopPayment | models.DryRun:
        """Collect pesos.

        `next` says what the buyer does. The QR code is in this answer alone, in live mode also in those to GET.
        Always send an Idempotency-Key: there is no externalRef here.

        Needs the scope `collect`.

        Args:
            amount_cop: Whole pesos, at least 20000.
            metadata: Yours, at most 8 KiB, without control characters; it comes back as it was written.
            buyer: Everything of it is required for `push` and `sms`; for `sms` the document is CC, CE or TI, in
                live mode CC.

        Raises:
            ApiError: beside the codes that every call has, with `code` `amount_below_minimum`, `cop_not_enabled`,
                `rail_not_configured`, `rail_unavailable`.
        """
        body = encode(
            {
                "amount_cop": ("amountCop", VALUE),
                "channel": ("channel", VALUE),
                "reference": ("reference", VALUE),
                "metadata": ("metadata", VALUE),
                "buyer": ("buyer", ModelCodec("CopBuyer")),
            },
            {
                "amount_cop": amount_cop,
                "channel": channel,
                "reference": reference,
                "metadata": metadata,
                "buyer": buyer,
            },
        )
        call = Call(
            "POST",
            "/v1/cop/payments",
            body=body,
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.CopPayment.from_json)

    def get_payment(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CopPayment:
        """Read a payment in pesos.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/cop/payments/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CopPayment.from_json)

    @overload
    def submit_otp(
        self,
        id: str,
        *,
        otp: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.CopPayment: ...

    @overload
    def submit_otp(
        self,
        id: str,
        *,
        otp: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def submit_otp(
        self,
        id: str,
        *,
        otp: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CopPayment | models.DryRun:
        """Submit the buyer's SMS code.

        Five codes may be tried; when the fifth is wrong too, the payment fails with `otp_attempts_exhausted`. In
        live mode two may be tried, and the processor says what becomes of the payment.

        Needs the scope `collect`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `channel_mismatch`, `charge_in_progress`,
                `invalid_otp`, `not_found`, `otp_attempts_exhausted`, `payment_not_pending`, `rail_unavailable`.
        """
        body = encode(
            {
                "otp": ("otp", VALUE),
            },
            {
                "otp": otp,
            },
        )
        call = Call(
            "POST",
            "/v1/cop/payments/{id}/otp",
            parts=(id,),
            body=body,
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.CopPayment.from_json)

    @overload
    def cancel_payment(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.CopPayment: ...

    @overload
    def cancel_payment(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def cancel_payment(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CopPayment | models.DryRun:
        """Cancel an unpaid payment in pesos.

        Needs the scope `collect`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `charge_in_progress`, `not_found`,
                `payment_not_pending`.
        """
        call = Call(
            "POST",
            "/v1/cop/payments/{id}/cancel",
            parts=(id,),
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.CopPayment.from_json)

    @overload
    def refund_payment(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.CopPayment: ...

    @overload
    def refund_payment(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def refund_payment(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CopPayment | models.DryRun:
        """Refund a payment in pesos.

        The whole amount, within 96 hours. The fee comes back. The money is taken from the hold of this sale, then
        from what is available, then from at most 20,000 other holds. In live mode an operator has it refunded: 202,
        and `payment.reversed` when that is done.

        Needs the scope `collect`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `insufficient_balance`, `mandate_exceeded`,
                `not_found`, `payment_not_completed`, `processor_unavailable`, `rail_not_configured`,
                `refund_in_progress`, `refund_window_expired`, `too_many_attempts`.
        """
        call = Call(
            "POST",
            "/v1/cop/payments/{id}/refund",
            parts=(id,),
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.CopPayment.from_json)

    def get_balance(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CopBalance:
        """Read the balance in pesos.

        Needs the scope `read`.
        """
        call = Call(
            "GET",
            "/v1/cop/balance",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CopBalance.from_json)

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
        """List the movements in pesos.

        Needs the scope `read`.

        Args:
            from_: Inclusive.
            to: Exclusive.
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.
        """
        call = Call(
            "GET",
            "/v1/cop/balance/transactions",
            query={"type": type, "paymentId": payment_id, "payoutId": payout_id, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.Movement.from_json)

    def list_payouts(
        self,
        *,
        status: Literal["pending", "completed", "failed"] | None = None,
        from_: Instant | None = None,
        to: Instant | None = None,
        min_amount: Amount | None = None,
        max_amount: Amount | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Page[models.CopPayout]:
        """List payouts in pesos.

        They are made by the operator on request.

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
            "/v1/cop/payouts",
            query={"status": status, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "minAmount": None if min_amount is None else DECIMAL.encode(min_amount), "maxAmount": None if max_amount is None else DECIMAL.encode(max_amount), "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.CopPayout.from_json)

    def get_payout(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CopPayout:
        """Read a payout in pesos.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/cop/payouts/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CopPayout.from_json)
