<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payout account. */
final class PayoutAccount extends Model
{
    public const WIRE = ['object' => '', 'bankCode' => '', 'phone' => '', 'identification' => '', 'status' => '', 'livemode' => '', 'createdAt' => '', 'updatedAt' => '', 'verifiedAt' => ''];
    public const REQUIRED = ['object', 'bankCode', 'phone', 'identification', 'status', 'livemode', 'createdAt', 'updatedAt', 'verifiedAt'];

    public readonly string $object;
    /** Four digits; see `GET /v1/banks`. */
    public readonly string $bankCode;
    public readonly string $phone;
    public readonly string $identification;
    /** @var 'unverified'|'verifying'|'verified' */
    public readonly string $status;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly string $updatedAt;
    public readonly ?string $verifiedAt;
}
