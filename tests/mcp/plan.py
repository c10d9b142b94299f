"""Calls every tool once, each with what the ones before it answered; `call` is a client's way to call one."""

import json
import urllib.request
from datetime import datetime, timedelta


class Rest:
    """What has to be there before an agent comes, by REST."""

    def __init__(self, base, key):
        self.base, self.key = base, key

    def __call__(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"x-api-key": self.key, "content-type": "application/json"}
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")


def prepare(rest):
    """A seller and an own account that are verified, once: there are few verifications a day."""
    seller = rest("POST", "/v1/merchants", {
        "externalRef": "seller", "name": "Bodega La Esquina", "identification": "V87654321",
        "contactEmail": "bodega@example.com", "contactPhone": "04147654321", "bankCode": "0134",
        "phone": "04147654321"})
    method = f"/v1/merchants/{seller['merchantId']}/payout-methods/{seller['payoutMethods'][0]['payoutMethodId']}"
    account = {"bankCode": "0134", "phone": "04141234567", "identification": "J123456789"}
    rest("PUT", "/v1/payouts/account", account)
    for path in (method, "/v1/payouts/account"):
        rest("POST", f"{path}/verify/start")
        rest("POST", f"{path}/verify", {"amount1": "0.32", "amount2": "0.45"})
    return seller["merchantId"]


def supply(rest, run):
    """Money, a chargeback, and a payment in pesos that can be refunded."""
    for currency, amount in (("VES", "9000.00"), ("USDT", "500.00"), ("COP", "500000")):
        rest("POST", "/v1/test/fund", {"currency": currency, "amount": amount})
    card = {"number": "4111111111111111", "expMonth": 12, "expYear": 2030, "cvv": "123", "holderName": "Ana Perez",
            "holderId": "V12345678"}
    paid = rest("POST", "/v1/payments/vpos", {"usdAmount": 5, "card": card, "externalRef": f"card-{run}"})
    chargeback = rest("POST", "/v1/test/chargebacks", {"paymentId": paid["id"], "reason": "fraud"})
    pesos = {"amountCop": 50000, "channel": "qr", "reference": f"qr-{run}"}
    refundable = rest("POST", "/v1/cop/payments", pesos)
    rest("POST", f"/v1/test/cop/payments/{refundable['id']}/pay")
    return chargeback["chargebackId"], refundable["id"]


async def walk(tools, call, rest, seller, run):
    """`tools` by their names; `call(name, arguments)` answers the body, and fails on a refusal."""
    chargeback, refundable = supply(rest, run)
    called = set()

    async def use(name, /, **over):
        arguments = dict((tools[name]["inputSchema"].get("examples") or [{}])[0])
        if "externalRef" in arguments:
            arguments["externalRef"] = f"{name}-{run}"
        called.add(name)
        return await call(name, arguments | over)

    for name in ("listBanks", "listPaymentMethods", "getPagoMovilAccount", "getTestClock", "getBalance",
                 "getPayoutAccount", "getConversionSettings", "listCryptoNetworks", "getCryptoBalance", "getCopBalance",
                 "listMerchants", "listEvents"):
        await use(name)
    await use("getQuote", usdAmount="10")
    await use("fundTestBalance", key=f"fund-{run}")

    intent = await use("requestC2p")
    payment = await use("executeC2p", intentId=intent["intentId"], externalRef=intent["externalRef"])
    await use("getPayment", id=payment["id"])
    await use("getPaymentByRef", externalRef=payment["externalRef"])
    await use("listPayments", limit=5, method="C2P")
    await use("reversePayment", id=payment["id"])
    await use("requestDebitOtp")
    await use("chargeDebit")
    now = datetime.fromisoformat((await use("getTestClock"))["now"].replace("Z", "+00:00"))
    day = (now - timedelta(hours=4)).date().isoformat()  # in Caracas
    await use("verifyPagoMovil", reference=f"{run:08d}", date=day)

    payout = await use("createPayout", merchantId=seller)
    await use("getPayout", id=payout["payoutId"])
    await use("getPayoutByRef", externalRef=payout["externalRef"])
    await use("listPayouts", status="completed")
    pending = await use("creditPhone", monto="20.06")
    await use("getOperation", id=pending["operationId"])
    await use("creditAccount")
    await use("giveChange")
    await use("createInstantPayout")
    batches = {
        "createPayoutBatch": {"merchantId": seller, "monto": "10.00", "concepto": "liquidacion"},
        "disburseCredits": None,
        "payAccounts": None,
    }
    for name, item in batches.items():
        item = item or tools[name]["inputSchema"]["examples"][0]["items"][0]
        batch = await use(name, items=[item | {"externalRef": f"{name}-{run}-a"}])
    await use("getPayoutBatch", batchId=batch["batchId"])
    await use("getMerchant", id=seller)
    await use("listPayoutMethods", id=seller)
    await use("getMerchantBalance", id=seller)
    await use("listMerchantMovements", id=seller)
    await use("listMovements", limit=3)
    await use("getStatement", **{"from": day, "to": day, "currency": "VES"})
    await use("getMerchantStatement", id=seller, **{"from": day, "to": day, "currency": "VES"})
    await use("listChargebacks")
    await use("getChargeback", id=chargeback)

    product = await use("createProduct", name=f"Camisa {run}")
    await use("getProduct", id=product["id"])
    await use("listProducts")
    link = await use("createPaymentLink", id=product["id"], slug=f"camisa-{run}")
    await use("getPaymentLink", id=link["id"])
    await use("listPaymentLinks", id=product["id"])
    await use("updatePaymentLink", id=link["id"])

    quote = await use("createConversionQuote", sourceAmountVes="1000.00")
    conversion = await use("createConversion", quoteId=quote["id"], reference=f"test_pending_{run}")
    await use("getConversion", id=conversion["id"])
    await use("listConversions")
    await use("cancelConversion", id=conversion["id"])
    sent = await use("createCryptoPayout")
    await use("getCryptoPayout", id=sent["id"])
    await use("getCryptoPayoutByRef", externalRef=sent["externalRef"])
    await use("listCryptoPayouts")
    await use("listCryptoMovements")

    first = await use("createCopPayment", reference=f"a-{run}")
    await use("getCopPayment", id=first["id"])
    await use("cancelCopPayment", id=first["id"])
    await use("refundCopPayment", id=refundable)
    buyer = {"email": "ana@example.com", "phone": "3001234567", "documentType": "CC", "documentNumber": "1020304050"}
    by_code = {"amountCop": 50000, "channel": "sms", "reference": f"b-{run}", "buyer": buyer}
    await use("submitCopOtp", id=rest("POST", "/v1/cop/payments", by_code)["id"])
    await use("listCopMovements")
    await use("listCopPayouts")
    await use("search", q=f"createPayout-{run}")
    await use("moveTestClock", advanceSeconds=60, key=f"clock-{run}")

    # What only refuses here: a payout in pesos is the operator's to begin, of no request is there a log, and this key has
    # no mandate that would have a call wait.
    of_payment = {"id": payment["id"]}
    for name, arguments in (("getCopPayout", of_payment), ("getApproval", of_payment), ("getRequest", {"requestId": "nothing"})):
        called.add(name)
        try:
            await call(name, arguments)
        except Refused as refused:
            assert refused.body["error"] == "not_found", refused.body
        else:
            raise AssertionError(f"{name} found something")
    assert called == set(tools), called ^ set(tools)
    return payout


class Refused(Exception):
    def __init__(self, body):
        super().__init__(json.dumps(body))
        self.body = body
