"""Payouts.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

from ...calls import Call
from ...model import DECIMAL, TIME, VALUE, Amount, DecimalCodec, Instant, ListCodec, ModelCodec, encode
from ...pages import AsyncPage
from ...session import AsyncSession
from .. import models


class AsyncPayouts:
    """Money out of the balance in bolívares, to merchants, phones, accounts and yourself, single or up to 1,000 at
    once. The debit is durable before the bank is called; if a payout fails, the money returns to the balance. The
    same `externalRef` with the same payload never pays twice.
    """

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    @overload
    async def create(
        self,
        *,
        merchant_id: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        payout_method_id: str | None = None,
        from_merchant_balance: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Payout: ...

    @overload
    async def create(
        self,
        *,
        merchant_id: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        payout_method_id: str | None = None,
        from_merchant_balance: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def create(
        self,
        *,
        merchant_id: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        payout_method_id: str | None = None,
        from_merchant_balance: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Payout | models.DryRun:
        """Pay a merchant.

        To the payout method that is named, or to the default one; it must be verified and the merchant active. With
        `fromMerchantBalance` the seller's own balance pays.

        Needs the scope `payout`.

        Args:
            monto: Exactly two decimals, from 0.01 to 999999999999.99.
            concepto: What the receiver reads.
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.
            payout_method_id: The default method if missing.
            from_merchant_balance: Whether the seller's own balance pays.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `merchant_inactive`, `not_found`,
                `payout_method_not_verified`, `rail_not_configured`, `too_many_attempts`.
        """
        body = encode(
            {
                "merchant_id": ("merchantId", VALUE),
                "payout_method_id": ("payoutMethodId", VALUE),
                "monto": ("monto", DecimalCodec(2)),
                "concepto": ("concepto", VALUE),
                "external_ref": ("externalRef", VALUE),
                "from_merchant_balance": ("fromMerchantBalance", VALUE),
            },
            {
                "merchant_id": merchant_id,
                "payout_method_id": payout_method_id,
                "monto": monto,
                "concepto": concepto,
                "external_ref": external_ref,
                "from_merchant_balance": from_merchant_balance,
            },
        )
        call = Call(
            "POST",
            "/v1/payouts",
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
        return await self._session.model(call, models.Payout.from_json)

    async def list(
        self,
        *,
        status: Literal["pending", "completed", "failed"] | None = None,
        kind: Literal["merchant", "instant", "credit", "account", "change"] | None = None,
        merchant_id: str | None = None,
        external_ref: str | None = None,
        from_: Instant | None = None,
        to: Instant | None = None,
        min_amount: Amount | None = None,
        max_amount: Amount | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> AsyncPage[models.Payout]:
        """List payouts.

        Needs the scope `read`.

        Args:
            merchant_id: The seller who is paid.
            from_: Made at this instant or later.
            to: Made before this instant.
            min_amount: Of this amount or more, in its own currency.
            max_amount: Of this amount or less, in its own currency.
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.
        """
        call = Call(
            "GET",
            "/v1/payouts",
            query={"status": status, "kind": kind, "merchantId": merchant_id, "externalRef": external_ref, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "minAmount": None if min_amount is None else DECIMAL.encode(min_amount), "maxAmount": None if max_amount is None else DECIMAL.encode(max_amount), "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.page(call, models.Payout.from_json)

    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Payout:
        """Read a payout.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/payouts/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.Payout.from_json)

    async def get_by_ref(
        self,
        external_ref: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Payout:
        """Read a payout by your reference.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/payouts/by-ref/{externalRef}",
            parts=(external_ref,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.Payout.from_json)

    @overload
    async def credit_phone(
        self,
        *,
        banco: str,
        telefono: str,
        cedula: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Payout: ...

    @overload
    async def credit_phone(
        self,
        *,
        banco: str,
        telefono: str,
        cedula: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def credit_phone(
        self,
        *,
        banco: str,
        telefono: str,
        cedula: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Payout | models.DryRun:
        """Pay a phone.

        Needs the scope `payout`.

        Args:
            banco: Four digits; see `GET /v1/banks`.
            telefono: A Venezuelan mobile phone, with 0, 58 or +58 in front.
            cedula: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            monto: Exactly two decimals, from 0.01 to 999999999999.99.
            concepto: What the receiver reads.
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `rail_not_configured`,
                `too_many_attempts`.
        """
        body = encode(
            {
                "banco": ("banco", VALUE),
                "telefono": ("telefono", VALUE),
                "cedula": ("cedula", VALUE),
                "monto": ("monto", DecimalCodec(2)),
                "concepto": ("concepto", VALUE),
                "external_ref": ("externalRef", VALUE),
            },
            {
                "banco": banco,
                "telefono": telefono,
                "cedula": cedula,
                "monto": monto,
                "concepto": concepto,
                "external_ref": external_ref,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/credit",
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
        return await self._session.model(call, models.Payout.from_json)

    @overload
    async def credit_account(
        self,
        *,
        cuenta: str,
        cedula: str,
        nombre: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Payout: ...

    @overload
    async def credit_account(
        self,
        *,
        cuenta: str,
        cedula: str,
        nombre: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def credit_account(
        self,
        *,
        cuenta: str,
        cedula: str,
        nombre: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Payout | models.DryRun:
        """Pay a bank account.

        Needs the scope `payout`.

        Args:
            cuenta: 20 digits with both check digits right.
            cedula: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            monto: Exactly two decimals, from 0.01 to 999999999999.99.
            concepto: What the receiver reads.
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `rail_not_configured`,
                `too_many_attempts`.
        """
        body = encode(
            {
                "cuenta": ("cuenta", VALUE),
                "cedula": ("cedula", VALUE),
                "nombre": ("nombre", VALUE),
                "monto": ("monto", DecimalCodec(2)),
                "concepto": ("concepto", VALUE),
                "external_ref": ("externalRef", VALUE),
            },
            {
                "cuenta": cuenta,
                "cedula": cedula,
                "nombre": nombre,
                "monto": monto,
                "concepto": concepto,
                "external_ref": external_ref,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/credit/account",
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
        return await self._session.model(call, models.Payout.from_json)

    @overload
    async def give_change(
        self,
        *,
        banco: str,
        telefono: str,
        cedula: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        payment_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Payout: ...

    @overload
    async def give_change(
        self,
        *,
        banco: str,
        telefono: str,
        cedula: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        payment_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def give_change(
        self,
        *,
        banco: str,
        telefono: str,
        cedula: str,
        monto: Amount,
        concepto: str,
        external_ref: str,
        payment_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Payout | models.DryRun:
        """Give change to a customer.

        Needs the scope `payout`.

        Args:
            banco: Four digits; see `GET /v1/banks`.
            telefono: A Venezuelan mobile phone, with 0, 58 or +58 in front.
            cedula: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            monto: Exactly two decimals, from 0.01 to 999999999999.99.
            concepto: What the receiver reads.
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.
            payment_id: The payment that it is the change of.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `not_found`, `rail_not_configured`,
                `too_many_attempts`.
        """
        body = encode(
            {
                "banco": ("banco", VALUE),
                "telefono": ("telefono", VALUE),
                "cedula": ("cedula", VALUE),
                "monto": ("monto", DecimalCodec(2)),
                "concepto": ("concepto", VALUE),
                "external_ref": ("externalRef", VALUE),
                "payment_id": ("paymentId", VALUE),
            },
            {
                "banco": banco,
                "telefono": telefono,
                "cedula": cedula,
                "monto": monto,
                "concepto": concepto,
                "external_ref": external_ref,
                "payment_id": payment_id,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/change",
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
        return await self._session.model(call, models.Payout.from_json)

    @overload
    async def create_batch(
        self,
        *,
        external_ref: str,
        items: Sequence[models.MerchantPayoutItem],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.PayoutBatch: ...

    @overload
    async def create_batch(
        self,
        *,
        external_ref: str,
        items: Sequence[models.MerchantPayoutItem],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def create_batch(
        self,
        *,
        external_ref: str,
        items: Sequence[models.MerchantPayoutItem],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.PayoutBatch | models.DryRun:
        """Pay many merchants.

        Each item is a payout of its own with its own reference; an item that is bad or refused is answered in its
        place and does not stop the others. The same batch again answers the same items as they are now.

        Needs the scope `payout`.

        Args:
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `rail_not_configured`, `too_many_attempts`.
        """
        body = encode(
            {
                "external_ref": ("externalRef", VALUE),
                "items": ("items", ListCodec(ModelCodec("MerchantPayoutItem"))),
            },
            {
                "external_ref": external_ref,
                "items": items,
            },
        )
        call = Call(
            "POST",
            "/v1/payouts/batch",
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
        return await self._session.model(call, models.PayoutBatch.from_json)

    async def get_batch(
        self,
        batch_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.PayoutBatch:
        """Read a batch.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/payouts/batch/{batchId}",
            parts=(batch_id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.PayoutBatch.from_json)

    @overload
    async def disburse_credits(
        self,
        *,
        external_ref: str,
        items: Sequence[models.PhoneCredit],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.PayoutBatch: ...

    @overload
    async def disburse_credits(
        self,
        *,
        external_ref: str,
        items: Sequence[models.PhoneCredit],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def disburse_credits(
        self,
        *,
        external_ref: str,
        items: Sequence[models.PhoneCredit],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.PayoutBatch | models.DryRun:
        """Pay many phones.

        Each item is a payout of its own with its own reference; an item that is bad or refused is answered in its
        place and does not stop the others. The same batch again answers the same items as they are now.

        Needs the scope `payout`.

        Args:
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `rail_not_configured`, `too_many_attempts`.
        """
        body = encode(
            {
                "external_ref": ("externalRef", VALUE),
                "items": ("items", ListCodec(ModelCodec("PhoneCredit"))),
            },
            {
                "external_ref": external_ref,
                "items": items,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/credit/disburse",
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
        return await self._session.model(call, models.PayoutBatch.from_json)

    @overload
    async def pay_accounts(
        self,
        *,
        external_ref: str,
        items: Sequence[models.AccountCredit],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.PayoutBatch: ...

    @overload
    async def pay_accounts(
        self,
        *,
        external_ref: str,
        items: Sequence[models.AccountCredit],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def pay_accounts(
        self,
        *,
        external_ref: str,
        items: Sequence[models.AccountCredit],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.PayoutBatch | models.DryRun:
        """Pay many bank accounts.

        Each item is a payout of its own with its own reference; an item that is bad or refused is answered in its
        place and does not stop the others. The same batch again answers the same items as they are now.

        Needs the scope `payout`.

        Args:
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `rail_not_configured`, `too_many_attempts`.
        """
        body = encode(
            {
                "external_ref": ("externalRef", VALUE),
                "items": ("items", ListCodec(ModelCodec("AccountCredit"))),
            },
            {
                "external_ref": external_ref,
                "items": items,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/payouts",
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
        return await self._session.model(call, models.PayoutBatch.from_json)

    @overload
    async def create_instant(
        self,
        *,
        monto: Amount,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Payout: ...

    @overload
    async def create_instant(
        self,
        *,
        monto: Amount,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def create_instant(
        self,
        *,
        monto: Amount,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Payout | models.DryRun:
        """Withdraw to your own account.

        Needs the scope `payout`.

        Args:
            monto: Exactly two decimals, from 0.01 to 999999999999.99.
            concepto: What the receiver reads.
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `payout_account_not_verified`,
                `rail_not_configured`, `too_many_attempts`.
        """
        body = encode(
            {
                "monto": ("monto", DecimalCodec(2)),
                "concepto": ("concepto", VALUE),
                "external_ref": ("externalRef", VALUE),
            },
            {
                "monto": monto,
                "concepto": concepto,
                "external_ref": external_ref,
            },
        )
        call = Call(
            "POST",
            "/v1/payouts/instant",
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
        return await self._session.model(call, models.Payout.from_json)

    @overload
    async def set_account(
        self,
        *,
        bank_code: str,
        phone: str,
        identification: str,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.PayoutAccount: ...

    @overload
    async def set_account(
        self,
        *,
        bank_code: str,
        phone: str,
        identification: str,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def set_account(
        self,
        *,
        bank_code: str,
        phone: str,
        identification: str,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.PayoutAccount | models.DryRun:
        """Set your own payout account.

        A change undoes its verification.

        Needs the scope `manage`.

        Args:
            bank_code: Four digits; see `GET /v1/banks`.
            phone: A Venezuelan mobile phone, with 0, 58 or +58 in front.
            identification: V, E, J, P or G and 5 to 9 digits, with or without a dash.

        Raises:
            ApiError: beside the codes that every call has, with `code` `mandate_payee`.
        """
        body = encode(
            {
                "bank_code": ("bankCode", VALUE),
                "phone": ("phone", VALUE),
                "identification": ("identification", VALUE),
            },
            {
                "bank_code": bank_code,
                "phone": phone,
                "identification": identification,
            },
        )
        call = Call(
            "PUT",
            "/v1/payouts/account",
            body=body,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.PayoutAccount.from_json)

    async def get_account(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.PayoutAccount:
        """Read your own payout account.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/payouts/account",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.PayoutAccount.from_json)

    @overload
    async def start_account_verification(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.StartPayoutAccountVerificationResult: ...

    @overload
    async def start_account_verification(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def start_account_verification(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.StartPayoutAccountVerificationResult | models.DryRun:
        """Send the two micro-deposits to your own account.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `already_verified`, `not_found`,
                `rail_not_configured`, `rail_unavailable`, `settings_changed`, `too_many_attempts`,
                `verification_in_progress`, `verification_locked`.
        """
        call = Call(
            "POST",
            "/v1/payouts/account/verify/start",
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.StartPayoutAccountVerificationResult.from_json)

    @overload
    async def verify_account(
        self,
        *,
        amount1: Amount,
        amount2: Amount,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.PayoutAccount: ...

    @overload
    async def verify_account(
        self,
        *,
        amount1: Amount,
        amount2: Amount,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def verify_account(
        self,
        *,
        amount1: Amount,
        amount2: Amount,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.PayoutAccount | models.DryRun:
        """Verify your own account by the amounts of the micro-deposits.

        Needs the scope `manage`.

        Args:
            amount1: Exactly two decimals, at most 999999999999.99.
            amount2: Exactly two decimals, at most 999999999999.99.

        Raises:
            ApiError: beside the codes that every call has, with `code` `already_verified`, `amounts_mismatch`,
                `not_found`, `verification_locked`, `verification_not_started`.
        """
        body = encode(
            {
                "amount1": ("amount1", DecimalCodec(2)),
                "amount2": ("amount2", DecimalCodec(2)),
            },
            {
                "amount1": amount1,
                "amount2": amount2,
            },
        )
        call = Call(
            "POST",
            "/v1/payouts/account/verify",
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
        return await self._session.model(call, models.PayoutAccount.from_json)
