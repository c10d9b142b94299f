<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Quote sources bank error. */
final class QuoteSourcesBankError extends Model
{
    public const WIRE = ['error' => ''];
    public const REQUIRED = ['error'];

    /** `BANK_NOT_CONFIGURED`, or `BANK_UNAVAILABLE`. */
    public readonly string $error;
}
