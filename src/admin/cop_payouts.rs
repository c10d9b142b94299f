//! Payouts of pesos as the operator makes them: asked for here, debited at once, paid at a bank in
//! Colombia, and settled here again.

use super::call::{Call, CallResult, Handler, approved, run};
use crate::store::history;
use api::cop_payments::document_number;
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, Kind, body, kind, only, read};
use api::openapi::operation::Operation;
use api::openapi::{kinds, schema, values};
use api::value::{self, Bad, Value};
use domain::entities::cop_payout::{AccountType, Beneficiary, ColombianAccount, CopPayout};
use domain::entities::payout::Status;
use domain::index::Space;
use domain::resources::cop_payments::AMOUNT_MAX;
use domain::resources::cop_payouts;
use domain::resources::payouts::lifecycle::PayoutEnd;
use domain::values::colombia::DocumentType;
use domain::values::ids::{EntityId, Id, Mode, tenant_key};
use domain::values::money::Cop;
use domain::values::time::Timestamp;

const NAME_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=120;

fn settles(operation: Operation) -> Operation {
    operation
        .answers(200, "CopPayout", "The payout")
        .answers(202, "AskedApproval", "It waits for a second person")
        .refuses(409, &["payout_not_pending"])
        .refuses(503, &["clock_stepped"])
}

chapter! { "Payouts in pesos",
    "Paid by the operator at a bank in Colombia. The account's balance is debited at once.", {
        "NewCopPayout" = body(read);
        "CopPayoutCompletion" = body(|fields| read_word(fields, "reference"));
        "CopPayoutFailure" = body(|fields| read_word(fields, "failureCode"));
        "CopPayout" = api::cop_payments::payouts::schema();
    }
    CREATE = run!(create), "Debit pesos that are to be paid out" => {
        command "cop-payout create", "Pay pesos out; the balance is debited at once", "--mode live \
            --amount-cop 50000 --bank Bancolombia --account-number 12345678901 --account-type savings \
            --holder-name \"Ana Paz\" --document-type CC --document-number 1020304050";
        refuses 503, &["clock_stepped"];
        body "NewCopPayout";
        example "to a wallet",
            r#"{"mode":"test","amountCop":"40000","bank":"Nequi","accountNumber":"3001234567","accountType":"wallet","holderName":"Ana Perez","documentType":"CC","documentNumber":"1020304050","externalRef":"cop-1"}"#;
        answers 201, "CopPayout", "The payout, pending";
        waits;
        answers 200, "CopPayout", "The payout that is there under this reference";
        refuses 403, &["cop_not_enabled"];
        refuses 409, &["external_ref_conflict"];
        refuses 422, &["insufficient_balance"];
    } shows api::cop_payments::payouts::created;
    COMPLETE = run!(|call| settle(call, "reference", PayoutEnd::Completed).await), "Say that a payout in pesos was paid" => {
        command "cop-payout complete", "Record that pesos have arrived", "--reference 778899";
        with settles;
        body "CopPayoutCompletion";
        example "the bank's reference", r#"{"reference":"BC-812"}"#;
    } shows api::cop_payments::payouts::settled;
    FAIL = run!(|call| settle(call, "failureCode", PayoutEnd::Failed).await), "Say that a payout in pesos failed" => {
        command "cop-payout fail", "Record that pesos have not arrived; they return to the balance",
            "--failure-code AC01";
        with settles;
        about "The pesos go back.";
        body "CopPayoutFailure";
        example "why", r#"{"failureCode":"account_closed"}"#;
    } shows api::cop_payments::payouts::settled;
}

async fn create(call: Call) -> CallResult {
    let (mode, new) = call.body.read(|body| Ok(read(Fields::parse(body)?)?))?;
    let tenant = call.tenant()?;
    approved!(call.waits_for_approval());
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

fn read(mut fields: Fields<'_>) -> Result<(Mode, impl FnOnce(Id) -> CopPayout + use<>), Invalid> {
    let account = kind(|value: Value<'_>| value.text_as(ColombianAccount::parse), schema::text);
    Ok(read!(fields {
        required mode = "mode", kinds::mode();
        required amount = "amountCop", pesos();
        required bank = "bank", kinds::trimmed(NAME_CHARACTERS) => bank.into_owned();
        required account = "accountNumber", account;
        required account_type = "accountType", kinds::named_one(AccountType::ALL, AccountType::name);
        required holder_name = "holderName", kinds::trimmed(NAME_CHARACTERS) => holder_name.into_owned();
        required document_type = "documentType", kinds::named_one(DocumentType::ALL, DocumentType::name);
        required document_number = "documentNumber", document_number();
        required external_ref = "externalRef", kinds::plain_ref();
    } => {
        let to = Beneficiary { bank, account, account_type, holder_name, document_type, document_number };
        (mode, move |id| CopPayout {
            id,
            external_ref,
            status: Status::Pending,
            amount,
            to,
            reference: None,
            failure_code: None,
            // These two are filled in by the decision.
            livemode: false,
            created_at: Timestamp::EPOCH,
            settled_at: None,
        })
    }))
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

fn read_word(fields: Fields<'_>, name: &'static str) -> Result<String, Invalid> {
    Ok(only(fields, name, kinds::trimmed(1..=64))?.into_owned())
}

async fn settle(call: Call, name: &'static str, end: fn(String) -> PayoutEnd) -> CallResult {
    let word = read_word(call.body.fields()?, name)?;
    let (id, tenant_key) = call.owner(Space::CopPayout)?;
    approved!(call.waits_about(call.tenant_of(tenant_key)));
    let command = cop_payouts::Command::Settle(end(word)).into();
    call.decide(tenant_key, EntityId::cop_payout(id), command, id).await
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
