<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Statement. */
final class Statement extends Model
{
    public const WIRE = ['currency' => '', 'timezone' => '', 'days' => '@StatementDay'];
    public const REQUIRED = ['currency', 'timezone', 'days'];

    /** @var 'VES'|'COP'|'USDT' */
    public readonly string $currency;
    /** @var 'America/Caracas'|'America/Bogota' */
    public readonly string $timezone;
    /** @var list<StatementDay> */
    public readonly array $days;
}
