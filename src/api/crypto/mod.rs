//! USDT: its balance, payouts to wallets, deposit addresses, and the calls by which test mode plays
//! the network and the operator (`docs/contract.md, 10`).
//!
//! The forms of calls and answers belong here; the rules are in `src/domain/resources/crypto/`.

use crate::answer::{Facts, Rendered};
use crate::conversions::read_reason;
use crate::endpoint::{Context, Handler, Target, chapter, run, shown};
use crate::fields::{Fields, Got, Invalid, Kind, body, kind, read};
use crate::lists::{self, List};
use crate::openapi::operation::Operation;
use crate::openapi::{kinds, schema, values};
use crate::page::list_json;
use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Reply;
use crate::value::Value;
use domain::entities::crypto_payout::{CryptoPayout, Status};
use domain::entities::deposit_address::{Asset, Deposit, DepositAddress};
use domain::entities::{Entity, OfKind};
use domain::events::Extra;
use domain::index::Space;
use domain::resources::crypto::deposits::Incoming;
use domain::resources::crypto::payouts::{NewCryptoPayout, REJECTED, Verdict};
use domain::resources::crypto::{self, CryptoBalance};
use domain::trace::shown;
use domain::values::address::{ACCOUNT_BYTES, Network, canonical};
use domain::values::ids::{self, EntityId, Id};
use domain::values::money::Usdt;
use domain::values::text::ExternalRef;
use domain::values::time::Timestamp;

const ADDRESS_MAX: usize = 64;

chapter! { "USDT", "The balance in USDT, payouts to wallets, and addresses through which your customers \
    deposit stablecoins.", {
        let (id, fees) = (Id::from_bytes([0; 16]), [Usdt::ZERO; 4]);
        "CryptoBalance" = balance_schema()
            .example(r#"{"availableUsdt":"4.02","heldUsdt":"0.00","held":"0.00","pendingPayoutsUsdt":"0.00",
                "nextReleaseAt":null,"livemode":false}"#);
        "CryptoNetwork" = terms_schema()
            .example(r#"{"network":"TRC20","networkFeeUsdt":"1.00","confirmations":null,
                "minDepositUsdt":null,"minPayoutUsdt":null}"#);
        "CryptoNetworkList" = items("CryptoNetwork");
        "NewCryptoPayout" = body(|fields| read_payout(fields, &fees, id));
        "CryptoPayout" = payout_schema()
            .example(r#"{"id":"01975a2e-7c00-7000-8000-0000000000f0","object":"crypto_payout",
                "status":"completed","amountUsdt":"25.00","networkFeeUsdt":"1.00",
                "totalUsdt":"26.00","address":"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
                "network":"TRC20",
                "txHash":"3f1c0e7f6a6d1c1c7c7f0a7e0f3a1b2c3d4e5f60718293a4b5c6d7e8f9012345",
                "externalRef":"wallet-1","failureCode":null,"livemode":false,
                "createdAt":"2026-11-22T02:20:00.000Z","completedAt":"2026-11-22T02:20:00.200Z"}"#);
        "CryptoPayoutPage" = page("CryptoPayout");
        "NewDepositAddress" = body(read_customer);
        "DepositAddress" = address_schema();
        "TestDeposit" = body(|fields| read_deposit(fields, id));
        "CryptoDeposit" = deposit_schema();
        event "crypto_payout.completed" = "USDT arrived at a wallet", named("CryptoPayout");
        event "crypto_payout.failed" = "A USDT payout failed or was rejected; the money is back",
            named("CryptoPayout");
        event "crypto_deposit.completed" = "A customer's deposit was credited", named("CryptoDeposit");
    }
    BALANCE = run!(balance), "Read the balance in USDT" => { answers 200, "CryptoBalance", "The balance"; };
    NETWORKS = run!(networks), "List the networks of USDT" => {
        answers 200, "CryptoNetworkList", "The four networks, with the fees in force";
    };
    PAY = run!(pay), "Send USDT to a wallet" => {
        about "Amount and network fee are debited at once; a payout that fails or is rejected gives both \
            back. Above the account's limit an operator reviews it first. The address is checked for its \
            network.";
        body "NewCryptoPayout";
        example "on Tron",
            r#"{"amountUsdt":"25.00","address":"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8","network":"TRC20",
            "externalRef":"wallet-1"}"#;
        answers 201, "CryptoPayout", "The new payout: completed, failed, or waiting for a review";
        answers 200, "CryptoPayout", "The payout that is there under this reference";
        answers 202, "CryptoPayout", "The network has not answered yet";
        refuses 403, &["usdt_not_enabled"];
        draws;
        refuses 409, &["external_ref_conflict"];
        refuses 422, &["insufficient_balance"];
        refuses 503, &["rail_not_configured"];
    } shows created;
    READ = run!(|cx| cx.one(EntityId::crypto_payout(cx.id("id")?), show)), "Read a USDT payout" => {
        answers 200, "CryptoPayout", "The payout";
    };
    READ_BY_REF = run!(|cx| cx.named(Space::CryptoPayout, &cx.external_ref()?, show)),
        "Read a USDT payout by your reference" => {
        answers 200, "CryptoPayout", "The payout";
    };
    LIST = run!(list), "List USDT payouts" => {
        filters by_status;
        answers 200, "CryptoPayoutPage", "Newest first";
    };
    APPROVE = run!(approve), "Approve a USDT payout, as an operator would" => {
        with review;
        answers 202, "CryptoPayout", "The network has not answered yet";
    } shows reviewed;
    REJECT = run!(reject), "Reject a USDT payout, as an operator would" => {
        with review;
        body_optional "Rejection";
        example "why", r#"{"reason":"unknown wallet"}"#;
    } shows reviewed;
    OPEN_ADDRESS = run!(open_address), "Get a customer's deposit address" => {
        about "The same customer, network and asset always has the same address. A deposit is credited 1:1 \
            under the 24-hour hold.";
        body "NewDepositAddress";
        example "USDT on Tron", r#"{"customerRef":"customer-9","network":"TRC20","asset":"USDT"}"#;
        answers 201, "DepositAddress", "The new address";
        answers 200, "DepositAddress", "The address that is there";
        refuses 403, &["usdt_not_enabled"];
        refuses 503, &["rail_not_configured"];
    } shows |facts| Some((if facts.record.is_some() { 201 } else { 200 }, show_address(facts.the()?)));
    DEPOSIT = run!(deposit), "Deposit to an address, as a customer would" => {
        body "TestDeposit";
        example "40 USDT",
            r#"{"address":"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8","amount":"40.00",
                "network":"TRC20","asset":"USDT"}"#;
        answers 201, "CryptoDeposit", "The deposit";
        refuses 403, &["usdt_not_enabled"];
        refuses 404, &["not_found"];
    } shows deposited;
}

