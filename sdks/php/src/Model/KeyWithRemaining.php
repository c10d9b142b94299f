<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Key with remaining. */
final class KeyWithRemaining extends Model
{
    public const WIRE = ['keyId' => '', 'mode' => '', 'prefix' => '', 'scopes' => '', 'createdAt' => '', 'expiresAt' => '', 'name' => '', 'mandate' => '@Mandate', 'lastUsedAt' => '', 'revokedAt' => '', 'replaces' => '', 'remaining' => '@KeyWithRemainingRemaining'];
    public const REQUIRED = ['keyId', 'mode', 'prefix', 'scopes', 'createdAt', 'expiresAt', 'name', 'mandate', 'lastUsedAt', 'revokedAt', 'replaces'];

    public readonly string $keyId;
    /** @var 'live'|'test' */
    public readonly string $mode;
    /** Its first characters. */
    public readonly string $prefix;
    /** @var list<'read'|'collect'|'payout'|'convert'|'manage'|'keys'> What it may do. */
    public readonly array $scopes;
    public readonly string $createdAt;
    public readonly ?string $expiresAt;
    /** What people call it. */
    public readonly ?string $name;
    public readonly ?Mandate $mandate;
    public readonly ?string $lastUsedAt;
    public readonly ?string $revokedAt;
    /** The key whose place it took. */
    public readonly ?string $replaces;
    /** What its mandate lets out today and this month; not there without one. */
    public readonly ?KeyWithRemainingRemaining $remaining;
}
