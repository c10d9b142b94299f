<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Session;

/**
 * A test key runs the same engine, ledger and log; only the banks are simulated. These calls move its clock, give it
 * money, and play the parts of buyers, banks and operators.
 */
final class Test
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Read the test clock.
     *
     * Test keys only, with the scope `manage`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `test_mode_only`
     */
    public function getClock(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\TestClock {
        $call = new Call(
            'GET',
            '/v1/test/clock',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@TestClock');
    }

    /**
     * Move the test clock forward.
     *
     * Everything that falls due meanwhile (holds, expiries, polls, retries) has happened, in its order and each at
     * its own instant, when it answers.
     *
     * Test keys only, with the scope `manage`.
     *
     * @param int $advanceSeconds The clock stays before the year 9000.
     * @return ($dryRun is true ? Model\DryRun : Model\TestClock)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `test_mode_only`
     */
    public function moveClock(
        int $advanceSeconds,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\TestClock|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/clock',
            body: ['advanceSeconds' => ['', $advanceSeconds]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@TestClock');
    }

    /**
     * Begin the test data anew.
     *
     * Balances are zero, every list of test mode is empty and every id of before is 404; references and idempotency
     * keys are unused again, but for this call's own, and the clock is the real time again. Keys, settings, webhook
     * endpoints, a verified payout account and customers' deposit addresses stay, and so does everything of live
     * mode. What was under way at a simulated bank never comes back. Events go on numbered without a gap: the first
     * that is listed is `test.reset`.
     *
     * Test keys only, with the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\TestReset)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `test_mode_only`
     */
    public function reset(
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\TestReset|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/reset',
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@TestReset');
    }

    /**
     * Add test money to a balance.
     *
     * Test keys only, with the scope `manage`.
     *
     * @param 'VES'|'COP'|'USDT' $currency
     * @param string|int $amount Positive, with exactly the decimals of its currency: two of VES and USDT, none of
     *     COP.
     * @param ?bool $held Whether it is held for 24 hours.
     * @param ?string $merchantId A seller whose balance gets it; VES alone.
     * @param ?bool $takeBack Whether the amount is taken away again instead: from what is available, which may go
     *     below zero. Neither with `held` nor with `merchantId`.
     * @return ($dryRun is true ? Model\DryRun : Model\Movement)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`,
     *     `test_mode_only`
     */
    public function fundBalance(
        string $currency,
        string|int|float $amount,
        ?bool $held = null,
        ?string $merchantId = null,
        ?bool $takeBack = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Movement|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/fund',
            body: ['currency' => ['', $currency], 'amount' => ['t', $amount], 'held' => ['', $held], 'merchantId' => ['', $merchantId], 'takeBack' => ['', $takeBack]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Movement');
    }

    /**
     * Charge a card payment back, as the bank would.
     *
     * Test keys only, with the scope `manage`.
     *
     * @param 'fraud'|'not_recognized'|'not_received'|'duplicate'|'other' $reason
     * @param string|int|null $amountVes All that is left of the payment if missing.
     * @param string|int|null $feeVes The account's setting if missing.
     * @param string|\DateTimeInterface|null $bankDebitedAt Now if missing.
     * @return ($dryRun is true ? Model\DryRun : Model\Chargeback)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `chargeback_exceeds_payment`, `chargeback_not_allowed`, `not_found`, `test_mode_only`,
     *     `too_many_chargebacks`
     */
    public function openChargeback(
        string $paymentId,
        string $reason,
        string|int|float|null $amountVes = null,
        string|int|float|null $feeVes = null,
        string|\DateTimeInterface|null $bankDebitedAt = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Chargeback|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/chargebacks',
            body: ['paymentId' => ['', $paymentId], 'amountVes' => ['t2', $amountVes], 'feeVes' => ['t', $feeVes], 'reason' => ['', $reason], 'bankDebitedAt' => ['', $bankDebitedAt]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Chargeback');
    }

    /**
     * Decide a dispute, as the bank would.
     *
     * Test keys only, with the scope `manage`.
     *
     * @param 'won'|'lost' $outcome
     * @return ($dryRun is true ? Model\DryRun : Model\Chargeback)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `chargeback_closed`, `not_found`, `test_mode_only`
     */
    public function closeChargeback(
        string $id,
        string $outcome,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Chargeback|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/chargebacks/{id}/close',
            parts: [$id],
            body: ['outcome' => ['', $outcome]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Chargeback');
    }

    /**
     * Fulfil a pending conversion.
     *
     * Test keys only, with the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\Conversion)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `conversion_not_cancelable`, `conversion_not_pending`, `not_found`, `test_mode_only`
     */
    public function fulfilConversion(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Conversion|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/conversions/{id}/fulfil',
            parts: [$id],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Conversion');
    }

    /**
     * Let a pending conversion fail.
     *
     * Test keys only, with the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\Conversion)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `conversion_not_cancelable`, `conversion_not_pending`, `not_found`, `test_mode_only`
     */
    public function rejectConversion(
        string $id,
        ?string $reason = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Conversion|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/conversions/{id}/reject',
            parts: [$id],
            body: ['reason' => ['', $reason]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Conversion');
    }

    /**
     * Deposit to an address, as a customer would.
     *
     * Test keys only, with the scope `manage`.
     *
     * @param string|int $amount Exactly two decimals, from 0.01 to 999999999999.99.
     * @param 'TRC20'|'ERC20'|'BEP20'|'POLYGON' $network
     * @param 'USDT'|'USDC' $asset
     * @return ($dryRun is true ? Model\DryRun : Model\CryptoDeposit)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`,
     *     `test_mode_only`, `usdt_not_enabled`
     */
    public function makeDeposit(
        string $address,
        string|int|float $amount,
        string $network,
        string $asset,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CryptoDeposit|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/crypto/deposits',
            body: ['address' => ['', $address], 'amount' => ['t2', $amount], 'network' => ['', $network], 'asset' => ['', $asset]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@CryptoDeposit');
    }

    /**
     * Approve a USDT payout, as an operator would.
     *
     * Test keys only, with the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\CryptoPayout)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`,
     *     `payout_not_pending_review`, `test_mode_only`
     */
    public function approveCryptoPayout(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CryptoPayout|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/crypto/payouts/{id}/approve',
            parts: [$id],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@CryptoPayout');
    }

    /**
     * Reject a USDT payout, as an operator would.
     *
     * Test keys only, with the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\CryptoPayout)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`,
     *     `payout_not_pending_review`, `test_mode_only`
     */
    public function rejectCryptoPayout(
        string $id,
        ?string $reason = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CryptoPayout|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/crypto/payouts/{id}/reject',
            parts: [$id],
            body: ['reason' => ['', $reason]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@CryptoPayout');
    }

    /**
     * Pay in pesos, as the buyer would.
     *
     * Test keys only, with the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\CopPayment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `charge_in_progress`, `not_found`, `payment_not_pending`, `test_mode_only`
     */
    public function playCopBuyerPaying(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CopPayment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/cop/payments/{id}/pay',
            parts: [$id],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@CopPayment');
    }

    /**
     * Decline to pay, as the buyer would.
     *
     * Test keys only, with the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\CopPayment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `charge_in_progress`, `not_found`, `payment_not_pending`, `test_mode_only`
     */
    public function playCopBuyerDeclining(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CopPayment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/test/cop/payments/{id}/decline',
            parts: [$id],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@CopPayment');
    }

    /**
     * Open an account of test mode.
     *
     * Takes no key. Where the operator of the server allows it, otherwise 404. The key of the new account is shown
     * only now; there is none of live mode. Ten accounts a day from one address. An account that no call used for 24
     * hours is deleted with all that is in it, and its keys open nothing any more. Neither an `Idempotency-Key` nor
     * a dry run is taken: a repeat opens another account.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function openAccount(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\OpenedTestAccount {
        $call = new Call(
            'POST',
            '/v1/test/accounts',
            usesKey: false,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@OpenedTestAccount');
    }
}
