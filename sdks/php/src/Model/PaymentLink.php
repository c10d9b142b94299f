<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Payment link. */
final class PaymentLink extends Model
{
    public const WIRE = ['id' => '', 'object' => '', 'productId' => '', 'slug' => '', 'hostedCheckoutPath' => '', 'status' => '', 'allowQuantity' => '', 'maxQuantity' => '', 'redirectUrl' => '', 'merchantId' => '', 'applicationFeePercent' => 'n', 'livemode' => '', 'createdAt' => ''];
    public const REQUIRED = ['id', 'object', 'productId', 'slug', 'hostedCheckoutPath', 'status', 'allowQuantity', 'maxQuantity', 'redirectUrl', 'merchantId', 'applicationFeePercent', 'livemode', 'createdAt'];

    public readonly string $id;
    public readonly string $object;
    public readonly string $productId;
    public readonly string $slug;
    public readonly string $hostedCheckoutPath;
    /** @var 'active'|'disabled' */
    public readonly string $status;
    public readonly bool $allowQuantity;
    public readonly int $maxQuantity;
    public readonly ?string $redirectUrl;
    public readonly ?string $merchantId;
    public readonly ?string $applicationFeePercent;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
}
