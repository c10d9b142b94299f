"""Receives deliveries of a server and verifies them: with the library standardwebhooks, and with the handler of docs/en/webhooks.md."""

import hashlib
import hmac
import http.server
import json
import queue
import sys
import threading
import urllib.request
from datetime import datetime, timedelta, timezone

import guide
from standardwebhooks import Webhook, WebhookVerificationError

api, key = sys.argv[1:]
deliveries: queue.Queue = queue.Queue()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        deliveries.put((body, {name.lower(): value for name, value in self.headers.items()}))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


def post(path: str, body: dict, status: int = 201) -> dict:
    request = urllib.request.Request(api + path, json.dumps(body).encode(), {"x-api-key": key, "content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == status, answer.status
        return json.load(answer)


def refused(verify, body: bytes, headers: dict) -> None:
    try:
        verify(body, headers)
    except (WebhookVerificationError, ValueError):
        return
    raise AssertionError(f"accepted: {headers}")


receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
endpoint = post("/v1/webhooks", {"url": f"http://127.0.0.1:{receiver.server_port}/hook", "events": ["merchant.balance.updated", "payment.completed"]})
card = {"number": "4111111111111111", "expMonth": 12, "expYear": 2035, "cvv": "123", "holderName": "Ana Pérez", "holderId": "V12345678"}
for number in range(3):
    post("/v1/payments/vpos", {"usdAmount": 10, "card": card, "externalRef": f"python-{number}", "description": "compra"})

webhook = Webhook(endpoint["secret"])
seen: set[str] = set()
for _ in range(3):
    body, headers = deliveries.get(timeout=30)
    assert webhook.verify(body, headers)["event"] == "payment.completed"
    event = guide.verified(endpoint["secret"], body, headers, seen)
    assert event is not None and event["event"] == "payment.completed", event
    assert headers["webhook-id"] == headers["svc-event-id"]
    # The same delivery again is known by its signed id.
    assert guide.verified(endpoint["secret"], body, headers, seen) is None
    for verify in (webhook.verify, lambda body, headers: guide.verified(endpoint["secret"], body, headers, set())):
        refused(verify, body + b" ", headers)
        refused(verify, body, headers | {"webhook-id": "0190a000-0000-7000-8000-000000000000"})
        refused(verify, body, headers | {"webhook-timestamp": str(int(headers["webhook-timestamp"]) - 1)})
        old = datetime.now(timezone.utc) - timedelta(minutes=6)
        signed = webhook.sign(headers["webhook-id"], old, body.decode())
        refused(verify, body, headers | {"webhook-timestamp": str(int(old.timestamp())), "webhook-signature": signed})
        refused(verify, body, {name: value for name, value in headers.items() if not name.startswith("webhook-")})
    # What the older recipe does not see: the id in Svc-Event-Id is not signed.
    other = Webhook("whsec_" + "QUJD" * 8)
    refused(other.verify, body, headers)
assert len(seen) == 3
# The timestamped form of the server's own signature, with the older secret beside the new one.
body = {"url": f"http://127.0.0.1:{receiver.server_port}/timestamped", "events": ["payment.completed"], "signature": "timestamped"}
timed = post("/v1/webhooks", body)
newer = post(f"/v1/webhooks/{timed['id']}/rotate-secret", {"overlapSeconds": 600}, 200)
post("/v1/payments/vpos", {"usdAmount": 10, "card": card, "externalRef": "python-timestamped", "description": "compra"})
while True:
    body, headers = deliveries.get(timeout=30)
    if headers["svc-signature"].startswith("t="):
        break
at, *signatures = headers["svc-signature"].split(",")
signed = at.removeprefix("t=").encode() + b"." + body
assert signatures == ["v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in (newer["secret"], timed["secret"])]
assert abs(datetime.now(timezone.utc).timestamp() - int(at.removeprefix("t="))) < 60
for secret in (newer["secret"], timed["secret"]):
    assert Webhook(secret).verify(body, headers)["event"] == "payment.completed"
print("python: 3 deliveries verified, and nothing else")
