<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Checkout session. */
final class CheckoutSession extends Model
{
    public const WIRE = ['id' => '', 'object' => '', 'status' => '', 'url' => '', 'amountUsd' => 't2', 'description' => '', 'reference' => '', 'successUrl' => '', 'cancelUrl' => '', 'methods' => '', 'metadata' => 'o', 'paymentLinkId' => '', 'quantity' => '', 'paymentId' => '', 'livemode' => '', 'createdAt' => '', 'expiresAt' => '', 'clientSecret' => ''];
    public const REQUIRED = ['id', 'object', 'status', 'url', 'amountUsd', 'description', 'reference', 'successUrl', 'cancelUrl', 'methods', 'metadata', 'paymentLinkId', 'quantity', 'paymentId', 'livemode', 'createdAt', 'expiresAt', 'clientSecret'];
    public const SECRET = ['clientSecret'];

    public readonly string $id;
    public readonly string $object;
    /** @var 'open'|'paid'|'expired' */
    public readonly string $status;
    public readonly string $url;
    public readonly string $amountUsd;
    public readonly ?string $description;
    public readonly ?string $reference;
    public readonly ?string $successUrl;
    public readonly ?string $cancelUrl;
    /** @var list<'c2p'|'usdt'|'cop'|'card'|'pago_movil'> */
    public readonly array $methods;
    /** @var array<string, mixed> */
    public readonly array $metadata;
    public readonly ?string $paymentLinkId;
    public readonly ?int $quantity;
    public readonly ?string $paymentId;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly string $expiresAt;
    /** Opens this session for a buyer's page, and nothing else. */
    public readonly string $clientSecret;
}
