<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Dry run holds item. */
final class DryRunHoldsItem extends Model
{
    public const WIRE = ['currency' => '', 'amount' => '', 'availableAt' => ''];
    public const REQUIRED = ['currency', 'amount', 'availableAt'];

    /** @var 'VES'|'COP'|'USDT' */
    public readonly string $currency;
    public readonly string $amount;
    /** Null where a bank's decision ends it. */
    public readonly ?string $availableAt;
}
