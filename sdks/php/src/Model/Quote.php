<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Quote. */
final class Quote extends Model
{
    public const WIRE = ['usdAmount' => 'n', 'bcvRate' => 'n', 'vesAmount' => 'n', 'medianRate' => 'n', 'medianVesAmount' => 'n', 'source' => '', 'fetchedAt' => '', 'sources' => '@QuoteSources'];
    public const REQUIRED = ['usdAmount', 'bcvRate', 'vesAmount', 'medianRate', 'medianVesAmount', 'source', 'fetchedAt', 'sources'];

    public readonly string $usdAmount;
    public readonly string $bcvRate;
    public readonly string $vesAmount;
    public readonly string $medianRate;
    public readonly string $medianVesAmount;
    public readonly string $source;
    public readonly string $fetchedAt;
    public readonly QuoteSources $sources;
}
