<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Checkout state methods item. */
final class CheckoutStateMethodsItem extends Model
{
    public const WIRE = ['method' => '', 'enabled' => '', 'reason' => '', 'amountCop' => ''];
    public const REQUIRED = ['method', 'enabled', 'reason', 'amountCop'];

    /** @var 'c2p'|'usdt'|'cop'|'card'|'pago_movil' */
    public readonly string $method;
    public readonly bool $enabled;
    public readonly ?string $reason;
    /** The total in pesos that a start now would fix. */
    public readonly ?int $amountCop;
}
