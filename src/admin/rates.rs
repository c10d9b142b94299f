//! Rates by an operator's hand: samples, and pins that hold one in force for a while
//! (`docs/contract.md, 14.2, 20.8`).

use super::call::{Call, CallResult, Done, Handler, approved, run};
use crate::gateway::beside;
use crate::gateway::services::{Prices, Services};
use crate::rates::{Item, PINNED_MS_MAX, Pair, Pin, PinPlace, RateStoreError, Sample, Series};
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, Kind, body, kind, read};
use api::openapi::{kinds, schema, values};
use api::problem::Problem;
use api::query::Query;
use api::shown;
use api::value::{Bad, Value};
use api::writer::Object;
use domain::platform::beside::Beside;
use domain::resources::rates::samples::{AHEAD_MS_MAX, NAME_CHARACTERS_MAX, name, price};
use domain::values::ids::Mode;
use domain::values::money::Rate;
use domain::values::time::Timestamp;
use rust_decimal::Decimal;
use std::cmp::Reverse;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

const REASON_CHARACTERS: RangeInclusive<usize> = 1..=500;

struct Asked {
    sample: Sample,
    pin: Option<(Timestamp, String)>,
}

chapter! { "Rates and banks", "What the server knows of the outside.", {
        "NewRate" = body(|fields| read(fields, Timestamp::EPOCH));
        "RatePin" = pin_schema();
        "RateSample" = sample_schema()
            .optional("pinnedUntil", instant().or_null())
            .optional("reason", schema::text().or_null());
    }
    RECORD = run!(record), "Enter a sample of a rate" => {
        command "rate add", "Enter a sample of a rate",
            "--pair USD/VES --source bcv --side OFFICIAL --price 231.0462";
        body "NewRate";
        example "the BCV's", r#"{"pair":"USD/VES","source":"bcv","side":"OFFICIAL","price":"210.00000000"}"#;
        example "one that no feed replaces",
            r#"{"pair":"USDT/VES","source":"p2p","side":"FLOOR","price":"245.00","pinnedUntil":"2026-11-21T18:00:00Z","reason":"the market is shut"}"#;
        waits;
        answers 201, "RateSample", "The sample";
        refuses 409, &["rate_pinned"];
    };
    LIST = run!(list), "List the newest sample of every rate" => {
        command "rate list", "List the newest sample of every rate, and what is pinned", "";
        about "One for each pair, source, side and method; where one is pinned, until when and why. After \
            them, the suspect ones that are the last word of their series.";
        answers_with 200, schema::object().member("items", schema::list(schema::named("RateSample"))),
            "By pair, source and side";
    };
    UNPIN = run!(unpin), "End the pin of a rate" => {
        command "rate unpin", "Unpin a rate; its feed sets it again",
            "--pair USDT/VES --source p2p --side FLOOR";
        about "The newest sample counts again. The price that was pinned is one too, until the feed's next.";
        query asked_place;
        waits;
        answers 200, "RatePin", "The pin as it was";
        refuses 404, &["not_found"];
    };
}

async fn record(call: Call) -> CallResult {
    let prices = &call.services.prices;
    let now = call.services.now();
    let Asked { sample, pin } = call.body.read(|body| read(Fields::parse(body)?, now))?;
    approved!(call.waits_for_approval());
    let place = PinPlace::of(&sample.series);
    let before = before(prices, &place, now);
    let Some((until, reason)) = pin else {
        if let Some(pin) = prices.board.pin_of(&place, now) {
            return Err(is_pinned(&pin));
        }
        let sample = prices.board.judge_by_hand(sample);
        beside::agree(&call.services, Beside::Sample(Arc::clone(&sample))).await?;
        keep(&call.services, Item::Sample(Arc::clone(&sample))).await?;
        // The sample is in the history, so the board may show it.
        let shown = show(&sample);
        prices.board.restore(Arc::unwrap_or_clone(sample));
        if let Some(before) = before {
            replaces(&call, &before);
        }
        return Ok(Done::created(shown));
    };
    let sample = Arc::new(sample);
    let who = call.who();
    let (operator_id, operator_name) = (who.shown_id(), who.name.to_string());
    let pin = Pin { sample, until, reason, operator_id, operator_name };
    // Pins come to the board in the order in which they come to the disk.
    let _pinning = prices.pinning.lock().await;
    let replaced = prices.board.pin_of(&place, now).map(|pin| show_pin(&pin)).or(before);
    beside::agree(&call.services, Beside::Pinned(Arc::new(pin.clone()))).await?;
    keep(&call.services, Item::Pin(Arc::new(pin.clone()))).await?;
    let shown =
        Object::reopened(show(&pin.sample)).plain("pinnedUntil", pin.until).text("reason", &pin.reason).end();
    prices.board.pin(pin);
    if let Some(replaced) = replaced {
        replaces(&call, &replaced);
    }
    Ok(Done::created(shown))
}

