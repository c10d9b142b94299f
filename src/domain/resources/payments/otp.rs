//! The code of an immediate debit: a request that the payer's bank send one. Nothing else depends
//! on it; it is written down so that the operation can be looked up.

use super::reasons::Reason;
use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Rules, Ruling, Turn};
use crate::entities::means::Debtor;
use crate::entities::otp::{Otp, Status};
use crate::entities::payment::REQUEST_OTP;
use crate::ledger::book::Book;
use crate::rail::{Effect, How, Order, RailAnswer, RailReply, Service, UNSENT_RETRY_SECONDS};
use crate::refusal::{PaymentRefusal, Refusal};
use crate::trace::OrderState;
use crate::values::ids::{EntityId, Id};
use crate::values::money::Ves;

/// The lifetime of a code that the payer is shown, in milliseconds. The bank decides; no source
/// says how long a code lives.
const CODE_MS: i64 = 5 * 60 * 1000;

pub struct NewOtp {
    pub id: Id,
    pub debtor: Debtor,
    pub amount: Ves,
    /// The bank's answer where it was told before anything is written: in live mode.
    pub answer: Option<RailAnswer>,
}

pub fn decide(_: &Book, otp: Option<&Otp>, new: NewOtp, turn: &Turn<'_>) -> Ruled {
    if otp.is_some() {
        return Err(Refusal::NotFound);
    }
    let NewOtp { id, debtor, amount, answer } = new;
    // A bank that has answered already may be called, whatever became of others' calls meanwhile.
    let terms = turn.terms(Service::Debit, None);
    if answer.is_none() {
        terms.may_send()?;
    }
    terms.carries(amount, "monto")?;
    let otp = Otp {
        id,
        status: Status::Pending,
        debtor,
        amount,
        reference: None,
        failure_code: None,
        kept: turn.keep.clone(),
        livemode: turn.livemode,
        created_at: turn.now,
        expires_at: turn.now.plus_ms(CODE_MS),
        settled_at: None,
    };
    match answer {
        None => {
            let effect = order(EntityId::otp(id), &debtor, amount, turn);
            Ok(Ruling::write_then(Draft::created(Cause::OtpRequested, otp), vec![effect]))
        }
        Some(RailAnswer::Done { reference }) => {
            let (status, settled_at) = (Status::Completed, Some(turn.now));
            let sent = Otp { status, reference, settled_at, kept: None, ..otp };
            Ok(Ruling::write(Draft::created(Cause::OtpRequested, sent)))
        }
        Some(RailAnswer::Refused { code }) => Err(PaymentRefusal::OtpRefused { failure_code: code }.into()),
        // No code can be promised: the caller may ask for one again, as it moves no money.
        Some(
            RailAnswer::Waiting
            | RailAnswer::Silent
            | RailAnswer::Unaskable
            | RailAnswer::NeverReceived
            | RailAnswer::NotSent
            | RailAnswer::NotAsked,
        ) => Err(Refusal::RailUnavailable { retry_after_seconds: UNSENT_RETRY_SECONDS }),
    }
}

/// The request that the bank send the payer a code.
pub(super) fn order(entity: EntityId, debtor: &Debtor, amount: Ves, turn: &Turn) -> Effect {
    let order = Order::RequestOtp { bank: debtor.bank, debtor: debtor.id, phone: debtor.phone, amount };
    OrderState::default().call(entity, REQUEST_OTP, How::Send, turn.now, order)
}

impl Rules for Otp {
    fn on_rail_reply(&self, _: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
        match (self.status, reply.answer) {
            (Status::Pending, RailAnswer::Done { reference }) => {
                settle(self, Otp { status: Status::Completed, reference, ..self.clone() }, turn)
            }
            (Status::Pending, RailAnswer::Refused { code }) => {
                settle(self, Otp { status: Status::Failed, failure_code: Some(code), ..self.clone() }, turn)
            }
            // No answer yet, or none that will come: the request ends at its deadline. And nothing depends on
            // one that is over, whatever the bank says now.
            _ => Ruling::unchanged(),
        }
    }

    /// Ends a request that the bank never answered, as the code would be of no use by now.
    fn on_deadline(&self, _: &Book, turn: &Turn<'_>) -> Ruling {
        if self.status != Status::Pending {
            return Ruling::unchanged();
        }
        let failure_code = Some(Reason::NoAnswer.code().to_owned());
        settle(self, Otp { status: Status::Failed, failure_code, ..self.clone() }, turn)
    }
}

fn settle(before: &Otp, settled: Otp, turn: &Turn) -> Ruling {
    let settled = Otp { kept: None, settled_at: Some(turn.now), ..settled };
    let mut draft = Draft::changed(Cause::OtpSettled, before, settled);
    draft.replaces_kept = before.kept.clone();
    Ruling::write(draft)
}
