<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Fee estimate breakdown. */
final class FeeEstimateBreakdown extends Model
{
    public const WIRE = ['serviceFee' => 'n', 'blockchainFee' => 'n', 'totalFee' => 'n'];
    public const REQUIRED = ['serviceFee', 'blockchainFee', 'totalFee'];

    public readonly string $serviceFee;
    public readonly string $blockchainFee;
    public readonly string $totalFee;
}
