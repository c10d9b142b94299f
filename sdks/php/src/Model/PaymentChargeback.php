<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payment chargeback. */
final class PaymentChargeback extends Model
{
    public const WIRE = ['chargebackId' => '', 'status' => '', 'amountVes' => 't2', 'feeVes' => 't2', 'reason' => '', 'bankDebitedAt' => ''];
    public const REQUIRED = ['chargebackId', 'status', 'amountVes', 'feeVes', 'reason', 'bankDebitedAt'];

    public readonly string $chargebackId;
    /** @var 'open'|'won'|'lost' */
    public readonly string $status;
    public readonly string $amountVes;
    public readonly string $feeVes;
    /** @var 'fraud'|'not_recognized'|'not_received'|'duplicate'|'other' */
    public readonly string $reason;
    public readonly string $bankDebitedAt;
}
