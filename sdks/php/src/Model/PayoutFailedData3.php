<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payout failed data3. */
final class PayoutFailedData3 extends Model
{
    public const WIRE = ['id' => '', 'object' => '', 'status' => '', 'amountUsdt' => 't2', 'networkFeeUsdt' => 't2', 'totalUsdt' => 't2', 'address' => '', 'network' => '', 'txHash' => '', 'externalRef' => '', 'failureCode' => '', 'livemode' => '', 'createdAt' => '', 'completedAt' => '', 'payoutId' => '', 'currency' => ''];
    public const REQUIRED = ['id', 'object', 'status', 'amountUsdt', 'networkFeeUsdt', 'totalUsdt', 'address', 'network', 'txHash', 'externalRef', 'failureCode', 'livemode', 'createdAt', 'completedAt', 'payoutId', 'currency'];

    public readonly string $id;
    public readonly string $object;
    /** @var 'pending_review'|'processing'|'completed'|'failed'|'rejected' */
    public readonly string $status;
    public readonly string $amountUsdt;
    public readonly string $networkFeeUsdt;
    public readonly string $totalUsdt;
    public readonly string $address;
    /** @var 'TRC20'|'ERC20'|'BEP20'|'POLYGON' */
    public readonly string $network;
    public readonly ?string $txHash;
    public readonly string $externalRef;
    public readonly ?string $failureCode;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly ?string $completedAt;
    public readonly string $payoutId;
    public readonly string $currency;
}
