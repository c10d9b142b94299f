//! The calls by which a page pays in bolívares without a key: by C2P, by card and by a Pago Móvil that the
//! buyer made (`docs/contract.md, 12.12, 12.13`).

use crate::endpoint::shown;
use crate::fields::{Fields, Invalid, Kind, kind, read};
use crate::openapi::{kinds, schema, values};
use crate::payments::card_tokens::{CardToken, Mark};
use crate::payments::cards::read_card;
use crate::payments::{bank_number, c2p, debtor_at};
use crate::problem::Problem;
use crate::value::Value;
use domain::entities::means::{Debtor, Means};
use domain::entities::session::Session;
use domain::platform::settings::Receiver;
use domain::resources::banks::{Catalogue, Service};
use domain::resources::payments::charge::{Figured, Price, TRANSFER_DAYS_MAX};
use domain::values::card::{Card, Expiry};
use domain::values::ids::Id;
use domain::values::money::Rate;
use domain::values::money::Ves;
use domain::values::time::{Date, SECOND_MS, Timestamp, Zone};
use domain::values::token::Token;
use rust_decimal::Decimal;
use std::sync::Arc;
use std::time::Duration;

/// The code of a total that has risen since the buyer saw it.
pub const TOTAL_CHANGED: &str = "amount_changed";

/// POST /checkout/:id/c2p/request
pub fn read_request(mut fields: Fields<'_>, banks: &Catalogue) -> Result<Debtor, Invalid> {
    Ok(read!(fields { got debtor = debtor_at(&mut fields, c2p::bank(banks)); } => debtor))
}

/// POST /checkout/:id/c2p
pub fn read_execution(mut fields: Fields<'_>, banks: &Catalogue) -> Result<(Id, Debtor, Token), Invalid> {
    Ok(read!(fields {
        required intent = "intentId", kinds::id();
        got debtor = debtor_at(&mut fields, c2p::bank(banks));
        required token = "token", c2p::token();
    } => (intent, debtor, token)))
}

/// A card, and whether a token is to be made of it instead of a charge.
pub struct GotCard {
    pub card: Arc<Card>,
    pub tokenize: bool,
    pub quote: Option<Quote>,
}

/// POST /checkout/:id/card
pub fn read_card_call(mut fields: Fields<'_>) -> Result<GotCard, Invalid> {
    let shown = quote().about("The state's `quote`, as the buyer saw its total: no more is charged.");
    Ok(read!(fields {
        required card = "card", kinds::named("Card", read_card) => Arc::new(card);
        optional tokenize = "tokenize", kinds::boolean().about("True: make a token and charge nothing.") => tokenize.unwrap_or(false);
        optional quote = "quote", shown;
    } => GotCard { card, tokenize, quote }))
}

/// Checks that a card is good by the tenant's clock; the problem names the field.
pub fn still_good(expiry: Expiry, now: Timestamp) -> Result<(), Problem> {
    match expiry.expired_at(now) {
        None => Ok(()),
        Some(field) => Err(Problem::invalid_field(field, "is over: the card has expired")),
    }
}

pub fn show_token(
    token: &CardToken,
    mark: Mark<'_>,
    tenant_key: u64,
    expiry: Expiry,
    (livemode, now, lasts): (bool, Timestamp, Duration),
) -> Vec<u8> {
    let lasts_ms = i64::try_from(lasts.as_secs()).unwrap_or(0).saturating_mul(SECOND_MS);
    show_made_token(&token.text(mark, tenant_key), token, expiry, livemode, now.plus_ms(lasts_ms))
}

const TOKEN: &str = r#""card_7gb61roqRf6zB3Vh1CT5zSicO_Vyao4axCz2gnShIaM7XoFez9Su0GQnsGN5qIfhNPkx""#;

shown! {
    fn show_made_token(text: &str, token: &CardToken, expiry: Expiry, livemode: bool, expires_at: Timestamp), token_schema, 512 {
        plain "token" = text, schema::text().example(TOKEN);
        constant "object" = "card_token";
        plain "cardBrand" = token.brand.name(), schema::text().example("\"visa\"");
        plain "cardLast4" = format_args!("{:04}", token.last_four), schema::text().pattern("^[0-9]{4}$").example("\"1111\"");
        number "expMonth" = expiry.month, schema::integer().example("12");
        number "expYear" = expiry.year, schema::integer().example("2030");
        boolean "livemode" = livemode, values::livemode();
        plain "expiresAt" = expires_at, values::instant();
    }
}

/// A transfer that the buyer made, as they tell of it.
pub struct GotTransfer {
    pub debtor: Debtor,
    pub reference: String,
    pub date: Date,
    pub quote: Option<Quote>,
}

impl GotTransfer {
    pub fn means(&self) -> Means {
        Means::Transfer { debtor: self.debtor, date: self.date, reference: self.reference.clone() }
    }
}

/// A price as a page shows it: the rate that it is made of, and a keyed hash that says that it was
/// shown in this session.
pub struct Quote(String);

