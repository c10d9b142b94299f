"""USDT.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

from ...calls import Call
from ...model import DECIMAL, TIME, VALUE, Amount, DecimalCodec, Instant, encode
from ...pages import Page
from ...session import Session
from .. import models


class Usdt:
    """The balance in USDT, payouts to wallets, and addresses through which your customers deposit stablecoins."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list_networks(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CryptoNetworkList:
        """List the networks of USDT.

        Needs the scope `read`.
        """
        call = Call(
            "GET",
            "/v1/crypto/networks",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CryptoNetworkList.from_json)

    def get_balance(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CryptoBalance:
        """Read the balance in USDT.

        Needs the scope `read`.
        """
        call = Call(
            "GET",
            "/v1/crypto/balance",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CryptoBalance.from_json)

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
        """List the movements in USDT.

        Needs the scope `read`.

        Args:
            from_: Inclusive.
            to: Exclusive.
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.
        """
        call = Call(
            "GET",
            "/v1/crypto/balance/transactions",
            query={"type": type, "paymentId": payment_id, "payoutId": payout_id, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.Movement.from_json)

    @overload
    def create_payout(
        self,
        *,
        amount_usdt: Amount,
        address: str,
        network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"],
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.CryptoPayout: ...

    @overload
    def create_payout(
        self,
        *,
        amount_usdt: Amount,
        address: str,
        network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"],
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def create_payout(
        self,
        *,
        amount_usdt: Amount,
        address: str,
        network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"],
        external_ref: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.CryptoPayout | models.DryRun:
        """Send USDT to a wallet.

        Amount and network fee are debited at once; a payout that fails or is rejected gives both back. Above the
        account's limit an operator reviews it first. The address is checked for its network.

        Needs the scope `payout`.

        Args:
            amount_usdt: Exactly two decimals, from 0.01 to 999999999999.99.
            external_ref: Your own reference, 1 to 64 characters after trimming. The same reference with the same
                payload answers what is there; with another payload it is 409 `external_ref_conflict`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `external_ref_conflict`,
                `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `rail_not_configured`,
                `too_many_attempts`, `usdt_not_enabled`.
        """
        body = encode(
            {
                "amount_usdt": ("amountUsdt", DecimalCodec(2)),
                "address": ("address", VALUE),
                "network": ("network", VALUE),
                "external_ref": ("externalRef", VALUE),
            },
            {
                "amount_usdt": amount_usdt,
                "address": address,
                "network": network,
                "external_ref": external_ref,
            },
        )
        call = Call(
            "POST",
            "/v1/crypto/payouts",
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
        return self._session.model(call, models.CryptoPayout.from_json)

    def list_payouts(
        self,
        *,
        status: Literal["pending_review", "processing", "completed", "failed", "rejected"] | None = None,
        from_: Instant | None = None,
        to: Instant | None = None,
        min_amount: Amount | None = None,
        max_amount: Amount | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Page[models.CryptoPayout]:
        """List USDT payouts.

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
            "/v1/crypto/payouts",
            query={"status": status, "from": None if from_ is None else TIME.encode(from_), "to": None if to is None else TIME.encode(to), "minAmount": None if min_amount is None else DECIMAL.encode(min_amount), "maxAmount": None if max_amount is None else DECIMAL.encode(max_amount), "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.CryptoPayout.from_json)

    def get_payout(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CryptoPayout:
        """Read a USDT payout.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/crypto/payouts/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CryptoPayout.from_json)

    def get_payout_by_ref(
        self,
        external_ref: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CryptoPayout:
        """Read a USDT payout by your reference.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/crypto/payouts/by-ref/{externalRef}",
            parts=(external_ref,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CryptoPayout.from_json)

    @overload
    def create_deposit_address(
        self,
        *,
        customer_ref: str,
        network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"],
        asset: Literal["USDT", "USDC"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.DepositAddress: ...

    @overload
    def create_deposit_address(
        self,
        *,
        customer_ref: str,
        network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"],
        asset: Literal["USDT", "USDC"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def create_deposit_address(
        self,
        *,
        customer_ref: str,
        network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"],
        asset: Literal["USDT", "USDC"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.DepositAddress | models.DryRun:
        """Get a customer's deposit address.

        The same customer, network and asset always has the same address. A deposit is credited 1:1 under the
        24-hour hold.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `rail_not_configured`, `usdt_not_enabled`.
        """
        body = encode(
            {
                "customer_ref": ("customerRef", VALUE),
                "network": ("network", VALUE),
                "asset": ("asset", VALUE),
            },
            {
                "customer_ref": customer_ref,
                "network": network,
                "asset": asset,
            },
        )
        call = Call(
            "POST",
            "/v1/crypto/deposit-addresses",
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
        return self._session.model(call, models.DepositAddress.from_json)
