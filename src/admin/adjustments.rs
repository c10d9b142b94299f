//! Corrections of a tenant's balance: a movement of type `adjustment`, once per reference.

use super::call::{Call, CallResult, Done, Handler, approved, run};
use crate::gateway::ask::{self, failure};
use crate::gateway::services::Services;
use crate::store::history::{self, Read, Unreadable};
use api::balance;
use api::balance::movements::show_movement;
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, Kind, body, kind, read};
use api::openapi::{kinds, schema};
use api::problem::Problem;
use api::refusals;
use api::value::{self, Bad, Value};
use domain::cause::Cause;
use domain::index::{self, Space};
use domain::ledger::Row;
use domain::machine::{Command, KeyedCommand};
use domain::refusal::Refusal;
use domain::resources::adjustments::Adjustment;
use domain::values::ids::{Mode, is_live, tenant_key};
use domain::values::money::Currency;
use domain::values::text::ExternalRef;
use rust_decimal::Decimal;

struct Wanted {
    mode: Mode,
    currency: Currency,
    minor: i64,
    description: String,
    external_ref: ExternalRef,
}

chapter! { "Money", "Corrections of balances, and what banks took back of card payments.", {
        "NewAdjustment" = body(read);
        "Movement" = balance::movement();
    }
    CREATE = run!(create), "Correct a balance" => {
        command "adjustment create", "Correct a balance",
            "--mode live --currency VES --amount=-12.50 --description \"bank fee\"";
        refuses 503, &["clock_stepped"];
        body "NewAdjustment";
        example "12.50 VES out",
            r#"{"mode":"test","currency":"VES","amount":"-12.50","description":"comision bancaria","externalRef":"fix-1"}"#;
        waits;
        answers 201, "Movement", "The movement";
        answers 200, "Movement", "The movement that is there under this reference";
        refuses 409, &["external_ref_conflict"];
        refuses 422, &["insufficient_balance"];
    } shows balance::new_movement;
}

async fn create(call: Call) -> CallResult {
    let services = &*call.services;
    let wanted = call.body.read(|body| Ok(read(Fields::parse(body)?)?))?;
    let tenant = call.tenant()?;
    approved!(call.waits_for_approval());
    let tenant_key = tenant_key(tenant.number, wanted.mode);
    // Held to the end: a request with the same reference meanwhile waits, and finds this movement
    // then.
    let _name_held =
        services.names.reservations.hold_name(tenant_key, Space::Adjustment, &wanted.external_ref).await;
    if let Some(known) = find(services, tenant_key, &wanted.external_ref)? {
        return compare(tenant_key, &known, &wanted);
    }
    let ask = Adjustment {
        cause: Cause::Adjusted,
        currency: wanted.currency,
        minor: wanted.minor,
        merchant: None,
        held: false,
        description: wanted.description,
        external_ref: Some(wanted.external_ref),
    };
    services.may_decide(tenant_key)?;
    let (keep, key_held) = call.pending_key.take();
    let command = KeyedCommand::from(Command::Adjust(Box::new(ask)))
        .keeping(keep)
        .audited(call.sign_about(Some(tenant.id), None));
    let settled = services.engine.ask_book(tenant_key, command, key_held).await.map_err(failure)?;
    call.answer(tenant_key, &settled)
}

fn read(mut fields: Fields<'_>) -> Result<Wanted, Invalid> {
    Ok(read!(fields {
        required mode = "mode", kinds::mode();
        required currency = "currency", kinds::currency();
        required minor = "amount", signed_amount(currency.peek().copied());
        required description = "description", kinds::prose(1..=255) => description.into_owned();
        required external_ref = "externalRef", kinds::plain_ref();
    } => Wanted { mode, currency, minor, description, external_ref }))
}

/// An amount with or without a minus, with at most the currency's decimals, and not nothing. Of an
/// unknown currency either form will do: the currency is what is bad.
fn signed_amount<'a>(currency: Option<Currency>) -> impl Kind<'a, i64> {
    kind(
        move |value: Value<'a>| read_signed(value, currency),
        || {
            let decimal = schema::text().pattern(r"^-?(0|[1-9][0-9]{0,11})(\.[0-9]{2})?$");
            decimal.about("Signed, not zero, with exactly the decimals of its currency.")
        },
    )
}

