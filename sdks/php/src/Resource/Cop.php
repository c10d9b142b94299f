<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * Collecting pesos by QR or transfer key, by a push notification, or by an SMS code. What is collected is held for
 * 24 hours; a refund is for the whole amount and possible for 96 hours.
 */
final class Cop
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Collect pesos.
     *
     * `next` says what the buyer does. The QR code is in this answer alone, in live mode also in those to GET.
     * Always send an Idempotency-Key: there is no externalRef here.
     *
     * Needs the scope `collect`.
     *
     * @param int $amountCop Whole pesos, at least 20000.
     * @param 'qr'|'push'|'sms' $channel
     * @param array<string, mixed>|null $metadata Yours, at most 8 KiB, without control characters; it comes back as
     *     it was written.
     * @param ?Model\CopBuyer $buyer Everything of it is required for `push` and `sms`; for `sms` the document is CC,
     *     CE or TI, in live mode CC.
     * @return ($dryRun is true ? Model\DryRun : Model\CopPayment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `amount_below_minimum`, `cop_not_enabled`, `rail_not_configured`, `rail_unavailable`
     */
    public function createPayment(
        int $amountCop,
        string $channel,
        ?string $reference = null,
        ?array $metadata = null,
        ?Model\CopBuyer $buyer = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CopPayment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/cop/payments',
            body: ['amountCop' => ['', $amountCop], 'channel' => ['', $channel], 'reference' => ['', $reference], 'metadata' => ['o', $metadata], 'buyer' => ['@CopBuyer', $buyer]],
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
     * Read a payment in pesos.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getPayment(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CopPayment {
        $call = new Call(
            'GET',
            '/v1/cop/payments/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CopPayment');
    }

    /**
     * Submit the buyer's SMS code.
     *
     * Five codes may be tried; when the fifth is wrong too, the payment fails with `otp_attempts_exhausted`. In live
     * mode two may be tried, and the processor says what becomes of the payment.
     *
     * Needs the scope `collect`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\CopPayment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `channel_mismatch`, `charge_in_progress`, `invalid_otp`, `not_found`, `otp_attempts_exhausted`,
     *     `payment_not_pending`, `rail_unavailable`
     */
    public function submitOtp(
        string $id,
        #[\SensitiveParameter] string $otp,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CopPayment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/cop/payments/{id}/otp',
            parts: [$id],
            body: ['otp' => ['', $otp]],
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
     * Cancel an unpaid payment in pesos.
     *
     * Needs the scope `collect`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\CopPayment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `charge_in_progress`, `not_found`, `payment_not_pending`
     */
    public function cancelPayment(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CopPayment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/cop/payments/{id}/cancel',
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
     * Refund a payment in pesos.
     *
     * The whole amount, within 96 hours. The fee comes back. The money is taken from the hold of this sale, then
     * from what is available, then from at most 20,000 other holds. In live mode an operator has it refunded: 202,
     * and `payment.reversed` when that is done.
     *
     * Needs the scope `collect`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\CopPayment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `insufficient_balance`, `mandate_exceeded`, `not_found`, `payment_not_completed`, `processor_unavailable`,
     *     `rail_not_configured`, `refund_in_progress`, `refund_window_expired`, `too_many_attempts`
     */
    public function refundPayment(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CopPayment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/cop/payments/{id}/refund',
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
     * Read the balance in pesos.
     *
     * Needs the scope `read`.
     */
    public function getBalance(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CopBalance {
        $call = new Call(
            'GET',
            '/v1/cop/balance',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CopBalance');
    }

    /**
     * List the movements in pesos.
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
            '/v1/cop/balance/transactions',
            query: ['type' => $type, 'paymentId' => $paymentId, 'payoutId' => $payoutId, 'from' => $from, 'to' => $to, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Movement');
    }

    /**
     * List payouts in pesos.
     *
     * They are made by the operator on request.
     *
     * Needs the scope `read`.
     *
     * @param 'pending'|'completed'|'failed' $status
     * @param string|\DateTimeInterface $from Made at this instant or later.
     * @param string|\DateTimeInterface $to Made before this instant.
     * @param string|int $minAmount Of this amount or more, in its own currency.
     * @param string|int $maxAmount Of this amount or less, in its own currency.
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\CopPayout>
     */
    public function listPayouts(
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
            '/v1/cop/payouts',
            query: ['status' => $status, 'from' => $from, 'to' => $to, 'minAmount' => $minAmount, 'maxAmount' => $maxAmount, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@CopPayout');
    }

    /**
     * Read a payout in pesos.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getPayout(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CopPayout {
        $call = new Call(
            'GET',
            '/v1/cop/payouts/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CopPayout');
    }
}
