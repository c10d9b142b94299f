<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * Calls of a key whose mandate has `approvalAbove`: above it they are answered 202 with `awaiting_approval`, and
 * nothing is spent or debited. Somebody of the account decides, in the portal or with a key that has the scope
 * `keys`; after 24 hours of the account's clock, or when its key is revoked, the call has expired. What is approved
 * is decided then, by the balance and the limits of then.
 */
final class Approvals
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * List calls that wait or waited for an approval.
     *
     * Needs the scope `keys`.
     *
     * @param 'awaiting_approval'|'approved'|'rejected'|'expired' $status
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\MandateApproval>
     */
    public function list(
        ?string $status = null,
        ?int $limit = null,
        ?string $cursor = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Page {
        $call = new Call(
            'GET',
            '/v1/approvals',
            query: ['status' => $status, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@MandateApproval');
    }

    /**
     * Read a call that waits or waited for an approval.
     *
     * The key that asked reads its own; another needs the scope `keys`.
     *
     * Needs the scope `keys`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function get(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\MandateApproval {
        $call = new Call(
            'GET',
            '/v1/approvals/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@MandateApproval');
    }

    /**
     * Approve a call, which is done now.
     *
     * What the call is refused for is answered as to the call itself; it waits on then.
     *
     * Needs the scope `keys`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\ApprovedCall)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `amount_below_minimum`, `approval_decided`, `approval_expired`, `conversions_not_enabled`,
     *     `cop_not_enabled`, `daily_limit_exceeded`, `external_ref_conflict`, `insufficient_balance`,
     *     `mandate_exceeded`, `mandate_payee`, `merchant_inactive`, `not_found`, `not_reversible`,
     *     `payment_not_completed`, `payout_account_not_verified`, `payout_method_not_verified`,
     *     `processor_unavailable`, `quote_expired`, `quote_used`, `rail_not_configured`, `rail_unavailable`,
     *     `rate_unavailable`, `refund_in_progress`, `refund_window_expired`, `reversal_in_progress`,
     *     `reversal_refused`, `reversal_window_expired`, `usdt_not_enabled`
     */
    public function approve(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\ApprovedCall|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/approvals/{id}/approve',
            parts: [$id],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@ApprovedCall');
    }

    /**
     * Reject a call.
     *
     * Needs the scope `keys`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\MandateApproval)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `approval_decided`, `approval_expired`, `not_found`
     */
    public function reject(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\MandateApproval|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/approvals/{id}/reject',
            parts: [$id],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@MandateApproval');
    }
}
