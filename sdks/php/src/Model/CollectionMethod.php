<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Collection method. */
final class CollectionMethod extends Model
{
    public const WIRE = ['method' => '', 'enabled' => '', 'currency' => '', 'reason' => ''];
    public const REQUIRED = ['method', 'enabled', 'currency', 'reason'];

    /** @var 'C2P'|'VPOS'|'DEBIT'|'PAGO_MOVIL'|'COP'|'USDT' */
    public readonly string $method;
    public readonly bool $enabled;
    /** @var 'VES'|'COP'|'USDT' */
    public readonly string $currency;
    /** Why it is not enabled: `rail_not_configured`, `no_bank_offers_it`, `rate_unavailable`, `cop_not_enabled`. */
    public readonly ?string $reason;
}
