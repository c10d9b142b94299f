<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Made key. */
final class MadeKey extends Model
{
    public const WIRE = ['keyId' => '', 'key' => '', 'mode' => '', 'prefix' => '', 'scopes' => '', 'createdAt' => '', 'expiresAt' => '', 'name' => '', 'mandate' => '@Mandate'];
    public const REQUIRED = ['keyId', 'key', 'mode', 'prefix', 'scopes', 'createdAt', 'expiresAt', 'name', 'mandate'];

    public readonly string $keyId;
    public readonly string $key;
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
}
