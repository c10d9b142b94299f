<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Operation. */
final class Operation extends Model
{
    public const WIRE = ['operationId' => '', 'kind' => '', 'status' => '', 'code' => '', 'reference' => '', 'contradicted' => '', 'paymentId' => '', 'payoutId' => '', 'createdAt' => '', 'updatedAt' => ''];
    public const REQUIRED = ['operationId', 'kind', 'status', 'code', 'reference', 'contradicted', 'paymentId', 'payoutId', 'createdAt', 'updatedAt'];

    public readonly string $operationId;
    /** @var 'charge'|'debit'|'verification'|'reversal'|'otp'|'credit'|'collection'|'refund' */
    public readonly string $kind;
    /** @var 'pending'|'completed'|'failed' */
    public readonly string $status;
    /** The bank's code, when it failed. */
    public readonly ?string $code;
    /** The bank's reference. */
    public readonly ?string $reference;
    /**
     * The bank said both that it was done and that it was not. No money moved by the second word; the operator
     * clears it up with the bank.
     */
    public readonly bool $contradicted;
    public readonly ?string $paymentId;
    public readonly ?string $payoutId;
    public readonly string $createdAt;
    public readonly string $updatedAt;
}
