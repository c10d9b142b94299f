<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payout method list. */
final class PayoutMethodList extends Model
{
    public const WIRE = ['items' => '@PayoutMethod'];
    public const REQUIRED = ['items'];

    /** @var list<PayoutMethod> */
    public readonly array $items;
}
