<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Rate. */
final class Rate extends Model
{
    public const WIRE = ['pair' => '', 'source' => '', 'method' => '', 'price' => 'n', 'asOf' => '', 'fetchedAt' => '', 'side' => '', 'paymentMethod' => ''];
    public const REQUIRED = ['pair', 'source', 'method', 'price', 'asOf', 'fetchedAt', 'side', 'paymentMethod'];

    public readonly string $pair;
    public readonly string $source;
    public readonly ?string $method;
    public readonly string $price;
    public readonly string $asOf;
    public readonly ?string $fetchedAt;
    public readonly ?string $side;
    public readonly ?string $paymentMethod;
}
