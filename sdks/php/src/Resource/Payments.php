<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * Collecting from a payer in Venezuela: C2P (a one-time code of the payer's bank), card, immediate debit, and
 * transfers that the payer made by Pago Móvil. What is collected is held for 24 hours, then available.
 */
final class Payments
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Request a C2P intent.
     *
     * Fixes the price in bolívares at the BCV rate for 15 minutes, and has the payer's bank send a code if it does
     * so (`otpRequested`); otherwise the payer makes the key in the app of the bank. A newer request under the same
     * `externalRef` takes the place of the pending one.
     *
     * Needs the scope `collect`.
     *
     * @param string $debtorId V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string $debtorCellPhone A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param string|int|null $usdAmount US dollars, at most 2 decimals. Either this or `vesAmount`.
     * @param string|int|null $vesAmount Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this
     *     or `usdAmount`, which is then what it is at the BCV rate.
     * @return ($dryRun is true ? Model\DryRun : Model\C2pPayment|Model\C2pIntent)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `payment_in_progress`, `rail_not_configured`, `rail_unavailable`,
     *     `rate_unavailable`
     */
    public function requestC2p(
        string $debtorId,
        string $debtorCellPhone,
        int $debtorBankCode,
        string $externalRef,
        string|int|float|null $usdAmount = null,
        string|int|float|null $vesAmount = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\C2pPayment|Model\C2pIntent|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/c2p/request',
            body: ['usdAmount' => ['n', $usdAmount], 'vesAmount' => ['n', $vesAmount], 'debtorId' => ['', $debtorId], 'debtorCellPhone' => ['', $debtorCellPhone], 'debtorBankCode' => ['', $debtorBankCode], 'externalRef' => ['', $externalRef]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@C2pPayment|C2pIntent');
    }

    /**
     * Charge a C2P intent.
     *
     * Repeats the details of the request and brings the payer's code. The bank is called once: what it says is in
     * `status` (`COMPLETED` or `FAILED` with `failureCode`). While the bank is silent the answer is 202 and the
     * payment `PENDING`; the server asks the bank until it knows, and never charges twice.
     *
     * Needs the scope `collect`.
     *
     * @param string $debtorId V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string $debtorCellPhone A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param string $token The payer's code, 6 to 8 digits, as a string.
     * @param string|int|null $usdAmount US dollars, at most 2 decimals. Either this or `vesAmount`.
     * @param string|int|null $vesAmount Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this
     *     or `usdAmount`, which is then what it is at the BCV rate.
     * @param ?string $merchantId The seller of a marketplace sale.
     * @param string|int|null $applicationFeePercent What you keep of the sale, in percent, at most 4 decimals; needs
     *     `merchantId`.
     * @return ($dryRun is true ? Model\DryRun : Model\Payment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `charge_in_progress`, `intent_canceled`, `intent_completed`, `intent_failed`, `intent_mismatch`,
     *     `merchant_inactive`, `not_found`, `rail_not_configured`, `rail_unavailable`
     */
    public function executeC2p(
        string $intentId,
        string $debtorId,
        string $debtorCellPhone,
        int $debtorBankCode,
        string $externalRef,
        #[\SensitiveParameter] string $token,
        string|int|float|null $usdAmount = null,
        string|int|float|null $vesAmount = null,
        ?string $merchantId = null,
        string|int|float|null $applicationFeePercent = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Payment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/c2p',
            body: ['intentId' => ['', $intentId], 'usdAmount' => ['n', $usdAmount], 'vesAmount' => ['n', $vesAmount], 'debtorId' => ['', $debtorId], 'debtorCellPhone' => ['', $debtorCellPhone], 'debtorBankCode' => ['', $debtorBankCode], 'externalRef' => ['', $externalRef], 'token' => ['', $token], 'merchantId' => ['', $merchantId], 'applicationFeePercent' => ['n', $applicationFeePercent]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Payment');
    }

    /**
     * List payments.
     *
     * Needs the scope `read`.
     *
     * @param 'PENDING'|'COMPLETED'|'FAILED'|'CANCELED'|'REVERSED' $status
     * @param 'C2P'|'VPOS'|'DEBIT'|'PAGO_MOVIL'|'COP'|'USDT' $method
     * @param string $externalRef All attempts under this reference.
     * @param string $bankReference As the payment shows it, whole.
     * @param string $reference Of the checkout session, or of the payment in pesos.
     * @param string $merchantId The seller.
     * @param string|\DateTimeInterface $from Made at this instant or later.
     * @param string|\DateTimeInterface $to Made before this instant.
     * @param string|int $minAmount Of this amount or more, in its own currency.
     * @param string|int $maxAmount Of this amount or less, in its own currency.
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\Payment>
     */
    public function list(
        ?string $status = null,
        ?string $method = null,
        ?string $externalRef = null,
        ?string $bankReference = null,
        ?string $reference = null,
        ?string $merchantId = null,
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
            '/v1/payments',
            query: ['status' => $status, 'method' => $method, 'externalRef' => $externalRef, 'bankReference' => $bankReference, 'reference' => $reference, 'merchantId' => $merchantId, 'from' => $from, 'to' => $to, 'minAmount' => $minAmount, 'maxAmount' => $maxAmount, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Payment');
    }

    /**
     * Read a payment.
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
    ): Model\Payment {
        $call = new Call(
            'GET',
            '/v1/payments/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Payment');
    }

    /**
     * Read the newest payment under a reference.
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
    ): Model\Payment {
        $call = new Call(
            'GET',
            '/v1/payments/by-ref/{externalRef}',
            parts: [$externalRef],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Payment');
    }

    /**
     * Read an operation with a bank.
     *
     * What became of a call to a bank: the `operationId` of a payment, a payout or a debit code leads here.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getOperation(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\Operation {
        $call = new Call(
            'GET',
            '/v1/payments/operations/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Operation');
    }

    /**
     * The receipt of a payment.
     *
     * For the payer: a page to print, or a PDF by `Accept: application/pdf`. It names the shop (settings
     * `shop.name`, `shop.rif`), the payer's bank, the method, the amounts, the rate, the references and the date
     * with its zone; the payer is masked.
     *
     * Needs the scope `read`.
     *
     * @param 'es'|'en' $lang `es` if missing.
     * @param 'text/html'|'application/pdf' $media
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`,
     *     `payment_not_completed`
     */
    public function getReceipt(
        string $id,
        ?string $lang = null,
        string $media = 'text/html',
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): string {
        $call = new Call(
            'GET',
            '/v1/payments/{id}/receipt',
            parts: [$id],
            query: ['lang' => $lang],
            accept: $media,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->download($call);
    }

    /**
     * Reverse a C2P payment.
     *
     * Within 24 hours of completion. The fee comes back. The money is taken from the hold of this sale, then from
     * what is available; of a marketplace sale the seller's part from the seller.
     *
     * Needs the scope `collect`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\Payment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `insufficient_balance`, `mandate_exceeded`, `not_found`, `not_reversible`, `payment_not_completed`,
     *     `rail_not_configured`, `rail_unavailable`, `reversal_in_progress`, `reversal_refused`,
     *     `reversal_window_expired`, `too_many_attempts`
     */
    public function reverse(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Payment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/{id}/reverse',
            parts: [$id],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Payment');
    }

    /**
     * Charge a card.
     *
     * Of the card only brand and last four digits are ever stored or logged. After an attempt that failed the same
     * `externalRef` takes another card, or the same one with a new Idempotency-Key. In place of the card `card` may
     * have the `token` that a checkout page made of it (`payCheckoutCard`): then no server of yours sees a card. A
     * token is of your account and mode, is charged once, and lasts 15 minutes; it does not outlive the server that
     * made it. A refusal (4xx, or 503 other than `storage_unavailable`) leaves it good, a decline has used it.
     *
     * Needs the scope `collect`.
     *
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param string|int|null $usdAmount US dollars, at most 2 decimals. Either this or `vesAmount`.
     * @param string|int|null $vesAmount Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this
     *     or `usdAmount`, which is then what it is at the BCV rate.
     * @param ?string $merchantId The seller of a marketplace sale.
     * @param string|int|null $applicationFeePercent What you keep of the sale, in percent, at most 4 decimals; needs
     *     `merchantId`.
     * @return ($dryRun is true ? Model\DryRun : Model\Payment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `card_token_gone`,
     *     `external_ref_conflict`, `merchant_inactive`, `not_found`, `payment_in_progress`, `rail_not_configured`,
     *     `rail_unavailable`, `rate_unavailable`
     */
    public function chargeCard(
        Model\Card|Model\CardToken $card,
        string $externalRef,
        string|int|float|null $usdAmount = null,
        string|int|float|null $vesAmount = null,
        ?string $description = null,
        ?string $merchantId = null,
        string|int|float|null $applicationFeePercent = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Payment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/vpos',
            body: ['usdAmount' => ['n', $usdAmount], 'vesAmount' => ['n', $vesAmount], 'card' => ['@Card|CardToken', $card], 'externalRef' => ['', $externalRef], 'description' => ['', $description], 'merchantId' => ['', $merchantId], 'applicationFeePercent' => ['n', $applicationFeePercent]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Payment');
    }

    /**
     * Have the payer's bank send a debit code.
     *
     * Needs the scope `collect`.
     *
     * @param string $banco Four digits; see `GET /v1/banks`.
     * @param string|int $monto Bolívares, at most 2 decimals.
     * @param string $telefono A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param string $cedula V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @return ($dryRun is true ? Model\DryRun : Model\DebitOtp)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `otp_refused`,
     *     `rail_not_configured`, `rail_unavailable`
     */
    public function requestDebitOtp(
        string $banco,
        string|int|float $monto,
        string $telefono,
        string $cedula,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\DebitOtp|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/debit/otp',
            body: ['banco' => ['', $banco], 'monto' => ['n', $monto], 'telefono' => ['', $telefono], 'cedula' => ['', $cedula]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@DebitOtp');
    }

    /**
     * Debit an account with the payer's code.
     *
     * `monto` is in bolívares; `usdAmount` of the payment is what it is at the BCV rate. After an attempt that
     * failed the same `externalRef` takes another code.
     *
     * Needs the scope `collect`.
     *
     * @param string $banco Four digits; see `GET /v1/banks`.
     * @param string|int $monto Bolívares, at most 2 decimals.
     * @param string $telefono A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param string $cedula V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string $otp The code of the payer's bank, 4 to 8 digits, as a string.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @return ($dryRun is true ? Model\DryRun : Model\Payment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `payment_in_progress`, `rail_not_configured`, `rail_unavailable`,
     *     `rate_unavailable`
     */
    public function chargeDebit(
        string $banco,
        string|int|float $monto,
        string $telefono,
        string $cedula,
        string $nombre,
        #[\SensitiveParameter] string $otp,
        string $concepto,
        string $externalRef,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Payment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/debit',
            body: ['banco' => ['', $banco], 'monto' => ['n', $monto], 'telefono' => ['', $telefono], 'cedula' => ['', $cedula], 'nombre' => ['', $nombre], 'otp' => ['', $otp], 'concepto' => ['', $concepto], 'externalRef' => ['', $externalRef]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Payment');
    }

    /**
     * Verify a Pago Móvil transfer.
     *
     * Looks for a transfer that the payer made to you. A transfer (bank, day, full reference) pays for one thing.
     * One that was not found is looked for again at each call, as a new attempt.
     *
     * Needs the scope `collect`.
     *
     * @param string $reference The digits of the reference that the payer knows; leading zeros tell nothing.
     * @param string $phone A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param string $bankCode Four digits; see `GET /v1/banks`.
     * @param string $date The transfer's day in Caracas: not in the future, at most 30 days ago.
     * @param string $debtorId V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param string|int|null $usdAmount US dollars, at most 2 decimals. Either this or `vesAmount`.
     * @param string|int|null $vesAmount Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this
     *     or `usdAmount`, which is then what it is at the BCV rate.
     * @return ($dryRun is true ? Model\DryRun : Model\Payment)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `charge_in_progress`, `external_ref_conflict`, `payment_in_progress`, `rail_not_configured`,
     *     `rail_unavailable`, `rate_unavailable`, `reference_already_used`
     */
    public function verifyPagoMovil(
        string $reference,
        string $phone,
        string $bankCode,
        string $date,
        string $debtorId,
        string $externalRef,
        string|int|float|null $usdAmount = null,
        string|int|float|null $vesAmount = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Payment|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/payments/pago-movil/verify',
            body: ['usdAmount' => ['n', $usdAmount], 'vesAmount' => ['n', $vesAmount], 'reference' => ['', $reference], 'phone' => ['', $phone], 'bankCode' => ['', $bankCode], 'date' => ['', $date], 'debtorId' => ['', $debtorId], 'externalRef' => ['', $externalRef]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Payment');
    }

    /**
     * Read the account that buyers send a Pago Móvil to.
     *
     * The setting `shop.pagoMovil`, which an operator makes.
     *
     * Needs the scope `read`.
     */
    public function getPagoMovilAccount(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\PagoMovilAccount {
        $call = new Call(
            'GET',
            '/v1/payments/pago-movil/account',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@PagoMovilAccount');
    }

    /**
     * List the ways in which the account can collect.
     *
     * Needs the scope `read`.
     */
    public function listMethods(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CollectionMethodList {
        $call = new Call(
            'GET',
            '/v1/payment-methods',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CollectionMethodList');
    }
}
