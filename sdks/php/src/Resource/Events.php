<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * What happened, numbered per account and mode without gaps, so that a receiver that was down can catch up with
 * certainty: `GET /v1/events?after=SEQUENCE`.
 */
final class Events
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * List events from a number on.
     *
     * Needs the scope `read`.
     *
     * @param int $after The last sequence that you know; 0 is the beginning.
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\Event>
     */
    public function list(
        ?int $after = null,
        ?int $limit = null,
        ?string $cursor = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Page {
        $call = new Call(
            'GET',
            '/v1/events',
            query: ['after' => $after, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Event');
    }

    /**
     * Read an event.
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
    ): Model\Event {
        $call = new Call(
            'GET',
            '/v1/events/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Event');
    }
}
