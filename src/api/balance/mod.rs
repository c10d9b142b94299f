//! Balances and movements in every currency, of tenants and of their sellers
//! (`docs/contract.md, 6.1, 6.2`).
//!
//! The forms of balances belong here. The sums are the ledger's (`src/domain/ledger/`), and a past
//! balance is derived in `src/store/`.

pub mod movements;

use crate::answer::{Facts, Rendered};
use crate::balance::movements::{Movements, show_movement};
use crate::endpoint::{Context, Handler, chapter, endpoints, run, shown};
use crate::fields::Got;
use crate::fields::gather;
use crate::fields::{Invalid, Kind as _, kind, read};
use crate::openapi::operation::Operation;
use crate::openapi::{kinds, schema, values};
use crate::page::Page;

use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Reply;
use crate::value::shown_amount;
use domain::index::LedgerKey;
use domain::ledger::MovementKind;
use domain::ledger::balance::{self, Balance, CopBalance};
use domain::ledger::sellers::{self, SellerBalance};
use domain::values::ids::{EntityId, Id};
use domain::values::money::Currency;
use domain::values::time::Timestamp;

chapter! { "Balance", "The balance, what of it is held, and every movement behind it: the sum of \
    `amountVes` over all movements is `ledgerNetVes`, and `ledgerNetVes` less `reserveVes` and `heldVes` \
    is `availableVes`, always.", {
        "Balance" = schema().example(r#"{"ledgerNetVes":"2068.50","reserveVes":"0.00","heldVes":"2068.50",
                "nextReleaseAt":"2026-11-22T02:13:04.120Z","availableVes":"0.00",
                "balanceHoldHours":24,"convertedVes":"0.00","platformAvailableVes":"0.00",
                "sellerPendingVes":"0.00","sellerAvailableVes":"0.00","livemode":false}"#);
        "Movement" = movement();
        "MovementPage" = page("Movement");
    }
    READ = run!(read), "Read the balance, now or as it was" => {
        query asked_at;
        answers 200, "Balance", "The balance";
        refuses 404, &["not_found"];
    };
    TRANSACTIONS = run!(list, LedgerKey::Tenant(Currency::Ves), "movements"), "List movements" => {
        with movements_in;
        without &["amountCop", "amountUsdt"];
    };
}

endpoints! { "Merchants";
    READ_SELLER = run!(read_seller), "Read a merchant's balance" => {
        answers 200, "MerchantBalance", "Its balance";
    };
    SELLER_TRANSACTIONS = run!(seller_transactions), "List the movements of a merchant's balance" => {
        with movements_in;
        without &["amountUsdt"];
    };
}

endpoints! { "Colombian pesos";
    READ_COP = run!(read_cop), "Read the balance in pesos" => { answers 200, "CopBalance", "The balance"; };
    COP_TRANSACTIONS = run!(list, LedgerKey::Tenant(Currency::Cop), "movements in COP"),
        "List the movements in pesos" => {
        with movements_in;
        without &["amountVes", "amountUsdt"];
    };
}

endpoints! { "USDT";
    CRYPTO_TRANSACTIONS = run!(list, LedgerKey::Tenant(Currency::Usdt), "movements in USDT"),
        "List the movements in USDT" => {
        with movements_in;
        without &["amountVes", "amountCop"];
    };
}

fn asked_at(mut query: Query<'_>) -> Result<Option<Timestamp>, Invalid> {
    let moment = kinds::instant().about("A moment of the past; what had happened until then, inclusive.");
    Ok(read!(query { optional at = "at", moment; } => at))
}

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let at = cx.asked(asked_at)?;
    let server = cx.server()?;
    let balance = match at {
        Some(at) => server.balance_at(at).await?,
        None => balance::balance(&server.book().await?.0),
    };
    Ok(Reply::json(200, show(&balance, cx.caller.livemode())))
}

async fn read_seller(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let (book, _) = cx.server()?.book().await?;
    let now = sellers::balance(&book, id).ok_or_else(Problem::not_found)?;
    Ok(Reply::json(200, show_seller(&now, cx.caller.livemode())))
}

async fn read_cop(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (book, _) = cx.server()?.book().await?;
    Ok(Reply::json(200, show_cop(&balance::cop_balance(&book), cx.caller.livemode())))
}

async fn seller_transactions(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let name = format!("movements of {id}");
    let ask = cx.listed(&name, |query| filters(query, LedgerKey::Seller(id)))?;
    cx.find(|records| Ok(records.entity(EntityId::merchant(id))?.ok_or_else(Problem::not_found)?))?;
    movements_of(cx, ask).await
}

fn movements_in(operation: Operation) -> Operation {
    operation.filters(|query| filters(query, LedgerKey::Tenant(Currency::Ves))).answers(
        200,
        "MovementPage",
        "Newest first; new movements never shift pages being walked",
    )
}

fn filters(query: &mut Query<'_>, ledger: LedgerKey) -> Got<Movements> {
    let movement = kind(
        |value| value.text_known("a type of movement", MovementKind::from_name),
        || schema::one_of(MovementKind::ALL.map(MovementKind::name)),
    );
    let payout_of =
        if ledger == LedgerKey::Tenant(Currency::Usdt) { EntityId::crypto_payout } else { EntityId::payout };
    gather!(query {
        list kinds = "type", movement => if kinds.is_empty() { MovementKind::ALL.to_vec() } else { kinds };
        optional payment = "paymentId", kinds::id() => payment.map(EntityId::payment);
        optional payout = "payoutId", kinds::id() => payout.map(payout_of);
        optional from = "from", kinds::instant().about("Inclusive.");
        optional to = "to", kinds::instant().about("Exclusive.");
    } => {
        let kinds = kinds.into_iter().map(|kind| kind as u8).collect();
        Movements { ledger, kinds, from, to, subjects: payment.into_iter().chain(payout).collect() }
    })
}

