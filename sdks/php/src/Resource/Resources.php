<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Session;

/** One property per chapter of the reference. */
abstract class Resources
{
    /**
     * Collecting from a payer in Venezuela: C2P (a one-time code of the payer's bank), card, immediate debit, and
     * transfers that the payer made by Pago Móvil. What is collected is held for 24 hours, then available.
     */
    public readonly Payments $payments;
    /**
     * The balance, what of it is held, and every movement behind it: the sum of `amountVes` over all movements is
     * `ledgerNetVes`, and `ledgerNetVes` less `reserveVes` and `heldVes` is `availableVes`, always.
     */
    public readonly Balance $balance;
    /**
     * What moved on each day. Days are those of Caracas, and of Bogotá for pesos; midnight belongs to the new day.
     * `opening` and all columns add up to `closing`, which is the next day's `opening`. Holds and the reserve are
     * not in it.
     */
    public readonly Statements $statements;
    /**
     * The sellers of a marketplace and how they are paid. A payout method is verified by two micro-deposits, whose
     * amounts the seller reads from the account.
     */
    public readonly Merchants $merchants;
    /**
     * Money out of the balance in bolívares, to merchants, phones, accounts and yourself, single or up to 1,000 at
     * once. The debit is durable before the bank is called; if a payout fails, the money returns to the balance. The
     * same `externalRef` with the same payload never pays twice.
     */
    public readonly Payouts $payouts;
    /**
     * What a cardholder's bank took back of a card payment. The amount and the fee come out of the available
     * balance, which may go below zero; a dispute that is won returns both.
     */
    public readonly Chargebacks $chargebacks;
    /**
     * From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; accepting it debits at once.
     * Held money can be converted too, and the USDT is held as long.
     */
    public readonly Conversions $conversions;
    /** The balance in USDT, payouts to wallets, and addresses through which your customers deposit stablecoins. */
    public readonly Usdt $usdt;
    /**
     * Collecting pesos by QR or transfer key, by a push notification, or by an SMS code. What is collected is held
     * for 24 hours; a refund is for the whole amount and possible for 96 hours.
     */
    public readonly Cop $cop;
    /** What you sell, and the links under which buyers pay for it at `/pay/{slug}`. */
    public readonly Products $products;
    /**
     * A page on which a buyer pays once, priced in US dollars: send the buyer to `url`, or embed it with
     * `clientSecret` and `/checkout.js`.
     */
    public readonly CheckoutSessions $checkoutSessions;
    /**
     * The calls of a buyer's page, for those who build their own. `Authorization: Bearer <clientSecret>` opens one
     * session and nothing else. One attempt at a time: a new one supersedes what is pending. A body has at most 16
     * KiB.
     */
    public readonly CheckoutPage $checkoutPage;
    /**
     * What happened, numbered per account and mode without gaps, so that a receiver that was down can catch up with
     * certainty: `GET /v1/events?after=SEQUENCE`.
     */
    public readonly Events $events;
    /**
     * Where events are sent. An event is sent once to each endpoint that lists it, signed, with 10 seconds to answer
     * 2xx; duplicates are possible after a crash, so deduplicate on `webhook-id`. With `retry` `backoff` what was
     * not answered 2xx is tried again, 8 times over a day, and `Svc-Attempt` counts the tries. Verify
     * `webhook-signature` (Standard Webhooks), and refuse what was sent more than five minutes ago: `Svc-Signature`
     * covers the body alone, so a replay passes it, unless the endpoint's `signature` is `timestamped`. What was
     * missed is in `GET /v1/events`.
     */
    public readonly Webhooks $webhooks;
    /**
     * The account's own API keys, in the mode of the key that asks. A key is shown once, in the answer that makes
     * it; what is kept is its SHA-256.
     */
    public readonly Keys $keys;
    /**
     * Calls of a key whose mandate has `approvalAbove`: above it they are answered 202 with `awaiting_approval`, and
     * nothing is spent or debited. Somebody of the account decides, in the portal or with a key that has the scope
     * `keys`; after 24 hours of the account's clock, or when its key is revoked, the call has expired. What is
     * approved is decided then, by the balance and the limits of then.
     */
    public readonly Approvals $approvals;
    /** Banks, and what became of a request whose answer was lost. */
    public readonly Reference $reference;
    /** One text leads to everything that it names, and a request's id to what became of the request. */
    public readonly Finding $finding;
    /**
     * Without a key, read-only, for reference: the rate of a real operation is confirmed in the operator's own app.
     * Errors are `{statusCode, error, message}`. Browsers may call from the operator's own origins only.
     */
    public readonly Rates $rates;
    /**
     * A test key runs the same engine, ledger and log; only the banks are simulated. These calls move its clock,
     * give it money, and play the parts of buyers, banks and operators.
     */
    public readonly Test $test;
    /** For load balancers and supervisors. */
    public readonly Health $health;

    public function __construct(Session $session)
    {
        $this->payments = new Payments($session);
        $this->balance = new Balance($session);
        $this->statements = new Statements($session);
        $this->merchants = new Merchants($session);
        $this->payouts = new Payouts($session);
        $this->chargebacks = new Chargebacks($session);
        $this->conversions = new Conversions($session);
        $this->usdt = new Usdt($session);
        $this->cop = new Cop($session);
        $this->products = new Products($session);
        $this->checkoutSessions = new CheckoutSessions($session);
        $this->checkoutPage = new CheckoutPage($session);
        $this->events = new Events($session);
        $this->webhooks = new Webhooks($session);
        $this->keys = new Keys($session);
        $this->approvals = new Approvals($session);
        $this->reference = new Reference($session);
        $this->finding = new Finding($session);
        $this->rates = new Rates($session);
        $this->test = new Test($session);
        $this->health = new Health($session);
    }
}
