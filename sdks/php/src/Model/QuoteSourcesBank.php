<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Quote sources bank. */
final class QuoteSourcesBank extends Model
{
    public const WIRE = ['bcvRate' => 'n', 'fechavalor' => '', 'fetchedAt' => ''];
    public const REQUIRED = ['bcvRate', 'fechavalor', 'fetchedAt'];

    public readonly string $bcvRate;
    public readonly ?string $fechavalor;
    public readonly string $fetchedAt;
}
