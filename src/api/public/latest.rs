//! The latest rate of a pair.

use super::CHAPTER;
use super::{Handler, PublicCall, fresh};
use crate::endpoint::{endpoints, shown};
use crate::fields::{Invalid, Kind, kind, read};
use crate::openapi::{schema, values};
use crate::problem::Problem;
use crate::query::Query;
use crate::value::Value;
use domain::resources::rates::samples::{Filter, Pair, Sample};
use std::borrow::Cow;

pub(super) const SIDES: &str = "`BUY`, `SELL`, `FLOOR` or `OFFICIAL`.";

endpoints! { CHAPTER;
    READ = read, "The latest rate of a pair" => {
        query asked;
        answers 200, "Rate", "The freshest sample";
        refuses 400, &["invalid_data"];
        refuses 404, &["not_found"];
        with fresh;
    };
}

fn read(call: &PublicCall<'_>) -> Result<Vec<u8>, Problem> {
    let Asked { pair, source, method, side } = call.asked(asked)?;
    let filter = Filter { source: source.as_deref(), side: side.as_deref(), method: method.as_deref() };
    let sample = (call.latest)(pair.unwrap_or(Pair::USDT_VES), filter).ok_or_else(no_rate)?;
    Ok(show(&sample))
}

struct Asked {
    pair: Option<Pair>,
    source: Option<String>,
    method: Option<String>,
    side: Option<String>,
}

fn asked(mut query: Query<'_>) -> Result<Asked, Invalid> {
    let market =
        name().about("`p2p`, the market, or `bcv`, the official one. Without it the freshest of all.");
    Ok(read!(query {
        optional pair = "pair", pair();
        optional source = "source", market;
        optional method = "method", name().about("`p2p_floor` selects the floor of the market.");
        optional side = "side", name().about(SIDES);
    } => Asked { pair, source, method, side }))
}

pub(super) fn pair<'a>() -> impl Kind<'a, Pair> {
    kind(
        |value: Value<'a>| value.text_as(Pair::parse),
        || {
            schema::text()
                .pattern("^[A-Za-z]{3,5}/[A-Za-z]{3,5}$")
                .default("\"USDT/VES\"")
                .about("BASE/QUOTE, such as USD/VES.")
        },
    )
}

/// The name of a source, a method or a side: one that is unknown has no samples.
pub(super) fn name<'a>() -> impl Kind<'a, String> {
    kind(|value: Value<'a>| value.string().map(Cow::into_owned), schema::text)
}

/// 404: nothing of the kind was ever sampled.
pub fn no_rate() -> Problem {
    Problem::refused(404, "not_found", "no rate was found for the filter")
}

shown! {
    fn show(sample: &Sample), schema, 256 {
        plain "pair" = sample.series.pair, schema::text();
        text "source" = &sample.series.source, schema::text();
        maybe text "method" = sample.series.method.as_deref(), schema::text();
        number "price" = sample.price.0.normalize(), schema::number();
        plain "asOf" = sample.as_of, values::instant();
        plain "fetchedAt" = sample.fetched_at, values::instant().or_null();
        maybe text "side" = sample.series.side.as_deref(), schema::text();
        maybe text "paymentMethod" = sample.series.payment_method.as_deref(), schema::text();
    }
}
