<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payout method. */
final class PayoutMethod extends Model
{
    public const WIRE = ['payoutMethodId' => '', 'identifier' => '', 'bankCode' => '', 'phone' => '', 'status' => '', 'isDefault' => '', 'createdAt' => '', 'verifiedAt' => ''];
    public const REQUIRED = ['payoutMethodId', 'identifier', 'bankCode', 'phone', 'status', 'isDefault', 'createdAt', 'verifiedAt'];

    public readonly string $payoutMethodId;
    /** Equal to `payoutMethodId`. */
    public readonly string $identifier;
    /** Four digits; see `GET /v1/banks`. */
    public readonly string $bankCode;
    public readonly string $phone;
    /** @var 'unverified'|'verifying'|'verified' */
    public readonly string $status;
    public readonly bool $isDefault;
    public readonly string $createdAt;
    public readonly ?string $verifiedAt;
}
