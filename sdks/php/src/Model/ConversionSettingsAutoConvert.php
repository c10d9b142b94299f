<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Conversion settings auto convert. */
final class ConversionSettingsAutoConvert extends Model
{
    public const WIRE = ['COP' => '@ConversionSettingsAutoConvertCOP'];
    public const REQUIRED = ['COP'];

    public readonly ConversionSettingsAutoConvertCOP $COP;
}