async fn keep(services: &Services, item: Item) -> Result<(), Problem> {
    if services.is_rehearsal() {
        return Ok(());
    }
    services.prices.history.keep(item).await.map_err(not_kept)
}

fn before(prices: &Prices, place: &PinPlace, now: Timestamp) -> Option<Vec<u8>> {
    let in_force = |mode| prices.board.latest_of(place.pair, |series| place.has(series), mode, now);
    let found = in_force(Mode::Live).or_else(|| in_force(Mode::Test))?;
    Some(show(&found.sample))
}

async fn list(call: Call) -> CallResult {
    let (board, now) = (&call.services.prices.board, call.services.now());
    let mut samples = board.all();
    samples.sort_by_cached_key(|sample| (sample.series.clone(), Reverse((sample.as_of, sample.fetched_at))));
    samples.dedup_by(|one, other| one.series == other.series);
    let suspect = board.suspect();
    let shown = samples.iter().chain(&suspect).map(|sample| {
        let Series { pair, source, side, method, .. } = &sample.series;
        let place = PinPlace { pair: *pair, source: source.clone(), side: side.clone() };
        // A pin that names no method stands for all of them.
        let is_for_it = |of: &Option<Arc<str>>| of.is_none() || of == method;
        let pin = board.pin_of(&place, now).filter(|pin| is_for_it(&pin.sample.series.method));
        let pin = pin.as_deref();
        Object::reopened(show(sample))
            .maybe_plain("pinnedUntil", pin.map(|pin| pin.until))
            .maybe_text("reason", pin.map(|pin| pin.reason.as_str()))
            .end()
    });
    Ok(Done::ok(Object::with_capacity(2048).list("items", shown).end()))
}

async fn unpin(call: Call) -> CallResult {
    let prices = &call.services.prices;
    let place = call.asked(asked_place)?;
    let pinned = || {
        let none = || Problem::refused(404, "not_found", "no rate of this pair, source and side is pinned");
        prices.board.pin_of(&place, call.services.now()).ok_or_else(none)
    };
    pinned()?;
    approved!(call.waits_for_approval());
    let _pinning = prices.pinning.lock().await;
    let pin = pinned()?;
    beside::agree(&call.services, Beside::Unpinned(place.clone())).await?;
    keep(&call.services, Item::Unpin(place.clone())).await?;
    prices.board.unpin(&place);
    let shown = show_pin(&pin);
    replaces(&call, &shown);
    call.signature.amend(|entry| entry.after = Some("null".to_owned()));
    Ok(Done::ok(shown))
}

fn replaces(call: &Call, shown: &[u8]) {
    call.signature.amend(|entry| entry.before = String::from_utf8(shown.to_vec()).ok());
}

fn not_kept(why: RateStoreError) -> Problem {
    match why {
        RateStoreError::Busy => Problem::overloaded(1),
        error => Problem::storage_unavailable().because(error),
    }
}

fn is_pinned(pin: &Pin) -> Problem {
    let until = pin.until;
    Problem::conflict(
        "rate_pinned",
        format!("the rate is pinned until {until}; end the pin, or pin another price"),
    )
}

fn read(mut fields: Fields<'_>, now: Timestamp) -> Result<Asked, Problem> {
    let pair = kind(
        |value: Value<'_>| value.text_as(Pair::parse),
        || schema::text().pattern("^[A-Za-z]{3,5}/[A-Za-z]{3,5}$"),
    );
    let day = kinds::instant().about("Now if missing. Of the BCV it is the value date: its day in Caracas.");
    let reason = kinds::prose(REASON_CHARACTERS).described(|_| {
        let text = schema::text().chars(REASON_CHARACTERS);
        text.about("Required with `pinnedUntil`, refused without.")
    });
    let (series, price, as_of, pin) = read!(fields {
        required pair = "pair", pair;
        required source = "source", known_name();
        optional side = "side", known_name();
        optional method = "method", known_name();
        optional payment_method = "paymentMethod", known_name();
        required price = "price", either_price();
        optional as_of = "asOf", day => as_of.unwrap_or(now);
        optional until = "pinnedUntil", end(now);
        optional reason = "reason", reason;
    } check {
        match (reason.peek(), fields.has("pinnedUntil")) {
            (Some(None), true) => fields.bad("reason", "is required with pinnedUntil"),
            (Some(Some(_)), false) => fields.bad("reason", "is for a price with pinnedUntil alone"),
            _ => {}
        }
    } => {
        let series = Series { pair, source, side, method, payment_method };
        (series, price, as_of, until.zip(reason.map(|reason| reason.into_owned())))
    });
    if !series.has_value_dates() && as_of.since_ms(now) > AHEAD_MS_MAX {
        return Err(Problem::invalid_field(
            "asOf",
            "must not lie ahead; only official rates of the dollar have days to come",
        ));
    }
    Ok(Asked { sample: Sample::new(series, price, as_of, now), pin })
}

