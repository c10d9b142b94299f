"""The objects of the API.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

from ..model import DATE, DECIMAL, NUMBER, TIME, VALUE, Amount, DecimalCodec, ListCodec, Model, ModelCodec

__all__ = [
    "AccountCredit",
    "ApprovedCall",
    "ApprovedCallAmount",
    "AwaitingApproval",
    "Balance",
    "Bank",
    "C2pIntent",
    "C2pPayment",
    "C2pPaymentCheckoutSession",
    "Card",
    "CardToken",
    "Chargeback",
    "ChargebackEvent",
    "CheckoutAddress",
    "CheckoutSession",
    "CheckoutState",
    "CheckoutStateMethodsItem",
    "CheckoutStatePagoMovil",
    "CollectionMethod",
    "CollectionMethodList",
    "Conversion",
    "ConversionQuote",
    "ConversionSettings",
    "ConversionSettingsAutoConvert",
    "ConversionSettingsAutoConvertCOP",
    "ConversionSettingsChangeAutoConvert",
    "ConversionSettingsChangeAutoConvertCOP",
    "ConversionSettingsDailyLimit",
    "ConversionSettingsSpreadPercent",
    "CopBalance",
    "CopBuyer",
    "CopPayment",
    "CopPaymentCheckoutSession",
    "CopPaymentEvent",
    "CopPaymentEventCheckoutSession",
    "CopPaymentEventNext",
    "CopPaymentNext",
    "CopPayout",
    "CryptoBalance",
    "CryptoDeposit",
    "CryptoNetwork",
    "CryptoNetworkList",
    "CryptoPayout",
    "DebitOtp",
    "DeletePaymentLinkResult",
    "DeleteProductResult",
    "DeleteWebhookResult",
    "DeletedMerchant",
    "Deliveries",
    "Delivery",
    "DepositAddress",
    "DryRun",
    "DryRunHoldsItem",
    "DryRunOrdersItem",
    "Event",
    "FeeEstimate",
    "FeeEstimateBreakdown",
    "FeeSchedule",
    "FeeScheduleTiersItem",
    "Found",
    "FoundList",
    "GetHealthResult",
    "GetReadinessResult",
    "IdempotencyKey",
    "Key",
    "KeyList",
    "KeyWithRemaining",
    "KeyWithRemainingRemaining",
    "KeyWithRemainingRemainingPerDay",
    "KeyWithRemainingRemainingPerMonth",
    "ListedCheckoutSession",
    "LoggedRequest",
    "MadeCardToken",
    "MadeKey",
    "Mandate",
    "MandateApproval",
    "MandateApprovalAbove",
    "MandateApprovalAmount",
    "MandatePerCall",
    "MandatePerDay",
    "MandatePerMonth",
    "Merchant",
    "MerchantBalance",
    "MerchantBalanceUpdatedData",
    "MerchantEvent",
    "MerchantPayoutItem",
    "MerchantRejectedData",
    "Movement",
    "NewlySignedWebhook",
    "OpenedTestAccount",
    "OpenedTestAccountTestKey",
    "Operation",
    "PagoMovilAccount",
    "PagoMovilQuote",
    "Payment",
    "PaymentChargeback",
    "PaymentCheckoutSession",
    "PaymentLink",
    "PaymentLinkList",
    "PaymentReversedData3",
    "Payout",
    "PayoutAccount",
    "PayoutBatch",
    "PayoutCompletedData",
    "PayoutCompletedData2",
    "PayoutCompletedData3",
    "PayoutFailedData",
    "PayoutFailedData2",
    "PayoutFailedData3",
    "PayoutMethod",
    "PayoutMethodList",
    "PhoneCredit",
    "Product",
    "Quote",
    "QuoteSources",
    "QuoteSourcesBank",
    "QuoteSourcesBankError",
    "QuoteSourcesVexFx",
    "Rate",
    "RateHistory",
    "RatePoint",
    "RefusedItem",
    "RevokedKey",
    "StartPayoutAccountVerificationResult",
    "StartVerificationResult",
    "Statement",
    "StatementDay",
    "TenantLiveStatusChangedData",
    "TestClock",
    "TestDeliveries",
    "TestDeliveriesDeliveriesItem",
    "TestReset",
    "TestResetData",
    "Webhook",
    "WebhookList",
]


@dataclass(frozen=True, kw_only=True)
class C2pIntent(Model):
    """C2p intent."""

    intent_id: str
    otp_requested: bool
    """True when the payer's bank sends a code by SMS; false when the payer makes it in the app."""
    status: Literal["PENDING"]
    usd_amount: Decimal
    ves_amount: Decimal
    bcv_rate: Decimal
    expires_at: datetime | None
    external_ref: str
    livemode: bool
    """Whether real money moves: false under a test key."""

    _wire = {
        "intent_id": ("intentId", VALUE),
        "otp_requested": ("otpRequested", VALUE),
        "status": ("status", VALUE),
        "usd_amount": ("usdAmount", NUMBER),
        "ves_amount": ("vesAmount", NUMBER),
        "bcv_rate": ("bcvRate", NUMBER),
        "expires_at": ("expiresAt", TIME),
        "external_ref": ("externalRef", VALUE),
        "livemode": ("livemode", VALUE),
    }
    _required = ("intentId", "otpRequested", "status", "usdAmount", "vesAmount", "bcvRate", "expiresAt", "externalRef", "livemode",)


@dataclass(frozen=True, kw_only=True)
class C2pPayment(Model):
    """C2p payment."""

    id: str
    payment_id: str
    """Equal to `id`; of C2P the `intentId` too."""
    object: Literal["payment"]
    external_ref: str | None
    """Null of payments in pesos and in USDT; of one through a checkout session, the session's id."""
    attempt: int
    """The number of this payment among those under its `externalRef`, from 1."""
    status: Literal["PENDING", "COMPLETED", "FAILED", "CANCELED", "REVERSED"]
    method: Literal["C2P", "VPOS", "DEBIT", "PAGO_MOVIL", "COP", "USDT"]
    failure_code: str | None
    """The bank's code, when it failed, such as `AM04` (insufficient funds) or `TKCM` (wrong key)."""
    cancel_reason: Literal["superseded", "expired"] | None
    usd_amount: Decimal | None
    ves_amount: Decimal | None
    bcv_rate: Decimal | None
    fee_ves: Decimal | None
    """Null until completed."""
    net_ves: Decimal | None
    """`vesAmount` less `feeVes`; null until completed."""
    merchant_id: str | None
    application_fee_percent: Decimal | None
    application_fee_ves: Decimal | None
    seller_net_ves: Decimal | None
    debtor_bank_code: str | None
    """Four digits; see `GET /v1/banks`."""
    debtor_id: str | None
    """Masked: `V***678`."""
    debtor_cell_phone: str | None
    """Masked: `0414***4567`."""
    card_last4: str | None
    card_brand: Literal["visa", "mastercard", "amex", "diners", "discover", "jcb", "unionpay", "maestro", "unknown"] | None
    bank_reference: str | None
    operation_id: str | None
    """While a bank is being asked; see `GET /v1/payments/operations/{id}`."""
    description: str | None
    checkout_session_id: str | None
    """The checkout session through which it was paid."""
    reference: str | None
    """Of the checkout session; of a payment in pesos its own."""
    checkout_session: C2pPaymentCheckoutSession | None
    """The session through which it was paid."""
    reversed_at: datetime | None
    reversal_ref: str | None
    reversal_type: Literal["reversal", "chargeback", "refund"] | None
    chargebacks: list[PaymentChargeback]
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    expires_at: datetime | None
    completed_at: datetime | None
    available_at: datetime | None
    """The end of the hold."""
    intent_id: str
    """Equal to `id`."""
    otp_requested: bool
    currency: Literal["COP", "USDT"] | None = None
    """With members of their own, of payments in pesos and in USDT."""
    amount_usdt: Decimal | None = None
    """What came."""
    tx_hash: str | None = None
    """Of the transfer that completed it."""
    seller_net_usdt: Decimal | None = None
    channel: str | None = None
    amount_cop: int | None = None
    fee_cop: int | None = None
    net_cop: int | None = None
    application_fee_cop: int | None = None
    seller_net_cop: int | None = None
    metadata: Mapping[str, Any] | None = None
    amount_usd: Decimal | None = None
    """With `copRate`, of what was paid through a checkout session."""
    cop_rate: str | None = None
    cop_market_rate: str | None = None

    _wire = {
        "id": ("id", VALUE),
        "payment_id": ("paymentId", VALUE),
        "object": ("object", VALUE),
        "external_ref": ("externalRef", VALUE),
        "attempt": ("attempt", VALUE),
        "status": ("status", VALUE),
        "method": ("method", VALUE),
        "failure_code": ("failureCode", VALUE),
        "cancel_reason": ("cancelReason", VALUE),
        "usd_amount": ("usdAmount", NUMBER),
        "ves_amount": ("vesAmount", NUMBER),
        "bcv_rate": ("bcvRate", NUMBER),
        "fee_ves": ("feeVes", NUMBER),
        "net_ves": ("netVes", NUMBER),
        "merchant_id": ("merchantId", VALUE),
        "application_fee_percent": ("applicationFeePercent", NUMBER),
        "application_fee_ves": ("applicationFeeVes", NUMBER),
        "seller_net_ves": ("sellerNetVes", NUMBER),
        "debtor_bank_code": ("debtorBankCode", VALUE),
        "debtor_id": ("debtorId", VALUE),
        "debtor_cell_phone": ("debtorCellPhone", VALUE),
        "card_last4": ("cardLast4", VALUE),
        "card_brand": ("cardBrand", VALUE),
        "bank_reference": ("bankReference", VALUE),
        "operation_id": ("operationId", VALUE),
        "description": ("description", VALUE),
        "checkout_session_id": ("checkoutSessionId", VALUE),
        "reference": ("reference", VALUE),
        "checkout_session": ("checkoutSession", ModelCodec("C2pPaymentCheckoutSession")),
        "reversed_at": ("reversedAt", TIME),
        "reversal_ref": ("reversalRef", VALUE),
        "reversal_type": ("reversalType", VALUE),
        "chargebacks": ("chargebacks", ListCodec(ModelCodec("PaymentChargeback"))),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "completed_at": ("completedAt", TIME),
        "available_at": ("availableAt", TIME),
        "currency": ("currency", VALUE),
        "amount_usdt": ("amountUsdt", DecimalCodec(2)),
        "tx_hash": ("txHash", VALUE),
        "seller_net_usdt": ("sellerNetUsdt", DecimalCodec(2)),
        "channel": ("channel", VALUE),
        "amount_cop": ("amountCop", VALUE),
        "fee_cop": ("feeCop", VALUE),
        "net_cop": ("netCop", VALUE),
        "application_fee_cop": ("applicationFeeCop", VALUE),
        "seller_net_cop": ("sellerNetCop", VALUE),
        "metadata": ("metadata", VALUE),
        "amount_usd": ("amountUsd", DecimalCodec(2)),
        "cop_rate": ("copRate", VALUE),
        "cop_market_rate": ("copMarketRate", VALUE),
        "intent_id": ("intentId", VALUE),
        "otp_requested": ("otpRequested", VALUE),
    }
    _required = ("id", "paymentId", "object", "externalRef", "attempt", "status", "method", "failureCode", "cancelReason", "usdAmount", "vesAmount", "bcvRate", "feeVes", "netVes", "merchantId", "applicationFeePercent", "applicationFeeVes", "sellerNetVes", "debtorBankCode", "debtorId", "debtorCellPhone", "cardLast4", "cardBrand", "bankReference", "operationId", "description", "checkoutSessionId", "reference", "checkoutSession", "reversedAt", "reversalRef", "reversalType", "chargebacks", "livemode", "createdAt", "expiresAt", "completedAt", "availableAt", "intentId", "otpRequested",)


@dataclass(frozen=True, kw_only=True)
class C2pPaymentCheckoutSession(Model):
    """The session through which it was paid."""

    id: str
    reference: str | None
    metadata: Mapping[str, Any]

    _wire = {
        "id": ("id", VALUE),
        "reference": ("reference", VALUE),
        "metadata": ("metadata", VALUE),
    }
    _required = ("id", "reference", "metadata",)


@dataclass(frozen=True, kw_only=True)
class Card(Model):
    """Card."""

    number: str = field(repr=False)
    """13 to 19 digits that pass the Luhn check."""
    exp_month: int
    exp_year: int
    cvv: str = field(repr=False)
    holder_name: str
    holder_id: str
    """V, E, J, P or G and 5 to 9 digits, with or without a dash."""

    _wire = {
        "number": ("number", VALUE),
        "exp_month": ("expMonth", VALUE),
        "exp_year": ("expYear", VALUE),
        "cvv": ("cvv", VALUE),
        "holder_name": ("holderName", VALUE),
        "holder_id": ("holderId", VALUE),
    }
    _required = ("number", "expMonth", "expYear", "cvv", "holderName", "holderId",)


@dataclass(frozen=True, kw_only=True)
class CardToken(Model):
    """Card token."""

    token: str = field(repr=False)
    """Of a card that a checkout page took from its holder."""

    _wire = {
        "token": ("token", VALUE),
    }
    _required = ("token",)


@dataclass(frozen=True, kw_only=True)
class DebitOtp(Model):
    """Debit otp."""

    requested: bool
    operation_id: str
    expires_at: datetime
    failure_code: str | None
    livemode: bool
    """Whether real money moves: false under a test key."""

    _wire = {
        "requested": ("requested", VALUE),
        "operation_id": ("operationId", VALUE),
        "expires_at": ("expiresAt", TIME),
        "failure_code": ("failureCode", VALUE),
        "livemode": ("livemode", VALUE),
    }
    _required = ("requested", "operationId", "expiresAt", "failureCode", "livemode",)


@dataclass(frozen=True, kw_only=True)
class PagoMovilAccount(Model):
    """Pago movil account."""

    bank_code: str | None
    """Four digits; see `GET /v1/banks`."""
    phone: str | None
    identification: str | None

    _wire = {
        "bank_code": ("bankCode", VALUE),
        "phone": ("phone", VALUE),
        "identification": ("identification", VALUE),
    }
    _required = ("bankCode", "phone", "identification",)


