<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Opened test account test key. */
final class OpenedTestAccountTestKey extends Model
{
    public const WIRE = ['keyId' => '', 'key' => ''];
    public const REQUIRED = ['keyId', 'key'];

    public readonly string $keyId;
    public readonly string $key;
}
