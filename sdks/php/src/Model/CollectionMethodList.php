<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Collection method list. */
final class CollectionMethodList extends Model
{
    public const WIRE = ['items' => '@CollectionMethod'];
    public const REQUIRED = ['items'];

    /** @var list<CollectionMethod> */
    public readonly array $items;
}
