//! Payouts of pesos as the operator makes them: asked for here, debited at once, paid at a bank in
//! Colombia, and settled here again.

use super::ask;
use super::call::{Call, Outcome};
use crate::gateway::dispatch::failure;
use crate::store::history::{self, Unreadable};
use api::fields::{Bad, Fields};
use api::number;
use api::problem::Problem;
use api::value::Value;
use domain::commands::{Command, KeyedCommand};
use domain::index::{self, Space};
use domain::kept::Shape;
use domain::platform::{Mode, PLATFORM, tenant_key};
use domain::resources::cop_payments::AMOUNT_MAX;
use domain::resources::cop_payouts;
use domain::resources::cop_payouts::{AccountType, Beneficiary, ColombianAccount, NewCopPayout};
use domain::resources::payouts::lifecycle::PayoutEnd;
use domain::values::buyer::{DocumentNumber, DocumentType};
use domain::values::external_ref::ExternalRef;
use domain::values::ids::{EntityId, Id};
use domain::values::money::Cop;

/// Characters of a bank's or a holder's name.
const NAME_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=120;
/// Characters of a bank's reference or of why a payout failed.
const WORD_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=64;

/// POST /admin/tenants/:id/cop-payouts
pub async fn create(call: Call) -> Outcome {
    let (mode, new) = call.body.read(read)?;
    let tenant = call.tenant().ok_or_else(Problem::not_found)?;
    let tenant_key = tenant_key(tenant.number, mode);
    let new = new(call.services.fresh_id(tenant_key));
    // Held until the record is durable: a request with the same reference meanwhile waits, and
    // finds this payout then.
    let name_held =
        call.services.reservations.hold_name(tenant_key, Space::CopPayout, &new.external_ref).await;
    let known =
        history::named(call.services.engine.reader(), tenant_key, Space::CopPayout, &new.external_ref)?;
    let id = EntityId::cop_payout(known.unwrap_or(new.id));
    tell(
        &call,
        tenant_key,
        Target { id, new: known.is_none(), name_held: Some(Box::new(name_held)) },
        cop_payouts::Command::Pay(Box::new(new)).into(),
        Shape::CopPayoutCreated,
    )
    .await
}

/// The mode, and the payout that an id makes of the rest.
fn read(body: &[u8]) -> Result<(Mode, impl FnOnce(Id) -> NewCopPayout), Problem> {
    let mut fields = Fields::parse(body)?;
    let mode = fields.required("mode", |value| value.text_known("live or test", Mode::from_name));
    let amount = fields.required("amountCop", pesos);
    let bank = fields.required("bank", |value| value.trimmed(NAME_CHARACTERS));
    let account = fields.required("accountNumber", |value| value.text_as(ColombianAccount::parse));
    let account_type = fields
        .required("accountType", |value| value.one_of(&AccountType::ALL.map(|kind| (kind.name(), kind))));
    let holder_name = fields.required("holderName", |value| value.trimmed(NAME_CHARACTERS));
    let document_type = fields
        .required("documentType", |value| value.one_of(&DocumentType::ALL.map(|kind| (kind.name(), kind))));
    let document_number = fields.required("documentNumber", |value| value.text_as(DocumentNumber::parse));
    let external_ref = fields.required("externalRef", |value| value.text_as(ExternalRef::parse));
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
fn pesos(value: Value<'_>) -> Result<Cop, Bad> {
    let wanted = || Bad::from(format!("must be a whole number of pesos from 1 to {AMOUNT_MAX}"));
    let minor = match value.string() {
        Ok(text) => number::amount(&format!("{text}.00")).map(|cents| cents / 100),
        Err(_) => value.integer(1..=AMOUNT_MAX.minor()).ok(),
    };
    minor.filter(|minor| (1..=AMOUNT_MAX.minor()).contains(minor)).map(Cop::from_minor).ok_or_else(wanted)
}

/// POST /admin/cop-payouts/:id/complete
pub async fn complete(call: Call) -> Outcome {
    let mut fields = call.body.fields()?;
    let reference = fields.required("reference", |value| value.trimmed(WORD_CHARACTERS));
    let sound = fields.finish()?;
    let end = PayoutEnd::Completed(reference.get(&sound).into_owned());
    settle(&call, end).await
}

/// POST /admin/cop-payouts/:id/fail
pub async fn fail(call: Call) -> Outcome {
    let mut fields = call.body.fields()?;
    let code = fields.required("failureCode", |value| value.trimmed(WORD_CHARACTERS));
    let sound = fields.finish()?;
    let end = PayoutEnd::Failed(code.get(&sound).into_owned());
    settle(&call, end).await
}

async fn settle(call: &Call, end: PayoutEnd) -> Outcome {
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    let reader = call.services.engine.reader();
    let whose = reader
        .index_get(&index::name(PLATFORM, Space::CopPayout, &id.to_string()))
        .map_err(Unreadable::from)?;
    let whose = whose.ok_or_else(Problem::not_found)?;
    let tenant_key = <[u8; 8]>::try_from(whose.as_slice())
        .map(u64::from_be_bytes)
        .map_err(|_| ask::defect("a payout in pesos of no tenant"))?;
    let target = Target { id: EntityId::cop_payout(id), new: false, name_held: None };
    tell(call, tenant_key, target, cop_payouts::Command::Settle(end).into(), Shape::CopPayout).await
}

/// The payout that a command is for.
struct Target {
    id: EntityId,
    new: bool,
    name_held: Option<actors::Guard>,
}

/// Asks the payout for a decision, once per Idempotency-Key.
async fn tell(call: &Call, tenant_key: u64, target: Target, ask: Command, shape: Shape) -> Outcome {
    call.services.may_decide(tenant_key)?;
    let (keep, key_held) = call.keep(shape);
    let audit = call.sign_about(call.tenant_of(tenant_key), Some(target.id.id.to_string()));
    let command = KeyedCommand::from(ask).keeping(keep).audited(audit);
    let settled = call
        .services
        .engine
        .ask_entity(tenant_key, target.id, target.new, command, target.name_held, key_held)
        .await
        .map_err(failure)?;
    call.answer(tenant_key, shape, &settled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(body: &str) -> Vec<String> {
        read(body.as_bytes())
            .err()
            .map(|problem| problem.fields)
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
        let body = r#"{"mode":"both","amountCop":0,"bank":" ","accountNumber":"12-34","accountType":"gold","holderName":1,"documentType":"V","documentNumber":"1","externalRef":"","x":1}"#;
        assert_eq!(named(body), [&all[..], &["x"]].concat());
    }

    #[test]
    fn pesos_are_whole_as_a_number_or_as_text() {
        let amount = |written: &str| {
            let rest = r#""mode":"test","bank":"b","accountNumber":"12345","accountType":"wallet","holderName":"h","documentType":"CC","documentNumber":"123","externalRef":"r""#;
            read(format!(r#"{{"amountCop":{written},{rest}}}"#).as_bytes())
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
