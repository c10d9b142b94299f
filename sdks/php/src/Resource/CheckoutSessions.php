<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * A page on which a buyer pays once, priced in US dollars: send the buyer to `url`, or embed it with `clientSecret`
 * and `/checkout.js`.
 */
final class CheckoutSessions
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Open a checkout session.
     *
     * Needs the scope `collect`.
     *
     * @param string|int $amountUsd US dollars, at most 2 decimals; read as the exact decimal that is written.
     * @param ?string $successUrl https; http to loopback in test mode.
     * @param list<'c2p'|'usdt'|'cop'|'card'|'pago_movil'>|null $methods Every enabled one if empty or missing.
     * @param array<string, mixed>|null $metadata Yours, at most 4096 bytes, without control characters.
     * @return ($dryRun is true ? Model\DryRun : Model\CheckoutSession)
     */
    public function create(
        string|int|float $amountUsd,
        ?string $description = null,
        ?string $reference = null,
        ?string $successUrl = null,
        ?string $cancelUrl = null,
        ?array $methods = null,
        ?array $metadata = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CheckoutSession|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/checkout/sessions',
            body: ['amountUsd' => ['n', $amountUsd], 'description' => ['', $description], 'reference' => ['', $reference], 'successUrl' => ['', $successUrl], 'cancelUrl' => ['', $cancelUrl], 'methods' => ['', $methods], 'metadata' => ['o', $metadata]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@CheckoutSession');
    }

    /**
     * List checkout sessions.
     *
     * Needs the scope `read`.
     *
     * @param 'open'|'paid'|'expired' $status
     * @param string|\DateTimeInterface $from Made at this instant or later.
     * @param string|\DateTimeInterface $to Made before this instant.
     * @param string|int $minAmount Of this amount or more, in its own currency.
     * @param string|int $maxAmount Of this amount or less, in its own currency.
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\ListedCheckoutSession>
     */
    public function list(
        ?string $status = null,
        ?string $reference = null,
        string|\DateTimeInterface|null $from = null,
        string|\DateTimeInterface|null $to = null,
        string|int|float|null $minAmount = null,
        string|int|float|null $maxAmount = null,
        ?int $limit = null,
        ?string $cursor = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Page {
        $call = new Call(
            'GET',
            '/v1/checkout/sessions',
            query: ['status' => $status, 'reference' => $reference, 'from' => $from, 'to' => $to, 'minAmount' => $minAmount, 'maxAmount' => $maxAmount, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@ListedCheckoutSession');
    }

    /**
     * Read a checkout session.
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
    ): Model\CheckoutSession {
        $call = new Call(
            'GET',
            '/v1/checkout/sessions/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CheckoutSession');
    }
}
