//! The calls of a page's script, in JSON. The client secret of the session is the only key, and
//! opens nothing else.

use crate::checkout::steps;
use crate::checkout::visit::{Call, Handler, Shop, Tried, Visit, run, secret_of, shop_of};
use crate::gateway::keys::ServerKeys;
use crate::gateway::names::random_id;
use crate::gateway::services::Services;
use crate::gateway::tenant_request::{Shows, reply};
use crate::gateway::{ask, card_vault};
use crate::http::respond::{Reply, Trace};
use crate::store::history;
use actors::{CommandReply, Settled};
use api::answer::Show;
use api::checkout::CHAPTER;
use api::checkout::bolivares::{
    GotCard, read_card_call, read_execution, read_request, read_transfer, show_token,
};
use api::checkout::sessions::{self, address, client_secret};
use api::checkout::{
    Besides, address as show_address, priced, read_network, read_pesos, read_quantity, state as show_state,
};
use api::cop_payments::{self, read_code};
use api::endpoint::endpoints;
use api::fields::{Fields, Invalid, Kind as _};
use api::openapi::kinds;
use api::openapi::operation::Operation;
use api::payments;
use api::problem::Problem;
use api::query::{self, Query};
use domain::entities::Entity;
use domain::entities::product::{Link, Product};
use domain::entities::session::{Bought, Session};
use domain::machine::Domain;
use domain::values::ids::{Id, is_live};
use domain::values::time::Timestamp;
use hyper::header::{self, HeaderMap, HeaderValue};
use subtle::ConstantTimeEq;

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

const MESSAGES: &str = "At most ten in a row, and then one a minute, of a session and, on a payment link, of \
    a client to one phone; of all clients to that phone 30, and then three a minute: every one may have the \
    payer's bank send a code.";

fn pays(operation: Operation) -> Operation {
    operation
        .refuses(404, &["not_found"])
        .refuses(
            409,
            &[
                "session_paid",
                "session_expired",
                "charge_in_progress",
                "method_not_offered",
                "merchant_inactive",
            ],
        )
        .refuses(503, &["rail_not_configured", "rail_unavailable", "rate_unavailable"])
}

/// The session that a call is about, if the call carries its secret. A caller without the secret
/// learns nothing here, so nothing is counted.
fn admitted(services: &Services, id: &str, headers: &HeaderMap) -> Result<Id, Problem> {
    let id = Id::parse(id).ok_or_else(Problem::not_found)?;
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let sent = sent.and_then(|value| value.strip_prefix("Bearer "));
    if !sent.is_some_and(|sent| is_secret(&services.keys, id, sent)) {
        return Err(Problem::unauthorized(
            "send the clientSecret of this session in the header authorization, as authorization: Bearer SECRET",
        ));
    }
    shop_of(services, id)?.map(|_| id).ok_or_else(Problem::not_found)
}

/// A call with a body: the session that it is about, and what `read` makes of its body. The session
/// is read last, as the body may take long.
async fn called<'v, T>(
    call: &mut Call<'v>,
    read: impl FnOnce(Fields<'_>) -> Result<T, Problem>,
) -> Result<(Visit<'v>, T), Problem> {
    let headers = &call.arrival.head.headers;
    let id = admitted(call.services, call.named, headers)?;
    let asked = read(Fields::parse(&call.body.json(headers).await?)?)?;
    Ok((call.begin(id).await?, asked))
}

/// Whether this is the client secret of a session. What is compared are keyed hashes, so the time
/// that it takes says nothing.
pub fn is_secret(keys: &ServerKeys, id: Id, sent: &str) -> bool {
    let right = client_secret(id, secret_of(keys, id));
    keys.mark(&[b"compared", sent.as_bytes()]).ct_eq(&keys.mark(&[b"compared", right.as_bytes()])).into()
}

fn asked_attempt(mut query: Query<'_>) -> Result<Option<Id>, Invalid> {
    let payment = kinds::id().about("A payment of this session: the answer then says how that stands too.");
    let attempt = query.optional("attempt", payment);
    let sound = query.finish()?;
    Ok(attempt.get(&sound))
}

