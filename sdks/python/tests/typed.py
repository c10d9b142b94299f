"""What a user of mypy --strict has: nothing is found here but what the comments say, and each comment has to be needed."""

from __future__ import annotations

from decimal import Decimal

from pasarela import AsyncPasarela, CallOptions, KeyedOptions, Page, Pasarela, models

READS: CallOptions = {"timeout": 5, "max_retries": 0}
WRITES: KeyedOptions = {**READS, "idempotency_key": "fund-1", "request_id": "mine"}


def waiting(client: Pasarela) -> Decimal:
    client.test.fund_balance(currency="VES", amount="1.00", **WRITES)
    client.request("POST", "/v1/test/balance", body={}, **WRITES)
    page: Page[models.Payment] = client.payments.list(limit=1, **READS)
    return client.balance.get(**READS).held_ves + len(page)


async def awaited(client: AsyncPasarela) -> Decimal:
    await client.test.fund_balance(currency="VES", amount="1.00", **WRITES)
    return (await client.balance.get(**READS)).held_ves


def wrong(client: Pasarela) -> None:
    WRITES["timeout"] = "5"  # type: ignore[typeddict-item]
    WRITES["retries"] = 2  # type: ignore[typeddict-unknown-key]
    client.balance.get(**WRITES)  # type: ignore[misc]
    client.balance.get(timeout="5")  # type: ignore[arg-type]
    client.test.fund_balance(currency="VES", amount=1.5)  # type: ignore[call-overload]
    client.test.fund_balance(currency="EUR", amount=1)  # type: ignore[call-overload]
