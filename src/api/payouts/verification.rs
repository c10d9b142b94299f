//! The start of a verification by micro-deposits, of a merchant's payout method or of the tenant's own account.

use crate::endpoint::{Context, Target};
use crate::fields::{Fields, Invalid, read};
use crate::openapi::schema::Schema;
use crate::openapi::{kinds, schema};
use crate::problem::Problem;
use crate::records::{Records, Stopped, Unread};
use crate::respond::Reply;
use crate::writer::Object;
use domain::entities::Entity;
use domain::entities::verification::{KnownPhone, MethodStatus};
use domain::index::{self, Space};
use domain::resources::verification::Start;
use domain::resources::verification::TRIES;
use domain::resources::verification::limits::PHONE_STARTS_MAX;
use domain::resources::{merchants, own_account};
use domain::values::ids::{EntityId, Id};
use domain::values::money::Ves;
use domain::values::time::Timestamp;
use domain::values::venezuela::{BankCode, MobilePhone};
use std::ops::ControlFlow;

/// Sends micro-deposits to the payout method of a merchant, or to the tenant's own account, unless their phone
/// got too many. Starts of one phone, by whomever, are made one after the other, so that each knows of those
/// before.
pub async fn start(cx: &mut Context<'_>, entity: EntityId, method: Option<Id>) -> Result<Reply, Problem> {
    let amounts = cx.env.micro_deposits();
    let known = cx.find(|records| Ok(records.entity(entity)?.ok_or_else(Problem::not_found)?))?;
    let (bank, phone) = phone_of(&known, method).ok_or_else(Problem::not_found)?;
    let (owner, prefix) = (Space::DepositStart.owner(cx.caller.tenant_key), KnownPhone::prefix(bank, phone));
    cx.server.release_slot();
    cx.server.hold(owner, Space::DepositStart, &prefix).await?;
    let starts = cx.find(|records| newest_starts(records, owner, &prefix))?;
    let start = Box::new(Start { amounts, phone: KnownPhone { bank, phone, starts } });
    let command = match method {
        Some(method) => merchants::Command::StartVerification { method, start }.into(),
        None => own_account::Command::StartVerification(start).into(),
    };
    cx.server.ask(Target::Entity(entity), command).await
}

/// The phone at a bank whose verification is asked for.
fn phone_of(entity: &Entity, method: Option<Id>) -> Option<(BankCode, MobilePhone)> {
    match entity {
        Entity::Merchant(merchant) => merchant.method(method?).map(|method| (method.bank, method.phone)),
        Entity::OwnAccount(account) => Some((account.held.bank, account.held.phone)),
        _ => None,
    }
}

/// The instants of the newest starts whose names begin so, as many as count.
fn newest_starts(records: &dyn Records, owner: u64, prefix: &str) -> Result<Vec<Timestamp>, Unread> {
    let mut starts = Vec::new();
    let of_phone = index::name(owner, Space::DepositStart, prefix);
    records.newest_entries(vec![of_phone], None, None, &mut |operation, _| {
        let operation = str::from_utf8(operation).ok().and_then(Id::parse);
        let operation = operation
            .ok_or_else(|| Stopped::Unreadable("the start of a verification without an id".to_owned()))?;
        starts.push(Timestamp::from_unix_ms(operation.unix_ms()));
        let is_full = starts.len() == PHONE_STARTS_MAX;
        Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(starts)
}

/// The start of a verification, with the word for what is deleted when the bank rejects it.
pub(crate) fn started(action: &'static str) -> Schema {
    schema::object()
        .member("status", schema::one_of(["verifying", "rejected", "unverified"]))
        .optional("attemptsLeft", schema::integer().range("0", "3"))
        .optional(
            "failureCode",
            schema::text().about(
                "`BE01` when the bank says that the holder is somebody else. Another code with \
                 `unverified`: the bank made no deposits; `order_unfit` when it cannot be given these \
                 data, as for a phone without the document of its owner.",
            ),
        )
        .optional("action", schema::text().constant(action))
}

pub fn read_seen(mut fields: Fields<'_>) -> Result<(Ves, Ves), Invalid> {
    Ok(read!(fields {
        required first = "amount1", kinds::amount();
        required second = "amount2", kinds::amount();
    } => (Ves::from_minor(first), Ves::from_minor(second))))
}

/// The members of a verification that was begun: the status, and why the bank made no deposits, if it
/// refused to. Where nothing is left to verify, the bank has rejected it, and so much was deleted.
pub(crate) fn begun(body: Object, status: Option<&MethodStatus>, deleted: &str) -> Vec<u8> {
    let Some(status) = status else {
        return body.plain("status", "rejected").plain("failureCode", "BE01").plain("action", deleted).end();
    };
    let body = body.plain("status", status.name()).number("attemptsLeft", TRIES);
    let refused = status.word.as_ref().and_then(|word| word.code.as_deref());
    match refused.filter(|_| status.name() == "unverified") {
        Some(code) => body.text("failureCode", code).end(),
        None => body.end(),
    }
}
