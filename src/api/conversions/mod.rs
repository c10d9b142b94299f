//! Conversions: quotes, accepting and ending them, reading and listing, and what of the settings a
//! tenant may change (`docs/contract.md, 9`).
//!
//! The forms of calls and answers belong here; the rules and the prices are in
//! `src/domain/resources/conversions/`.

use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, chapter, run, shown};
use crate::fields::{Fields, Got, Invalid, Kind, body, gather, kind, read};
use crate::lists::{List, Span};
use crate::openapi::{kinds, schema, values};
use crate::problem::Problem;
use crate::query::Query;
use crate::refusals::invalid_amount;
use crate::respond::Reply;
use crate::tenants::settings::{enabled, show_limit, show_spread, spread_schema};
use crate::value::{self, Value};
use domain::entities::conversion::{Accepted, Conversion, End, Price, Source, Stage, Status, facet};
use domain::entities::{Entity, OfKind};
use domain::platform::settings::Settings;
use domain::resources::conversions::price::Amount;
use domain::resources::conversions::{self, Decision, NewQuote};
use domain::values::ids::{self, EntityId, Id};
use domain::values::money::{Currency, Usdt, Ves};
use domain::values::time::Timestamp;
use std::borrow::Cow;

const REFERENCE_MAX: usize = 128;
const REASON_MAX: usize = 200;
/// The reason of a conversion that is not fulfilled, when the operator gives none.
const NOT_FULFILLED: &str = "not_fulfilled";
/// The source of the rates, as the API names it.
const RATE_SOURCE: &str = "market";

const SOURCES: [(&str, Source); 2] = [("VES", Source::Ves), ("COP", Source::Cop)];

