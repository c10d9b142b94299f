<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Checkout address. */
final class CheckoutAddress extends Model
{
    public const WIRE = ['address' => '', 'amountUsdt' => 't2', 'receivedUsdt' => 't2', 'network' => '', 'asset' => '', 'expiresAt' => ''];
    public const REQUIRED = ['address', 'amountUsdt', 'receivedUsdt', 'network', 'asset', 'expiresAt'];

    public readonly string $address;
    /** What is to come. */
    public readonly string $amountUsdt;
    /** What has come, to all addresses of the session. */
    public readonly string $receivedUsdt;
    /** @var 'TRC20'|'ERC20'|'BEP20'|'POLYGON' */
    public readonly string $network;
    /** @var 'USDT'|'USDC' */
    public readonly string $asset;
    public readonly string $expiresAt;
}