async fn balance(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (book, _) = cx.server()?.book().await?;
    Ok(Reply::json(200, show_balance(&crypto::balance(&book), cx.caller.livemode())))
}

shown! {
    pub fn show_balance(balance: &CryptoBalance, livemode: bool), balance_schema, 512 {
        plain "availableUsdt" = balance.available, values::signed_ves();
        plain "heldUsdt" = balance.held, values::ves();
        plain "held" = balance.held, values::ves().about("Equal to `heldUsdt`.");
        plain "pendingPayoutsUsdt" = balance.pending_payouts, values::ves();
        maybe plain "nextReleaseAt" = balance.next_release, values::instant();
        boolean "livemode" = livemode, values::livemode();
    }
}

async fn networks(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let terms = Network::NAMES.iter().zip(cx.env.network_fees()).zip(cx.env.confirmations());
    let items = terms.map(|(((name, _), fee), confirmations)| show_network(name, *fee, *confirmations));
    Ok(Reply::json(200, list_json(items)))
}

shown! {
    /// A network, as JSON. No minimum holds but that of every amount.
    fn show_network(name: &'static str, fee: Usdt, confirmations: Option<u64>), terms_schema, 160 {
        plain "network" = name, network().schema();
        plain "networkFeeUsdt" = fee, values::ves().about("What a payout costs on top.");
        maybe number "confirmations" = confirmations,
            schema::integer().at_least("1").about("Blocks after which a transfer counts; null where no node is configured.");
        maybe plain "minDepositUsdt" = None::<Usdt>, values::ves().about("Null: no minimum.");
        maybe plain "minPayoutUsdt" = None::<Usdt>, values::ves().about("Null: no minimum.");
    }
}

pub(crate) fn network<'a>() -> impl Kind<'a, Network> {
    kinds::one_of(Network::NAMES)
}

pub(crate) fn asset<'a>() -> impl Kind<'a, Asset> {
    kinds::one_of(Asset::NAMES)
}

/// An amount of more than nothing, in cents. Amounts with fewer decimals than are described are taken.
fn cents<'a>() -> impl Kind<'a, i64> {
    kind(Value::positive_cents, values::positive_amount)
}

