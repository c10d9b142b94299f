"""The README's path with a generated client: collect, hold, release, pay out."""

import sys
from typing import TypeVar

from pasarela_client import AuthenticatedClient
from pasarela_client.api.balance import get_balance, list_movements
from pasarela_client.api.merchants import register_merchant, start_verification, verify_payout_method
from pasarela_client.api.payments import execute_c2_p, request_c2_p
from pasarela_client.api.payouts import create_payout
from pasarela_client.api.reference import get_idempotency_key
from pasarela_client.api.test_mode import move_test_clock
from pasarela_client.models import (
    Balance,
    C2PCharge,
    C2PIntent,
    C2PRequest,
    ClockMove,
    Error,
    IdempotencyKey,
    Merchant,
    MerchantPayout,
    MovementPage,
    NewMerchant,
    Payment,
    Payout,
    PayoutMethod,
    SeenAmounts,
    TestClock,
)

T = TypeVar("T")


def must(kind: type[T], answer: object) -> T:
    """The answer, if it is what was wanted."""
    assert isinstance(answer, kind), answer
    return answer


def main(base_url: str, key: str, name: str) -> None:
    """Walks the path; the references begin with `name`."""
    client = AuthenticatedClient(base_url=base_url, token=key, auth_header_name="x-api-key", prefix="")
    order = f"{name}-order"
    request = C2PRequest(usd_amount=10, debtor_id="V12345678", debtor_cell_phone="04141234567", debtor_bank_code=134, external_ref=order)
    intent = must(C2PIntent, request_c2_p.sync(client=client, body=request))
    charge = C2PCharge(
        intent_id=intent.intent_id,
        usd_amount=10,
        debtor_id="V12345678",
        debtor_cell_phone="04141234567",
        debtor_bank_code=134,
        token="12345678",
        external_ref=order,
    )
    payment = must(Payment, execute_c2_p.sync(client=client, body=charge, idempotency_key=f"{name}-charge"))
    assert payment.status == "COMPLETED", payment
    kept = must(IdempotencyKey, get_idempotency_key.sync(f"{name}-charge", client=client))
    assert kept.state == "done", kept

    assert must(Balance, get_balance.sync(client=client)).held_ves != "0.00"
    must(TestClock, move_test_clock.sync(client=client, body=ClockMove(advance_seconds=86_400)))
    assert must(Balance, get_balance.sync(client=client)).held_ves == "0.00"

    new = NewMerchant(external_ref=f"{name}-seller", name="Bodega La Esquina", identification="V87654321", bank_code="0134", phone="04147654321")
    seller = must(Merchant, register_merchant.sync(client=client, body=new))
    method = seller.payout_methods[0].payout_method_id
    start_verification.sync(seller.merchant_id, method, client=client)
    verified = verify_payout_method.sync(seller.merchant_id, method, client=client, body=SeenAmounts(amount1="0.32", amount2="0.45"))
    assert must(PayoutMethod, verified).status == "verified"

    asked = MerchantPayout(merchant_id=seller.merchant_id, monto="100.00", concepto="liquidacion", external_ref=f"{name}-payout")
    payout = must(Payout, create_payout.sync(client=client, body=asked))
    again = must(Payout, create_payout.sync(client=client, body=asked))
    assert payout.status == "completed" and again.payout_id == payout.payout_id

    too_much = MerchantPayout(merchant_id=seller.merchant_id, monto="999999999.00", concepto="liquidacion", external_ref=f"{name}-too-much")
    assert must(Error, create_payout.sync(client=client, body=too_much)).error == "insufficient_balance"
    movements = must(MovementPage, list_movements.sync(client=client, payout_id=payout.payout_id))
    assert movements.items[0].amount_ves == "-100.00", movements
    print(f"python: {payment.ves_amount} VES in, {payout.monto} VES out, reference {payout.reference}")


if __name__ == "__main__":
    main(*sys.argv[1:])