fn known_name<'a>() -> impl Kind<'a, Arc<str>> {
    kind(|value: Value<'a>| value.text_as(name), || schema::text().chars(1..=NAME_CHARACTERS_MAX))
}

fn asked_place(mut query: Query<'_>) -> Result<PinPlace, Invalid> {
    let pair = kind(|value: Value<'_>| value.text_as(Pair::parse), schema::text);
    let side = kind(
        |value: Value<'_>| match &*value.string()? {
            "" => Ok(None),
            _ => value.text_as(name).map(Some),
        },
        || schema::text().chars(0..=NAME_CHARACTERS_MAX).about("Empty for a rate that has none."),
    );
    Ok(read!(query {
        required pair = "pair", pair;
        required source = "source", known_name();
        required side = "side", side;
    } => PinPlace { pair, source, side }))
}

fn end<'a>(now: Timestamp) -> impl Kind<'a, Timestamp> {
    let read = move |value: Value<'a>| {
        let until = Timestamp::from_unix_ms(value.timestamp()?.timestamp_millis());
        match until.since_ms(now) {
            1..=PINNED_MS_MAX => Ok(until),
            _ => Err(Bad::from("must lie ahead, 30 days at most")),
        }
    };
    kind(read, || {
        values::instant().about(
            "Ahead, 30 days at most. Until then no feed replaces the price of this pair, \
             source and side, and it does not age.",
        )
    })
}

fn either_price<'a>() -> impl Kind<'a, Rate> {
    kind(read_price, || {
        let decimal = schema::text().pattern(r"^[0-9]+(\.[0-9]{1,8})?$");
        schema::any_of([schema::number(), decimal])
            .about("At least 0.00005, at most 8 decimals; as a string or as a number, exact either way.")
    })
}

fn read_price(value: Value<'_>) -> Result<Rate, Bad> {
    let exact = match value.string() {
        Ok(text) if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
            Decimal::from_str_exact(&text).or_else(|_| Decimal::from_str(&text)).ok()
        }
        Ok(_) => None,
        Err(_) => Some(value.number().map_err(|_| "must be a price, as a string or a number")?),
    };
    exact
        .ok_or(Bad::from("must be a price, as a string or a number"))
        .and_then(|exact| price(exact).map_err(Bad::from))
}

shown! {
    fn show(sample: &Sample), sample_schema, 512 [ let series = &sample.series; ] {
        plain "pair" = series.pair, text();
        text "source" = &series.source, text();
        maybe text "side" = series.side.as_deref(), text();
        maybe text "method" = series.method.as_deref(), text();
        maybe text "paymentMethod" = series.payment_method.as_deref(), text();
        number "price" = sample.price.0.normalize(), number();
        plain "asOf" = sample.as_of, instant();
        plain "fetchedAt" = sample.fetched_at, instant();
        maybe plain "valueDate" = sample.value_date, text().format("date");
        boolean "suspect" = sample.suspect,
            boolean().about("It is too far from the last accepted one of its series, and decides nothing until three in a row say it for a quarter of an hour, or a pin does.");
    }
}