chapter! { "Conversions", "From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; \
    accepting it debits at once. Held money can be converted too, and the USDT is held as long.", {
        "NewConversionQuote" = body(read_quote);
        "ConversionQuote" = quote_schema()
            .example(r#"{"id":"01975a2e-7c00-7000-8000-0000000000e0","object":"conversion_quote",
                "rate":"248.6750","marketRate":"245.0000","spreadPercent":"1.5000",
                "rateSource":"market","sourceCurrency":"VES","sourceAmount":"1000.00",
                "sourceAmountVes":"1000.00","targetAmountUsdt":"4.02","livemode":false,
                "expiresAt":"2026-11-21T02:14:00.000Z","createdAt":"2026-11-21T02:13:00.000Z"}"#);
        "NewConversion" = body(read_acceptance);
        "Conversion" = schema().example(r#"{"id":"01975a2e-7c00-7000-8000-0000000000e0","object":"conversion",
                "status":"COMPLETED","reference":"treasury-7","rate":"248.6750",
                "marketRate":"245.0000","spreadPercent":"1.5000","rateSource":"market",
                "sourceCurrency":"VES","sourceAmount":"1000.00","sourceAmountVes":"1000.00",
                "targetAmountUsdt":"4.02","origin":null,"paymentId":null,"livemode":false,
                "createdAt":"2026-11-21T02:13:20.000Z","completedAt":"2026-11-21T02:13:20.000Z",
                "canceledAt":null,"cancelReason":null}"#);
        "ConversionPage" = page("Conversion");
        "ConversionSettings" = settings_schema()
            .example(r#"{"autoConvert":{"COP":{"percent":0}},"enabledCurrencies":["VES","COP"],
                "spreadPercent":{"VES":"1.5000","COP":"2.0000"},"minimumUsdt":"1.00",
                "dailyLimit":{"VES":null,"COP":null}}"#);
        "ConversionSettingsChange" = body(read_settings);
        event "conversion.created" = "A quote was accepted, or a conversion began by itself",
            named("Conversion");
        event "conversion.completed" = "The USDT is there", named("Conversion");
        event "conversion.canceled" = "A conversion was canceled, or could not be fulfilled",
            named("Conversion");
    }
    QUOTE = run!(quote), "Ask for a price" => {
        about "Exactly one amount: what is spent, or the USDT to receive. USDT is rounded down to the cent, \
            bolívares up to the cent, pesos up to the peso.";
        body "NewConversionQuote";
        example "1000 VES", r#"{"sourceAmountVes":"1000.00"}"#;
        example "10 USDT for bolívares", r#"{"targetAmountUsdt":"10.00"}"#;
        example "100000 pesos", r#"{"sourceCurrency":"COP","sourceAmount":"100000"}"#;
        answers 201, "ConversionQuote", "The price";
        refuses 400, &["invalid_amount"];
        refuses 403, &["conversions_not_enabled"];
        refuses 422, &["amount_below_minimum"];
        refuses 503, &["rate_unavailable"];
    } shows quoted;
    ACCEPT = run!(accept), "Accept a quote" => {
        about "Always send an Idempotency-Key: the same key answers the same conversion. One conversion \
            takes from at most 20,000 holds; `spendableVes` and `spendableCop` say what that comes to.";
        body "NewConversion";
        example "with a reference",
            r#"{"quoteId":"01975a2e-7c00-7000-8000-0000000000e0","reference":"treasury-7"}"#;
        answers 201, "Conversion", "The conversion, completed or pending";
        takes_out;
        refuses 403, &["conversions_not_enabled"];
        refuses 404, &["not_found"];
        refuses 409, &["quote_used"];
        refuses 410, &["quote_expired"];
        refuses 422, &["insufficient_balance", "amount_below_minimum", "daily_limit_exceeded"];
    } shows accepted;
    CANCEL = run!(end_by, Decision::Cancel), "Cancel a pending conversion" => {
        about "What it took is back at once, and held where it was held.";
        answers 200, "Conversion", "The conversion, canceled";
        refuses 409, &["conversion_not_cancelable"];
    } shows ended;
    FULFIL = run!(end_by, Decision::Fulfil), "Fulfil a pending conversion" => {
        answers 200, "Conversion", "The conversion, completed";
        refuses 409, &["conversion_not_pending", "conversion_not_cancelable"];
    } shows ended;
    REJECT = run!(reject), "Let a pending conversion fail" => {
        body_optional "Rejection";
        example "why", r#"{"reason":"no_liquidity"}"#;
        answers 200, "Conversion", "The conversion, canceled";
        refuses 409, &["conversion_not_pending", "conversion_not_cancelable"];
    } shows ended;
    READ = run!(read), "Read a conversion" => { answers 200, "Conversion", "The conversion"; };
    LIST = run!(list), "List conversions" => {
        filters filters;
        answers 200, "ConversionPage", "Newest first";
    };
    SETTINGS = run!(|cx| Ok(Reply::json(200, show_settings(&cx.caller.tenant.tenant_settings.settings)))),
        "Read the settings of conversions" => {
        answers 200, "ConversionSettings", "The settings";
    };
    SET = run!(set), "Convert pesos automatically" => {
        about "The percentage of the net of each COP payment that is converted on completion. The other \
            settings are the operator's.";
        body "ConversionSettingsChange";
        example "half", r#"{"autoConvert":{"COP":{"percent":50}}}"#;
        answers 200, "ConversionSettings", "The settings as they are now";
        refuses 403, &["mandate_exceeded"];
    };
}

async fn quote(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (source, amount) = read_quote(Fields::parse(&cx.body)?)?;
    let id = cx.env.new_id();
    let new = NewQuote { id, source, amount, market: cx.env.market_rate(source.currency()) };
    cx.make(EntityId::conversion(id), conversions::Command::Quote(Box::new(new))).await
}

/// Reads what is to be converted. A bad amount has a code of its own, which comes after all other bad
/// fields.
fn read_quote(mut fields: Fields<'_>) -> Result<(Source, Amount), Problem> {
    let asked = read!(fields {
        optional source = "sourceCurrency", kinds::one_of(SOURCES).default("\"VES\"") => source.unwrap_or(Source::Ves);
        optional ves = "sourceAmountVes", cents().about("Bolívares to spend.");
        optional pesos = "sourceAmount", whole_pesos();
        optional usdt = "targetAmountUsdt", cents().about("USDT to receive.");
    } => (source, ves, pesos, usdt));
    match asked {
        (source @ Source::Ves, Some(Some(minor)), None, None)
        | (source @ Source::Cop, None, Some(Some(minor)), None) => Ok((source, Amount::Source(minor))),
        (source, None, None, Some(Some(cents))) => Ok((source, Amount::Target(Usdt::from_minor(cents)))),
        _ => Err(invalid_amount()),
    }
}

