//! Calls that exist in test mode alone: the clock and test money (`docs/contract.md, 4.2`).
//!
//! A call that plays a bank's or a buyer's part does not belong here: it is with the resource that
//! it is about.

use crate::conversions::read_reason;
use crate::endpoint::{Context, Endpoint, Handler, Target, chapter, endpoint, run};
use crate::fields::{Fields, Invalid, Kind, body, kind, read};
use crate::openapi::document::{Access, Row};
use crate::openapi::operation::summary;
use crate::openapi::{kinds, schema};
use crate::problem::Problem;
use crate::respond::Reply;
use crate::value::{self, Bad, Value};
use crate::writer::Object;
use domain::cause::Cause;
use domain::machine::Command;
use domain::resources::adjustments::Adjustment;
use domain::values::ids::Id;
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use hyper::Method;

pub(crate) const CHAPTER: &str = "Test mode";

/// The most seconds of one clock advance: a year.
const ADVANCE_SECONDS_MAX: i64 = 31_536_000;

chapter! { CHAPTER, "A test key runs the same engine, ledger and log; only the banks are simulated. These \
    calls move its clock, give it money, and play the parts of buyers, banks and operators.", {
        "TestClock" = object().member("now", instant()).member("livemode", livemode());
        "TestReset" = object().member("resetAt", instant());
        "ClockMove" = body(read_advance);
        "TestFund" = body(read_fund);
        "OpenedTestAccount" = object().member("testKey",
            object().member("keyId", uuid()).member("key", text().example("\"pk_test_…\"")));
        "Rejection" = body(read_reason);
    }
    READ_CLOCK = run!(|cx| Ok(Reply::json(200, clock(cx.clock().await?)))), "Read the test clock" => {
        answers 200, "TestClock", "Now, in this account's test mode";
    };
    MOVE_CLOCK = run!(move_clock), "Move the test clock forward" => {
        about "Everything that falls due meanwhile (holds, expiries, polls, retries) has happened, in its \
            order and each at its own instant, when it answers.";
        body "ClockMove";
        example "a day", r#"{"advanceSeconds":86400}"#;
        answers 200, "TestClock", "Now";
    } shows |facts| Some((200, clock(facts.time)));
    RESET = run!(reset), "Begin the test data anew" => {
        about "Balances are zero, every list of test mode is empty and every id of before is 404; \
            references and idempotency keys are unused again, but for this call's own, and the clock is \
            the real time again. Keys, settings, webhook endpoints, a verified payout account and \
            customers' deposit addresses stay, and so does everything of live mode. What was under way at \
            a simulated bank never comes back. Events go on numbered without a gap: the first that is \
            listed is `test.reset`.";
        answers 200, "TestReset", "Since then";
    } shows |facts| Some((200, Object::new().plain("resetAt", facts.time).end()));
    FUND = run!(fund), "Add test money to a balance" => {
        body "TestFund";
        example "1000 VES", r#"{"currency":"VES","amount":"1000.00"}"#;
        example "20000 COP, held", r#"{"currency":"COP","amount":"20000","held":true}"#;
        answers 201, "Movement", "The movement, of type `adjustment`";
        refuses 404, &["not_found"];
    } shows crate::balance::new_movement;
}

async fn move_clock(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let ms = read_advance(Fields::parse(&cx.body)?)?;
    cx.server()?.advance(ms).await
}

/// Reads how far the clock is to go, in milliseconds.
fn read_advance(mut fields: Fields<'_>) -> Result<i64, Invalid> {
    let seconds = kinds::integer(1..=ADVANCE_SECONDS_MAX).about("The clock stays before the year 9000.");
    Ok(read!(fields { required seconds = "advanceSeconds", seconds; } => seconds * 1000))
}

pub const ACCOUNTS_PATH: &str = "/v1/test/accounts";

/// The call that opens an account, which the server answers to anybody.
pub fn row() -> Row {
    ACCOUNT.described(Method::POST, ACCOUNTS_PATH, "openTestAccount", Access::Open)
}

