<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * What a cardholder's bank took back of a card payment. The amount and the fee come out of the available balance,
 * which may go below zero; a dispute that is won returns both.
 */
final class Chargebacks
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * List chargebacks.
     *
     * Needs the scope `read`.
     *
     * @param 'open'|'won'|'lost' $status
     * @param string|\DateTimeInterface $from Made at this instant or later.
     * @param string|\DateTimeInterface $to Made before this instant.
     * @param string|int $minAmount Of this amount or more, in its own currency.
     * @param string|int $maxAmount Of this amount or less, in its own currency.
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\Chargeback>
     */
    public function list(
        ?string $status = null,
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
            '/v1/chargebacks',
            query: ['status' => $status, 'from' => $from, 'to' => $to, 'minAmount' => $minAmount, 'maxAmount' => $maxAmount, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Chargeback');
    }

    /**
     * Read a chargeback.
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
    ): Model\Chargeback {
        $call = new Call(
            'GET',
            '/v1/chargebacks/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Chargeback');
    }
}
