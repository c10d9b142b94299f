<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/**
 * From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; accepting it debits at once. Held
 * money can be converted too, and the USDT is held as long.
 */
final class Conversions
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Ask for a price.
     *
     * Exactly one amount: what is spent, or the USDT to receive. USDT is rounded down to the cent, bolívares up to
     * the cent, pesos up to the peso.
     *
     * Needs the scope `convert`.
     *
     * @param 'VES'|'COP'|null $sourceCurrency
     * @param string|int|null $sourceAmountVes Bolívares to spend.
     * @param string|int|null $sourceAmount Whole pesos to spend.
     * @param string|int|null $targetAmountUsdt USDT to receive.
     * @return ($dryRun is true ? Model\DryRun : Model\ConversionQuote)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `amount_below_minimum`, `conversions_not_enabled`, `invalid_amount`, `rate_unavailable`
     */
    public function createQuote(
        ?string $sourceCurrency = null,
        string|int|float|null $sourceAmountVes = null,
        string|int|float|null $sourceAmount = null,
        string|int|float|null $targetAmountUsdt = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\ConversionQuote|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/conversions/quotes',
            body: ['sourceCurrency' => ['', $sourceCurrency], 'sourceAmountVes' => ['t', $sourceAmountVes], 'sourceAmount' => ['t', $sourceAmount], 'targetAmountUsdt' => ['t', $targetAmountUsdt]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@ConversionQuote');
    }

    /**
     * Accept a quote.
     *
     * Always send an Idempotency-Key: the same key answers the same conversion. One conversion takes from at most
     * 20,000 holds; `spendableVes` and `spendableCop` say what that comes to.
     *
     * Needs the scope `convert`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\Conversion)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `amount_below_minimum`, `conversions_not_enabled`, `daily_limit_exceeded`, `insufficient_balance`,
     *     `mandate_exceeded`, `not_found`, `quote_expired`, `quote_used`, `too_many_attempts`
     */
    public function create(
        string $quoteId,
        ?string $reference = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Conversion|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/conversions',
            body: ['quoteId' => ['', $quoteId], 'reference' => ['', $reference]],
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
     * List conversions.
     *
     * Needs the scope `read`.
     *
     * @param 'PENDING'|'COMPLETED'|'CANCELED' $status
     * @param 'VES'|'COP' $sourceCurrency
     * @param string|\DateTimeInterface $from Made at this instant or later.
     * @param string|\DateTimeInterface $to Made before this instant.
     * @param string|int $minAmount Of this amount or more, in its own currency.
     * @param string|int $maxAmount Of this amount or less, in its own currency.
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\Conversion>
     */
    public function list(
        ?string $status = null,
        ?string $sourceCurrency = null,
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
            '/v1/conversions',
            query: ['status' => $status, 'sourceCurrency' => $sourceCurrency, 'from' => $from, 'to' => $to, 'minAmount' => $minAmount, 'maxAmount' => $maxAmount, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Conversion');
    }

    /**
     * Read the settings of conversions.
     *
     * Needs the scope `read`.
     */
    public function getSettings(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\ConversionSettings {
        $call = new Call(
            'GET',
            '/v1/conversions/settings',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@ConversionSettings');
    }

    /**
     * Convert pesos automatically.
     *
     * The percentage of the net of each COP payment that is converted on completion. The other settings are the
     * operator's.
     *
     * Needs the scope `manage`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\ConversionSettings)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `mandate_exceeded`
     */
    public function updateSettings(
        Model\ConversionSettingsChangeAutoConvert $autoConvert,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\ConversionSettings|Model\DryRun {
        $call = new Call(
            'PATCH',
            '/v1/conversions/settings',
            body: ['autoConvert' => ['@ConversionSettingsChangeAutoConvert', $autoConvert]],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@ConversionSettings');
    }

    /**
     * Read a conversion.
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
    ): Model\Conversion {
        $call = new Call(
            'GET',
            '/v1/conversions/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Conversion');
    }

    /**
     * Cancel a pending conversion.
     *
     * What it took is back at once, and held where it was held.
     *
     * Needs the scope `convert`.
     *
     * @return ($dryRun is true ? Model\DryRun : Model\Conversion)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `conversion_not_cancelable`, `not_found`
     */
    public function cancel(
        string $id,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Conversion|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/conversions/{id}/cancel',
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
}
