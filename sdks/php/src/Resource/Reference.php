<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Session;

/** Banks, and what became of a request whose answer was lost. */
final class Reference
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * List the banks.
     *
     * Needs the scope `read`.
     *
     * @return list<Model\Bank>
     */
    public function listBanks(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): array {
        $call = new Call(
            'GET',
            '/v1/banks',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Bank');
    }

    /**
     * Find out what became of a request.
     *
     * After a lost answer: whether the request with this Idempotency-Key happened, and what it was answered. 404
     * means that it did not happen, or more than 24 hours ago.
     *
     * Needs the scope `read`.
     *
     * @param string $path The path that the key was used on, if it was used on several; otherwise the newest use is
     *     shown.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getIdempotencyKey(
        string $key,
        ?string $path = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\IdempotencyKey {
        $call = new Call(
            'GET',
            '/v1/idempotency/{key}',
            parts: [$key],
            query: ['path' => $path],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@IdempotencyKey');
    }

    /**
     * Price dollars in bolívares at the BCV rate.
     *
     * Needs the scope `read`.
     *
     * @param string|int $usdAmount US dollars, at most 2 decimals; read as the exact decimal that is written.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `rate_unavailable`
     */
    public function getQuote(
        string|int|float $usdAmount,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\Quote {
        $call = new Call(
            'GET',
            '/v1/quote',
            query: ['usdAmount' => $usdAmount],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Quote');
    }
}