shown! {
    pub fn show_pin(pin: &Pin), pin_schema, 512 [ let Sample { series, price, .. } = &*pin.sample; ] {
        plain "pair" = series.pair, text();
        text "source" = &series.source, text();
        maybe text "side" = series.side.as_deref(), text();
        maybe text "method" = series.method.as_deref(), text();
        number "price" = price.0, number();
        plain "pinnedUntil" = pin.until, instant();
        text "reason" = &pin.reason, text();
        json "operator" = &Object::new().text("operatorId", &pin.operator_id).text("name", &pin.operator_name).end(),
            object().member("operatorId", text()).member("name", text());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_bytes(body: &[u8], now: Timestamp) -> Result<Asked, Problem> {
        read(Fields::parse(body)?, now)
    }

    #[test]
    fn a_price_is_a_string_or_a_number() {
        let now = Timestamp::from_unix_ms(1_795_226_000_000);
        let price = |text: &str| {
            let body = format!(r#"{{"pair":"usdt/ves","source":"p2p","side":"BUY","price":{text}}}"#);
            read_bytes(body.as_bytes(), now).map(|asked| asked.sample.price.0.to_string())
        };
        for (text, read) in
            [("\"210.00000000\"", "210"), ("210.5", "210.5"), ("2.1e2", "210"), ("\"0.00005\"", "0.00005")]
        {
            assert_eq!(price(text), Ok(read.to_owned()), "{text}");
        }
        for text in [
            "\"\"",
            "\"-1\"",
            "\"1e2\"",
            "\".\"",
            "0",
            "\"1.000000001\"",
            "\"0.00004999\"",
            "true",
            "[1]",
            "\"NaN\"",
            "\"1_000\"",
            "\"1000000000000\"",
        ] {
            let problem = price(text).expect_err(text);
            assert_eq!(problem.fields[0].field, "price", "{text}");
        }
    }

    #[test]
    fn only_official_rates_come_from_days_ahead() {
        let now = Timestamp::from_unix_ms(1_795_226_000_000);
        let recorded = |pair: &str, ahead_ms| {
            let body = format!(
                r#"{{"pair":"{pair}","source":"x","side":"OFFICIAL","price":"1","asOf":"{}"}}"#,
                now.plus_ms(ahead_ms)
            );
            read_bytes(body.as_bytes(), now).map_err(|problem| problem.fields[0].field.clone()).map(|_| ())
        };
        assert_eq!((recorded("USD/VES", 999_999_999), recorded("USDT/VES", AHEAD_MS_MAX)), (Ok(()), Ok(())));
        assert_eq!(recorded("USDT/VES", AHEAD_MS_MAX + 1), Err("asOf".to_owned()));
    }

    #[test]
    fn of_the_bcv_the_day_counts() {
        let now = Timestamp::from_unix_ms(1_795_226_000_000);
        let body = br#"{"pair":"USD/VES","source":"bcv","side":"OFFICIAL","price":"210.00000000","asOf":"2026-11-21T03:00:00Z"}"#;
        let shown: serde_json::Value =
            serde_json::from_slice(&show(&read_bytes(body, now).expect("sound").sample)).expect("JSON");
        assert_eq!(
            (shown["valueDate"].as_str(), shown["asOf"].as_str()),
            (Some("2026-11-20"), Some("2026-11-21T03:00:00.000Z"))
        );
        assert_eq!((shown["price"].to_string(), shown["method"].is_null()), ("210".to_owned(), true));
    }

    #[test]
    fn a_pin_has_an_end_ahead_and_a_reason() {
        let now = Timestamp::from_unix_ms(1_795_226_000_000);
        let bad = |members: &str| {
            let body = format!(r#"{{"pair":"USDT/VES","source":"p2p","side":"FLOOR","price":"1"{members}}}"#);
            match read_bytes(body.as_bytes(), now) {
                Ok(asked) => Ok(asked.pin),
                Err(problem) => Err(problem.fields.into_iter().map(|bad| bad.field).collect::<Vec<_>>()),
            }
        };
        let until = |ahead_ms| format!(r#","pinnedUntil":"{}""#, now.plus_ms(ahead_ms));
        let reason = r#","reason":" shut ""#;
        assert_eq!(bad(""), Ok(None));
        for ahead_ms in [1, PINNED_MS_MAX] {
            let pin = (now.plus_ms(ahead_ms), "shut".to_owned());
            assert_eq!(bad(&(until(ahead_ms) + reason)), Ok(Some(pin)));
        }
        for ahead_ms in [0, -1, PINNED_MS_MAX + 1] {
            assert_eq!(bad(&(until(ahead_ms) + reason)), Err(vec!["pinnedUntil".to_owned()]));
        }
        assert_eq!(bad(&until(1)), Err(vec!["reason".to_owned()]));
        assert_eq!(bad(&until(0)), Err(vec!["pinnedUntil".to_owned(), "reason".to_owned()]));
        assert_eq!(bad(reason), Err(vec!["reason".to_owned()]));
        let long = format!(r#"{},"reason":"{}""#, until(1), "x".repeat(501));
        assert_eq!(bad(&long), Err(vec!["reason".to_owned()]));
    }
}