async fn pay(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.env.new_id();
    let new = read_payout(Fields::parse(&cx.body)?, cx.env.network_fees(), id)?;
    let name = String::from(&*new.external_ref);
    let target = cx.reserve(Space::CryptoPayout, &name, EntityId::crypto_payout(id)).await?;
    cx.server.ask(target, crypto::payouts::Command::Pay(Box::new(new)).into()).await
}

fn read_payout(mut fields: Fields<'_>, fees: &[Usdt; 4], id: Id) -> Result<NewCryptoPayout, Invalid> {
    Ok(read!(fields {
        required amount = "amountUsdt", cents() => Usdt::from_minor(amount);
        required address = "address", kinds::text().described(|text| text.chars(1..=ADDRESS_MAX));
        required network = "network", network();
        got external_ref = {
            // An unknown network takes any text as an address: then only the network is named as bad.
            if let (Some(address), Some(network)) = (address.peek(), network.peek())
                && let Err(wrong) = network.check(address)
            {
                fields.bad("address", wrong);
            }
            fields.required("externalRef", kinds::external_ref())
        };
    } => NewCryptoPayout { id, external_ref, amount, fee: fees[network as usize], network, address: address.into_owned() }))
}

/// The status of the payouts that a list is to show.
pub fn by_status(query: &mut Query<'_>) -> Got<List> {
    lists::by_status(query, ids::Kind::CryptoPayout, Status::ALL.map(|status| (status.name(), status as u8)))
}

pub fn show_entity(entity: &Entity) -> Option<Vec<u8>> {
    CryptoPayout::of(entity).map(show)
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (list, page) = cx.listed("crypto payouts", by_status)?;
    cx.list(list, page, show_entity).await
}

/// The review of a payout by an operator, as test mode plays it.
fn review(operation: Operation) -> Operation {
    operation.answers(200, "CryptoPayout", "The payout").refuses(409, &["payout_not_pending_review"])
}

async fn approve(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    read_approval(&cx.body)?;
    cx.ask(EntityId::crypto_payout(id), crypto::payouts::Command::Review(Verdict::Approve)).await
}

async fn reject(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let verdict = read_rejection(&cx.body)?;
    cx.ask(EntityId::crypto_payout(id), crypto::payouts::Command::Review(verdict)).await
}

pub fn read_approval(body: &[u8]) -> Result<Verdict, Problem> {
    Fields::parse_optional(body)?.finish()?;
    Ok(Verdict::Approve)
}

pub fn read_rejection(body: &[u8]) -> Result<Verdict, Problem> {
    let reason = read_reason(Fields::parse_optional(body)?)?;
    Ok(Verdict::Reject(reason.unwrap_or_else(|| REJECTED.to_owned())))
}

/// The answer to a new payout, or to a repeat of one: 202 while the network is silent.
fn created(facts: &Facts<'_>) -> Option<Rendered> {
    let payout: &CryptoPayout = facts.the()?;
    let status = match (facts.record.is_some(), payout.status) {
        (false, _) => 200,
        (true, Status::Processing) => 202,
        (true, Status::PendingReview | Status::Completed | Status::Failed | Status::Rejected) => 201,
    };
    Some((status, show(payout)))
}

/// The answer to a review: 202 while the network is silent.
pub fn reviewed(facts: &Facts<'_>) -> Option<Rendered> {
    let payout: &CryptoPayout = facts.the()?;
    Some((if payout.status == Status::Processing { 202 } else { 200 }, show(payout)))
}

shown! {
    pub fn show(payout: &CryptoPayout), payout_schema, 640 {
        plain "id" = payout.id, values::uuid();
        constant "object" = "crypto_payout";
        plain "status" = payout.status.name(), schema::one_of(Status::ALL.map(Status::name));
        plain "amountUsdt" = payout.amount, values::ves();
        plain "networkFeeUsdt" = payout.fee, values::ves();
        plain "totalUsdt" = payout.total(), values::ves();
        plain "address" = &payout.address, schema::text();
        plain "network" = payout.network.name(), schema::one_of(Network::NAMES.map(|(name, _)| name));
        maybe text "txHash" = shown(&payout.tx_hash).filter(|_| payout.status != Status::Failed), schema::text();
        text "externalRef" = &*payout.external_ref, values::shown_ref();
        maybe text "failureCode" = payout.failure_code.as_deref().filter(|_| payout.status != Status::Completed),
            schema::text();
        boolean "livemode" = payout.livemode, values::livemode();
        plain "createdAt" = payout.created_at, values::instant();
        maybe plain "completedAt" = payout.settled_at.filter(|_| payout.status == Status::Completed), values::instant();
    }
}

