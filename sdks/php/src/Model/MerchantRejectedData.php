<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Merchant rejected data. */
final class MerchantRejectedData extends Model
{
    public const WIRE = ['merchantId' => '', 'object' => '', 'externalRef' => '', 'name' => '', 'identification' => '', 'contactEmail' => '', 'contactPhone' => '', 'status' => '', 'isActive' => '', 'payoutMethods' => '@PayoutMethod', 'message' => '', 'livemode' => '', 'createdAt' => '', 'updatedAt' => '', 'payoutMethodId' => '', 'failureCode' => '', 'reason' => '', 'action' => ''];
    public const REQUIRED = ['merchantId', 'object', 'externalRef', 'name', 'identification', 'contactEmail', 'contactPhone', 'status', 'isActive', 'payoutMethods', 'message', 'livemode', 'createdAt', 'updatedAt', 'payoutMethodId', 'failureCode', 'reason', 'action'];

    public readonly string $merchantId;
    public readonly string $object;
    public readonly string $externalRef;
    public readonly ?string $name;
    public readonly ?string $identification;
    public readonly ?string $contactEmail;
    public readonly ?string $contactPhone;
    /**
     * @var 'shell'|'unverified'|'verified'|'rejected' `shell`: no method; `verified`: at least one verified;
     *     `rejected`: the bank rejected the last one.
     */
    public readonly string $status;
    public readonly bool $isActive;
    /** @var list<PayoutMethod> */
    public readonly array $payoutMethods;
    /** Says so when no payout method exists. */
    public readonly ?string $message;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly string $updatedAt;
    public readonly string $payoutMethodId;
    public readonly ?string $failureCode;
    public readonly string $reason;
    public readonly string $action;
}
