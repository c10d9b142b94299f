<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** C2p intent. */
final class C2pIntent extends Model
{
    public const WIRE = ['intentId' => '', 'otpRequested' => '', 'status' => '', 'usdAmount' => 'n', 'vesAmount' => 'n', 'bcvRate' => 'n', 'expiresAt' => '', 'externalRef' => '', 'livemode' => ''];
    public const REQUIRED = ['intentId', 'otpRequested', 'status', 'usdAmount', 'vesAmount', 'bcvRate', 'expiresAt', 'externalRef', 'livemode'];

    public readonly string $intentId;
    /** True when the payer's bank sends a code by SMS; false when the payer makes it in the app. */
    public readonly bool $otpRequested;
    public readonly string $status;
    public readonly string $usdAmount;
    public readonly string $vesAmount;
    public readonly string $bcvRate;
    public readonly ?string $expiresAt;
    public readonly string $externalRef;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
