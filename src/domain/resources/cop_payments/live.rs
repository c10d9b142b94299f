//! Collections at a processor that is not simulated (`docs/contract.md, 18.4`): it tells what it calls
//! a collection and what the buyer needs to pay, takes fewer codes, cannot call anything off, and lets
//! nothing expire.
//!
//! A code is sent to a buyer once in the life of a payment: that it is about to be sent is durable
//! before it is, and so is the token that the processor gives for the next step. So a process that ends in between leaves a buyer without a code rather than with two;
//! such a buyer begins anew.

use super::{instructions, sale};
use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::cop_payment::{COLLECT, CopPayment, Live, Phase, TELL, Telling, Waiting};
use crate::entities::payment::Status;
use crate::entities::resource::Resource;
use crate::rail::{How, Instruction, RailAnswer, RailReply, UNSENT_RETRY_SECONDS};
use crate::refusal::Refusal;
use crate::trace::Progress;
use crate::values::colombia::Channel;
use crate::values::ids::EntityId;

/// Codes that the processor lets a buyer try.
pub const CODES_MAX: u8 = 2;

/// The answer to whoever asked for what could not be sent.
const UNAVAILABLE: Refusal = Refusal::RailUnavailable { retry_after_seconds: UNSENT_RETRY_SECONDS };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep<'a> {
    /// Scans the code of which this is the picture, or the one of the transfer key.
    Scan(Option<&'a str>),
    Approve,
    TypeCode,
}

impl CopPayment {
    pub const fn codes_max(&self) -> u8 {
        if self.live.is_some() { CODES_MAX } else { crate::entities::cop_payment::CODES_MAX }
    }

    pub fn codes(&self) -> u8 {
        match self.live {
            Some(live) => live.codes,
            None => self.phase.waiting().map_or(0, |waiting| waiting.codes),
        }
    }

    /// The step that the buyer can take for it now: none while a live processor has not said which.
    pub fn next_step(&self) -> Option<NextStep<'_>> {
        if self.status != Status::Pending {
            return None;
        }
        let Some(live) = self.live else {
            return Some(match self.channel {
                Channel::Qr => NextStep::Scan(None),
                Channel::Push => NextStep::Approve,
                Channel::Sms => NextStep::TypeCode,
            });
        };
        if self.order.trace.id.is_none() || live.misfit {
            return None;
        }
        let telling = self.phase.waiting().and_then(|waiting| waiting.telling);
        match self.channel {
            Channel::Qr => self.qr_image.as_deref().map(|picture| NextStep::Scan(Some(picture))),
            Channel::Push => Some(NextStep::Approve),
            Channel::Sms => {
                let may_type = live.code_sent
                    && live.codes < CODES_MAX
                    && !matches!(telling, Some(Telling::Code | Telling::SendCode));
                may_type.then_some(NextStep::TypeCode)
            }
        }
    }
}

/// The payment with what the processor said besides its answer and, of a live processor's answer to a
/// question, with the question.
pub(super) fn noting_reply(payment: &CopPayment, reply: &RailReply) -> CopPayment {
    let noted = payment.noting(COLLECT, &reply.said);
    let is_asked = reply.how == How::Ask && reply.answer != RailAnswer::NotAsked;
    if is_asked { asked(noted) } else { noted }
}

fn asked(payment: CopPayment) -> CopPayment {
    let live = payment.live.map(|live| Live { asks: live.asks.saturating_add(1), ..live });
    CopPayment { live, ..payment }
}

