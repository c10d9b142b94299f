<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Product. */
final class Product extends Model
{
    public const WIRE = ['id' => '', 'object' => '', 'name' => '', 'priceUsd' => 't2', 'description' => '', 'imageUrl' => '', 'active' => '', 'links' => '@PaymentLink', 'livemode' => '', 'createdAt' => '', 'updatedAt' => ''];
    public const REQUIRED = ['id', 'object', 'name', 'priceUsd', 'description', 'imageUrl', 'active', 'links', 'livemode', 'createdAt', 'updatedAt'];

    public readonly string $id;
    public readonly string $object;
    public readonly string $name;
    public readonly string $priceUsd;
    public readonly ?string $description;
    public readonly ?string $imageUrl;
    public readonly bool $active;
    /** @var list<PaymentLink> */
    public readonly array $links;
    /** Whether real money moves: false under a test key. */
    public readonly bool $livemode;
    public readonly string $createdAt;
    public readonly string $updatedAt;
}
