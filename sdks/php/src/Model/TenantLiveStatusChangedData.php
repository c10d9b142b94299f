<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Tenant live status changed data. */
final class TenantLiveStatusChangedData extends Model
{
    public const WIRE = ['tenantId' => '', 'status' => '', 'previousStatus' => '', 'reason' => '', 'livemode' => ''];
    public const REQUIRED = ['tenantId', 'status', 'previousStatus', 'reason', 'livemode'];

    public readonly string $tenantId;
    /** @var 'inactive'|'active'|'suspended' */
    public readonly string $status;
    /** @var 'inactive'|'active'|'suspended' */
    public readonly string $previousStatus;
    public readonly ?string $reason;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