const ACCOUNT: Endpoint<()> = endpoint(CHAPTER, (), || {
    summary("Open an account of test mode")
        .about(
            "Takes no key. Where the operator of the server allows it, otherwise 404. The key of the new account is \
             shown only now; there is none of live mode. Ten accounts a day from one address. An account that no \
             call used for 24 hours is deleted with all that is in it, and its keys open nothing any more. Neither an \
             `Idempotency-Key` nor a dry run is taken: a repeat opens another account.",
        )
        .answers(201, "OpenedTestAccount", "The key: the only time it is shown")
        .refuses(400, &["invalid_json", "invalid_data"])
        .refuses(404, &["not_found"])
        .refuses(408, &["request_timeout"])
        .refuses(413, &["payload_too_large"])
        .refuses(415, &["unsupported_media_type"])
        .refuses(429, &["rate_limited"])
        .refuses(500, &["internal_error"])
        .refuses(503, &["no_leader", "overloaded", "shutting_down", "storage_unavailable"])
});

pub fn show_account(key_id: Id, key: &str) -> Vec<u8> {
    let key = Object::new().plain("keyId", key_id).plain("key", key).end();
    Object::new().json("testKey", key).end()
}

/// The name of the call that has the test data begin anew.
pub const RESET_OPERATION: &str = "resetTest";

async fn reset(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    cx.no_body()?;
    cx.server()?.begin_anew().await
}

async fn fund(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let ask = read_fund(Fields::parse(&cx.body)?)?;
    cx.server()?.ask(Target::Book, Command::Adjust(Box::new(ask))).await
}

fn read_fund(mut fields: Fields<'_>) -> Result<Adjustment, Invalid> {
    let taken = kinds::boolean().default("false").about(
        "Whether the amount is taken away again instead: from what is available, which may go below zero. \
         Neither with `held` nor with `merchantId`.",
    );
    Ok(read!(fields {
        required currency = "currency", kinds::currency();
        required amount = "amount", positive_amount(currency.peek().copied().unwrap_or(Currency::Ves));
        optional held = "held", kinds::boolean().default("false").about("Whether it is held for 24 hours.");
        optional merchant = "merchantId", kinds::id().about("A seller whose balance gets it; VES alone.");
        optional take_back = "takeBack", taken;
    } check {
        let is_elsewhere = held.peek_some() == Some(&true) || fields.has("merchantId");
        if take_back.peek_some() == Some(&true) && is_elsewhere {
            fields.bad("takeBack", "must be false with held or merchantId");
        }
        if fields.has("merchantId") && currency.peek().is_some_and(|currency| *currency != Currency::Ves) {
            fields.bad("currency", "must be VES for a merchant");
        }
    } => {
        let (sign, description) =
            if take_back == Some(true) { (-1, "test funds taken back") } else { (1, "test funds") };
        Adjustment {
            cause: Cause::Funded,
            currency,
            minor: sign * amount,
            merchant,
            held: held.unwrap_or(false),
            description: description.to_owned(),
            external_ref: None,
        }
    }))
}

/// An amount of more than nothing with at most the currency's decimals, in minor units.
fn positive_amount<'a>(currency: Currency) -> impl Kind<'a, i64> {
    kind(
        move |value: Value<'a>| read_positive(value, currency),
        || {
            let decimal = schema::text().pattern(r"^(0|[1-9][0-9]{0,11})(\.[0-9]{2})?$");
            decimal.about(
                "Positive, with exactly the decimals of its currency: two of VES and USDT, none of COP.",
            )
        },
    )
}

fn read_positive(value: Value<'_>, currency: Currency) -> Result<i64, Bad> {
    if currency.decimals() == 2 {
        return value.positive_cents();
    }
    let pesos =
        value::whole(&value.string()?).filter(|pesos| (1..=currency.amount_minor_max()).contains(pesos));
    pesos.ok_or_else(|| Bad::from("must be a positive whole amount up to 999999999999, such as \"20000\""))
}

/// The clock; only test mode has one.
fn clock(now: Timestamp) -> Vec<u8> {
    Object::new().plain("now", now).boolean("livemode", false).end()
}
