<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Balance. */
final class Balance extends Model
{
    public const WIRE = ['ledgerNetVes' => 't2', 'reserveVes' => 't2', 'heldVes' => 't2', 'nextReleaseAt' => '', 'availableVes' => 't2', 'balanceHoldHours' => '', 'convertedVes' => 't2', 'platformAvailableVes' => 't2', 'sellerPendingVes' => 't2', 'sellerAvailableVes' => 't2', 'livemode' => ''];
    public const REQUIRED = ['ledgerNetVes', 'reserveVes', 'heldVes', 'nextReleaseAt', 'availableVes', 'balanceHoldHours', 'convertedVes', 'platformAvailableVes', 'sellerPendingVes', 'sellerAvailableVes', 'livemode'];

    /** The sum of all movements. */
    public readonly string $ledgerNetVes;
    public readonly string $reserveVes;
    /** Under a hold of 24 hours. */
    public readonly string $heldVes;
    /** When the next held amount is released. */
    public readonly ?string $nextReleaseAt;
    /** What can be paid out; below zero after a chargeback at worst. */
    public readonly string $availableVes;
    public readonly int $balanceHoldHours;
    /** Converted to USDT, less what was canceled. */
    public readonly string $convertedVes;
    /** Equal to `availableVes`. */
    public readonly string $platformAvailableVes;
    public readonly string $sellerPendingVes;
    public readonly string $sellerAvailableVes;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
