//! Instructions about a collection: the buyer's code, a cancellation, and what test mode plays. One
//! record says what is about to be told; one thing is told at a time, so it is known whose answer comes.

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::cop_payment::{COLLECT, CopPayment, Failure, Live, Phase, TELL, Telling, Waiting};
use crate::entities::payment::Status;
use crate::platform::audit::AuditEntry;
use crate::rail::{Collection, Effect, How, Instruction, Order};
use crate::refusal::{CopPaymentRefusal, PaymentRefusal};
use crate::values::colombia::Channel;
use crate::values::ids::EntityId;
use crate::values::time::Timestamp;
use crate::values::token::Token;

pub(super) fn collection(payment: &CopPayment) -> Collection {
    Collection {
        original: payment.id.operation(COLLECT),
        amount: payment.amount,
        expires_at: payment.expires_at,
    }
}

pub(super) fn order(payment: &CopPayment, how: How, now: Timestamp) -> Effect {
    let order = Order::CollectCop {
        collection: collection(payment),
        channel: payment.channel,
        amount: payment.amount,
        transfer_key: payment.transfer_key(),
        buyer: payment.buyer.clone(),
        is_paid: matches!(payment.status, Status::Completed | Status::Reversed),
    };
    payment.order.call(EntityId::cop_payment(payment.id), COLLECT, how, now, order)
}

/// Sends the buyer's SMS code to the processor. Text that cannot be a code counts as a wrong one;
/// it is not sent and not counted, as it cannot be right.
pub fn submit_code(payment: &CopPayment, code: Option<Token>, turn: &Turn) -> Ruled {
    if takes_no_more_codes(payment) || payment.failure == Some(Failure::OtpAttemptsExhausted) {
        return Err(CopPaymentRefusal::OtpAttemptsExhausted.into());
    }
    // A buyer who was not sent a code has none.
    let has_code = payment.live.is_none_or(|live| live.code_sent && !live.misfit);
    match (payment.status, payment.channel, code) {
        (Status::Pending, Channel::Sms, Some(_)) if !has_code => Err(PaymentRefusal::ChargeInProgress.into()),
        (Status::Pending, Channel::Sms, Some(code)) => {
            tell(payment, Telling::Code, Instruction::Code(code), turn)
        }
        (Status::Pending, Channel::Sms, None) => Err(CopPaymentRefusal::InvalidOtp.into()),
        (Status::Pending, Channel::Qr | Channel::Push, _) => Err(CopPaymentRefusal::ChannelMismatch.into()),
        _ => Err(CopPaymentRefusal::NotPending.into()),
    }
}

/// Whether as many codes were tried as may be, and none of them is under way or was right. A live payment
/// remembers that when it has failed too, whatever for.
fn takes_no_more_codes(payment: &CopPayment) -> bool {
    let telling = payment.phase.waiting().and_then(|waiting| waiting.telling);
    payment.codes() >= payment.codes_max()
        && telling != Some(Telling::Code)
        && matches!(payment.status, Status::Pending | Status::Failed)
}

/// Cancels a payment for the tenant, or for an operator. What the operator did is known when the
/// processor agrees, so the entry of the audit waits for that record with the payment.
pub fn cancel(payment: &CopPayment, by: Option<Box<AuditEntry>>, turn: &Turn) -> Ruled {
    let payment = CopPayment { canceler: by, ..payment.clone() };
    tell(&payment, Telling::Cancel, Instruction::Cancel, turn)
}

/// Writes an instruction before it is sent, so that its answer is kept and a cancellation is
/// resumed after a crash. One instruction is sent at a time, so that it is known which one a reply
/// is about.
pub fn tell(payment: &CopPayment, telling: Telling, instruction: Instruction, turn: &Turn) -> Ruled {
    let waiting = payment.phase.waiting().ok_or(CopPaymentRefusal::NotPending)?;
    if waiting.telling.is_some() {
        return Err(PaymentRefusal::ChargeInProgress.into());
    }
    let under_way = Waiting { telling: Some(telling), ..waiting };
    // A code counts before it is sent: who ends the process in between has used it up.
    let instructed =
        if telling == Telling::Code { counted(payment, under_way, 1) } else { with(payment, under_way) };
    let instructed = CopPayment { kept: turn.keep.clone(), ..instructed };
    let draft = Draft::changed(Cause::CopPaymentInstructed, payment, instructed);
    let effect = match instruction {
        Instruction::Cancel => call_off(payment, turn.now),
        instruction => message(payment, instruction, turn.now),
    };
    Ok(Ruling::write_then(draft, vec![effect]))
}

/// The processor is told that the payment is called off. A live one cannot be told: it is asked whether
/// it has decided.
pub(super) fn call_off(payment: &CopPayment, now: Timestamp) -> Effect {
    match payment.live {
        Some(_) => order(payment, How::Ask, now),
        None => message(payment, Instruction::Cancel, now),
    }
}

fn with(payment: &CopPayment, waiting: Waiting) -> CopPayment {
    CopPayment { phase: Phase::Collecting(waiting), ..payment.clone() }
}

/// The payment that waits like this, with so many codes more, or fewer, that were sent to the
/// processor.
fn counted(payment: &CopPayment, waiting: Waiting, more: i8) -> CopPayment {
    match payment.live {
        Some(live) => {
            let live = Some(Live { codes: live.codes.saturating_add_signed(more), ..live });
            CopPayment { live, ..with(payment, waiting) }
        }
        None => with(payment, Waiting { codes: waiting.codes.saturating_add_signed(more), ..waiting }),
    }
}

pub(super) fn message(payment: &CopPayment, instruction: Instruction, now: Timestamp) -> Effect {
    let rail_id = payment.order.trace.id.clone();
    let token = payment.code_token.clone();
    let order =
        Order::TellCop { collection: collection(payment), rail_id: rail_id.clone(), token, instruction };
    let call = payment.order.call(EntityId::cop_payment(payment.id), TELL, How::Send, now, order);
    Effect { rail_id, ..call }
}

/// The processor did not have what it was told about yet: it can be told again.
pub(super) fn without_instruction(payment: &CopPayment) -> Option<CopPayment> {
    let waiting = payment.phase.waiting()?;
    let free = Waiting { telling: None, ..waiting };
    Some(match waiting.telling {
        // Nobody judged the code.
        Some(Telling::Code) => counted(payment, free, -1),
        _ => with(payment, free),
    })
}

/// The draft by which an instruction may be given again.
pub(super) fn tell_again(payment: &CopPayment) -> Ruling {
    let Some(after) = without_instruction(payment) else { return Ruling::unchanged() };
    Ruling::write(Draft::changed(Cause::CopPaymentInstructed, payment, after))
}
