<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payment reversed data3. */
final class PaymentReversedData3 extends Model
{
    public const WIRE = ['paymentId' => '', 'externalRef' => '', 'attempt' => '', 'status' => '', 'method' => '', 'usdAmount' => 'n', 'vesAmount' => 'n', 'bcvRate' => 'n', 'feeVes' => 'n', 'netVes' => 'n', 'cardLast4' => '', 'reversedAt' => '', 'reversalRef' => '', 'reversalType' => '', 'chargebackId' => '', 'chargebacks' => '@PaymentChargeback', 'createdAt' => '', 'livemode' => ''];
    public const REQUIRED = ['paymentId', 'externalRef', 'attempt', 'status', 'method', 'usdAmount', 'vesAmount', 'bcvRate', 'feeVes', 'netVes', 'cardLast4', 'reversedAt', 'reversalRef', 'reversalType', 'chargebacks', 'createdAt', 'livemode'];

    public readonly string $paymentId;
    public readonly string $externalRef;
    /** The number of this payment among those under its `externalRef`, from 1. */
    public readonly int $attempt;
    public readonly string $status;
    public readonly string $method;
    public readonly string $usdAmount;
    public readonly string $vesAmount;
    public readonly string $bcvRate;
    public readonly ?string $feeVes;
    public readonly ?string $netVes;
    public readonly ?string $cardLast4;
    public readonly string $reversedAt;
    public readonly ?string $reversalRef;
    /** @var 'reversal'|'chargeback' */
    public readonly string $reversalType;
    public readonly ?string $chargebackId;
    /** @var list<PaymentChargeback> */
    public readonly array $chargebacks;
    public readonly string $createdAt;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
