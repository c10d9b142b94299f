//! Chargebacks as operators record them: what the bank took back of a card payment, and how the
//! dispute about it ended.

use super::call::{Call, CallResult, Handler, run};
use crate::store::history::Stored;
use api::chargebacks::{payment_of, read_new, read_verdict};
use api::endpoint::chapter;
use api::payments::find;
use api::problem::Problem;
use domain::index::Space;
use domain::resources::chargebacks;
use domain::values::ids::{Mode, tenant_key};

chapter! { "Money", "", {
        with api::chargebacks::schemas();
    }
    OPEN = run!(open), "Record a chargeback" => {
        command "chargeback create", "Record that a bank takes a card payment back",
            "--payment-id 01930a4b-5c6d-7e8f-9012-3456789b0000 --reason fraud";
        refuses 503, &["clock_stepped"];
        body "NewChargeback";
        example "the whole payment", r#"{"paymentId":"01975a2e-7c00-7000-8000-000000000010","reason":"fraud"}"#;
        answers 201, "Chargeback", "The chargeback";
        refuses 409, &["chargeback_not_allowed", "chargeback_exceeds_payment", "too_many_chargebacks"];
        about "A `feeVes` beyond the account's `chargebackFeeMax` takes an approval of `adjustments`; 400 \
            without.";
        answers 202, "AskedApproval", "The fee waits for a second person";
    } shows api::chargebacks::opened;
    CLOSE = run!(close), "Decide a dispute" => {
        command "chargeback close", "Record how the dispute ended", "--outcome won";
        refuses 503, &["clock_stepped"];
        body "ChargebackOutcome";
        example "won", r#"{"outcome":"won"}"#;
        answers 200, "Chargeback", "The chargeback, closed";
        refuses 409, &["chargeback_closed"];
    } shows api::chargebacks::closed;
}

async fn open(call: Call) -> CallResult {
    let tenant = call.tenant();
    let number = tenant.as_ref().map_or(0, |tenant| tenant.number);
    let id = call.services.fresh_id(tenant_key(number, Mode::Live));
    let (payment, new) = read_new(call.body.fields()?, id)?;
    let tenant = tenant?;
    // The body names no mode: the payment is in one of them.
    for mode in [Mode::Live, Mode::Test] {
        let tenant_key = tenant_key(tenant.number, mode);
        let found = find(&Stored::of(call.services.engine.reader(), tenant_key), payment);
        if let Some(payment) = found? {
            // The fee goes to the platform whatever it is: a greater one is a correction of a balance.
            let fee_max = tenant.tenant_settings.settings.chargeback_fee_max();
            if new.fee.is_some_and(|fee| fee > fee_max) && !call.signature.has_consent() {
                let too_much = || {
                    let message =
                        format!("is at most {fee_max}, the setting chargebackFeeMax, without an approval");
                    Problem::invalid_field("feeVes", message)
                };
                return call.waits_for_approval().await?.ok_or_else(too_much);
            }
            let command = chargebacks::Command::Open(Box::new(new)).into();
            return call.decide(tenant_key, payment, command, id).await;
        }
    }
    Err(Problem::not_found())
}

async fn close(call: Call) -> CallResult {
    let verdict = read_verdict(call.body.fields()?)?;
    let (id, tenant_key) = call.owner(Space::Chargeback)?;
    let reader = call.services.engine.reader();
    let payment = payment_of(&Stored::of(reader, tenant_key), id)?;
    call.decide(tenant_key, payment, chargebacks::Command::Close(id, verdict).into(), id).await
}
