<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Crypto deposit. */
final class CryptoDeposit extends Model
{
    public const WIRE = ['id' => '', 'object' => '', 'status' => '', 'amountUsdt' => 't2', 'address' => '', 'depositAddressId' => '', 'network' => '', 'asset' => '', 'customerRef' => '', 'txHash' => '', 'availableAt' => '', 'livemode' => '', 'createdAt' => ''];
    public const REQUIRED = ['id', 'object', 'status', 'amountUsdt', 'address', 'depositAddressId', 'network', 'asset', 'customerRef', 'txHash', 'availableAt', 'livemode', 'createdAt'];

    public readonly string $id;
    public readonly string $object;
    public readonly string $status;
    public readonly string $amountUsdt;
    public readonly string $address;
    public readonly string $depositAddressId;
    /** @var 'TRC20'|'ERC20'|'BEP20'|'POLYGON' */
    public readonly string $network;
    /** @var 'USDT'|'USDC' */
    public readonly string $asset;
    public readonly string $customerRef;
    public readonly string $txHash;
    public readonly string $availableAt;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
}
