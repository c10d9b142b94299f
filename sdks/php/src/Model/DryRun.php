<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Dry run. */
final class DryRun extends Model
{
    public const WIRE = ['dryRun' => '', 'status' => '', 'body' => '', 'movements' => '', 'balance' => '', 'holds' => '@DryRunHoldsItem', 'events' => '', 'orders' => '@DryRunOrdersItem'];
    public const REQUIRED = ['dryRun', 'status', 'body', 'movements', 'balance', 'holds', 'events', 'orders'];

    public readonly bool $dryRun;
    /** The status that the call would have. */
    public readonly int $status;
    /** The body that it would have. Ids, times, keys and secrets in it are those of the rehearsal. */
    public readonly mixed $body;
    /** @var list<mixed> As `GET /v1/balance/transactions` and its kin list them. */
    public readonly array $movements;
    /** As the `GET` of the balance that would move, or `/v1/balance`, would show it. */
    public readonly mixed $balance;
    /** @var list<DryRunHoldsItem> What would be held anew. */
    public readonly array $holds;
    /** @var list<mixed> As `GET /v1/events` lists them. */
    public readonly array $events;
    /** @var list<DryRunOrdersItem> What banks and networks would be told. */
    public readonly array $orders;
}