@dataclass(frozen=True, kw_only=True)
class Payment(Model):
    """Payment."""

    id: str
    payment_id: str
    """Equal to `id`; of C2P the `intentId` too."""
    object: Literal["payment"]
    external_ref: str | None
    """Null of payments in pesos and in USDT; of one through a checkout session, the session's id."""
    attempt: int
    """The number of this payment among those under its `externalRef`, from 1."""
    status: Literal["PENDING", "COMPLETED", "FAILED", "CANCELED", "REVERSED"]
    method: Literal["C2P", "VPOS", "DEBIT", "PAGO_MOVIL", "COP", "USDT"]
    failure_code: str | None
    """The bank's code, when it failed, such as `AM04` (insufficient funds) or `TKCM` (wrong key)."""
    cancel_reason: Literal["superseded", "expired"] | None
    usd_amount: Decimal | None
    ves_amount: Decimal | None
    bcv_rate: Decimal | None
    fee_ves: Decimal | None
    """Null until completed."""
    net_ves: Decimal | None
    """`vesAmount` less `feeVes`; null until completed."""
    merchant_id: str | None
    application_fee_percent: Decimal | None
    application_fee_ves: Decimal | None
    seller_net_ves: Decimal | None
    debtor_bank_code: str | None
    """Four digits; see `GET /v1/banks`."""
    debtor_id: str | None
    """Masked: `V***678`."""
    debtor_cell_phone: str | None
    """Masked: `0414***4567`."""
    card_last4: str | None
    card_brand: Literal["visa", "mastercard", "amex", "diners", "discover", "jcb", "unionpay", "maestro", "unknown"] | None
    bank_reference: str | None
    operation_id: str | None
    """While a bank is being asked; see `GET /v1/payments/operations/{id}`."""
    description: str | None
    checkout_session_id: str | None
    """The checkout session through which it was paid."""
    reference: str | None
    """Of the checkout session; of a payment in pesos its own."""
    checkout_session: PaymentCheckoutSession | None
    """The session through which it was paid."""
    reversed_at: datetime | None
    reversal_ref: str | None
    reversal_type: Literal["reversal", "chargeback", "refund"] | None
    chargebacks: list[PaymentChargeback]
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    expires_at: datetime | None
    completed_at: datetime | None
    available_at: datetime | None
    """The end of the hold."""
    currency: Literal["COP", "USDT"] | None = None
    """With members of their own, of payments in pesos and in USDT."""
    amount_usdt: Decimal | None = None
    """What came."""
    tx_hash: str | None = None
    """Of the transfer that completed it."""
    seller_net_usdt: Decimal | None = None
    channel: str | None = None
    amount_cop: int | None = None
    fee_cop: int | None = None
    net_cop: int | None = None
    application_fee_cop: int | None = None
    seller_net_cop: int | None = None
    metadata: Mapping[str, Any] | None = None
    amount_usd: Decimal | None = None
    """With `copRate`, of what was paid through a checkout session."""
    cop_rate: str | None = None
    cop_market_rate: str | None = None

    _wire = {
        "id": ("id", VALUE),
        "payment_id": ("paymentId", VALUE),
        "object": ("object", VALUE),
        "external_ref": ("externalRef", VALUE),
        "attempt": ("attempt", VALUE),
        "status": ("status", VALUE),
        "method": ("method", VALUE),
        "failure_code": ("failureCode", VALUE),
        "cancel_reason": ("cancelReason", VALUE),
        "usd_amount": ("usdAmount", NUMBER),
        "ves_amount": ("vesAmount", NUMBER),
        "bcv_rate": ("bcvRate", NUMBER),
        "fee_ves": ("feeVes", NUMBER),
        "net_ves": ("netVes", NUMBER),
        "merchant_id": ("merchantId", VALUE),
        "application_fee_percent": ("applicationFeePercent", NUMBER),
        "application_fee_ves": ("applicationFeeVes", NUMBER),
        "seller_net_ves": ("sellerNetVes", NUMBER),
        "debtor_bank_code": ("debtorBankCode", VALUE),
        "debtor_id": ("debtorId", VALUE),
        "debtor_cell_phone": ("debtorCellPhone", VALUE),
        "card_last4": ("cardLast4", VALUE),
        "card_brand": ("cardBrand", VALUE),
        "bank_reference": ("bankReference", VALUE),
        "operation_id": ("operationId", VALUE),
        "description": ("description", VALUE),
        "checkout_session_id": ("checkoutSessionId", VALUE),
        "reference": ("reference", VALUE),
        "checkout_session": ("checkoutSession", ModelCodec("PaymentCheckoutSession")),
        "reversed_at": ("reversedAt", TIME),
        "reversal_ref": ("reversalRef", VALUE),
        "reversal_type": ("reversalType", VALUE),
        "chargebacks": ("chargebacks", ListCodec(ModelCodec("PaymentChargeback"))),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "completed_at": ("completedAt", TIME),
        "available_at": ("availableAt", TIME),
        "currency": ("currency", VALUE),
        "amount_usdt": ("amountUsdt", DecimalCodec(2)),
        "tx_hash": ("txHash", VALUE),
        "seller_net_usdt": ("sellerNetUsdt", DecimalCodec(2)),
        "channel": ("channel", VALUE),
        "amount_cop": ("amountCop", VALUE),
        "fee_cop": ("feeCop", VALUE),
        "net_cop": ("netCop", VALUE),
        "application_fee_cop": ("applicationFeeCop", VALUE),
        "seller_net_cop": ("sellerNetCop", VALUE),
        "metadata": ("metadata", VALUE),
        "amount_usd": ("amountUsd", DecimalCodec(2)),
        "cop_rate": ("copRate", VALUE),
        "cop_market_rate": ("copMarketRate", VALUE),
    }
    _required = ("id", "paymentId", "object", "externalRef", "attempt", "status", "method", "failureCode", "cancelReason", "usdAmount", "vesAmount", "bcvRate", "feeVes", "netVes", "merchantId", "applicationFeePercent", "applicationFeeVes", "sellerNetVes", "debtorBankCode", "debtorId", "debtorCellPhone", "cardLast4", "cardBrand", "bankReference", "operationId", "description", "checkoutSessionId", "reference", "checkoutSession", "reversedAt", "reversalRef", "reversalType", "chargebacks", "livemode", "createdAt", "expiresAt", "completedAt", "availableAt",)


@dataclass(frozen=True, kw_only=True)
class PaymentCheckoutSession(Model):
    """The session through which it was paid."""

    id: str
    reference: str | None
    metadata: Mapping[str, Any]

    _wire = {
        "id": ("id", VALUE),
        "reference": ("reference", VALUE),
        "metadata": ("metadata", VALUE),
    }
    _required = ("id", "reference", "metadata",)


@dataclass(frozen=True, kw_only=True)
class PaymentChargeback(Model):
    """Payment chargeback."""

    chargeback_id: str
    status: Literal["open", "won", "lost"]
    amount_ves: Decimal
    fee_ves: Decimal
    reason: Literal["fraud", "not_recognized", "not_received", "duplicate", "other"]
    bank_debited_at: datetime

    _wire = {
        "chargeback_id": ("chargebackId", VALUE),
        "status": ("status", VALUE),
        "amount_ves": ("amountVes", DecimalCodec(2)),
        "fee_ves": ("feeVes", DecimalCodec(2)),
        "reason": ("reason", VALUE),
        "bank_debited_at": ("bankDebitedAt", TIME),
    }
    _required = ("chargebackId", "status", "amountVes", "feeVes", "reason", "bankDebitedAt",)


@dataclass(frozen=True, kw_only=True)
class Operation(Model):
    """Operation."""

    operation_id: str
    kind: Literal["charge", "debit", "verification", "reversal", "otp", "credit", "collection", "refund"]
    status: Literal["pending", "completed", "failed"]
    code: str | None
    """The bank's code, when it failed."""
    reference: str | None
    """The bank's reference."""
    contradicted: bool
    """The bank said both that it was done and that it was not. No money moved by the second word; the operator clears it up with the bank."""
    payment_id: str | None
    payout_id: str | None
    created_at: datetime
    updated_at: datetime

    _wire = {
        "operation_id": ("operationId", VALUE),
        "kind": ("kind", VALUE),
        "status": ("status", VALUE),
        "code": ("code", VALUE),
        "reference": ("reference", VALUE),
        "contradicted": ("contradicted", VALUE),
        "payment_id": ("paymentId", VALUE),
        "payout_id": ("payoutId", VALUE),
        "created_at": ("createdAt", TIME),
        "updated_at": ("updatedAt", TIME),
    }
    _required = ("operationId", "kind", "status", "code", "reference", "contradicted", "paymentId", "payoutId", "createdAt", "updatedAt",)


@dataclass(frozen=True, kw_only=True)
class CollectionMethod(Model):
    """Collection method."""

    method: Literal["C2P", "VPOS", "DEBIT", "PAGO_MOVIL", "COP", "USDT"]
    enabled: bool
    currency: Literal["VES", "COP", "USDT"]
    reason: str | None
    """Why it is not enabled: `rail_not_configured`, `no_bank_offers_it`, `rate_unavailable`, `cop_not_enabled`."""

    _wire = {
        "method": ("method", VALUE),
        "enabled": ("enabled", VALUE),
        "currency": ("currency", VALUE),
        "reason": ("reason", VALUE),
    }
    _required = ("method", "enabled", "currency", "reason",)


@dataclass(frozen=True, kw_only=True)
class CollectionMethodList(Model):
    """Collection method list."""

    items: list[CollectionMethod]

    _wire = {
        "items": ("items", ListCodec(ModelCodec("CollectionMethod"))),
    }
    _required = ("items",)


@dataclass(frozen=True, kw_only=True)
class Balance(Model):
    """Balance."""

    ledger_net_ves: Decimal
    """The sum of all movements."""
    reserve_ves: Decimal
    held_ves: Decimal
    """Under a hold of 24 hours."""
    next_release_at: datetime | None
    """When the next held amount is released."""
    available_ves: Decimal
    """What can be paid out; below zero after a chargeback at worst."""
    balance_hold_hours: int
    converted_ves: Decimal
    """Converted to USDT, less what was canceled."""
    platform_available_ves: Decimal
    """Equal to `availableVes`."""
    seller_pending_ves: Decimal
    seller_available_ves: Decimal
    livemode: bool
    """Whether real money moves: false under a test key."""

    _wire = {
        "ledger_net_ves": ("ledgerNetVes", DecimalCodec(2)),
        "reserve_ves": ("reserveVes", DecimalCodec(2)),
        "held_ves": ("heldVes", DecimalCodec(2)),
        "next_release_at": ("nextReleaseAt", TIME),
        "available_ves": ("availableVes", DecimalCodec(2)),
        "balance_hold_hours": ("balanceHoldHours", VALUE),
        "converted_ves": ("convertedVes", DecimalCodec(2)),
        "platform_available_ves": ("platformAvailableVes", DecimalCodec(2)),
        "seller_pending_ves": ("sellerPendingVes", DecimalCodec(2)),
        "seller_available_ves": ("sellerAvailableVes", DecimalCodec(2)),
        "livemode": ("livemode", VALUE),
    }
    _required = ("ledgerNetVes", "reserveVes", "heldVes", "nextReleaseAt", "availableVes", "balanceHoldHours", "convertedVes", "platformAvailableVes", "sellerPendingVes", "sellerAvailableVes", "livemode",)


