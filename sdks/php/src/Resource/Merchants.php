<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * The sellers of a marketplace and how they are paid. A payout method is verified by two micro-deposits, whose
 * amounts the seller reads from the account.
 */
final class Merchants
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Register a merchant.
     *
     * `bankCode` and `phone` together make its first payout method; without them it is a shell. When no method is
     * left, the same reference with new ones attaches a method (200).
     *
     * Needs the scope `manage`.
     *
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param ?string $identification V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param ?string $contactPhone A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param ?string $bankCode Four digits; see `GET /v1/banks`.
     * @param ?string $phone A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @return ($dryRun is true ? Model\DryRun : Model\Merchant)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `mandate_payee`
     */
    public function register(
        string $externalRef,
        ?string $name = null,
        ?string $identification = null,
        ?string $contactEmail = null,
        ?string $contactPhone = null,
        ?string $bankCode = null,
        ?string $phone = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Merchant|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/merchants',
            body: ['externalRef' => ['', $externalRef], 'name' => ['', $name], 'identification' => ['', $identification], 'contactEmail' => ['', $contactEmail], 'contactPhone' => ['', $contactPhone], 'bankCode' => ['', $bankCode], 'phone' => ['', $phone]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Merchant');
    }

    /**
     * List merchants.
     *
     * Needs the scope `read`.
     *
     * @param 'shell'|'unverified'|'verified'|'rejected' $status
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\Merchant>
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function list(
        ?string $status = null,
        ?bool $isActive = null,
        ?int $limit = null,
        ?string $cursor = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Page {
        $call = new Call(
            'GET',
            '/v1/merchants',
            query: ['status' => $status, 'isActive' => $isActive, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Merchant');
    }

    /**
     * Merchant by your `externalRef`.
     *
     * Needs the scope `read`.
     *
     * @param string $externalRef Answers the one merchant with this reference, or 404.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getByRef(
        string $externalRef,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\Merchant {
        $call = new Call(
            'GET',
            '/v1/merchants',
            query: ['externalRef' => $externalRef],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Merchant');
    }

    /**
     * Read a merchant.
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
    ): Model\Merchant {
        $call = new Call(
            'GET',
            '/v1/merchants/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Merchant');
    }

    /**
     * Activate or deactivate a merchant.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\Merchant)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `mandate_payee`,
     *     `not_found`
     */
    public function update(
        string $id,
        bool $isActive,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Merchant|Model\DryRun {
        $call = new Call(
            'PATCH',
            '/v1/merchants/{id}',
            parts: [$id],
            body: ['isActive' => ['', $isActive]],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Merchant');
    }

    /**
     * Delete a merchant that was never paid.
     *
     * Frees its reference.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\DeletedMerchant)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `merchant_has_balance`, `merchant_has_payouts`, `not_found`
     */
    public function delete(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\DeletedMerchant|Model\DryRun {
        $call = new Call(
            'DELETE',
            '/v1/merchants/{id}',
            parts: [$id],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@DeletedMerchant');
    }

    /**
     * Add a payout method.
     *
     * Needs the scope `manage`.
     *
     * @param string $bankCode Four digits; see `GET /v1/banks`.
     * @param string $phone A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @return ($dryRun is true ? Model\DryRun : Model\PayoutMethod)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `mandate_payee`,
     *     `not_found`, `too_many_payout_methods`
     */
    public function addPayoutMethod(
        string $id,
        string $bankCode,
        string $phone,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\PayoutMethod|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/merchants/{id}/payout-methods',
            parts: [$id],
            body: ['bankCode' => ['', $bankCode], 'phone' => ['', $phone]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@PayoutMethod');
    }

    /**
     * List payout methods.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function listPayoutMethods(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\PayoutMethodList {
        $call = new Call(
            'GET',
            '/v1/merchants/{id}/payout-methods',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@PayoutMethodList');
    }

    /**
     * Delete a payout method.
     *
     * When it was the default, the oldest verified one takes its place.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\Merchant)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `mandate_payee`,
     *     `not_found`
     */
    public function deletePayoutMethod(
        string $id,
        string $methodId,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Merchant|Model\DryRun {
        $call = new Call(
            'DELETE',
            '/v1/merchants/{id}/payout-methods/{methodId}',
            parts: [$id, $methodId],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Merchant');
    }

    /**
     * Make a payout method the default.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\PayoutMethod)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `mandate_payee`,
     *     `not_found`
     */
    public function setDefaultPayoutMethod(
        string $id,
        string $methodId,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\PayoutMethod|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/merchants/{id}/payout-methods/{methodId}/default',
            parts: [$id, $methodId],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@PayoutMethod');
    }

    /**
     * Send the two micro-deposits.
     *
     * They cost you nothing. When the bank says that the holder is somebody else (`BE01`), the method is deleted and
     * `merchant.rejected` is sent.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\StartVerificationResult)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `already_verified`, `not_found`, `rail_not_configured`, `rail_unavailable`, `too_many_attempts`,
     *     `verification_in_progress`, `verification_locked`
     */
    public function startVerification(
        string $id,
        string $methodId,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\StartVerificationResult|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/merchants/{id}/payout-methods/{methodId}/verify/start',
            parts: [$id, $methodId],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@StartVerificationResult');
    }

    /**
     * Verify a payout method by the amounts of the micro-deposits.
     *
     * In either order; three tries.
     *
     * Needs the scope `manage`.
     *
     * @param string|int $amount1 Exactly two decimals, at most 999999999999.99.
     * @param string|int $amount2 Exactly two decimals, at most 999999999999.99.
     * @return ($dryRun is true ? Model\DryRun : Model\PayoutMethod)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `already_verified`, `amounts_mismatch`, `not_found`, `verification_locked`, `verification_not_started`
     */
    public function verifyPayoutMethod(
        string $id,
        string $methodId,
        string|int|float $amount1,
        string|int|float $amount2,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\PayoutMethod|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/merchants/{id}/payout-methods/{methodId}/verify',
            parts: [$id, $methodId],
            body: ['amount1' => ['t2', $amount1], 'amount2' => ['t2', $amount2]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@PayoutMethod');
    }

    /**
     * Read a merchant's balance.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getBalance(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\MerchantBalance {
        $call = new Call(
            'GET',
            '/v1/merchants/{id}/balance',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@MerchantBalance');
    }

    /**
     * List the movements of a merchant's balance.
     *
     * Needs the scope `read`.
     *
     * @param list<'payment'|'fee'|'fee_reversal'|'reversal'|'chargeback'|'chargeback_fee'|'chargeback_reversal'|'payout'|'payout_fee'|'payout_reversal'|'adjustment'|'seller_transfer'|'seller_transfer_reversal'|'conversion'|'conversion_reversal'|'PLATFORM_FEE'|'deposit'> $type
     * @param string|\DateTimeInterface $from Inclusive.
     * @param string|\DateTimeInterface $to Exclusive.
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\Movement>
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function listMovements(
        string $id,
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
            '/v1/merchants/{id}/balance/transactions',
            parts: [$id],
            query: ['type' => $type, 'paymentId' => $paymentId, 'payoutId' => $payoutId, 'from' => $from, 'to' => $to, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Movement');
    }

    /**
     * A merchant's statement by days.
     *
     * Needs the scope `read`.
     *
     * @param 'VES'|'COP' $currency
     * @param string $from The first day.
     * @param string $to The last day; 400 days at most. Days to come are left out.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getStatement(
        string $id,
        string $currency,
        string $from,
        string $to,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\Statement {
        $call = new Call(
            'GET',
            '/v1/merchants/{id}/statements',
            parts: [$id],
            query: ['currency' => $currency, 'from' => $from, 'to' => $to],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Statement');
    }
}
