<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Made card token. */
final class MadeCardToken extends Model
{
    public const WIRE = ['token' => '', 'object' => '', 'cardBrand' => '', 'cardLast4' => '', 'expMonth' => '', 'expYear' => '', 'livemode' => '', 'expiresAt' => ''];
    public const REQUIRED = ['token', 'object', 'cardBrand', 'cardLast4', 'expMonth', 'expYear', 'livemode', 'expiresAt'];
    public const SECRET = ['token'];

    public readonly string $token;
    public readonly string $object;
    public readonly string $cardBrand;
    public readonly string $cardLast4;
    public readonly int $expMonth;
    public readonly int $expYear;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $expiresAt;
}
