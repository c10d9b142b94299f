//! Checkout sessions, as the tenant sees them (`docs/contract.md, 12.4`).
//! The calls of the buyer's page are in `checkout/mod.rs`.

use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, chapter, run, shown};
use crate::fields::{Fields, Invalid, Kind as _, gather, kind, read};
use crate::fields::{Got, body};
use crate::lists::{Keep, List, Span};
use crate::openapi::{kinds, schema, values};
use crate::payments::{DESCRIPTION_MAX, usd_amount};
use crate::problem::Problem;
use crate::query::Query;
use crate::records::{Records, Stopped};
use crate::respond::Reply;
use crate::value::{Bad, Value};
use crate::web_address::clearable;
use crate::writer::{Object, text};
use domain::entities::session::{FACET, Session, Way};
use domain::entities::{Entity, OfKind};
use domain::index::Space;
use domain::resources::checkout::{Attempts, Status};
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::Timestamp;
use std::borrow::Cow;

pub(crate) const CHAPTER: &str = "Checkout sessions";

const REFERENCE_MAX: usize = 128;
const METADATA_BYTES_MAX: usize = 4096;

pub(super) const WAYS: [&str; 5] = ["c2p", "usdt", "cop", "card", "pago_movil"];

/// The random part of a session's client secret: a keyed hash of its id, so nothing is stored that
/// would open anything.
pub fn secret(mark: &dyn Fn(&[&[u8]]) -> [u8; 16], session: Id) -> [u8; 16] {
    mark(&[b"checkout secret", session.as_bytes()])
}

/// A client secret, as it is given out: `<session id>_secret_<32 hexadecimal digits>`.
pub fn client_secret(session: Id, secret: [u8; 16]) -> String {
    format!("{session}_secret_{}", hex::encode(secret))
}

pub fn address(base_url: &str, session: Id) -> String {
    format!("{base_url}/checkout/{session}")
}

chapter! { CHAPTER, "A page on which a buyer pays once, priced in US dollars: send the buyer to `url`, or \
    embed it with `clientSecret` and `/checkout.js`.", {
        "NewCheckoutSession" = body(|fields| read_new(fields, false));
        "CheckoutSession" = schema()
            .member("clientSecret", text().about("Opens this session for a buyer's page, and nothing else."));
        "ListedCheckoutSession" = schema();
        "ListedCheckoutSessionPage" = page("ListedCheckoutSession");
    }
    CREATE = run!(create), "Open a checkout session" => {
        body "NewCheckoutSession";
        example "25.50 USD",
            r#"{"amountUsd":25.5,"description":"pedido 81","reference":"order-81",
                "successUrl":"https://shop.example/gracias"}"#;
        answers 201, "CheckoutSession", "The session";
    } shows opened;
    READ = run!(read), "Read a checkout session" => {
        answers 200, "CheckoutSession", "Once it is paid, with `paymentId`";
    };
    LIST = run!(list), "List checkout sessions" => {
        filters filters;
        answers 200, "ListedCheckoutSessionPage", "Newest first, without `clientSecret`";
    };
}

async fn create(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let asked = read_new(Fields::parse(&cx.body)?, cx.caller.livemode())?;
    // Whoever has the id has the page, and the page has the secret.
    let id = cx.env.random_id();
    let new = Session { id, url: address(cx.env.base_url(), id), ..asked };
    cx.make(EntityId::session(id), Box::new(new)).await
}

/// Reads the body of a new session, which has no id and no address so far.
pub(super) fn read_new(mut fields: Fields<'_>, livemode: bool) -> Result<Session, Invalid> {
    let methods =
        kind(ways, || schema::list(schema::one_of(WAYS)).about("Every enabled one if empty or missing."));
    let own = kinds::metadata(METADATA_BYTES_MAX);
    Ok(read!(fields {
        required amount = "amountUsd", usd_amount();
        optional description = "description", kinds::prose(1..=DESCRIPTION_MAX) => description.map(Cow::into_owned);
        optional reference = "reference", kinds::trimmed(1..=REFERENCE_MAX) => reference.map(Cow::into_owned);
        optional success_url = "successUrl", clearable(livemode).about("https; http to loopback in test mode.") => success_url.flatten();
        optional cancel_url = "cancelUrl", clearable(livemode) => cancel_url.flatten();
        optional ways = "methods", methods => ways.unwrap_or_default();
        optional metadata = "metadata", own.about("Yours, at most 4096 bytes, without control characters.");
    } => Session {
        id: Id::from_bytes([0; 16]),
        amount,
        description,
        reference,
        success_url,
        cancel_url,
        offered: ways,
        metadata,
        url: String::new(),
        bought: None,
        livemode,
        created_at: Timestamp::EPOCH,
        expires_at: Timestamp::EPOCH,
    }))
}

