<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Conversion settings change auto convert cop. */
final class ConversionSettingsChangeAutoConvertCOP extends Model
{
    public const WIRE = ['percent' => ''];
    public const REQUIRED = ['percent'];

    public function __construct(
        public readonly int $percent,
    ) {
        parent::__construct();
    }
}
