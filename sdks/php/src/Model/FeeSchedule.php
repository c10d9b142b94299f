<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Fee schedule. */
final class FeeSchedule extends Model
{
    public const WIRE = ['policy' => '', 'minWithdrawalCents' => '', 'summary' => '', 'serviceFeePercent' => 'n', 'serviceFeeFixedCents' => '', 'networkFeeCents' => '', 'tiers' => '@FeeScheduleTiersItem'];
    public const REQUIRED = ['policy', 'minWithdrawalCents', 'summary'];

    /** @var 'legacy_flat'|'tiered_v1'|'tiered_v2' */
    public readonly string $policy;
    public readonly int $minWithdrawalCents;
    public readonly string $summary;
    public readonly ?string $serviceFeePercent;
    public readonly ?int $serviceFeeFixedCents;
    public readonly ?int $networkFeeCents;
    /** @var list<FeeScheduleTiersItem> */
    public readonly ?array $tiers;
}
