<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Where a Pago Móvil is sent to; null where none is offered. */
final class CheckoutStatePagoMovil extends Model
{
    public const WIRE = ['bankCode' => '', 'bankName' => '', 'phone' => '', 'identification' => '', 'amountVes' => 't2', 'quote' => ''];
    public const REQUIRED = ['bankCode', 'bankName', 'phone', 'identification', 'amountVes', 'quote'];

    public readonly string $bankCode;
    public readonly string $bankName;
    /** A Venezuelan mobile phone, with 0, 58 or +58 in front. */
    public readonly string $phone;
    /** V, E, J, P or G and 5 to 9 digits, with or without a dash. */
    public readonly string $identification;
    public readonly ?string $amountVes;
    /** Keeps this amount for this session: send it with the reference. */
    public readonly string $quote;
}
