<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Page;
use Pasarela\Session;

/** The balance in USDT, payouts to wallets, and addresses through which your customers deposit stablecoins. */
final class Usdt
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * List the networks of USDT.
     *
     * Needs the scope `read`.
     */
    public function listNetworks(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CryptoNetworkList {
        $call = new Call(
            'GET',
            '/v1/crypto/networks',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CryptoNetworkList');
    }

    /**
     * Read the balance in USDT.
     *
     * Needs the scope `read`.
     */
    public function getBalance(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CryptoBalance {
        $call = new Call(
            'GET',
            '/v1/crypto/balance',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CryptoBalance');
    }

    /**
     * List the movements in USDT.
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
            '/v1/crypto/balance/transactions',
            query: ['type' => $type, 'paymentId' => $paymentId, 'payoutId' => $payoutId, 'from' => $from, 'to' => $to, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@Movement');
    }

    /**
     * Send USDT to a wallet.
     *
     * Amount and network fee are debited at once; a payout that fails or is rejected gives both back. Above the
     * account's limit an operator reviews it first. The address is checked for its network.
     *
     * Needs the scope `payout`.
     *
     * @param string|int $amountUsdt Exactly two decimals, from 0.01 to 999999999999.99.
     * @param 'TRC20'|'ERC20'|'BEP20'|'POLYGON' $network
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @return ($dryRun is true ? Model\DryRun : Model\CryptoPayout)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `external_ref_conflict`, `insufficient_balance`, `mandate_exceeded`, `mandate_payee`,
     *     `rail_not_configured`, `too_many_attempts`, `usdt_not_enabled`
     */
    public function createPayout(
        string|int|float $amountUsdt,
        string $address,
        string $network,
        string $externalRef,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\CryptoPayout|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/crypto/payouts',
            body: ['amountUsdt' => ['t2', $amountUsdt], 'address' => ['', $address], 'network' => ['', $network], 'externalRef' => ['', $externalRef]],
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
     * List USDT payouts.
     *
     * Needs the scope `read`.
     *
     * @param 'pending_review'|'processing'|'completed'|'failed'|'rejected' $status
     * @param string|\DateTimeInterface $from Made at this instant or later.
     * @param string|\DateTimeInterface $to Made before this instant.
     * @param string|int $minAmount Of this amount or more, in its own currency.
     * @param string|int $maxAmount Of this amount or less, in its own currency.
     * @param int $limit Items on a page.
     * @param string $cursor The `nextCursor` of the page before, with the same filters.
     * @return Page<Model\CryptoPayout>
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
            '/v1/crypto/payouts',
            query: ['status' => $status, 'from' => $from, 'to' => $to, 'minAmount' => $minAmount, 'maxAmount' => $maxAmount, 'limit' => $limit, 'cursor' => $cursor],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->page($call, '@CryptoPayout');
    }

    /**
     * Read a USDT payout.
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
    ): Model\CryptoPayout {
        $call = new Call(
            'GET',
            '/v1/crypto/payouts/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CryptoPayout');
    }

    /**
     * Read a USDT payout by your reference.
     *
     * Needs the scope `read`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getPayoutByRef(
        string $externalRef,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CryptoPayout {
        $call = new Call(
            'GET',
            '/v1/crypto/payouts/by-ref/{externalRef}',
            parts: [$externalRef],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CryptoPayout');
    }

    /**
     * Get a customer's deposit address.
     *
     * The same customer, network and asset always has the same address. A deposit is credited 1:1 under the 24-hour
     * hold.
     *
     * Needs the scope `manage`.
     *
     * @param 'TRC20'|'ERC20'|'BEP20'|'POLYGON' $network
     * @param 'USDT'|'USDC' $asset
     * @return ($dryRun is true ? Model\DryRun : Model\DepositAddress)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `rail_not_configured`, `usdt_not_enabled`
     */
    public function createDepositAddress(
        string $customerRef,
        string $network,
        string $asset,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\DepositAddress|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/crypto/deposit-addresses',
            body: ['customerRef' => ['', $customerRef], 'network' => ['', $network], 'asset' => ['', $asset]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@DepositAddress');
    }
}
