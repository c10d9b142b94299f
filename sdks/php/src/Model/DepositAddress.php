<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Deposit address. */
final class DepositAddress extends Model
{
    public const WIRE = ['id' => '', 'object' => '', 'address' => '', 'network' => '', 'asset' => '', 'customerRef' => '', 'livemode' => '', 'createdAt' => ''];
    public const REQUIRED = ['id', 'object', 'address', 'network', 'asset', 'customerRef', 'livemode', 'createdAt'];

    public readonly string $id;
    public readonly string $object;
    public readonly string $address;
    /** @var 'TRC20'|'ERC20'|'BEP20'|'POLYGON' */
    public readonly string $network;
    /** @var 'USDT'|'USDC' */
    public readonly string $asset;
    public readonly string $customerRef;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
}
