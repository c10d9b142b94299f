"""Payments.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from datetime import date
from typing import Literal, overload

from ...calls import Call
from ...model import DATE, DECIMAL, NUMBER, TIME, VALUE, Amount, Instant, ModelCodec, encode
from ...pages import Page
from ...session import Session
from .. import models


class Payments:
    """Collecting from a payer in Venezuela: C2P (a one-time code of the payer's bank), card, immediate debit, and
    transfers that the payer made by Pago Móvil. What is collected is held for 24 hours, then available.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @overload
    def request_c2p(
        self,
        *,
        debtor_id: str,
        debtor_cell_phone: str,
        debtor_bank_code: int,
        external_ref: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.C2pPayment | models.C2pIntent: ...

    @overload
    def request_c2p(
        self,
        *,
        debtor_id: str,
        debtor_cell_phone: str,
        debtor_bank_code: int,
        external_ref: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def request_c2p(
        self,
        *,
        debtor_id: str,
        debtor_cell_phone: str,
        debtor_bank_code: int,
        external_ref: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.C2pPayment | models.C2pIntent | models.DryRun:
        """Request a C2P intent.

        Fixes the price in bolívares at the BCV rate for 15 minutes, and has the payer's bank send a code if it does
        so (`otpRequested`); otherwise the payer makes the key in the app of the bank. A newer request under the
        same `externalRef` takes the place of the pending one.

        Needs the scope `collect`.

        Args:
            debtor_id: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            debtor_cell_phone: A Venezuelan mobile phone, with 0, 58 or +58 in front.
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.
            usd_amount: US dollars, at most 2 decimals. Either this or `vesAmount`.
            ves_amount: Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this or `usdAmount`,
                which is then what it is at the BCV rate.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `payment_in_progress`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`.
        """
        body = encode(
            {
                "usd_amount": ("usdAmount", NUMBER),
                "ves_amount": ("vesAmount", NUMBER),
                "debtor_id": ("debtorId", VALUE),
                "debtor_cell_phone": ("debtorCellPhone", VALUE),
                "debtor_bank_code": ("debtorBankCode", VALUE),
                "external_ref": ("externalRef", VALUE),
            },
            {
                "usd_amount": usd_amount,
                "ves_amount": ves_amount,
                "debtor_id": debtor_id,
                "debtor_cell_phone": debtor_cell_phone,
                "debtor_bank_code": debtor_bank_code,
                "external_ref": external_ref,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/c2p/request",
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
        answer: models.C2pPayment | models.C2pIntent = self._session.model(call, ModelCodec("C2pPayment", "C2pIntent").decode)
        return answer

    @overload
    def execute_c2p(
        self,
        *,
        intent_id: str,
        debtor_id: str,
        debtor_cell_phone: str,
        debtor_bank_code: int,
        external_ref: str,
        token: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        merchant_id: str | None = None,
        application_fee_percent: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Payment: ...

    @overload
    def execute_c2p(
        self,
        *,
        intent_id: str,
        debtor_id: str,
        debtor_cell_phone: str,
        debtor_bank_code: int,
        external_ref: str,
        token: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        merchant_id: str | None = None,
        application_fee_percent: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def execute_c2p(
        self,
        *,
        intent_id: str,
        debtor_id: str,
        debtor_cell_phone: str,
        debtor_bank_code: int,
        external_ref: str,
        token: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        merchant_id: str | None = None,
        application_fee_percent: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Payment | models.DryRun:
        """Charge a C2P intent.

        Repeats the details of the request and brings the payer's code. The bank is called once: what it says is in
        `status` (`COMPLETED` or `FAILED` with `failureCode`). While the bank is silent the answer is 202 and the
        payment `PENDING`; the server asks the bank until it knows, and never charges twice.

        Needs the scope `collect`.

        Args:
            debtor_id: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            debtor_cell_phone: A Venezuelan mobile phone, with 0, 58 or +58 in front.
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.
            token: The payer's code, 6 to 8 digits, as a string.
            usd_amount: US dollars, at most 2 decimals. Either this or `vesAmount`.
            ves_amount: Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this or `usdAmount`,
                which is then what it is at the BCV rate.
            merchant_id: The seller of a marketplace sale.
            application_fee_percent: What you keep of the sale, in percent, at most 4 decimals; needs `merchantId`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `charge_in_progress`, `intent_canceled`,
                `intent_completed`, `intent_failed`, `intent_mismatch`, `merchant_inactive`, `not_found`,
                `rail_not_configured`, `rail_unavailable`.
        """
        body = encode(
            {
                "intent_id": ("intentId", VALUE),
                "usd_amount": ("usdAmount", NUMBER),
                "ves_amount": ("vesAmount", NUMBER),
                "debtor_id": ("debtorId", VALUE),
                "debtor_cell_phone": ("debtorCellPhone", VALUE),
                "debtor_bank_code": ("debtorBankCode", VALUE),
                "external_ref": ("externalRef", VALUE),
                "token": ("token", VALUE),
                "merchant_id": ("merchantId", VALUE),
                "application_fee_percent": ("applicationFeePercent", NUMBER),
            },
            {
                "intent_id": intent_id,
                "usd_amount": usd_amount,
                "ves_amount": ves_amount,
                "debtor_id": debtor_id,
                "debtor_cell_phone": debtor_cell_phone,
                "debtor_bank_code": debtor_bank_code,
                "external_ref": external_ref,
                "token": token,
                "merchant_id": merchant_id,
                "application_fee_percent": application_fee_percent,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/c2p",
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
        return self._session.model(call, models.Payment.from_json)

    def list(
        self,
        *,
        status: Literal["PENDING", "COMPLETED", "FAILED", "CANCELED", "REVERSED"] | None = None,
        method: Literal["C2P", "VPOS", "DEBIT", "PAGO_MOVIL", "COP", "USDT"] | None = None,
        external_ref: str | None = None,
        bank_reference: str | None = None,
        reference: str | None = None,
        merchant_id: str | None = None,
        from_: Instant | None = None,
        to: Instant | None = None,
        min_amount: Amount | None = None,
        max_amount: Amount | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Page[models.Payment]:
        """List payments.

        Needs the scope `read`.

        Args:
            external_ref: All attempts under this reference.
            bank_reference: As the payment shows it, whole.
            reference: Of the checkout session, or of the payment in pesos.
            merchant_id: The seller.
            from_: Made at this instant or later.
            to: Made before this instant.
            min_amount: Of this amount or more, in its own currency.
            max_amount: Of this amount or less, in its own currency.
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.
        """
        call = Call(
            "GET",
            "/v1/payments",
            query={"status": status, "method": method, "externalRef": external_ref, "bankReference": bank_reference, "reference": reference, "merchantId": merchant_id, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "minAmount": None if min_amount is None else DECIMAL.encode(min_amount), "maxAmount": None if max_amount is None else DECIMAL.encode(max_amount), "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.Payment.from_json)

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Payment:
        """Read a payment.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/payments/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Payment.from_json)

    def get_by_ref(
        self,
        external_ref: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Payment:
        """Read the newest payment under a reference.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/payments/by-ref/{externalRef}",
            parts=(external_ref,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Payment.from_json)

    def get_operation(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Operation:
        """Read an operation with a bank.

        What became of a call to a bank: the `operationId` of a payment, a payout or a debit code leads here.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/payments/operations/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Operation.from_json)

    def get_receipt(
        self,
        id: str,
        *,
        lang: Literal["es", "en"] | None = None,
        media: Literal["text/html", "application/pdf"] = "text/html",
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> bytes:
        """The receipt of a payment.

        For the payer: a page to print, or a PDF by `Accept: application/pdf`. It names the shop (settings
        `shop.name`, `shop.rif`), the payer's bank, the method, the amounts, the rate, the references and the date
        with its zone; the payer is masked.

        Needs the scope `read`.

        Args:
            lang: `es` if missing.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`, `payment_not_completed`.
        """
        call = Call(
            "GET",
            "/v1/payments/{id}/receipt",
            parts=(id,),
            query={"lang": lang},
            accept=media,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.download(call)

    @overload
    def reverse(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Payment: ...

    @overload
    def reverse(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def reverse(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Payment | models.DryRun:
        """Reverse a C2P payment.

        Within 24 hours of completion. The fee comes back. The money is taken from the hold of this sale, then from
        what is available; of a marketplace sale the seller's part from the seller.

        Needs the scope `collect`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `insufficient_balance`, `mandate_exceeded`,
                `not_found`, `not_reversible`, `payment_not_completed`, `rail_not_configured`, `rail_unavailable`,
                `reversal_in_progress`, `reversal_refused`, `reversal_window_expired`, `too_many_attempts`.
        """
        call = Call(
            "POST",
            "/v1/payments/{id}/reverse",
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
        return self._session.model(call, models.Payment.from_json)

    @overload
    def charge_card(
        self,
        *,
        card: models.Card | models.CardToken,
        external_ref: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        description: str | None = None,
        merchant_id: str | None = None,
        application_fee_percent: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Payment: ...

    @overload
    def charge_card(
        self,
        *,
        card: models.Card | models.CardToken,
        external_ref: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        description: str | None = None,
        merchant_id: str | None = None,
        application_fee_percent: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def charge_card(
        self,
        *,
        card: models.Card | models.CardToken,
        external_ref: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        description: str | None = None,
        merchant_id: str | None = None,
        application_fee_percent: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Payment | models.DryRun:
        """Charge a card.

        Of the card only brand and last four digits are ever stored or logged. After an attempt that failed the same
        `externalRef` takes another card, or the same one with a new Idempotency-Key. In place of the card `card`
        may have the `token` that a checkout page made of it (`payCheckoutCard`): then no server of yours sees a
        card. A token is of your account and mode, is charged once, and lasts 15 minutes; it does not outlive the
        server that made it. A refusal (4xx, or 503 other than `storage_unavailable`) leaves it good, a decline has
        used it.

        Needs the scope `collect`.

        Args:
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.
            usd_amount: US dollars, at most 2 decimals. Either this or `vesAmount`.
            ves_amount: Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this or `usdAmount`,
                which is then what it is at the BCV rate.
            merchant_id: The seller of a marketplace sale.
            application_fee_percent: What you keep of the sale, in percent, at most 4 decimals; needs `merchantId`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `card_token_gone`, `external_ref_conflict`,
                `merchant_inactive`, `not_found`, `payment_in_progress`, `rail_not_configured`, `rail_unavailable`,
                `rate_unavailable`.
        """
        body = encode(
            {
                "usd_amount": ("usdAmount", NUMBER),
                "ves_amount": ("vesAmount", NUMBER),
                "card": ("card", ModelCodec("Card", "CardToken")),
                "external_ref": ("externalRef", VALUE),
                "description": ("description", VALUE),
                "merchant_id": ("merchantId", VALUE),
                "application_fee_percent": ("applicationFeePercent", NUMBER),
            },
            {
                "usd_amount": usd_amount,
                "ves_amount": ves_amount,
                "card": card,
                "external_ref": external_ref,
                "description": description,
                "merchant_id": merchant_id,
                "application_fee_percent": application_fee_percent,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/vpos",
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
        return self._session.model(call, models.Payment.from_json)

    @overload
    def request_debit_otp(
        self,
        *,
        banco: str,
        monto: Amount,
        telefono: str,
        cedula: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.DebitOtp: ...

    @overload
    def request_debit_otp(
        self,
        *,
        banco: str,
        monto: Amount,
        telefono: str,
        cedula: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def request_debit_otp(
        self,
        *,
        banco: str,
        monto: Amount,
        telefono: str,
        cedula: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.DebitOtp | models.DryRun:
        """Have the payer's bank send a debit code.

        Needs the scope `collect`.

        Args:
            banco: Four digits; see `GET /v1/banks`.
            monto: Bolívares, at most 2 decimals.
            telefono: A Venezuelan mobile phone, with 0, 58 or +58 in front.
            cedula: V, E, J, P or G and 5 to 9 digits, with or without a dash.

        Raises:
            ApiError: beside the codes that every call has, with `code` `otp_refused`, `rail_not_configured`,
                `rail_unavailable`.
        """
        body = encode(
            {
                "banco": ("banco", VALUE),
                "monto": ("monto", NUMBER),
                "telefono": ("telefono", VALUE),
                "cedula": ("cedula", VALUE),
            },
            {
                "banco": banco,
                "monto": monto,
                "telefono": telefono,
                "cedula": cedula,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/debit/otp",
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
        return self._session.model(call, models.DebitOtp.from_json)

    @overload
    def charge_debit(
        self,
        *,
        banco: str,
        monto: Amount,
        telefono: str,
        cedula: str,
        nombre: str,
        otp: str,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Payment: ...

    @overload
    def charge_debit(
        self,
        *,
        banco: str,
        monto: Amount,
        telefono: str,
        cedula: str,
        nombre: str,
        otp: str,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def charge_debit(
        self,
        *,
        banco: str,
        monto: Amount,
        telefono: str,
        cedula: str,
        nombre: str,
        otp: str,
        concepto: str,
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Payment | models.DryRun:
        """Debit an account with the payer's code.

        `monto` is in bolívares; `usdAmount` of the payment is what it is at the BCV rate. After an attempt that
        failed the same `externalRef` takes another code.

        Needs the scope `collect`.

        Args:
            banco: Four digits; see `GET /v1/banks`.
            monto: Bolívares, at most 2 decimals.
            telefono: A Venezuelan mobile phone, with 0, 58 or +58 in front.
            cedula: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            otp: The code of the payer's bank, 4 to 8 digits, as a string.
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `payment_in_progress`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`.
        """
        body = encode(
            {
                "banco": ("banco", VALUE),
                "monto": ("monto", NUMBER),
                "telefono": ("telefono", VALUE),
                "cedula": ("cedula", VALUE),
                "nombre": ("nombre", VALUE),
                "otp": ("otp", VALUE),
                "concepto": ("concepto", VALUE),
                "external_ref": ("externalRef", VALUE),
            },
            {
                "banco": banco,
                "monto": monto,
                "telefono": telefono,
                "cedula": cedula,
                "nombre": nombre,
                "otp": otp,
                "concepto": concepto,
                "external_ref": external_ref,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/debit",
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
        return self._session.model(call, models.Payment.from_json)

    @overload
    def verify_pago_movil(
        self,
        *,
        reference: str,
        phone: str,
        bank_code: str,
        date: date | str,
        debtor_id: str,
        external_ref: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Payment: ...

    @overload
    def verify_pago_movil(
        self,
        *,
        reference: str,
        phone: str,
        bank_code: str,
        date: date | str,
        debtor_id: str,
        external_ref: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def verify_pago_movil(
        self,
        *,
        reference: str,
        phone: str,
        bank_code: str,
        date: date | str,
        debtor_id: str,
        external_ref: str,
        usd_amount: Amount | None = None,
        ves_amount: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Payment | models.DryRun:
        """Verify a Pago Móvil transfer.

        Looks for a transfer that the payer made to you. A transfer (bank, day, full reference) pays for one thing.
        One that was not found is looked for again at each call, as a new attempt.

        Needs the scope `collect`.

        Args:
            reference: The digits of the reference that the payer knows; leading zeros tell nothing.
            phone: A Venezuelan mobile phone, with 0, 58 or +58 in front.
            bank_code: Four digits; see `GET /v1/banks`.
            date: The transfer's day in Caracas: not in the future, at most 30 days ago.
            debtor_id: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.
            usd_amount: US dollars, at most 2 decimals. Either this or `vesAmount`.
            ves_amount: Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this or `usdAmount`,
                which is then what it is at the BCV rate.

        Raises:
            ApiError: beside the codes that every call has, with `code` `charge_in_progress`,
                `external_ref_conflict`, `payment_in_progress`, `rail_not_configured`, `rail_unavailable`,
                `rate_unavailable`, `reference_already_used`.
        """
        body = encode(
            {
                "usd_amount": ("usdAmount", NUMBER),
                "ves_amount": ("vesAmount", NUMBER),
                "reference": ("reference", VALUE),
                "phone": ("phone", VALUE),
                "bank_code": ("bankCode", VALUE),
                "date": ("date", DATE),
                "debtor_id": ("debtorId", VALUE),
                "external_ref": ("externalRef", VALUE),
            },
            {
                "usd_amount": usd_amount,
                "ves_amount": ves_amount,
                "reference": reference,
                "phone": phone,
                "bank_code": bank_code,
                "date": date,
                "debtor_id": debtor_id,
                "external_ref": external_ref,
            },
        )
        call = Call(
            "POST",
            "/v1/payments/pago-movil/verify",
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
        return self._session.model(call, models.Payment.from_json)

    def get_pago_movil_account(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.PagoMovilAccount:
        """Read the account that buyers send a Pago Móvil to.

        The setting `shop.pagoMovil`, which an operator makes.

        Needs the scope `read`.
        """
        call = Call(
            "GET",
            "/v1/payments/pago-movil/account",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.PagoMovilAccount.from_json)

    def list_methods(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CollectionMethodList:
        """List the ways in which the account can collect.

        Needs the scope `read`.
        """
        call = Call(
            "GET",
            "/v1/payment-methods",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CollectionMethodList.from_json)
