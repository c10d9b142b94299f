<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Chargeback event. */
final class ChargebackEvent extends Model
{
    public const WIRE = ['chargebackId' => '', 'paymentId' => '', 'externalRef' => '', 'attempt' => '', 'method' => '', 'status' => '', 'amountVes' => 't2', 'feeVes' => 't2', 'reason' => '', 'bankDebitedAt' => '', 'paymentStatus' => '', 'vesAmount' => 't2', 'usdAmount' => 't2', 'ledgerEntryIds' => '', 'createdAt' => '', 'outcome' => '', 'closedAt' => '', 'livemode' => ''];
    public const REQUIRED = ['chargebackId', 'paymentId', 'externalRef', 'attempt', 'method', 'status', 'amountVes', 'feeVes', 'reason', 'bankDebitedAt', 'paymentStatus', 'vesAmount', 'usdAmount', 'ledgerEntryIds', 'createdAt', 'livemode'];

    /** The same in both events. */
    public readonly string $chargebackId;
    public readonly string $paymentId;
    public readonly string $externalRef;
    /** The number of this payment among those under its `externalRef`, from 1. */
    public readonly int $attempt;
    public readonly string $method;
    /** @var 'open'|'won'|'lost' */
    public readonly string $status;
    public readonly string $amountVes;
    public readonly string $feeVes;
    /** @var 'fraud'|'not_recognized'|'not_received'|'duplicate'|'other' */
    public readonly string $reason;
    public readonly string $bankDebitedAt;
    /** @var 'COMPLETED'|'REVERSED' */
    public readonly string $paymentStatus;
    public readonly string $vesAmount;
    public readonly string $usdAmount;
    /** @var list<string> The movements that it made; none when the dispute is lost. */
    public readonly array $ledgerEntryIds;
    public readonly string $createdAt;
    /** @var 'won'|'lost' */
    public readonly ?string $outcome;
    public readonly ?string $closedAt;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
}
