<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Debit otp. */
final class DebitOtp extends Model
{
    public const WIRE = ['requested' => '', 'operationId' => '', 'expiresAt' => '', 'failureCode' => '', 'livemode' => ''];
    public const REQUIRED = ['requested', 'operationId', 'expiresAt', 'failureCode', 'livemode'];

    public readonly bool $requested;
    public readonly string $operationId;
    public readonly string $expiresAt;
    public readonly ?string $failureCode;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
