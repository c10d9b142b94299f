<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Crypto balance. */
final class CryptoBalance extends Model
{
    public const WIRE = ['availableUsdt' => 't2', 'heldUsdt' => 't2', 'held' => 't2', 'pendingPayoutsUsdt' => 't2', 'nextReleaseAt' => '', 'livemode' => ''];
    public const REQUIRED = ['availableUsdt', 'heldUsdt', 'held', 'pendingPayoutsUsdt', 'nextReleaseAt', 'livemode'];

    public readonly string $availableUsdt;
    public readonly string $heldUsdt;
    /** Equal to `heldUsdt`. */
    public readonly string $held;
    public readonly string $pendingPayoutsUsdt;
    public readonly ?string $nextReleaseAt;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