fn read_signed(value: Value<'_>, currency: Option<Currency>) -> Result<i64, Bad> {
    const IN_CENTS: &str = "must be a string with at most two decimals and not zero, such as \"-12.50\"";
    const WHOLE: &str = "must be a string with a whole amount and not zero, such as \"-20000\"";
    let wanted = if currency == Some(Currency::Cop) { WHOLE } else { IN_CENTS };
    let text = value.string().map_err(|_| wanted)?;
    let (sign, magnitude) = text.strip_prefix('-').map_or((1, &*text), |magnitude| (-1, magnitude));
    let minor =
        if currency == Some(Currency::Cop) { value::whole(magnitude) } else { value::cents(magnitude) };
    match minor {
        None | Some(0) => Err(Bad::from(wanted)),
        Some(minor) if minor > currency.unwrap_or(Currency::Ves).amount_minor_max() => {
            Err(Bad::from("must be a smaller amount"))
        }
        Some(minor) => Ok(sign * minor),
    }
}

/// Looks up the adjustment that a reference was used for. To be called while the reference is held.
fn find(
    services: &Services,
    tenant_key: u64,
    external_ref: &ExternalRef,
) -> Result<Option<(Read, usize)>, Problem> {
    let reader = services.engine.reader();
    let Some(value) = reader
        .index_get(&index::name(tenant_key, Space::Adjustment, external_ref))
        .map_err(Unreadable::from)?
    else {
        return Ok(None);
    };
    let read = history::record(reader, history::seq(&value)?)?;
    let posting = read.record.postings.iter().position(|posting| {
        posting.row.as_ref().is_some_and(|row| row.external_ref.as_ref() == Some(external_ref))
    });
    let posting = posting.ok_or_else(|| ask::defect("the index names a record without the adjustment"))?;
    Ok(Some((read, posting)))
}

fn compare(tenant_key: u64, (Read { record, time, .. }, n): &(Read, usize), wanted: &Wanted) -> CallResult {
    let posting = &record.postings[*n];
    let amount = |minor, currency: Currency| Decimal::new(minor, currency.decimals());
    let description = posting.row.as_deref().map_or("", |row: &Row| &row.description);
    let differs: Vec<&'static str> = [
        ("currency", posting.currency != wanted.currency),
        ("amount", amount(posting.minor, posting.currency) != amount(wanted.minor, wanted.currency)),
        ("description", description != wanted.description),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect();
    if !differs.is_empty() {
        let existing = record.movement_id(*time, *n);
        return Err(refusals::problem(&Refusal::ExternalRefConflict { existing, differs }));
    }
    let movement = show_movement(is_live(tenant_key), record, *time, *n, *time);
    movement.map(Done::ok).ok_or_else(|| ask::defect("an adjustment is no movement"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(currency: &str, text: &str) -> Result<i64, Problem> {
        let body = format!(
            r#"{{"mode":"test","currency":"{currency}","amount":{text},"description":"d","externalRef":"r"}}"#
        );
        Ok(read(Fields::parse(body.as_bytes())?)?.minor)
    }

    #[test]
    fn amounts_are_signed_and_have_the_decimals_of_their_currency() {
        for (currency, text, minor) in [
            ("VES", "\"-12.50\"", -1250),
            ("USDT", "\"0.01\"", 1),
            ("COP", "\"-20000\"", -20_000),
            ("VES", "\"999999999999.99\"", 99_999_999_999_999),
            ("VES", "\"12.5\"", 1250),
            ("USDT", "\"-12\"", -1200),
        ] {
            assert_eq!(amount(currency, text), Ok(minor), "{text} {currency}");
        }
        for (currency, text) in [
            ("VES", "\"0.00\""),
            ("VES", "\"-0.00\""),
            ("VES", "12.50"),
            ("VES", "\"12.\""),
            ("VES", "\"12.505\""),
            ("COP", "\"1000000000000\""),
            ("VES", "\"+1.00\""),
            ("VES", "\"--1.00\""),
            ("VES", "\"1000000000000.00\""),
            ("COP", "\"1.00\""),
            ("COP", "\"0\""),
            ("COP", "\"01\""),
        ] {
            let named: Vec<String> =
                amount(currency, text).expect_err(text).fields.into_iter().map(|bad| bad.field).collect();
            assert_eq!(named, ["amount"], "{text} {currency}");
        }
    }

    #[test]
    fn every_bad_member_is_named() {
        let named: Vec<String> =
            Fields::parse(br#"{"mode":"both","currency":"USD","amount":"1.00","externalRef":" ","x":1}"#)
                .and_then(|fields| Ok(read(fields)?))
                .err()
                .map(|problem| problem.fields)
                .into_iter()
                .flatten()
                .map(|bad| bad.field)
                .collect();
        assert_eq!(named, ["mode", "currency", "description", "externalRef", "x"]);
    }
}
