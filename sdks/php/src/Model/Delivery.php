<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Delivery. */
final class Delivery extends Model
{
    public const WIRE = ['id' => '', 'webhookId' => '', 'eventId' => '', 'event' => '', 'sequence' => '', 'attempt' => '', 'status' => '', 'httpStatus' => '', 'latencyMs' => '', 'error' => '', 'createdAt' => '', 'completedAt' => ''];
    public const REQUIRED = ['id', 'webhookId', 'eventId', 'event', 'sequence', 'attempt', 'status', 'httpStatus', 'latencyMs', 'error', 'createdAt', 'completedAt'];

    public readonly string $id;
    public readonly string $webhookId;
    public readonly string $eventId;
    public readonly string $event;
    public readonly int $sequence;
    /** The number of the try. */
    public readonly int $attempt;
    /** @var 'pending'|'delivered'|'failed' */
    public readonly string $status;
    public readonly ?int $httpStatus;
    public readonly ?int $latencyMs;
    public readonly ?string $error;
    public readonly string $createdAt;
    public readonly ?string $completedAt;
}