endpoints! { CHAPTER;
    STATE = run!(state), "Where the session stands" => {
        query asked_attempt;
        answers 200, "CheckoutState", "Its state, and by what it can be paid now";
    };
    REQUEST = run!(request), "Begin to pay by C2P" => {
        with pays;
        body "CheckoutDebtor";
        example "a payer at Banesco",
            r#"{"debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134}"#;
        about MESSAGES;
        answers 201, "C2pIntent", "The intent";
    };
    PAY = run!(pay), "Pay by C2P" => {
        with pays;
        body "CheckoutC2p";
        example "the payer's code",
            concat!(r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","debtorId":"V12345678","#,
            r#""debtorCellPhone":"04141234567","debtorBankCode":134,"token":"12345678"}"#,);
        answers 200, "CheckoutState", "The state after the charge, with `failureCode` if it failed";
        refuses 409, &["intent_mismatch", "intent_canceled", "intent_failed"];
    };
    CARD = run!(card), "Pay by card, or make a token of it" => {
        with pays;
        body "CheckoutCard";
        example "an approved card of test mode",
            concat!(r#"{"card":{"number":"4111111111111111","expMonth":12,"expYear":2030,"cvv":"123","#,
            r#""holderName":"Ana Perez","holderId":"V12345678"}}"#,);
        about "With `tokenize` nothing is charged: the answer is a token, with which `chargeCard` charges the \
            card once, within 15 minutes, for the account whose session this is. The card waits in memory \
            alone and is zeroed after. In live mode no rail takes cards.";
        refuses 409, &["amount_changed"];
        answers 200, "CheckoutState", "The state after the charge, with `failureCode` if it failed";
        answers 201, "MadeCardToken", "The token, if one was asked for";
    };
    TRANSFER = run!(transfer), "Pay by a Pago Móvil that the buyer made" => {
        with pays;
        body "CheckoutPagoMovil";
        example "a transfer of today",
            concat!(r#"{"debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,"#,
            r#""reference":"00123456","date":"2026-11-21"}"#,);
        about "The state's `pagoMovil` says where to and how much; its `quote` keeps that amount for this \
            session, whatever the rate is when the transfer is looked for. A transfer pays for one thing. At \
            most ten tries in a row, and then one a minute, of a session and of a client at one shop, together \
            with those by card.";
        answers 200, "CheckoutState", "The state after it, with `failureCode` if the transfer was not found; \
            `processing` while the bank's notice is waited for";
        refuses 409, &["reference_already_used"];
    };
    COLLECT = run!(collect), "Pay in pesos" => {
        with pays;
        body "CheckoutCop";
        example "by QR", r#"{"channel":"qr"}"#;
        about "The total is the dollars times the market's rate and 2.5 percent, rounded up to whole pesos. It \
            is fixed by this call; a new start fixes a new one. At most ten begin in a row in a session, and \
            then one a minute; by a client at one shop sixty, and then ten a minute; by push and SMS as many \
            as of `requestCheckoutC2p` besides, together with those.";
        answers 201, "CopPayment", "The payment in pesos, with what the buyer does next";
        answers 202, "CopPayment", "In live mode: nobody knows yet what the buyer does next, or whether the \
            processor has the payment; it is asked";
        refuses 400, &["amount_below_minimum"];
        refuses 403, &["cop_not_enabled"];
    };
    SUBMIT_CODE = run!(submit_code), "Submit the SMS code of a payment in pesos" => {
        with pays;
        body "CopOtp";
        example "the right one of test mode", r#"{"otp":"123456"}"#;
        answers 200, "CheckoutState", "The state after it";
        refuses 400, &["invalid_otp"];
        about "Five codes may be tried of an attempt; when the fifth is wrong too, it fails with \
            `otp_attempts_exhausted`, and another may begin. In live mode two may be tried.";
        refuses 409, &["payment_not_pending", "channel_mismatch", "otp_attempts_exhausted"];
    };
    DEPOSIT_ADDRESS = run!(deposit_address), "Pay in USDT" => {
        with pays;
        body "CheckoutUsdt";
        example "on Tron", r#"{"network":"TRC20","asset":"USDT"}"#;
        about "A USDT is a dollar. The session is paid when what came to its addresses reaches the amount, \
            whatever the networks.";
        answers 201, "CheckoutAddress", "Where to, and how much";
        answers 200, "CheckoutAddress", "The same, asked for again";
        refuses 403, &["usdt_not_enabled"];
    };
    OPEN = run!(open), "Open a session of a payment link" => {
        about "What `/pay/{slug}` does for a buyer. Needs no key. A client opens at most 50 sessions of a link \
            in a row, and then one a second; all together 500, and then 20 a second. Links that are not there \
            are counted too: `[limits] misses_burst`.";
        body_optional "LinkQuantity";
        example "two", r#"{"quantity":2}"#;
        answers 201, "CheckoutSession", "The session with its clientSecret";
        refuses 400, &["invalid_json", "invalid_data"];
        refuses 404, &["not_found"];
        refuses 408, &["request_timeout"];
        refuses 413, &["payload_too_large"];
        refuses 415, &["unsupported_media_type"];
        refuses 429, &["rate_limited"];
        refuses 500, &["internal_error"];
        refuses 503, &["overloaded", "shutting_down", "storage_unavailable"];
    };
}

async fn state(call: Call<'_>) -> Result<Reply, Problem> {
    let admitted = admitted(call.services, call.named, &call.arrival.head.headers)?;
    let attempt = query::read(call.query(), asked_attempt)?;
    let visit = call.begin(admitted).await?;
    let attempt = attempt.map(|attempt| visit.attempt(attempt)).transpose()?.flatten();
    Ok(state_reply(&visit, attempt.as_ref()))
}

fn state_reply(visit: &Visit<'_>, attempt: Option<&Tried>) -> Reply {
    let besides =
        Besides { newest: visit.attempts.newest(), quote: visit.quote(), pago_movil: visit.receiver() };
    let (received, offers) = (visit.received(), visit.offers());
    let attempt = attempt.map(Tried::shown);
    let body = show_state(&visit.session, visit.status, received, &offers, &besides, attempt);
    Reply::json(200, body).header(header::CACHE_CONTROL, NO_STORE)
}

async fn state_reply_after(
    call: &Call<'_>,
    session: Id,
    attempt: Id,
    settled: &Settled<Domain>,
) -> Result<Reply, Problem> {
    let after = call.begin(session).await?;
    let attempt = after.attempt(attempt)?;
    Ok(traced(state_reply(&after, attempt.as_ref()), settled))
}

fn traced(reply: Reply, settled: &Settled<Domain>) -> Reply {
    match settled.seq {
        Some(seq) => reply.trace(Trace { seq: Some(seq), timing: Some(ask::timing(settled.timing)) }),
        None => reply,
    }
}

fn decided(
    call: &Call<'_>,
    tenant_key: u64,
    show: Show,
    outcome: CommandReply<Domain>,
) -> Result<Reply, Problem> {
    let reply = reply(call.services, tenant_key, Shows::by(show), outcome, &call.arrival.request_id)?;
    Ok(reply.header(header::CACHE_CONTROL, NO_STORE))
}

async fn request(mut call: Call<'_>) -> Result<Reply, Problem> {
    let services = call.services;
    let read = |fields: Fields<'_>| Ok(read_request(fields, &services.banks.now())?);
    let (visit, debtor) = called(&mut call, read).await?;
    let settled = visit.request(debtor).await?;
    decided(&call, visit.shop.tenant_key, payments::c2p::intent, Ok(settled))
}

async fn pay(mut call: Call<'_>) -> Result<Reply, Problem> {
    let services = call.services;
    let read = |fields: Fields<'_>| Ok(read_execution(fields, &services.banks.now())?);
    let (visit, (intent, debtor, token)) = called(&mut call, read).await?;
    let settled = visit.pay(intent, Some(debtor), token).await?;
    state_reply_after(&call, visit.session.id, intent, &settled).await
}

async fn card(mut call: Call<'_>) -> Result<Reply, Problem> {
    let read = |fields: Fields<'_>| Ok(read_card_call(fields)?);
    let (visit, GotCard { card, tokenize, quote }) = called(&mut call, read).await?;
    if !tokenize {
        let (attempt, settled) = visit.charge_card(card, quote.as_ref()).await?;
        return state_reply_after(&call, visit.session.id, attempt, &settled).await;
    }
    let expiry = card.expiry;
    let token = visit.keep_card(card)?;
    let (services, tenant_key) = (visit.services, visit.shop.tenant_key);
    let mark = |parts: &[&[u8]]| services.keys.card_mark(parts);
    let terms = (is_live(tenant_key), services.now(), card_vault::LASTS);
    let shown = show_token(&token, &mark, tenant_key, expiry, terms);
    Ok(Reply::json(201, shown).header(header::CACHE_CONTROL, NO_STORE))
}

async fn transfer(mut call: Call<'_>) -> Result<Reply, Problem> {
    let services = call.services;
    let read = |fields: Fields<'_>| Ok(read_transfer(fields, &services.banks.now())?);
    let (visit, transfer) = called(&mut call, read).await?;
    let (attempt, settled) = visit.verify_transfer(transfer).await?;
    state_reply_after(&call, visit.session.id, attempt, &settled).await
}

async fn collect(mut call: Call<'_>) -> Result<Reply, Problem> {
    let (services, named) = (call.services, call.named);
    let read = |fields: Fields<'_>| {
        let shop = Id::parse(named).map(|id| shop_of(services, id)).transpose()?.flatten();
        Ok(read_pesos(fields, shop.is_some_and(|shop| is_live(shop.tenant_key)))?)
    };
    let (visit, (channel, buyer)) = called(&mut call, read).await?;
    let settled = visit.collect(channel, buyer, None).await?;
    decided(&call, visit.shop.tenant_key, cop_payments::created, Ok(settled))
}

async fn submit_code(mut call: Call<'_>) -> Result<Reply, Problem> {
    let (visit, code) = called(&mut call, |fields| Ok(read_code(fields)?)).await?;
    let settled = visit.submit_code(code).await?;
    let attempt = visit.attempts.cop.as_ref().map_or(visit.session.id, |payment| payment.id);
    state_reply_after(&call, visit.session.id, attempt, &settled).await
}

async fn deposit_address(mut call: Call<'_>) -> Result<Reply, Problem> {
    let read = |fields: Fields<'_>| Ok(read_network(fields)?);
    let (visit, (network, asset)) = called(&mut call, read).await?;
    let settled = ask::accepted(visit.address(network, asset).await?)?;
    let made = settled
        .record
        .as_ref()
        .and_then(|record| record.entities.first())
        .map(|written| &written.state)
        .or(settled.entity.as_ref());
    let Some(Entity::DepositAddress(made)) = made.map(|entity| &**entity) else {
        return Err(ask::defect("a deposit address was decided and is not in its record"));
    };
    let (Some(till), Some(address)) = (made.till.as_deref(), made.address_for(network, asset)) else {
        return Err(ask::defect("a deposit address lacks its network or its end"));
    };
    let status = if settled.seq.is_some() { 201 } else { 200 };
    let body = show_address(&visit.session, till, network, asset, address);
    Ok(traced(Reply::json(status, body).header(header::CACHE_CONTROL, NO_STORE), &settled))
}

pub struct OnSale {
    pub shop: Shop,
    pub product: Product,
    pub link: Link,
}

pub fn on_sale(services: &Services, slug: &str) -> Result<Option<OnSale>, Problem> {
    let found = history::on_slug(services.engine.reader(), slug)?;
    let Some((tenant_key, link, product)) = found else { return Ok(None) };
    let Some(shop) = Shop::of(services, tenant_key)? else { return Ok(None) };
    Ok(product.offer(link).cloned().map(|link| OnSale { shop, product, link }))
}

pub fn sought(call: &Call<'_>) -> Result<OnSale, Problem> {
    call.limits.looked(call.client(), on_sale(call.services, call.named))
}

pub fn session_of(services: &Services, sale: &OnSale, quantity: u16) -> Result<Session, &'static str> {
    let amount = priced(&sale.product, &sale.link, quantity)?;
    // Whoever has the id has the page, and the page has the secret.
    let id = random_id();
    let name = &sale.product.name;
    Ok(Session {
        id,
        amount,
        description: Some(if quantity == 1 { name.clone() } else { format!("{name} × {quantity}") }),
        reference: None,
        success_url: sale.link.redirect_url.clone(),
        cancel_url: None,
        offered: Vec::new(),
        metadata: None,
        url: address(&services.site.base_url, id),
        bought: Some(Bought {
            link: sale.link.id,
            quantity,
            chosen: sale.link.allow_quantity,
            marketplace: sale.link.marketplace,
        }),
        livemode: sale.product.livemode,
        created_at: Timestamp::EPOCH,
        expires_at: Timestamp::EPOCH,
    })
}

async fn open(call: Call<'_>) -> Result<Reply, Problem> {
    let services = call.services;
    let sale = sought(&call)?;
    let body = call.body.json(&call.arrival.head.headers).await?;
    let quantity = read_quantity(Fields::parse_optional(&body)?)?;
    let _pass = services.names.pass(sale.shop.tenant_key).await;
    let sale = on_sale(services, call.named)?.ok_or_else(Problem::not_found)?;
    let new = session_of(services, &sale, quantity)
        .map_err(|message| Problem::invalid_field("quantity", message))?;
    services.admit(Some(sale.shop.tenant_key), true)?;
    call.limits.open(call.client(), sale.link.id)?;
    let outcome = steps::open(services, sale.shop.tenant_key, new).await;
    decided(&call, sale.shop.tenant_key, sessions::opened, outcome)
}
