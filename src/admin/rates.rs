//! Samples of rates that an operator enters.

use super::call::{Call, Done, Outcome};
use crate::rates::{Pair, RateStoreError, Sample, Series};
use api::fields::{Bad, Fields};
use api::problem::Problem;
use api::value::Value;
use api::writer::Object;
use domain::resources::rates::samples::{AHEAD_MS_MAX, name, price};
use domain::values::money::Rate;
use domain::values::time::Timestamp;
use rust_decimal::Decimal;
use std::str::FromStr;
use std::sync::Arc;

/// POST /admin/rates
pub async fn record(call: Call) -> Outcome {
    let services = &*call.services;
    let sample = Arc::new(call.body.read(|body| read(body, services.now()))?);
    if let Some(waiting) = call.waits_for_approval().await? {
        return Ok(waiting);
    }
    services.prices.history.keep(Arc::clone(&sample)).await.map_err(|why| match why {
        RateStoreError::Busy => Problem::overloaded(1),
        error => Problem::storage_unavailable().because(error),
    })?;
    // The sample is in the history, so the board may show it.
    let shown = show(&sample);
    services.prices.board.restore(Arc::unwrap_or_clone(sample));
    Ok(Done::created(shown))
}

fn read(body: &[u8], now: Timestamp) -> Result<Sample, Problem> {
    let mut fields = Fields::parse(body)?;
    let pair = fields.required("pair", |value| value.text_as(Pair::parse));
    let source = fields.required("source", |value| value.text_as(name));
    let side = fields.optional("side", |value| value.text_as(name));
    let method = fields.optional("method", |value| value.text_as(name));
    let payment_method = fields.optional("paymentMethod", |value| value.text_as(name));
    let price = fields.required("price", read_price);
    let as_of =
        fields.optional("asOf", |value| Ok(Timestamp::from_unix_ms(value.timestamp()?.timestamp_millis())));
    let sound = fields.finish()?;
    let series = Series {
        pair: pair.get(&sound),
        source: source.get(&sound),
        side: side.get(&sound),
        method: method.get(&sound),
        payment_method: payment_method.get(&sound),
    };
    let as_of = as_of.get(&sound).unwrap_or(now);
    if !series.has_value_dates() && as_of.since_ms(now) > AHEAD_MS_MAX {
        return Err(Problem::invalid_field(
            "asOf",
            "must not lie ahead; only official rates of the dollar have days to come",
        ));
    }
    Ok(Sample::new(series, price.get(&sound), as_of, now))
}

/// A price as a string or as a number: both are exact.
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

fn show(sample: &Sample) -> Vec<u8> {
    let series = &sample.series;
    Object::new()
        .plain("pair", series.pair)
        .text("source", &series.source)
        .maybe_text("side", series.side.as_deref())
        .maybe_text("method", series.method.as_deref())
        .maybe_text("paymentMethod", series.payment_method.as_deref())
        .number("price", sample.price.0)
        .plain("asOf", sample.as_of)
        .plain("fetchedAt", sample.fetched_at)
        .maybe_plain("valueDate", sample.value_date)
        .end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_a_string_or_a_number() {
        let now = Timestamp::from_unix_ms(1_795_226_000_000);
        let price = |text: &str| {
            read(
                format!(r#"{{"pair":"usdt/ves","source":"p2p","side":"BUY","price":{text}}}"#).as_bytes(),
                now,
            )
            .map(|sample| sample.price.0.to_string())
        };
        for (text, read) in [
            ("\"210.00000000\"", "210"),
            ("210.5", "210.5"),
            ("2.1e2", "210"),
            ("\"0.00000001\"", "0.00000001"),
        ] {
            assert_eq!(price(text), Ok(read.to_owned()), "{text}");
        }
        for text in [
            "\"\"",
            "\"-1\"",
            "\"1e2\"",
            "\".\"",
            "0",
            "\"1.000000001\"",
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
            read(body.as_bytes(), now).map_err(|problem| problem.fields[0].field.clone()).map(|_| ())
        };
        assert_eq!((recorded("USD/VES", 999_999_999), recorded("USDT/VES", AHEAD_MS_MAX)), (Ok(()), Ok(())));
        assert_eq!(recorded("USDT/VES", AHEAD_MS_MAX + 1), Err("asOf".to_owned()));
    }

    #[test]
    fn of_the_bcv_the_day_counts() {
        let now = Timestamp::from_unix_ms(1_795_226_000_000);
        let body = br#"{"pair":"USD/VES","source":"bcv","side":"OFFICIAL","price":"210.00000000","asOf":"2026-11-21T03:00:00Z"}"#;
        let shown: serde_json::Value =
            serde_json::from_slice(&show(&read(body, now).expect("sound"))).expect("JSON");
        assert_eq!(
            (shown["valueDate"].as_str(), shown["asOf"].as_str()),
            (Some("2026-11-20"), Some("2026-11-21T03:00:00.000Z"))
        );
        assert_eq!((shown["price"].to_string(), shown["method"].is_null()), ("210".to_owned(), true));
    }
}
