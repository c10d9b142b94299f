<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Merchant balance. */
final class MerchantBalance extends Model
{
    public const WIRE = ['merchantId' => '', 'externalRef' => '', 'pendingVes' => 't2', 'availableVes' => 't2', 'pendingCop' => 't', 'availableCop' => 't', 'pendingUsdt' => 't2', 'availableUsdt' => 't2', 'nextReleaseAt' => '', 'livemode' => ''];
    public const REQUIRED = ['merchantId', 'externalRef', 'pendingVes', 'availableVes', 'nextReleaseAt', 'livemode'];

    public readonly string $merchantId;
    public readonly string $externalRef;
    public readonly string $pendingVes;
    public readonly string $availableVes;
    /** If there ever were pesos. */
    public readonly ?string $pendingCop;
    public readonly ?string $availableCop;
    /** If there ever were USDT. */
    public readonly ?string $pendingUsdt;
    public readonly ?string $availableUsdt;
    public readonly ?string $nextReleaseAt;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