@dataclass(frozen=True, kw_only=True)
class Movement(Model):
    """Movement."""

    id: str
    type: Literal["payment", "fee", "fee_reversal", "reversal", "chargeback", "chargeback_fee", "chargeback_reversal", "payout", "payout_fee", "payout_reversal", "adjustment", "seller_transfer", "seller_transfer_reversal", "conversion", "conversion_reversal", "PLATFORM_FEE", "deposit"]
    currency: Literal["VES", "COP", "USDT"]
    payment_id: str | None
    payout_id: str | None
    chargeback_id: str | None
    external_ref: str | None
    description: str
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    amount_ves: Decimal | None = None
    """Signed; negative is money out. In bolívares."""
    amount_cop: Decimal | None = None
    """In pesos."""
    amount_usdt: Decimal | None = None
    """In USDT."""
    conversion_id: str | None = None
    merchant_id: str | None = None
    """On a seller's balance: whose."""
    available_at: datetime | None = None
    """The end of the hold, while it lasts."""

    _wire = {
        "id": ("id", VALUE),
        "type": ("type", VALUE),
        "amount_ves": ("amountVes", DecimalCodec(2)),
        "amount_cop": ("amountCop", DECIMAL),
        "amount_usdt": ("amountUsdt", DecimalCodec(2)),
        "currency": ("currency", VALUE),
        "payment_id": ("paymentId", VALUE),
        "payout_id": ("payoutId", VALUE),
        "chargeback_id": ("chargebackId", VALUE),
        "external_ref": ("externalRef", VALUE),
        "description": ("description", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "conversion_id": ("conversionId", VALUE),
        "merchant_id": ("merchantId", VALUE),
        "available_at": ("availableAt", TIME),
    }
    _required = ("id", "type", "currency", "paymentId", "payoutId", "chargebackId", "externalRef", "description", "livemode", "createdAt",)


@dataclass(frozen=True, kw_only=True)
class Statement(Model):
    """Statement."""

    currency: Literal["VES", "COP", "USDT"]
    timezone: Literal["America/Caracas", "America/Bogota"]
    days: list[StatementDay]

    _wire = {
        "currency": ("currency", VALUE),
        "timezone": ("timezone", VALUE),
        "days": ("days", ListCodec(ModelCodec("StatementDay"))),
    }
    _required = ("currency", "timezone", "days",)


@dataclass(frozen=True, kw_only=True)
class StatementDay(Model):
    """Statement day."""

    date: date
    opening: Decimal
    """The balance when the day began."""
    payments: Decimal
    """Sales. Signed like all columns; negative is money out."""
    fees: Decimal
    """Fees of sales, less those that came back."""
    platform_fees: Decimal
    """The operator's shares of sales through links."""
    seller_transfers: Decimal
    """Sellers' shares of sales, less those that came back."""
    reversals: Decimal
    """Sales that were given back."""
    chargebacks: Decimal
    """Card sales that banks took back, fees of that, and what won disputes returned."""
    payouts: Decimal
    """Money sent out, and its fees."""
    payout_reversals: Decimal
    """Payouts that failed, with their fees."""
    conversions: Decimal
    """Money that became USDT, less what was canceled."""
    deposits: Decimal
    """USDT received."""
    adjustments: Decimal
    """The operator's corrections, and test money."""
    closing: Decimal
    """`opening` and all columns: the next day's `opening`."""
    movements: int

    _wire = {
        "date": ("date", DATE),
        "opening": ("opening", DECIMAL),
        "payments": ("payments", DECIMAL),
        "fees": ("fees", DECIMAL),
        "platform_fees": ("platformFees", DECIMAL),
        "seller_transfers": ("sellerTransfers", DECIMAL),
        "reversals": ("reversals", DECIMAL),
        "chargebacks": ("chargebacks", DECIMAL),
        "payouts": ("payouts", DECIMAL),
        "payout_reversals": ("payoutReversals", DECIMAL),
        "conversions": ("conversions", DECIMAL),
        "deposits": ("deposits", DECIMAL),
        "adjustments": ("adjustments", DECIMAL),
        "closing": ("closing", DECIMAL),
        "movements": ("movements", VALUE),
    }
    _required = ("date", "opening", "payments", "fees", "platformFees", "sellerTransfers", "reversals", "chargebacks", "payouts", "payoutReversals", "conversions", "deposits", "adjustments", "closing", "movements",)


@dataclass(frozen=True, kw_only=True)
class Merchant(Model):
    """Merchant."""

    merchant_id: str
    object: Literal["merchant"]
    external_ref: str
    name: str | None
    identification: str | None
    contact_email: str | None
    contact_phone: str | None
    status: Literal["shell", "unverified", "verified", "rejected"]
    """`shell`: no method; `verified`: at least one verified; `rejected`: the bank rejected the last one."""
    is_active: bool
    payout_methods: list[PayoutMethod]
    message: str | None
    """Says so when no payout method exists."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    updated_at: datetime

    _wire = {
        "merchant_id": ("merchantId", VALUE),
        "object": ("object", VALUE),
        "external_ref": ("externalRef", VALUE),
        "name": ("name", VALUE),
        "identification": ("identification", VALUE),
        "contact_email": ("contactEmail", VALUE),
        "contact_phone": ("contactPhone", VALUE),
        "status": ("status", VALUE),
        "is_active": ("isActive", VALUE),
        "payout_methods": ("payoutMethods", ListCodec(ModelCodec("PayoutMethod"))),
        "message": ("message", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "updated_at": ("updatedAt", TIME),
    }
    _required = ("merchantId", "object", "externalRef", "name", "identification", "contactEmail", "contactPhone", "status", "isActive", "payoutMethods", "message", "livemode", "createdAt", "updatedAt",)


@dataclass(frozen=True, kw_only=True)
class DeletedMerchant(Model):
    """Deleted merchant."""

    deleted: bool
    merchant_id: str
    external_ref: str

    _wire = {
        "deleted": ("deleted", VALUE),
        "merchant_id": ("merchantId", VALUE),
        "external_ref": ("externalRef", VALUE),
    }
    _required = ("deleted", "merchantId", "externalRef",)


@dataclass(frozen=True, kw_only=True)
class PayoutMethod(Model):
    """Payout method."""

    payout_method_id: str
    identifier: str
    """Equal to `payoutMethodId`."""
    bank_code: str
    """Four digits; see `GET /v1/banks`."""
    phone: str
    status: Literal["unverified", "verifying", "verified"]
    is_default: bool
    created_at: datetime
    verified_at: datetime | None

    _wire = {
        "payout_method_id": ("payoutMethodId", VALUE),
        "identifier": ("identifier", VALUE),
        "bank_code": ("bankCode", VALUE),
        "phone": ("phone", VALUE),
        "status": ("status", VALUE),
        "is_default": ("isDefault", VALUE),
        "created_at": ("createdAt", TIME),
        "verified_at": ("verifiedAt", TIME),
    }
    _required = ("payoutMethodId", "identifier", "bankCode", "phone", "status", "isDefault", "createdAt", "verifiedAt",)


@dataclass(frozen=True, kw_only=True)
class PayoutMethodList(Model):
    """Payout method list."""

    items: list[PayoutMethod]

    _wire = {
        "items": ("items", ListCodec(ModelCodec("PayoutMethod"))),
    }
    _required = ("items",)


@dataclass(frozen=True, kw_only=True)
class MerchantBalance(Model):
    """Merchant balance."""

    merchant_id: str
    external_ref: str
    pending_ves: Decimal
    available_ves: Decimal
    next_release_at: datetime | None
    livemode: bool
    """Whether real money moves: false under a test key."""
    pending_cop: Decimal | None = None
    """If there ever were pesos."""
    available_cop: Decimal | None = None
    pending_usdt: Decimal | None = None
    """If there ever were USDT."""
    available_usdt: Decimal | None = None

    _wire = {
        "merchant_id": ("merchantId", VALUE),
        "external_ref": ("externalRef", VALUE),
        "pending_ves": ("pendingVes", DecimalCodec(2)),
        "available_ves": ("availableVes", DecimalCodec(2)),
        "pending_cop": ("pendingCop", DECIMAL),
        "available_cop": ("availableCop", DECIMAL),
        "pending_usdt": ("pendingUsdt", DecimalCodec(2)),
        "available_usdt": ("availableUsdt", DecimalCodec(2)),
        "next_release_at": ("nextReleaseAt", TIME),
        "livemode": ("livemode", VALUE),
    }
    _required = ("merchantId", "externalRef", "pendingVes", "availableVes", "nextReleaseAt", "livemode",)


@dataclass(frozen=True, kw_only=True)
class MerchantPayoutItem(Model):
    """Merchant payout item."""

    merchant_id: str
    monto: Amount
    """Exactly two decimals, from 0.01 to 999999999999.99."""
    concepto: str
    """What the receiver reads."""
    external_ref: str
    """Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what is there; with another payload it is 409 `external_ref_conflict`."""
    payout_method_id: str | None = None
    """The default method if missing."""

    _wire = {
        "merchant_id": ("merchantId", VALUE),
        "payout_method_id": ("payoutMethodId", VALUE),
        "monto": ("monto", DecimalCodec(2)),
        "concepto": ("concepto", VALUE),
        "external_ref": ("externalRef", VALUE),
    }
    _required = ("merchantId", "monto", "concepto", "externalRef",)


@dataclass(frozen=True, kw_only=True)
class PhoneCredit(Model):
    """Phone credit."""

    banco: str
    """Four digits; see `GET /v1/banks`."""
    telefono: str
    """A Venezuelan mobile phone, with 0, 58 or +58 in front."""
    cedula: str
    """V, E, J, P or G and 5 to 9 digits, with or without a dash."""
    monto: Amount
    """Exactly two decimals, from 0.01 to 999999999999.99."""
    concepto: str
    """What the receiver reads."""
    external_ref: str
    """Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what is there; with another payload it is 409 `external_ref_conflict`."""

    _wire = {
        "banco": ("banco", VALUE),
        "telefono": ("telefono", VALUE),
        "cedula": ("cedula", VALUE),
        "monto": ("monto", DecimalCodec(2)),
        "concepto": ("concepto", VALUE),
        "external_ref": ("externalRef", VALUE),
    }
    _required = ("banco", "telefono", "cedula", "monto", "concepto", "externalRef",)


@dataclass(frozen=True, kw_only=True)
class AccountCredit(Model):
    """Account credit."""

    cuenta: str
    """20 digits with both check digits right."""
    cedula: str
    """V, E, J, P or G and 5 to 9 digits, with or without a dash."""
    nombre: str
    monto: Amount
    """Exactly two decimals, from 0.01 to 999999999999.99."""
    concepto: str
    """What the receiver reads."""
    external_ref: str
    """Your own reference, 1 to 64 characters after trimming. The same reference with the same payload answers what is there; with another payload it is 409 `external_ref_conflict`."""

    _wire = {
        "cuenta": ("cuenta", VALUE),
        "cedula": ("cedula", VALUE),
        "nombre": ("nombre", VALUE),
        "monto": ("monto", DecimalCodec(2)),
        "concepto": ("concepto", VALUE),
        "external_ref": ("externalRef", VALUE),
    }
    _required = ("cuenta", "cedula", "nombre", "monto", "concepto", "externalRef",)


@dataclass(frozen=True, kw_only=True)
class Payout(Model):
    """Payout."""

    payout_id: str
    object: Literal["payout"]
    kind: Literal["merchant", "instant", "credit", "account", "change"]
    status: Literal["pending", "completed", "failed"]
    reference: str | None
    """The bank's reference; null while pending."""
    failure_code: str | None
    """The bank's code, when it failed."""
    external_ref: str
    batch_id: str | None
    merchant_id: str | None
    payout_method_id: str | None
    merchant_name: str | None
    payment_id: str | None
    """Of change: the payment."""
    monto: Decimal
    fee_ves: Decimal
    concepto: str
    bank_code: str
    """Four digits; see `GET /v1/banks`."""
    destination: str
    """Masked: an ellipsis and the last four digits."""
    from_merchant_balance: bool
    operation_id: str | None
    """While the bank is being asked; see `GET /v1/payments/operations/{id}`."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    settled_at: datetime | None

    _wire = {
        "payout_id": ("payoutId", VALUE),
        "object": ("object", VALUE),
        "kind": ("kind", VALUE),
        "status": ("status", VALUE),
        "reference": ("reference", VALUE),
        "failure_code": ("failureCode", VALUE),
        "external_ref": ("externalRef", VALUE),
        "batch_id": ("batchId", VALUE),
        "merchant_id": ("merchantId", VALUE),
        "payout_method_id": ("payoutMethodId", VALUE),
        "merchant_name": ("merchantName", VALUE),
        "payment_id": ("paymentId", VALUE),
        "monto": ("monto", DecimalCodec(2)),
        "fee_ves": ("feeVes", DecimalCodec(2)),
        "concepto": ("concepto", VALUE),
        "bank_code": ("bankCode", VALUE),
        "destination": ("destination", VALUE),
        "from_merchant_balance": ("fromMerchantBalance", VALUE),
        "operation_id": ("operationId", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "settled_at": ("settledAt", TIME),
    }
    _required = ("payoutId", "object", "kind", "status", "reference", "failureCode", "externalRef", "batchId", "merchantId", "payoutMethodId", "merchantName", "paymentId", "monto", "feeVes", "concepto", "bankCode", "destination", "fromMerchantBalance", "operationId", "livemode", "createdAt", "settledAt",)


@dataclass(frozen=True, kw_only=True)
class RefusedItem(Model):
    """Refused item."""

    payout_id: str | None
    """Null: it is no payout."""
    status: Literal["failed"]
    reference: str | None
    failure_code: str
    """The code with which a single payout would have been refused. Its reference stays free."""
    external_ref: str | None
    merchant_id: str | None
    payout_method_id: str | None
    merchant_name: str | None
    monto: Decimal | None
    concepto: str | None
    bank_code: str | None
    """Four digits; see `GET /v1/banks`."""
    destination: str | None
    operation_id: str | None
    created_at: datetime | None
    settled_at: datetime | None
    error: str

    _wire = {
        "payout_id": ("payoutId", VALUE),
        "status": ("status", VALUE),
        "reference": ("reference", VALUE),
        "failure_code": ("failureCode", VALUE),
        "external_ref": ("externalRef", VALUE),
        "merchant_id": ("merchantId", VALUE),
        "payout_method_id": ("payoutMethodId", VALUE),
        "merchant_name": ("merchantName", VALUE),
        "monto": ("monto", DecimalCodec(2)),
        "concepto": ("concepto", VALUE),
        "bank_code": ("bankCode", VALUE),
        "destination": ("destination", VALUE),
        "operation_id": ("operationId", VALUE),
        "created_at": ("createdAt", TIME),
        "settled_at": ("settledAt", TIME),
        "error": ("error", VALUE),
    }
    _required = ("payoutId", "status", "reference", "failureCode", "externalRef", "merchantId", "payoutMethodId", "merchantName", "monto", "concepto", "bankCode", "destination", "operationId", "createdAt", "settledAt", "error",)


@dataclass(frozen=True, kw_only=True)
class PayoutBatch(Model):
    """Payout batch."""

    batch_id: str
    external_ref: str
    items: list[Payout | RefusedItem]
    livemode: bool
    """Whether real money moves: false under a test key."""

    _wire = {
        "batch_id": ("batchId", VALUE),
        "external_ref": ("externalRef", VALUE),
        "items": ("items", ListCodec(ModelCodec("Payout", "RefusedItem"))),
        "livemode": ("livemode", VALUE),
    }
    _required = ("batchId", "externalRef", "items", "livemode",)


@dataclass(frozen=True, kw_only=True)
class PayoutAccount(Model):
    """Payout account."""

    object: Literal["payout_account"]
    bank_code: str
    """Four digits; see `GET /v1/banks`."""
    phone: str
    identification: str
    status: Literal["unverified", "verifying", "verified"]
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    updated_at: datetime
    verified_at: datetime | None

    _wire = {
        "object": ("object", VALUE),
        "bank_code": ("bankCode", VALUE),
        "phone": ("phone", VALUE),
        "identification": ("identification", VALUE),
        "status": ("status", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "updated_at": ("updatedAt", TIME),
        "verified_at": ("verifiedAt", TIME),
    }
    _required = ("object", "bankCode", "phone", "identification", "status", "livemode", "createdAt", "updatedAt", "verifiedAt",)


@dataclass(frozen=True, kw_only=True)
class Chargeback(Model):
    """Chargeback."""

    chargeback_id: str
    object: Literal["chargeback"]
    payment_id: str
    external_ref: str
    status: Literal["open", "won", "lost"]
    outcome: Literal["won", "lost"] | None
    """Null until it is closed."""
    amount_ves: Decimal
    fee_ves: Decimal
    reason: Literal["fraud", "not_recognized", "not_received", "duplicate", "other"]
    bank_debited_at: datetime
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    closed_at: datetime | None

    _wire = {
        "chargeback_id": ("chargebackId", VALUE),
        "object": ("object", VALUE),
        "payment_id": ("paymentId", VALUE),
        "external_ref": ("externalRef", VALUE),
        "status": ("status", VALUE),
        "outcome": ("outcome", VALUE),
        "amount_ves": ("amountVes", DecimalCodec(2)),
        "fee_ves": ("feeVes", DecimalCodec(2)),
        "reason": ("reason", VALUE),
        "bank_debited_at": ("bankDebitedAt", TIME),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "closed_at": ("closedAt", TIME),
    }
    _required = ("chargebackId", "object", "paymentId", "externalRef", "status", "outcome", "amountVes", "feeVes", "reason", "bankDebitedAt", "livemode", "createdAt", "closedAt",)


@dataclass(frozen=True, kw_only=True)
class ConversionQuote(Model):
    """Conversion quote."""

    id: str
    object: Literal["conversion_quote"]
    rate: Decimal
    """What one USDT costs you, the spread included."""
    market_rate: Decimal
    spread_percent: Decimal
    rate_source: Literal["market"]
    source_currency: Literal["VES", "COP"]
    source_amount: Decimal
    """In the decimals of its currency."""
    source_amount_ves: Decimal | None
    """Null of pesos."""
    target_amount_usdt: Decimal
    livemode: bool
    """Whether real money moves: false under a test key."""
    expires_at: datetime
    created_at: datetime

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "rate": ("rate", DecimalCodec(4)),
        "market_rate": ("marketRate", DecimalCodec(4)),
        "spread_percent": ("spreadPercent", DecimalCodec(4)),
        "rate_source": ("rateSource", VALUE),
        "source_currency": ("sourceCurrency", VALUE),
        "source_amount": ("sourceAmount", DECIMAL),
        "source_amount_ves": ("sourceAmountVes", DecimalCodec(2)),
        "target_amount_usdt": ("targetAmountUsdt", DecimalCodec(2)),
        "livemode": ("livemode", VALUE),
        "expires_at": ("expiresAt", TIME),
        "created_at": ("createdAt", TIME),
    }
    _required = ("id", "object", "rate", "marketRate", "spreadPercent", "rateSource", "sourceCurrency", "sourceAmount", "sourceAmountVes", "targetAmountUsdt", "livemode", "expiresAt", "createdAt",)


@dataclass(frozen=True, kw_only=True)
class Conversion(Model):
    """Conversion."""

    id: str
    object: Literal["conversion"]
    status: Literal["PENDING", "COMPLETED", "CANCELED"]
    reference: str | None
    rate: Decimal
    """What one USDT costs you, the spread included."""
    market_rate: Decimal
    spread_percent: Decimal
    rate_source: Literal["market"]
    source_currency: Literal["VES", "COP"]
    source_amount: Decimal
    """In the decimals of its currency."""
    source_amount_ves: Decimal | None
    """Null of pesos."""
    target_amount_usdt: Decimal
    origin: Literal["auto"] | None
    """`auto` when a COP payment was converted by itself."""
    payment_id: str | None
    """That payment."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    completed_at: datetime | None
    canceled_at: datetime | None
    cancel_reason: str | None
    """`canceled_by_tenant`, or why it could not be fulfilled."""

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "status": ("status", VALUE),
        "reference": ("reference", VALUE),
        "rate": ("rate", DecimalCodec(4)),
        "market_rate": ("marketRate", DecimalCodec(4)),
        "spread_percent": ("spreadPercent", DecimalCodec(4)),
        "rate_source": ("rateSource", VALUE),
        "source_currency": ("sourceCurrency", VALUE),
        "source_amount": ("sourceAmount", DECIMAL),
        "source_amount_ves": ("sourceAmountVes", DecimalCodec(2)),
        "target_amount_usdt": ("targetAmountUsdt", DecimalCodec(2)),
        "origin": ("origin", VALUE),
        "payment_id": ("paymentId", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "completed_at": ("completedAt", TIME),
        "canceled_at": ("canceledAt", TIME),
        "cancel_reason": ("cancelReason", VALUE),
    }
    _required = ("id", "object", "status", "reference", "rate", "marketRate", "spreadPercent", "rateSource", "sourceCurrency", "sourceAmount", "sourceAmountVes", "targetAmountUsdt", "origin", "paymentId", "livemode", "createdAt", "completedAt", "canceledAt", "cancelReason",)


@dataclass(frozen=True, kw_only=True)
class ConversionSettings(Model):
    """Conversion settings."""

    auto_convert: ConversionSettingsAutoConvert
    enabled_currencies: list[Literal["VES", "COP"]]
    spread_percent: ConversionSettingsSpreadPercent
    minimum_usdt: Decimal
    daily_limit: ConversionSettingsDailyLimit

    _wire = {
        "auto_convert": ("autoConvert", ModelCodec("ConversionSettingsAutoConvert")),
        "enabled_currencies": ("enabledCurrencies", VALUE),
        "spread_percent": ("spreadPercent", ModelCodec("ConversionSettingsSpreadPercent")),
        "minimum_usdt": ("minimumUsdt", DecimalCodec(2)),
        "daily_limit": ("dailyLimit", ModelCodec("ConversionSettingsDailyLimit")),
    }
    _required = ("autoConvert", "enabledCurrencies", "spreadPercent", "minimumUsdt", "dailyLimit",)


@dataclass(frozen=True, kw_only=True)
class ConversionSettingsAutoConvert(Model):
    """Conversion settings auto convert."""

    cop: ConversionSettingsAutoConvertCOP

    _wire = {
        "cop": ("COP", ModelCodec("ConversionSettingsAutoConvertCOP")),
    }
    _required = ("COP",)


@dataclass(frozen=True, kw_only=True)
class ConversionSettingsAutoConvertCOP(Model):
    """Conversion settings auto convert cop."""

    percent: int

    _wire = {
        "percent": ("percent", VALUE),
    }
    _required = ("percent",)


@dataclass(frozen=True, kw_only=True)
class ConversionSettingsSpreadPercent(Model):
    """Conversion settings spread percent."""

    ves: Decimal
    cop: Decimal

    _wire = {
        "ves": ("VES", DecimalCodec(4)),
        "cop": ("COP", DecimalCodec(4)),
    }
    _required = ("VES", "COP",)


@dataclass(frozen=True, kw_only=True)
class ConversionSettingsDailyLimit(Model):
    """Conversion settings daily limit."""

    ves: Decimal | None
    cop: Decimal | None

    _wire = {
        "ves": ("VES", DecimalCodec(2)),
        "cop": ("COP", DECIMAL),
    }
    _required = ("VES", "COP",)


@dataclass(frozen=True, kw_only=True)
class ConversionSettingsChangeAutoConvert(Model):
    """Conversion settings change auto convert."""

    cop: ConversionSettingsChangeAutoConvertCOP

    _wire = {
        "cop": ("COP", ModelCodec("ConversionSettingsChangeAutoConvertCOP")),
    }
    _required = ("COP",)


@dataclass(frozen=True, kw_only=True)
class ConversionSettingsChangeAutoConvertCOP(Model):
    """Conversion settings change auto convert cop."""

    percent: int

    _wire = {
        "percent": ("percent", VALUE),
    }
    _required = ("percent",)


@dataclass(frozen=True, kw_only=True)
class CryptoBalance(Model):
    """Crypto balance."""

    available_usdt: Decimal
    held_usdt: Decimal
    held: Decimal
    """Equal to `heldUsdt`."""
    pending_payouts_usdt: Decimal
    next_release_at: datetime | None
    livemode: bool
    """Whether real money moves: false under a test key."""

    _wire = {
        "available_usdt": ("availableUsdt", DecimalCodec(2)),
        "held_usdt": ("heldUsdt", DecimalCodec(2)),
        "held": ("held", DecimalCodec(2)),
        "pending_payouts_usdt": ("pendingPayoutsUsdt", DecimalCodec(2)),
        "next_release_at": ("nextReleaseAt", TIME),
        "livemode": ("livemode", VALUE),
    }
    _required = ("availableUsdt", "heldUsdt", "held", "pendingPayoutsUsdt", "nextReleaseAt", "livemode",)


@dataclass(frozen=True, kw_only=True)
class CryptoNetwork(Model):
    """Crypto network."""

    network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"]
    network_fee_usdt: Decimal
    """What a payout costs on top."""
    confirmations: int | None
    """Blocks after which a transfer counts; null where no node is configured."""
    min_deposit_usdt: Decimal | None
    """Null: no minimum."""
    min_payout_usdt: Decimal | None
    """Null: no minimum."""

    _wire = {
        "network": ("network", VALUE),
        "network_fee_usdt": ("networkFeeUsdt", DecimalCodec(2)),
        "confirmations": ("confirmations", VALUE),
        "min_deposit_usdt": ("minDepositUsdt", DecimalCodec(2)),
        "min_payout_usdt": ("minPayoutUsdt", DecimalCodec(2)),
    }
    _required = ("network", "networkFeeUsdt", "confirmations", "minDepositUsdt", "minPayoutUsdt",)


@dataclass(frozen=True, kw_only=True)
class CryptoNetworkList(Model):
    """Crypto network list."""

    items: list[CryptoNetwork]

    _wire = {
        "items": ("items", ListCodec(ModelCodec("CryptoNetwork"))),
    }
    _required = ("items",)


@dataclass(frozen=True, kw_only=True)
class CryptoPayout(Model):
    """Crypto payout."""

    id: str
    object: Literal["crypto_payout"]
    status: Literal["pending_review", "processing", "completed", "failed", "rejected"]
    amount_usdt: Decimal
    network_fee_usdt: Decimal
    total_usdt: Decimal
    address: str
    network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"]
    tx_hash: str | None
    external_ref: str
    failure_code: str | None
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    completed_at: datetime | None

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "status": ("status", VALUE),
        "amount_usdt": ("amountUsdt", DecimalCodec(2)),
        "network_fee_usdt": ("networkFeeUsdt", DecimalCodec(2)),
        "total_usdt": ("totalUsdt", DecimalCodec(2)),
        "address": ("address", VALUE),
        "network": ("network", VALUE),
        "tx_hash": ("txHash", VALUE),
        "external_ref": ("externalRef", VALUE),
        "failure_code": ("failureCode", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "completed_at": ("completedAt", TIME),
    }
    _required = ("id", "object", "status", "amountUsdt", "networkFeeUsdt", "totalUsdt", "address", "network", "txHash", "externalRef", "failureCode", "livemode", "createdAt", "completedAt",)


@dataclass(frozen=True, kw_only=True)
class DepositAddress(Model):
    """Deposit address."""

    id: str
    object: Literal["deposit_address"]
    address: str
    network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"]
    asset: Literal["USDT", "USDC"]
    customer_ref: str
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "address": ("address", VALUE),
        "network": ("network", VALUE),
        "asset": ("asset", VALUE),
        "customer_ref": ("customerRef", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
    }
    _required = ("id", "object", "address", "network", "asset", "customerRef", "livemode", "createdAt",)


@dataclass(frozen=True, kw_only=True)
class CryptoDeposit(Model):
    """Crypto deposit."""

    id: str
    object: Literal["crypto_deposit"]
    status: Literal["completed"]
    amount_usdt: Decimal
    address: str
    deposit_address_id: str
    network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"]
    asset: Literal["USDT", "USDC"]
    customer_ref: str
    tx_hash: str
    available_at: datetime
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "status": ("status", VALUE),
        "amount_usdt": ("amountUsdt", DecimalCodec(2)),
        "address": ("address", VALUE),
        "deposit_address_id": ("depositAddressId", VALUE),
        "network": ("network", VALUE),
        "asset": ("asset", VALUE),
        "customer_ref": ("customerRef", VALUE),
        "tx_hash": ("txHash", VALUE),
        "available_at": ("availableAt", TIME),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
    }
    _required = ("id", "object", "status", "amountUsdt", "address", "depositAddressId", "network", "asset", "customerRef", "txHash", "availableAt", "livemode", "createdAt",)


