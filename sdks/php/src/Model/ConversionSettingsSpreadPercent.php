<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Conversion settings spread percent. */
final class ConversionSettingsSpreadPercent extends Model
{
    public const WIRE = ['VES' => 't4', 'COP' => 't4'];
    public const REQUIRED = ['VES', 'COP'];

    public readonly string $VES;
    public readonly string $COP;
}
