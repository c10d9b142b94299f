//! GET /v1/payments/operations/:id: the outcome of an operation with a bank. The id of an operation
//! leads to its payment or payout.

use super::show::CHAPTER;
use crate::endpoint::{Context, Handler, endpoints, run, shown};
use crate::problem::Problem;
use crate::respond::Reply;
use domain::entities::cop_payment::{CopPayment, Failure};
use domain::entities::means::Means;
use domain::entities::otp::Otp;
use domain::entities::payment::{Payment, Phase, Status};
use domain::entities::payout::Payout;
use domain::entities::{Entity, cop_payment, payment, payout};
use domain::trace::{Trace, shown};
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::Timestamp;

/// The kinds of entities that have operations.
pub const KINDS: [Kind; 4] = [Kind::Payment, Kind::Payout, Kind::Otp, Kind::CopPayment];

const NAMES: [&str; 8] =
    ["charge", "debit", "verification", "reversal", "otp", "credit", "collection", "refund"];

const CONTRADICTED: &str = "The bank said both that it was done and that it was not. No money moved by the \
    second word; the operator clears it up with the bank.";

endpoints! { CHAPTER;
    OPERATION = run!(operation), "Read an operation with a bank" => {
        about "What became of a call to a bank: the `operationId` of a payment, a payout or a debit code \
            leads here.";
        answers 200, "Operation", "The operation";
    };
}

async fn operation(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.read(|records| {
        let (whose, n) = id.entity_and_operation();
        for kind in KINDS {
            if let Some(found) = records.entity(EntityId { kind, id: whose })?
                && let Some(body) = show(id, n, &found)
            {
                return Ok(body);
            }
        }
        Err(Problem::not_found().into())
    })
}

struct Operation<'a> {
    kind: &'static str,
    status: &'static str,
    code: Option<&'a str>,
    reference: Option<&'a str>,
    /// Whether the bank said both that it was done and that it was not.
    contradicted: bool,
    updated_at: Timestamp,
}

/// The operation `id`, the `n`-th of this entity; `None` when it has had no such operation.
pub fn show(id: Id, n: u16, entity: &Entity) -> Option<Vec<u8>> {
    let (operation, payment, payout, created_at) = match entity {
        Entity::Payment(payment) => (of_payment(payment, n)?, Some(payment.id), None, payment.created_at),
        Entity::Payout(payout) => (of_payout(payout, n)?, None, Some(payout.id), payout.created_at),
        Entity::Otp(otp) => (of_otp(otp, n)?, None, None, otp.created_at),
        Entity::CopPayment(payment) => {
            (of_cop_payment(payment, n)?, Some(payment.id), None, payment.created_at)
        }
        _ => return None,
    };
    Some(show_operation(id, &operation, payment, payout, created_at))
}

shown! {
    fn show_operation(id: Id, operation: &Operation<'_>, payment: Option<Id>, payout: Option<Id>, created_at: Timestamp), schema, 512 {
        plain "operationId" = id, uuid();
        plain "kind" = operation.kind, one_of(NAMES);
        plain "status" = operation.status, one_of(["pending", "completed", "failed"]);
        maybe text "code" = operation.code, text().about("The bank's code, when it failed.");
        maybe text "reference" = operation.reference, text().about("The bank's reference.");
        boolean "contradicted" = operation.contradicted, boolean().about(CONTRADICTED);
        maybe plain "paymentId" = payment, uuid();
        maybe plain "payoutId" = payout, uuid();
        plain "createdAt" = created_at, instant();
        plain "updatedAt" = operation.updated_at, instant();
    }
}

/// What the status of a payment says of its charge.
const fn outcome(status: Status) -> &'static str {
    match status {
        Status::Pending => "pending",
        Status::Completed | Status::Reversed => "completed",
        Status::Failed | Status::Canceled => "failed",
    }
}