@dataclass(frozen=True, kw_only=True)
class CopBuyer(Model):
    """Cop buyer."""

    email: str | None = None
    phone: str | None = None
    """A Colombian mobile phone, with +57 in front or not."""
    document_type: Literal["CC", "CE", "TI", "NIT", "PP"] | None = None
    document_number: str | None = None

    _wire = {
        "email": ("email", VALUE),
        "phone": ("phone", VALUE),
        "document_type": ("documentType", VALUE),
        "document_number": ("documentNumber", VALUE),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class CopPayment(Model):
    """Cop payment."""

    id: str
    object: Literal["cop_payment"]
    attempt: int
    """Always 1."""
    status: Literal["pending", "completed", "failed", "canceled", "refunded"]
    method: Literal["COP"]
    channel: Literal["qr", "push", "sms"]
    amount_cop: int
    fee_cop: int | None
    """4.5 % and 1,500 pesos, never more than the amount; null until completed."""
    net_cop: int | None
    reference: str | None
    metadata: Mapping[str, Any] | None
    failure_code: str | None
    """`expired`, `rejected`, `otp_attempts_exhausted` or `processor_error`; after an operator's word, the operator's code."""
    next: CopPaymentNext | None
    """What the buyer does next, while there is something."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    expires_at: datetime
    completed_at: datetime | None
    available_at: datetime | None
    refunded_at: datetime | None
    operation_id: str | None = None
    """In live mode alone: what the processor or an operator is to decide, while that is open."""
    checkout_session: CopPaymentCheckoutSession | None = None
    """The session through which it was paid."""
    amount_usd: Decimal | None = None
    cop_rate: Decimal | None = None
    """What the buyer pays for a dollar."""
    cop_market_rate: Decimal | None = None
    """What the market asked for one."""

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "attempt": ("attempt", VALUE),
        "status": ("status", VALUE),
        "method": ("method", VALUE),
        "channel": ("channel", VALUE),
        "amount_cop": ("amountCop", VALUE),
        "fee_cop": ("feeCop", VALUE),
        "net_cop": ("netCop", VALUE),
        "reference": ("reference", VALUE),
        "metadata": ("metadata", VALUE),
        "failure_code": ("failureCode", VALUE),
        "next": ("next", ModelCodec("CopPaymentNext")),
        "operation_id": ("operationId", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "completed_at": ("completedAt", TIME),
        "available_at": ("availableAt", TIME),
        "refunded_at": ("refundedAt", TIME),
        "checkout_session": ("checkoutSession", ModelCodec("CopPaymentCheckoutSession")),
        "amount_usd": ("amountUsd", DecimalCodec(2)),
        "cop_rate": ("copRate", DecimalCodec(4)),
        "cop_market_rate": ("copMarketRate", DecimalCodec(4)),
    }
    _required = ("id", "object", "attempt", "status", "method", "channel", "amountCop", "feeCop", "netCop", "reference", "metadata", "failureCode", "next", "livemode", "createdAt", "expiresAt", "completedAt", "availableAt", "refundedAt",)


@dataclass(frozen=True, kw_only=True)
class CopPaymentNext(Model):
    """What the buyer does next, while there is something."""

    type: Literal["show_qr", "approve_in_app", "submit_otp"]
    qr_png_base64: str | None = None
    """A PNG of the QR code, in base64; in test mode in the answer that creates the payment alone."""
    transfer_key: str | None = None
    """The key to paste in a bank's app; as the QR code. Null in live mode, whose QR code has none."""
    phone_masked: str | None = None

    _wire = {
        "type": ("type", VALUE),
        "qr_png_base64": ("qrPngBase64", VALUE),
        "transfer_key": ("transferKey", VALUE),
        "phone_masked": ("phoneMasked", VALUE),
    }
    _required = ("type",)


@dataclass(frozen=True, kw_only=True)
class CopPaymentCheckoutSession(Model):
    """The session through which it was paid."""

    id: str
    reference: str | None
    metadata: Mapping[str, Any]

    _wire = {
        "id": ("id", VALUE),
        "reference": ("reference", VALUE),
        "metadata": ("metadata", VALUE),
    }
    _required = ("id", "reference", "metadata",)


@dataclass(frozen=True, kw_only=True)
class CopBalance(Model):
    """Cop balance."""

    ledger_net_cop: Decimal
    held_cop: Decimal
    next_release_at: datetime | None
    available_cop: Decimal
    balance_hold_hours: int
    livemode: bool
    """Whether real money moves: false under a test key."""

    _wire = {
        "ledger_net_cop": ("ledgerNetCop", DECIMAL),
        "held_cop": ("heldCop", DECIMAL),
        "next_release_at": ("nextReleaseAt", TIME),
        "available_cop": ("availableCop", DECIMAL),
        "balance_hold_hours": ("balanceHoldHours", VALUE),
        "livemode": ("livemode", VALUE),
    }
    _required = ("ledgerNetCop", "heldCop", "nextReleaseAt", "availableCop", "balanceHoldHours", "livemode",)


@dataclass(frozen=True, kw_only=True)
class CopPayout(Model):
    """Cop payout."""

    id: str
    payout_id: str
    """Equal to `id`."""
    object: Literal["cop_payout"]
    status: Literal["pending", "completed", "failed"]
    reference: str | None
    failure_code: str | None
    external_ref: str
    amount_cop: Decimal
    currency: Literal["COP"]
    bank: str
    account_number: str
    """Masked."""
    account_type: Literal["savings", "checking", "wallet"]
    holder_name: str
    document_type: Literal["CC", "CE", "TI", "NIT", "PP"]
    document_number: str
    """Masked."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    settled_at: datetime | None

    _wire = {
        "id": ("id", VALUE),
        "payout_id": ("payoutId", VALUE),
        "object": ("object", VALUE),
        "status": ("status", VALUE),
        "reference": ("reference", VALUE),
        "failure_code": ("failureCode", VALUE),
        "external_ref": ("externalRef", VALUE),
        "amount_cop": ("amountCop", DECIMAL),
        "currency": ("currency", VALUE),
        "bank": ("bank", VALUE),
        "account_number": ("accountNumber", VALUE),
        "account_type": ("accountType", VALUE),
        "holder_name": ("holderName", VALUE),
        "document_type": ("documentType", VALUE),
        "document_number": ("documentNumber", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "settled_at": ("settledAt", TIME),
    }
    _required = ("id", "payoutId", "object", "status", "reference", "failureCode", "externalRef", "amountCop", "currency", "bank", "accountNumber", "accountType", "holderName", "documentType", "documentNumber", "livemode", "createdAt", "settledAt",)


@dataclass(frozen=True, kw_only=True)
class Product(Model):
    """Product."""

    id: str
    object: Literal["product"]
    name: str
    price_usd: Decimal
    description: str | None
    image_url: str | None
    active: bool
    links: list[PaymentLink]
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    updated_at: datetime

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "name": ("name", VALUE),
        "price_usd": ("priceUsd", DecimalCodec(2)),
        "description": ("description", VALUE),
        "image_url": ("imageUrl", VALUE),
        "active": ("active", VALUE),
        "links": ("links", ListCodec(ModelCodec("PaymentLink"))),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "updated_at": ("updatedAt", TIME),
    }
    _required = ("id", "object", "name", "priceUsd", "description", "imageUrl", "active", "links", "livemode", "createdAt", "updatedAt",)


@dataclass(frozen=True, kw_only=True)
class PaymentLink(Model):
    """Payment link."""

    id: str
    object: Literal["payment_link"]
    product_id: str
    slug: str
    hosted_checkout_path: str
    status: Literal["active", "disabled"]
    allow_quantity: bool
    max_quantity: int
    redirect_url: str | None
    merchant_id: str | None
    application_fee_percent: Decimal | None
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "product_id": ("productId", VALUE),
        "slug": ("slug", VALUE),
        "hosted_checkout_path": ("hostedCheckoutPath", VALUE),
        "status": ("status", VALUE),
        "allow_quantity": ("allowQuantity", VALUE),
        "max_quantity": ("maxQuantity", VALUE),
        "redirect_url": ("redirectUrl", VALUE),
        "merchant_id": ("merchantId", VALUE),
        "application_fee_percent": ("applicationFeePercent", NUMBER),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
    }
    _required = ("id", "object", "productId", "slug", "hostedCheckoutPath", "status", "allowQuantity", "maxQuantity", "redirectUrl", "merchantId", "applicationFeePercent", "livemode", "createdAt",)


@dataclass(frozen=True, kw_only=True)
class PaymentLinkList(Model):
    """Payment link list."""

    items: list[PaymentLink]

    _wire = {
        "items": ("items", ListCodec(ModelCodec("PaymentLink"))),
    }
    _required = ("items",)


@dataclass(frozen=True, kw_only=True)
class CheckoutSession(Model):
    """Checkout session."""

    id: str
    object: Literal["checkout.session"]
    status: Literal["open", "paid", "expired"]
    url: str
    amount_usd: Decimal
    description: str | None
    reference: str | None
    success_url: str | None
    cancel_url: str | None
    methods: list[Literal["c2p", "usdt", "cop", "card", "pago_movil"]]
    metadata: Mapping[str, Any]
    payment_link_id: str | None
    quantity: int | None
    payment_id: str | None
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    expires_at: datetime
    client_secret: str = field(repr=False)
    """Opens this session for a buyer's page, and nothing else."""

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "status": ("status", VALUE),
        "url": ("url", VALUE),
        "amount_usd": ("amountUsd", DecimalCodec(2)),
        "description": ("description", VALUE),
        "reference": ("reference", VALUE),
        "success_url": ("successUrl", VALUE),
        "cancel_url": ("cancelUrl", VALUE),
        "methods": ("methods", VALUE),
        "metadata": ("metadata", VALUE),
        "payment_link_id": ("paymentLinkId", VALUE),
        "quantity": ("quantity", VALUE),
        "payment_id": ("paymentId", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "client_secret": ("clientSecret", VALUE),
    }
    _required = ("id", "object", "status", "url", "amountUsd", "description", "reference", "successUrl", "cancelUrl", "methods", "metadata", "paymentLinkId", "quantity", "paymentId", "livemode", "createdAt", "expiresAt", "clientSecret",)


@dataclass(frozen=True, kw_only=True)
class ListedCheckoutSession(Model):
    """Listed checkout session."""

    id: str
    object: Literal["checkout.session"]
    status: Literal["open", "paid", "expired"]
    url: str
    amount_usd: Decimal
    description: str | None
    reference: str | None
    success_url: str | None
    cancel_url: str | None
    methods: list[Literal["c2p", "usdt", "cop", "card", "pago_movil"]]
    metadata: Mapping[str, Any]
    payment_link_id: str | None
    quantity: int | None
    payment_id: str | None
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    expires_at: datetime

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "status": ("status", VALUE),
        "url": ("url", VALUE),
        "amount_usd": ("amountUsd", DecimalCodec(2)),
        "description": ("description", VALUE),
        "reference": ("reference", VALUE),
        "success_url": ("successUrl", VALUE),
        "cancel_url": ("cancelUrl", VALUE),
        "methods": ("methods", VALUE),
        "metadata": ("metadata", VALUE),
        "payment_link_id": ("paymentLinkId", VALUE),
        "quantity": ("quantity", VALUE),
        "payment_id": ("paymentId", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
    }
    _required = ("id", "object", "status", "url", "amountUsd", "description", "reference", "successUrl", "cancelUrl", "methods", "metadata", "paymentLinkId", "quantity", "paymentId", "livemode", "createdAt", "expiresAt",)


@dataclass(frozen=True, kw_only=True)
class CheckoutState(Model):
    """Checkout state."""

    status: Literal["open", "processing", "paid", "expired"]
    amount_usd: Decimal
    methods: list[CheckoutStateMethodsItem]
    payment_id: str | None
    received_usdt: Decimal
    """What has come to the session's addresses."""
    amount_ves: Decimal | None
    """The total in bolívares at the rate of now."""
    quote: str | None
    """That total, for the calls that take it: `payCheckoutCard` charges no more, `payCheckoutPagoMovil` looks for it."""
    pago_movil: CheckoutStatePagoMovil | None
    """Where a Pago Móvil is sent to; null where none is offered."""
    newest_attempt: str | None
    """The payment in bolívares or pesos that began last. Who lost the answer to a call sees by it whether the call arrived."""
    attempt_status: Literal["PENDING", "COMPLETED", "FAILED", "CANCELED", "REVERSED"] | None = None
    """With `failureCode`, of an attempt."""
    failure_code: str | None = None

    _wire = {
        "status": ("status", VALUE),
        "amount_usd": ("amountUsd", DecimalCodec(2)),
        "methods": ("methods", ListCodec(ModelCodec("CheckoutStateMethodsItem"))),
        "payment_id": ("paymentId", VALUE),
        "received_usdt": ("receivedUsdt", DecimalCodec(2)),
        "amount_ves": ("amountVes", DecimalCodec(2)),
        "quote": ("quote", VALUE),
        "pago_movil": ("pagoMovil", ModelCodec("CheckoutStatePagoMovil")),
        "newest_attempt": ("newestAttempt", VALUE),
        "attempt_status": ("attemptStatus", VALUE),
        "failure_code": ("failureCode", VALUE),
    }
    _required = ("status", "amountUsd", "methods", "paymentId", "receivedUsdt", "amountVes", "quote", "pagoMovil", "newestAttempt",)


@dataclass(frozen=True, kw_only=True)
class CheckoutStateMethodsItem(Model):
    """Checkout state methods item."""

    method: Literal["c2p", "usdt", "cop", "card", "pago_movil"]
    enabled: bool
    reason: str | None
    amount_cop: int | None
    """The total in pesos that a start now would fix."""

    _wire = {
        "method": ("method", VALUE),
        "enabled": ("enabled", VALUE),
        "reason": ("reason", VALUE),
        "amount_cop": ("amountCop", VALUE),
    }
    _required = ("method", "enabled", "reason", "amountCop",)


@dataclass(frozen=True, kw_only=True)
class CheckoutStatePagoMovil(Model):
    """Where a Pago Móvil is sent to; null where none is offered."""

    bank_code: str
    bank_name: str
    phone: str
    """A Venezuelan mobile phone, with 0, 58 or +58 in front."""
    identification: str
    """V, E, J, P or G and 5 to 9 digits, with or without a dash."""
    amount_ves: Decimal | None
    quote: str
    """Keeps this amount for this session: send it with the reference."""

    _wire = {
        "bank_code": ("bankCode", VALUE),
        "bank_name": ("bankName", VALUE),
        "phone": ("phone", VALUE),
        "identification": ("identification", VALUE),
        "amount_ves": ("amountVes", DecimalCodec(2)),
        "quote": ("quote", VALUE),
    }
    _required = ("bankCode", "bankName", "phone", "identification", "amountVes", "quote",)


@dataclass(frozen=True, kw_only=True)
class MadeCardToken(Model):
    """Made card token."""

    token: str = field(repr=False)
    object: Literal["card_token"]
    card_brand: str
    card_last4: str
    exp_month: int
    exp_year: int
    livemode: bool
    """Whether real money moves: false under a test key."""
    expires_at: datetime

    _wire = {
        "token": ("token", VALUE),
        "object": ("object", VALUE),
        "card_brand": ("cardBrand", VALUE),
        "card_last4": ("cardLast4", VALUE),
        "exp_month": ("expMonth", VALUE),
        "exp_year": ("expYear", VALUE),
        "livemode": ("livemode", VALUE),
        "expires_at": ("expiresAt", TIME),
    }
    _required = ("token", "object", "cardBrand", "cardLast4", "expMonth", "expYear", "livemode", "expiresAt",)


@dataclass(frozen=True, kw_only=True)
class CheckoutAddress(Model):
    """Checkout address."""

    address: str
    amount_usdt: Decimal
    """What is to come."""
    received_usdt: Decimal
    """What has come, to all addresses of the session."""
    network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"]
    asset: Literal["USDT", "USDC"]
    expires_at: datetime

    _wire = {
        "address": ("address", VALUE),
        "amount_usdt": ("amountUsdt", DecimalCodec(2)),
        "received_usdt": ("receivedUsdt", DecimalCodec(2)),
        "network": ("network", VALUE),
        "asset": ("asset", VALUE),
        "expires_at": ("expiresAt", TIME),
    }
    _required = ("address", "amountUsdt", "receivedUsdt", "network", "asset", "expiresAt",)


@dataclass(frozen=True, kw_only=True)
class Event(Model):
    """Event."""

    id: str
    """`Svc-Event-Id` of its deliveries."""
    sequence: int
    event: Literal["payment.completed", "payment.failed", "payment.canceled", "payment.reversed", "payment.chargeback", "payment.chargeback_closed", "payout.completed", "payout.failed", "merchant.verified", "merchant.rejected", "merchant.deactivated", "merchant.reactivated", "merchant.balance.updated", "conversion.created", "conversion.completed", "conversion.canceled", "tenant.live_status_changed", "crypto_payout.completed", "crypto_payout.failed", "crypto_deposit.completed", "test.reset"]
    data: Mapping[str, Any]
    """What the event says; its members are under `webhooks`."""
    timestamp: datetime
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime

    _wire = {
        "id": ("id", VALUE),
        "sequence": ("sequence", VALUE),
        "event": ("event", VALUE),
        "data": ("data", VALUE),
        "timestamp": ("timestamp", TIME),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
    }
    _required = ("id", "sequence", "event", "data", "timestamp", "livemode", "createdAt",)


@dataclass(frozen=True, kw_only=True)
class CopPaymentEvent(Model):
    """Cop payment event."""

    id: str
    object: Literal["cop_payment"]
    attempt: int
    """Always 1."""
    status: Literal["pending", "completed", "failed", "canceled", "refunded"]
    method: Literal["COP"]
    channel: Literal["qr", "push", "sms"]
    amount_cop: int
    fee_cop: int | None
    """4.5 % and 1,500 pesos, never more than the amount; null until completed."""
    net_cop: int | None
    reference: str | None
    metadata: Mapping[str, Any] | None
    failure_code: str | None
    """`expired`, `rejected`, `otp_attempts_exhausted` or `processor_error`; after an operator's word, the operator's code."""
    next: CopPaymentEventNext | None
    """What the buyer does next, while there is something."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    expires_at: datetime
    completed_at: datetime | None
    available_at: datetime | None
    refunded_at: datetime | None
    payment_id: str
    currency: Literal["COP"]
    operation_id: str | None = None
    """In live mode alone: what the processor or an operator is to decide, while that is open."""
    checkout_session: CopPaymentEventCheckoutSession | None = None
    """The session through which it was paid."""
    amount_usd: Decimal | None = None
    cop_rate: Decimal | None = None
    """What the buyer pays for a dollar."""
    cop_market_rate: Decimal | None = None
    """What the market asked for one."""
    reversal_type: Literal["refund"] | None = None
    reversal_ref: str | None = None
    reversed_at: datetime | None = None

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "attempt": ("attempt", VALUE),
        "status": ("status", VALUE),
        "method": ("method", VALUE),
        "channel": ("channel", VALUE),
        "amount_cop": ("amountCop", VALUE),
        "fee_cop": ("feeCop", VALUE),
        "net_cop": ("netCop", VALUE),
        "reference": ("reference", VALUE),
        "metadata": ("metadata", VALUE),
        "failure_code": ("failureCode", VALUE),
        "next": ("next", ModelCodec("CopPaymentEventNext")),
        "operation_id": ("operationId", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "completed_at": ("completedAt", TIME),
        "available_at": ("availableAt", TIME),
        "refunded_at": ("refundedAt", TIME),
        "checkout_session": ("checkoutSession", ModelCodec("CopPaymentEventCheckoutSession")),
        "amount_usd": ("amountUsd", DecimalCodec(2)),
        "cop_rate": ("copRate", DecimalCodec(4)),
        "cop_market_rate": ("copMarketRate", DecimalCodec(4)),
        "payment_id": ("paymentId", VALUE),
        "currency": ("currency", VALUE),
        "reversal_type": ("reversalType", VALUE),
        "reversal_ref": ("reversalRef", VALUE),
        "reversed_at": ("reversedAt", TIME),
    }
    _required = ("id", "object", "attempt", "status", "method", "channel", "amountCop", "feeCop", "netCop", "reference", "metadata", "failureCode", "next", "livemode", "createdAt", "expiresAt", "completedAt", "availableAt", "refundedAt", "paymentId", "currency",)


@dataclass(frozen=True, kw_only=True)
class CopPaymentEventNext(Model):
    """What the buyer does next, while there is something."""

    type: Literal["show_qr", "approve_in_app", "submit_otp"]
    qr_png_base64: str | None = None
    """A PNG of the QR code, in base64; in test mode in the answer that creates the payment alone."""
    transfer_key: str | None = None
    """The key to paste in a bank's app; as the QR code. Null in live mode, whose QR code has none."""
    phone_masked: str | None = None

    _wire = {
        "type": ("type", VALUE),
        "qr_png_base64": ("qrPngBase64", VALUE),
        "transfer_key": ("transferKey", VALUE),
        "phone_masked": ("phoneMasked", VALUE),
    }
    _required = ("type",)


@dataclass(frozen=True, kw_only=True)
class CopPaymentEventCheckoutSession(Model):
    """The session through which it was paid."""

    id: str
    reference: str | None
    metadata: Mapping[str, Any]

    _wire = {
        "id": ("id", VALUE),
        "reference": ("reference", VALUE),
        "metadata": ("metadata", VALUE),
    }
    _required = ("id", "reference", "metadata",)


@dataclass(frozen=True, kw_only=True)
class ChargebackEvent(Model):
    """Chargeback event."""

    chargeback_id: str
    """The same in both events."""
    payment_id: str
    external_ref: str
    attempt: int
    """The number of this payment among those under its `externalRef`, from 1."""
    method: Literal["VPOS"]
    status: Literal["open", "won", "lost"]
    amount_ves: Decimal
    fee_ves: Decimal
    reason: Literal["fraud", "not_recognized", "not_received", "duplicate", "other"]
    bank_debited_at: datetime
    payment_status: Literal["COMPLETED", "REVERSED"]
    ves_amount: Decimal
    usd_amount: Decimal
    ledger_entry_ids: list[str]
    """The movements that it made; none when the dispute is lost."""
    created_at: datetime
    livemode: bool
    """Whether real money moves: false under a test key."""
    outcome: Literal["won", "lost"] | None = None
    closed_at: datetime | None = None

    _wire = {
        "chargeback_id": ("chargebackId", VALUE),
        "payment_id": ("paymentId", VALUE),
        "external_ref": ("externalRef", VALUE),
        "attempt": ("attempt", VALUE),
        "method": ("method", VALUE),
        "status": ("status", VALUE),
        "amount_ves": ("amountVes", DecimalCodec(2)),
        "fee_ves": ("feeVes", DecimalCodec(2)),
        "reason": ("reason", VALUE),
        "bank_debited_at": ("bankDebitedAt", TIME),
        "payment_status": ("paymentStatus", VALUE),
        "ves_amount": ("vesAmount", DecimalCodec(2)),
        "usd_amount": ("usdAmount", DecimalCodec(2)),
        "ledger_entry_ids": ("ledgerEntryIds", VALUE),
        "created_at": ("createdAt", TIME),
        "outcome": ("outcome", VALUE),
        "closed_at": ("closedAt", TIME),
        "livemode": ("livemode", VALUE),
    }
    _required = ("chargebackId", "paymentId", "externalRef", "attempt", "method", "status", "amountVes", "feeVes", "reason", "bankDebitedAt", "paymentStatus", "vesAmount", "usdAmount", "ledgerEntryIds", "createdAt", "livemode",)


@dataclass(frozen=True, kw_only=True)
class MerchantEvent(Model):
    """Merchant event."""

    merchant_id: str
    object: Literal["merchant"]
    external_ref: str
    name: str | None
    identification: str | None
    contact_email: str | None
    contact_phone: str | None
    status: Literal["shell", "unverified", "verified", "rejected"]
    """`shell`: no method; `verified`: at least one verified; `rejected`: the bank rejected the last one."""
    is_active: bool
    payout_methods: list[PayoutMethod]
    message: str | None
    """Says so when no payout method exists."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    updated_at: datetime
    payout_method_id: str | None = None
    """The method that it is about."""

    _wire = {
        "merchant_id": ("merchantId", VALUE),
        "object": ("object", VALUE),
        "external_ref": ("externalRef", VALUE),
        "name": ("name", VALUE),
        "identification": ("identification", VALUE),
        "contact_email": ("contactEmail", VALUE),
        "contact_phone": ("contactPhone", VALUE),
        "status": ("status", VALUE),
        "is_active": ("isActive", VALUE),
        "payout_methods": ("payoutMethods", ListCodec(ModelCodec("PayoutMethod"))),
        "message": ("message", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "updated_at": ("updatedAt", TIME),
        "payout_method_id": ("payoutMethodId", VALUE),
    }
    _required = ("merchantId", "object", "externalRef", "name", "identification", "contactEmail", "contactPhone", "status", "isActive", "payoutMethods", "message", "livemode", "createdAt", "updatedAt",)


@dataclass(frozen=True, kw_only=True)
class Webhook(Model):
    """Webhook."""

    id: str
    object: Literal["webhook"]
    url: str
    events: list[str]
    status: Literal["enabled", "disabled"]
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    retry: Literal["none", "backoff"]
    signature: Literal["hex", "timestamped"]

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "url": ("url", VALUE),
        "events": ("events", VALUE),
        "status": ("status", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "retry": ("retry", VALUE),
        "signature": ("signature", VALUE),
    }
    _required = ("id", "object", "url", "events", "status", "livemode", "createdAt", "retry", "signature",)


@dataclass(frozen=True, kw_only=True)
class NewlySignedWebhook(Model):
    """Newly signed webhook."""

    id: str
    object: Literal["webhook"]
    url: str
    events: list[str]
    status: Literal["enabled", "disabled"]
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    retry: Literal["none", "backoff"]
    signature: Literal["hex", "timestamped"]
    secret: str = field(repr=False)
    """Shown here and never again. Its whole text is the key of `Svc-Signature`."""

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "url": ("url", VALUE),
        "events": ("events", VALUE),
        "status": ("status", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "retry": ("retry", VALUE),
        "signature": ("signature", VALUE),
        "secret": ("secret", VALUE),
    }
    _required = ("id", "object", "url", "events", "status", "livemode", "createdAt", "retry", "signature", "secret",)


@dataclass(frozen=True, kw_only=True)
class WebhookList(Model):
    """Webhook list."""

    items: list[Webhook]

    _wire = {
        "items": ("items", ListCodec(ModelCodec("Webhook"))),
    }
    _required = ("items",)


@dataclass(frozen=True, kw_only=True)
class Delivery(Model):
    """Delivery."""

    id: str
    webhook_id: str
    event_id: str
    event: str
    sequence: int
    attempt: int
    """The number of the try."""
    status: Literal["pending", "delivered", "failed"]
    http_status: int | None
    latency_ms: int | None
    error: str | None
    created_at: datetime
    completed_at: datetime | None

    _wire = {
        "id": ("id", VALUE),
        "webhook_id": ("webhookId", VALUE),
        "event_id": ("eventId", VALUE),
        "event": ("event", VALUE),
        "sequence": ("sequence", VALUE),
        "attempt": ("attempt", VALUE),
        "status": ("status", VALUE),
        "http_status": ("httpStatus", VALUE),
        "latency_ms": ("latencyMs", VALUE),
        "error": ("error", VALUE),
        "created_at": ("createdAt", TIME),
        "completed_at": ("completedAt", TIME),
    }
    _required = ("id", "webhookId", "eventId", "event", "sequence", "attempt", "status", "httpStatus", "latencyMs", "error", "createdAt", "completedAt",)


@dataclass(frozen=True, kw_only=True)
class Deliveries(Model):
    """Deliveries."""

    event_id: str
    deliveries: list[Delivery]

    _wire = {
        "event_id": ("eventId", VALUE),
        "deliveries": ("deliveries", ListCodec(ModelCodec("Delivery"))),
    }
    _required = ("eventId", "deliveries",)


@dataclass(frozen=True, kw_only=True)
class TestDeliveries(Model):
    """Test deliveries."""

    event_id: str
    deliveries: list[TestDeliveriesDeliveriesItem]

    _wire = {
        "event_id": ("eventId", VALUE),
        "deliveries": ("deliveries", ListCodec(ModelCodec("TestDeliveriesDeliveriesItem"))),
    }
    _required = ("eventId", "deliveries",)


@dataclass(frozen=True, kw_only=True)
class TestDeliveriesDeliveriesItem(Model):
    """Test deliveries deliveries item."""

    webhook_id: str
    status: Literal["pending", "delivered", "failed"]
    http_status: int | None
    error: str | None

    _wire = {
        "webhook_id": ("webhookId", VALUE),
        "status": ("status", VALUE),
        "http_status": ("httpStatus", VALUE),
        "error": ("error", VALUE),
    }
    _required = ("webhookId", "status", "httpStatus", "error",)


@dataclass(frozen=True, kw_only=True)
class MadeKey(Model):
    """Made key."""

    key_id: str
    key: str
    mode: Literal["live", "test"]
    prefix: str
    """Its first characters."""
    scopes: list[Literal["read", "collect", "payout", "convert", "manage", "keys"]]
    """What it may do."""
    created_at: datetime
    expires_at: datetime | None
    name: str | None
    """What people call it."""
    mandate: Mandate | None

    _wire = {
        "key_id": ("keyId", VALUE),
        "key": ("key", VALUE),
        "mode": ("mode", VALUE),
        "prefix": ("prefix", VALUE),
        "scopes": ("scopes", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "name": ("name", VALUE),
        "mandate": ("mandate", ModelCodec("Mandate")),
    }
    _required = ("keyId", "key", "mode", "prefix", "scopes", "createdAt", "expiresAt", "name", "mandate",)


@dataclass(frozen=True, kw_only=True)
class Key(Model):
    """Key."""

    key_id: str
    mode: Literal["live", "test"]
    prefix: str
    """Its first characters."""
    scopes: list[Literal["read", "collect", "payout", "convert", "manage", "keys"]]
    """What it may do."""
    created_at: datetime
    expires_at: datetime | None
    name: str | None
    """What people call it."""
    mandate: Mandate | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    replaces: str | None
    """The key whose place it took."""

    _wire = {
        "key_id": ("keyId", VALUE),
        "mode": ("mode", VALUE),
        "prefix": ("prefix", VALUE),
        "scopes": ("scopes", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "name": ("name", VALUE),
        "mandate": ("mandate", ModelCodec("Mandate")),
        "last_used_at": ("lastUsedAt", TIME),
        "revoked_at": ("revokedAt", TIME),
        "replaces": ("replaces", VALUE),
    }
    _required = ("keyId", "mode", "prefix", "scopes", "createdAt", "expiresAt", "name", "mandate", "lastUsedAt", "revokedAt", "replaces",)


@dataclass(frozen=True, kw_only=True)
class Mandate(Model):
    """Mandate."""

    agent: str | None = None
    """Who holds the key."""
    per_call: MandatePerCall | None = None
    """The most that goes out in one call, by currency."""
    per_day: MandatePerDay | None = None
    """The most on a day in Caracas."""
    per_month: MandatePerMonth | None = None
    """The most in a month in Caracas."""
    payees: Sequence[str] | None = None
    """Who may be paid: ids of merchants, accounts, phones, wallets. All that the account may pay, if it is empty or missing."""
    approval_above: MandateApprovalAbove | None = None
    """A call that takes out more waits for an approval: by currency; none does of one that is not named."""

    _wire = {
        "agent": ("agent", VALUE),
        "per_call": ("perCall", ModelCodec("MandatePerCall")),
        "per_day": ("perDay", ModelCodec("MandatePerDay")),
        "per_month": ("perMonth", ModelCodec("MandatePerMonth")),
        "payees": ("payees", VALUE),
        "approval_above": ("approvalAbove", ModelCodec("MandateApprovalAbove")),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class MandatePerCall(Model):
    """The most that goes out in one call, by currency."""

    ves: Amount | None = None
    """At most two decimals, at most 999999999999.99."""
    cop: int | None = None
    usdt: Amount | None = None
    """At most two decimals, at most 999999999999.99."""

    _wire = {
        "ves": ("VES", DECIMAL),
        "cop": ("COP", VALUE),
        "usdt": ("USDT", DECIMAL),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class MandatePerDay(Model):
    """The most on a day in Caracas."""

    ves: Amount | None = None
    """At most two decimals, at most 999999999999.99."""
    cop: int | None = None
    usdt: Amount | None = None
    """At most two decimals, at most 999999999999.99."""

    _wire = {
        "ves": ("VES", DECIMAL),
        "cop": ("COP", VALUE),
        "usdt": ("USDT", DECIMAL),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class MandatePerMonth(Model):
    """The most in a month in Caracas."""

    ves: Amount | None = None
    """At most two decimals, at most 999999999999.99."""
    cop: int | None = None
    usdt: Amount | None = None
    """At most two decimals, at most 999999999999.99."""

    _wire = {
        "ves": ("VES", DECIMAL),
        "cop": ("COP", VALUE),
        "usdt": ("USDT", DECIMAL),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class MandateApprovalAbove(Model):
    """A call that takes out more waits for an approval: by currency; none does of one that is not named."""

    ves: Amount | None = None
    """At most two decimals, at most 999999999999.99."""
    cop: int | None = None
    usdt: Amount | None = None
    """At most two decimals, at most 999999999999.99."""

    _wire = {
        "ves": ("VES", DECIMAL),
        "cop": ("COP", VALUE),
        "usdt": ("USDT", DECIMAL),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class KeyWithRemaining(Model):
    """Key with remaining."""

    key_id: str
    mode: Literal["live", "test"]
    prefix: str
    """Its first characters."""
    scopes: list[Literal["read", "collect", "payout", "convert", "manage", "keys"]]
    """What it may do."""
    created_at: datetime
    expires_at: datetime | None
    name: str | None
    """What people call it."""
    mandate: Mandate | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    replaces: str | None
    """The key whose place it took."""
    remaining: KeyWithRemainingRemaining | None = None
    """What its mandate lets out today and this month; not there without one."""

    _wire = {
        "key_id": ("keyId", VALUE),
        "mode": ("mode", VALUE),
        "prefix": ("prefix", VALUE),
        "scopes": ("scopes", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "name": ("name", VALUE),
        "mandate": ("mandate", ModelCodec("Mandate")),
        "last_used_at": ("lastUsedAt", TIME),
        "revoked_at": ("revokedAt", TIME),
        "replaces": ("replaces", VALUE),
        "remaining": ("remaining", ModelCodec("KeyWithRemainingRemaining")),
    }
    _required = ("keyId", "mode", "prefix", "scopes", "createdAt", "expiresAt", "name", "mandate", "lastUsedAt", "revokedAt", "replaces",)


@dataclass(frozen=True, kw_only=True)
class KeyWithRemainingRemaining(Model):
    """What its mandate lets out today and this month; not there without one."""

    per_day: KeyWithRemainingRemainingPerDay | None = None
    per_month: KeyWithRemainingRemainingPerMonth | None = None

    _wire = {
        "per_day": ("perDay", ModelCodec("KeyWithRemainingRemainingPerDay")),
        "per_month": ("perMonth", ModelCodec("KeyWithRemainingRemainingPerMonth")),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class KeyWithRemainingRemainingPerDay(Model):
    """Key with remaining remaining per day."""

    ves: Decimal | None = None
    cop: int | None = None
    usdt: Decimal | None = None

    _wire = {
        "ves": ("VES", DecimalCodec(2)),
        "cop": ("COP", VALUE),
        "usdt": ("USDT", DecimalCodec(2)),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class KeyWithRemainingRemainingPerMonth(Model):
    """Key with remaining remaining per month."""

    ves: Decimal | None = None
    cop: int | None = None
    usdt: Decimal | None = None

    _wire = {
        "ves": ("VES", DecimalCodec(2)),
        "cop": ("COP", VALUE),
        "usdt": ("USDT", DecimalCodec(2)),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class RevokedKey(Model):
    """Revoked key."""

    key_id: str
    mode: Literal["live", "test"]
    prefix: str
    """Its first characters."""
    scopes: list[Literal["read", "collect", "payout", "convert", "manage", "keys"]]
    """What it may do."""
    created_at: datetime
    expires_at: datetime | None
    name: str | None
    """What people call it."""
    mandate: Mandate | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    replaces: str | None
    """The key whose place it took."""
    successors: list[Key]
    """The keys that came in its place, and in theirs; oldest first."""

    _wire = {
        "key_id": ("keyId", VALUE),
        "mode": ("mode", VALUE),
        "prefix": ("prefix", VALUE),
        "scopes": ("scopes", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "name": ("name", VALUE),
        "mandate": ("mandate", ModelCodec("Mandate")),
        "last_used_at": ("lastUsedAt", TIME),
        "revoked_at": ("revokedAt", TIME),
        "replaces": ("replaces", VALUE),
        "successors": ("successors", ListCodec(ModelCodec("Key"))),
    }
    _required = ("keyId", "mode", "prefix", "scopes", "createdAt", "expiresAt", "name", "mandate", "lastUsedAt", "revokedAt", "replaces", "successors",)


@dataclass(frozen=True, kw_only=True)
class KeyList(Model):
    """Key list."""

    items: list[Key]

    _wire = {
        "items": ("items", ListCodec(ModelCodec("Key"))),
    }
    _required = ("items",)


@dataclass(frozen=True, kw_only=True)
class AwaitingApproval(Model):
    """Awaiting approval."""

    status: Literal["awaiting_approval"]
    approval_id: str

    _wire = {
        "status": ("status", VALUE),
        "approval_id": ("approvalId", VALUE),
    }
    _required = ("status", "approvalId",)


@dataclass(frozen=True, kw_only=True)
class MandateApproval(Model):
    """Mandate approval."""

    approval_id: str
    status: Literal["awaiting_approval", "approved", "rejected", "expired"]
    key_id: str
    """The key that asked."""
    agent: str | None
    """Who held the key."""
    amount: MandateApprovalAmount
    """What goes out, with fees."""
    operation: str
    """The `operationId` of the call."""
    path: str
    body: Any
    """The body of the call, as it was sent; in the list null where it is longer than 8 KiB."""
    destinations: list[str | None]
    """Where the account's own data led each payout when it was asked for, of a batch in the order of its items; null where the call says so. It goes there or, when that has changed, nowhere."""
    request_id: str
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    """The key that decided."""

    _wire = {
        "approval_id": ("approvalId", VALUE),
        "status": ("status", VALUE),
        "key_id": ("keyId", VALUE),
        "agent": ("agent", VALUE),
        "amount": ("amount", ModelCodec("MandateApprovalAmount")),
        "operation": ("operation", VALUE),
        "path": ("path", VALUE),
        "body": ("body", VALUE),
        "destinations": ("destinations", VALUE),
        "request_id": ("requestId", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "decided_at": ("decidedAt", TIME),
        "decided_by": ("decidedBy", VALUE),
    }
    _required = ("approvalId", "status", "keyId", "agent", "amount", "operation", "path", "body", "destinations", "requestId", "createdAt", "expiresAt", "decidedAt", "decidedBy",)


@dataclass(frozen=True, kw_only=True)
class MandateApprovalAmount(Model):
    """What goes out, with fees."""

    ves: Decimal | None = None
    cop: int | None = None
    usdt: Decimal | None = None

    _wire = {
        "ves": ("VES", DecimalCodec(2)),
        "cop": ("COP", VALUE),
        "usdt": ("USDT", DecimalCodec(2)),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class ApprovedCall(Model):
    """Approved call."""

    approval_id: str
    status: Literal["awaiting_approval", "approved", "rejected", "expired"]
    key_id: str
    """The key that asked."""
    agent: str | None
    """Who held the key."""
    amount: ApprovedCallAmount
    """What goes out, with fees."""
    operation: str
    """The `operationId` of the call."""
    path: str
    body: Any
    """The body of the call, as it was sent; in the list null where it is longer than 8 KiB."""
    destinations: list[str | None]
    """Where the account's own data led each payout when it was asked for, of a batch in the order of its items; null where the call says so. It goes there or, when that has changed, nowhere."""
    request_id: str
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    """The key that decided."""
    result: Any
    """What the call itself answers."""

    _wire = {
        "approval_id": ("approvalId", VALUE),
        "status": ("status", VALUE),
        "key_id": ("keyId", VALUE),
        "agent": ("agent", VALUE),
        "amount": ("amount", ModelCodec("ApprovedCallAmount")),
        "operation": ("operation", VALUE),
        "path": ("path", VALUE),
        "body": ("body", VALUE),
        "destinations": ("destinations", VALUE),
        "request_id": ("requestId", VALUE),
        "created_at": ("createdAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "decided_at": ("decidedAt", TIME),
        "decided_by": ("decidedBy", VALUE),
        "result": ("result", VALUE),
    }
    _required = ("approvalId", "status", "keyId", "agent", "amount", "operation", "path", "body", "destinations", "requestId", "createdAt", "expiresAt", "decidedAt", "decidedBy", "result",)


@dataclass(frozen=True, kw_only=True)
class ApprovedCallAmount(Model):
    """What goes out, with fees."""

    ves: Decimal | None = None
    cop: int | None = None
    usdt: Decimal | None = None

    _wire = {
        "ves": ("VES", DecimalCodec(2)),
        "cop": ("COP", VALUE),
        "usdt": ("USDT", DecimalCodec(2)),
    }
    _required = ()


@dataclass(frozen=True, kw_only=True)
class Bank(Model):
    """Bank."""

    code: str
    name: str
    services: list[Literal["C2P", "PAGO_MOVIL", "DEBIT", "CREDIT"]]
    logo_url: str | None
    """Null means: show the name alone."""

    _wire = {
        "code": ("code", VALUE),
        "name": ("name", VALUE),
        "services": ("services", VALUE),
        "logo_url": ("logoUrl", VALUE),
    }
    _required = ("code", "name", "services", "logoUrl",)


@dataclass(frozen=True, kw_only=True)
class DryRun(Model):
    """Dry run."""

    dry_run: bool
    status: int
    """The status that the call would have."""
    body: Any
    """The body that it would have. Ids, times, keys and secrets in it are those of the rehearsal."""
    movements: list[Any]
    """As `GET /v1/balance/transactions` and its kin list them."""
    balance: Any
    """As the `GET` of the balance that would move, or `/v1/balance`, would show it."""
    holds: list[DryRunHoldsItem]
    """What would be held anew."""
    events: list[Any]
    """As `GET /v1/events` lists them."""
    orders: list[DryRunOrdersItem]
    """What banks and networks would be told."""

    _wire = {
        "dry_run": ("dryRun", VALUE),
        "status": ("status", VALUE),
        "body": ("body", VALUE),
        "movements": ("movements", VALUE),
        "balance": ("balance", VALUE),
        "holds": ("holds", ListCodec(ModelCodec("DryRunHoldsItem"))),
        "events": ("events", VALUE),
        "orders": ("orders", ListCodec(ModelCodec("DryRunOrdersItem"))),
    }
    _required = ("dryRun", "status", "body", "movements", "balance", "holds", "events", "orders",)


@dataclass(frozen=True, kw_only=True)
class DryRunHoldsItem(Model):
    """Dry run holds item."""

    currency: Literal["VES", "COP", "USDT"]
    amount: str
    available_at: datetime | None
    """Null where a bank's decision ends it."""

    _wire = {
        "currency": ("currency", VALUE),
        "amount": ("amount", VALUE),
        "available_at": ("availableAt", TIME),
    }
    _required = ("currency", "amount", "availableAt",)


@dataclass(frozen=True, kw_only=True)
class DryRunOrdersItem(Model):
    """Dry run orders item."""

    rail: str
    kind: str
    """As operators see operations: `c2p`, `payout` …"""
    amount: str
    currency: Literal["VES", "COP", "USDT"]

    _wire = {
        "rail": ("rail", VALUE),
        "kind": ("kind", VALUE),
        "amount": ("amount", VALUE),
        "currency": ("currency", VALUE),
    }
    _required = ("rail", "kind", "amount", "currency",)


@dataclass(frozen=True, kw_only=True)
class IdempotencyKey(Model):
    """Idempotency key."""

    key: str
    state: Literal["in_progress", "done"]
    method: Literal["POST"]
    path: str
    first_seen_at: datetime
    expires_at: datetime
    status: int | None
    """The kept status; null while in progress."""
    response: Any
    """The kept body; null while in progress."""
    wal_seq: int | None

    _wire = {
        "key": ("key", VALUE),
        "state": ("state", VALUE),
        "method": ("method", VALUE),
        "path": ("path", VALUE),
        "first_seen_at": ("firstSeenAt", TIME),
        "expires_at": ("expiresAt", TIME),
        "status": ("status", VALUE),
        "response": ("response", VALUE),
        "wal_seq": ("walSeq", VALUE),
    }
    _required = ("key", "state", "method", "path", "firstSeenAt", "expiresAt", "status", "response", "walSeq",)


@dataclass(frozen=True, kw_only=True)
class Quote(Model):
    """Quote."""

    usd_amount: Decimal
    bcv_rate: Decimal
    ves_amount: Decimal
    median_rate: Decimal
    median_ves_amount: Decimal
    source: Literal["bcv"]
    fetched_at: datetime
    sources: QuoteSources

    _wire = {
        "usd_amount": ("usdAmount", NUMBER),
        "bcv_rate": ("bcvRate", NUMBER),
        "ves_amount": ("vesAmount", NUMBER),
        "median_rate": ("medianRate", NUMBER),
        "median_ves_amount": ("medianVesAmount", NUMBER),
        "source": ("source", VALUE),
        "fetched_at": ("fetchedAt", TIME),
        "sources": ("sources", ModelCodec("QuoteSources")),
    }
    _required = ("usdAmount", "bcvRate", "vesAmount", "medianRate", "medianVesAmount", "source", "fetchedAt", "sources",)


@dataclass(frozen=True, kw_only=True)
class QuoteSources(Model):
    """Quote sources."""

    vex_fx: QuoteSourcesVexFx
    bank: QuoteSourcesBank | QuoteSourcesBankError

    _wire = {
        "vex_fx": ("vexFx", ModelCodec("QuoteSourcesVexFx")),
        "bank": ("bank", ModelCodec("QuoteSourcesBank", "QuoteSourcesBankError")),
    }
    _required = ("vexFx", "bank",)


@dataclass(frozen=True, kw_only=True)
class QuoteSourcesVexFx(Model):
    """Quote sources vex fx."""

    bcv_rate: Decimal
    fetched_at: datetime

    _wire = {
        "bcv_rate": ("bcvRate", NUMBER),
        "fetched_at": ("fetchedAt", TIME),
    }
    _required = ("bcvRate", "fetchedAt",)


@dataclass(frozen=True, kw_only=True)
class QuoteSourcesBank(Model):
    """Quote sources bank."""

    bcv_rate: Decimal
    fechavalor: date | None
    fetched_at: datetime

    _wire = {
        "bcv_rate": ("bcvRate", NUMBER),
        "fechavalor": ("fechavalor", DATE),
        "fetched_at": ("fetchedAt", TIME),
    }
    _required = ("bcvRate", "fechavalor", "fetchedAt",)


@dataclass(frozen=True, kw_only=True)
class QuoteSourcesBankError(Model):
    """Quote sources bank error."""

    error: str
    """`BANK_NOT_CONFIGURED`, or `BANK_UNAVAILABLE`."""

    _wire = {
        "error": ("error", VALUE),
    }
    _required = ("error",)


@dataclass(frozen=True, kw_only=True)
class Found(Model):
    """Found."""

    kind: Literal["payment", "payout", "cop_payout", "crypto_payout", "crypto_deposit", "batch", "conversion", "chargeback", "merchant", "checkout_session", "product", "payment_link", "event", "webhook", "deposit_address", "payout_account", "otp", "tenant", "mandate_approval"]
    id: str
    tenant_id: str | None
    mode: Literal["live", "test"] | None
    """Null of a tenant."""
    status: str | None
    """As the thing's own endpoint shows it."""
    amount: Decimal | None
    currency: Literal["VES", "COP", "USDT", "USD"] | None
    created_at: datetime
    why: Literal["id", "externalRef", "reference", "bankReference", "requestId", "txHash", "document", "phone", "name"]
    """What of it the text is."""

    _wire = {
        "kind": ("kind", VALUE),
        "id": ("id", VALUE),
        "tenant_id": ("tenantId", VALUE),
        "mode": ("mode", VALUE),
        "status": ("status", VALUE),
        "amount": ("amount", DECIMAL),
        "currency": ("currency", VALUE),
        "created_at": ("createdAt", TIME),
        "why": ("why", VALUE),
    }
    _required = ("kind", "id", "tenantId", "mode", "status", "amount", "currency", "createdAt", "why",)


@dataclass(frozen=True, kw_only=True)
class FoundList(Model):
    """Found list."""

    items: list[Found]

    _wire = {
        "items": ("items", ListCodec(ModelCodec("Found"))),
    }
    _required = ("items",)


@dataclass(frozen=True, kw_only=True)
class LoggedRequest(Model):
    """Logged request."""

    request_id: str
    at: datetime
    method: str
    route: str
    """The template of the path, such as `/v1/payments/{id}`."""
    status: int
    error: str | None
    """The code of the error."""
    key_id: str
    """The key that called."""
    ms: int
    entity_id: str | None
    """What was made or changed."""

    _wire = {
        "request_id": ("requestId", VALUE),
        "at": ("at", TIME),
        "method": ("method", VALUE),
        "route": ("route", VALUE),
        "status": ("status", VALUE),
        "error": ("error", VALUE),
        "key_id": ("keyId", VALUE),
        "ms": ("ms", VALUE),
        "entity_id": ("entityId", VALUE),
    }
    _required = ("requestId", "at", "method", "route", "status", "error", "keyId", "ms", "entityId",)


@dataclass(frozen=True, kw_only=True)
class Rate(Model):
    """Rate."""

    pair: str
    source: str
    method: str | None
    price: Decimal
    as_of: datetime
    fetched_at: datetime | None
    side: str | None
    payment_method: str | None

    _wire = {
        "pair": ("pair", VALUE),
        "source": ("source", VALUE),
        "method": ("method", VALUE),
        "price": ("price", NUMBER),
        "as_of": ("asOf", TIME),
        "fetched_at": ("fetchedAt", TIME),
        "side": ("side", VALUE),
        "payment_method": ("paymentMethod", VALUE),
    }
    _required = ("pair", "source", "method", "price", "asOf", "fetchedAt", "side", "paymentMethod",)


@dataclass(frozen=True, kw_only=True)
class RateHistory(Model):
    """Rate history."""

    pair: str
    source: str | None
    side: str | None
    interval: Literal["hour", "day"] | None
    aggregation: str | None
    data: list[RatePoint]
    count: int

    _wire = {
        "pair": ("pair", VALUE),
        "source": ("source", VALUE),
        "side": ("side", VALUE),
        "interval": ("interval", VALUE),
        "aggregation": ("aggregation", VALUE),
        "data": ("data", ListCodec(ModelCodec("RatePoint"))),
        "count": ("count", VALUE),
    }
    _required = ("pair", "source", "side", "interval", "aggregation", "data", "count",)


@dataclass(frozen=True, kw_only=True)
class RatePoint(Model):
    """Rate point."""

    pair: str
    source: str
    method: str | None
    side: str | None
    price: Decimal
    as_of: datetime
    count: int | None = None
    """Samples in the bucket."""
    suspect: bool | None = None
    """True of a sample that was too far from the one before it, and decided nothing."""

    _wire = {
        "pair": ("pair", VALUE),
        "source": ("source", VALUE),
        "method": ("method", VALUE),
        "side": ("side", VALUE),
        "price": ("price", NUMBER),
        "as_of": ("asOf", TIME),
        "count": ("count", VALUE),
        "suspect": ("suspect", VALUE),
    }
    _required = ("pair", "source", "method", "side", "price", "asOf",)


@dataclass(frozen=True, kw_only=True)
class FeeSchedule(Model):
    """Fee schedule."""

    policy: Literal["legacy_flat", "tiered_v1", "tiered_v2"]
    min_withdrawal_cents: int
    summary: str
    service_fee_percent: Decimal | None = None
    service_fee_fixed_cents: int | None = None
    network_fee_cents: int | None = None
    tiers: list[FeeScheduleTiersItem] | None = None

    _wire = {
        "policy": ("policy", VALUE),
        "min_withdrawal_cents": ("minWithdrawalCents", VALUE),
        "summary": ("summary", VALUE),
        "service_fee_percent": ("serviceFeePercent", NUMBER),
        "service_fee_fixed_cents": ("serviceFeeFixedCents", VALUE),
        "network_fee_cents": ("networkFeeCents", VALUE),
        "tiers": ("tiers", ListCodec(ModelCodec("FeeScheduleTiersItem"))),
    }
    _required = ("policy", "minWithdrawalCents", "summary",)


@dataclass(frozen=True, kw_only=True)
class FeeScheduleTiersItem(Model):
    """Fee schedule tiers item."""

    min_amount_cents: int
    service_fee_percent: Decimal
    service_fee_fixed_cents: int
    label: str
    max_amount_cents: int | None = None

    _wire = {
        "min_amount_cents": ("minAmountCents", VALUE),
        "max_amount_cents": ("maxAmountCents", VALUE),
        "service_fee_percent": ("serviceFeePercent", NUMBER),
        "service_fee_fixed_cents": ("serviceFeeFixedCents", VALUE),
        "label": ("label", VALUE),
    }
    _required = ("minAmountCents", "serviceFeePercent", "serviceFeeFixedCents", "label",)


@dataclass(frozen=True, kw_only=True)
class FeeEstimate(Model):
    """Fee estimate."""

    service_fee_cents: int
    blockchain_fee_cents: int
    total_fee_cents: int
    amount_to_receive_cents: int
    breakdown: FeeEstimateBreakdown | None = None
    fee_percent: Decimal | None = None
    fee_fixed_cents: int | None = None
    fee_tier: str | None = None
    fee_policy_version: str | None = None
    fee_breakdown_label: str | None = None

    _wire = {
        "service_fee_cents": ("serviceFeeCents", VALUE),
        "blockchain_fee_cents": ("blockchainFeeCents", VALUE),
        "total_fee_cents": ("totalFeeCents", VALUE),
        "amount_to_receive_cents": ("amountToReceiveCents", VALUE),
        "breakdown": ("breakdown", ModelCodec("FeeEstimateBreakdown")),
        "fee_percent": ("feePercent", NUMBER),
        "fee_fixed_cents": ("feeFixedCents", VALUE),
        "fee_tier": ("feeTier", VALUE),
        "fee_policy_version": ("feePolicyVersion", VALUE),
        "fee_breakdown_label": ("feeBreakdownLabel", VALUE),
    }
    _required = ("serviceFeeCents", "blockchainFeeCents", "totalFeeCents", "amountToReceiveCents",)


@dataclass(frozen=True, kw_only=True)
class FeeEstimateBreakdown(Model):
    """Fee estimate breakdown."""

    service_fee: Decimal
    blockchain_fee: Decimal
    total_fee: Decimal

    _wire = {
        "service_fee": ("serviceFee", NUMBER),
        "blockchain_fee": ("blockchainFee", NUMBER),
        "total_fee": ("totalFee", NUMBER),
    }
    _required = ("serviceFee", "blockchainFee", "totalFee",)


@dataclass(frozen=True, kw_only=True)
class PagoMovilQuote(Model):
    """Pago movil quote."""

    exchange_rate_base: Decimal
    exchange_rate_offered: Decimal
    exchange_rate_fetched_at: datetime
    margin_percent: Decimal
    ves_estimate: Decimal | None
    """Null beyond all amounts that are counted."""

    _wire = {
        "exchange_rate_base": ("exchange_rate_base", NUMBER),
        "exchange_rate_offered": ("exchange_rate_offered", NUMBER),
        "exchange_rate_fetched_at": ("exchange_rate_fetched_at", TIME),
        "margin_percent": ("margin_percent", NUMBER),
        "ves_estimate": ("ves_estimate", NUMBER),
    }
    _required = ("exchange_rate_base", "exchange_rate_offered", "exchange_rate_fetched_at", "margin_percent", "ves_estimate",)


@dataclass(frozen=True, kw_only=True)
class TestClock(Model):
    """Test clock."""

    now: datetime
    livemode: bool
    """Whether real money moves: false under a test key."""

    _wire = {
        "now": ("now", TIME),
        "livemode": ("livemode", VALUE),
    }
    _required = ("now", "livemode",)


@dataclass(frozen=True, kw_only=True)
class TestReset(Model):
    """Test reset."""

    reset_at: datetime

    _wire = {
        "reset_at": ("resetAt", TIME),
    }
    _required = ("resetAt",)


@dataclass(frozen=True, kw_only=True)
class OpenedTestAccount(Model):
    """Opened test account."""

    test_key: OpenedTestAccountTestKey

    _wire = {
        "test_key": ("testKey", ModelCodec("OpenedTestAccountTestKey")),
    }
    _required = ("testKey",)


@dataclass(frozen=True, kw_only=True)
class OpenedTestAccountTestKey(Model):
    """Opened test account test key."""

    key_id: str
    key: str

    _wire = {
        "key_id": ("keyId", VALUE),
        "key": ("key", VALUE),
    }
    _required = ("keyId", "key",)


@dataclass(frozen=True, kw_only=True)
class StartVerificationResult(Model):
    """Start verification result."""

    payout_method_id: str
    status: Literal["verifying", "rejected", "unverified"]
    attempts_left: int | None = None
    failure_code: str | None = None
    """`BE01` when the bank says that the holder is somebody else. Another code with `unverified`: the bank made no deposits; `order_unfit` when it cannot be given these data, as for a phone without the document of its owner."""
    action: Literal["payout_method_deleted"] | None = None

    _wire = {
        "payout_method_id": ("payoutMethodId", VALUE),
        "status": ("status", VALUE),
        "attempts_left": ("attemptsLeft", VALUE),
        "failure_code": ("failureCode", VALUE),
        "action": ("action", VALUE),
    }
    _required = ("payoutMethodId", "status",)


@dataclass(frozen=True, kw_only=True)
class StartPayoutAccountVerificationResult(Model):
    """Start payout account verification result."""

    status: Literal["verifying", "rejected", "unverified"]
    attempts_left: int | None = None
    failure_code: str | None = None
    """`BE01` when the bank says that the holder is somebody else. Another code with `unverified`: the bank made no deposits; `order_unfit` when it cannot be given these data, as for a phone without the document of its owner."""
    action: Literal["payout_account_deleted"] | None = None

    _wire = {
        "status": ("status", VALUE),
        "attempts_left": ("attemptsLeft", VALUE),
        "failure_code": ("failureCode", VALUE),
        "action": ("action", VALUE),
    }
    _required = ("status",)


@dataclass(frozen=True, kw_only=True)
class DeleteProductResult(Model):
    """Delete product result."""

    deleted: bool
    id: str

    _wire = {
        "deleted": ("deleted", VALUE),
        "id": ("id", VALUE),
    }
    _required = ("deleted", "id",)


@dataclass(frozen=True, kw_only=True)
class DeletePaymentLinkResult(Model):
    """Delete payment link result."""

    deleted: bool
    id: str

    _wire = {
        "deleted": ("deleted", VALUE),
        "id": ("id", VALUE),
    }
    _required = ("deleted", "id",)


@dataclass(frozen=True, kw_only=True)
class DeleteWebhookResult(Model):
    """Delete webhook result."""

    deleted: bool
    id: str

    _wire = {
        "deleted": ("deleted", VALUE),
        "id": ("id", VALUE),
    }
    _required = ("deleted", "id",)


@dataclass(frozen=True, kw_only=True)
class GetHealthResult(Model):
    """Get health result."""

    status: Literal["ok"]

    _wire = {
        "status": ("status", VALUE),
    }
    _required = ("status",)


@dataclass(frozen=True, kw_only=True)
class GetReadinessResult(Model):
    """Get readiness result."""

    status: Literal["ready"]

    _wire = {
        "status": ("status", VALUE),
    }
    _required = ("status",)


@dataclass(frozen=True, kw_only=True)
class PaymentReversedData3(Model):
    """Payment reversed data3."""

    payment_id: str
    external_ref: str
    attempt: int
    """The number of this payment among those under its `externalRef`, from 1."""
    status: Literal["REVERSED"]
    method: str
    usd_amount: Decimal
    ves_amount: Decimal
    bcv_rate: Decimal
    fee_ves: Decimal | None
    net_ves: Decimal | None
    card_last4: str | None
    reversed_at: datetime
    reversal_ref: str | None
    reversal_type: Literal["reversal", "chargeback"]
    chargebacks: list[PaymentChargeback]
    created_at: datetime
    livemode: bool
    """Whether real money moves: false under a test key."""
    chargeback_id: str | None = None

    _wire = {
        "payment_id": ("paymentId", VALUE),
        "external_ref": ("externalRef", VALUE),
        "attempt": ("attempt", VALUE),
        "status": ("status", VALUE),
        "method": ("method", VALUE),
        "usd_amount": ("usdAmount", NUMBER),
        "ves_amount": ("vesAmount", NUMBER),
        "bcv_rate": ("bcvRate", NUMBER),
        "fee_ves": ("feeVes", NUMBER),
        "net_ves": ("netVes", NUMBER),
        "card_last4": ("cardLast4", VALUE),
        "reversed_at": ("reversedAt", TIME),
        "reversal_ref": ("reversalRef", VALUE),
        "reversal_type": ("reversalType", VALUE),
        "chargeback_id": ("chargebackId", VALUE),
        "chargebacks": ("chargebacks", ListCodec(ModelCodec("PaymentChargeback"))),
        "created_at": ("createdAt", TIME),
        "livemode": ("livemode", VALUE),
    }
    _required = ("paymentId", "externalRef", "attempt", "status", "method", "usdAmount", "vesAmount", "bcvRate", "feeVes", "netVes", "cardLast4", "reversedAt", "reversalRef", "reversalType", "chargebacks", "createdAt", "livemode",)


@dataclass(frozen=True, kw_only=True)
class PayoutCompletedData(Model):
    """Payout completed data."""

    payout_id: str
    object: Literal["payout"]
    kind: Literal["merchant", "instant", "credit", "account", "change"]
    status: Literal["pending", "completed", "failed"]
    reference: str | None
    """The bank's reference; null while pending."""
    failure_code: str | None
    """The bank's code, when it failed."""
    external_ref: str
    batch_id: str | None
    merchant_id: str | None
    payout_method_id: str | None
    merchant_name: str | None
    payment_id: str | None
    """Of change: the payment."""
    monto: Decimal
    fee_ves: Decimal
    concepto: str
    bank_code: str
    """Four digits; see `GET /v1/banks`."""
    destination: str
    """Masked: an ellipsis and the last four digits."""
    from_merchant_balance: bool
    operation_id: str | None
    """While the bank is being asked; see `GET /v1/payments/operations/{id}`."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    settled_at: datetime | None
    currency: Literal["VES"]

    _wire = {
        "payout_id": ("payoutId", VALUE),
        "object": ("object", VALUE),
        "kind": ("kind", VALUE),
        "status": ("status", VALUE),
        "reference": ("reference", VALUE),
        "failure_code": ("failureCode", VALUE),
        "external_ref": ("externalRef", VALUE),
        "batch_id": ("batchId", VALUE),
        "merchant_id": ("merchantId", VALUE),
        "payout_method_id": ("payoutMethodId", VALUE),
        "merchant_name": ("merchantName", VALUE),
        "payment_id": ("paymentId", VALUE),
        "monto": ("monto", DecimalCodec(2)),
        "fee_ves": ("feeVes", DecimalCodec(2)),
        "concepto": ("concepto", VALUE),
        "bank_code": ("bankCode", VALUE),
        "destination": ("destination", VALUE),
        "from_merchant_balance": ("fromMerchantBalance", VALUE),
        "operation_id": ("operationId", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "settled_at": ("settledAt", TIME),
        "currency": ("currency", VALUE),
    }
    _required = ("payoutId", "object", "kind", "status", "reference", "failureCode", "externalRef", "batchId", "merchantId", "payoutMethodId", "merchantName", "paymentId", "monto", "feeVes", "concepto", "bankCode", "destination", "fromMerchantBalance", "operationId", "livemode", "createdAt", "settledAt", "currency",)


@dataclass(frozen=True, kw_only=True)
class PayoutCompletedData2(Model):
    """Payout completed data2."""

    id: str
    payout_id: str
    """Equal to `id`."""
    object: Literal["cop_payout"]
    status: Literal["pending", "completed", "failed"]
    reference: str | None
    failure_code: str | None
    external_ref: str
    amount_cop: Decimal
    currency: Literal["COP"]
    bank: str
    account_number: str
    """Masked."""
    account_type: Literal["savings", "checking", "wallet"]
    holder_name: str
    document_type: Literal["CC", "CE", "TI", "NIT", "PP"]
    document_number: str
    """Masked."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    settled_at: datetime | None

    _wire = {
        "id": ("id", VALUE),
        "payout_id": ("payoutId", VALUE),
        "object": ("object", VALUE),
        "status": ("status", VALUE),
        "reference": ("reference", VALUE),
        "failure_code": ("failureCode", VALUE),
        "external_ref": ("externalRef", VALUE),
        "amount_cop": ("amountCop", DECIMAL),
        "currency": ("currency", VALUE),
        "bank": ("bank", VALUE),
        "account_number": ("accountNumber", VALUE),
        "account_type": ("accountType", VALUE),
        "holder_name": ("holderName", VALUE),
        "document_type": ("documentType", VALUE),
        "document_number": ("documentNumber", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "settled_at": ("settledAt", TIME),
    }
    _required = ("id", "payoutId", "object", "status", "reference", "failureCode", "externalRef", "amountCop", "currency", "bank", "accountNumber", "accountType", "holderName", "documentType", "documentNumber", "livemode", "createdAt", "settledAt",)


@dataclass(frozen=True, kw_only=True)
class PayoutCompletedData3(Model):
    """Payout completed data3."""

    id: str
    object: Literal["crypto_payout"]
    status: Literal["pending_review", "processing", "completed", "failed", "rejected"]
    amount_usdt: Decimal
    network_fee_usdt: Decimal
    total_usdt: Decimal
    address: str
    network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"]
    tx_hash: str | None
    external_ref: str
    failure_code: str | None
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    completed_at: datetime | None
    payout_id: str
    currency: Literal["USDT"]

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "status": ("status", VALUE),
        "amount_usdt": ("amountUsdt", DecimalCodec(2)),
        "network_fee_usdt": ("networkFeeUsdt", DecimalCodec(2)),
        "total_usdt": ("totalUsdt", DecimalCodec(2)),
        "address": ("address", VALUE),
        "network": ("network", VALUE),
        "tx_hash": ("txHash", VALUE),
        "external_ref": ("externalRef", VALUE),
        "failure_code": ("failureCode", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "completed_at": ("completedAt", TIME),
        "payout_id": ("payoutId", VALUE),
        "currency": ("currency", VALUE),
    }
    _required = ("id", "object", "status", "amountUsdt", "networkFeeUsdt", "totalUsdt", "address", "network", "txHash", "externalRef", "failureCode", "livemode", "createdAt", "completedAt", "payoutId", "currency",)


@dataclass(frozen=True, kw_only=True)
class PayoutFailedData(Model):
    """Payout failed data."""

    payout_id: str
    object: Literal["payout"]
    kind: Literal["merchant", "instant", "credit", "account", "change"]
    status: Literal["pending", "completed", "failed"]
    reference: str | None
    """The bank's reference; null while pending."""
    failure_code: str | None
    """The bank's code, when it failed."""
    external_ref: str
    batch_id: str | None
    merchant_id: str | None
    payout_method_id: str | None
    merchant_name: str | None
    payment_id: str | None
    """Of change: the payment."""
    monto: Decimal
    fee_ves: Decimal
    concepto: str
    bank_code: str
    """Four digits; see `GET /v1/banks`."""
    destination: str
    """Masked: an ellipsis and the last four digits."""
    from_merchant_balance: bool
    operation_id: str | None
    """While the bank is being asked; see `GET /v1/payments/operations/{id}`."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    settled_at: datetime | None
    currency: Literal["VES"]

    _wire = {
        "payout_id": ("payoutId", VALUE),
        "object": ("object", VALUE),
        "kind": ("kind", VALUE),
        "status": ("status", VALUE),
        "reference": ("reference", VALUE),
        "failure_code": ("failureCode", VALUE),
        "external_ref": ("externalRef", VALUE),
        "batch_id": ("batchId", VALUE),
        "merchant_id": ("merchantId", VALUE),
        "payout_method_id": ("payoutMethodId", VALUE),
        "merchant_name": ("merchantName", VALUE),
        "payment_id": ("paymentId", VALUE),
        "monto": ("monto", DecimalCodec(2)),
        "fee_ves": ("feeVes", DecimalCodec(2)),
        "concepto": ("concepto", VALUE),
        "bank_code": ("bankCode", VALUE),
        "destination": ("destination", VALUE),
        "from_merchant_balance": ("fromMerchantBalance", VALUE),
        "operation_id": ("operationId", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "settled_at": ("settledAt", TIME),
        "currency": ("currency", VALUE),
    }
    _required = ("payoutId", "object", "kind", "status", "reference", "failureCode", "externalRef", "batchId", "merchantId", "payoutMethodId", "merchantName", "paymentId", "monto", "feeVes", "concepto", "bankCode", "destination", "fromMerchantBalance", "operationId", "livemode", "createdAt", "settledAt", "currency",)


@dataclass(frozen=True, kw_only=True)
class PayoutFailedData2(Model):
    """Payout failed data2."""

    id: str
    payout_id: str
    """Equal to `id`."""
    object: Literal["cop_payout"]
    status: Literal["pending", "completed", "failed"]
    reference: str | None
    failure_code: str | None
    external_ref: str
    amount_cop: Decimal
    currency: Literal["COP"]
    bank: str
    account_number: str
    """Masked."""
    account_type: Literal["savings", "checking", "wallet"]
    holder_name: str
    document_type: Literal["CC", "CE", "TI", "NIT", "PP"]
    document_number: str
    """Masked."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    settled_at: datetime | None

    _wire = {
        "id": ("id", VALUE),
        "payout_id": ("payoutId", VALUE),
        "object": ("object", VALUE),
        "status": ("status", VALUE),
        "reference": ("reference", VALUE),
        "failure_code": ("failureCode", VALUE),
        "external_ref": ("externalRef", VALUE),
        "amount_cop": ("amountCop", DECIMAL),
        "currency": ("currency", VALUE),
        "bank": ("bank", VALUE),
        "account_number": ("accountNumber", VALUE),
        "account_type": ("accountType", VALUE),
        "holder_name": ("holderName", VALUE),
        "document_type": ("documentType", VALUE),
        "document_number": ("documentNumber", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "settled_at": ("settledAt", TIME),
    }
    _required = ("id", "payoutId", "object", "status", "reference", "failureCode", "externalRef", "amountCop", "currency", "bank", "accountNumber", "accountType", "holderName", "documentType", "documentNumber", "livemode", "createdAt", "settledAt",)


@dataclass(frozen=True, kw_only=True)
class PayoutFailedData3(Model):
    """Payout failed data3."""

    id: str
    object: Literal["crypto_payout"]
    status: Literal["pending_review", "processing", "completed", "failed", "rejected"]
    amount_usdt: Decimal
    network_fee_usdt: Decimal
    total_usdt: Decimal
    address: str
    network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"]
    tx_hash: str | None
    external_ref: str
    failure_code: str | None
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    completed_at: datetime | None
    payout_id: str
    currency: Literal["USDT"]

    _wire = {
        "id": ("id", VALUE),
        "object": ("object", VALUE),
        "status": ("status", VALUE),
        "amount_usdt": ("amountUsdt", DecimalCodec(2)),
        "network_fee_usdt": ("networkFeeUsdt", DecimalCodec(2)),
        "total_usdt": ("totalUsdt", DecimalCodec(2)),
        "address": ("address", VALUE),
        "network": ("network", VALUE),
        "tx_hash": ("txHash", VALUE),
        "external_ref": ("externalRef", VALUE),
        "failure_code": ("failureCode", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "completed_at": ("completedAt", TIME),
        "payout_id": ("payoutId", VALUE),
        "currency": ("currency", VALUE),
    }
    _required = ("id", "object", "status", "amountUsdt", "networkFeeUsdt", "totalUsdt", "address", "network", "txHash", "externalRef", "failureCode", "livemode", "createdAt", "completedAt", "payoutId", "currency",)


@dataclass(frozen=True, kw_only=True)
class MerchantRejectedData(Model):
    """Merchant rejected data."""

    merchant_id: str
    object: Literal["merchant"]
    external_ref: str
    name: str | None
    identification: str | None
    contact_email: str | None
    contact_phone: str | None
    status: Literal["shell", "unverified", "verified", "rejected"]
    """`shell`: no method; `verified`: at least one verified; `rejected`: the bank rejected the last one."""
    is_active: bool
    payout_methods: list[PayoutMethod]
    message: str | None
    """Says so when no payout method exists."""
    livemode: bool
    """Whether real money moves: false under a test key."""
    created_at: datetime
    updated_at: datetime
    payout_method_id: str
    failure_code: str | None
    reason: str
    action: Literal["payout_method_deleted"]

    _wire = {
        "merchant_id": ("merchantId", VALUE),
        "object": ("object", VALUE),
        "external_ref": ("externalRef", VALUE),
        "name": ("name", VALUE),
        "identification": ("identification", VALUE),
        "contact_email": ("contactEmail", VALUE),
        "contact_phone": ("contactPhone", VALUE),
        "status": ("status", VALUE),
        "is_active": ("isActive", VALUE),
        "payout_methods": ("payoutMethods", ListCodec(ModelCodec("PayoutMethod"))),
        "message": ("message", VALUE),
        "livemode": ("livemode", VALUE),
        "created_at": ("createdAt", TIME),
        "updated_at": ("updatedAt", TIME),
        "payout_method_id": ("payoutMethodId", VALUE),
        "failure_code": ("failureCode", VALUE),
        "reason": ("reason", VALUE),
        "action": ("action", VALUE),
    }
    _required = ("merchantId", "object", "externalRef", "name", "identification", "contactEmail", "contactPhone", "status", "isActive", "payoutMethods", "message", "livemode", "createdAt", "updatedAt", "payoutMethodId", "failureCode", "reason", "action",)


@dataclass(frozen=True, kw_only=True)
class MerchantBalanceUpdatedData(Model):
    """Merchant balance updated data."""

    merchant_id: str
    external_ref: str
    pending_ves: Decimal
    available_ves: Decimal
    reason: Literal["sale", "release", "reversal"]
    livemode: bool
    """Whether real money moves: false under a test key."""
    pending_cop: Decimal | None = None
    available_cop: Decimal | None = None
    pending_usdt: Decimal | None = None
    available_usdt: Decimal | None = None

    _wire = {
        "merchant_id": ("merchantId", VALUE),
        "external_ref": ("externalRef", VALUE),
        "pending_ves": ("pendingVes", DecimalCodec(2)),
        "available_ves": ("availableVes", DecimalCodec(2)),
        "pending_cop": ("pendingCop", DECIMAL),
        "available_cop": ("availableCop", DECIMAL),
        "pending_usdt": ("pendingUsdt", DecimalCodec(2)),
        "available_usdt": ("availableUsdt", DecimalCodec(2)),
        "reason": ("reason", VALUE),
        "livemode": ("livemode", VALUE),
    }
    _required = ("merchantId", "externalRef", "pendingVes", "availableVes", "reason", "livemode",)


@dataclass(frozen=True, kw_only=True)
class TenantLiveStatusChangedData(Model):
    """Tenant live status changed data."""

    tenant_id: str
    status: Literal["inactive", "active", "suspended"]
    previous_status: Literal["inactive", "active", "suspended"]
    reason: str | None
    livemode: bool
    """Whether real money moves: false under a test key."""

    _wire = {
        "tenant_id": ("tenantId", VALUE),
        "status": ("status", VALUE),
        "previous_status": ("previousStatus", VALUE),
        "reason": ("reason", VALUE),
        "livemode": ("livemode", VALUE),
    }
    _required = ("tenantId", "status", "previousStatus", "reason", "livemode",)


@dataclass(frozen=True, kw_only=True)
class TestResetData(Model):
    """Test reset data."""

    livemode: bool
    """Whether real money moves: false under a test key."""

    _wire = {
        "livemode": ("livemode", VALUE),
    }
    _required = ("livemode",)


#: What the data of an event is, by the event's name.
EVENTS = {
    "conversion.created": ModelCodec("Conversion"),
    "conversion.completed": ModelCodec("Conversion"),
    "conversion.canceled": ModelCodec("Conversion"),
    "crypto_payout.completed": ModelCodec("CryptoPayout"),
    "crypto_payout.failed": ModelCodec("CryptoPayout"),
    "crypto_deposit.completed": ModelCodec("CryptoDeposit"),
    "payment.completed": ModelCodec("Payment", "CopPaymentEvent"),
    "payment.failed": ModelCodec("Payment", "CopPaymentEvent"),
    "payment.canceled": ModelCodec("Payment", "CopPaymentEvent"),
    "payment.reversed": ModelCodec("Payment", "CopPaymentEvent", "PaymentReversedData3"),
    "payment.chargeback": ModelCodec("ChargebackEvent"),
    "payment.chargeback_closed": ModelCodec("ChargebackEvent"),
    "payout.completed": ModelCodec("PayoutCompletedData", "PayoutCompletedData2", "PayoutCompletedData3"),
    "payout.failed": ModelCodec("PayoutFailedData", "PayoutFailedData2", "PayoutFailedData3"),
    "merchant.verified": ModelCodec("MerchantEvent"),
    "merchant.rejected": ModelCodec("MerchantRejectedData"),
    "merchant.deactivated": ModelCodec("MerchantEvent"),
    "merchant.reactivated": ModelCodec("MerchantEvent"),
    "merchant.balance.updated": ModelCodec("MerchantBalanceUpdatedData"),
    "tenant.live_status_changed": ModelCodec("TenantLiveStatusChangedData"),
    "test.reset": ModelCodec("TestResetData"),
}
