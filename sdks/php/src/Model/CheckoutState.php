<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Checkout state. */
final class CheckoutState extends Model
{
    public const WIRE = ['status' => '', 'amountUsd' => 't2', 'methods' => '@CheckoutStateMethodsItem', 'paymentId' => '', 'receivedUsdt' => 't2', 'amountVes' => 't2', 'quote' => '', 'pagoMovil' => '@CheckoutStatePagoMovil', 'newestAttempt' => '', 'attemptStatus' => '', 'failureCode' => ''];
    public const REQUIRED = ['status', 'amountUsd', 'methods', 'paymentId', 'receivedUsdt', 'amountVes', 'quote', 'pagoMovil', 'newestAttempt'];

    /** @var 'open'|'processing'|'paid'|'expired' */
    public readonly string $status;
    public readonly string $amountUsd;
    /** @var list<CheckoutStateMethodsItem> */
    public readonly array $methods;
    public readonly ?string $paymentId;
    /** What has come to the session's addresses. */
    public readonly string $receivedUsdt;
    /** The total in bolívares at the rate of now. */
    public readonly ?string $amountVes;
    /**
     * That total, for the calls that take it: `payCheckoutCard` charges no more, `payCheckoutPagoMovil` looks for
     * it.
     */
    public readonly ?string $quote;
    /** Where a Pago Móvil is sent to; null where none is offered. */
    public readonly ?CheckoutStatePagoMovil $pagoMovil;
    /**
     * The payment in bolívares or pesos that began last. Who lost the answer to a call sees by it whether the call
     * arrived.
     */
    public readonly ?string $newestAttempt;
    /** @var 'PENDING'|'COMPLETED'|'FAILED'|'CANCELED'|'REVERSED' With `failureCode`, of an attempt. */
    public readonly ?string $attemptStatus;
    public readonly ?string $failureCode;
}
