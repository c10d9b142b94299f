<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Conversion settings change auto convert. */
final class ConversionSettingsChangeAutoConvert extends Model
{
    public const WIRE = ['COP' => '@ConversionSettingsChangeAutoConvertCOP'];
    public const REQUIRED = ['COP'];

    public function __construct(
        public readonly ConversionSettingsChangeAutoConvertCOP $COP,
    ) {
        parent::__construct();
    }
}
