//! The latest rate of a pair.

use super::{PublicCall, PublicPlan};
use crate::fields::Invalid;
use crate::kind::{Kind, kind};
use crate::openapi::schema;
use crate::problem::Problem;
use crate::query::Query;
use crate::value::Value;
use crate::writer::Object;
use domain::resources::rates::samples::{Filter, Pair, Sample};
use std::borrow::Cow;

pub(super) const SIDES: &str = "`BUY`, `SELL`, `FLOOR` or `OFFICIAL`.";

/// GET /api/v1/fx/latest
pub fn read(call: &PublicCall<'_>) -> Result<PublicPlan, Problem> {
    let Asked { pair, source, method, side } = call.asked(asked)?;
    let filter = Filter { source: source.as_deref(), side: side.as_deref(), method: method.as_deref() };
    let sample = (call.latest)(pair.unwrap_or(Pair::USDT_VES), filter).ok_or_else(no_rate)?;
    Ok(PublicPlan::Answer(show(&sample)))
}

/// The series that is asked for.
pub(super) struct Asked {
    pair: Option<Pair>,
    source: Option<String>,
    method: Option<String>,
    side: Option<String>,
}

/// Reads which series is asked for.
pub(super) fn asked(mut query: Query<'_>) -> Result<Asked, Invalid> {
    let market =
        name().about("`p2p`, the market, or `bcv`, the official one. Without it the freshest of all.");
    let pair = query.optional("pair", pair());
    let source = query.optional("source", market);
    let method = query.optional("method", name().about("`p2p_floor` selects the floor of the market."));
    let side = query.optional("side", name().about(SIDES));
    let sound = query.finish()?;
    Ok(Asked {
        pair: pair.get(&sound),
        source: source.get(&sound),
        method: method.get(&sound),
        side: side.get(&sound),
    })
}

/// A pair of currencies.
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

fn show(sample: &Sample) -> Vec<u8> {
    let series = &sample.series;
    Object::with_capacity(256)
        .plain("pair", series.pair)
        .text("source", &series.source)
        .maybe_text("method", series.method.as_deref())
        .number("price", sample.price.0.normalize())
        .plain("asOf", sample.as_of)
        .plain("fetchedAt", sample.fetched_at)
        .maybe_text("side", series.side.as_deref())
        .maybe_text("paymentMethod", series.payment_method.as_deref())
        .end()
}
