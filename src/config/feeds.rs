//! `[rates]`: where exchange rates come from.

use super::error::ValueError;
use super::keys::{Keys, choice, exact};
use super::values::url;
use crate::json_pointer::Pointer;
use domain::resources::rates::samples::{PRICE_DECIMALS, PRICE_MIN};
use hyper::header::{HeaderName, HeaderValue};
use rust_decimal::Decimal;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use toml::Table;

/// 0: a step has no bound.
const STEP: RangeInclusive<Decimal> = Decimal::ZERO..=Decimal::ONE_THOUSAND;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    pub max_age_seconds: u64,
    pub max_step_percent: Decimal,
    pub feeds: Vec<Feed>,
    pub bank: Option<Feed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feed {
    pub pair: String,
    pub source: String,
    pub side: Option<String>,
    pub method: Option<String>,
    pub kind: FeedKind,
    pub every_seconds: u64,
    pub max_step_percent: Option<Decimal>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedKind {
    Simulated {
        price: Decimal,
        /// The most that one step changes.
        step_percent: Decimal,
        seed: u64,
    },
    Fixed {
        price: Decimal,
    },
    Manual,
    Http(HttpFeed),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpFeed {
    pub url: String,
    pub http_method: &'static str,
    pub headers: Vec<(String, super::Secret)>,
    pub body: String,
    pub pointer: String,
    pub as_of_pointer: Option<String>,
    pub timeout_seconds: u64,
    pub hmac_key: Option<super::Secret>,
    pub hmac_message: String,
}

#[derive(Clone, Copy)]
enum Kind {
    Simulated,
    Fixed,
    Manual,
    Http,
}

const KINDS: [(&str, Kind); 4] =
    [("simulated", Kind::Simulated), ("fixed", Kind::Fixed), ("manual", Kind::Manual), ("http", Kind::Http)];

/// The feeds that are there unless others are named, and the presets.
static KNOWN: LazyLock<Table> = LazyLock::new(|| include_str!("feeds.toml").parse().unwrap_or_default());
/// What a feed with a preset may say itself.
const BESIDE_PRESET: [&str; 4] = ["url", "every_seconds", "timeout_seconds", "max_step_percent"];

impl Rates {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let max_age_seconds = keys.integer("max_age_seconds", 900, 1..=86_400 * 30);
        let max_step_percent = keys.percentage("max_step_percent", Decimal::from(25), STEP, 4);
        let sections = keys.sections("feeds").or_else(|| keys.sections_of("feeds", KNOWN["feeds"].clone()));
        let feeds: Vec<Feed> = sections.unwrap_or_default().into_iter().map(Feed::read).collect();
        let mut known = HashSet::new();
        for (index, feed) in feeds.iter().enumerate() {
            if !known.insert((&feed.pair, &feed.source, &feed.side, &feed.method)) {
                keys.bad(
                    &format!("feeds[{index}]"),
                    "the same pair, source, side and method are there twice",
                );
            }
        }
        let mut bank = keys.section("bank");
        let bank = if bank.is_given() {
            let source = bank.parsed("source", "bank".to_owned(), |text| match label(text) {
                // Payments are priced by that source.
                Ok(source) if source == "bcv" => Err("must be another name than bcv".into()),
                read => read,
            });
            let mut bank = Feed::read_members(bank, "USD/VES".to_owned(), source);
            // The side `OFFICIAL` makes it a rate with value dates.
            bank.side = Some("OFFICIAL".to_owned());
            Some(bank)
        } else {
            None
        };
        keys.done();
        Rates { max_age_seconds, max_step_percent, feeds, bank }
    }
}

impl Feed {
    fn read(mut keys: Keys<'_>) -> Self {
        if let Some(preset) = keys.optional("preset", preset) {
            keys.fill(preset, &BESIDE_PRESET);
        }
        let pair = keys.required("pair", pair);
        let source = keys.required("source", label);
        Self::read_members(keys, pair, source)
    }

    fn read_members(mut keys: Keys<'_>, pair: String, source: String) -> Self {
        let feed = Feed {
            pair,
            source,
            side: keys.optional("side", label),
            method: keys.optional("method", label),
            every_seconds: keys.integer("every_seconds", 60, 1..=86_400),
            max_step_percent: max_step_percent(&mut keys),
            kind: FeedKind::read(&mut keys),
        };
        keys.done();
        feed
    }
}

fn max_step_percent(keys: &mut Keys<'_>) -> Option<Decimal> {
    let is_given = keys.has("max_step_percent");
    let percent = keys.percentage("max_step_percent", Decimal::ZERO, STEP, 4);
    is_given.then_some(percent)
}

impl FeedKind {
    /// Made-up prices never price live mode.
    pub const fn is_made_up(&self) -> bool {
        matches!(self, FeedKind::Fixed { .. } | FeedKind::Simulated { .. })
    }

    fn read(keys: &mut Keys<'_>) -> Self {
        let kind = keys.required("kind", |text| choice(text, &KINDS).map(Some));
        match kind.unwrap_or(Kind::Manual) {
            Kind::Simulated => FeedKind::Simulated {
                price: keys.required("price", price),
                step_percent: keys.percentage(
                    "step_percent",
                    Decimal::new(5, 2),
                    Decimal::ZERO..=Decimal::TEN,
                    4,
                ),
                seed: keys.integer("seed", 1, 0..=i64::MAX as u64),
            },
            Kind::Fixed => FeedKind::Fixed { price: keys.required("price", price) },
            Kind::Manual => FeedKind::Manual,
            Kind::Http => FeedKind::Http(HttpFeed::read(keys)),
        }
    }
}

impl HttpFeed {
    fn read(keys: &mut Keys<'_>) -> Self {
        let headers: Vec<_> = keys
            .texts("headers")
            .into_iter()
            .map(|(name, value)| (name, super::Secret::new(value)))
            .collect();
        for (name, value) in &headers {
            // The value is not quoted: it may be a secret.
            if HeaderName::from_bytes(name.as_bytes()).is_err()
                || HeaderValue::from_str(value.expose()).is_err()
            {
                keys.bad(
                    &format!("headers.{name}"),
                    "must be the name of a header and a value of visible characters",
                );
            }
        }
        HttpFeed {
            url: keys.required("url", url),
            http_method: keys.one_of("http_method", "GET", &[("GET", "GET"), ("POST", "POST")]),
            headers,
            body: keys.text("body", ""),
            pointer: keys.required("pointer", pointer),
            as_of_pointer: keys.optional("as_of_pointer", pointer),
            timeout_seconds: keys.integer("timeout_seconds", 10, 1..=60),
            hmac_key: keys.optional("hmac_key", |text| Ok(super::Secret::new(text))),
            hmac_message: keys.text("hmac_message", ""),
        }
    }
}

fn preset(text: &str) -> Result<&'static Table, ValueError> {
    let presets = KNOWN["presets"].as_table();
    presets.and_then(|presets| presets.get(text)?.as_table()).ok_or_else(|| {
        let names: Vec<&str> = presets.into_iter().flat_map(Table::keys).map(String::as_str).collect();
        format!("must be one of {}", names.join(", ")).into()
    })
}

fn pointer(text: &str) -> Result<String, ValueError> {
    Pointer::parse(text).map(|_| text.to_owned()).map_err(ValueError::from)
}

fn price(text: &str) -> Result<Decimal, ValueError> {
    exact(text, &(PRICE_MIN..=Decimal::from(1_000_000_000_u64)), PRICE_DECIMALS)
}

fn pair(text: &str) -> Result<String, ValueError> {
    let is_code =
        |code: &str| (3..=5).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_uppercase());
    match text.split_once('/') {
        Some((base, quote)) if is_code(base) && is_code(quote) => Ok(text.to_owned()),
        _ => Err("must be a pair such as USDT/VES".into()),
    }
}

fn label(text: &str) -> Result<String, ValueError> {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=32).contains(&text.len()) && text.bytes().all(fine) {
        Ok(text.to_owned())
    } else {
        Err("must be 1 to 32 letters, digits, dashes or underscores".into())
    }
}