/// An amount with at most two decimals; `None` for a bad one.
fn cents<'a>() -> impl Kind<'a, Option<i64>> {
    kind(
        |value: Value<'a>| Ok(value.positive_cents().ok()),
        || schema::text().pattern(r"^(0|[1-9][0-9]{0,11})(\.[0-9]{1,2})?$"),
    )
}

/// Positive whole pesos, in a string or as a number; `None` for a bad amount.
fn whole_pesos<'a>() -> impl Kind<'a, Option<i64>> {
    let read = |value: Value<'a>| {
        let range = 1..=Currency::Cop.amount_minor_max();
        Ok(match value.string() {
            Ok(text) => value::whole(&text).filter(|pesos| range.contains(pesos)),
            Err(_) => value.integer(range).ok(),
        })
    };
    kind(read, || {
        let either = schema::any_of([values::pesos(), schema::integer().at_least("1")]);
        either.about("Whole pesos to spend.")
    })
}

async fn accept(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (quote, reference) = read_acceptance(Fields::parse(&cx.body)?)?;
    cx.ask(EntityId::conversion(quote), conversions::Command::Accept(reference)).await
}

fn read_acceptance(mut fields: Fields<'_>) -> Result<(Id, Option<String>), Invalid> {
    let (quote, reference) = read!(fields {
        required quote = "quoteId", kinds::id();
        optional reference = "reference", kinds::trimmed(0..=REFERENCE_MAX);
    } => (quote, reference));
    Ok((quote, reference.filter(|reference| !reference.is_empty()).map(Cow::into_owned)))
}

async fn end(cx: &mut Context<'_>, decision: Decision) -> Result<Reply, Problem> {
    let id = EntityId::conversion(cx.id("id")?);
    cx.ask(id, conversions::Command::End(decision)).await
}

/// Ends a conversion by a call that takes no body.
async fn end_by(cx: &mut Context<'_>, decision: Decision) -> Result<Reply, Problem> {
    cx.no_body()?;
    end(cx, decision).await
}

async fn reject(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let reason = read_reason(Fields::parse_optional(&cx.body)?)?;
    end(cx, Decision::Reject(reason.unwrap_or_else(|| NOT_FULFILLED.to_owned()))).await
}

pub fn read_reason(mut fields: Fields<'_>) -> Result<Option<String>, Invalid> {
    Ok(
        read!(fields { optional reason = "reason", kinds::prose(1..=REASON_MAX); } => reason.map(Cow::into_owned)),
    )
}

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.read(|records| {
        let found = records.entity(EntityId::conversion(id))?;
        let shown = found.as_deref().and_then(Conversion::of).and_then(show);
        Ok(shown.ok_or_else(Problem::not_found)?)
    })
}

pub fn filters(query: &mut Query<'_>) -> Got<List> {
    gather!(query {
        optional status = "status", kinds::named_one(Status::ALL, Status::name);
        optional source = "sourceCurrency", kinds::one_of(SOURCES);
        got span = Span::read(query);
    } => {
        let mut parts = Vec::new();
        for each in Source::ALL.into_iter().filter(|each| source.is_none_or(|source| source == *each)) {
            let statuses = Status::ALL.into_iter().filter(|each| status.is_none_or(|status| status == *each));
            parts.extend(statuses.map(|status| (ids::Kind::Conversion, facet(each, status))));
        }
        List::by_time(parts, span, Box::new(|_| true))
    })
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (list, page) = cx.listed("conversions", filters)?;
    cx.list(list, page, show_entity).await
}

pub fn show_entity(entity: &Entity) -> Option<Vec<u8>> {
    Conversion::of(entity).and_then(show)
}

