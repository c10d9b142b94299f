<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Revoked key. */
final class RevokedKey extends Model
{
    public const WIRE = ['keyId' => '', 'mode' => '', 'prefix' => '', 'scopes' => '', 'createdAt' => '', 'expiresAt' => '', 'name' => '', 'mandate' => '@Mandate', 'lastUsedAt' => '', 'revokedAt' => '', 'replaces' => '', 'successors' => '@Key'];
    public const REQUIRED = ['keyId', 'mode', 'prefix', 'scopes', 'createdAt', 'expiresAt', 'name', 'mandate', 'lastUsedAt', 'revokedAt', 'replaces', 'successors'];

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
    /** @var list<Key> The keys that came in its place, and in theirs; oldest first. */
    public readonly array $successors;
}