/// The answer of a live processor that decides nothing about a collection which still waits. What it
/// teaches is written down, and the buyer is sent a code when there is one to send.
pub(super) fn on_open(payment: &CopPayment, reply: &RailReply, turn: &Turn<'_>) -> Ruling {
    let (Some(waiting), Some(known)) = (payment.phase.waiting(), payment.live) else {
        return Ruling::unchanged();
    };
    let is_instruction = reply.operation.entity_and_operation().1 == TELL;
    let is_look = payment.deadline().is_some_and(|at| at <= turn.now);
    let is_unknown = reply.answer == RailAnswer::NeverReceived && payment.order.trace.id.is_none();
    let progress = reply.said.progress;
    let is_undecided = matches!(progress, Some(Progress::Waits | Progress::AwaitsCode));
    // A live processor cannot be told, so a collection that it has not decided counts as called
    // off.
    if waiting.telling == Some(Telling::Cancel) && (is_undecided || (is_unknown && is_look)) {
        let payment = noting_reply(payment, reply);
        return sale::settle(&payment, sale::canceled(&payment, turn), true, true);
    }
    let is_unsent = reply.answer == RailAnswer::NotSent && reply.how == How::Send;
    let is_first = !is_instruction && payment.order.looks == 0 && payment.order.trace.id.is_none();
    match waiting.telling {
        Some(Telling::Code) if is_unsent && is_instruction => return code_unsent(payment),
        None if is_unsent && is_first => return unsent(payment),
        _ => {}
    }
    let telling = match waiting.telling {
        // An instruction is not given twice, whatever came of it.
        Some(Telling::SendCode) if is_instruction || is_look => None,
        telling => telling,
    };
    // Nothing of it has left this machine: a look may have it sent.
    let not_sent = waiting.telling == Some(Telling::SendCode) && is_instruction && is_unsent;
    let sends_code = progress == Some(Progress::AwaitsCode)
        && payment.channel == Channel::Sms
        && !known.code_sent
        && telling.is_none()
        && turn.now < payment.expires_at;
    let live = Live {
        code_sent: (known.code_sent && !not_sent) || sends_code,
        misfit: known.misfit || progress == Some(Progress::Misfit),
        ..known
    };
    // An order that is sent again after the buyer's time would surprise a buyer who is gone.
    let again = is_unknown && is_look && reply.how == How::Ask && turn.now < payment.expires_at;
    let telling = if sends_code { Some(Telling::SendCode) } else { telling };
    let phase = Phase::Collecting(Waiting { telling, ..waiting });
    let noted = CopPayment { live: Some(live), phase, ..payment.noting(COLLECT, &reply.said) };
    let was_asked = reply.answer != RailAnswer::NotAsked;
    let is_news = noted != *payment;
    // While an instruction is under way, who gave it waits for what decides about it.
    let is_early = !is_look && reply.how == How::Ask && (is_news || waiting.telling.is_none());
    let mut after = if was_asked && (is_look || is_early) { asked(noted) } else { noted };
    // Nobody could be asked: that is no look.
    if is_look {
        after.order.looks = after.order.looks.saturating_add(u32::from(was_asked));
        let since = after.order.trace.sent_at.unwrap_or(after.created_at);
        after.order.next_look = Some(turn.next_look(after.order.looks, since));
    }
    if after == *payment {
        return Ruling::unchanged();
    }
    let mut effects = Vec::new();
    effects.extend(sends_code.then(|| instructions::message(&after, Instruction::SendCode, turn.now)));
    effects.extend(again.then(|| instructions::order(&after, How::Send, turn.now)));
    let is_shown = payment.next_step().is_none() && after.next_step().is_some();
    let mut draft = Draft::changed(Cause::BankAsked, payment, after);
    // The caller that asked for the payment is answered what its buyer does, as soon as that is
    // known.
    if is_shown {
        draft.replaces_kept = payment.kept.clone();
    }
    Ruling::write_then(draft, effects)
}

/// No connection was opened, so the processor knows nothing of the order: nothing is left of the
/// payment (`docs/contract.md, 18.4`).
fn unsent(payment: &CopPayment) -> Ruling {
    let mut draft = Draft::new(Cause::CopPaymentUnsent);
    draft.remove(EntityId::cop_payment(payment.id), payment);
    // A session that it was for has no attempt in pesos.
    draft.record.freed.extend(payment.checkout.as_ref().map(|checkout| checkout.sale.session.to_string()));
    draft.replaces_kept = payment.kept.clone();
    Ruling::write_and_refuse(draft, UNAVAILABLE)
}

/// The draft for a code that no connection carried, or that the processor says it did nothing with, so that
/// nobody has judged it: it does not count, and can be typed again.
fn code_unsent(payment: &CopPayment) -> Ruling {
    let Some(after) = instructions::without_instruction(payment) else { return Ruling::unchanged() };
    let after = CopPayment { kept: None, ..after };
    let mut draft = Draft::changed(Cause::CopPaymentInstructed, payment, after);
    draft.replaces_kept = payment.kept.clone();
    Ruling::write_and_refuse(draft, UNAVAILABLE)
}
