//! Payouts of pesos as the operator makes them: asked for here, debited at once, paid at a bank in
//! Colombia, and settled here again.

use super::call::{Call, CallResult, Handler, run};
use crate::store::history;
use api::cop_payments::document_number;
use api::endpoint::{Endpoint, endpoint};
use api::fields::{Fields, Got, Invalid, Kind, body, kind, only};
use api::openapi::document::Chapter;
use api::openapi::operation::{Operation, summary};
use api::openapi::{kinds, schema, values};
use api::value::{self, Bad, Value};
use domain::entities::cop_payout::{AccountType, Beneficiary, ColombianAccount};
use domain::index::Space;
use domain::resources::cop_payments::AMOUNT_MAX;
use domain::resources::cop_payouts;
use domain::resources::cop_payouts::NewCopPayout;
use domain::resources::payouts::lifecycle::PayoutEnd;
use domain::values::colombia::DocumentType;
use domain::values::ids::{EntityId, Id, Mode, tenant_key};
use domain::values::money::Cop;

const CHAPTER: &str = "Payouts in pesos";

const NAME_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=120;
const WORD_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=64;

fn settles(operation: Operation) -> Operation {
    operation
        .answers(200, "CopPayout", "The payout")
        .answers(202, "AskedApproval", "It waits for a second person")
        .refuses(409, &["payout_not_pending"])
        .refuses(503, &["clock_stepped"])
}

