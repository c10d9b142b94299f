"""The attributes of the client.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from ...session import Session
from .payments import Payments
from .balance import Balance
from .statements import Statements
from .merchants import Merchants
from .payouts import Payouts
from .chargebacks import Chargebacks
from .conversions import Conversions
from .usdt import Usdt
from .cop import Cop
from .products import Products
from .checkout_sessions import CheckoutSessions
from .checkout_page import CheckoutPage
from .events import Events
from .webhooks import Webhooks
from .keys import Keys
from .approvals import Approvals
from .reference import Reference
from .finding import Finding
from .rates import Rates
from .test import Test
from .health import Health


class Resources:
    """One attribute per chapter of the reference."""

    def __init__(self, session: Session) -> None:
        self.payments = Payments(session)
        """Collecting from a payer in Venezuela: C2P (a one-time code of the payer's bank), card, immediate debit, and
        transfers that the payer made by Pago Móvil. What is collected is held for 24 hours, then available.
        """
        self.balance = Balance(session)
        """The balance, what of it is held, and every movement behind it: the sum of `amountVes` over all movements is
        `ledgerNetVes`, and `ledgerNetVes` less `reserveVes` and `heldVes` is `availableVes`, always.
        """
        self.statements = Statements(session)
        """What moved on each day. Days are those of Caracas, and of Bogotá for pesos; midnight belongs to the new day.
        `opening` and all columns add up to `closing`, which is the next day's `opening`. Holds and the reserve are
        not in it.
        """
        self.merchants = Merchants(session)
        """The sellers of a marketplace and how they are paid. A payout method is verified by two micro-deposits, whose
        amounts the seller reads from the account.
        """
        self.payouts = Payouts(session)
        """Money out of the balance in bolívares, to merchants, phones, accounts and yourself, single or up to 1,000 at
        once. The debit is durable before the bank is called; if a payout fails, the money returns to the balance.
        The same `externalRef` with the same payload never pays twice.
        """
        self.chargebacks = Chargebacks(session)
        """What a cardholder's bank took back of a card payment. The amount and the fee come out of the available
        balance, which may go below zero; a dispute that is won returns both.
        """
        self.conversions = Conversions(session)
        """From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; accepting it debits at
        once. Held money can be converted too, and the USDT is held as long.
        """
        self.usdt = Usdt(session)
        """The balance in USDT, payouts to wallets, and addresses through which your customers deposit stablecoins."""
        self.cop = Cop(session)
        """Collecting pesos by QR or transfer key, by a push notification, or by an SMS code. What is collected is held
        for 24 hours; a refund is for the whole amount and possible for 96 hours.
        """
        self.products = Products(session)
        """What you sell, and the links under which buyers pay for it at `/pay/{slug}`."""
        self.checkout_sessions = CheckoutSessions(session)
        """A page on which a buyer pays once, priced in US dollars: send the buyer to `url`, or embed it with
        `clientSecret` and `/checkout.js`.
        """
        self.checkout_page = CheckoutPage(session)
        """The calls of a buyer's page, for those who build their own. `Authorization: Bearer <clientSecret>` opens one
        session and nothing else. One attempt at a time: a new one supersedes what is pending. A body has at most 16
        KiB.
        """
        self.events = Events(session)
        """What happened, numbered per account and mode without gaps, so that a receiver that was down can catch up
        with certainty: `GET /v1/events?after=SEQUENCE`.
        """
        self.webhooks = Webhooks(session)
        """Where events are sent. An event is sent once to each endpoint that lists it, signed, with 10 seconds to
        answer 2xx; duplicates are possible after a crash, so deduplicate on `webhook-id`. With `retry` `backoff`
        what was not answered 2xx is tried again, 8 times over a day, and `Svc-Attempt` counts the tries. Verify
        `webhook-signature` (Standard Webhooks), and refuse what was sent more than five minutes ago: `Svc-
        Signature` covers the body alone, so a replay passes it, unless the endpoint's `signature` is `timestamped`.
        What was missed is in `GET /v1/events`.
        """
        self.keys = Keys(session)
        """The account's own API keys, in the mode of the key that asks. A key is shown once, in the answer that makes
        it; what is kept is its SHA-256.
        """
        self.approvals = Approvals(session)
        """Calls of a key whose mandate has `approvalAbove`: above it they are answered 202 with `awaiting_approval`,
        and nothing is spent or debited. Somebody of the account decides, in the portal or with a key that has the
        scope `keys`; after 24 hours of the account's clock, or when its key is revoked, the call has expired. What
        is approved is decided then, by the balance and the limits of then.
        """
        self.reference = Reference(session)
        """Banks, and what became of a request whose answer was lost."""
        self.finding = Finding(session)
        """One text leads to everything that it names, and a request's id to what became of the request."""
        self.rates = Rates(session)
        """Without a key, read-only, for reference: the rate of a real operation is confirmed in the operator's own
        app. Errors are `{statusCode, error, message}`. Browsers may call from the operator's own origins only.
        """
        self.test = Test(session)
        """A test key runs the same engine, ledger and log; only the banks are simulated. These calls move its clock,
        give it money, and play the parts of buyers, banks and operators.
        """
        self.health = Health(session)
        """For load balancers and supervisors."""
