"""A shop in one file: a product, the gateway's page to pay on, the webhook that says so, and a refund.

    PASARELA_URL=http://127.0.0.1:8080 PASARELA_KEY=pk_test_demo python shop.py

It is at SHOP_URL (http://localhost:5000), on SHOP_LISTEN (127.0.0.1), and keeps its orders in SHOP_DATA (./shop.json).
"""

import http.server
import json
import os
import threading
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pasarela import ApiError, Pasarela, SignatureError, verify_webhook

PRODUCT, PRICE = "Camisa de lino", Decimal("25.50")
SHOP_URL = os.environ.get("SHOP_URL", "http://localhost:5000")
client = Pasarela(os.environ.get("PASARELA_KEY", "pk_test_demo"), base_url=os.environ.get("PASARELA_URL", "http://127.0.0.1:8080"))


class Store:
    """Orders and the signing secret, in one file. A database has transactions for this; here it is a lock and a rename."""

    def __init__(self, path: Path) -> None:
        self.path, self.lock = path, threading.RLock()
        self.data = json.loads(path.read_text()) if path.exists() else {"secret": None, "orders": {}}

    def save(self) -> None:
        new = self.path.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(json.dumps(self.data))
        new.replace(self.path)

    def move(self, order: str | None, to: str, payment: str | None = None) -> None:
        """open -> paid -> refunded, and never back: an event that comes twice, or late, changes nothing."""
        with self.lock:
            found = self.data["orders"].get(order)
            if found and (found["status"], to) in {("open", "paid"), ("open", "refunded"), ("paid", "refunded")}:
                found.update(status=to, payment=payment or found["payment"])
                self.save()


store = Store(Path(os.environ.get("SHOP_DATA", "shop.json")))


def register() -> None:
    """Has the gateway send its events here. It shows the signing secret once."""
    if store.data["secret"] is None:
        store.data["secret"] = client.webhooks.create(url=f"{SHOP_URL}/webhook", events=["payment.completed", "payment.reversed"]).secret
        store.save()


def buy() -> str:
    """Opens an order, and a session in which it is paid. The address of the gateway's page."""
    order = str(uuid.uuid4())
    with store.lock:
        store.data["orders"][order] = {"status": "open", "session": None, "payment": None}
        store.save()
    session = client.checkout_sessions.create(
        amount_usd=PRICE, description=PRODUCT, reference=order, methods=["c2p"], success_url=f"{SHOP_URL}/orders/{order}", idempotency_key=f"order-{order}"
    )
    with store.lock:
        store.data["orders"][order]["session"] = session.id
        store.save()
    return session.url


def delivered(body: bytes, headers: dict[str, str]) -> None:
    """What an event says of an order. Others are taken too: a gateway adds events, and sends `notification.test`."""
    event = verify_webhook(body, headers, store.data["secret"])
    to = {"payment.completed": "paid", "payment.reversed": "refunded"}.get(event.event)
    if to:
        order = (event.data.get("checkoutSession") or {}).get("reference")
        store.move(order, to, event.data["paymentId"])


def look(order: str) -> dict[str, Any] | None:
    """An order as it is. A delivery is tried once, so an order that is open is asked about as well."""
    found: dict[str, Any] | None = store.data["orders"].get(order)
    if found and found["status"] == "open" and found["session"]:
        session = client.checkout_sessions.get(found["session"])
        if session.status == "paid":
            store.move(order, "paid", session.payment_id)
    return found


def refund(order: str) -> None:
    """Gives the money back: once, however often the button is pressed. In your shop this stands behind your login."""
    found = store.data["orders"][order]
    if client.payments.reverse(found["payment"], idempotency_key=f"refund-{order}").status == "REVERSED":
        store.move(order, "refunded")


class Shop(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        found = look(path.removeprefix("/orders/")) if path.startswith("/orders/") else None
        if path == "/":
            self.page(f'<p>{PRODUCT}, {PRICE} USD</p><form method="post" action="/buy"><button data-action="buy">Comprar</button></form>')
        elif found:
            button = f'<form method="post" action="{path}/refund"><button data-action="refund">Devolver</button></form>'
            self.page(f'<p>{PRODUCT}: <strong data-status="{found["status"]}">{found["status"]}</strong></p>' + (button if found["status"] == "paid" else ""))
        else:
            self.page("<p>No existe</p>", 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            if self.path == "/webhook":
                delivered(body, dict(self.headers))
                self.page("", 204)
            elif self.path == "/buy":
                self.redirect(buy())
            elif self.path.endswith("/refund") and self.path.split("/")[2] in store.data["orders"]:
                refund(self.path.split("/")[2])
                self.redirect(SHOP_URL + self.path.removesuffix("/refund"))
            else:
                self.page("<p>No existe</p>", 404)
        except SignatureError:
            self.page("", 400)
        except ApiError as error:
            self.log_error("%s", error)
            self.page("<p>Ahora no se puede; intenta de nuevo</p>", 502)

    def page(self, text: str, status: int = 200) -> None:
        answer = f"<!doctype html><title>Tienda</title>{text}".encode() if text else b""
        self.send_response(status)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def redirect(self, to: str) -> None:
        self.send_response(303)
        self.send_header("location", to)
        self.send_header("content-length", "0")
        self.end_headers()


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer((os.environ.get("SHOP_LISTEN", "127.0.0.1"), urlsplit(SHOP_URL).port or 80), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    register()
    print(f"the shop is at {SHOP_URL}", flush=True)
    threading.Event().wait()
