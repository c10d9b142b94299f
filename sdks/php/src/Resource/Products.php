<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/** What you sell, and the links under which buyers pay for it at `/pay/{slug}`. */
final class Products
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Create a product.
     *
     * Needs the scope `manage`.
     *
     * @param string|int $priceUsd US dollars from "0.01" to "100000.00".
     * @param ?string $imageUrl https; http to loopback in test mode. Empty clears it.
     * @return ($dryRun is true ? Model\DryRun : Model\Product)
     */
    public function create(
        string $name,
        string|int|float $priceUsd,
        ?string $description = null,
        ?string $imageUrl = null,
        ?bool $active = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Product|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/products',
            body: ['name' => ['', $name], 'priceUsd' => ['t', $priceUsd], 'description' => ['', $description], 'imageUrl' => ['', $imageUrl], 'active' => ['', $active]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Product');
    }

    /**
     * List products.
     *
     * Needs the scope `read`.
     *
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\Product>
     */
    public function list(
        ?bool $active = null,
        ?int $limit = null,
        ?string $cursor = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Page {
        $call = new Call(
            'GET',
            '/v1/products',
            query: ['active' => $active, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Product');
    }

    /**
     * Read a product and its links.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function get(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\Product {
        $call = new Call(
            'GET',
            '/v1/products/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Product');
    }

    /**
     * Change a product.
     *
     * Only what is sent changes; an empty `description` or `imageUrl` clears it.
     *
     * Needs the scope `manage`.
     *
     * @param string|int|null $priceUsd US dollars from "0.01" to "100000.00".
     * @param ?string $imageUrl https; http to loopback in test mode. Empty clears it.
     * @return ($dryRun is true ? Model\DryRun : Model\Product)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function update(
        string $id,
        ?string $name = null,
        string|int|float|null $priceUsd = null,
        ?string $description = null,
        ?string $imageUrl = null,
        ?bool $active = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Product|Model\DryRun {
        $call = new Call(
            'PATCH',
            '/v1/products/{id}',
            parts: [$id],
            body: ['name' => ['', $name], 'priceUsd' => ['t', $priceUsd], 'description' => ['', $description], 'imageUrl' => ['', $imageUrl], 'active' => ['', $active]],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Product');
    }

    /**
     * Delete a product and its links.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\DeleteProductResult)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`,
     *     `product_has_sales`
     */
    public function delete(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\DeleteProductResult|Model\DryRun {
        $call = new Call(
            'DELETE',
            '/v1/products/{id}',
            parts: [$id],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@DeleteProductResult');
    }

    /**
     * Create a payment link.
     *
     * The slug is made from the product's name when none is sent. With `merchantId` the sale is a marketplace sale.
     *
     * Needs the scope `manage`.
     *
     * @param ?string $redirectUrl https; http to loopback in test mode. Empty clears it.
     * @return ($dryRun is true ? Model\DryRun : Model\PaymentLink)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `merchant_inactive`, `not_found`, `slug_taken`, `too_many_links`
     */
    public function createLink(
        string $id,
        ?string $slug = null,
        ?bool $allowQuantity = null,
        ?int $maxQuantity = null,
        ?string $redirectUrl = null,
        ?string $merchantId = null,
        string|int|float|null $applicationFeePercent = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\PaymentLink|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/products/{id}/links',
            parts: [$id],
            body: ['slug' => ['', $slug], 'allowQuantity' => ['', $allowQuantity], 'maxQuantity' => ['', $maxQuantity], 'redirectUrl' => ['', $redirectUrl], 'merchantId' => ['', $merchantId], 'applicationFeePercent' => ['n', $applicationFeePercent]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@PaymentLink');
    }

    /**
     * List a product's links.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function listLinks(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\PaymentLinkList {
        $call = new Call(
            'GET',
            '/v1/products/{id}/links',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@PaymentLinkList');
    }

    /**
     * Read a payment link.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getLink(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\PaymentLink {
        $call = new Call(
            'GET',
            '/v1/payment-links/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@PaymentLink');
    }

    /**
     * Change a payment link.
     *
     * Needs the scope `manage`.
     *
     * @param 'active'|'disabled'|null $status
     * @param ?string $redirectUrl https; http to loopback in test mode. Empty clears it.
     * @return ($dryRun is true ? Model\DryRun : Model\PaymentLink)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function updateLink(
        string $id,
        ?string $status = null,
        ?bool $allowQuantity = null,
        ?int $maxQuantity = null,
        ?string $redirectUrl = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\PaymentLink|Model\DryRun {
        $call = new Call(
            'PATCH',
            '/v1/payment-links/{id}',
            parts: [$id],
            body: ['status' => ['', $status], 'allowQuantity' => ['', $allowQuantity], 'maxQuantity' => ['', $maxQuantity], 'redirectUrl' => ['', $redirectUrl]],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@PaymentLink');
    }

    /**
     * Delete a payment link.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\DeletePaymentLinkResult)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`,
     *     `product_has_sales`
     */
    public function deleteLink(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\DeletePaymentLinkResult|Model\DryRun {
        $call = new Call(
            'DELETE',
            '/v1/payment-links/{id}',
            parts: [$id],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@DeletePaymentLinkResult');
    }
}
