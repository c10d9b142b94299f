<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Webhook list. */
final class WebhookList extends Model
{
    public const WIRE = ['items' => '@Webhook'];
    public const REQUIRED = ['items'];

    /** @var list<Webhook> */
    public readonly array $items;
}
