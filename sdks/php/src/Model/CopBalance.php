<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Cop balance. */
final class CopBalance extends Model
{
    public const WIRE = ['ledgerNetCop' => 't', 'heldCop' => 't', 'nextReleaseAt' => '', 'availableCop' => 't', 'balanceHoldHours' => '', 'livemode' => ''];
    public const REQUIRED = ['ledgerNetCop', 'heldCop', 'nextReleaseAt', 'availableCop', 'balanceHoldHours', 'livemode'];

    public readonly string $ledgerNetCop;
    public readonly string $heldCop;
    public readonly ?string $nextReleaseAt;
    public readonly string $availableCop;
    public readonly int $balanceHoldHours;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
