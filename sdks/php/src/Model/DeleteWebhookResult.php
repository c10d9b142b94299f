<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Delete webhook result. */
final class DeleteWebhookResult extends Model
{
    public const WIRE = ['deleted' => '', 'id' => ''];
    public const REQUIRED = ['deleted', 'id'];

    public readonly bool $deleted;
    public readonly string $id;
}
