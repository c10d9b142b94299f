//! Reference data: the banks, the price of the dollar, and the state of an Idempotency-Key.
//!
//! Reads that belong to no resource of a tenant belong here. Nothing in here may change anything.

use crate::endpoint::{BankRate, Context, Handler, Official, chapter, run, shown};
use crate::fields::{Invalid, Kind as _, read};
use crate::openapi::document::{Access, Chapter, ErrorShape, Row};
use crate::openapi::operation::{Operation, summary};
use crate::openapi::{kinds, schema, values};
use crate::page::array_json;
use crate::payments::usd_amount;
use crate::problem::Problem;
use crate::query::Query;
use crate::refusals;
use crate::respond::Reply;
use crate::tenants::mandates;
use crate::writer::{Object, text};
use domain::platform::mandate::Limit;
use domain::refusal::Refusal;
use domain::resources::banks::{Bank, Service};
use domain::resources::rates::buckets::{price, ticks};
use domain::resources::rates::samples::{BCV, Sample};
use domain::values::money::{Rate, Usd, Ves};
use hyper::Method;

const HEALTH: &str = "Health";

chapter! { "Reference", "Banks, and what became of a request whose answer was lost.", {
        "Bank" = bank_schema()
            .example(r#"{"code":"0134","name":"Banesco","services":["C2P","PAGO_MOVIL","DEBIT","CREDIT"],
                "logoUrl":null}"#);
        "DryRun" = crate::dry_run::schema();
        "IdempotencyKey" = object()
            .member("key", text())
            .member("state", one_of(["in_progress", "done"]))
            .member("method", text().constant("POST"))
            .member("path", text())
            .member("firstSeenAt", instant())
            .member("expiresAt", instant())
            .member("status", integer().or_null().about("The kept status; null while in progress."))
            .member("response", anything().about("The kept body; null while in progress."))
            .member("walSeq", integer().or_null())
            .example(r#"{"key":"k-1","state":"done","method":"POST","path":"/v1/test/fund",
                "firstSeenAt":"2026-11-21T02:13:00.000Z",
                "expiresAt":"2026-11-22T02:13:00.000Z","status":422,
                "response":{"error":"insufficient_balance",
                "message":"the available balance does not cover the amount, so nothing was debited; pay at most availableVes or wait for what is held: GET /v1/balance says when",
                "requestId":"2t6cw1h7xk3vd","docs":"/docs/en/errors/insufficient_balance",
                "availableVes":"1.00"},"walSeq":17}"#);
        "Quote" = quote_schema()
            .example(r#"{"usdAmount":10,"bcvRate":210,"vesAmount":2100.00,"medianRate":210,
        "medianVesAmount":2100.00,"source":"bcv","fetchedAt":"2026-11-21T02:13:00.000Z",
        "sources":{"vexFx":{"bcvRate":210,"fetchedAt":"2026-11-21T02:13:00.000Z"},
        "bank":{"error":"BANK_NOT_CONFIGURED"}}}"#);
    }
    BANKS = run!(|cx| Ok(Reply::json(200, array_json(cx.banks.shown().map(show_bank))))),
        "List the banks" => {
        answers_with 200, schema::list(schema::named("Bank")), "Sorted by code; a bare array";
    };
    // GET /v1/quote: what payments are priced by, and what else is said of the same rate
    // (`docs/contract.md, 14.4`).
    QUOTE = run!(quote), "Price dollars in bolívares at the BCV rate" => {
        query asked_price;
        answers 200, "Quote", "The price at which payments are made, and the median of the sources";
        refuses 503, &["rate_unavailable"];
    };
    KEPT = run!(kept), "Find out what became of a request" => {
        about "After a lost answer: whether the request with this Idempotency-Key happened, and what it was \
            answered. 404 means that it did not happen, or more than 24 hours ago.";
        query asked_path;
        answers 200, "IdempotencyKey", "The newest use of the key";
    };
}

/// A bank as operators see it: with what tenants do not see of it.
pub fn show_whole_bank(bank: &Bank) -> Vec<u8> {
    Object::reopened(show_bank(bank)).boolean("hidden", bank.hidden).end()
}

shown! {
    fn show_bank(bank: &Bank), bank_schema, 512 {
        plain "code" = bank.code, schema::text().pattern("^[0-9]{4}$").example("\"0134\"");
        text "name" = &bank.name, schema::text();
        list "services" = bank.services.iter().map(|service| text(service.name())),
            schema::list(schema::one_of(Service::ALL.map(Service::name)));
        maybe text "logoUrl" = bank.logo_url.as_deref(), schema::text().about("Null means: show the name alone.");
    }
}

fn asked_price(mut query: Query<'_>) -> Result<Usd, Invalid> {
    Ok(read!(query { required usd = "usdAmount", usd_amount(); } => usd))
}

