"""Merchants.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Literal, overload

from ...calls import Call
from ...model import DATE, TIME, VALUE, Amount, DecimalCodec, Instant, encode
from ...pages import Page
from ...session import Session
from .. import models


class Merchants:
    """The sellers of a marketplace and how they are paid. A payout method is verified by two micro-deposits, whose
    amounts the seller reads from the account.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @overload
    def register(
        self,
        *,
        external_ref: str,
        name: str | None = None,
        identification: str | None = None,
        contact_email: str | None = None,
        contact_phone: str | None = None,
        bank_code: str | None = None,
        phone: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Merchant: ...

    @overload
    def register(
        self,
        *,
        external_ref: str,
        name: str | None = None,
        identification: str | None = None,
        contact_email: str | None = None,
        contact_phone: str | None = None,
        bank_code: str | None = None,
        phone: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def register(
        self,
        *,
        external_ref: str,
        name: str | None = None,
        identification: str | None = None,
        contact_email: str | None = None,
        contact_phone: str | None = None,
        bank_code: str | None = None,
        phone: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Merchant | models.DryRun:
        """Register a merchant.

        `bankCode` and `phone` together make its first payout method; without them it is a shell. When no method is
        left, the same reference with new ones attaches a method (200).

        Needs the scope `manage`.

        Args:
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.
            identification: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            contact_phone: A Venezuelan mobile phone, with 0, 58 or +58 in front.
            bank_code: Four digits; see `GET /v1/banks`.
            phone: A Venezuelan mobile phone, with 0, 58 or +58 in front.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`, `mandate_payee`.
        """
        body = encode(
            {
                "external_ref": ("externalRef", VALUE),
                "name": ("name", VALUE),
                "identification": ("identification", VALUE),
                "contact_email": ("contactEmail", VALUE),
                "contact_phone": ("contactPhone", VALUE),
                "bank_code": ("bankCode", VALUE),
                "phone": ("phone", VALUE),
            },
            {
                "external_ref": external_ref,
                "name": name,
                "identification": identification,
                "contact_email": contact_email,
                "contact_phone": contact_phone,
                "bank_code": bank_code,
                "phone": phone,
            },
        )
        call = Call(
            "POST",
            "/v1/merchants",
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
        return self._session.model(call, models.Merchant.from_json)

    def list(
        self,
        *,
        status: Literal["shell", "unverified", "verified", "rejected"] | None = None,
        is_active: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Page[models.Merchant]:
        """List merchants.

        Needs the scope `read`.

        Args:
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/merchants",
            query={"status": status, "isActive": is_active, "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.Merchant.from_json)

    def get_by_ref(
        self,
        external_ref: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Merchant:
        """Merchant by your `externalRef`.

        Needs the scope `read`.

        Args:
            external_ref: Answers the one merchant with this reference, or 404.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/merchants",
            query={"externalRef": external_ref},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Merchant.from_json)

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Merchant:
        """Read a merchant.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/merchants/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Merchant.from_json)

    @overload
    def update(
        self,
        id: str,
        *,
        is_active: bool,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Merchant: ...

    @overload
    def update(
        self,
        id: str,
        *,
        is_active: bool,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def update(
        self,
        id: str,
        *,
        is_active: bool,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Merchant | models.DryRun:
        """Activate or deactivate a merchant.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `mandate_payee`, `not_found`.
        """
        body = encode(
            {
                "is_active": ("isActive", VALUE),
            },
            {
                "is_active": is_active,
            },
        )
        call = Call(
            "PATCH",
            "/v1/merchants/{id}",
            parts=(id,),
            body=body,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.Merchant.from_json)

    @overload
    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.DeletedMerchant: ...

    @overload
    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.DeletedMerchant | models.DryRun:
        """Delete a merchant that was never paid.

        Frees its reference.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `merchant_has_balance`,
                `merchant_has_payouts`, `not_found`.
        """
        call = Call(
            "DELETE",
            "/v1/merchants/{id}",
            parts=(id,),
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.DeletedMerchant.from_json)

    @overload
    def add_payout_method(
        self,
        id: str,
        *,
        bank_code: str,
        phone: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.PayoutMethod: ...

    @overload
    def add_payout_method(
        self,
        id: str,
        *,
        bank_code: str,
        phone: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def add_payout_method(
        self,
        id: str,
        *,
        bank_code: str,
        phone: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.PayoutMethod | models.DryRun:
        """Add a payout method.

        Needs the scope `manage`.

        Args:
            bank_code: Four digits; see `GET /v1/banks`.
            phone: A Venezuelan mobile phone, with 0, 58 or +58 in front.

        Raises:
            ApiError: beside the codes that every call has, with `code` `mandate_payee`, `not_found`,
                `too_many_payout_methods`.
        """
        body = encode(
            {
                "bank_code": ("bankCode", VALUE),
                "phone": ("phone", VALUE),
            },
            {
                "bank_code": bank_code,
                "phone": phone,
            },
        )
        call = Call(
            "POST",
            "/v1/merchants/{id}/payout-methods",
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
        return self._session.model(call, models.PayoutMethod.from_json)

    def list_payout_methods(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.PayoutMethodList:
        """List payout methods.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/merchants/{id}/payout-methods",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.PayoutMethodList.from_json)

    @overload
    def delete_payout_method(
        self,
        id: str,
        method_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Merchant: ...

    @overload
    def delete_payout_method(
        self,
        id: str,
        method_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def delete_payout_method(
        self,
        id: str,
        method_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Merchant | models.DryRun:
        """Delete a payout method.

        When it was the default, the oldest verified one takes its place.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `mandate_payee`, `not_found`.
        """
        call = Call(
            "DELETE",
            "/v1/merchants/{id}/payout-methods/{methodId}",
            parts=(id, method_id,),
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.Merchant.from_json)

    @overload
    def set_default_payout_method(
        self,
        id: str,
        method_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.PayoutMethod: ...

    @overload
    def set_default_payout_method(
        self,
        id: str,
        method_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def set_default_payout_method(
        self,
        id: str,
        method_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.PayoutMethod | models.DryRun:
        """Make a payout method the default.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `mandate_payee`, `not_found`.
        """
        call = Call(
            "POST",
            "/v1/merchants/{id}/payout-methods/{methodId}/default",
            parts=(id, method_id,),
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.PayoutMethod.from_json)

    @overload
    def start_verification(
        self,
        id: str,
        method_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.StartVerificationResult: ...

    @overload
    def start_verification(
        self,
        id: str,
        method_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def start_verification(
        self,
        id: str,
        method_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.StartVerificationResult | models.DryRun:
        """Send the two micro-deposits.

        They cost you nothing. When the bank says that the holder is somebody else (`BE01`), the method is deleted
        and `merchant.rejected` is sent.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `already_verified`, `not_found`,
                `rail_not_configured`, `rail_unavailable`, `too_many_attempts`, `verification_in_progress`,
                `verification_locked`.
        """
        call = Call(
            "POST",
            "/v1/merchants/{id}/payout-methods/{methodId}/verify/start",
            parts=(id, method_id,),
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.StartVerificationResult.from_json)

    @overload
    def verify_payout_method(
        self,
        id: str,
        method_id: str,
        *,
        amount1: Amount,
        amount2: Amount,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.PayoutMethod: ...

    @overload
    def verify_payout_method(
        self,
        id: str,
        method_id: str,
        *,
        amount1: Amount,
        amount2: Amount,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def verify_payout_method(
        self,
        id: str,
        method_id: str,
        *,
        amount1: Amount,
        amount2: Amount,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.PayoutMethod | models.DryRun:
        """Verify a payout method by the amounts of the micro-deposits.

        In either order; three tries.

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
            "/v1/merchants/{id}/payout-methods/{methodId}/verify",
            parts=(id, method_id,),
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
        return self._session.model(call, models.PayoutMethod.from_json)

    def get_balance(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.MerchantBalance:
        """Read a merchant's balance.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/merchants/{id}/balance",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.MerchantBalance.from_json)

    def list_movements(
        self,
        id: str,
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
        """List the movements of a merchant's balance.

        Needs the scope `read`.

        Args:
            from_: Inclusive.
            to: Exclusive.
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/merchants/{id}/balance/transactions",
            parts=(id,),
            query={"type": type, "paymentId": payment_id, "payoutId": payout_id, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.Movement.from_json)

    def get_statement(
        self,
        id: str,
        *,
        currency: Literal["VES", "COP"],
        from_: date | str,
        to: date | str,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Statement:
        """A merchant's statement by days.

        Needs the scope `read`.

        Args:
            from_: The first day.
            to: The last day; 400 days at most. Days to come are left out.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/merchants/{id}/statements",
            parts=(id,),
            query={"currency": currency, "from": DATE.encode(from_), "to": DATE.encode(to)},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Statement.from_json)
