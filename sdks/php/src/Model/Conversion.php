<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Conversion. */
final class Conversion extends Model
{
    public const WIRE = ['id' => '', 'object' => '', 'status' => '', 'reference' => '', 'rate' => 't4', 'marketRate' => 't4', 'spreadPercent' => 't4', 'rateSource' => '', 'sourceCurrency' => '', 'sourceAmount' => 't', 'sourceAmountVes' => 't2', 'targetAmountUsdt' => 't2', 'origin' => '', 'paymentId' => '', 'livemode' => '', 'createdAt' => '', 'completedAt' => '', 'canceledAt' => '', 'cancelReason' => ''];
    public const REQUIRED = ['id', 'object', 'status', 'reference', 'rate', 'marketRate', 'spreadPercent', 'rateSource', 'sourceCurrency', 'sourceAmount', 'sourceAmountVes', 'targetAmountUsdt', 'origin', 'paymentId', 'livemode', 'createdAt', 'completedAt', 'canceledAt', 'cancelReason'];

    public readonly string $id;
    public readonly string $object;
    /** @var 'PENDING'|'COMPLETED'|'CANCELED' */
    public readonly string $status;
    public readonly ?string $reference;
    /** What one USDT costs you, the spread included. */
    public readonly string $rate;
    public readonly string $marketRate;
    public readonly string $spreadPercent;
    public readonly string $rateSource;
    /** @var 'VES'|'COP' */
    public readonly string $sourceCurrency;
    /** In the decimals of its currency. */
    public readonly string $sourceAmount;
    /** Null of pesos. */
    public readonly ?string $sourceAmountVes;
    public readonly string $targetAmountUsdt;
    /** `auto` when a COP payment was converted by itself. */
    public readonly ?string $origin;
    /** That payment. */
    public readonly ?string $paymentId;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly ?string $completedAt;
    public readonly ?string $canceledAt;
    /** `canceled_by_tenant`, or why it could not be fulfilled. */
    public readonly ?string $cancelReason;
}
