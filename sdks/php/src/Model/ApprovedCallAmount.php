<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** What goes out, with fees. */
final class ApprovedCallAmount extends Model
{
    public const WIRE = ['VES' => 't2', 'COP' => '', 'USDT' => 't2'];
    public const REQUIRED = [];

    public readonly ?string $VES;
    public readonly ?int $COP;
    public readonly ?string $USDT;
}
