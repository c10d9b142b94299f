"""Fills a server with something of everything, and takes a picture of every page. See `run`."""

import base64
import datetime
import html
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

API, ADMIN, TOKEN, DATA = (os.environ[name] for name in ("API", "ADMIN", "TOKEN", "DATA"))
WIDTHS = (1440, 1024, 390)
BYTES_MAX = 120_000


# The server's API.


def call(method, base, path, body=None, headers=None, expect=True):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"content-type": "application/json", **(headers or {})}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.loads(reply.read() or b"null")
    except urllib.error.HTTPError as refused:
        said = refused.read().decode()
        if expect:
            raise SystemExit(f"{method} {path}: {refused.code} {said}")
        print(f"{method} {path}: {said}", file=sys.stderr)
        return json.loads(said)


def admin(path, body=None, method=None):
    return call(method or ("GET" if body is None else "POST"), ADMIN, path, body, {"authorization": f"Bearer {TOKEN}"})


class Shop:
    def __init__(self, key):
        self.key = key

    def get(self, path):
        return call("GET", API, path, None, {"x-api-key": self.key})

    def post(self, path, body, expect=True):
        return call("POST", API, path, body, {"x-api-key": self.key, "idempotency-key": str(uuid.uuid4())}, expect)


def ref(prefix):
    return f"{prefix}-{uuid.uuid4().hex[:8]}"


PAYER = {"debtorId": "V12345678", "debtorCellPhone": "04141234567", "debtorBankCode": 134}
CARD = {"number": "4111111111111111", "expMonth": 12, "expYear": 2035, "cvv": "123", "holderName": "Ana Pérez", "holderId": "V12345678"}


