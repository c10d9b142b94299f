//! The bank's part of a step: what a record says of the order, the questions about it and the
//! bank's own words (`docs/contract.md, 5.11, 20.9`). The domain writes one cause for everything
//! that a bank says without deciding: the answer to an order, the answer to a question, and that
//! nobody could be asked. Which it was shows in the trace, beside that of the record before.

use crate::language::Language;
use domain::cause::Cause;
use domain::entities::means::Means;
use domain::entities::{Entity, cop_payment, crypto_payout, payment, payout};
use domain::record::Record;
use domain::trace::{BankWord, OrderState, RailId, Reach};
use domain::values::ids::{EntityId, Id};

type Said = (&'static str, &'static str);

#[derive(Default)]
pub struct SaidBefore {
    word: Option<BankWord>,
    id: Option<RailId>,
    reach: Reach,
    asks: u32,
}

pub struct BankPart {
    /// Of a record that decides nothing.
    pub what: Option<Said>,
    pub lines: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Answered, or left without an answer.
    Question,
    Answer,
    Silence,
    /// Nobody could be asked.
    Nothing,
}

impl SaidBefore {
    pub fn next(&mut self, language: Language, record: &Record, entity: EntityId) -> BankPart {
        let state = record.entity(entity).map(|state| &**state);
        let mut lines = Vec::new();
        if let Some(reference) = reference(record.cause, state) {
            lines.push(format!("{} {reference}", language.say("Referencia del banco:", "Bank reference:")));
        }
        if let Some(failure) = state.and_then(failure) {
            lines.push(format!("{} {failure}", language.say("Código del banco:", "Bank's code:")));
        }
        let Some(order) = state.and_then(order) else { return BankPart { what: None, lines } };
        let trace = &order.trace;
        let asks = order.earlier.iter().map(|order| order.trace.asks).sum::<u32>().saturating_add(trace.asks);
        let word = trace.word.as_deref().cloned();
        // Words and ids stay on the trace; each was said once.
        let new_word = word.as_ref().filter(|word| Some(*word) != self.word.as_ref());
        let new_id = trace.id.as_ref().filter(|id| Some(*id) != self.id.as_ref());
        let which = if asks > self.asks {
            Which::Question
        } else if new_word.is_some() || new_id.is_some() {
            Which::Answer
        } else if trace.reach != self.reach {
            Which::Silence
        } else {
            Which::Nothing
        };
        if let Some(word) = new_word {
            let label = language.say("El banco dijo:", "The bank said:");
            lines.push(format!("{label} {} {}", word.code, word.text).trim_end().to_owned());
        }
        if let Some(id) = new_id {
            lines.push(format!("{} {}", language.say("Id en el banco:", "The bank's id:"), id.as_str()));
        }
        let what = state.filter(|_| record.cause == Cause::BankAsked).map(|state| undecided(state, which));
        *self = SaidBefore { word, id: trace.id.clone(), reach: trace.reach, asks };
        BankPart { what, lines }
    }
}

fn undecided(state: &Entity, which: Which) -> Said {
    if state.rules().unanswered().is_empty() {
        return after_the_end(which);
    }
    match (state, which) {
        (Entity::Payment(payment), _) if matches!(payment.means, Means::Transfer { .. }) => (
            "Se buscó el pago en el banco; todavía no estaba",
            "The payment was looked for at the bank; it was not there yet",
        ),
        (Entity::CryptoPayout(_), _) => (
            "Se miró en la red; todavía no está decidido",
            "The network was looked at; it is not decided yet",
        ),
        (_, Which::Question) => (
            "Se le preguntó al banco; todavía no sabía el resultado",
            "The bank was asked; it did not know the outcome yet",
        ),
        (Entity::CopPayment(payment), _)
            if !matches!(payment.phase, cop_payment::Phase::Refunding { .. }) =>
        {
            ("El cobro sigue pendiente en el procesador", "The payment is still pending at the processor")
        }
        (Entity::CopPayment(_), _) => {
            ("El reintegro espera a un operador", "The refund waits for an operator")
        }
        (_, Which::Nothing) => (
            "No se le pudo preguntar al banco; se intenta de nuevo",
            "The bank could not be asked; it is tried again",
        ),
        (_, Which::Silence) => ("El banco no respondió", "The bank did not answer"),
        (Entity::Payment(payment), Which::Answer) if payment.reversals > 0 => (
            "El banco respondió al reverso, pero no dijo si lo hizo",
            "The bank answered the reversal, but did not say whether it was made",
        ),
        (Entity::Payment(_), Which::Answer) => (
            "El banco respondió al cobro, pero no dijo si cobró",
            "The bank answered the charge, but did not say whether it was made",
        ),
        (_, Which::Answer) => (
            "El banco respondió al pago, pero no dijo si lo hizo",
            "The bank answered the payout, but did not say whether it was made",
        ),
    }
}

