"""The asynchronous client: by itself, and against a running server at PASARELA_URL with PASARELA_KEY."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import socket
import threading
import time
import unittest
import uuid
from decimal import Decimal

from pasarela import Answer, ApiError, AsyncPasarela, ConnectionFailed, HttpTransport, NoAnswer, Pasarela, Policy, RateLimited, Refused, StreamCall, models
from pasarela.async_transport import ThreadTransport

URL, KEY = os.environ["PASARELA_URL"], os.environ["PASARELA_KEY"]
RUN = f"awaited-{uuid.uuid4().hex[:8]}"
CARD = models.Card(number="4111111111111111", exp_month=12, exp_year=2035, cvv="123", holder_name="Ana Pérez", holder_id="V12345678")
CLOCK = {"now": "2026-11-21T02:13:00.000Z", "livemode": False}


class Script:
    """A transport that plays answers, or their absence, in order, and remembers what was sent."""

    def __init__(self, *answers: Answer | NoAnswer) -> None:
        self.answers = list(answers)
        self.sent: list[tuple] = []

    async def send(self, method, target, headers, body, timeout):
        self.sent.append((method, target, dict(headers), body))
        answer = self.answers.pop(0)
        if isinstance(answer, NoAnswer):
            raise answer
        return answer

    async def close(self) -> None:
        pass


def answer(status: int, body: object, **headers: str) -> Answer:
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, json.dumps(body).encode())


def client(*answers: Answer | NoAnswer, **options) -> tuple[AsyncPasarela, Script, list[float]]:
    script, waits = Script(*answers), []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    made = AsyncPasarela("pk_test_x", base_url="http://localhost:1", transport=script, **options)
    made._session._sleep = sleep
    return made, script, waits


class Alike(unittest.TestCase):
    def test_it_has_the_calls_of_the_other_client(self):
        waiting, awaited = Pasarela("k", base_url=URL), AsyncPasarela("k", base_url=URL)
        chapters = [name for name in vars(waiting) if not name.startswith("_")]
        self.assertEqual(chapters, [name for name in vars(awaited) if not name.startswith("_")])
        self.assertIn("payments", chapters)
        calls = 0
        for chapter in chapters:
            of = {name: value for name, value in vars(type(getattr(waiting, chapter))).items() if not name.startswith("_")}
            for name, method in of.items():
                twin = getattr(type(getattr(awaited, chapter)), name)
                self.assertTrue(inspect.iscoroutinefunction(twin), name)
                self.assertEqual(inspect.signature(method).parameters, inspect.signature(twin).parameters, name)
                self.assertEqual(method.__doc__, twin.__doc__)
                calls += 1
        self.assertGreater(calls, 90)

    def test_nothing_shows_a_key(self):
        self.assertEqual(repr(AsyncPasarela("pk_test_x", base_url=URL)), f"AsyncPasarela(base_url={URL!r})")


class Tries(unittest.IsolatedAsyncioTestCase):
    async def test_a_lost_answer_of_a_post_is_asked_for_again_under_the_same_key_and_with_the_same_bytes(self):
        overloaded = answer(503, {"error": "overloaded", "message": "…", "requestId": "r"}, retry_after="3")
        made, script, waits = client(NoAnswer("reset", was_sent=True), overloaded, answer(200, CLOCK))
        await made.test.move_clock(advance_seconds=60)
        self.assertEqual((len(script.sent), len({(headers["idempotency-key"], body) for _, _, headers, body in script.sent})), (3, 1))
        self.assertTrue(0.25 <= waits[0] <= 0.5 and waits[1] >= 3)
        await client(answer(200, CLOCK))[0].test.move_clock(advance_seconds=60, idempotency_key="mine")

    async def test_what_may_have_happened_and_has_no_key_is_not_repeated(self):
        made, script, _ = client(NoAnswer("reset", was_sent=True))
        with self.assertRaises(ConnectionFailed) as raised:
            await made.webhooks.delete("w-1")
        self.assertEqual((len(script.sent), raised.exception.outcome_unknown, str(raised.exception.__cause__)), (1, True, "reset"))

    async def test_the_gateways_word_stands_when_the_tries_are_used_up(self):
        made, script, waits = client(*[answer(429, {"error": "rate_limited", "message": "…", "requestId": "r"})] * 3)
        with self.assertRaises(RateLimited):
            await made.balance.get()
        self.assertEqual((len(script.sent), len(waits)), (3, 2))

    async def test_raw_calls_options_and_the_log_are_those_of_the_other_client(self):
        made, script, waits = client(answer(503, {"error": "overloaded", "message": "…", "requestId": "r"}), answer(200, {"vesAmount": 1}))
        with self.assertLogs("pasarela", "INFO") as logs:
            self.assertEqual(await made.request("GET", "/v1/balance", query={"at": 1}, max_retries=1, request_id="mine"), {"vesAmount": 1})
        self.assertEqual((script.sent[1][1], script.sent[1][2]["x-request-id"], len(waits)), ("/v1/balance?at=1", "mine", 1))
        self.assertEqual([record.status for record in logs.records], [503, 200])
        with self.assertRaises(ValueError):
            AsyncPasarela("k", base_url=URL, proxy="http://proxy:3128", transport=script)

    async def test_a_timeout_counts_the_wait_for_a_thread(self):
        free, sent = threading.Event(), []

        class Slow:
            def send(self, method, target, headers, body, timeout):
                sent.append(timeout)
                free.wait(10)
                return answer(200, CLOCK)

            def close(self):
                pass

        transport = ThreadTransport(Slow(), 1)
        first = asyncio.create_task(transport.send("GET", "/", {}, None, 10))
        await asyncio.sleep(0.05)
        began = time.monotonic()
        with self.assertRaises(NoAnswer) as raised:
            await transport.send("GET", "/", {}, None, 0.2)
        self.assertEqual((raised.exception.was_sent, len(sent)), (False, 1))
        self.assertLess(time.monotonic() - began, 2)
        queued = asyncio.create_task(transport.send("GET", "/", {}, None, 10))
        await asyncio.sleep(0.1)
        free.set()
        await asyncio.gather(first, queued)
        self.assertLess(sent[1], 9.95)
        await transport.close()

    async def test_an_answer_that_is_not_the_gateways_is_an_error_too(self):
        with self.assertRaises(ApiError) as raised:
            await client(Answer(413, {}, b"<html>too large"))[0].balance.get()
        self.assertEqual(raised.exception.code, "http_413")

    async def test_pages_are_fetched_when_they_are_reached(self):
        pages = [{"items": [{"paymentId": str(number)}], "nextCursor": cursor} for number, cursor in ((1, "c/1"), (2, "c2"), (3, None))]
        made, script, _ = client(*[answer(200, page) for page in pages])
        page = await made.payments.list(limit=1, method="C2P")
        self.assertEqual(([payment.payment_id for payment in page], len(page), len(script.sent)), (["1"], 1, 1))
        self.assertEqual([payment.payment_id async for payment in page.auto_paging()], ["1", "2", "3"])
        self.assertEqual(script.sent[1][1], "/v1/payments?method=C2P&limit=1&cursor=c%2F1")


class Slow:
    """A transport of threads whose requests wait until they are let go."""

    def __init__(self) -> None:
        self.begun, self.most, self.free = 0, 0, threading.Event()
        self.lock = threading.Lock()

    def send(self, method, target, headers, body, timeout):
        with self.lock:
            self.begun += 1
            self.most = max(self.most, self.begun)
        self.free.wait(10)
        with self.lock:
            self.begun -= 1
        return answer(200, CLOCK)

    def close(self) -> None:
        pass


class Waits(unittest.IsolatedAsyncioTestCase):
    async def until(self, condition) -> None:
        end = time.monotonic() + 10
        while not condition():
            self.assertLess(time.monotonic(), end)
            await asyncio.sleep(0.01)

    async def test_others_go_on_and_so_many_requests_are_under_way(self):
        slow = Slow()
        async with AsyncPasarela("k", base_url=URL, transport=ThreadTransport(slow, 3)) as made:
            calls = [asyncio.create_task(made.test.get_clock()) for _ in range(8)]
            await self.until(lambda: slow.begun == 3)
            self.assertEqual(await asyncio.to_thread(lambda: "the program's own threads are free"), "the program's own threads are free")
            slow.free.set()
            self.assertEqual([clock.livemode for clock in await asyncio.gather(*calls)], [False] * 8)
            self.assertEqual(slow.most, 3)

    async def test_who_cancels_does_not_wait(self):
        slow = Slow()
        made = AsyncPasarela("k", base_url=URL, transport=ThreadTransport(slow, 1))
        began = time.monotonic()
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(made.test.get_clock(), 0.1)
        self.assertLess(time.monotonic() - began, 5)
        slow.free.set()
        self.assertFalse((await made.test.get_clock()).livemode)
        await made.close()
        self.assertFalse((await made.test.get_clock()).livemode, "who is closed may be used again, as the other client")
        await made.close()


class Live(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.client = AsyncPasarela(KEY, base_url=URL)
        self.addAsyncCleanup(self.client.close)

    def card(self, name: str, **options):
        return self.client.payments.charge_card(usd_amount="25.50", card=CARD, external_ref=f"{RUN}-{name}", **options)

    async def test_a_payment_is_made_and_given_back(self):
        payer = dict(debtor_id="V12345678", debtor_cell_phone="04141234567", debtor_bank_code=134, usd_amount=10, external_ref=f"{RUN}-first")
        intent = await self.client.payments.request_c2p(**payer)
        payment = await self.client.payments.execute_c2p(intent_id=intent.intent_id, token="12345678", **payer)
        self.assertEqual((payment.status, payment.usd_amount), ("COMPLETED", Decimal(10)))
        self.assertEqual((await self.client.payments.reverse(payment.payment_id)).status, "REVERSED")
        self.assertTrue((await self.client.payments.get_receipt(payment.payment_id, media="application/pdf")).startswith(b"%PDF"))
        with self.assertRaises(Refused) as raised:
            await self.client.payouts.credit_phone(banco="0134", telefono="04241112233", cedula="V8765432", monto="99999999.00", concepto="c", external_ref=f"{RUN}-all")
        self.assertEqual(raised.exception.code, "insufficient_balance")

    async def test_many_at_once_are_charged_once_each(self):
        made = await asyncio.gather(*(self.card(f"many-{number % 10}") for number in range(30)))
        self.assertEqual(len({payment.payment_id for payment in made}), 10)
        page = await self.client.payments.list(method="VPOS", limit=3)
        found = [payment.payment_id async for payment in page.auto_paging()]
        self.assertEqual(len(found), len(set(found)))
        self.assertLessEqual({payment.payment_id for payment in made}, set(found))

    async def test_a_lost_answer_does_not_charge_twice(self):
        class LosesAnswers(ThreadTransport):
            lost: list[Answer] = []

            async def send(self, method, *rest):
                answer = await super().send(method, *rest)
                if method == "POST" and not self.lost:
                    self.lost.append(answer)
                    raise NoAnswer("the answer is lost", was_sent=True)
                return answer

        async with AsyncPasarela(KEY, base_url=URL, transport=LosesAnswers(HttpTransport(URL), 2)) as unlucky:
            payment = await unlucky.payments.charge_card(usd_amount=5, card=CARD, external_ref=f"{RUN}-lost")
        self.assertTrue(payment.last_response.replayed)
        self.assertEqual(len((await self.client.payments.list(external_ref=f"{RUN}-lost")).items), 1)

    async def test_who_cancels_finds_what_was_done_under_the_same_key(self):
        charge = asyncio.create_task(self.card("cancelled", idempotency_key=f"{RUN}-key"))
        await asyncio.sleep(0.05)
        charge.cancel()
        await asyncio.gather(charge, return_exceptions=True)
        payment = await self.card("cancelled", idempotency_key=f"{RUN}-key")
        self.assertEqual(payment.status, "COMPLETED")
        self.assertEqual(len((await self.client.payments.list(external_ref=f"{RUN}-cancelled")).items), 1)

    async def test_a_stream_takes_calls_of_the_loop_and_yields_outcomes(self):
        async def calls():
            for n in range(20):
                await asyncio.sleep(0)
                yield StreamCall("/v1/test/fund", {"currency": "USDT", "amount": "1.00"}, key=f"{RUN}-stream-{n}")

        async with AsyncPasarela(KEY, base_url=URL) as client:
            lines = sorted([outcome.line async for outcome in client.stream(calls()) if outcome.status == 201])
            again = [outcome.replayed async for outcome in client.stream([call async for call in calls()])]
            async for _ in client.stream(calls()):
                break
        self.assertEqual((lines, again), (list(range(1, 21)), [True] * 20))

    async def test_nobody_at_the_address_is_a_failure_that_did_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with AsyncPasarela(KEY, base_url=address, policy=Policy(max_retries=1, first_wait=0.0)) as nobody:
            with self.assertRaises(ConnectionFailed) as raised:
                await nobody.test.move_clock(advance_seconds=1)
        self.assertFalse(raised.exception.outcome_unknown)


class Loops(unittest.TestCase):
    def test_a_client_may_be_used_in_one_loop_after_another(self):
        made = AsyncPasarela(KEY, base_url=URL)
        for _ in range(2):
            self.assertTrue(asyncio.run(made.health.get()))
        asyncio.run(made.close())


if __name__ == "__main__":
    unittest.main()
