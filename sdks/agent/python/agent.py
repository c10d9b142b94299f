"""An agent's loop over MCP, with a script in the place of the model: it collects from a buyer, asks a person for
a large payout, pays two sellers, and is refused by its mandate.

    PASARELA_URL=http://127.0.0.1:8080 PASARELA_KEY=pk_test_demo python agent.py

PASARELA_KEY is a test key of the account with the scope `keys`. The agent gets a key of its own, and no other.
"""

import asyncio
import json
import os
import uuid
from collections.abc import Callable, Generator
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

URL = os.environ.get("PASARELA_URL", "http://127.0.0.1:8080")
KEY = os.environ.get("PASARELA_KEY", "pk_test_demo")
# References of one run: the same names in another run would be the same orders and payouts.
RUN = uuid.uuid4().hex[:8]

Body = dict[str, Any]
# What a model would do: it says which tool to call with what, and is told the answer.
Plan = Generator[tuple[str, Body], Body, None]


class Owner:
    """The person whose money it is, by REST."""

    def __init__(self) -> None:
        self.client = httpx2.Client(base_url=URL, headers={"x-api-key": KEY}, timeout=60)

    def call(self, method: str, path: str, body: Body | None = None) -> Body:
        answer = self.client.request(method, path, json=body)
        answer.raise_for_status()
        return answer.json()

    def seller(self, name: str, phone: str) -> str:
        """A seller whose payout method is verified, as two micro-deposits do it in test mode."""
        seller = self.call("POST", "/v1/merchants", {
            "externalRef": f"{name}-{RUN}", "name": name, "identification": "V87654321", "bankCode": "0134",
            "contactEmail": "seller@example.com", "contactPhone": phone, "phone": phone})
        method = seller["payoutMethods"][0]["payoutMethodId"]
        path = f"/v1/merchants/{seller['merchantId']}/payout-methods/{method}/verify"
        self.call("POST", f"{path}/start")
        self.call("POST", path, {"amount1": "0.32", "amount2": "0.45"})
        return seller["merchantId"]

    def budget(self, sellers: list[str]) -> Body:
        """A key for the agent: 100 bolívares a day, for these sellers alone, and above 50 a person decides."""
        return self.call("POST", "/v1/keys", {
            "name": f"agent-{RUN}", "scopes": ["read", "collect", "payout"],
            "mandate": {"agent": "scripted", "perDay": {"VES": "100.00"}, "approvalAbove": {"VES": "50.00"},
                        "payees": sellers}})

    def decide(self, asked: Body) -> None:
        """What a person sees of a call that waits, and says yes to."""
        approval = self.call("GET", f"/v1/approvals/{asked['approvalId']}")
        assert (approval["status"], approval["agent"]) == ("awaiting_approval", "scripted"), approval
        decided = self.call("POST", f"/v1/approvals/{asked['approvalId']}/approve", {})
        assert decided["result"]["status"] == "completed", decided


def plan(sellers: list[str]) -> Plan:
    buyer = {"usdAmount": 5, "debtorId": "V12345678", "debtorCellPhone": "04141234567", "debtorBankCode": 134,
             "externalRef": f"order-{RUN}"}
    intent = yield "requestC2p", buyer
    # The buyer reads this code in the app of their bank.
    paid = yield "executeC2p", {**buyer, "intentId": intent["intentId"], "token": "12345678"}
    assert paid["status"] == "COMPLETED", paid

    def payout(seller: str, amount: str, name: str) -> Body:
        return {"merchantId": seller, "monto": amount, "concepto": "semana 48", "externalRef": f"{name}-{RUN}"}

    # Nothing has moved: it goes on when a person has said yes, and asks by its own reference.
    asked = yield "createPayout", payout(sellers[0], "60.00", "first")
    assert asked["status"] == "awaiting_approval", asked
    done = yield "getPayoutByRef", {"externalRef": f"first-{RUN}"}
    assert (done["status"], done["monto"]) == ("completed", "60.00"), done

    rehearsed = yield "createPayout", {**payout(sellers[1], "30.00", "second"), "dryRun": True}
    assert rehearsed["status"] == 201, rehearsed
    done = yield "createPayout", payout(sellers[1], "30.00", "second")
    assert done["status"] == "completed", done
    # What it has paid it does not pay again, whatever the model forgets.
    again = yield "createPayout", payout(sellers[1], "30.00", "second")
    assert again["externalRef"] == f"second-{RUN}", again

    refused = yield "createPayout", payout(sellers[0], "20.00", "third")
    assert refused["error"] == "mandate_exceeded", refused
    left = refused["remaining"]["VES"]
    done = yield "createPayout", payout(sellers[0], left, "fourth")
    assert (left, done["status"]) == ("10.00", "completed"), done


async def act(client: Client, steps: Plan, ask: Callable[[Body], None]) -> None:
    """The loop: a call, its answer, the next call. What a person has to decide, a person is asked."""
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert "createPayout" in tools and "registerMerchant" not in tools, tools
    step = next(steps)
    while True:
        name, arguments = step
        result = await client.call_tool(name, arguments)
        body: Body = result.structured_content
        print(f"{name}: {body.get('error') or body.get('status')}", flush=True)
        if body.get("status") == "awaiting_approval":
            ask(body)
        try:
            step = steps.send(body)
        except StopIteration:
            return


async def main() -> None:
    owner = Owner()
    owner.call("POST", "/v1/test/fund", {"currency": "VES", "amount": "1000.00"})
    sellers = [owner.seller("ana", "04147654321"), owner.seller("luis", "04247654321")]
    key = owner.budget(sellers)
    http = httpx2.AsyncClient(headers={"x-api-key": key["key"]}, timeout=60)
    async with Client(streamable_http_client(f"{URL}/mcp", http_client=http)) as client:
        await act(client, plan(sellers), owner.decide)
    known = owner.call("GET", f"/v1/keys/{key['keyId']}")
    assert known["remaining"] == {"perDay": {"VES": "0.00"}}, known
    print("what is left:", json.dumps(known["remaining"]))


asyncio.run(main())
