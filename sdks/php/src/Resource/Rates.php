<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Session;

/**
 * Without a key, read-only, for reference: the rate of a real operation is confirmed in the operator's own app.
 * Errors are `{statusCode, error, message}`. Browsers may call from the operator's own origins only.
 */
final class Rates
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * The latest rate of a pair.
     *
     *
     *
     * @param string $pair BASE/QUOTE, such as USD/VES.
     * @param string $source `p2p`, the market, or `bcv`, the official one. Without it the freshest of all.
     * @param string $method `p2p_floor` selects the floor of the market.
     * @param string $side `BUY`, `SELL`, `FLOOR` or `OFFICIAL`.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getLatestRate(
        ?string $pair = null,
        ?string $source = null,
        ?string $method = null,
        ?string $side = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\Rate {
        $call = new Call(
            'GET',
            '/api/v1/fx/latest',
            query: ['pair' => $pair, 'source' => $source, 'method' => $method, 'side' => $side],
            usesKey: false,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Rate');
    }

    /**
     * The history of a pair.
     *
     * The window begins with `startDate`, inclusive, or so many `days` before its end, and ends before `endDate`.
     * Buckets are UTC.
     *
     * @param string $pair BASE/QUOTE, such as USD/VES.
     * @param string $side `BUY`, `SELL`, `FLOOR` or `OFFICIAL`.
     * @param int $days Not beside `startDate`.
     * @param 'hour'|'day'|'auto' $interval Single samples if missing. `auto`: samples up to 1 day, hours up to 14
     *     days, days beyond.
     * @param 'avg'|'min'|'max'|'first'|'last' $aggregation
     * @param 'asc'|'desc' $sort
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getRateHistory(
        ?string $pair = null,
        ?string $source = null,
        ?string $side = null,
        ?int $days = null,
        string|\DateTimeInterface|null $startDate = null,
        string|\DateTimeInterface|null $endDate = null,
        ?string $interval = null,
        ?string $aggregation = null,
        ?string $sort = null,
        ?int $limit = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\RateHistory {
        $call = new Call(
            'GET',
            '/api/v1/fx/history',
            query: ['pair' => $pair, 'source' => $source, 'side' => $side, 'days' => $days, 'startDate' => $startDate, 'endDate' => $endDate, 'interval' => $interval, 'aggregation' => $aggregation, 'sort' => $sort, 'limit' => $limit],
            usesKey: false,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@RateHistory');
    }

    /**
     * What withdrawals cost.
     *
     *
     *
     * @param string $xTenantId The tenant whose fee policy applies; the server's own if missing.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getWithdrawalFeeSchedule(
        ?string $xTenantId = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\FeeSchedule {
        $call = new Call(
            'GET',
            '/api/v1/public/withdraw/fee-schedule',
            headers: ['x-tenant-id' => $xTenantId],
            usesKey: false,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@FeeSchedule');
    }

    /**
     * What a withdrawal would cost.
     *
     *
     *
     * @param 'PAGO_MOVIL'|'CRYPTO_WALLET'|'ACH'|'PAYPAL' $method
     * @param string $network Of a wallet: TRC20, ERC20, BEP20 or POLYGON; TRC20 if missing.
     * @param 'USDT'|'USDC' $asset
     * @param string $xTenantId The tenant whose fee policy applies; the server's own if missing.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `invalid_amount_cents`, `invalid_asset`, `invalid_method`, `invalid_network`, `not_found`
     */
    public function estimateWithdrawalFee(
        int $amountCents,
        ?string $method = null,
        ?string $network = null,
        ?string $asset = null,
        ?string $xTenantId = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\FeeEstimate {
        $call = new Call(
            'GET',
            '/api/v1/public/withdraw/estimate-fee',
            query: ['amount_cents' => $amountCents, 'method' => $method, 'network' => $network, 'asset' => $asset],
            headers: ['x-tenant-id' => $xTenantId],
            usesKey: false,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@FeeEstimate');
    }

    /**
     * What a withdrawal by Pago Móvil would bring.
     *
     *
     *
     * @param '1'|'true'|'0'|'false' $calculator With `1` or `true` the full fee of the policy is counted, without
     *     waivers.
     * @param string $xTenantId The tenant whose fee policy applies; the server's own if missing.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `invalid_amount_cents`, `not_found`, `pago_movil_min_amount`, `rate_unavailable`
     */
    public function getPagoMovilQuote(
        int $amountCents,
        ?string $calculator = null,
        ?string $xTenantId = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\PagoMovilQuote {
        $call = new Call(
            'GET',
            '/api/v1/public/withdraw/pago-movil-quote',
            query: ['amountCents' => $amountCents, 'calculator' => $calculator],
            headers: ['x-tenant-id' => $xTenantId],
            usesKey: false,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@PagoMovilQuote');
    }
}
