<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Movement. */
final class Movement extends Model
{
    public const WIRE = ['id' => '', 'type' => '', 'amountVes' => 't2', 'amountCop' => 't', 'amountUsdt' => 't2', 'currency' => '', 'paymentId' => '', 'payoutId' => '', 'chargebackId' => '', 'externalRef' => '', 'description' => '', 'livemode' => '', 'createdAt' => '', 'conversionId' => '', 'merchantId' => '', 'availableAt' => ''];
    public const REQUIRED = ['id', 'type', 'currency', 'paymentId', 'payoutId', 'chargebackId', 'externalRef', 'description', 'livemode', 'createdAt'];

    public readonly string $id;
    /** @var 'payment'|'fee'|'fee_reversal'|'reversal'|'chargeback'|'chargeback_fee'|'chargeback_reversal'|'payout'|'payout_fee'|'payout_reversal'|'adjustment'|'seller_transfer'|'seller_transfer_reversal'|'conversion'|'conversion_reversal'|'PLATFORM_FEE'|'deposit' */
    public readonly string $type;
    /** Signed; negative is money out. In bolívares. */
    public readonly ?string $amountVes;
    /** In pesos. */
    public readonly ?string $amountCop;
    /** In USDT. */
    public readonly ?string $amountUsdt;
    /** @var 'VES'|'COP'|'USDT' */
    public readonly string $currency;
    public readonly ?string $paymentId;
    public readonly ?string $payoutId;
    public readonly ?string $chargebackId;
    public readonly ?string $externalRef;
    public readonly string $description;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly ?string $conversionId;
    /** On a seller's balance: whose. */
    public readonly ?string $merchantId;
    /** The end of the hold, while it lasts. */
    public readonly ?string $availableAt;
}
