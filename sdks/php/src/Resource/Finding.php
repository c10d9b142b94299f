<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Session;

/** One text leads to everything that it names, and a request's id to what became of the request. */
final class Finding
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Search by one text.
     *
     * By an id of anything, a reference of your own or of a bank, a transaction's hash, the id of a request, a
     * document or a phone of a payer or seller: always the whole text. An account whose searches for documents and
     * phones found nobody 30 times in 10 minutes has to wait: 429.
     *
     * Needs the scope `read`.
     *
     * @param string $q An id in any case, or a text as it was sent; a document or a phone in any form in which
     *     people type them, such as `V-12.345.678` or `0414-1234567`.
     * @param bool $people Whether documents and phones are looked for, which counts; yes if missing.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `too_many_attempts`
     */
    public function search(
        string $q,
        ?bool $people = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\FoundList {
        $call = new Call(
            'GET',
            '/v1/search',
            query: ['q' => $q, 'people' => $people],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@FoundList');
    }

    /**
     * Read what became of a request.
     *
     * Of 30 days, as far as `[requests] bytes_max` allows; of several requests with one id the newest. Bodies are
     * not kept.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getRequest(
        string $requestId,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): Model\LoggedRequest {
        $call = new Call(
            'GET',
            '/v1/requests/{requestId}',
            parts: [$requestId],
            timeout: $timeout,
            maxRetries: $maxRetries,
        );
        return $this->session->model($call, '@LoggedRequest');
    }
}
