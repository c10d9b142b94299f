"""What a client makes of servers and proxies that misbehave: those of sdks/peers, whose file PASARELA_PEERS is."""

from __future__ import annotations

import base64
import json
import logging
import os
import ssl
import time
import unittest

from pasarela import ConnectionFailed, Pasarela, Policy

with open(os.environ["PASARELA_PEERS"]) as file:
    PEERS = json.load(file)
POLICY = Policy(max_retries=1, first_wait=0.0)
SECRETS = ("pk_test_SECRET", "pa55word", base64.b64encode(b"us@er:pa55word").decode())


def made(case: dict) -> Pasarela:
    context = ssl.create_default_context(cafile=PEERS["authority"] if case["trusts"] else None)
    proxy = case["proxy"] and case["proxy"].replace("//", "//us%40er:pa55word@")
    return Pasarela("pk_test_SECRET", base_url=case["address"], proxy=proxy, ssl_context=context, timeout=1, policy=POLICY)


class Cases(unittest.TestCase):
    def test_what_was_sent_is_told_apart_from_what_was_not(self):
        self.assertGreater(len(PEERS["cases"]), 5)
        for case in PEERS["cases"]:
            with self.subTest(case["name"]), made(case) as client:
                if case["outcome"] == "answered":
                    self.assertFalse(client.test.get_clock().livemode)
                    continue
                is_unknown = case["outcome"] == "unknown"
                for call, tries in ((lambda: client.webhooks.delete("SSL-1"), 1 if is_unknown else 2), (lambda: client.test.move_clock(advance_seconds=1), 2)):
                    began = time.monotonic()
                    with self.assertLogs("pasarela", logging.INFO) as logs, self.assertRaises(ConnectionFailed) as raised:
                        call()
                    self.assertEqual((raised.exception.outcome_unknown, len(logs.records)), (is_unknown, tries))
                    self.assertLess(time.monotonic() - began, 4)
                    shown = repr([vars(record) for record in logs.records]) + repr(raised.exception) + repr(raised.exception.__cause__)
                    for secret in SECRETS:
                        self.assertNotIn(secret, shown)


if __name__ == "__main__":
    unittest.main()