async fn open_address(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (customer_ref, network, asset) = read_customer(Fields::parse(&cx.body)?)?;
    let id = cx.env.new_id();
    let name = DepositAddress::name(network, asset, &customer_ref);
    let address =
        network.address(&account(&|parts: &[&[u8]]| cx.env.mark(parts), cx.caller.tenant.id, &name));
    let (livemode, created_at) = (cx.caller.livemode(), Timestamp::EPOCH);
    let mut new =
        DepositAddress { id, customer_ref, network, asset, address, livemode, created_at, till: None };
    if livemode {
        // One after the other for the next address: nobody waits for that in a slot.
        cx.server()?.release_slot();
    }
    let target = cx.reserve(Space::DepositAddress, &name, EntityId::deposit_address(id)).await?;
    let is_derived = matches!(target, Target::New(_)) && cx.server.derive_address(&mut new).await?;
    let ask = crypto::deposits::Command::Open { new: Box::new(new), is_derived };
    cx.server.ask(target, ask.into()).await
}

fn read_customer(mut fields: Fields<'_>) -> Result<(ExternalRef, Network, Asset), Invalid> {
    Ok(read!(fields {
        required customer_ref = "customerRef", kinds::plain_ref();
        required network = "network", network();
        required asset = "asset", asset();
    } => (customer_ref, network, asset)))
}

/// The simulated account of a customer, derived from tenant and name, so that it is the same
/// whenever it is asked for.
pub fn account(mark: &dyn Fn(&[&[u8]]) -> [u8; 16], tenant: Id, name: &str) -> [u8; ACCOUNT_BYTES] {
    let half = |part: &[u8]| mark(&[b"deposit address", part, tenant.as_bytes(), name.as_bytes()]);
    let mut account = [0; ACCOUNT_BYTES];
    account[..16].copy_from_slice(&half(b"1"));
    account[16..].copy_from_slice(&half(b"2")[..ACCOUNT_BYTES - 16]);
    account
}

shown! {
    fn show_address(address: &DepositAddress), address_schema, 512 {
        plain "id" = address.id, values::uuid();
        constant "object" = "deposit_address";
        plain "address" = &address.address, schema::text();
        plain "network" = address.network.name(), network().schema();
        plain "asset" = address.asset.name(), asset().schema();
        text "customerRef" = &*address.customer_ref, values::shown_ref();
        boolean "livemode" = address.livemode, values::livemode();
        plain "createdAt" = address.created_at, values::instant();
    }
}

async fn deposit(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let incoming = read_deposit(Fields::parse(&cx.body)?, cx.env.new_id())?;
    let found = cx.find(|records| Ok(records.named(Space::DepositTo, &incoming.address)?))?;
    let id = EntityId::deposit_address(found.ok_or_else(Problem::not_found)?);
    cx.ask(id, crypto::deposits::Command::Receive(Box::new(incoming))).await
}

fn read_deposit(mut fields: Fields<'_>, id: Id) -> Result<Incoming, Invalid> {
    let any_address = kinds::trimmed(1..=ADDRESS_MAX).described(|_| schema::text().chars(1..=ADDRESS_MAX));
    Ok(read!(fields {
        required address = "address", any_address => canonical(&address).into_owned();
        required amount = "amount", cents() => Usdt::from_minor(amount);
        required network = "network", network();
        required asset = "asset", asset();
    } => Incoming { id, address, amount, network, asset, tx_hash: network.transaction(id.as_bytes()), entry: None }))
}

/// The answer to a deposit; `None` of a record without one.
pub fn deposited(facts: &Facts<'_>) -> Option<Rendered> {
    let Extra::Deposit(deposit) = &facts.record?.events.first()?.extra else { return None };
    Some((201, show_deposit(deposit, facts.time)))
}

shown! {
    /// A deposit that came at `time`, as JSON.
    pub fn show_deposit(deposit: &Deposit, time: Timestamp), deposit_schema, 512 {
        plain "id" = deposit.id, values::uuid();
        constant "object" = "crypto_deposit";
        plain "status" = "completed", schema::one_of(["completed"]);
        plain "amountUsdt" = deposit.amount, values::ves();
        plain "address" = &deposit.to.address, schema::text();
        plain "depositAddressId" = deposit.to.id, values::uuid();
        plain "network" = deposit.to.network.name(), network().schema();
        plain "asset" = deposit.to.asset.name(), asset().schema();
        text "customerRef" = &*deposit.to.customer_ref, values::shown_ref();
        plain "txHash" = &deposit.tx_hash, schema::text();
        plain "availableAt" = deposit.available_at, values::instant();
        boolean "livemode" = deposit.to.livemode, values::livemode();
        plain "createdAt" = time, values::instant();
    }
}
