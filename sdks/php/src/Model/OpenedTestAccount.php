<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Opened test account. */
final class OpenedTestAccount extends Model
{
    public const WIRE = ['testKey' => '@OpenedTestAccountTestKey'];
    public const REQUIRED = ['testKey'];

    public readonly OpenedTestAccountTestKey $testKey;
}
