<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * Where events are sent. An event is sent once to each endpoint that lists it, signed, with 10 seconds to answer
 * 2xx; duplicates are possible after a crash, so deduplicate on `webhook-id`. With `retry` `backoff` what was not
 * answered 2xx is tried again, 8 times over a day, and `Svc-Attempt` counts the tries. Verify `webhook-signature`
 * (Standard Webhooks), and refuse what was sent more than five minutes ago: `Svc-Signature` covers the body alone,
 * so a replay passes it, unless the endpoint's `signature` is `timestamped`. What was missed is in `GET /v1/events`.
 */
final class Webhooks
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Register an endpoint.
     *
     * https in live mode; no private address. The signing secret is in this answer alone.
     *
     * Needs the scope `manage`.
     *
     * @param list<'payment.completed'|'payment.failed'|'payment.canceled'|'payment.reversed'|'payment.chargeback'|'payment.chargeback_closed'|'payout.completed'|'payout.failed'|'merchant.verified'|'merchant.rejected'|'merchant.deactivated'|'merchant.reactivated'|'merchant.balance.updated'|'conversion.created'|'conversion.completed'|'conversion.canceled'|'tenant.live_status_changed'|'crypto_payout.completed'|'crypto_payout.failed'|'crypto_deposit.completed'|'test.reset'> $events
     * @param 'none'|'backoff'|null $retry
     * @param 'hex'|'timestamped'|null $signature
     * @return ($dryRun is true ? Model\DryRun : Model\NewlySignedWebhook)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `too_many_webhooks`
     */
    public function create(
        string $url,
        array $events,
        ?string $retry = null,
        ?string $signature = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\NewlySignedWebhook|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/webhooks',
            body: ['url' => ['', $url], 'events' => ['', $events], 'retry' => ['', $retry], 'signature' => ['', $signature]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@NewlySignedWebhook');
    }

    /**
     * List endpoints.
     *
     * Needs the scope `read`.
     */
    public function list(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\WebhookList {
        $call = new Call(
            'GET',
            '/v1/webhooks',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@WebhookList');
    }

    /**
     * Read an endpoint.
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
    ): Model\Webhook {
        $call = new Call(
            'GET',
            '/v1/webhooks/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Webhook');
    }

    /**
     * Change an endpoint.
     *
     * Needs the scope `manage`.
     *
     * @param list<'payment.completed'|'payment.failed'|'payment.canceled'|'payment.reversed'|'payment.chargeback'|'payment.chargeback_closed'|'payout.completed'|'payout.failed'|'merchant.verified'|'merchant.rejected'|'merchant.deactivated'|'merchant.reactivated'|'merchant.balance.updated'|'conversion.created'|'conversion.completed'|'conversion.canceled'|'tenant.live_status_changed'|'crypto_payout.completed'|'crypto_payout.failed'|'crypto_deposit.completed'|'test.reset'>|null $events
     * @param 'enabled'|'disabled'|null $status
     * @param 'none'|'backoff'|null $retry
     * @param 'hex'|'timestamped'|null $signature
     * @return ($dryRun is true ? Model\DryRun : Model\Webhook)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`,
     *     `webhook_busy`
     */
    public function update(
        string $id,
        ?string $url = null,
        ?array $events = null,
        ?string $status = null,
        ?string $retry = null,
        ?string $signature = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Webhook|Model\DryRun {
        $call = new Call(
            'PATCH',
            '/v1/webhooks/{id}',
            parts: [$id],
            body: ['url' => ['', $url], 'events' => ['', $events], 'status' => ['', $status], 'retry' => ['', $retry], 'signature' => ['', $signature]],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Webhook');
    }

    /**
     * Delete an endpoint.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\DeleteWebhookResult)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function delete(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\DeleteWebhookResult|Model\DryRun {
        $call = new Call(
            'DELETE',
            '/v1/webhooks/{id}',
            parts: [$id],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@DeleteWebhookResult');
    }

    /**
     * Replace an endpoint's secret.
     *
     * Deliveries from now on are signed with the new one. In the forms that bear several signatures the one before
     * signs beside it, for a day or as long as `overlapSeconds` says; 0 ends every older one.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\NewlySignedWebhook)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function rotateSecret(
        string $id,
        ?int $overlapSeconds = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\NewlySignedWebhook|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/webhooks/{id}/rotate-secret',
            parts: [$id],
            body: ['overlapSeconds' => ['', $overlapSeconds]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@NewlySignedWebhook');
    }

    /**
     * List the deliveries of an endpoint.
     *
     * Needs the scope `read`.
     *
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\Delivery>
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function listDeliveries(
        string $id,
        ?int $limit = null,
        ?string $cursor = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Page {
        $call = new Call(
            'GET',
            '/v1/webhooks/{id}/deliveries',
            parts: [$id],
            query: ['limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Delivery');
    }

    /**
     * Send an event again.
     *
     * To every enabled endpoint that lists it now, with the same `Svc-Event-Id`. An endpoint with 100 such
     * deliveries waiting is left out; 503 `overloaded` when that is all of them.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\Deliveries)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function resendEvent(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Deliveries|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/events/{id}/resend',
            parts: [$id],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Deliveries');
    }

    /**
     * Send a test delivery.
     *
     * `notification.test` to every enabled endpoint of the key's mode. It is no event: it has no number and is not
     * listed. While too many tests are under way one may fail unsent; its `error` says so.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\TestDeliveries)
     */
    public function sendTestNotification(
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\TestDeliveries|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/notifications/test',
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@TestDeliveries');
    }
}
