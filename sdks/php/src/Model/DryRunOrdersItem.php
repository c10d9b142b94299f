<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Dry run orders item. */
final class DryRunOrdersItem extends Model
{
    public const WIRE = ['rail' => '', 'kind' => '', 'amount' => '', 'currency' => ''];
    public const REQUIRED = ['rail', 'kind', 'amount', 'currency'];

    public readonly string $rail;
    /** As operators see operations: `c2p`, `payout` … */
    public readonly string $kind;
    public readonly string $amount;
    /** @var 'VES'|'COP'|'USDT' */
    public readonly string $currency;
}