async fn quote(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    show_quote(cx.asked(asked_price)?, &cx.env.official()).map(|body| Reply::json(200, body)).map_err(
        |refusal| match refusal {
            Refusal::AmountOverflow => {
                Problem::invalid_field("usdAmount", "must be a smaller amount at this rate")
            }
            refusal => refusals::problem(&refusal),
        },
    )
}

fn show_quote(usd: Usd, official: &Official) -> Result<Vec<u8>, Refusal> {
    let bcv = official.bcv.as_ref().ok_or(Refusal::RateUnavailable)?;
    let (bank, median) = match &official.bank {
        BankRate::NotConfigured => (Object::new().plain("error", "BANK_NOT_CONFIGURED").end(), bcv.price),
        BankRate::Unavailable => (Object::new().plain("error", "BANK_UNAVAILABLE").end(), bcv.price),
        // The median of two rates is their average.
        BankRate::Says(said) => (show_said(said), price((ticks(bcv.price) + ticks(said.price) + 1) / 2)),
    };
    let ves =
        |rate: Rate| usd.decimal().checked_mul(rate.0).and_then(Ves::rounded).ok_or(Refusal::AmountOverflow);
    Ok(show_priced(usd, bcv, ves(bcv.price)?, median, ves(median)?, &bank))
}

shown! {
    fn show_priced(usd: Usd, bcv: &Sample, ves: Ves, median: Rate, median_ves: Ves, bank: &[u8]), quote_schema, 512 {
        number "usdAmount" = usd.decimal().normalize(), schema::number();
        number "bcvRate" = bcv.price.0.normalize(), schema::number();
        number "vesAmount" = ves, schema::number();
        number "medianRate" = median.0.normalize(), schema::number();
        number "medianVesAmount" = median_ves, schema::number();
        // Whoever passes it on.
        constant "source" = BCV;
        plain "fetchedAt" = bcv.fetched_at, values::instant();
        json "sources" = show_sources(bcv, bank), sources_schema();
    }
}

shown! {
    fn show_sources(bcv: &Sample, bank: &[u8]), sources_schema, 256 {
        json "vexFx" = show_own(bcv), own_schema();
        json "bank" = bank, schema::any_of([said_schema(), no_bank_schema()]);
    }
}

shown! {
    fn show_own(bcv: &Sample), own_schema, 128 {
        number "bcvRate" = bcv.price.0.normalize(), schema::number();
        plain "fetchedAt" = bcv.fetched_at, values::instant();
    }
}

shown! {
    fn show_said(said: &Sample), said_schema, 128 {
        number "bcvRate" = said.price.0.normalize(), schema::number();
        maybe plain "fechavalor" = said.value_date, schema::text().format("date");
        plain "fetchedAt" = said.fetched_at, values::instant();
    }
}

fn no_bank_schema() -> schema::Schema {
    schema::object().member("error", schema::text().about("`BANK_NOT_CONFIGURED`, or `BANK_UNAVAILABLE`."))
}

fn asked_path(mut query: Query<'_>) -> Result<Option<String>, Invalid> {
    let of_key = kinds::sought(1..=512).about(
        "The path that the key was used on, if it was used on several; otherwise the newest use is shown.",
    );
    Ok(read!(query { optional path = "path", of_key; } => path))
}

async fn kept(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let path = cx.asked(asked_path)?;
    let key = cx.path("key").to_owned();
    cx.server()?.key_use(key, path).await
}

/// Calls without a key that say how the server is.
pub fn health() -> Chapter {
    Chapter {
        tag: HEALTH,
        about: "For load balancers and supervisors.",
        schemas: vec![("Error", error())],
        ..Chapter::default()
    }
}

/// Those calls, which the server answers before everything else.
pub fn health_rows() -> [Row; 2] {
    let row = |path, operation, description: Operation| Row {
        method: Method::GET,
        path,
        operation,
        access: Access::Open,
        errors: ErrorShape::Gateway,
        chapter: HEALTH,
        description,
    };
    let status = |status| schema::object().member("status", schema::text().constant(status));
    let unready = schema::any_of([
        status("unavailable").member("reason", schema::text()).closed(),
        schema::named("Error"),
    ]);
    [
        row(
            "/healthz",
            "getHealth",
            summary("Whether the process lives").answers_with(200, status("ok"), "It lives"),
        ),
        row(
            "/readyz",
            "getReadiness",
            summary("Whether requests are served")
                .answers_with(200, status("ready"), "Recovery has finished and the log accepts writes")
                .answers_with(503, unready, "Not yet; `shutting_down` while it stops"),
        ),
    ]
}

