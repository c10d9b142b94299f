<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** What its mandate lets out today and this month; not there without one. */
final class KeyWithRemainingRemaining extends Model
{
    public const WIRE = ['perDay' => '@KeyWithRemainingRemainingPerDay', 'perMonth' => '@KeyWithRemainingRemainingPerMonth'];
    public const REQUIRED = [];

    public readonly ?KeyWithRemainingRemainingPerDay $perDay;
    public readonly ?KeyWithRemainingRemainingPerMonth $perMonth;
}
