<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * Money out of the balance in bolívares, to merchants, phones, accounts and yourself, single or up to 1,000 at once.
 * The debit is durable before the bank is called; if a payout fails, the money returns to the balance. The same
 * `externalRef` with the same payload never pays twice.
 */
final class Payouts
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Pay a merchant.
     *
     * To the payout method that is named, or to the default one; it must be verified and the merchant active. With
     * `fromMerchantBalance` the seller's own balance pays.
     *
     * Needs the scope `payout`.
     *
     * @param string|int $monto Exactly two decimals, from 0.01 to 999999999999.99.
     * @param string $concepto What the receiver reads.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param ?string $payoutMethodId The default method if missing.
     * @param ?bool $fromMerchantBalance Whether the seller's own balance pays.
     * @return ($dryRun is true ? Model\DryRun : Model\Payout)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `merchant_inactive`,
     *     `not_found`, `payout_method_not_verified`, `rail_not_configured`, `too_many_attempts`
     */
    public function create(
        string $merchantId,
        string|int|float $monto,
        string $concepto,
        string $externalRef,
        ?string $payoutMethodId = null,
        ?bool $fromMerchantBalance = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Payout|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payouts',
            body: ['merchantId' => ['', $merchantId], 'payoutMethodId' => ['', $payoutMethodId], 'monto' => ['t2', $monto], 'concepto' => ['', $concepto], 'externalRef' => ['', $externalRef], 'fromMerchantBalance' => ['', $fromMerchantBalance]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Payout');
    }

    /**
     * List payouts.
     *
     * Needs the scope `read`.
     *
     * @param 'pending'|'completed'|'failed' $status
     * @param 'merchant'|'instant'|'credit'|'account'|'change' $kind
     * @param string $merchantId The seller who is paid.
     * @param string|\DateTimeInterface $from Made at this instant or later.
     * @param string|\DateTimeInterface $to Made before this instant.
     * @param string|int $minAmount Of this amount or more, in its own currency.
     * @param string|int $maxAmount Of this amount or less, in its own currency.
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\Payout>
     */
    public function list(
        ?string $status = null,
        ?string $kind = null,
        ?string $merchantId = null,
        ?string $externalRef = null,
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
            '/v1/payouts',
            query: ['status' => $status, 'kind' => $kind, 'merchantId' => $merchantId, 'externalRef' => $externalRef, 'from' => $from, 'to' => $to, 'minAmount' => $minAmount, 'maxAmount' => $maxAmount, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Payout');
    }

    /**
     * Read a payout.
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
    ): Model\Payout {
        $call = new Call(
            'GET',
            '/v1/payouts/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Payout');
    }

    /**
     * Read a payout by your reference.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getByRef(
        string $externalRef,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\Payout {
        $call = new Call(
            'GET',
            '/v1/payouts/by-ref/{externalRef}',
            parts: [$externalRef],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Payout');
    }

    /**
     * Pay a phone.
     *
     * Needs the scope `payout`.
     *
     * @param string $banco Four digits; see `GET /v1/banks`.
     * @param string $telefono A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param string $cedula V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string|int $monto Exactly two decimals, from 0.01 to 999999999999.99.
     * @param string $concepto What the receiver reads.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @return ($dryRun is true ? Model\DryRun : Model\Payout)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `insufficient_balance`, `mandate_exceeded`, `mandate_payee`,
     *     `rail_not_configured`, `too_many_attempts`
     */
    public function creditPhone(
        string $banco,
        string $telefono,
        string $cedula,
        string|int|float $monto,
        string $concepto,
        string $externalRef,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Payout|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/credit',
            body: ['banco' => ['', $banco], 'telefono' => ['', $telefono], 'cedula' => ['', $cedula], 'monto' => ['t2', $monto], 'concepto' => ['', $concepto], 'externalRef' => ['', $externalRef]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Payout');
    }

    /**
     * Pay a bank account.
     *
     * Needs the scope `payout`.
     *
     * @param string $cuenta 20 digits with both check digits right.
     * @param string $cedula V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string|int $monto Exactly two decimals, from 0.01 to 999999999999.99.
     * @param string $concepto What the receiver reads.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @return ($dryRun is true ? Model\DryRun : Model\Payout)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `insufficient_balance`, `mandate_exceeded`, `mandate_payee`,
     *     `rail_not_configured`, `too_many_attempts`
     */
    public function creditAccount(
        string $cuenta,
        string $cedula,
        string $nombre,
        string|int|float $monto,
        string $concepto,
        string $externalRef,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Payout|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/credit/account',
            body: ['cuenta' => ['', $cuenta], 'cedula' => ['', $cedula], 'nombre' => ['', $nombre], 'monto' => ['t2', $monto], 'concepto' => ['', $concepto], 'externalRef' => ['', $externalRef]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Payout');
    }

    /**
     * Give change to a customer.
     *
     * Needs the scope `payout`.
     *
     * @param string $banco Four digits; see `GET /v1/banks`.
     * @param string $telefono A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param string $cedula V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string|int $monto Exactly two decimals, from 0.01 to 999999999999.99.
     * @param string $concepto What the receiver reads.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param ?string $paymentId The payment that it is the change of.
     * @return ($dryRun is true ? Model\DryRun : Model\Payout)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `insufficient_balance`, `mandate_exceeded`, `mandate_payee`, `not_found`,
     *     `rail_not_configured`, `too_many_attempts`
     */
    public function giveChange(
        string $banco,
        string $telefono,
        string $cedula,
        string|int|float $monto,
        string $concepto,
        string $externalRef,
        ?string $paymentId = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Payout|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/change',
            body: ['banco' => ['', $banco], 'telefono' => ['', $telefono], 'cedula' => ['', $cedula], 'monto' => ['t2', $monto], 'concepto' => ['', $concepto], 'externalRef' => ['', $externalRef], 'paymentId' => ['', $paymentId]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Payout');
    }

    /**
     * Pay many merchants.
     *
     * Each item is a payout of its own with its own reference; an item that is bad or refused is answered in its
     * place and does not stop the others. The same batch again answers the same items as they are now.
     *
     * Needs the scope `payout`.
     *
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param list<Model\MerchantPayoutItem> $items
     * @return ($dryRun is true ? Model\DryRun : Model\PayoutBatch)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `rail_not_configured`, `too_many_attempts`
     */
    public function createBatch(
        string $externalRef,
        array $items,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\PayoutBatch|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payouts/batch',
            body: ['externalRef' => ['', $externalRef], 'items' => ['@MerchantPayoutItem', $items]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@PayoutBatch');
    }

    /**
     * Read a batch.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getBatch(
        string $batchId,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\PayoutBatch {
        $call = new Call(
            'GET',
            '/v1/payouts/batch/{batchId}',
            parts: [$batchId],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@PayoutBatch');
    }

    /**
     * Pay many phones.
     *
     * Each item is a payout of its own with its own reference; an item that is bad or refused is answered in its
     * place and does not stop the others. The same batch again answers the same items as they are now.
     *
     * Needs the scope `payout`.
     *
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param list<Model\PhoneCredit> $items
     * @return ($dryRun is true ? Model\DryRun : Model\PayoutBatch)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `rail_not_configured`, `too_many_attempts`
     */
    public function disburseCredits(
        string $externalRef,
        array $items,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\PayoutBatch|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/credit/disburse',
            body: ['externalRef' => ['', $externalRef], 'items' => ['@PhoneCredit', $items]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@PayoutBatch');
    }

    /**
     * Pay many bank accounts.
     *
     * Each item is a payout of its own with its own reference; an item that is bad or refused is answered in its
     * place and does not stop the others. The same batch again answers the same items as they are now.
     *
     * Needs the scope `payout`.
     *
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param list<Model\AccountCredit> $items
     * @return ($dryRun is true ? Model\DryRun : Model\PayoutBatch)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `rail_not_configured`, `too_many_attempts`
     */
    public function payAccounts(
        string $externalRef,
        array $items,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\PayoutBatch|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/payouts',
            body: ['externalRef' => ['', $externalRef], 'items' => ['@AccountCredit', $items]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@PayoutBatch');
    }

    /**
     * Withdraw to your own account.
     *
     * Needs the scope `payout`.
     *
     * @param string|int $monto Exactly two decimals, from 0.01 to 999999999999.99.
     * @param string $concepto What the receiver reads.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @return ($dryRun is true ? Model\DryRun : Model\Payout)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `insufficient_balance`, `mandate_exceeded`, `mandate_payee`,
     *     `payout_account_not_verified`, `rail_not_configured`, `too_many_attempts`
     */
    public function createInstant(
        string|int|float $monto,
        string $concepto,
        string $externalRef,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Payout|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payouts/instant',
            body: ['monto' => ['t2', $monto], 'concepto' => ['', $concepto], 'externalRef' => ['', $externalRef]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Payout');
    }

    /**
     * Set your own payout account.
     *
     * A change undoes its verification.
     *
     * Needs the scope `manage`.
     *
     * @param string $bankCode Four digits; see `GET /v1/banks`.
     * @param string $phone A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param string $identification V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @return ($dryRun is true ? Model\DryRun : Model\PayoutAccount)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `mandate_payee`
     */
    public function setAccount(
        string $bankCode,
        string $phone,
        string $identification,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\PayoutAccount|Model\DryRun {
        $call = new Call(
            'PUT',
            '/v1/payouts/account',
            body: ['bankCode' => ['', $bankCode], 'phone' => ['', $phone], 'identification' => ['', $identification]],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@PayoutAccount');
    }

    /**
     * Read your own payout account.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getAccount(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\PayoutAccount {
        $call = new Call(
            'GET',
            '/v1/payouts/account',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@PayoutAccount');
    }

    /**
     * Send the two micro-deposits to your own account.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\StartPayoutAccountVerificationResult)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `already_verified`, `not_found`, `rail_not_configured`, `rail_unavailable`, `settings_changed`,
     *     `too_many_attempts`, `verification_in_progress`, `verification_locked`
     */
    public function startAccountVerification(
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\StartPayoutAccountVerificationResult|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payouts/account/verify/start',
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@StartPayoutAccountVerificationResult');
    }

    /**
     * Verify your own account by the amounts of the micro-deposits.
     *
     * Needs the scope `manage`.
     *
     * @param string|int $amount1 Exactly two decimals, at most 999999999999.99.
     * @param string|int $amount2 Exactly two decimals, at most 999999999999.99.
     * @return ($dryRun is true ? Model\DryRun : Model\PayoutAccount)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `already_verified`, `amounts_mismatch`, `not_found`, `verification_locked`, `verification_not_started`
     */
    public function verifyAccount(
        string|int|float $amount1,
        string|int|float $amount2,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\PayoutAccount|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payouts/account/verify',
            body: ['amount1' => ['t2', $amount1], 'amount2' => ['t2', $amount2]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@PayoutAccount');
    }
}
