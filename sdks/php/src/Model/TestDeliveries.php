<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Test deliveries. */
final class TestDeliveries extends Model
{
    public const WIRE = ['eventId' => '', 'deliveries' => '@TestDeliveriesDeliveriesItem'];
    public const REQUIRED = ['eventId', 'deliveries'];

    public readonly string $eventId;
    /** @var list<TestDeliveriesDeliveriesItem> */
    public readonly array $deliveries;
}
