//! POST /v1/payments/vpos: collecting by card (`docs/contract.md, 5.6`), or by the token of a card that
//! a page of the gateway's took from its holder (`docs/contract.md, 12.12`).
//! Number and code go from the body into the order to the bank, and nowhere else.

use super::show::CHAPTER;
use crate::endpoint::{Context, Handler, endpoints, run};
use crate::fields::{Fields, Invalid, Kind, kind, read};
use crate::openapi::{kinds, schema};
use crate::payments::card_tokens::{CardToken, Mark};
use crate::payments::{DESCRIPTION_MAX, marketplace, price};
use crate::problem::Problem;
use crate::respond::Reply;
use crate::value::Value;
use domain::entities::means::Means;
use domain::resources::payments::charge::{NewCharge, Price, Secret};
use domain::values::card::{Card, Cvv, Expiry, Number};
use domain::values::ids::Id;
use domain::values::money::Rate;
use domain::values::text::ExternalRef;
use std::borrow::Cow;
use std::sync::Arc;

const HOLDER_NAME_MAX: usize = 100;

endpoints! { CHAPTER;
    CHARGE = run!(charge), "Charge a card" => {
        about "Of the card only brand and last four digits are ever stored or logged. After an attempt that \
            failed the same `externalRef` takes another card, or the same one with a new Idempotency-Key. \
            In place of the card `card` may have the `token` that a checkout page made of it \
            (`payCheckoutCard`): then no server of yours sees a card. A token is of your account and mode, \
            is charged once, and lasts 15 minutes; it does not outlive the server that made it. A refusal \
            (4xx, or 503 other than `storage_unavailable`) leaves it good, a decline has used it.";
        body "CardCharge";
        example "an approved card of test mode",
            r#"{"usdAmount":25.5,"card":{"number":"4111111111111111","expMonth":12,"expYear":2030,
                "cvv":"123","holderName":"Ana Perez","holderId":"V12345678"},
                "externalRef":"order-2","description":"camisa"}"#;
        answers 201, "Payment", "The new payment, completed or failed";
        answers 200, "Payment", super::REPEATED;
        answers 202, "Payment", "The bank has not answered yet";
        refuses 404, &["not_found"];
        refuses 409, &super::CREATES;
        refuses 410, &["card_token_gone"];
        refuses 503, &["rate_unavailable", "rail_not_configured", "rail_unavailable"];
    } shows super::charged;
}

async fn charge(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let tokens =
        |text: &str| CardToken::read(&|parts: &[&[u8]]| cx.env.card_mark(parts), cx.caller.tenant_key, text);
    let asked = read_charge(Fields::parse(&cx.body)?, &tokens)?;
    let (means, secret, token) = match asked.sent {
        Sent::Card(card) => {
            (means(&card, &|parts: &[&[u8]]| cx.env.card_mark(parts)), Secret::Card(card), None)
        }
        Sent::Token(token) => {
            let CardToken { brand, last_four, mark, .. } = token;
            (Means::Card { brand, last_four, mark }, Secret::None, Some(token))
        }
    };
    let new = NewCharge {
        rate: cx.env.bcv_rate(),
        description: asked.description,
        marketplace: asked.marketplace,
        ..NewCharge::new(cx.env.new_id(), asked.external_ref, asked.price, means, secret)
    };
    cx.server()?.charge(new, token).await
}

pub(super) struct Asked {
    price: Price,
    sent: Sent,
    external_ref: ExternalRef,
    description: Option<String>,
    marketplace: Option<(Id, Rate)>,
}

/// Reads the body of a charge; `tokens` finds the token in a text.
pub(super) fn read_charge(mut fields: Fields<'_>, tokens: Tokens<'_>) -> Result<Asked, Invalid> {
    Ok(read!(fields {
        got price = price(&mut fields);
        required sent = "card", sent(tokens);
        required external_ref = "externalRef", kinds::external_ref();
        optional description = "description", kinds::prose(1..=DESCRIPTION_MAX) => description.map(Cow::into_owned);
        got marketplace = marketplace(&mut fields);
    } => Asked { price, sent, external_ref, description, marketplace }))
}

/// The function that finds a card's token in a text, if it is one of the caller's.
type Tokens<'a> = &'a dyn Fn(&str) -> Option<CardToken>;

pub(super) enum Sent {
    Card(Arc<Card>),
    Token(CardToken),
}

/// A card, or the token of one: the member `token` says which.
fn sent<'a>(tokens: Tokens<'_>) -> impl Kind<'a, Sent> {
    let read = move |value: Value<'a>| {
        let fields = Fields::of(value)?;
        Ok(match fields.has("token") {
            false => Sent::Card(Arc::new(read_card(fields)?)),
            true => Sent::Token(read_token(fields, tokens)?),
        })
    };
    kind(read, || schema::any_of([schema::named("Card"), schema::named("CardToken")]))
}

pub(super) fn read_token(mut fields: Fields<'_>, tokens: Tokens<'_>) -> Result<CardToken, Invalid> {
    let found = |text: &str| tokens(text).ok_or("is not a card token of this account in this mode");
    let token = kind(
        |value: Value<'_>| value.text_as(found),
        || schema::text().about("Of a card that a checkout page took from its holder."),
    );
    Ok(read!(fields { required token = "token", token; } => token))
}

pub fn means(card: &Card, mark: Mark<'_>) -> Means {
    let expiry = format!("{:04}-{:02}", card.expiry.year, card.expiry.month);
    let mark = mark(&[b"card", card.number.reveal().as_bytes(), expiry.as_bytes()]);
    Means::Card { brand: card.number.brand(), last_four: card.number.last_four(), mark }
}

/// A card. Whether it is still good is a question to the tenant's clock.
pub fn read_card(mut fields: Fields<'_>) -> Result<Card, Invalid> {
    Ok(read!(fields {
        required number = "number", card_number();
        required month = "expMonth", kinds::integer(1..=12) => i32::try_from(month).unwrap_or(i32::MAX);
        required year = "expYear", kinds::integer(1970..=9999) => i32::try_from(year).unwrap_or(i32::MAX);
        required cvv = "cvv", cvv();
        required holder_name = "holderName", kinds::trimmed(1..=HOLDER_NAME_MAX) => holder_name.into_owned();
        required holder_id = "holderId", kinds::identity();
    } check {
        if let (Some(number), Some(cvv)) = (number.peek(), cvv.peek())
            && !cvv.fits(number.brand())
        {
            fields.bad("cvv", "must have 3 digits: only American Express has 4");
        }
    } => Card { number, expiry: Expiry { year, month }, cvv, holder_name, holder_id }))
}

fn card_number<'a>() -> impl Kind<'a, Number> {
    kind(
        |value: Value<'a>| value.text_as(Number::parse),
        || schema::text().pattern("^[0-9]{13,19}$").about("13 to 19 digits that pass the Luhn check."),
    )
}

fn cvv<'a>() -> impl Kind<'a, Cvv> {
    kind(|value: Value<'a>| value.text_as(Cvv::parse), || schema::text().pattern("^[0-9]{3,4}$"))
}
