<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Get health result. */
final class GetHealthResult extends Model
{
    public const WIRE = ['status' => ''];
    public const REQUIRED = ['status'];

    public readonly string $status;
}
