<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Deliveries. */
final class Deliveries extends Model
{
    public const WIRE = ['eventId' => '', 'deliveries' => '@Delivery'];
    public const REQUIRED = ['eventId', 'deliveries'];

    public readonly string $eventId;
    /** @var list<Delivery> */
    public readonly array $deliveries;
}