class Bank(http.server.BaseHTTPRequestHandler):
    """Charges what is asked, but for ten dollars, of which it does not say what became of them."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if "MBbcv" in self.path:
            said = {"code": "01", "message": "COTIZACION NO ENCONTRADA"}
        elif "MBc2p" in self.path and "2000.00" in body:
            said = {"code": "68", "message": "RESPUESTA TARDIA"}
        else:
            said = {"code": "00", "message": "APROBADA", "reference": "81230001"}
        data = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST

    def log_message(self, *_):
        pass


class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(500)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def serve(handler, port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def pay(shop, usd, token="12345678", expect=True):
    asked = shop.post("/v1/payments/c2p/request", {**PAYER, "usdAmount": usd, "externalRef": ref("pedido")})
    of = {name: asked[name] for name in ("intentId", "usdAmount", "externalRef")}
    return {**asked, **shop.post("/v1/payments/c2p", {**PAYER, **of, "token": token}, expect)}


def fill():
    """Something of everything; the paths of the pages that it has."""
    settings = {"cop": {"enabled": True}, "usdt": {"enabled": True, "payoutAutoLimitUsdt": "5.00"}}
    tenant = admin("/admin/tenants", {"name": "Ferretería El Ávila, C.A.", "settings": settings})
    admin("/admin/tenants", {"name": "Tienda Ana"})
    id = tenant["tenantId"]
    test, live = Shop(tenant["testKey"]["key"]), Shop(tenant["liveKey"]["key"])
    for pair, source, side, price in (("USD/VES", "bcv", "OFFICIAL", "200"), ("USDT/VES", "p2p", "FLOOR", "245"), ("USDT/COP", "p2p", "BUY", "4000")):
        admin("/admin/rates", {"pair": pair, "source": source, "side": side, "method": "hand", "price": price})
    until = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    admin("/admin/rates", {"pair": "USDT/COP", "source": "mesa", "side": "SELL", "price": "4100.00", "pinnedUntil": until, "reason": "feriado"})
    sink = serve(Sink, 0)
    webhook = test.post("/v1/webhooks", {"url": f"http://127.0.0.1:{sink}/avisos", "events": ["payment.completed", "payout.completed", "payout.failed"]}, False)

    test.post("/v1/test/fund", {"currency": "VES", "amount": "1250000.50"})
    test.post("/v1/test/fund", {"currency": "COP", "amount": "4500000"})
    test.post("/v1/test/fund", {"currency": "USDT", "amount": "900.00"})
    paid, reversed_ = pay(test, 10), pay(test, 12.5)
    failed = pay(test, 8, "00000000", False)
    waiting = test.post("/v1/payments/c2p/request", {**PAYER, "usdAmount": 20, "externalRef": ref("pedido")})
    test.post(f"/v1/payments/{reversed_['paymentId']}/reverse", {}, False)
    card = {"usdAmount": 25, "card": CARD, "externalRef": ref("tarjeta"), "description": "Camisa de lino"}
    charged = test.post("/v1/payments/vpos", card)
    test.post("/v1/payments/vpos", {**card, "externalRef": ref("tarjeta")})
    test.post("/v1/payments/vpos", {"usdAmount": 25, "card": {**CARD, "number": "4000000000000002"}, "externalRef": ref("tarjeta"), "description": "Camisa"}, False)
    test.post("/v1/test/chargebacks", {"paymentId": charged["paymentId"], "reason": "fraud"})
    pesos = test.post("/v1/cop/payments", {"amountCop": 50000, "channel": "qr", "reference": ref("peso"), "metadata": {}})
    test.post(f"/v1/test/cop/payments/{pesos['id']}/pay", {})
    test.post("/v1/cop/payments", {"amountCop": 75000, "channel": "qr", "reference": ref("peso"), "metadata": {}})
    seller = test.post("/v1/merchants", {
        "externalRef": ref("vendedor"), "name": "Bodega La Esquina", "identification": "V87654321", "contactEmail": "bodega@example.com",
        "contactPhone": "04147654321", "bankCode": "0134", "phone": "04147654321",
    })
    method = f"/v1/merchants/{seller['merchantId']}/payout-methods/{seller['payoutMethods'][0]['payoutMethodId']}"
    test.post(f"{method}/verify/start", {})
    test.post(f"{method}/verify", {"amount1": "0.32", "amount2": "0.45"})
    payouts = [
        test.post("/v1/payouts", {"merchantId": seller["merchantId"], "monto": monto, "concepto": "liquidación semanal", "externalRef": ref("pago")})
        for monto in ("1250.75", "89.00", "12000.00")
    ]
    credit = {"banco": "0134", "telefono": "04147654321", "cedula": "V87654321", "concepto": "vuelto"}
    usdt = test.post("/v1/crypto/payouts", {"amountUsdt": "10.00", "address": "0x52908400098527886E0F7030069857D2E4169EE7", "network": "POLYGON", "externalRef": ref("usdt")})
    test.post("/v1/crypto/payouts", {"amountUsdt": "3.00", "address": "0x52908400098527886E0F7030069857D2E4169EE7", "network": "POLYGON", "externalRef": ref("usdt")})
    quote = test.post("/v1/conversions/quotes", {"sourceAmountVes": "24500.00"}, False)
    test.post("/v1/conversions", {"quoteId": quote.get("id"), "reference": ref("cambio")}, False)
    product = test.post("/v1/products", {"name": "Camisa de lino", "priceUsd": "25.50"}, False)
    link = test.post(f"/v1/products/{product.get('id')}/links", {"slug": ref("camisa")}, False)
    session = test.post("/v1/checkout/sessions", {"amountUsd": 25.5, "description": "Camisa de lino", "reference": ref("carrito")})
    agent = test.post("/v1/keys", {"name": "pagador", "scopes": ["read", "payout"], "mandate": {"agent": "Claude", "perDay": {"VES": "500.00"}, "approvalAbove": {"VES": "5.00"}}}, False)
    if "key" in agent:
        Shop(agent["key"]).post("/v1/payments/credit", {**credit, "monto": "7.00", "externalRef": ref("vuelto")}, False)
    refused = test.post("/v1/payouts", {"merchantId": seller["merchantId"], "monto": "99999999.00", "concepto": "x", "externalRef": ref("pago")}, False)
    admin(f"/admin/tenants/{id}/cop-payouts", {
        "mode": "test", "amountCop": 120000, "bank": "Bancolombia", "accountNumber": "12345678901", "accountType": "savings",
        "holderName": "Ana Pérez", "documentType": "CC", "documentNumber": "1020304050", "externalRef": ref("peso"),
    })
    admin(f"/admin/tenants/{id}/live-status", {"status": "active"})
    pay(live, 1)
    open_ = pay(live, 10)
    admin("/admin/backup", {"path": f"{DATA}/copia"})
    time.sleep(4)

    def one(path):
        items = admin(path)["items"]
        return items[0] if items else {}

    seq = admin("/admin/status")["walSeq"]
    day = datetime.date.today().isoformat()
    links = {
        "operation": one("/admin/operations?status=unresolved").get("operationId"),
        "chargeback": one("/admin/chargebacks").get("id") or one("/admin/chargebacks").get("chargebackId"),
        "cop": one("/admin/cop-payouts").get("id"),
        "webhook": webhook.get("id"),
        "link": link.get("id"),
    }
    request = refused.get("requestId", "")
    portal = [
        "home", "home?currency=COP", "payments", "payments?status=FAILED", f"payments/{paid['paymentId']}", f"payments/{reversed_['paymentId']}",
        f"payments/{charged['paymentId']}", f"payments/{pesos['id']}", f"payments/{waiting['intentId']}", "conversions", "chargebacks", "cop-payouts",
        "crypto-payouts", "deposits", "events", "events?event=payment.failed", "payouts", f"payouts/{payouts[0]['payoutId']}", f"payouts/{usdt['id']}",
        "merchants", f"merchants/{seller['merchantId']}", "links", links["link"] and f"links/{links['link']}", "sessions", f"sessions/{session['id']}",
        "webhooks", links["webhook"] and f"webhooks/{links['webhook']}", "requests", f"requests?requestId={request}", "statements",
        "statements?currency=COP", "approvals", "keys", "live", f"search?q={paid['externalRef']}", "search?q=nada-de-nada", "payments/00000000-0000-7000-8000-000000000000",
    ]
    console = [
        "home", "home?mode=test", "queues", "queues?mode=test", "payments", "payments?mode=test", f"payments/{paid['paymentId']}", f"payments/{open_['paymentId']}",
        f"payments/{charged['paymentId']}", "payouts?mode=test", f"payouts/{payouts[0]['payoutId']}", f"payouts/{usdt['id']}", "cop-payouts?mode=test",
        "crypto-payouts?mode=test", "conversions?mode=test", "chargebacks?mode=test", "approvals", "tenants", f"tenants/{id}",
        f"tenants/{id}/past?mode=test&when={seq}", f"records/{seq}", f"keys/{one(f'/admin/tenants/{id}/keys')['keyId']}?tenantId={id}", "rates", "rails", "requests",
        f"requests?tenantId={id}&mode=test", "health", "audit", "statements", f"statements?mode=test&tenantId={id}", "reconciliations",
        links["operation"] and f"operations/{links['operation']}", f"crypto/{usdt['id']}", links["cop"] and f"cop-payouts/{links['cop']}",
        links["chargeback"] and f"chargebacks/{links['chargeback']}", f"search?q={paid['externalRef']}", "search?q=12345678",
    ]
    missing = [name for name, value in links.items() if not value]
    if missing:
        print(f"without a page for: {', '.join(missing)}", file=sys.stderr)
    return test.key, [page for page in portal if page], [page for page in console if page]


# The browser.


class Browser:
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.profile = tempfile.TemporaryDirectory(prefix="pasarela-pictures-")
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                call("GET", self.base, "/status")
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)
        arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
            "--disable-background-networking", f"--user-data-dir={self.profile.name}", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        ]
        capabilities = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}}}
        made = call("POST", self.base, "/session", {"capabilities": capabilities})
        self.base += f"/session/{made['value']['sessionId']}"

    def post(self, path, body):
        return call("POST", self.base, path, body)["value"]

    def cdp(self, command, **parameters):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def script(self, text):
        return self.post("/execute/sync", {"script": text, "args": []})

    def go(self, address):
        self.post("/url", {"url": address})

    def look(self, width, scheme):
        mobile = width < 600
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=mobile)
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
        shot = self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        try:
            call("DELETE", self.base, "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()


def log_in(browser, site, field, secret):
    browser.go(f"{site}/login")
    browser.script(f"document.querySelector('[name={field}]').value = {json.dumps(secret)}; document.querySelector('[data-action=login]').click()")
    for _ in range(100):
        if browser.script("return document.querySelector('main[data-page=home]') !== null"):
            return
        time.sleep(0.05)
    raise SystemExit(f"no login at {site}")


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="pictures-"))
    wanted = sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    serve(Bank, int(os.environ["BANK"]))
    key, portal, console = fill()
    browser, faults, rows = Browser(), [], []
    try:
        for site, base, field, secret, pages in (("portal", API, "key", key, portal), ("console", ADMIN, "token", TOKEN, console)):
            log_in(browser, f"{base}/{site}", field, secret)
            for n, page in enumerate(pages):
                name = f"{site}-{n:02}-" + "".join(c if c.isalnum() else "-" for c in page.split("/")[0])
                if wanted and not any(part in name for part in wanted):
                    continue
                shots = []
                for language in ("es", "en"):
                    address = f"{base}/{site}/{page}{'&' if '?' in page else '?'}lang={language}"
                    for width in WIDTHS:
                        for scheme in ("light", "dark"):
                            browser.look(width, scheme)
                            browser.go(address)
                            shot = f"{name}.{language}.{width}.{scheme}.png"
                            browser.picture(folder / shot)
                            shots.append(shot)
                        if browser.script("return document.documentElement.scrollWidth > innerWidth"):
                            faults.append(f"{address}: wider than {width}")
                    size = browser.script("return performance.getEntriesByType('navigation')[0].encodedBodySize")
                    if size > BYTES_MAX:
                        faults.append(f"{address}: {size} bytes")
                    (folder / f"{name}.{language}.txt").write_text(browser.script("return document.body.innerText"))
                rows.append((page, site, shots))
    finally:
        browser.close()
    images = "".join(
        f"<h2>{html.escape(f'{site}/{page}')}</h2><p>{''.join(f'<a href={shot}><img src={shot} height=400 loading=lazy></a> ' for shot in shots)}</p>" for page, site, shots in rows
    )
    (folder / "index.html").write_text(f"<!doctype html><meta charset=utf-8><title>Pages</title>{images}")
    print(f"{sum(len(shots) for *_, shots in rows)} pictures of {len(rows)} pages in {folder}")
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
