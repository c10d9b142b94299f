<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payment. */
final class Payment extends Model
{
    public const WIRE = ['id' => '', 'paymentId' => '', 'object' => '', 'externalRef' => '', 'attempt' => '', 'status' => '', 'method' => '', 'failureCode' => '', 'cancelReason' => '', 'usdAmount' => 'n', 'vesAmount' => 'n', 'bcvRate' => 'n', 'feeVes' => 'n', 'netVes' => 'n', 'merchantId' => '', 'applicationFeePercent' => 'n', 'applicationFeeVes' => 'n', 'sellerNetVes' => 'n', 'debtorBankCode' => '', 'debtorId' => '', 'debtorCellPhone' => '', 'cardLast4' => '', 'cardBrand' => '', 'bankReference' => '', 'operationId' => '', 'description' => '', 'checkoutSessionId' => '', 'reference' => '', 'checkoutSession' => '@PaymentCheckoutSession', 'reversedAt' => '', 'reversalRef' => '', 'reversalType' => '', 'chargebacks' => '@PaymentChargeback', 'livemode' => '', 'createdAt' => '', 'expiresAt' => '', 'completedAt' => '', 'availableAt' => '', 'currency' => '', 'amountUsdt' => 't2', 'txHash' => '', 'sellerNetUsdt' => 't2', 'channel' => '', 'amountCop' => '', 'feeCop' => '', 'netCop' => '', 'applicationFeeCop' => '', 'sellerNetCop' => '', 'metadata' => 'o', 'amountUsd' => 't2', 'copRate' => '', 'copMarketRate' => ''];
    public const REQUIRED = ['id', 'paymentId', 'object', 'externalRef', 'attempt', 'status', 'method', 'failureCode', 'cancelReason', 'usdAmount', 'vesAmount', 'bcvRate', 'feeVes', 'netVes', 'merchantId', 'applicationFeePercent', 'applicationFeeVes', 'sellerNetVes', 'debtorBankCode', 'debtorId', 'debtorCellPhone', 'cardLast4', 'cardBrand', 'bankReference', 'operationId', 'description', 'checkoutSessionId', 'reference', 'checkoutSession', 'reversedAt', 'reversalRef', 'reversalType', 'chargebacks', 'livemode', 'createdAt', 'expiresAt', 'completedAt', 'availableAt'];

    public readonly string $id;
    /** Equal to `id`; of C2P the `intentId` too. */
    public readonly string $paymentId;
    public readonly string $object;
    /** Null of payments in pesos and in USDT; of one through a checkout session, the session's id. */
    public readonly ?string $externalRef;
    /** The number of this payment among those under its `externalRef`, from 1. */
    public readonly int $attempt;
    /** @var 'PENDING'|'COMPLETED'|'FAILED'|'CANCELED'|'REVERSED' */
    public readonly string $status;
    /** @var 'C2P'|'VPOS'|'DEBIT'|'PAGO_MOVIL'|'COP'|'USDT' */
    public readonly string $method;
    /** The bank's code, when it failed, such as `AM04` (insufficient funds) or `TKCM` (wrong key). */
    public readonly ?string $failureCode;
    /** @var 'superseded'|'expired'|null */
    public readonly ?string $cancelReason;
    public readonly ?string $usdAmount;
    public readonly ?string $vesAmount;
    public readonly ?string $bcvRate;
    /** Null until completed. */
    public readonly ?string $feeVes;
    /** `vesAmount` less `feeVes`; null until completed. */
    public readonly ?string $netVes;
    public readonly ?string $merchantId;
    public readonly ?string $applicationFeePercent;
    public readonly ?string $applicationFeeVes;
    public readonly ?string $sellerNetVes;
    /** Four digits; see `GET /v1/banks`. */
    public readonly ?string $debtorBankCode;
    /** Masked: `V***678`. */
    public readonly ?string $debtorId;
    /** Masked: `0414***4567`. */
    public readonly ?string $debtorCellPhone;
    public readonly ?string $cardLast4;
    /** @var 'visa'|'mastercard'|'amex'|'diners'|'discover'|'jcb'|'unionpay'|'maestro'|'unknown'|null */
    public readonly ?string $cardBrand;
    public readonly ?string $bankReference;
    /** While a bank is being asked; see `GET /v1/payments/operations/{id}`. */
    public readonly ?string $operationId;
    public readonly ?string $description;
    /** The checkout session through which it was paid. */
    public readonly ?string $checkoutSessionId;
    /** Of the checkout session; of a payment in pesos its own. */
    public readonly ?string $reference;
    /** The session through which it was paid. */
    public readonly ?PaymentCheckoutSession $checkoutSession;
    public readonly ?string $reversedAt;
    public readonly ?string $reversalRef;
    /** @var 'reversal'|'chargeback'|'refund'|null */
    public readonly ?string $reversalType;
    /** @var list<PaymentChargeback> */
    public readonly array $chargebacks;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly ?string $expiresAt;
    public readonly ?string $completedAt;
    /** The end of the hold. */
    public readonly ?string $availableAt;
    /** @var 'COP'|'USDT' With members of their own, of payments in pesos and in USDT. */
    public readonly ?string $currency;
    /** What came. */
    public readonly ?string $amountUsdt;
    /** Of the transfer that completed it. */
    public readonly ?string $txHash;
    public readonly ?string $sellerNetUsdt;
    public readonly ?string $channel;
    public readonly ?int $amountCop;
    public readonly ?int $feeCop;
    public readonly ?int $netCop;
    public readonly ?int $applicationFeeCop;
    public readonly ?int $sellerNetCop;
    /** @var array<string, mixed>|null */
    public readonly ?array $metadata;
    /** With `copRate`, of what was paid through a checkout session. */
    public readonly ?string $amountUsd;
    public readonly ?string $copRate;
    public readonly ?string $copMarketRate;
}
