<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Awaiting approval. */
final class AwaitingApproval extends Model
{
    public const WIRE = ['status' => '', 'approvalId' => ''];
    public const REQUIRED = ['status', 'approvalId'];

    public readonly string $status;
    public readonly string $approvalId;
}
