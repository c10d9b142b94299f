<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Found. */
final class Found extends Model
{
    public const WIRE = ['kind' => '', 'id' => '', 'tenantId' => '', 'mode' => '', 'status' => '', 'amount' => 't', 'currency' => '', 'createdAt' => '', 'why' => ''];
    public const REQUIRED = ['kind', 'id', 'tenantId', 'mode', 'status', 'amount', 'currency', 'createdAt', 'why'];

    /** @var 'payment'|'payout'|'cop_payout'|'crypto_payout'|'crypto_deposit'|'batch'|'conversion'|'chargeback'|'merchant'|'checkout_session'|'product'|'payment_link'|'event'|'webhook'|'deposit_address'|'payout_account'|'otp'|'tenant'|'mandate_approval' */
    public readonly string $kind;
    public readonly string $id;
    public readonly ?string $tenantId;
    /** @var 'live'|'test'|null Null of a tenant. */
    public readonly ?string $mode;
    /** As the thing's own endpoint shows it. */
    public readonly ?string $status;
    public readonly ?string $amount;
    /** @var 'VES'|'COP'|'USDT'|'USD'|null */
    public readonly ?string $currency;
    public readonly string $createdAt;
    /**
     * @var 'id'|'externalRef'|'reference'|'bankReference'|'requestId'|'txHash'|'document'|'phone'|'name' What of it
     *     the text is.
     */
    public readonly string $why;
}
