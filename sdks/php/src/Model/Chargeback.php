<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Chargeback. */
final class Chargeback extends Model
{
    public const WIRE = ['chargebackId' => '', 'object' => '', 'paymentId' => '', 'externalRef' => '', 'status' => '', 'outcome' => '', 'amountVes' => 't2', 'feeVes' => 't2', 'reason' => '', 'bankDebitedAt' => '', 'livemode' => '', 'createdAt' => '', 'closedAt' => ''];
    public const REQUIRED = ['chargebackId', 'object', 'paymentId', 'externalRef', 'status', 'outcome', 'amountVes', 'feeVes', 'reason', 'bankDebitedAt', 'livemode', 'createdAt', 'closedAt'];

    public readonly string $chargebackId;
    public readonly string $object;
    public readonly string $paymentId;
    public readonly string $externalRef;
    /** @var 'open'|'won'|'lost' */
    public readonly string $status;
    /** @var 'won'|'lost'|null Null until it is closed. */
    public readonly ?string $outcome;
    public readonly string $amountVes;
    public readonly string $feeVes;
    /** @var 'fraud'|'not_recognized'|'not_received'|'duplicate'|'other' */
    public readonly string $reason;
    public readonly string $bankDebitedAt;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly ?string $closedAt;
}