pub fn error() -> schema::Schema {
    let field = schema::object()
        .member("field", schema::text().about("Dotted, with index: `card.number`, `items[3].monto`."))
        .member("message", schema::text());
    let amount = |words: &str| schema::text().about(words);
    schema::object()
        .member("error", schema::text().about("A stable code to branch on."))
        .member("message", schema::text().about("For people."))
        .member("requestId", schema::text())
        .member(
            "docs",
            schema::text().format("uri-reference").about(
                "The page about the code: HTML, or Markdown by `Accept: text/markdown`. A path where the \
                 server does not know its public address.",
            ),
        )
        .optional("fields", schema::list(field).about("Of `invalid_data`: every bad field at once."))
        .optional(
            "existingId",
            schema::text()
                .format("uuid")
                .about("Of `external_ref_conflict`: what the reference was used for."),
        )
        .optional(
            "differs",
            schema::list(schema::text()).about(
                "Of `external_ref_conflict`: the fields that differ; not \
                 there when a C2P request repeats what is paid.",
            ),
        )
        .optional("availableVes", amount("Of `insufficient_balance`."))
        .optional(
            "spendableVes",
            amount("Of `insufficient_balance` on conversions: what they may spend, holds too."),
        )
        .optional("availableCop", amount("Of `insufficient_balance` in pesos."))
        .optional("spendableCop", amount("Of `insufficient_balance` in pesos: holds too."))
        .optional("availableUsdt", amount("Of `insufficient_balance` in USDT."))
        .optional("minimumUsdt", amount("Of `amount_below_minimum` on conversions."))
        .optional("currency", amount("Of `daily_limit_exceeded`."))
        .optional("dailyLimit", amount("Of `daily_limit_exceeded`."))
        .optional("limit", schema::one_of(Limit::ALL.map(Limit::name)).about("Of `mandate_exceeded`."))
        .optional("remaining", mandates::amounts().about("Of `mandate_exceeded`: what may go out."))
        .optional("resetsAt", values::instant().or_null().about("Of `mandate_exceeded`; null of `perCall`."))
        .optional("minimumCop", schema::integer().about("Of `amount_below_minimum` on COP payments."))
        .optional("attemptsLeft", schema::integer().about("Of `amounts_mismatch`."))
        .optional("failureCode", schema::text().about("Of `otp_refused`."))
        .optional("payoutCount", schema::integer().about("Of `merchant_has_payouts`."))
        .optional("role", schema::text().about("Of `role_missing`: the least role that may do this."))
        .optional("scope", schema::text().about("Of `scope_missing`: the scope that the key lacks."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::resources::rates::samples::{OFFICIAL, Pair, Sample, Series};
    use domain::values::time::Timestamp;
    use rust_decimal::Decimal;
    use std::str::FromStr;
    use std::sync::Arc;

    fn sample(source: &str, rate: &str) -> Arc<Sample> {
        let at = Timestamp::parse("2026-11-21T03:00:00Z").expect("an instant");
        Arc::new(Sample::new(
            Series::of(Pair::USD_VES, source).side(OFFICIAL),
            Rate(Decimal::from_str(rate).expect("a rate")),
            at,
            at,
        ))
    }

    fn quoted(bcv: &str, bank: BankRate) -> String {
        let shown = show_quote(Usd::from_minor(1_000), &Official { bcv: Some(sample(BCV, bcv)), bank })
            .expect("a quote");
        String::from_utf8(shown).expect("text")
    }

    #[test]
    fn the_median_of_one_and_of_two() {
        let at = "2026-11-21T03:00:00.000Z";
        assert_eq!(
            quoted("200.00000000", BankRate::NotConfigured),
            format!(
                r#"{{"usdAmount":10,"bcvRate":200,"vesAmount":2000.00,"medianRate":200,"medianVesAmount":2000.00,"source":"bcv","fetchedAt":"{at}","sources":{{"vexFx":{{"bcvRate":200,"fetchedAt":"{at}"}},"bank":{{"error":"BANK_NOT_CONFIGURED"}}}}}}"#
            )
        );
        assert!(
            quoted("200", BankRate::Unavailable).contains(r#""medianRate":200,"medianVesAmount":2000.00"#)
        );
        let both = quoted("200.00000001", BankRate::Says(sample("bank", "203.00000002")));
        // 201.500000015 is 201.50000002, half up; ten dollars are 2,015.00 all the same.
        assert!(both.contains(r#""medianRate":201.50000002,"medianVesAmount":2015.00"#), "{both}");
        assert!(
            both.contains(&format!(
                r#""bank":{{"bcvRate":203.00000002,"fechavalor":"2026-11-20","fetchedAt":"{at}"}}"#
            )),
            "{both}"
        );
        assert_eq!(
            show_quote(Usd::from_minor(1), &Official { bcv: None, bank: BankRate::NotConfigured }),
            Err(Refusal::RateUnavailable)
        );
    }
}
