"""Checkout page.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from ...calls import Call
from ...model import DATE, VALUE, ModelCodec, encode
from ...session import Session
from .. import models


class CheckoutPage:
    """The calls of a buyer's page, for those who build their own. `Authorization: Bearer <clientSecret>` opens one
    session and nothing else. One attempt at a time: a new one supersedes what is pending. A body has at most 16
    KiB.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_state(
        self,
        id: str,
        *,
        client_secret: str,
        attempt: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CheckoutState:
        """Where the session stands.



        Args:
            attempt: A payment of this session: the answer then says how that stands too.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/checkout/{id}/state",
            parts=(id,),
            query={"attempt": attempt},
            secret=client_secret,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CheckoutState.from_json)

    def request_c2p(
        self,
        id: str,
        *,
        client_secret: str,
        debtor_id: str,
        debtor_cell_phone: str,
        debtor_bank_code: int,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.C2pIntent:
        """Begin to pay by C2P.

        At most ten in a row, and then one a minute, of a session and, on a payment link, of a client to one phone;
        of all clients to that phone 30, and then three a minute: every one may have the payer's bank send a code.

        Args:
            debtor_id: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            debtor_cell_phone: A Venezuelan mobile phone, with 0, 58 or +58 in front.

        Raises:
            ApiError: beside the codes that every call has, with `code` `charge_in_progress`, `merchant_inactive`,
                `method_not_offered`, `not_found`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
                `session_expired`, `session_paid`.
        """
        body = encode(
            {
                "debtor_id": ("debtorId", VALUE),
                "debtor_cell_phone": ("debtorCellPhone", VALUE),
                "debtor_bank_code": ("debtorBankCode", VALUE),
            },
            {
                "debtor_id": debtor_id,
                "debtor_cell_phone": debtor_cell_phone,
                "debtor_bank_code": debtor_bank_code,
            },
        )
        call = Call(
            "POST",
            "/checkout/{id}/c2p/request",
            parts=(id,),
            body=body,
            secret=client_secret,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.C2pIntent.from_json)

    def pay_c2p(
        self,
        id: str,
        *,
        client_secret: str,
        intent_id: str,
        debtor_id: str,
        debtor_cell_phone: str,
        debtor_bank_code: int,
        token: str,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CheckoutState:
        """Pay by C2P.



        Args:
            debtor_id: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            debtor_cell_phone: A Venezuelan mobile phone, with 0, 58 or +58 in front.

        Raises:
            ApiError: beside the codes that every call has, with `code` `charge_in_progress`, `intent_canceled`,
                `intent_failed`, `intent_mismatch`, `merchant_inactive`, `method_not_offered`, `not_found`,
                `rail_not_configured`, `rail_unavailable`, `rate_unavailable`, `session_expired`, `session_paid`.
        """
        body = encode(
            {
                "intent_id": ("intentId", VALUE),
                "debtor_id": ("debtorId", VALUE),
                "debtor_cell_phone": ("debtorCellPhone", VALUE),
                "debtor_bank_code": ("debtorBankCode", VALUE),
                "token": ("token", VALUE),
            },
            {
                "intent_id": intent_id,
                "debtor_id": debtor_id,
                "debtor_cell_phone": debtor_cell_phone,
                "debtor_bank_code": debtor_bank_code,
                "token": token,
            },
        )
        call = Call(
            "POST",
            "/checkout/{id}/c2p",
            parts=(id,),
            body=body,
            secret=client_secret,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CheckoutState.from_json)

    def pay_pago_movil(
        self,
        id: str,
        *,
        client_secret: str,
        debtor_id: str,
        debtor_cell_phone: str,
        debtor_bank_code: int,
        reference: str,
        date: date | str,
        quote: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CheckoutState:
        """Pay by a Pago Móvil that the buyer made.

        The state's `pagoMovil` says where to and how much; its `quote` keeps that amount for this session, whatever
        the rate is when the transfer is looked for. A transfer pays for one thing. At most ten tries in a row, and
        then one a minute, of a session and of a client at one shop, together with those by card.

        Args:
            debtor_id: V, E, J, P or G and 5 to 9 digits, with or without a dash.
            debtor_cell_phone: A Venezuelan mobile phone, with 0, 58 or +58 in front.
            reference: Its last digits, as the buyer sees them.

        Raises:
            ApiError: beside the codes that every call has, with `code` `charge_in_progress`, `merchant_inactive`,
                `method_not_offered`, `not_found`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
                `reference_already_used`, `session_expired`, `session_paid`.
        """
        body = encode(
            {
                "debtor_id": ("debtorId", VALUE),
                "debtor_cell_phone": ("debtorCellPhone", VALUE),
                "debtor_bank_code": ("debtorBankCode", VALUE),
                "reference": ("reference", VALUE),
                "date": ("date", DATE),
                "quote": ("quote", VALUE),
            },
            {
                "debtor_id": debtor_id,
                "debtor_cell_phone": debtor_cell_phone,
                "debtor_bank_code": debtor_bank_code,
                "reference": reference,
                "date": date,
                "quote": quote,
            },
        )
        call = Call(
            "POST",
            "/checkout/{id}/pago-movil",
            parts=(id,),
            body=body,
            secret=client_secret,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CheckoutState.from_json)

    def pay_card(
        self,
        id: str,
        *,
        client_secret: str,
        card: models.Card,
        tokenize: bool | None = None,
        quote: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CheckoutState | models.MadeCardToken:
        """Pay by card, or make a token of it.

        With `tokenize` nothing is charged: the answer is a token, with which `chargeCard` charges the card once,
        within 15 minutes, for the account whose session this is. The card waits in memory alone and is zeroed
        after. In live mode no rail takes cards.

        Args:
            tokenize: True: make a token and charge nothing.
            quote: The state's `quote`, as the buyer saw its total: no more is charged.

        Raises:
            ApiError: beside the codes that every call has, with `code` `amount_changed`, `charge_in_progress`,
                `merchant_inactive`, `method_not_offered`, `not_found`, `rail_not_configured`, `rail_unavailable`,
                `rate_unavailable`, `session_expired`, `session_paid`.
        """
        body = encode(
            {
                "card": ("card", ModelCodec("Card")),
                "tokenize": ("tokenize", VALUE),
                "quote": ("quote", VALUE),
            },
            {
                "card": card,
                "tokenize": tokenize,
                "quote": quote,
            },
        )
        call = Call(
            "POST",
            "/checkout/{id}/card",
            parts=(id,),
            body=body,
            secret=client_secret,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        answer: models.CheckoutState | models.MadeCardToken = self._session.model(call, ModelCodec("CheckoutState", "MadeCardToken").decode)
        return answer

    def pay_cop(
        self,
        id: str,
        *,
        client_secret: str,
        channel: Literal["qr", "push", "sms"],
        buyer: models.CopBuyer | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CopPayment:
        """Pay in pesos.

        The total is the dollars times the market's rate and 2.5 percent, rounded up to whole pesos. It is fixed by
        this call; a new start fixes a new one. At most ten begin in a row in a session, and then one a minute; by a
        client at one shop sixty, and then ten a minute; by push and SMS as many as of `requestCheckoutC2p` besides,
        together with those.

        Raises:
            ApiError: beside the codes that every call has, with `code` `amount_below_minimum`,
                `charge_in_progress`, `cop_not_enabled`, `merchant_inactive`, `method_not_offered`, `not_found`,
                `rail_not_configured`, `rail_unavailable`, `rate_unavailable`, `session_expired`, `session_paid`.
        """
        body = encode(
            {
                "channel": ("channel", VALUE),
                "buyer": ("buyer", ModelCodec("CopBuyer")),
            },
            {
                "channel": channel,
                "buyer": buyer,
            },
        )
        call = Call(
            "POST",
            "/checkout/{id}/cop",
            parts=(id,),
            body=body,
            secret=client_secret,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CopPayment.from_json)

    def submit_otp(
        self,
        id: str,
        *,
        client_secret: str,
        otp: str,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CheckoutState:
        """Submit the SMS code of a payment in pesos.

        Five codes may be tried of an attempt; when the fifth is wrong too, it fails with `otp_attempts_exhausted`,
        and another may begin. In live mode two may be tried.

        Raises:
            ApiError: beside the codes that every call has, with `code` `channel_mismatch`, `charge_in_progress`,
                `invalid_otp`, `merchant_inactive`, `method_not_offered`, `not_found`, `otp_attempts_exhausted`,
                `payment_not_pending`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
                `session_expired`, `session_paid`.
        """
        body = encode(
            {
                "otp": ("otp", VALUE),
            },
            {
                "otp": otp,
            },
        )
        call = Call(
            "POST",
            "/checkout/{id}/cop/otp",
            parts=(id,),
            body=body,
            secret=client_secret,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CheckoutState.from_json)

    def pay_usdt(
        self,
        id: str,
        *,
        client_secret: str,
        network: Literal["TRC20", "ERC20", "BEP20", "POLYGON"],
        asset: Literal["USDT", "USDC"],
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CheckoutAddress:
        """Pay in USDT.

        A USDT is a dollar. The session is paid when what came to its addresses reaches the amount, whatever the
        networks.

        Raises:
            ApiError: beside the codes that every call has, with `code` `charge_in_progress`, `merchant_inactive`,
                `method_not_offered`, `not_found`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
                `session_expired`, `session_paid`, `usdt_not_enabled`.
        """
        body = encode(
            {
                "network": ("network", VALUE),
                "asset": ("asset", VALUE),
            },
            {
                "network": network,
                "asset": asset,
            },
        )
        call = Call(
            "POST",
            "/checkout/{id}/usdt",
            parts=(id,),
            body=body,
            secret=client_secret,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CheckoutAddress.from_json)

    def open_link_session(
        self,
        slug: str,
        *,
        quantity: int | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.CheckoutSession:
        """Open a session of a payment link.

        What `/pay/{slug}` does for a buyer. Needs no key. A client opens at most 50 sessions of a link in a row,
        and then one a second; all together 500, and then 20 a second. Links that are not there are counted too:
        `[limits] misses_burst`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        body = encode(
            {
                "quantity": ("quantity", VALUE),
            },
            {
                "quantity": quantity,
            },
        )
        call = Call(
            "POST",
            "/pay/{slug}/sessions",
            parts=(slug,),
            body=body,
            uses_key=False,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.CheckoutSession.from_json)
