<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Crypto network list. */
final class CryptoNetworkList extends Model
{
    public const WIRE = ['items' => '@CryptoNetwork'];
    public const REQUIRED = ['items'];

    /** @var list<CryptoNetwork> */
    public readonly array $items;
}
