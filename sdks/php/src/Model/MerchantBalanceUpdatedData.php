<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Merchant balance updated data. */
final class MerchantBalanceUpdatedData extends Model
{
    public const WIRE = ['merchantId' => '', 'externalRef' => '', 'pendingVes' => 't2', 'availableVes' => 't2', 'pendingCop' => 't', 'availableCop' => 't', 'pendingUsdt' => 't2', 'availableUsdt' => 't2', 'reason' => '', 'livemode' => ''];
    public const REQUIRED = ['merchantId', 'externalRef', 'pendingVes', 'availableVes', 'reason', 'livemode'];

    public readonly string $merchantId;
    public readonly string $externalRef;
    public readonly string $pendingVes;
    public readonly string $availableVes;
    public readonly ?string $pendingCop;
    public readonly ?string $availableCop;
    public readonly ?string $pendingUsdt;
    public readonly ?string $availableUsdt;
    /** @var 'sale'|'release'|'reversal' */
    public readonly string $reason;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