/// Ways to pay, in any order.
fn ways(value: Value<'_>) -> Result<Vec<Way>, Bad> {
    let ways =
        value.list(0..=Way::ALL.len(), |value| value.one_of(&Way::ALL.map(|way| (way.name(), way))))?;
    let repeated = ways.iter().enumerate().any(|(n, way)| ways[..n].contains(way));
    if repeated { Err(Bad::from("must name each one once")) } else { Ok(ways) }
}

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let secret = secret(&|parts: &[&[u8]]| cx.env.mark(parts), id);
    let now = cx.clock().await?;
    cx.read(|records| {
        let found = records.entity(EntityId::session(id))?;
        let session = found.as_deref().and_then(Session::of).ok_or_else(Problem::not_found)?;
        let status = attempts(records, id)?.standing(session, now);
        Ok(with_secret(show(session, status), id, secret))
    })
}

type Stands = fn(Status) -> bool;

/// The names of statuses, and what they have in common.
const STATUSES: [(&str, Stands); 3] = [
    ("open", |status| status == Status::Open),
    ("paid", |status| matches!(status, Status::Paid(_))),
    ("expired", |status| status == Status::Expired),
];

type Filters = (Option<Stands>, Option<String>, Span);

fn filters(query: &mut Query<'_>) -> Got<Filters> {
    gather!(query {
        optional status = "status", kinds::one_of(STATUSES);
        optional reference = "reference", kinds::sought(1..=REFERENCE_MAX);
        got span = Span::read(query);
    } => (status, reference, span))
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let ((status, reference, span), page) = cx.listed("checkout sessions", filters)?;
    let keep: Keep = Box::new(move |entity| {
        let is = |session: &Session| reference.is_none() || session.reference == reference;
        Session::of(entity).is_some_and(is)
    });
    let list = List::by_time(vec![(Kind::Session, FACET)], span, keep);
    let now = cx.clock().await?;
    cx.read_long(move |records| {
        // The status follows from the session's attempts, which are read with it.
        let standing = |session: &Session| Ok(attempts(records, session.id)?.standing(session, now));
        let wanted = |entity: &Entity| match (status, Session::of(entity)) {
            (Some(is), Some(session)) => standing(session).map(is),
            _ => Ok(true),
        };
        let shown = |entity: &Entity| {
            let session = Session::of(entity)?;
            standing(session).ok().map(|status| show(session, status))
        };
        list.page_of(records, &page, &wanted, &shown)
    })
    .await
}

/// Reads the attempts to pay a session: its newest payment in bolívares, its payment in pesos and its
/// deposit address.
pub fn attempts(records: &dyn Records, session: Id) -> Result<Attempts, Stopped> {
    let name = session.to_string();
    let mut attempts = Attempts::default();
    for (space, whose) in [
        (Space::Checkout, EntityId::payment as fn(Id) -> EntityId),
        (Space::CheckoutCop, EntityId::cop_payment),
        (Space::CheckoutUsdt, EntityId::deposit_address),
    ] {
        let Some(id) = records.named(space, &name)? else { continue };
        match records.entity(whose(id))?.as_deref() {
            Some(Entity::Payment(payment)) => attempts.bolivares = Some(payment.clone()),
            Some(Entity::CopPayment(payment)) => attempts.cop = Some(payment.clone()),
            Some(Entity::DepositAddress(address)) => attempts.usdt = Some(address.clone()),
            Some(_) | None => {
                let why = format!("the session {session} names an attempt that is not there");
                return Err(Stopped::Unreadable(why));
            }
        }
    }
    Ok(attempts)
}

/// A session that was just opened, with its client secret, which no record has.
pub fn opened(facts: &Facts<'_>) -> Option<Rendered> {
    let session: &Session = facts.the()?;
    let shown = show(session, Status::Open);
    Some((
        201,
        match facts.secrets.session(session.id) {
            Some(secret) => with_secret(shown, session.id, secret),
            None => shown,
        },
    ))
}

/// An answer that shows a session, with its client secret, which is not in what is kept.
fn with_secret(shown: Vec<u8>, session: Id, secret: [u8; 16]) -> Vec<u8> {
    Object::reopened(shown).plain("clientSecret", client_secret(session, secret)).end()
}

shown! {
    /// A session without its client secret.
    pub fn show(session: &Session, status: Status), schema, 1024 {
        plain "id" = session.id, values::uuid();
        constant "object" = "checkout.session";
        plain "status" = status.name(), schema::one_of(["open", "paid", "expired"]);
        text "url" = &session.url, schema::text();
        plain "amountUsd" = session.amount, values::ves();
        maybe text "description" = session.description.as_deref(), schema::text();
        maybe text "reference" = session.reference.as_deref(), schema::text();
        maybe text "successUrl" = session.success_url.as_deref(), schema::text();
        maybe text "cancelUrl" = session.cancel_url.as_deref(), schema::text();
        list "methods" = session.offered.iter().map(|way| text(way.name())), schema::list(schema::one_of(WAYS));
        json "metadata" = session.metadata.as_deref().unwrap_or("{}").as_bytes(), schema::object();
        maybe plain "paymentLinkId" = session.bought.as_ref().map(|bought| bought.link), values::uuid();
        maybe number "quantity" = session.bought.as_ref().map(|bought| bought.quantity), schema::integer();
        maybe plain "paymentId" = status.payment(), values::uuid();
        boolean "livemode" = session.livemode, values::livemode();
        plain "createdAt" = session.created_at, values::instant();
        plain "expiresAt" = session.expires_at, values::instant();
    }
}
