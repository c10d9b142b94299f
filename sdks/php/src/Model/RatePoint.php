<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Rate point. */
final class RatePoint extends Model
{
    public const WIRE = ['pair' => '', 'source' => '', 'method' => '', 'side' => '', 'price' => 'n', 'asOf' => '', 'count' => '', 'suspect' => ''];
    public const REQUIRED = ['pair', 'source', 'method', 'side', 'price', 'asOf'];

    public readonly string $pair;
    public readonly string $source;
    public readonly ?string $method;
    public readonly ?string $side;
    public readonly string $price;
    public readonly string $asOf;
    /** Samples in the bucket. */
    public readonly ?int $count;
    /** True of a sample that was too far from the one before it, and decided nothing. */
    public readonly ?bool $suspect;
}
