<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Refused item. */
final class RefusedItem extends Model
{
    public const WIRE = ['externalRef' => '', 'status' => '', 'failureCode' => '', 'error' => ''];
    public const REQUIRED = ['status', 'failureCode', 'error'];

    public readonly ?string $externalRef;
    public readonly string $status;
    /** The code with which a single payout would have been refused. Its reference stays free. */
    public readonly string $failureCode;
    public readonly string $error;
}