async fn list(cx: &mut Context<'_>, ledger: LedgerKey, list: &str) -> Result<Reply, Problem> {
    let ask = cx.listed(list, |query| filters(query, ledger))?;
    movements_of(cx, ask).await
}

async fn movements_of(cx: &mut Context<'_>, (ask, page): (Movements, Page)) -> Result<Reply, Problem> {
    let now = cx.clock().await?;
    cx.read_long(move |records| movements::read(records, &ask, &page, now)).await
}

shown! {
    pub fn show(balance: &Balance, livemode: bool), schema, 512 {
        plain "ledgerNetVes" = balance.ledger_net, values::signed_ves().about("The sum of all movements.");
        plain "reserveVes" = balance.reserve, values::ves();
        plain "heldVes" = balance.held, values::ves().about("Under a hold of 24 hours.");
        maybe plain "nextReleaseAt" = balance.next_release,
            values::instant().about("When the next held amount is released.");
        plain "availableVes" = balance.available,
            values::signed_ves().about("What can be paid out; below zero after a chargeback at worst.");
        number "balanceHoldHours" = 24, schema::integer();
        plain "convertedVes" = balance.converted, values::ves().about("Converted to USDT, less what was canceled.");
        plain "platformAvailableVes" = balance.available, values::signed_ves().about("Equal to `availableVes`.");
        plain "sellerPendingVes" = balance.seller_pending, values::ves();
        plain "sellerAvailableVes" = balance.seller_available, values::ves();
        boolean "livemode" = livemode, values::livemode();
    }
}

shown! {
    pub fn show_cop(balance: &CopBalance, livemode: bool), cop_schema, 512 {
        plain "ledgerNetCop" = balance.ledger_net, values::signed_pesos();
        plain "heldCop" = balance.held, values::pesos();
        maybe plain "nextReleaseAt" = balance.next_release, values::instant();
        plain "availableCop" = balance.available, values::signed_pesos();
        number "balanceHoldHours" = 24, schema::integer();
        boolean "livemode" = livemode, values::livemode();
    }
}

shown! {
    /// The balance of a seller, as JSON; pesos and USDT only if there were ever any.
    pub fn show_seller(balance: &SellerBalance, livemode: bool), seller_schema, 512 {
        plain "merchantId" = balance.merchant, values::uuid();
        text "externalRef" = &balance.external_ref, values::shown_ref();
        plain "pendingVes" = balance.pending, values::ves();
        plain "availableVes" = balance.available, values::ves();
        optional plain "pendingCop" = balance.pesos.map(|(pending, _)| pending),
            values::pesos().about("If there ever were pesos.");
        optional plain "availableCop" = balance.pesos.map(|(_, available)| available), values::pesos();
        optional plain "pendingUsdt" = balance.usdt.map(|(pending, _)| pending),
            values::ves().about("If there ever were USDT.");
        optional plain "availableUsdt" = balance.usdt.map(|(_, available)| available), values::ves();
        maybe plain "nextReleaseAt" = balance.next_release, values::instant();
        boolean "livemode" = livemode, values::livemode();
    }
}

shown! {
    /// What is held on the tenant's own account or on a seller's; of what a bank decides nobody knows the end.
    pub fn show_hold(merchant: Option<Id>, currency: Currency, minor: i64, at: Option<Timestamp>), hold_schema, 192 {
        maybe plain "merchantId" = merchant, values::uuid();
        plain "currency" = currency.code(), values::currency();
        plain "amount" = shown_amount(currency, minor), schema::any_of([values::ves(), values::pesos()]);
        maybe plain "availableAt" = at, values::instant();
    }
}

/// The movement that a fund or an adjustment is; `None` without a movement that somebody sees.
pub fn new_movement(facts: &Facts<'_>) -> Option<Rendered> {
    let record = facts.record?;
    let owned = record.postings.iter().position(|posting| posting.row.is_some())?;
    Some((201, show_movement(facts.livemode, record, facts.time, owned, facts.time)?))
}

pub fn movement() -> schema::Schema {
    movements::schema().example(
        r#"{"id":"01975a2e-7c00-7000-8000-0000000000c0","type":"payment","amountVes":"2100.00",
        "currency":"VES","paymentId":"01975a2e-7c00-7000-8000-000000000000","payoutId":null,
        "chargebackId":null,"externalRef":"order-1","description":"C2P payment",
        "livemode":false,"createdAt":"2026-11-21T02:13:04.120Z",
        "availableAt":"2026-11-22T02:13:04.120Z"}"#,
    )
}

pub(crate) fn of_a_merchant() -> schema::Schema {
    seller_schema().example(
        r#"{"merchantId":"01975a2e-7c00-7000-8000-0000000000aa","externalRef":"seller-1",
        "pendingVes":"1806.00","availableVes":"0.00","nextReleaseAt":"2026-11-22T02:13:04.120Z",
        "livemode":false}"#,
    )
}
