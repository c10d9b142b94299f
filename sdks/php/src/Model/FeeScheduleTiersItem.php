<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Fee schedule tiers item. */
final class FeeScheduleTiersItem extends Model
{
    public const WIRE = ['minAmountCents' => '', 'maxAmountCents' => '', 'serviceFeePercent' => 'n', 'serviceFeeFixedCents' => '', 'label' => ''];
    public const REQUIRED = ['minAmountCents', 'serviceFeePercent', 'serviceFeeFixedCents', 'label'];

    public readonly int $minAmountCents;
    public readonly ?int $maxAmountCents;
    public readonly string $serviceFeePercent;
    public readonly int $serviceFeeFixedCents;
    public readonly string $label;
}
