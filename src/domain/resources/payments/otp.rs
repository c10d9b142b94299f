//! The code of an immediate debit: a request that the payer's bank send one. Nothing else depends
//! on it; it is written down so that the operation can be looked up.

use super::reasons::Reason;
use crate::cause::Cause;
use crate::decision::{Draft, Rules, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::means::Debtor;
use crate::entities::otp::{Otp, Status};
use crate::ledger::book::Book;
use crate::rail::{Effect, How, Order, RailAnswer, RailReply, Service, UNSENT_RETRY_SECONDS};
use crate::refusal::{PaymentRefusal, Refusal};
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

/// A command to a request for a code.
pub enum Command {
    Request(Box<NewOtp>),
}

pub fn decide(_: &Book, otp: Option<&Otp>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, otp) {
        (Command::Request(new), None) => request(*new, turn),
        (Command::Request(_), Some(_)) => Ruling::refuse(Refusal::NotFound),
    }
}

/// Asks the bank to send a code.
pub fn request(new: NewOtp, turn: &Turn) -> Ruling {
    let NewOtp { id, debtor, amount, answer } = new;
    // A bank that has answered already may be called, whatever became of others' calls meanwhile.
    let terms = turn.terms(Service::Debit, None);
    if let (None, Err(refusal)) = (&answer, terms.may_send()) {
        return Ruling::refuse(refusal);
    }
    if let Err(refusal) = terms.carries(amount, "monto") {
        return Ruling::refuse(refusal);
    }
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
        None => {}
        Some(RailAnswer::Done { reference }) => {
            let (status, settled_at) = (Status::Completed, Some(turn.now));
            let mut draft = Draft::new(Cause::OtpRequested);
            draft.create(Entity::Otp(Otp { status, reference, settled_at, kept: None, ..otp }));
            return Ruling::write(draft);
        }
        Some(RailAnswer::Refused { code }) => {
            return Ruling::refuse(PaymentRefusal::OtpRefused { failure_code: code });
        }
        // No code can be promised: the caller may ask for one again, as it moves no money.
        Some(
            RailAnswer::Waiting
            | RailAnswer::Silent
            | RailAnswer::Unaskable
            | RailAnswer::NeverReceived
            | RailAnswer::NotSent
            | RailAnswer::NotAsked,
        ) => {
            return Ruling::refuse(Refusal::RailUnavailable { retry_after_seconds: UNSENT_RETRY_SECONDS });
        }
    }
    let effect = Effect {
        entity: EntityId::otp(id),
        operation: otp.operation(),
        rail_id: None,
        at: turn.now,
        how: How::Send,
        order: Order::RequestOtp { bank: debtor.bank, debtor: debtor.id, phone: debtor.phone, amount },
    };
    let mut draft = Draft::new(Cause::OtpRequested);
    draft.create(Entity::Otp(otp));
    Ruling::write_then(draft, vec![effect])
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
            // No answer yet, or none that will come: the request ends at its deadline.
            (
                Status::Pending,
                RailAnswer::Waiting
                | RailAnswer::Silent
                | RailAnswer::Unaskable
                | RailAnswer::NeverReceived
                | RailAnswer::NotSent
                | RailAnswer::NotAsked,
            )
            // The request is over, whatever the bank says now: nothing depends on it.
            | (Status::Completed | Status::Failed, _) => Ruling::unchanged(),
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
    let mut draft = Draft::new(Cause::OtpSettled);
    draft.change(before, Entity::Otp(Otp { kept: None, settled_at: Some(turn.now), ..settled }));
    draft.replace_kept(before.kept.clone());
    Ruling::write(draft)
}
