<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Refused item. */
final class RefusedItem extends Model
{
    public const WIRE = ['payoutId' => '', 'status' => '', 'reference' => '', 'failureCode' => '', 'externalRef' => '', 'merchantId' => '', 'payoutMethodId' => '', 'merchantName' => '', 'monto' => 't2', 'concepto' => '', 'bankCode' => '', 'destination' => '', 'operationId' => '', 'createdAt' => '', 'settledAt' => '', 'error' => ''];
    public const REQUIRED = ['payoutId', 'status', 'reference', 'failureCode', 'externalRef', 'merchantId', 'payoutMethodId', 'merchantName', 'monto', 'concepto', 'bankCode', 'destination', 'operationId', 'createdAt', 'settledAt', 'error'];

    /** Null: it is no payout. */
    public readonly ?string $payoutId;
    public readonly string $status;
    public readonly ?string $reference;
    /** The code with which a single payout would have been refused. Its reference stays free. */
    public readonly string $failureCode;
    public readonly ?string $externalRef;
    public readonly ?string $merchantId;
    public readonly ?string $payoutMethodId;
    public readonly ?string $merchantName;
    public readonly ?string $monto;
    public readonly ?string $concepto;
    /** Four digits; see `GET /v1/banks`. */
    public readonly ?string $bankCode;
    public readonly ?string $destination;
    public readonly ?string $operationId;
    public readonly ?string $createdAt;
    public readonly ?string $settledAt;
    public readonly string $error;
}
