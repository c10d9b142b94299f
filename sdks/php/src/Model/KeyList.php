<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Key list. */
final class KeyList extends Model
{
    public const WIRE = ['items' => '@Key'];
    public const REQUIRED = ['items'];

    /** @var list<Key> */
    public readonly array $items;
}
