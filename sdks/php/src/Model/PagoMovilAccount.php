<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Pago movil account. */
final class PagoMovilAccount extends Model
{
    public const WIRE = ['bankCode' => '', 'phone' => '', 'identification' => ''];
    public const REQUIRED = ['bankCode', 'phone', 'identification'];

    /** Four digits; see `GET /v1/banks`. */
    public readonly ?string $bankCode;
    public readonly ?string $phone;
    public readonly ?string $identification;
}