pub const CREATE: Endpoint<Handler> = endpoint(CHAPTER, run!(create), || {
summary("Debit pesos that are to be paid out").command("cop-payout create", "Pay pesos out; the balance is debited at once", "--mode live --amount-cop 50000 --bank Bancolombia --account-number 12345678901 --account-type savings --holder-name \"Ana Paz\" --document-type CC --document-number 1020304050")
                .refuses(503, &["clock_stepped"]).body("NewCopPayout")
                .example("to a wallet", r#"{"mode":"test","amountCop":"40000","bank":"Nequi","accountNumber":"3001234567","accountType":"wallet","holderName":"Ana Perez","documentType":"CC","documentNumber":"1020304050","externalRef":"cop-1"}"#)
                .answers(201, "CopPayout", "The payout, pending")
                .answers(202, "AskedApproval", "It waits for a second person")
                .answers(200, "CopPayout", "The payout that is there under this reference")
                .refuses(403, &["cop_not_enabled"]).refuses(409, &["external_ref_conflict"])
                .refuses(422, &["insufficient_balance"])
}).shows(api::cop_payments::payouts::created);

async fn create(call: Call) -> CallResult {
    let (mode, new) = call.body.read(|body| Ok(read(Fields::parse(body)?)?))?;
    let tenant = call.tenant()?;
    if let Some(waiting) = call.waits_for_approval().await? {
        return Ok(waiting);
    }
    let tenant_key = tenant_key(tenant.number, mode);
    let new = new(call.services.fresh_id(tenant_key));
    // Held until the record is durable: a request with the same reference meanwhile waits, and
    // finds this payout then.
    let name_held =
        call.services.names.reservations.hold_name(tenant_key, Space::CopPayout, &new.external_ref).await;
    let known =
        history::named(call.services.engine.reader(), tenant_key, Space::CopPayout, &new.external_ref)?;
    let id = EntityId::cop_payout(known.unwrap_or(new.id));
    let (is_new, about) = (known.is_none(), id.id);
    let command = cop_payouts::Command::Pay(Box::new(new)).into();
    call.decide_named(tenant_key, id, (is_new, Some(Box::new(name_held))), command, about).await
}

fn read(mut fields: Fields<'_>) -> Result<(Mode, impl FnOnce(Id) -> NewCopPayout + use<>), Invalid> {
    let mode = fields.required("mode", kinds::mode());
    let amount = fields.required("amountCop", pesos());
    let bank = fields.required("bank", kinds::trimmed(NAME_CHARACTERS));
    let account = kind(|value: Value<'_>| value.text_as(ColombianAccount::parse), schema::text);
    let account: Got<ColombianAccount> = fields.required("accountNumber", account);
    let account_types = AccountType::ALL.map(|kind| (kind.name(), kind));
    let account_type = fields.required("accountType", kinds::one_of(account_types));
    let holder_name = fields.required("holderName", kinds::trimmed(NAME_CHARACTERS));
    let document_types = DocumentType::ALL.map(|kind| (kind.name(), kind));
    let document_type = fields.required("documentType", kinds::one_of(document_types));
    let document_number = fields.required("documentNumber", document_number());
    let external_ref = fields.required("externalRef", kinds::plain_ref());
    let sound = fields.finish()?;
    let to = Beneficiary {
        bank: bank.get(&sound).into_owned(),
        account: account.get(&sound),
        account_type: account_type.get(&sound),
        holder_name: holder_name.get(&sound).into_owned(),
        document_type: document_type.get(&sound),
        document_number: document_number.get(&sound),
    };
    let (external_ref, amount) = (external_ref.get(&sound), amount.get(&sound));
    Ok((mode.get(&sound), move |id| NewCopPayout { id, external_ref, amount, to }))
}

/// Whole pesos: a number, as payments have it, or text, as balances have it.
fn pesos<'a>() -> impl Kind<'a, Cop> {
    kind(read_pesos, || {
        let either = schema::any_of([values::pesos(), schema::integer().at_least("1")]);
        either.about("Whole pesos, as a string or as a number.")
    })
}

fn read_pesos(value: Value<'_>) -> Result<Cop, Bad> {
    let wanted = || Bad::from(format!("must be a whole number of pesos from 1 to {AMOUNT_MAX}"));
    let minor = match value.string() {
        Ok(text) => value::amount(&format!("{text}.00")).map(|cents| cents / 100),
        Err(_) => value.integer(1..=AMOUNT_MAX.minor()).ok(),
    };
    minor.filter(|minor| (1..=AMOUNT_MAX.minor()).contains(minor)).map(Cop::from_minor).ok_or_else(wanted)
}

pub const COMPLETE: Endpoint<Handler> = endpoint(CHAPTER, run!(complete), || {
    settles(summary("Say that a payout in pesos was paid").command(
        "cop-payout complete",
        "Record that pesos have arrived",
        "--reference 778899",
    ))
    .body("CopPayoutCompletion")
    .example("the bank's reference", r#"{"reference":"BC-812"}"#)
})
.shows(api::cop_payments::payouts::settled);

async fn complete(call: Call) -> CallResult {
    let reference = read_reference(call.body.fields()?)?;
    settle(&call, PayoutEnd::Completed(reference)).await
}

fn read_reference(fields: Fields<'_>) -> Result<String, Invalid> {
    Ok(only(fields, "reference", kinds::trimmed(WORD_CHARACTERS))?.into_owned())
}

pub const FAIL: Endpoint<Handler> = endpoint(CHAPTER, run!(fail), || {
    settles(summary("Say that a payout in pesos failed").command(
        "cop-payout fail",
        "Record that pesos have not arrived; they return to the balance",
        "--failure-code AC01",
    ))
    .about("The pesos go back.")
    .body("CopPayoutFailure")
    .example("why", r#"{"failureCode":"account_closed"}"#)
})
.shows(api::cop_payments::payouts::settled);

async fn fail(call: Call) -> CallResult {
    let code = read_failure(call.body.fields()?)?;
    settle(&call, PayoutEnd::Failed(code)).await
}

fn read_failure(fields: Fields<'_>) -> Result<String, Invalid> {
    Ok(only(fields, "failureCode", kinds::trimmed(WORD_CHARACTERS))?.into_owned())
}

async fn settle(call: &Call, end: PayoutEnd) -> CallResult {
    let (id, tenant_key) = call.owner(Space::CopPayout)?;
    if let Some(waiting) = call.waits_about(call.tenant_of(tenant_key)).await? {
        return Ok(waiting);
    }
    call.decide(tenant_key, EntityId::cop_payout(id), cop_payouts::Command::Settle(end).into(), id).await
}

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "Paid by the operator at a bank in Colombia. The account's balance is debited at once.",
        schemas: vec![
            ("NewCopPayout", body(read)),
            ("CopPayoutCompletion", body(read_reference)),
            ("CopPayoutFailure", body(read_failure)),
            ("CopPayout", api::cop_payments::payouts::schema()),
        ],
        ..Chapter::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(body: &str) -> Vec<String> {
        read(Fields::parse(body.as_bytes()).expect("JSON"))
            .err()
            .map(|invalid| invalid.fields().to_vec())
            .into_iter()
            .flatten()
            .map(|bad| bad.field)
            .collect()
    }

    #[test]
    fn every_bad_member_is_named() {
        let all = [
            "mode",
            "amountCop",
            "bank",
            "accountNumber",
            "accountType",
            "holderName",
            "documentType",
            "documentNumber",
            "externalRef",
        ];
        assert_eq!(named("{}"), all);
        let body = concat!(
            r#"{"mode":"both","amountCop":0,"bank":" ","accountNumber":"12-34","accountType":"gold","#,
            r#""holderName":1,"documentType":"V","documentNumber":"1","externalRef":"","x":1}"#,
        );
        assert_eq!(named(body), [&all[..], &["x"]].concat());
    }

    #[test]
    fn pesos_are_whole_as_a_number_or_as_text() {
        let amount = |written: &str| {
            let rest = r#""mode":"test","bank":"b","accountNumber":"12345","accountType":"wallet","holderName":"h","documentType":"CC","documentNumber":"123","externalRef":"r""#;
            let body = format!(r#"{{"amountCop":{written},{rest}}}"#);
            read(Fields::parse(body.as_bytes()).expect("JSON"))
                .map(|(_, new)| new(Id::from_bytes([0; 16])).amount.minor())
                .ok()
        };
        for (written, minor) in [
            ("1", 1),
            ("50000", 50_000),
            ("5e4", 50_000),
            ("\"50000\"", 50_000),
            ("999999999999", 999_999_999_999),
        ] {
            assert_eq!(amount(written), Some(minor), "{written}");
        }
        for written in [
            "0",
            "-1",
            "1.5",
            "\"0\"",
            "\"01\"",
            "\"1.5\"",
            "\"-1\"",
            "\"\"",
            "1000000000000",
            "\"1000000000000\"",
            "true",
        ] {
            assert_eq!(amount(written), None, "{written}");
        }
    }
}
