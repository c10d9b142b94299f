<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payout failed data. */
final class PayoutFailedData extends Model
{
    public const WIRE = ['payoutId' => '', 'object' => '', 'kind' => '', 'status' => '', 'reference' => '', 'failureCode' => '', 'externalRef' => '', 'batchId' => '', 'merchantId' => '', 'payoutMethodId' => '', 'merchantName' => '', 'paymentId' => '', 'monto' => 't2', 'feeVes' => 't2', 'concepto' => '', 'bankCode' => '', 'destination' => '', 'fromMerchantBalance' => '', 'operationId' => '', 'livemode' => '', 'createdAt' => '', 'settledAt' => '', 'currency' => ''];
    public const REQUIRED = ['payoutId', 'object', 'kind', 'status', 'reference', 'failureCode', 'externalRef', 'batchId', 'merchantId', 'payoutMethodId', 'merchantName', 'paymentId', 'monto', 'feeVes', 'concepto', 'bankCode', 'destination', 'fromMerchantBalance', 'operationId', 'livemode', 'createdAt', 'settledAt', 'currency'];

    public readonly string $payoutId;
    public readonly string $object;
    /** @var 'merchant'|'instant'|'credit'|'account'|'change' */
    public readonly string $kind;
    /** @var 'pending'|'completed'|'failed' */
    public readonly string $status;
    /** The bank's reference; null while pending. */
    public readonly ?string $reference;
    /** The bank's code, when it failed. */
    public readonly ?string $failureCode;
    public readonly string $externalRef;
    public readonly ?string $batchId;
    public readonly ?string $merchantId;
    public readonly ?string $payoutMethodId;
    public readonly ?string $merchantName;
    /** Of change: the payment. */
    public readonly ?string $paymentId;
    public readonly string $monto;
    public readonly string $feeVes;
    public readonly string $concepto;
    /** Four digits; see `GET /v1/banks`. */
    public readonly string $bankCode;
    /** Masked: an ellipsis and the last four digits. */
    public readonly string $destination;
    public readonly bool $fromMerchantBalance;
    /** While the bank is being asked; see `GET /v1/payments/operations/{id}`. */
    public readonly ?string $operationId;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly ?string $settledAt;
    public readonly string $currency;
}
