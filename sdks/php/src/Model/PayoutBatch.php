<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payout batch. */
final class PayoutBatch extends Model
{
    public const WIRE = ['batchId' => '', 'externalRef' => '', 'items' => '@Payout|RefusedItem', 'livemode' => ''];
    public const REQUIRED = ['batchId', 'externalRef', 'items', 'livemode'];

    public readonly string $batchId;
    public readonly string $externalRef;
    /** @var list<Payout|RefusedItem> */
    public readonly array $items;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
