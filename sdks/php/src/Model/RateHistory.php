<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Rate history. */
final class RateHistory extends Model
{
    public const WIRE = ['pair' => '', 'source' => '', 'side' => '', 'interval' => '', 'aggregation' => '', 'data' => '@RatePoint', 'count' => ''];
    public const REQUIRED = ['pair', 'source', 'side', 'interval', 'aggregation', 'data', 'count'];

    public readonly string $pair;
    public readonly ?string $source;
    public readonly ?string $side;
    /** @var 'hour'|'day'|null */
    public readonly ?string $interval;
    public readonly ?string $aggregation;
    /** @var list<RatePoint> */
    public readonly array $data;
    public readonly int $count;
}