/// A quote, as an answer; `None` of a conversion.
fn quoted(facts: &Facts<'_>) -> Option<Rendered> {
    let quote: &Conversion = facts.the()?;
    let Stage::Quoted { price, expires_at } = &quote.stage else { return None };
    Some((201, show_quote(quote, price, *expires_at)))
}

/// What all bolívares, pesos and rates of a price are shown by.
fn source_amount(conversion: &Conversion, price: &Price) -> String {
    value::shown_amount(conversion.source.currency(), price.source_minor)
}

fn ves_amount(conversion: &Conversion, price: &Price) -> Option<Ves> {
    (conversion.source == Source::Ves).then(|| Ves::from_minor(price.source_minor))
}

shown! {
    fn show_quote(quote: &Conversion, price: &Price, expires_at: Timestamp), quote_schema, 512 {
        plain "id" = quote.id, values::uuid();
        constant "object" = "conversion_quote";
        plain "rate" = price.rate.0, values::four_decimals().about("What one USDT costs you, the spread included.");
        plain "marketRate" = price.market.0, values::four_decimals();
        plain "spreadPercent" = price.spread_percent.0, values::four_decimals();
        plain "rateSource" = RATE_SOURCE, schema::one_of([RATE_SOURCE]);
        plain "sourceCurrency" = quote.source.currency().code(), schema::one_of(SOURCES.map(|(name, _)| name));
        plain "sourceAmount" = source_amount(quote, price),
            schema::any_of([values::ves(), values::pesos()]).about("In the decimals of its currency.");
        maybe plain "sourceAmountVes" = ves_amount(quote, price), values::ves().about("Null of pesos.");
        plain "targetAmountUsdt" = price.target, values::ves();
        boolean "livemode" = quote.livemode, values::livemode();
        plain "expiresAt" = expires_at, values::instant();
        plain "createdAt" = quote.created_at, values::instant();
    }
}

fn accepted(facts: &Facts<'_>) -> Option<Rendered> {
    Some((201, show(facts.the()?)?))
}

pub fn ended(facts: &Facts<'_>) -> Option<Rendered> {
    Some((200, show(facts.the()?)?))
}

/// A conversion, as JSON; `None` for a quote that was not accepted.
pub fn show(conversion: &Conversion) -> Option<Vec<u8>> {
    conversion.accepted().map(|accepted| show_accepted(conversion, accepted, &accepted.price))
}

shown! {
    fn show_accepted(conversion: &Conversion, accepted: &Accepted, price: &Price), schema, 768 {
        plain "id" = conversion.id, values::uuid();
        constant "object" = "conversion";
        plain "status" = accepted.status().name(), schema::one_of(Status::ALL.map(Status::name));
        maybe text "reference" = conversion.reference.as_deref(), schema::text().chars(1..=REFERENCE_MAX);
        plain "rate" = price.rate.0, values::four_decimals().about("What one USDT costs you, the spread included.");
        plain "marketRate" = price.market.0, values::four_decimals();
        plain "spreadPercent" = price.spread_percent.0, values::four_decimals();
        plain "rateSource" = RATE_SOURCE, schema::one_of([RATE_SOURCE]);
        plain "sourceCurrency" = conversion.source.currency().code(), schema::one_of(SOURCES.map(|(name, _)| name));
        plain "sourceAmount" = source_amount(conversion, price),
            schema::any_of([values::ves(), values::pesos()]).about("In the decimals of its currency.");
        maybe plain "sourceAmountVes" = ves_amount(conversion, price), values::ves().about("Null of pesos.");
        plain "targetAmountUsdt" = price.target, values::ves();
        maybe plain "origin" = conversion.payment.map(|_| "auto"),
            schema::one_of(["auto"]).about("`auto` when a COP payment was converted by itself.");
        maybe plain "paymentId" = conversion.payment, values::uuid().about("That payment.");
        boolean "livemode" = conversion.livemode, values::livemode();
        plain "createdAt" = conversion.created_at, values::instant();
        maybe plain "completedAt" = if let End::Completed { at } = &accepted.end { Some(at) } else { None },
            values::instant();
        maybe plain "canceledAt" = if let End::Canceled { at, .. } = &accepted.end { Some(at) } else { None },
            values::instant();
        maybe text "cancelReason" = if let End::Canceled { reason, .. } = &accepted.end { Some(reason) } else { None },
            schema::text().about("`canceled_by_tenant`, or why it could not be fulfilled.");
    }
}