fn of_payment(payment: &Payment, n: u16) -> Option<Operation<'_>> {
    match n {
        payment::CHARGE if was_charged(payment) => Some(Operation {
            kind: payment.means.operation_name(),
            status: outcome(payment.status),
            code: payment.failure_code.as_deref(),
            reference: shown(&payment.bank_reference),
            contradicted: payment.contradicted() == Some(payment::CHARGE),
            updated_at: updated(payment.order.of(n), payment.completed_at, payment.created_at),
        }),
        // A payment that was charged back whole may have had none.
        n if n == payment.reversal() && payment.reversals > 0 => Some(Operation {
            kind: "reversal",
            status: match (payment.reversed_at, &payment.phase) {
                (Some(_), _) => "completed",
                (None, Phase::Reversing { .. }) => "pending",
                (None, _) => "failed",
            },
            code: if let Phase::ReversalDenied { code } = &payment.phase { Some(code) } else { None },
            reference: shown(&payment.reversal_ref),
            contradicted: payment.contradicted() == Some(n),
            updated_at: updated(
                payment.order.of(n),
                payment.reversed_at,
                payment.completed_at.unwrap_or(payment.created_at),
            ),
        }),
        // An earlier reversal was refused before another was tried; the bank may have made it after all.
        n => payment.is_earlier_reversal(n).then(|| {
            let made = payment.earlier_reversal.as_ref().filter(|earlier| earlier.operation == n);
            Operation {
                kind: "reversal",
                status: "failed",
                code: None,
                reference: made.map(|made| made.reference.as_str()).filter(|reference| !reference.is_empty()),
                contradicted: made.is_some(),
                updated_at: updated(payment.order.of(n), payment.completed_at, payment.created_at),
            }
        }),
    }
}

/// The instant of an order's outcome, or of the word that contradicted it; of one that is open, when it
/// was sent.
fn updated(order: Option<&Trace>, ended_at: Option<Timestamp>, since: Timestamp) -> Timestamp {
    let decided_at = order.and_then(|order| order.decided_at);
    let sent_at = || order.and_then(|order| order.sent_at);
    decided_at.or(ended_at).or_else(sent_at).unwrap_or(since)
}

/// An intent has no charge before its code has come; the others begin with one.
fn was_charged(payment: &Payment) -> bool {
    !matches!(payment.means, Means::C2p { token_mark: None, .. } | Means::Usdt { .. })
}

fn of_otp(otp: &Otp, n: u16) -> Option<Operation<'_>> {
    (n == payment::REQUEST_OTP).then(|| Operation {
        kind: "otp",
        status: otp.status.name(),
        code: otp.failure_code.as_deref(),
        reference: shown(&otp.reference),
        contradicted: false,
        updated_at: otp.settled_at.unwrap_or(otp.created_at),
    })
}

fn of_payout(payout: &Payout, n: u16) -> Option<Operation<'_>> {
    (n == payout::CREDIT).then(|| Operation {
        kind: "credit",
        status: payout.status.name(),
        code: payout.failure_code.as_deref(),
        reference: shown(&payout.reference),
        contradicted: payout.is_contradicted(),
        updated_at: updated(Some(&payout.order.trace), payout.settled_at, payout.created_at),
    })
}

fn of_cop_payment(payment: &CopPayment, n: u16) -> Option<Operation<'_>> {
    if n == cop_payment::COLLECT {
        return Some(Operation {
            kind: "collection",
            status: outcome(payment.status),
            code: payment.failure_code(),
            reference: shown(&payment.processor_reference),
            contradicted: payment.contradicted() == Some(n),
            updated_at: updated(payment.order.of(n), payment.completed_at, payment.created_at),
        });
    }
    // An earlier refund was refused before another was tried; the processor may have made it after all.
    if payment.is_earlier_refund(n) {
        let reference = payment.reference_of_refund(n);
        return Some(Operation {
            kind: "refund",
            status: "failed",
            code: None,
            reference: reference.filter(|reference| !reference.is_empty()),
            contradicted: reference.is_some(),
            updated_at: updated(payment.order.of(n), payment.completed_at, payment.created_at),
        });
    }
    let refunding = matches!(payment.phase, cop_payment::Phase::Refunding { .. });
    payment.is_refund(n).then(|| Operation {
        kind: "refund",
        status: match (payment.refunded_at, refunding) {
            (Some(_), _) => "completed",
            (None, true) => "pending",
            (None, false) => "failed",
        },
        code: payment.failure.filter(|failure| *failure == Failure::RefundRefused).map(Failure::name),
        reference: payment.reference_of_refund(n).filter(|reference| !reference.is_empty()),
        contradicted: payment.contradicted() == Some(n),
        updated_at: updated(
            payment.order.of(n),
            payment.refunded_at,
            payment.completed_at.unwrap_or(payment.created_at),
        ),
    })
}
