<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payout failed data2. */
final class PayoutFailedData2 extends Model
{
    public const WIRE = ['id' => '', 'payoutId' => '', 'object' => '', 'status' => '', 'reference' => '', 'failureCode' => '', 'externalRef' => '', 'amountCop' => 't', 'currency' => '', 'bank' => '', 'accountNumber' => '', 'accountType' => '', 'holderName' => '', 'documentType' => '', 'documentNumber' => '', 'livemode' => '', 'createdAt' => '', 'settledAt' => ''];
    public const REQUIRED = ['id', 'payoutId', 'object', 'status', 'reference', 'failureCode', 'externalRef', 'amountCop', 'currency', 'bank', 'accountNumber', 'accountType', 'holderName', 'documentType', 'documentNumber', 'livemode', 'createdAt', 'settledAt'];

    public readonly string $id;
    /** Equal to `id`. */
    public readonly string $payoutId;
    public readonly string $object;
    /** @var 'pending'|'completed'|'failed' */
    public readonly string $status;
    public readonly ?string $reference;
    public readonly ?string $failureCode;
    public readonly string $externalRef;
    public readonly string $amountCop;
    public readonly string $currency;
    public readonly string $bank;
    /** Masked. */
    public readonly string $accountNumber;
    /** @var 'savings'|'checking'|'wallet' */
    public readonly string $accountType;
    public readonly string $holderName;
    /** @var 'CC'|'CE'|'TI'|'NIT'|'PP' */
    public readonly string $documentType;
    /** Masked. */
    public readonly string $documentNumber;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly ?string $settledAt;
}
