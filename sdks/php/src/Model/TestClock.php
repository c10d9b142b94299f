<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Test clock. */
final class TestClock extends Model
{
    public const WIRE = ['now' => '', 'livemode' => ''];
    public const REQUIRED = ['now', 'livemode'];

    public readonly string $now;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
