<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Test deliveries deliveries item. */
final class TestDeliveriesDeliveriesItem extends Model
{
    public const WIRE = ['webhookId' => '', 'status' => '', 'httpStatus' => '', 'error' => ''];
    public const REQUIRED = ['webhookId', 'status', 'httpStatus', 'error'];

    public readonly string $webhookId;
    /** @var 'pending'|'delivered'|'failed' */
    public readonly string $status;
    public readonly ?int $httpStatus;
    public readonly ?string $error;
}
