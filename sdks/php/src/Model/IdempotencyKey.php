<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Idempotency key. */
final class IdempotencyKey extends Model
{
    public const WIRE = ['key' => '', 'state' => '', 'method' => '', 'path' => '', 'firstSeenAt' => '', 'expiresAt' => '', 'status' => '', 'response' => '', 'walSeq' => ''];
    public const REQUIRED = ['key', 'state', 'method', 'path', 'firstSeenAt', 'expiresAt', 'status', 'response', 'walSeq'];

    public readonly string $key;
    /** @var 'in_progress'|'done' */
    public readonly string $state;
    public readonly string $method;
    public readonly string $path;
    public readonly string $firstSeenAt;
    public readonly string $expiresAt;
    /** The kept status; null while in progress. */
    public readonly ?int $status;
    /** The kept body; null while in progress. */
    public readonly mixed $response;
    public readonly ?int $walSeq;
}
