"""The client against a running server: PASARELA_URL, PASARELA_KEY. Every reference has a name of this run in it."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import os
import queue
import socket
import threading
import unittest
import uuid
from decimal import Decimal
from urllib.parse import urlsplit

from pasarela import Answer, Conflict, ConnectionFailed, HttpTransport, InvalidRequest, NoAnswer, NotFound, Pasarela, Policy, Refused, SignatureError, StreamCall, Unauthorized, models, verify_webhook

URL, KEY = os.environ["PASARELA_URL"], os.environ["PASARELA_KEY"]
RUN = f"python-{uuid.uuid4().hex[:8]}"
CARD = models.Card(number="4111111111111111", exp_month=12, exp_year=2035, cvv="123", holder_name="Ana Pérez", holder_id="V12345678")


class LosesAnswers:
    """A transport whose first answer to each write is lost on the way back: the server did it, and the caller cannot know."""

    def __init__(self) -> None:
        self.inner = HttpTransport(URL)
        self.lost: list[Answer] = []

    def send(self, method, target, headers, body, timeout):
        answer = self.inner.send(method, target, headers, body, timeout)
        if method == "POST" and not self.lost:
            self.lost.append(answer)
            raise NoAnswer("the answer is lost", was_sent=True)
        return answer

    def close(self) -> None:
        self.inner.close()


class Proxy(http.server.BaseHTTPRequestHandler):
    """A proxy that wants to know who asks, forwards http, and opens no tunnel."""

    protocol_version = "HTTP/1.1"
    asked: list[str] = []

    def forward(self) -> None:
        self.asked.append(self.requestline.rsplit(" ", 1)[0])
        if self.headers["proxy-authorization"] != "Basic c2hvcDpwQHNz" or self.command == "CONNECT":
            self.send_response(407)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        target = urlsplit(self.path)
        onward = http.client.HTTPConnection(target.hostname, target.port)
        headers = {name: value for name, value in self.headers.items() if not name.lower().startswith("proxy-")}
        onward.request(self.command, target._replace(scheme="", netloc="").geturl(), self.rfile.read(int(self.headers.get("content-length", 0))), headers)
        answer = onward.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        onward.close()

    do_GET = do_POST = do_CONNECT = forward

    def log_message(self, *_) -> None:
        pass


class Cuts:
    """The way to the server, which is cut whenever so many bytes of answers went over it, a few times."""

    def __init__(self) -> None:
        self.count, self.socket = 0, socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    def __enter__(self) -> Cuts:
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def accept(self) -> None:
        address = urlsplit(URL)
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            self.count += 1
            server = socket.create_connection((address.hostname, address.port))
            left = 20_000 if self.count <= 3 else 1 << 30
            threading.Thread(target=self.carry, args=(client, server, 1 << 30), daemon=True).start()
            threading.Thread(target=self.carry, args=(server, client, left), daemon=True).start()

    def carry(self, source: socket.socket, target: socket.socket, left: int) -> None:
        try:
            while left > 0 and (data := source.recv(min(left, 4096))):
                left -= len(data)
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Live(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Pasarela(KEY, base_url=URL)
        self.addCleanup(self.client.close)

    def c2p(self, name: str, token: str = "12345678") -> models.Payment:
        payer = dict(debtor_id="V12345678", debtor_cell_phone="04141234567", debtor_bank_code=134, usd_amount=10, external_ref=f"{RUN}-{name}")
        intent = self.client.payments.request_c2p(**payer)
        return self.client.payments.execute_c2p(intent_id=intent.intent_id, token=token, **payer)

    def card(self, name: str, **options) -> models.Payment:
        return self.client.payments.charge_card(usd_amount="25.50", card=CARD, external_ref=f"{RUN}-{name}", **options)

    def test_the_fields_of_a_card_make_a_token_or_pay(self):
        opened = self.client.checkout_sessions.create(amount_usd="25.50")
        page, secret = self.client.checkout_page, opened.client_secret
        made = page.pay_card(opened.id, client_secret=secret, card=CARD, tokenize=True)
        assert isinstance(made, models.MadeCardToken), made
        self.assertEqual((made.card_brand, made.card_last4), ("visa", "1111"))
        state = page.pay_card(opened.id, client_secret=secret, card=CARD)
        assert isinstance(state, models.CheckoutState), state
        self.assertEqual(state.status, "paid")

    def test_a_first_payment_is_held_and_released(self):
        payment = self.c2p("first")
        self.assertEqual((payment.status, payment.usd_amount), ("COMPLETED", Decimal(10)))
        self.assertEqual(payment.net_ves, payment.ves_amount - payment.fee_ves)
        self.assertEqual(str(payment.ves_amount), str(payment.usd_amount * payment.bcv_rate + Decimal("0.0")))
        self.assertGreaterEqual(self.client.balance.get().held_ves, payment.net_ves)
        self.client.test.move_clock(advance_seconds=86_400)
        self.assertEqual(self.client.balance.get().held_ves, 0)
        self.assertEqual(self.client.payments.get(payment.payment_id), self.client.payments.get_by_ref(f"{RUN}-first"))

    def test_a_declined_payment_is_an_answer(self):
        payment = self.c2p("declined", token="99999999")
        self.assertEqual((payment.status, payment.failure_code), ("FAILED", "AM04"))

    def test_a_payment_is_refunded_once(self):
        payment = self.c2p("refund")
        self.assertEqual(self.client.payments.reverse(payment.payment_id).status, "REVERSED")
        with self.assertRaises(Conflict) as raised:
            self.client.payments.reverse(payment.payment_id)
        self.assertTrue(raised.exception.request_id)

    def test_a_call_shows_what_it_would_do(self):
        shown = self.client.test.fund_balance(currency="VES", amount="7", dry_run=True)
        self.assertEqual((shown.status, shown.body["amountVes"], len(shown.movements)), (201, "7.00", 1))
        self.assertFalse(any(row.amount_ves == 7 for row in self.client.balance.list_movements()))

    def test_a_seller_is_verified_and_paid(self):
        self.client.test.fund_balance(currency="VES", amount="500")
        seller = self.client.merchants.register(external_ref=f"{RUN}-seller", name="Bodega", identification="V87654321", bank_code="0134", phone="04147654321")
        method = seller.payout_methods[0].payout_method_id
        self.client.merchants.start_verification(seller.merchant_id, method)
        self.assertEqual(self.client.merchants.verify_payout_method(seller.merchant_id, method, amount1="0.32", amount2="0.45").status, "verified")
        asked = dict(merchant_id=seller.merchant_id, monto=100, concepto="liquidacion", external_ref=f"{RUN}-payout")
        payout = self.client.payouts.create(**asked)
        self.assertEqual((payout.status, payout.monto), ("completed", Decimal("100.00")))
        self.assertEqual(self.client.payouts.create(**asked).payout_id, payout.payout_id)
        with self.assertRaises(Conflict) as raised:
            self.client.payouts.create(**{**asked, "monto": 101})
        self.assertEqual((raised.exception.code, raised.exception.differs, raised.exception.existing_id), ("external_ref_conflict", ("monto",), payout.payout_id))
        with self.assertRaises(Refused) as refused:
            self.client.payouts.create(**{**asked, "monto": "99999999.00", "external_ref": f"{RUN}-too-much"})
        self.assertEqual(refused.exception.code, "insufficient_balance")
        self.assertIn("availableVes", refused.exception.body)
        self.assertEqual(self.client.merchants.get_by_ref(f"{RUN}-seller").merchant_id, seller.merchant_id)
        batch = self.client.payouts.create_batch(
            external_ref=f"{RUN}-batch",
            items=[models.MerchantPayoutItem(merchant_id=seller.merchant_id, monto=monto, concepto="lote", external_ref=f"{RUN}-item-{monto}") for monto in (1, "2.50")],
        )
        self.assertEqual({item.monto for item in batch.items}, {Decimal("1.00"), Decimal("2.50")})

    def test_a_lost_answer_does_not_charge_twice(self):
        transport = LosesAnswers()
        unlucky = Pasarela(KEY, base_url=URL, transport=transport)
        self.addCleanup(unlucky.close)
        payment = unlucky.payments.charge_card(usd_amount=5, card=CARD, external_ref=f"{RUN}-lost")
        self.assertEqual(len(transport.lost), 1)
        self.assertTrue(payment.last_response.replayed)
        self.assertEqual(len([one for one in self.client.payments.list(external_ref=f"{RUN}-lost").auto_paging()]), 1)

    def test_one_key_is_one_charge(self):
        first, second = (self.card("key", idempotency_key=f"{RUN}-key") for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual((first.last_response.replayed, second.last_response.replayed), (False, True))
        kept = self.client.reference.get_idempotency_key(f"{RUN}-key")
        self.assertEqual((kept.state, kept.response["paymentId"]), ("done", first.payment_id))
        with self.assertRaises(Refused) as raised:
            self.card("other", idempotency_key=f"{RUN}-key")
        self.assertEqual(raised.exception.code, "idempotency_key_reused")

    def test_lists_are_walked_page_by_page(self):
        made = [self.card(f"page-{number}").payment_id for number in range(5)]
        page = self.client.payments.list(method="VPOS", limit=2)
        self.assertEqual(len(page), 2)
        found = [payment.payment_id for payment in page.auto_paging()]
        self.assertEqual([id for id in found if id in made], made[::-1])
        self.assertEqual(len(found), len(set(found)))

    def test_deliveries_are_verified(self):
        deliveries: queue.Queue = queue.Queue()

        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                deliveries.put((self.rfile.read(int(self.headers["content-length"])), dict(self.headers)))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_) -> None:
                pass

        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        endpoint = self.client.webhooks.create(url=f"http://127.0.0.1:{receiver.server_port}/", events=["payment.completed"])
        payment = self.card("webhook")
        body, headers = deliveries.get(timeout=20)
        event = verify_webhook(body, headers, endpoint.secret)
        self.assertEqual((event.event, event.model), ("payment.completed", payment))
        with self.assertRaises(SignatureError):
            verify_webhook(body + b" ", headers, endpoint.secret)
        newer = self.client.webhooks.rotate_secret(endpoint.id)
        self.client.webhooks.resend_event(event.id)
        body, headers = deliveries.get(timeout=20)
        self.assertEqual(verify_webhook(body, headers, [endpoint.secret, newer.secret]).id, event.id)
        self.assertTrue(self.client.webhooks.delete(endpoint.id).deleted)

    def test_calls_go_through_a_proxy(self):
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        self.addCleanup(proxy.server_close)
        self.addCleanup(proxy.shutdown)
        address = f"127.0.0.1:{proxy.server_port}"
        with Pasarela(KEY, base_url=URL, proxy=f"http://shop:p%40ss@{address}") as client:
            payment = client.payments.charge_card(usd_amount=5, card=CARD, external_ref=f"{RUN}-proxy")
            self.assertEqual(client.payments.get(payment.payment_id).status, "COMPLETED")
        self.assertEqual(Proxy.asked, [f"POST {URL}/v1/payments/vpos", f"GET {URL}/v1/payments/{payment.payment_id}"])
        with Pasarela(KEY, base_url="https://pay.example", proxy=f"http://{address}", max_retries=0) as client:
            with self.assertRaises(ConnectionFailed) as raised:
                client.test.move_clock(advance_seconds=1)
        self.assertFalse(raised.exception.outcome_unknown)
        self.assertEqual(Proxy.asked[2], "CONNECT pay.example:443")
        for wrong in ("proxy:3128", "https://proxy", "socks5://proxy", "http://"):
            with self.assertRaises(ValueError):
                Pasarela(KEY, base_url=URL, proxy=wrong)

    def test_a_call_without_a_method_of_its_own(self):
        asked = {"usdAmount": 5, "card": CARD.to_json(), "externalRef": f"{RUN}-raw"}
        first = self.client.request("POST", "/v1/payments/vpos", body=asked, idempotency_key=f"{RUN}-raw", request_id=f"{RUN}-name")
        self.assertEqual(self.client.request("POST", "/v1/payments/vpos", body=asked, idempotency_key=f"{RUN}-raw"), first)
        self.assertEqual(self.client.request("GET", f"/v1/payments/{first['paymentId']}"), self.client.payments.get(first["paymentId"]).raw)
        self.assertEqual(self.client.finding.get_request(f"{RUN}-name").status, 201)
        table = self.client.request("GET", "/v1/payments", query={"externalRef": f"{RUN}-raw"}, accept="text/csv")
        self.assertEqual(table.decode().splitlines()[1].split(",")[1], first["paymentId"])
        with self.assertRaises(NotFound):
            self.client.request("GET", "/v1/payments/nobody")

    def funds(self, name: str, count: int) -> list[StreamCall]:
        return [StreamCall("/v1/test/fund", {"currency": "USDT", "amount": "1.00"}, key=f"{RUN}-{name}-{n}") for n in range(count)]

    def test_a_stream_yields_what_became_of_each_call(self):
        calls = [*self.funds("stream", 3), StreamCall("/v1/test/fund", {"currency": "X"}), {"method": "GET", "path": "/v1/crypto/balance"}]
        first = sorted(self.client.stream(iter(calls)), key=lambda outcome: outcome.line)
        self.assertEqual([outcome.status for outcome in first], [201, 201, 201, 400, 200])
        self.assertEqual([outcome.line for outcome in first], [1, 2, 3, 4, 5])
        self.assertIsInstance(first[3].error, InvalidRequest)
        self.assertTrue(first[3].key and first[4].key is None and first[0].error is None)
        again = sorted(self.client.stream(calls[:3]), key=lambda outcome: outcome.line)
        self.assertEqual([(outcome.replayed, outcome.body, outcome.wal_seq) for outcome in again], [(True, outcome.body, outcome.wal_seq) for outcome in first[:3]])
        self.assertEqual(list(self.client.stream([])), [])

    def test_a_stream_goes_on_after_cuts(self):
        with Cuts() as cuts:
            client = Pasarela(KEY, base_url=cuts.url, policy=Policy(first_wait=0.01))
            lines = sorted(outcome.line for outcome in client.stream(self.funds("cuts", 500)) if outcome.status == 201)
        self.assertEqual(lines, list(range(1, 501)))
        self.assertGreater(cuts.count, 2)

    def test_a_stream_with_a_wrong_key_or_without_a_server_is_an_error(self):
        with self.assertRaises(Unauthorized):
            list(Pasarela("pk_test_wrong", base_url=URL).stream(self.funds("wrong", 1)))
        nobody = Pasarela(KEY, base_url="http://127.0.0.1:1", policy=Policy(first_wait=0.01))
        with self.assertRaises(ConnectionFailed):
            list(nobody.stream(self.funds("nobody", 1), patience=0.2))

    def test_errors_name_what_is_wrong(self):
        with self.assertRaises(InvalidRequest) as raised:
            self.client.payments.charge_card(usd_amount="0.001", card=CARD, external_ref=" ")
        self.assertEqual({bad.field for bad in raised.exception.fields}, {"usdAmount", "externalRef"})
        with self.assertRaises(NotFound):
            self.client.payments.get("not/there")
        with self.assertRaises(Unauthorized):
            with Pasarela("pk_test_nobody", base_url=URL) as nobody:
                nobody.balance.get()

    def test_everything_that_is_read_can_be_read(self):
        for read in (
            self.client.balance.get, self.client.usdt.get_balance, self.client.cop.get_balance, self.client.conversions.get_settings,
            self.client.reference.list_banks, self.client.payments.list_methods, self.client.events.list, self.client.merchants.list, self.client.payouts.list,
            self.client.chargebacks.list, self.client.conversions.list, self.client.products.list, self.client.checkout_sessions.list, self.client.webhooks.list,
            self.client.health.get, self.client.health.get_readiness, self.client.test.get_clock, self.client.rates.get_withdrawal_fee_schedule,
        ):  # fmt: skip
            self.assertIsNotNone(read())
        payment = self.c2p("receipt")
        self.assertTrue(self.client.payments.get_receipt(payment.payment_id, media="application/pdf").startswith(b"%PDF"))
        self.assertIn("payment", [found.kind for found in self.client.finding.search(payment.payment_id).items])


if __name__ == "__main__":
    unittest.main()