/// After an operator's word has decided.
const fn after_the_end(which: Which) -> Said {
    match which {
        Which::Question => (
            "Se le preguntó al banco si confirma lo que anotó un operador",
            "The bank was asked whether it confirms what an operator noted",
        ),
        Which::Answer | Which::Silence | Which::Nothing => {
            ("El banco respondió cuando ya estaba decidido", "The bank answered when it was decided already")
        }
    }
}

pub fn order(state: &Entity) -> Option<&OrderState> {
    Some(match state {
        Entity::Payment(payment) => &payment.order,
        Entity::Payout(payout) => &payout.order,
        Entity::CopPayment(payment) => &payment.order,
        Entity::CryptoPayout(payout) => &payout.order,
        _ => return None,
    })
}

fn failure(state: &Entity) -> Option<&str> {
    match state {
        Entity::Payment(payment) => payment.failure_code.as_deref(),
        Entity::Payout(payout) => payout.failure_code.as_deref(),
        Entity::CopPayment(payment) => payment.failure.map(cop_payment::Failure::name),
        Entity::CryptoPayout(payout) => payout.failure_code.as_deref(),
        Entity::CopPayout(payout) => payout.failure_code.as_deref(),
        _ => None,
    }
}

/// Each reversal and each refund has an operation of its own.
pub fn operation(cause: Cause, id: Id, state: Option<&Entity>) -> Option<Id> {
    let number = match (cause, state) {
        (Cause::PaymentCharging, _) => payment::CHARGE,
        (Cause::ReversalBegun, Some(Entity::Payment(payment))) => payment.reversal(),
        (Cause::OtpRequested, _) => payment::REQUEST_OTP,
        (Cause::PayoutCreated | Cause::BatchCreated, _) => payout::CREDIT,
        (Cause::CopPaymentRequested, _) => cop_payment::COLLECT,
        (Cause::CopRefundBegun, Some(Entity::CopPayment(payment))) => {
            return Some(payment.refund_operation());
        }
        (Cause::CryptoPayoutSigned, _) => crypto_payout::SEND,
        _ => return None,
    };
    Some(id.operation(number))
}

/// Of a reversal or a refund its own, not the charge's.
fn reference(cause: Cause, state: Option<&Entity>) -> Option<&str> {
    let reference = match state? {
        Entity::Payment(payment) => match cause {
            Cause::ReversalBegun | Cause::ReversalRefused | Cause::PaymentReversed => &payment.reversal_ref,
            _ => &payment.bank_reference,
        },
        Entity::CopPayment(payment) => match cause {
            Cause::CopRefundBegun | Cause::CopRefundRefused | Cause::CopPaymentRefunded => {
                &payment.refund_reference
            }
            _ => &payment.processor_reference,
        },
        Entity::Payout(payout) => &payout.reference,
        Entity::CopPayout(payout) => &payout.reference,
        Entity::CryptoPayout(payout) => &payout.tx_hash,
        _ => return None,
    };
    domain::trace::shown(reference)
}
