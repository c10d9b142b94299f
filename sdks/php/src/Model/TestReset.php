<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Test reset. */
final class TestReset extends Model
{
    public const WIRE = ['resetAt' => ''];
    public const REQUIRED = ['resetAt'];

    public readonly string $resetAt;
}
