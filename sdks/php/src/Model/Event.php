<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Event. */
final class Event extends Model
{
    public const WIRE = ['id' => '', 'sequence' => '', 'event' => '', 'data' => 'o', 'timestamp' => '', 'livemode' => '', 'createdAt' => ''];
    public const REQUIRED = ['id', 'sequence', 'event', 'data', 'timestamp', 'livemode', 'createdAt'];

    /** `Svc-Event-Id` of its deliveries. */
    public readonly string $id;
    public readonly int $sequence;
    /** @var 'payment.completed'|'payment.failed'|'payment.canceled'|'payment.reversed'|'payment.chargeback'|'payment.chargeback_closed'|'payout.completed'|'payout.failed'|'merchant.verified'|'merchant.rejected'|'merchant.deactivated'|'merchant.reactivated'|'merchant.balance.updated'|'conversion.created'|'conversion.completed'|'conversion.canceled'|'tenant.live_status_changed'|'crypto_payout.completed'|'crypto_payout.failed'|'crypto_deposit.completed'|'test.reset' */
    public readonly string $event;
    /** @var array<string, mixed> What the event says; its members are under `webhooks`. */
    public readonly array $data;
    public readonly string $timestamp;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
}
