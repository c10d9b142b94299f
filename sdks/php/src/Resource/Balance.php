<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * The balance, what of it is held, and every movement behind it: the sum of `amountVes` over all movements is
 * `ledgerNetVes`, and `ledgerNetVes` less `reserveVes` and `heldVes` is `availableVes`, always.
 */
final class Balance
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Read the balance, now or as it was.
     *
     * Needs the scope `read`.
     *
     * @param string|\DateTimeInterface $at A moment of the past; what had happened until then, inclusive.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function get(
        string|\DateTimeInterface|null $at = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\Balance {
        $call = new Call(
            'GET',
            '/v1/balance',
            query: ['at' => $at],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Balance');
    }

    /**
     * List movements.
     *
     * Needs the scope `read`.
     *
     * @param list<'payment'|'fee'|'fee_reversal'|'reversal'|'chargeback'|'chargeback_fee'|'chargeback_reversal'|'payout'|'payout_fee'|'payout_reversal'|'adjustment'|'seller_transfer'|'seller_transfer_reversal'|'conversion'|'conversion_reversal'|'PLATFORM_FEE'|'deposit'> $type
     * @param string|\DateTimeInterface $from Inclusive.
     * @param string|\DateTimeInterface $to Exclusive.
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\Movement>
     */
    public function listMovements(
        ?array $type = null,
        ?string $paymentId = null,
        ?string $payoutId = null,
        string|\DateTimeInterface|null $from = null,
        string|\DateTimeInterface|null $to = null,
        ?int $limit = null,
        ?string $cursor = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Page {
        $call = new Call(
            'GET',
            '/v1/balance/transactions',
            query: ['type' => $type, 'paymentId' => $paymentId, 'payoutId' => $payoutId, 'from' => $from, 'to' => $to, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Movement');
    }
}
