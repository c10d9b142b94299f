<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Conversion settings daily limit. */
final class ConversionSettingsDailyLimit extends Model
{
    public const WIRE = ['VES' => 't2', 'COP' => 't'];
    public const REQUIRED = ['VES', 'COP'];

    public readonly ?string $VES;
    public readonly ?string $COP;
}
