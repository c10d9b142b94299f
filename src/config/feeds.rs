//! `[rates]`: where exchange rates come from.

use super::error::ValueError;
use super::keys::{Keys, choice, exact};
use super::values::{text_if, url};
use crate::json_pointer::Pointer;
use crate::rates::{FeedKind, FeedSpec, HttpCall, Pair, Series, Steps};
use domain::resources::rates::samples::{PRICE_DECIMALS, PRICE_MIN};
use domain::values::money::Rate;
use hyper::header::{HeaderName, HeaderValue};
use rust_decimal::Decimal;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use std::time::Duration;
use toml::Table;
use zeroize::Zeroizing;

/// 0: a step has no bound.
const STEP: RangeInclusive<Decimal> = Decimal::ZERO..=Decimal::ONE_THOUSAND;

#[derive(Clone, Debug)]
pub struct Rates {
    pub max_age_seconds: i64,
    pub steps: Steps,
    pub feeds: Vec<FeedSpec>,
    pub bank: Option<FeedSpec>,
}

const KINDS: [(&str, &str); 4] =
    [("simulated", "simulated"), ("fixed", "fixed"), ("manual", "manual"), ("http", "http")];

/// The feeds that are there unless others are named, and the presets.
static KNOWN: LazyLock<Table> = LazyLock::new(|| include_str!("feeds.toml").parse().unwrap_or_default());

const BESIDE_PRESET: [&str; 4] = ["url", "every_seconds", "timeout_seconds", "max_step_percent"];

impl Rates {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let max_age_seconds = keys.integer("max_age_seconds", 900, 1..=86_400 * 30);
        let default = keys.percentage("max_step_percent", Decimal::from(25), STEP, 4);
        let mut steps = Steps { default, own: Vec::new() };
        let sections = keys.sections("feeds").or_else(|| keys.sections_of("feeds", KNOWN["feeds"].clone()));
        let (mut feeds, mut known) = (Vec::new(), HashSet::new());
        for (index, mut section) in sections.unwrap_or_default().into_iter().enumerate() {
            if let Some(preset) = section.optional("preset", preset) {
                section.fill(preset, &BESIDE_PRESET);
            }
            let pair = section.required("pair", pair).unwrap_or(Pair::USD_VES);
            let source = section.required("source", label);
            let feed = feed(section, Series::of(pair, &source), &mut steps);
            if !known.insert(feed.series.clone()) {
                keys.bad(
                    &format!("feeds[{index}]"),
                    "the same pair, source, side and method are there twice",
                );
            }
            feeds.push(feed);
        }
        let mut bank = keys.section("bank");
        let bank = bank.is_given().then(|| {
            let source = bank.parsed("source", "bank".to_owned(), |text| match label(text) {
                // Payments are priced by that source.
                Ok(source) if source == "bcv" => Err("must be another name than bcv".into()),
                read => read,
            });
            // The side `OFFICIAL` makes it a rate with value dates.
            bank.optional("side", label);
            feed(bank, Series::of(Pair::USD_VES, &source).side("OFFICIAL"), &mut steps)
        });
        keys.done();
        Rates { max_age_seconds, steps, feeds, bank }
    }
}

fn feed(mut keys: Keys<'_>, mut series: Series, steps: &mut Steps) -> FeedSpec {
    series.side = keys.optional("side", label).map(Into::into).or(series.side);
    series.method = keys.optional("method", label).map(Into::into);
    let is_given = keys.has("max_step_percent");
    let step = keys.percentage("max_step_percent", Decimal::ZERO, STEP, 4);
    if is_given {
        steps.own.push((series.clone(), step));
    }
    let every = Duration::from_secs(keys.integer("every_seconds", 60, 1..=86_400));
    let kind = match keys.required("kind", |text| choice(text, &KINDS)) {
        "simulated" => FeedKind::Simulated {
            price: Rate(keys.required("price", price)),
            step_percent: Rate(keys.percentage(
                "step_percent",
                Decimal::new(5, 2),
                Decimal::ZERO..=Decimal::TEN,
                4,
            )),
            seed: keys.integer("seed", 1, 0..=i64::MAX as u64),
        },
        "fixed" => FeedKind::Fixed { price: Rate(keys.required("price", price)) },
        "http" => FeedKind::Http(call(&mut keys)),
        _ => FeedKind::Manual,
    };
    keys.done();
    FeedSpec { series, kind, every }
}

fn call(keys: &mut Keys<'_>) -> HttpCall {
    let headers = keys.texts("headers");
    for (name, value) in &headers {
        // The value is not quoted: it may be a secret.
        if HeaderName::from_bytes(name.as_bytes()).is_err() || HeaderValue::from_str(value).is_err() {
            keys.bad(
                &format!("headers.{name}"),
                "must be the name of a header and a value of visible characters",
            );
        }
    }
    let (key, message) = (keys.text("hmac_key", ""), keys.text("hmac_message", ""));
    HttpCall {
        url: keys.required("url", url),
        is_post: keys.one_of("http_method", false, &[("GET", false), ("POST", true)]),
        headers: headers.into_iter().map(|(name, value)| (name, Zeroizing::new(value))).collect(),
        body: keys.text("body", ""),
        price: keys.required("pointer", pointer),
        as_of: keys.optional("as_of_pointer", pointer),
        timeout: Duration::from_secs(keys.integer("timeout_seconds", 10, 1..=60)),
        signature: (!key.is_empty()).then_some((Zeroizing::new(key), message)),
    }
}

fn preset(text: &str) -> Result<&'static Table, ValueError> {
    let presets = KNOWN["presets"].as_table();
    presets.and_then(|presets| presets.get(text)?.as_table()).ok_or_else(|| {
        let names: Vec<&str> = presets.into_iter().flat_map(Table::keys).map(String::as_str).collect();
        format!("must be one of {}", names.join(", ")).into()
    })
}

fn pointer(text: &str) -> Result<Pointer, ValueError> {
    Pointer::parse(text).map_err(ValueError::from)
}

fn price(text: &str) -> Result<Decimal, ValueError> {
    exact(text, &(PRICE_MIN..=Decimal::from(1_000_000_000_u64)), PRICE_DECIMALS)
}

fn pair(text: &str) -> Result<Option<Pair>, ValueError> {
    match Pair::parse(text) {
        Ok(pair) if pair.as_str() == text => Ok(Some(pair)),
        _ => Err("must be a pair such as USDT/VES".into()),
    }
}

fn label(text: &str) -> Result<String, ValueError> {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let fits = (1..=32).contains(&text.len()) && text.bytes().all(fine);
    text_if(fits, text, "must be 1 to 32 letters, digits, dashes or underscores")
}
