<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Session;

/**
 * The calls of a buyer's page, for those who build their own. `Authorization: Bearer <clientSecret>` opens one
 * session and nothing else. One attempt at a time: a new one supersedes what is pending. A body has at most 16 KiB.
 */
final class CheckoutPage
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Where the session stands.
     *
     *
     *
     * @param string $attempt A payment of this session: the answer then says how that stands too.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function getState(
        string $id,
        #[\SensitiveParameter] string $clientSecret,
        ?string $attempt = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CheckoutState {
        $call = new Call(
            'GET',
            '/checkout/{id}/state',
            parts: [$id],
            query: ['attempt' => $attempt],
            secret: $clientSecret,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CheckoutState');
    }

    /**
     * Begin to pay by C2P.
     *
     * At most ten in a row, and then one a minute, of a session and, on a payment link, of a client to one phone; of
     * all clients to that phone 30, and then three a minute: every one may have the payer's bank send a code.
     *
     * @param string $debtorId V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string $debtorCellPhone A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `charge_in_progress`, `merchant_inactive`, `method_not_offered`, `not_found`, `rail_not_configured`,
     *     `rail_unavailable`, `rate_unavailable`, `session_expired`, `session_paid`
     */
    public function requestC2p(
        string $id,
        #[\SensitiveParameter] string $clientSecret,
        string $debtorId,
        string $debtorCellPhone,
        int $debtorBankCode,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\C2pIntent {
        $call = new Call(
            'POST',
            '/checkout/{id}/c2p/request',
            parts: [$id],
            body: ['debtorId' => ['', $debtorId], 'debtorCellPhone' => ['', $debtorCellPhone], 'debtorBankCode' => ['', $debtorBankCode]],
            secret: $clientSecret,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@C2pIntent');
    }

    /**
     * Pay by C2P.
     *
     *
     *
     * @param string $debtorId V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string $debtorCellPhone A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `charge_in_progress`, `intent_canceled`, `intent_failed`, `intent_mismatch`, `merchant_inactive`,
     *     `method_not_offered`, `not_found`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
     *     `session_expired`, `session_paid`
     */
    public function payC2p(
        string $id,
        #[\SensitiveParameter] string $clientSecret,
        string $intentId,
        string $debtorId,
        string $debtorCellPhone,
        int $debtorBankCode,
        #[\SensitiveParameter] string $token,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CheckoutState {
        $call = new Call(
            'POST',
            '/checkout/{id}/c2p',
            parts: [$id],
            body: ['intentId' => ['', $intentId], 'debtorId' => ['', $debtorId], 'debtorCellPhone' => ['', $debtorCellPhone], 'debtorBankCode' => ['', $debtorBankCode], 'token' => ['', $token]],
            secret: $clientSecret,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CheckoutState');
    }

    /**
     * Pay by a Pago Móvil that the buyer made.
     *
     * The state's `pagoMovil` says where to and how much; its `quote` keeps that amount for this session, whatever
     * the rate is when the transfer is looked for. A transfer pays for one thing. At most ten tries in a row, and
     * then one a minute, of a session and of a client at one shop, together with those by card.
     *
     * @param string $debtorId V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string $debtorCellPhone A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param string $reference Its last digits, as the buyer sees them.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `charge_in_progress`, `merchant_inactive`, `method_not_offered`, `not_found`, `rail_not_configured`,
     *     `rail_unavailable`, `rate_unavailable`, `reference_already_used`, `session_expired`, `session_paid`
     */
    public function payPagoMovil(
        string $id,
        #[\SensitiveParameter] string $clientSecret,
        string $debtorId,
        string $debtorCellPhone,
        int $debtorBankCode,
        string $reference,
        string $date,
        ?string $quote = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CheckoutState {
        $call = new Call(
            'POST',
            '/checkout/{id}/pago-movil',
            parts: [$id],
            body: ['debtorId' => ['', $debtorId], 'debtorCellPhone' => ['', $debtorCellPhone], 'debtorBankCode' => ['', $debtorBankCode], 'reference' => ['', $reference], 'date' => ['', $date], 'quote' => ['', $quote]],
            secret: $clientSecret,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CheckoutState');
    }

    /**
     * Pay by card, or make a token of it.
     *
     * With `tokenize` nothing is charged: the answer is a token, with which `chargeCard` charges the card once,
     * within 15 minutes, for the account whose session this is. The card waits in memory alone and is zeroed after.
     * In live mode no rail takes cards.
     *
     * @param ?bool $tokenize True: make a token and charge nothing.
     * @param ?string $quote The state's `quote`, as the buyer saw its total: no more is charged.
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `amount_changed`,
     *     `charge_in_progress`, `merchant_inactive`, `method_not_offered`, `not_found`, `rail_not_configured`,
     *     `rail_unavailable`, `rate_unavailable`, `session_expired`, `session_paid`
     */
    public function payCard(
        string $id,
        #[\SensitiveParameter] string $clientSecret,
        Model\Card $card,
        ?bool $tokenize = null,
        ?string $quote = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CheckoutState|Model\MadeCardToken {
        $call = new Call(
            'POST',
            '/checkout/{id}/card',
            parts: [$id],
            body: ['card' => ['@Card', $card], 'tokenize' => ['', $tokenize], 'quote' => ['', $quote]],
            secret: $clientSecret,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CheckoutState|MadeCardToken');
    }

    /**
     * Pay in pesos.
     *
     * The total is the dollars times the market's rate and 2.5 percent, rounded up to whole pesos. It is fixed by
     * this call; a new start fixes a new one. At most ten begin in a row in a session, and then one a minute; by a
     * client at one shop sixty, and then ten a minute; by push and SMS as many as of `requestCheckoutC2p` besides,
     * together with those.
     *
     * @param 'qr'|'push'|'sms' $channel
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `amount_below_minimum`, `charge_in_progress`, `cop_not_enabled`, `merchant_inactive`,
     *     `method_not_offered`, `not_found`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
     *     `session_expired`, `session_paid`
     */
    public function payCop(
        string $id,
        #[\SensitiveParameter] string $clientSecret,
        string $channel,
        ?Model\CopBuyer $buyer = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CopPayment {
        $call = new Call(
            'POST',
            '/checkout/{id}/cop',
            parts: [$id],
            body: ['channel' => ['', $channel], 'buyer' => ['@CopBuyer', $buyer]],
            secret: $clientSecret,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CopPayment');
    }

    /**
     * Submit the SMS code of a payment in pesos.
     *
     * Five codes may be tried of an attempt; when the fifth is wrong too, it fails with `otp_attempts_exhausted`,
     * and another may begin. In live mode two may be tried.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `channel_mismatch`, `charge_in_progress`, `invalid_otp`, `merchant_inactive`, `method_not_offered`,
     *     `not_found`, `otp_attempts_exhausted`, `payment_not_pending`, `rail_not_configured`, `rail_unavailable`,
     *     `rate_unavailable`, `session_expired`, `session_paid`
     */
    public function submitOtp(
        string $id,
        #[\SensitiveParameter] string $clientSecret,
        #[\SensitiveParameter] string $otp,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CheckoutState {
        $call = new Call(
            'POST',
            '/checkout/{id}/cop/otp',
            parts: [$id],
            body: ['otp' => ['', $otp]],
            secret: $clientSecret,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CheckoutState');
    }

    /**
     * Pay in USDT.
     *
     * A USDT is a dollar. The session is paid when what came to its addresses reaches the amount, whatever the
     * networks.
     *
     * @param 'TRC20'|'ERC20'|'BEP20'|'POLYGON' $network
     * @param 'USDT'|'USDC' $asset
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `charge_in_progress`, `merchant_inactive`, `method_not_offered`, `not_found`, `rail_not_configured`,
     *     `rail_unavailable`, `rate_unavailable`, `session_expired`, `session_paid`, `usdt_not_enabled`
     */
    public function payUsdt(
        string $id,
        #[\SensitiveParameter] string $clientSecret,
        string $network,
        string $asset,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CheckoutAddress {
        $call = new Call(
            'POST',
            '/checkout/{id}/usdt',
            parts: [$id],
            body: ['network' => ['', $network], 'asset' => ['', $asset]],
            secret: $clientSecret,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CheckoutAddress');
    }

    /**
     * Open a session of a payment link.
     *
     * What `/pay/{slug}` does for a buyer. Needs no key. A client opens at most 50 sessions of a link in a row, and
     * then one a second; all together 500, and then 20 a second. Links that are not there are counted too: `[limits]
     * misses_burst`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function openLinkSession(
        string $slug,
        ?int $quantity = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\CheckoutSession {
        $call = new Call(
            'POST',
            '/pay/{slug}/sessions',
            parts: [$slug],
            body: ['quantity' => ['', $quantity]],
            usesKey: false,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@CheckoutSession');
    }
}
