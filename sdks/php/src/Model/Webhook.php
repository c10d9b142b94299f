<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Webhook. */
final class Webhook extends Model
{
    public const WIRE = ['id' => '', 'object' => '', 'url' => '', 'events' => '', 'status' => '', 'livemode' => '', 'createdAt' => '', 'retry' => '', 'signature' => ''];
    public const REQUIRED = ['id', 'object', 'url', 'events', 'status', 'livemode', 'createdAt', 'retry', 'signature'];

    public readonly string $id;
    public readonly string $object;
    public readonly string $url;
    /** @var list<string> */
    public readonly array $events;
    /** @var 'enabled'|'disabled' */
    public readonly string $status;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    /** @var 'none'|'backoff' */
    public readonly string $retry;
    /** @var 'hex'|'timestamped' */
    public readonly string $signature;
}
