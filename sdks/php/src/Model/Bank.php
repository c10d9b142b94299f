<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Bank. */
final class Bank extends Model
{
    public const WIRE = ['code' => '', 'name' => '', 'services' => '', 'logoUrl' => ''];
    public const REQUIRED = ['code', 'name', 'services', 'logoUrl'];

    public readonly string $code;
    public readonly string $name;
    /** @var list<'C2P'|'PAGO_MOVIL'|'DEBIT'|'CREDIT'> */
    public readonly array $services;
    /** Null means: show the name alone. */
    public readonly ?string $logoUrl;
}
