//! The latest rate of a pair.

use super::{PublicCall, PublicPlan};
use crate::problem::Problem;
use crate::query::Query;
use crate::writer::Object;
use domain::resources::rates::samples::{Filter, Pair, Sample};

/// GET /api/v1/fx/latest
pub fn read(call: &PublicCall<'_>) -> Result<PublicPlan, Problem> {
    let mut query = Query::parse(call.query);
    let pair = query.optional("pair", |text| text.parse_as(Pair::parse));
    let source = query.optional("source", |text| Ok(text.as_str().to_owned()));
    let method = query.optional("method", |text| Ok(text.as_str().to_owned()));
    let side = query.optional("side", |text| Ok(text.as_str().to_owned()));
    let sound = query.finish()?;
    let (source, method, side) = (source.get(&sound), method.get(&sound), side.get(&sound));
    let filter = Filter { source: source.as_deref(), side: side.as_deref(), method: method.as_deref() };
    let sample = (call.latest)(pair.get(&sound).unwrap_or(Pair::USDT_VES), filter).ok_or_else(no_rate)?;
    Ok(PublicPlan::Answer(show(&sample)))
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
