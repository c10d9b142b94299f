<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Deleted merchant. */
final class DeletedMerchant extends Model
{
    public const WIRE = ['deleted' => '', 'merchantId' => '', 'externalRef' => ''];
    public const REQUIRED = ['deleted', 'merchantId', 'externalRef'];

    public readonly bool $deleted;
    public readonly string $merchantId;
    public readonly string $externalRef;
}
