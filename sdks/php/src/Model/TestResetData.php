<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Test reset data. */
final class TestResetData extends Model
{
    public const WIRE = ['livemode' => ''];
    public const REQUIRED = ['livemode'];

    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
