<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Found list. */
final class FoundList extends Model
{
    public const WIRE = ['items' => '@Found'];
    public const REQUIRED = ['items'];

    /** @var list<Found> */
    public readonly array $items;
}
