<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Pago movil quote. */
final class PagoMovilQuote extends Model
{
    public const WIRE = ['exchange_rate_base' => 'n', 'exchange_rate_offered' => 'n', 'exchange_rate_fetched_at' => '', 'margin_percent' => 'n', 'ves_estimate' => 'n'];
    public const REQUIRED = ['exchange_rate_base', 'exchange_rate_offered', 'exchange_rate_fetched_at', 'margin_percent', 'ves_estimate'];

    public readonly string $exchange_rate_base;
    public readonly string $exchange_rate_offered;
    public readonly string $exchange_rate_fetched_at;
    public readonly string $margin_percent;
    /** Null beyond all amounts that are counted. */
    public readonly ?string $ves_estimate;
}
