<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Cop payment. */
final class CopPayment extends Model
{
    public const WIRE = ['id' => '', 'object' => '', 'attempt' => '', 'status' => '', 'method' => '', 'channel' => '', 'amountCop' => '', 'feeCop' => '', 'netCop' => '', 'reference' => '', 'metadata' => 'o', 'failureCode' => '', 'next' => '@CopPaymentNext', 'operationId' => '', 'livemode' => '', 'createdAt' => '', 'expiresAt' => '', 'completedAt' => '', 'availableAt' => '', 'refundedAt' => '', 'checkoutSession' => '@CopPaymentCheckoutSession', 'amountUsd' => 't2', 'copRate' => 't4', 'copMarketRate' => 't4'];
    public const REQUIRED = ['id', 'object', 'attempt', 'status', 'method', 'channel', 'amountCop', 'feeCop', 'netCop', 'reference', 'metadata', 'failureCode', 'next', 'livemode', 'createdAt', 'expiresAt', 'completedAt', 'availableAt', 'refundedAt'];

    public readonly string $id;
    public readonly string $object;
    /** Always 1. */
    public readonly int $attempt;
    /** @var 'pending'|'completed'|'failed'|'canceled'|'refunded' */
    public readonly string $status;
    public readonly string $method;
    /** @var 'qr'|'push'|'sms' */
    public readonly string $channel;
    public readonly int $amountCop;
    /** 4.5 % and 1,500 pesos, never more than the amount; null until completed. */
    public readonly ?int $feeCop;
    public readonly ?int $netCop;
    public readonly ?string $reference;
    /** @var array<string, mixed>|null */
    public readonly ?array $metadata;
    /**
     * `expired`, `rejected`, `otp_attempts_exhausted` or `processor_error`; after an operator's word, the operator's
     * code.
     */
    public readonly ?string $failureCode;
    /** What the buyer does next, while there is something. */
    public readonly ?CopPaymentNext $next;
    /** In live mode alone: what the processor or an operator is to decide, while that is open. */
    public readonly ?string $operationId;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly string $expiresAt;
    public readonly ?string $completedAt;
    public readonly ?string $availableAt;
    public readonly ?string $refundedAt;
    /** The session through which it was paid. */
    public readonly ?CopPaymentCheckoutSession $checkoutSession;
    public readonly ?string $amountUsd;
    /** What the buyer pays for a dollar. */
    public readonly ?string $copRate;
    /** What the market asked for one. */
    public readonly ?string $copMarketRate;
}
