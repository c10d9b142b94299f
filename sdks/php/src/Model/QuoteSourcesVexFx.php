<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Quote sources vex fx. */
final class QuoteSourcesVexFx extends Model
{
    public const WIRE = ['bcvRate' => 'n', 'fetchedAt' => ''];
    public const REQUIRED = ['bcvRate', 'fetchedAt'];

    public readonly string $bcvRate;
    public readonly string $fetchedAt;
}
