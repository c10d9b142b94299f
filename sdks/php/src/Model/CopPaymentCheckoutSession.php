<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** The session through which it was paid. */
final class CopPaymentCheckoutSession extends Model
{
    public const WIRE = ['id' => '', 'reference' => '', 'metadata' => 'o'];
    public const REQUIRED = ['id', 'reference', 'metadata'];

    public readonly string $id;
    public readonly ?string $reference;
    /** @var array<string, mixed> */
    public readonly array $metadata;
}
