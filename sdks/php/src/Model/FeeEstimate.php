<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Fee estimate. */
final class FeeEstimate extends Model
{
    public const WIRE = ['serviceFeeCents' => '', 'blockchainFeeCents' => '', 'totalFeeCents' => '', 'amountToReceiveCents' => '', 'breakdown' => '@FeeEstimateBreakdown', 'feePercent' => 'n', 'feeFixedCents' => '', 'feeTier' => '', 'feePolicyVersion' => '', 'feeBreakdownLabel' => ''];
    public const REQUIRED = ['serviceFeeCents', 'blockchainFeeCents', 'totalFeeCents', 'amountToReceiveCents'];

    public readonly int $serviceFeeCents;
    public readonly int $blockchainFeeCents;
    public readonly int $totalFeeCents;
    public readonly int $amountToReceiveCents;
    public readonly ?FeeEstimateBreakdown $breakdown;
    public readonly ?string $feePercent;
    public readonly ?int $feeFixedCents;
    public readonly ?string $feeTier;
    public readonly ?string $feePolicyVersion;
    public readonly ?string $feeBreakdownLabel;
}
