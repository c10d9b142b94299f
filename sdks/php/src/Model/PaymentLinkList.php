<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payment link list. */
final class PaymentLinkList extends Model
{
    public const WIRE = ['items' => '@PaymentLink'];
    public const REQUIRED = ['items'];

    /** @var list<PaymentLink> */
    public readonly array $items;
}
