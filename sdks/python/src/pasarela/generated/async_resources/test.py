"""Test mode.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from typing import Literal, overload

from ...calls import Call
from ...model import DECIMAL, TIME, VALUE, Amount, DecimalCodec, Instant, encode
from ...session import AsyncSession
from .. import models


class AsyncTest:
    """A test key runs the same engine, ledger and log; only the banks are simulated. These calls move its clock, give
    it money, and play the parts of buyers, banks and operators.
    """

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get_clock(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.TestClock:
        """Read the test clock.

        Test keys only, with the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `test_mode_only`.
        """
        call = Call(
            "GET",
            "/v1/test/clock",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.TestClock.from_json)

    @overload
    async def move_clock(
        self,
        *,
        advance_seconds: int,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.TestClock: ...

    @overload
    async def move_clock(
        self,
        *,
        advance_seconds: int,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def move_clock(
        self,
        *,
        advance_seconds: int,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.TestClock | models.DryRun:
        """Move the test clock forward.

        Everything that falls due meanwhile (holds, expiries, polls, retries) has happened, in its order and each at
        its own instant, when it answers.

        Test keys only, with the scope `manage`.

        Args:
            advance_seconds: The clock stays before the year 9000.

        Raises:
            ApiError: beside the codes that every call has, with `code` `test_mode_only`.
        """
        body = encode(
            {
                "advance_seconds": ("advanceSeconds", VALUE),
            },
            {
                "advance_seconds": advance_seconds,
            },
        )
        call = Call(
            "POST",
            "/v1/test/clock",
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
        return await self._session.model(call, models.TestClock.from_json)

    @overload
    async def reset(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.TestReset: ...

    @overload
    async def reset(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def reset(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.TestReset | models.DryRun:
        """Begin the test data anew.

        Balances are zero, every list of test mode is empty and every id of before is 404; references and
        idempotency keys are unused again, but for this call's own, and the clock is the real time again. Keys,
        settings, webhook endpoints, a verified payout account and customers' deposit addresses stay, and so does
        everything of live mode. What was under way at a simulated bank never comes back. Events go on numbered
        without a gap: the first that is listed is `test.reset`.

        Test keys only, with the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `test_mode_only`.
        """
        call = Call(
            "POST",
            "/v1/test/reset",
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.TestReset.from_json)

    @overload
    async def fund_balance(
        self,
        *,
        currency: Literal["VES", "COP", "USDT"],
        amount: Amount,
        held: bool | None = None,
        merchant_id: str | None = None,
        take_back: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Movement: ...

    @overload
    async def fund_balance(
        self,
        *,
        currency: Literal["VES", "COP", "USDT"],
        amount: Amount,
        held: bool | None = None,
        merchant_id: str | None = None,
        take_back: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def fund_balance(
        self,
        *,
        currency: Literal["VES", "COP", "USDT"],
        amount: Amount,
        held: bool | None = None,
        merchant_id: str | None = None,
        take_back: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Movement | models.DryRun:
        """Add test money to a balance.

        Test keys only, with the scope `manage`.

        Args:
            amount: Positive, with exactly the decimals of its currency: two of VES and USDT, none of COP.
            held: Whether it is held for 24 hours.
            merchant_id: A seller whose balance gets it; VES alone.
            take_back: Whether the amount is taken away again instead: from what is available, which may go below
                zero. Neither with `held` nor with `merchantId`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`, `test_mode_only`.
        """
        body = encode(
            {
                "currency": ("currency", VALUE),
                "amount": ("amount", DECIMAL),
                "held": ("held", VALUE),
                "merchant_id": ("merchantId", VALUE),
                "take_back": ("takeBack", VALUE),
            },
            {
                "currency": currency,
                "amount": amount,
                "held": held,
                "merchant_id": merchant_id,
                "take_back": take_back,
            },
        )
        call = Call(
            "POST",
            "/v1/test/fund",
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
        return await self._session.model(call, models.Movement.from_json)

    @overload
    async def open_chargeback(
        self,
        *,
        payment_id: str,
        reason: Literal["fraud", "not_recognized", "not_received", "duplicate", "other"],
        amount_ves: Amount | None = None,
        fee_ves: Amount | None = None,
        bank_debited_at: Instant | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Chargeback: ...

    @overload
    async def open_chargeback(
        self,
        *,
        payment_id: str,
        reason: Literal["fraud", "not_recognized", "not_received", "duplicate", "other"],
        amount_ves: Amount | None = None,
        fee_ves: Amount | None = None,
        bank_debited_at: Instant | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def open_chargeback(
        self,
        *,
        payment_id: str,
        reason: Literal["fraud", "not_recognized", "not_received", "duplicate", "other"],
        amount_ves: Amount | None = None,
        fee_ves: Amount | None = None,
        bank_debited_at: Instant | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Chargeback | models.DryRun:
        """Charge a card payment back, as the bank would.

        Test keys only, with the scope `manage`.

        Args:
            amount_ves: All that is left of the payment if missing.
            fee_ves: The account's setting if missing.
            bank_debited_at: Now if missing.

        Raises:
            ApiError: beside the codes that every call has, with `code` `chargeback_exceeds_payment`,
                `chargeback_not_allowed`, `not_found`, `test_mode_only`, `too_many_chargebacks`.
        """
        body = encode(
            {
                "payment_id": ("paymentId", VALUE),
                "amount_ves": ("amountVes", DecimalCodec(2)),
                "fee_ves": ("feeVes", DECIMAL),
                "reason": ("reason", VALUE),
                "bank_debited_at": ("bankDebitedAt", TIME),
            },
            {
                "payment_id": payment_id,
                "amount_ves": amount_ves,
                "fee_ves": fee_ves,
                "reason": reason,
                "bank_debited_at": bank_debited_at,
            },
        )
        call = Call(
            "POST",
            "/v1/test/chargebacks",
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
        return await self._session.model(call, models.Chargeback.from_json)

    @overload
    async def close_chargeback(
        self,
        id: str,
        *,
        outcome: Literal["won", "lost"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Chargeback: ...

    @overload
    async def close_chargeback(
        self,
        id: str,
        *,
        outcome: Literal["won", "lost"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def close_chargeback(
        self,
        id: str,
        *,
        outcome: Literal["won", "lost"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Chargeback | models.DryRun:
        """Decide a dispute, as the bank would.

        Test keys only, with the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `chargeback_closed`, `not_found`,
                `test_mode_only`.
        """
        body = encode(
            {
                "outcome": ("outcome", VALUE),
            },
            {
                "outcome": outcome,
            },
        )
        call = Call(
            "POST",
            "/v1/test/chargebacks/{id}/close",
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
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.Chargeback.from_json)

    @overload
    async def fulfil_conversion(
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
    async def fulfil_conversion(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def fulfil_conversion(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Conversion | models.DryRun:
        """Fulfil a pending conversion.

        Test keys only, with the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `conversion_not_cancelable`,
                `conversion_not_pending`, `not_found`, `test_mode_only`.
        """
        call = Call(
            "POST",
            "/v1/test/conversions/{id}/fulfil",
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

    @overload
    async def reject_conversion(
        self,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Conversion: ...

    @overload
    async def reject_conversion(
        self,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def reject_conversion(
        self,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Conversion | models.DryRun:
        """Let a pending conversion fail.

        Test keys only, with the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `conversion_not_cancelable`,
                `conversion_not_pending`, `not_found`, `test_mode_only`.
        """
        body = encode(
            {
                "reason": ("reason", VALUE),
            },
            {
                "reason": reason,
            },
        )
        call = Call(
            "POST",
            "/v1/test/conversions/{id}/reject",
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
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.Conversion.from_json)

    @overload
    async def make_deposit(
        self,
        *,
        address: str,
        amount: Amount,
        network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"],
        asset: Literal["USDT", "USDC"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.CryptoDeposit: ...

    @overload
    async def make_deposit(
        self,
        *,
        address: str,
        amount: Amount,
        network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"],
        asset: Literal["USDT", "USDC"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def make_deposit(
        self,
        *,
        address: str,
        amount: Amount,
        network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"],
        asset: Literal["USDT", "USDC"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CryptoDeposit | models.DryRun:
        """Deposit to an address, as a customer would.

        Test keys only, with the scope `manage`.

        Args:
            amount: Exactly two decimals, from 0.01 to 999999999999.99.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`, `test_mode_only`,
                `usdt_not_enabled`.
        """
        body = encode(
            {
                "address": ("address", VALUE),
                "amount": ("amount", DecimalCodec(2)),
                "network": ("network", VALUE),
                "asset": ("asset", VALUE),
            },
            {
                "address": address,
                "amount": amount,
                "network": network,
                "asset": asset,
            },
        )
        call = Call(
            "POST",
            "/v1/test/crypto/deposits",
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
        return await self._session.model(call, models.CryptoDeposit.from_json)

    @overload
    async def approve_crypto_payout(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.CryptoPayout: ...

    @overload
    async def approve_crypto_payout(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def approve_crypto_payout(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CryptoPayout | models.DryRun:
        """Approve a USDT payout, as an operator would.

        Test keys only, with the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`, `payout_not_pending_review`,
                `test_mode_only`.
        """
        call = Call(
            "POST",
            "/v1/test/crypto/payouts/{id}/approve",
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
        return await self._session.model(call, models.CryptoPayout.from_json)

    @overload
    async def reject_crypto_payout(
        self,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.CryptoPayout: ...

    @overload
    async def reject_crypto_payout(
        self,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def reject_crypto_payout(
        self,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CryptoPayout | models.DryRun:
        """Reject a USDT payout, as an operator would.

        Test keys only, with the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`, `payout_not_pending_review`,
                `test_mode_only`.
        """
        body = encode(
            {
                "reason": ("reason", VALUE),
            },
            {
                "reason": reason,
            },
        )
        call = Call(
            "POST",
            "/v1/test/crypto/payouts/{id}/reject",
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
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.CryptoPayout.from_json)

    @overload
    async def play_cop_buyer_paying(
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
    async def play_cop_buyer_paying(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def play_cop_buyer_paying(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CopPayment | models.DryRun:
        """Pay in pesos, as the buyer would.

        Test keys only, with the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `charge_in_progress`, `not_found`,
                `payment_not_pending`, `test_mode_only`.
        """
        call = Call(
            "POST",
            "/v1/test/cop/payments/{id}/pay",
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
        return await self._session.model(call, models.CopPayment.from_json)

    @overload
    async def play_cop_buyer_declining(
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
    async def play_cop_buyer_declining(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def play_cop_buyer_declining(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CopPayment | models.DryRun:
        """Decline to pay, as the buyer would.

        Test keys only, with the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `charge_in_progress`, `not_found`,
                `payment_not_pending`, `test_mode_only`.
        """
        call = Call(
            "POST",
            "/v1/test/cop/payments/{id}/decline",
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
        return await self._session.model(call, models.CopPayment.from_json)

    async def open_account(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.OpenedTestAccount:
        """Open an account of test mode.

        Takes no key. Where the operator of the server allows it, otherwise 404. The key of the new account is shown
        only now; there is none of live mode. Ten accounts a day from one address. An account that no call used for
        24 hours is deleted with all that is in it, and its keys open nothing any more. Neither an `Idempotency-Key`
        nor a dry run is taken: a repeat opens another account.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "POST",
            "/v1/test/accounts",
            uses_key=False,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.OpenedTestAccount.from_json)