async fn set(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let percent = read_settings(Fields::parse(&cx.body)?)?;
    cx.server()?.set_auto_convert(percent).await
}

fn read_settings(mut fields: Fields<'_>) -> Result<u8, Invalid> {
    let of_cop = |mut fields: Fields<'_>| {
        Ok(read!(fields { required percent = "percent", kinds::integer(0..=100); } => percent))
    };
    let automatic =
        |mut fields: Fields<'_>| Ok(read!(fields { required cop = "COP", kinds::object(of_cop); } => cop));
    fields.changes();
    let percent: i64 =
        read!(fields { required percent = "autoConvert", kinds::object(automatic); } => percent);
    Ok(u8::try_from(percent).unwrap_or(0))
}

shown! {
    pub fn show_settings(settings: &Settings), settings_schema, 512 {
        json "autoConvert" = format!(r#"{{"COP":{{"percent":{}}}}}"#, settings.conversions.auto_cop_percent),
            schema::object().member("COP", schema::object().member("percent", schema::integer().range("0", "100")));
        list "enabledCurrencies" = enabled(&settings.conversions), schema::list(schema::one_of(SOURCES.map(|(name, _)| name)));
        json "spreadPercent" = show_spread(&settings.conversions.spread_percent), spread_schema();
        plain "minimumUsdt" = settings.conversions.minimum, values::ves();
        json "dailyLimit" = show_limit(&settings.conversions.daily_limit), per_source(values::ves().or_null(), values::pesos().or_null());
    }
}

fn per_source(ves: schema::Schema, cop: schema::Schema) -> schema::Schema {
    schema::object().member("VES", ves).member("COP", cop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(json: &str, read: impl Fn(Value<'_>) -> Option<T>) -> Option<T> {
        let body = format!("{{\"a\":{json}}}");
        let mut fields = Fields::parse(body.as_bytes()).expect("JSON");
        let got = fields.required("a", kind(|value| Ok(read(value)), schema::anything));
        got.get(&fields.finish().expect("sound"))
    }

    #[test]
    fn amounts_have_at_most_the_decimals_of_their_currency() {
        for (json, minor) in [
            ("\"100\"", 10_000),
            ("\"100.5\"", 10_050),
            ("\"100.05\"", 10_005),
            ("\"0.01\"", 1),
            ("\"999999999999.99\"", 99_999_999_999_999),
        ] {
            assert_eq!(read(json, |value| value.positive_cents().ok()), Some(minor), "{json}");
        }
        for json in [
            "\"0\"",
            "\"0.00\"",
            "\"-1.00\"",
            "\"1.001\"",
            "\"1.\"",
            "\".5\"",
            "\"01\"",
            "\"1e2\"",
            "\"\"",
            "\" 1\"",
            "100",
            "true",
            "\"1000000000000.00\"",
        ] {
            assert_eq!(read(json, |value| value.positive_cents().ok()), None, "{json}");
        }
        for (json, pesos) in
            [("\"100000\"", 100_000), ("100000", 100_000), ("\"999999999999\"", 999_999_999_999)]
        {
            assert_eq!(read(json, |value| whole_pesos().read(value).ok().flatten()), Some(pesos), "{json}");
        }
        for json in [
            "\"0\"",
            "\"1000000000000\"",
            "1000000000000",
            "\"1.5\"",
            "\"1.00\"",
            "\"-1\"",
            "\"01\"",
            "1.5",
            "0",
            "-1",
            "\"abc\"",
            "true",
        ] {
            assert_eq!(read(json, |value| whole_pesos().read(value).ok().flatten()), None, "{json}");
        }
    }
}
