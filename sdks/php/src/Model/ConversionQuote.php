<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Conversion quote. */
final class ConversionQuote extends Model
{
    public const WIRE = ['id' => '', 'object' => '', 'rate' => 't4', 'marketRate' => 't4', 'spreadPercent' => 't4', 'rateSource' => '', 'sourceCurrency' => '', 'sourceAmount' => 't', 'sourceAmountVes' => 't2', 'targetAmountUsdt' => 't2', 'livemode' => '', 'expiresAt' => '', 'createdAt' => ''];
    public const REQUIRED = ['id', 'object', 'rate', 'marketRate', 'spreadPercent', 'rateSource', 'sourceCurrency', 'sourceAmount', 'sourceAmountVes', 'targetAmountUsdt', 'livemode', 'expiresAt', 'createdAt'];

    public readonly string $id;
    public readonly string $object;
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
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $expiresAt;
    public readonly string $createdAt;
}
