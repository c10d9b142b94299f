"""The edges that need no server: tries, signatures, money, pages, errors."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import pickle
import socket
import threading
import unittest
from datetime import datetime, timezone
from decimal import Decimal

from pasarela import (
    Answer,
    ApiError,
    Conflict,
    ConnectionFailed,
    InvalidRequest,
    NoAnswer,
    Pasarela,
    Policy,
    RateLimited,
    Refused,
    SignatureError,
    Unavailable,
    models,
    sign_webhook,
    verify_webhook,
)
from pasarela.model import exact, read_json, write_json
from pasarela.retries import Outcome, worth_repeating

CARD = models.Card(number="4111111111111111", exp_month=12, exp_year=2031, cvv="123", holder_name="Ana Perez", holder_id="V12345678")


class Script:
    """A transport that plays answers, or their absence, in order, and remembers what was sent."""

    def __init__(self, *answers: Answer | NoAnswer) -> None:
        self.answers = list(answers)
        self.sent: list[tuple] = []

    def send(self, method, target, headers, body, timeout):
        self.sent.append((method, target, dict(headers), body))
        self.timeout = timeout
        answer = self.answers.pop(0)
        if isinstance(answer, NoAnswer):
            raise answer
        return answer

    def close(self) -> None:
        pass


def answer(status: int, body: object, **headers: str) -> Answer:
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, json.dumps(body).encode())


def problem(status: int, code: str, **headers: str) -> Answer:
    return answer(status, {"error": code, "message": "…", "requestId": "r-1"}, **headers)


def client(*answers: Answer | NoAnswer, **options) -> tuple[Pasarela, Script, list[float]]:
    script, waits = Script(*answers), []
    made = Pasarela("pk_test_x", base_url="http://localhost:1", transport=script, **options)
    made._session._sleep = waits.append
    return made, script, waits


CLOCK = {"now": "2026-11-21T02:13:00.000Z", "livemode": False}


class Tries(unittest.TestCase):
    def test_a_lost_answer_of_a_post_is_asked_for_again_under_the_same_key_and_with_the_same_bytes(self):
        made, script, waits = client(NoAnswer("reset", was_sent=True), problem(503, "overloaded", retry_after="3"), answer(200, CLOCK))
        made.test.move_clock(advance_seconds=60)
        keys = {headers["idempotency-key"] for _, _, headers, _ in script.sent}
        self.assertEqual((len(script.sent), len(keys), len({body for *_, body in script.sent})), (3, 1, 1))
        self.assertTrue(0.25 <= waits[0] <= 0.5 and waits[1] >= 3)

    def test_each_call_has_a_key_of_its_own_and_the_callers_key_is_kept(self):
        made, script, _ = client(*[answer(200, CLOCK)] * 3)
        made.test.move_clock(advance_seconds=1)
        made.test.move_clock(advance_seconds=1)
        made.test.move_clock(advance_seconds=1, idempotency_key="mine")
        first, second, third = (headers["idempotency-key"] for _, _, headers, _ in script.sent)
        self.assertNotEqual(first, second)
        self.assertEqual(third, "mine")

    def test_what_may_have_happened_and_has_no_key_is_not_repeated(self):
        for lost in (NoAnswer("reset", was_sent=True), problem(500, "internal_error"), problem(503, "storage_unavailable")):
            made, script, _ = client(lost)
            with self.assertRaises((ConnectionFailed, Unavailable)) as raised:
                made.webhooks.delete("w-1")
            self.assertEqual(len(script.sent), 1)
            self.assertTrue(raised.exception.outcome_unknown)

    def test_what_certainly_did_not_happen_is_repeated_without_a_key_too(self):
        made, script, _ = client(NoAnswer("refused", was_sent=False), problem(429, "rate_limited", retry_after="1"), answer(200, {"deleted": True, "id": "w-1"}))
        self.assertTrue(made.webhooks.delete("w-1").deleted)

    def test_the_gateways_word_stands_when_the_tries_are_used_up(self):
        made, script, waits = client(*[problem(429, "rate_limited")] * 3)
        with self.assertRaises(RateLimited):
            made.balance.get()
        self.assertEqual((len(script.sent), len(waits)), (3, 2))

    def test_a_wait_longer_than_is_bearable_is_the_callers_to_decide(self):
        made, script, _ = client(problem(429, "rate_limited", retry_after="3600"))
        with self.assertRaises(RateLimited) as raised:
            made.balance.get()
        self.assertEqual((raised.exception.retry_after, len(script.sent)), (3600, 1))

    def test_which_outcomes_are_repeated(self):
        table = [
            # status, code, Retry-After, under a key or a read, else
            (409, "idempotency_in_progress", None, True, False),
            (409, "external_ref_conflict", None, False, False),
            (422, "insufficient_balance", None, False, False),
            (400, "invalid_data", None, False, False),
            (408, "request_timeout", None, True, True),
            (503, "rail_unavailable", 5, True, True),
            (503, "no_leader", 1, True, True),
            (503, "shutting_down", None, True, True),
            (503, "storage_unavailable", None, True, False),
            (503, "account_halted", None, False, False),
            (503, "rail_not_configured", None, False, False),
            (503, "rate_unavailable", None, False, False),
            (502, "http_502", None, True, False),
            (500, "internal_error", None, True, False),
        ]
        for status, code, after, keyed, bare in table:
            outcome = Outcome(status, code, after)
            self.assertEqual((worth_repeating(outcome, True), worth_repeating(outcome, False)), (keyed, bare), code)

    def test_waits_grow_and_end(self):
        policy = Policy(max_retries=9)
        longest = [policy.wait(tries, Outcome(429, "rate_limited"), True, lambda: 1.0) for tries in range(1, 8)]
        self.assertEqual(longest, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0])


class Options(unittest.TestCase):
    def test_a_call_has_its_own_retries_time_out_and_name(self):
        made, script, waits = client(NoAnswer("reset", was_sent=True), timeout=7)
        with self.assertRaises(ConnectionFailed):
            made.balance.get(max_retries=0, timeout=3, request_id="mine-1")
        self.assertEqual((len(script.sent), waits, script.timeout, script.sent[0][2]["x-request-id"]), (1, [], 3, "mine-1"))
        made, script, waits = client(*[problem(503, "overloaded")] * 4, answer(200, CLOCK), max_retries=0)
        made.test.get_clock(max_retries=4)
        self.assertEqual((len(script.sent), len(waits), script.timeout), (5, 4, 60))

    def test_what_is_no_option_is_refused_before_the_first_try(self):
        nan, infinite = float("nan"), float("inf")
        made, script, _ = client(NoAnswer("reset", was_sent=True))
        wrong = [{"timeout": value} for value in (0, -1, nan, infinite, 86_401, "5")] + [{"max_retries": value} for value in (-1, nan, 1.5, 101)]
        for options in [*wrong, *({"request_id": value} for value in ("", "a b", "a\r\n x-evil: 1", "é", "a" * 65))]:
            with self.assertRaises(ValueError, msg=options):
                made.balance.get(**options)
        for value in ("", "a\nb", " a", "a ", "é", "a" * 256):
            with self.assertRaises(ValueError, msg=value):
                made.test.move_clock(advance_seconds=1, idempotency_key=value)
        for options in [*wrong, *({"policy": Policy(**{name: value})} for name in ("max_retries", "first_wait", "longest_wait", "longest_retry_after") for value in (-1, nan))]:
            with self.assertRaises(ValueError, msg=options):
                client(**options)
        with self.assertRaises(ValueError) as raised:
            made.checkout_page.get_state("s-1", client_secret="cs_SECRET\n")
        self.assertNotIn("cs_SECRET", str(raised.exception))
        with self.assertRaises(ValueError):
            made.request("GET", "/v1/payments", accept="text/csv\r\nx-evil: 1")
        self.assertEqual(script.sent, [])

    def test_an_unknown_option_is_refused(self):
        made, *_ = client()
        with self.assertRaises(TypeError):
            made.balance.get(retries=1)


class RawCalls(unittest.TestCase):
    def test_they_have_the_key_the_retries_and_the_errors_of_every_call(self):
        made, script, _ = client(problem(503, "overloaded"), Answer(201, {}, b'{"paymentId": "p", "vesAmount": 10.50}'))
        found = made.request("post", "/v1/payments/new", body={"usdAmount": Decimal("5.10"), "list": [1]}, query={"a b": True, "none": None})
        self.assertEqual((found["paymentId"], str(found["vesAmount"])), ("p", "10.50"))
        method, target, headers, body = script.sent[1]
        self.assertEqual((method, target, headers["x-api-key"], body), ("POST", "/v1/payments/new?a+b=true", "pk_test_x", b'{"usdAmount":5.10,"list":[1]}'))
        self.assertEqual(headers["idempotency-key"], script.sent[0][2]["idempotency-key"])
        made, script, _ = client(problem(422, "insufficient_balance"), answer(200, []), Answer(204, {}, b""), Answer(200, {}, b"a,b"))
        with self.assertRaises(Refused) as raised:
            made.request("POST", "/v1/payouts", body={}, idempotency_key="mine")
        self.assertEqual((raised.exception.code, raised.exception.idempotency_key), ("insufficient_balance", "mine"))
        self.assertEqual(made.request("GET", "/v1/banks", request_id="r-9"), [])
        self.assertIsNone(made.request("DELETE", "/v1/x"))
        self.assertEqual(made.request("GET", "/v1/payments", accept="text/csv"), b"a,b")
        self.assertEqual([sent[2].get("idempotency-key") for sent in script.sent], ["mine", None, None, None])

    def test_a_post_that_takes_no_key_is_not_repeated(self):
        made, script, _ = client(NoAnswer("reset", was_sent=True))
        with self.assertRaises(ConnectionFailed):
            made.request("POST", "/pay/link/sessions", body={})
        self.assertEqual(len(script.sent), 1)

    def test_a_key_is_refused_where_the_gateway_keeps_none(self):
        made, script, _ = client(NoAnswer("reset", was_sent=True))
        for method, path in (("PATCH", "/v1/merchants/m-1"), ("DELETE", "/v1/webhooks/w-1"), ("POST", "/pay/link/sessions"), ("GET", "/v1/balance")):
            with self.assertRaisesRegex(ValueError, "Idempotency-Key"):
                made.request(method, path, idempotency_key="mine")
        self.assertEqual(script.sent, [])

    def test_what_is_no_path_is_refused(self):
        made, script, _ = client()
        for wrong in ("", "v1/balance", "/v1/balance?at=1", "/v1/a b", "/v1/é", "/v1/a\r\n", "http://other.example/", "/v1/../pay", "/v1/.", "/v1/%2E%2e/x", "/v1\\..\\pay", "/v1/{id}"):
            with self.assertRaises(ValueError, msg=wrong):
                made.request("GET", wrong)
        for method in ("GET / HTTP/1.1\r\nx-evil: 1", "", "G T"):
            with self.assertRaises(ValueError):
                made.request(method, "/v1/balance")
        for parts in ((), ("a", "b"), ("..",), ("",)):
            with self.assertRaises(ValueError):
                made.request("GET", "/v1/payments/{id}", parts=parts)
        self.assertEqual(script.sent, [])


class Logs(unittest.TestCase):
    def test_each_try_is_a_line_without_keys_cards_codes_and_bodies(self):
        made, *_ = client(problem(503, "overloaded", x_request_id="r-7"), NoAnswer("reset", was_sent=True), answer(201, {"paymentId": "p"}, x_request_id="r-8"))
        with self.assertLogs("pasarela", logging.INFO) as logs:
            made.payments.charge_card(usd_amount=1, card=CARD, external_ref="order-1", idempotency_key="idem-1")
        first, second, third = logs.records
        self.assertRegex(first.getMessage(), r"^POST /v1/payments/vpos: 503 overloaded in [0-9]+ ms \(request r-7\); retry 1 in [0-9]+ ms$")
        self.assertRegex(second.getMessage(), r"^POST /v1/payments/vpos: reset after [0-9]+ ms; retry 2 in [0-9]+ ms$")
        self.assertRegex(third.getMessage(), r"^POST /v1/payments/vpos: 201 in [0-9]+ ms \(request r-8\)$")
        self.assertEqual([record.levelname for record in logs.records], ["WARNING", "WARNING", "INFO"])
        self.assertEqual((third.method, third.path, third.status, third.request_id, third.retry), ("POST", "/v1/payments/vpos", 201, "r-8", 2))
        self.assertGreaterEqual(third.duration_ms, 0)
        for record in logs.records:
            self.assertNotRegex(repr(vars(record)), "pk_test_x|4111|123'|order-1|idem-1|Ana")

    def test_a_line_has_no_otp_and_no_client_secret(self):
        made, *_ = client(answer(200, {"paymentId": "p"}), NoAnswer("reset", was_sent=True), answer(200, {}))
        payer = dict(debtor_id="V12345678", debtor_cell_phone="04141234567", debtor_bank_code=134, usd_amount=1, external_ref="order-1")
        with self.assertLogs("pasarela", logging.INFO) as logs:
            made.payments.execute_c2p(intent_id="i", token="OTP987654", **payer)
            with self.assertRaises(ConnectionFailed) as raised:
                made.checkout_page.submit_otp("s-1", client_secret="cs_SECRET", otp="OTP987654")
            made.checkout_page.get_state("s-1", client_secret="cs_SECRET")
        self.assertEqual(len(logs.records), 3)
        self.assertNotRegex(repr([vars(record) for record in logs.records]) + repr(raised.exception), "OTP987654|cs_SECRET|s-1|V12345678")

    def test_a_logger_that_raises_changes_nothing(self):
        class Full(logging.Handler):
            def emit(self, record):
                raise OSError("no space left on device")

        logger = logging.Logger("full")
        logger.addHandler(Full())
        made, script, _ = client(NoAnswer("reset", was_sent=True), answer(200, CLOCK), logger=logger)
        self.assertFalse(made.test.move_clock(advance_seconds=1).livemode)
        self.assertEqual(len(script.sent), 2)

    def test_the_path_of_a_raw_call_is_logged_as_it_was_given_without_its_parts(self):
        made, script, _ = client(answer(200, {}), answer(200, {}))
        with self.assertLogs("pasarela", logging.INFO) as logs:
            made.request("GET", "/v1/payments/by-ref/{externalRef}", parts=["order 1/{x}"])
            made.request("PATCH", "/v1/merchants/m-1", body={})
        self.assertEqual([record.path for record in logs.records], ["/v1/payments/by-ref/{externalRef}", "/v1/merchants/m-1"])
        self.assertEqual(script.sent[0][1], "/v1/payments/by-ref/order%201%2F%7Bx%7D")

    def test_a_path_has_names_in_the_place_of_ids_and_no_query(self):
        logger = logging.getLogger("shop.payments")
        made, *_ = client(answer(200, {}), answer(200, {"items": [], "nextCursor": None}), problem(404, "not_found"), logger=logger)
        with self.assertLogs(logger, logging.INFO) as logs:
            made.payments.get_by_ref("V12345678")
            made.payments.list(external_ref="V12345678")
            with self.assertRaises(ApiError):
                made.request("GET", "/v1/nothing", query={"q": "V12345678"})
        self.assertEqual([record.path for record in logs.records], ["/v1/payments/by-ref/{externalRef}", "/v1/payments", "/v1/nothing"])
        self.assertEqual((logs.records[2].status, logs.records[2].error), (404, "not_found"))
        self.assertNotIn("V12345678", repr([vars(record) for record in logs.records]))


class Connections(unittest.TestCase):
    """A server that answers one request per connection, and closes it without a word after the next."""

    def test_a_pool_of_dead_connections_costs_one_try(self):
        listener = socket.create_server(("127.0.0.1", 0))
        text = json.dumps(CLOCK).encode()

        def serve() -> None:
            open_ones = [listener.accept()[0] for _ in range(4)]  # four calls at once: four connections are kept
            for one in open_ones:
                one.recv(65536)
            for one in open_ones:
                one.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
            answered.wait()
            for one in open_ones:
                one.close()
            closed.set()
            last = listener.accept()[0]
            last.recv(65536)
            last.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
            last.close()

        answered, closed = threading.Event(), threading.Event()
        threading.Thread(target=serve, daemon=True).start()
        with Pasarela("pk_test_x", base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", policy=Policy(max_retries=1, first_wait=0.0)) as made:
            calls = [threading.Thread(target=made.test.get_clock) for _ in range(4)]
            for call in calls:
                call.start()
            for call in calls:
                call.join()
            answered.set()
            closed.wait()
            self.assertFalse(made.test.get_clock().livemode)
        listener.close()


class Errors(unittest.TestCase):
    def test_an_error_says_everything_that_the_gateway_said(self):
        body = {"error": "invalid_data", "message": "…", "requestId": "r-1", "fields": [{"field": "card.number", "message": "must be a card number"}]}
        made, *_ = client(answer(400, body, x_request_id="r-2"))
        with self.assertRaises(InvalidRequest) as raised:
            made.payments.charge_card(usd_amount=1, card=CARD, external_ref="a")
        error = raised.exception
        self.assertEqual((error.status, error.code, error.request_id, error.fields[0].field), (400, "invalid_data", "r-2", "card.number"))
        self.assertIn("card.number: must be a card number", str(error))

    def test_a_message_says_nothing_twice(self):
        one = {"error": "invalid_data", "message": "limit: must be whole", "requestId": "r", "fields": [{"field": "limit", "message": "must be whole"}]}
        other = {"error": "external_ref_conflict", "message": "used before with another monto", "requestId": "r", "differs": ["monto", "concepto"]}
        made, *_ = client(answer(400, one), answer(409, other))
        for said in ("400 invalid_data: limit: must be whole (request r)", "409 external_ref_conflict: used before with another monto; differs: concepto (request r)"):
            with self.assertRaises(ApiError) as raised:
                made.balance.get()
            self.assertEqual(str(raised.exception), said)

    def test_a_conflict_says_what_differs(self):
        made, *_ = client(answer(409, {"error": "external_ref_conflict", "message": "…", "requestId": "r", "docs": "/docs/x", "existingId": "p-1", "differs": ["monto"]}))
        with self.assertRaises(Conflict) as raised:
            made.payouts.create(merchant_id="m", monto="1.00", concepto="c", external_ref="a")
        self.assertEqual((raised.exception.existing_id, raised.exception.differs, raised.exception.docs), ("p-1", ("monto",), "/docs/x"))

    def test_an_answer_that_is_not_the_gateways_is_an_error_too(self):
        made, *_ = client(Answer(413, {}, b"<html>too large"))
        with self.assertRaises(ApiError) as raised:
            made.balance.get()
        self.assertEqual(raised.exception.code, "http_413")

    def test_half_an_answer_of_a_write_is_an_unknown_outcome_with_its_key(self):
        made, script, _ = client(Answer(200, {}, b'{"now": "20'))
        with self.assertRaises(ConnectionFailed) as raised:
            made.test.move_clock(advance_seconds=1)
        self.assertTrue(raised.exception.outcome_unknown)
        self.assertEqual(raised.exception.idempotency_key, script.sent[0][2]["idempotency-key"])

    def test_nothing_shows_a_key_or_a_card(self):
        made, *_ = client()
        self.assertNotIn("pk_test_x", repr(made))
        self.assertNotIn("4111", repr(CARD))
        self.assertNotIn("123", repr(CARD).replace("V12345678", ""))

    def test_a_key_with_a_line_feed_and_an_empty_id_are_refused_here(self):
        with self.assertRaises(ValueError):
            Pasarela("pk_test_x\n", base_url="http://localhost")
        made, script, _ = client()
        for wrong in ("", ".", ".."):
            with self.assertRaises(ValueError, msg=wrong):
                made.payments.get(wrong)
            with self.assertRaises(ValueError, msg=wrong):
                made.merchants.get_balance(wrong)
        self.assertEqual(script.sent, [])


class Money(unittest.TestCase):
    def test_amounts_are_exact_on_both_ways(self):
        made, script, _ = client(answer(201, {"payoutId": "p", "monto": "999999999999.99"}), answer(201, {"paymentId": "p"}))
        payout = made.payouts.create(merchant_id="m", monto=Decimal("100"), concepto="c", external_ref="a")
        self.assertEqual(payout.monto, Decimal("999999999999.99"))
        self.assertIn(b'"monto":"100.00"', script.sent[0][3])
        made.payments.charge_card(usd_amount="25.50", card=CARD, external_ref="a")
        self.assertIn(b'"usdAmount":25.50,', script.sent[1][3])

    def test_numbers_of_answers_are_decimals_as_they_were_written(self):
        made, *_ = client(Answer(200, {}, b'{"paymentId": "p", "vesAmount": 999999999999.99, "bcvRate": 210, "feeVes": 0.10}'))
        payment = made.payments.get("p")
        self.assertEqual([str(payment.ves_amount), str(payment.bcv_rate), str(payment.fee_ves)], ["999999999999.99", "210", "0.10"])

    def test_a_float_is_no_amount(self):
        made, script, _ = client()
        for wrong in (25.5, True):
            with self.assertRaises(TypeError):
                made.payments.charge_card(usd_amount=wrong, card=CARD, external_ref="a")
        for wrong in ("ten", "NaN", "Infinity", ""):
            with self.assertRaises(ValueError):
                exact(wrong)
        self.assertEqual(script.sent, [])

    def test_digits_are_never_cut(self):
        made, script, _ = client(answer(201, {}))
        made.payouts.create(merchant_id="m", monto="0.125", concepto="c", external_ref="a")
        self.assertIn(b'"monto":"0.125"', script.sent[0][3])

    def test_json_is_written_as_it_is_read(self):
        text = '{"a":[1,2.50,"x\\u00e9",null,true],"b":{}}'
        self.assertEqual(write_json(read_json(text)), text)

    def test_times_are_instants(self):
        made, script, _ = client(answer(200, {"items": [], "nextCursor": None}))
        made.payments.list(from_=datetime(2026, 11, 21, 2, 13, tzinfo=timezone.utc), status="COMPLETED")
        self.assertEqual(script.sent[0][1], "/v1/payments?status=COMPLETED&from=2026-11-21T02%3A13%3A00.000Z")
        with self.assertRaises(ValueError):
            made.payments.list(from_=datetime(2026, 11, 21))

    def test_what_a_newer_server_adds_is_kept(self):
        found = models.Bank.from_json({"code": "0134", "name": "Banesco", "services": [], "logoUrl": None, "colour": "green"})
        self.assertEqual(found.raw["colour"], "green")
        self.assertEqual(pickle.loads(pickle.dumps(found)), found)


class Pages(unittest.TestCase):
    def test_all_pages_are_walked_under_the_same_filters(self):
        pages = [{"items": [{"paymentId": str(number)}], "nextCursor": cursor} for number, cursor in ((1, "c/1"), (2, "c2"), (3, None))]
        made, script, _ = client(*[answer(200, page) for page in pages])
        found = [payment.payment_id for payment in made.payments.list(limit=1, method="C2P").auto_paging()]
        self.assertEqual(found, ["1", "2", "3"])
        self.assertEqual(script.sent[1][1], "/v1/payments?method=C2P&limit=1&cursor=c%2F1")

    def test_pages_are_fetched_when_they_are_reached(self):
        made, script, _ = client(answer(200, {"items": [{"paymentId": "1"}], "nextCursor": "c"}))
        self.assertEqual(next(made.payments.list().auto_paging()).payment_id, "1")
        self.assertEqual(len(script.sent), 1)


class Webhooks(unittest.TestCase):
    secret = "whsec_" + base64.b64encode(b"k" * 24).decode()
    body = '{"event": "payment.completed", "data": {"vesAmount": 2100.50}, "timestamp": "2026-11-21T02:13:00.000Z"}'.encode()

    def headers(self, sent_at: int = 1000, body: bytes | None = None, secret: str | None = None) -> dict[str, str]:
        key = base64.b64decode((secret or self.secret).removeprefix("whsec_"))
        signed = hmac.new(key, f"e-1.{sent_at}.".encode() + (body or self.body), hashlib.sha256).digest()
        return {"Webhook-Id": "e-1", "webhook-timestamp": str(sent_at), "webhook-signature": "v1," + base64.b64encode(signed).decode()}

    def refused(self, headers: dict[str, str], body: bytes | None = None, now: float = 1000) -> None:
        with self.assertRaises(SignatureError):
            verify_webhook(self.body if body is None else body, headers, self.secret, now=now)

    def test_a_right_delivery_is_an_event_with_exact_numbers(self):
        event = verify_webhook(self.body, self.headers(), self.secret, now=1000)
        self.assertEqual((event.id, event.event, str(event.data["vesAmount"])), ("e-1", "payment.completed", "2100.50"))

    def test_a_body_that_a_framework_gives_as_a_text_is_its_bytes(self):
        event = verify_webhook(self.body, self.headers(), self.secret, now=1000)
        for body in (self.body.decode(), bytearray(self.body), memoryview(self.body)):
            self.assertEqual(verify_webhook(body, self.headers(), self.secret, now=1000), event)

    def test_a_body_that_was_parsed_before_is_told_apart_from_a_wrong_signature(self):
        for body in (json.loads(self.body), None, 7):
            with self.assertRaisesRegex(TypeError, "before anything parses it"):
                verify_webhook(body, self.headers(), self.secret, now=1000)

    def test_a_shop_can_make_a_delivery_for_its_tests(self):
        for body in (self.body, self.body.decode()):
            self.assertEqual(verify_webhook(body, sign_webhook(body, self.secret), self.secret).id, "evt_test")
        headers = sign_webhook(self.body, self.secret, id="e-1", sent_at=1000)
        self.assertEqual(headers, {name.lower(): value for name, value in self.headers().items()})
        timestamped = sign_webhook(self.body, self.secret, timestamped="Svc-Signature")
        self.assertEqual(verify_webhook(self.body, timestamped, self.secret, timestamped="Svc-Signature").event, "payment.completed")
        self.refused(headers, now=1301)
        with self.assertRaises(SignatureError):
            verify_webhook(self.body, sign_webhook(self.body, "whsec_b29v"), self.secret)

    def test_bytes_id_and_time_are_signed(self):
        for at in range(len(self.body)):
            changed = bytearray(self.body)
            changed[at] ^= 1
            self.refused(self.headers(), bytes(changed))
        self.refused(self.headers(), self.body + b" ")
        self.refused(self.headers(), b"")
        self.refused(self.headers() | {"Webhook-Id": "e-2"})
        self.refused(self.headers() | {"webhook-timestamp": "1001"})

    def test_five_minutes_are_tolerated_and_no_more(self):
        for now in (700, 1300):
            verify_webhook(self.body, self.headers(), self.secret, now=now)
        for now in (699, 1301):
            self.refused(self.headers(), now=now)

    def test_one_right_signature_of_several_is_enough(self):
        headers = self.headers()
        headers["webhook-signature"] = "v1a,xyz v1,AAAA " + headers["webhook-signature"]
        verify_webhook(self.body, headers, self.secret, now=1000)
        old = "whsec_" + base64.b64encode(b"o" * 24).decode()
        verify_webhook(self.body, self.headers(secret=old), [self.secret, old], now=1000)
        self.refused(self.headers(secret=old))

    def test_the_timestamped_form_is_verified_where_it_is_asked_for(self):
        signed = {secret: hmac.new(secret.encode(), b"1000." + self.body, hashlib.sha256).hexdigest() for secret in (self.secret, "whsec_b29v")}
        both = ",".join(["t=1000", *(f"v1={one}" for one in signed.values())])
        for value, now, is_right in (
            (both, 1000, True), (both, 1301, False), (both.replace("t=1000", "t=1001"), 1000, False), (f"t=1000,v1={signed['whsec_b29v']}", 1000, False),
            ("t=1000", 1000, False), ("", 1000, False), (signed[self.secret], 1000, False),
        ):
            headers = {"webhook-id": "e-1", "SVC-Signature": value}
            if is_right:
                self.assertEqual(verify_webhook(self.body, headers, self.secret, now=now, timestamped="Svc-Signature").id, "e-1")
            else:
                with self.assertRaises(SignatureError):
                    verify_webhook(self.body, headers, self.secret, now=now, timestamped="Svc-Signature")

    def test_what_is_no_signature_is_refused(self):
        right = self.headers()["webhook-signature"]
        for wrong in ("", "v1,", right[3:], "v2" + right[2:], right[:-1], "v1,é"):
            self.refused(self.headers() | {"webhook-signature": wrong})
        for wrong in ("", "x", "-1", "1e3", "９" * 4):
            self.refused(self.headers() | {"webhook-timestamp": wrong})
        self.refused({})

    def test_a_secret_that_is_none_is_not_taken_for_one(self):
        for wrong in ("", "whsec_", "whsec_*", "whsec_A"):
            with self.assertRaises(ValueError):
                verify_webhook(self.body, self.headers(), wrong, now=1000)

    def test_what_is_signed_and_no_event_is_refused(self):
        for body in (b"[]", b"{}", b"\xff"):
            self.refused(self.headers(body=body), body)


if __name__ == "__main__":
    unittest.main()