/// POST /checkout/:id/pago-movil
pub fn read_transfer(mut fields: Fields<'_>, banks: &Catalogue) -> Result<GotTransfer, Invalid> {
    const NO_PAGO_MOVIL: &str = "must be the number of a bank that offers Pago Móvil; see GET /v1/banks";
    let bank = bank_number(banks, Service::PagoMovil, NO_PAGO_MOVIL);
    let digits = kind(
        |value: Value<'_>| value.text_as(reference),
        || schema::text().pattern("^[0-9]{4,20}$").about("Its last digits, as the buyer sees them."),
    );
    Ok(read!(fields {
        got debtor = debtor_at(&mut fields, bank);
        required reference = "reference", digits;
        required date = "date", kinds::day();
        optional quote = "quote", quote();
    } => GotTransfer { debtor, reference, date, quote }))
}

fn quote<'a>() -> impl Kind<'a, Quote> {
    kind(|value: Value<'a>| value.string().map(|text| Quote(text.into_owned())), schema::text)
}

/// The last digits of a reference: 4 to 20. Zeros at their beginning may stand in the middle of the
/// bank's, so they are kept.
pub fn reference(text: &str) -> Result<String, &'static str> {
    let fits = (4..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { Ok(text.to_owned()) } else { Err("must have 4 to 20 digits") }
}

/// The days of transfers that can still pay, by the calendar of Caracas: the oldest and today.
pub fn transfer_days(now: Timestamp) -> (Date, Date) {
    let today = now.date_in(Zone::Caracas);
    (today.plus_days(-TRANSFER_DAYS_MAX), today)
}

impl Quote {
    pub fn of(mark: Mark<'_>, session: Id, rate: Rate) -> Quote {
        let figure = rate.0.normalize().to_string();
        let tag = hex::encode(mark(&[b"checkout quote", session.as_bytes(), figure.as_bytes()]));
        Quote(format!("{figure}~{tag}"))
    }

    pub fn sent(text: &str) -> Quote {
        Quote(text.to_owned())
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// The rate that it is of; `None` if it was never shown in this session.
    pub fn rate(&self, mark: Mark<'_>, session: Id) -> Option<Rate> {
        let (figure, _) = self.0.split_once('~')?;
        let rate = Rate(Decimal::from_str_exact(figure).ok()?);
        let right = Quote::of(mark, session, rate);
        // Hashes of both are compared, so the time that it takes says nothing.
        let hashed = |quote: &Quote| mark(&[b"compared", quote.0.as_bytes()]);
        (hashed(&right) == hashed(self)).then_some(rate)
    }
}

/// The rate of a Pago Móvil: that of the quote that the buyer was shown, or that of now.
pub fn agreed_rate(
    session: Id,
    quote: Option<&Quote>,
    mark: Mark<'_>,
    now: Option<Rate>,
) -> Result<Option<Rate>, Problem> {
    let Some(quote) = quote else { return Ok(now) };
    let rate = quote.rate(mark, session);
    rate.map(Some).ok_or_else(|| Problem::invalid_field("quote", "is not a quote of this session"))
}

/// Checks that a price is no higher than the quote that its buyer was shown: nobody is charged more than
/// a page said.
pub fn no_more_than(
    session: &Session,
    quote: Option<&Quote>,
    mark: Mark<'_>,
    now: Option<Rate>,
) -> Result<(), Problem> {
    let shown = agreed_rate(session.id, quote, mark, now)?;
    let total = |rate| Price::Usd(session.amount).at(rate).ok().map(|figured| figured.ves);
    match (now.and_then(total), shown.and_then(total)) {
        (Some(now), Some(shown)) if now > shown => Err(Problem::conflict(
            TOTAL_CHANGED,
            "the total in bolívares has risen since it was shown; nothing was charged: show the buyer the \
             new one",
        )),
        _ => Ok(()),
    }
}

/// The receiver of a Pago Móvil and its amount, as JSON.
pub fn show_receiver(
    session: &Session,
    receiver: &Receiver,
    bank: &str,
    rate: Rate,
    mark: Mark<'_>,
) -> Vec<u8> {
    let figured: Option<Figured> = Price::Usd(session.amount).at(rate).ok();
    show_to(receiver, bank, figured.map(|figured| figured.ves), Quote::of(mark, session.id, rate).text())
}

shown! {
    fn show_to(receiver: &Receiver, bank: &str, ves: Option<Ves>, quote: &str), receiver_schema, 512 {
        plain "bankCode" = receiver.bank, schema::text().pattern("^[0-9]{4}$");
        text "bankName" = bank, schema::text();
        plain "phone" = receiver.phone.clear(), values::phone();
        plain "identification" = receiver.id.clear(), values::identity();
        maybe plain "amountVes" = ves, values::ves();
        plain "quote" = quote, schema::text().about("Keeps this amount for this session: send it with the reference.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_of_its_session_and_its_rate() {
        let mark = |parts: &[&[u8]]| {
            let mut sum = [0u8; 16];
            for (at, byte) in parts.concat().into_iter().enumerate() {
                sum[at % 16] = sum[at % 16].wrapping_mul(31).wrapping_add(byte);
            }
            sum
        };
        let (session, other) = (Id::derived(1, 1, 0), Id::derived(1, 2, 0));
        let rate = Rate(Decimal::new(2_005_000, 4));
        let quote = Quote::of(&mark, session, rate);
        assert!(quote.text().starts_with("200.5~"));
        assert_eq!(quote.rate(&mark, session), Some(rate));
        assert_eq!(quote.rate(&mark, other), None);
        assert_eq!(Quote::sent(&quote.text().replace("200.5", "100.5")).rate(&mark, session), None);
        assert_eq!(Quote::sent("200.5").rate(&mark, session), None);
    }
}
