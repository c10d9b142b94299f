//! Collections of pesos, from the request to the money or another end: the processor collects, gets
//! codes and cancellations, and is asked when it stays silent.

use super::instructions::{call_off, message, order, tell_again};
use super::sale::{canceled, failed, settle};
use super::{live, sale};
use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::cop_payment::{
    CODES_MAX, COLLECT, CopPayment, Failure, ForSession, Live, Marketplace, Phase, TELL, Telling, Waiting,
};
use crate::entities::payment::Status;
use crate::entities::resource::Resource;
use crate::ledger::Ledger;
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::ledger::spending::Drawn;
use crate::rail::{BankCall, How, Instruction, RailAnswer, RailReply, Service};
use crate::refusal::{CopPaymentRefusal, MerchantRefusal, Refusal};
use crate::trace::OrderState;
use crate::values::colombia::{Buyer, Channel};
use crate::values::ids::Id;
use crate::values::money::{Cop, Currency, Rate};
use crate::values::time::Timestamp;

/// The processor's code for a collection that was canceled.
pub const CANCELED: &str = "canceled";

/// The processor's code for a wrong SMS code; the collection goes on.
pub const WRONG_CODE: &str = "wrong_code";

pub struct NewCopPayment {
    pub id: Id,
    pub amount: Cop,
    pub channel: Channel,
    pub buyer: Option<Buyer>,
    pub reference: Option<String>,
    pub metadata: Option<String>,
    pub marketplace: Option<(Id, Rate)>,
    /// The hosted checkout that it is for, and the end of that: the buyer has no longer.
    pub checkout: Option<(Box<ForSession>, Timestamp)>,
}

/// Makes a payment, and has the processor collect it. Refusals are in the order of
/// `docs/contract.md, 1.12`.
pub fn create(book: &Book, new: NewCopPayment, turn: &Turn) -> Ruled {
    may_begin(book, &new, turn)?;
    let expires_at = turn.now.plus_ms(new.channel.lifetime_ms());
    let (checkout, ends_at) =
        new.checkout.map_or((None, expires_at), |(checkout, ends_at)| (Some(checkout), ends_at));
    let payment = CopPayment {
        id: new.id,
        status: Status::Pending,
        phase: Phase::Collecting(Waiting::default()),
        channel: new.channel,
        amount: new.amount,
        fee: None,
        reference: new.reference,
        metadata: new.metadata,
        buyer: new.buyer.map(Box::new),
        marketplace: new.marketplace.map(Marketplace::begun),
        processor_reference: None,
        failure: None,
        own_code: None,
        refunds: 0,
        refund_reference: None,
        earlier_refunds: Vec::new(),
        kept: turn.keep.clone(),
        livemode: turn.livemode,
        created_at: turn.now,
        expires_at: expires_at.min(ends_at),
        completed_at: None,
        available_at: None,
        refunded_at: None,
        checkout,
        order: OrderState::first(COLLECT, false, turn),
        qr_image: None,
        live: turn.livemode.then(Live::default),
        canceler: None,
        code_token: None,
        drawn: Drawn::NONE,
    };
    let effect = order(&payment, How::Send, turn.now);
    Ok(Ruling::write_then(Draft::created(Cause::CopPaymentRequested, payment), vec![effect]))
}

fn may_begin(book: &Book, new: &NewCopPayment, turn: &Turn) -> Result<(), Refusal> {
    if sellers::is_unknown(book, new.marketplace) {
        return Err(Refusal::NotFound);
    }
    if !book.tenant_settings.settings.cop_enabled {
        return Err(CopPaymentRefusal::NotEnabled.into());
    }
    if sellers::is_inactive(book, new.marketplace) {
        return Err(MerchantRefusal::Inactive.into());
    }
    let figures = sale::figures(new.amount, new.marketplace.map(|(_, percent)| percent), None)
        .filter(|_| book.has_room_for(Currency::Cop, new.amount.minor(), Ledger::Rail));
    figures.ok_or(Refusal::AmountOverflow)?.leaves_something()?;
    let document = new.buyer.as_ref().and_then(|buyer| buyer.document_type);
    if document.is_some_and(|document| !new.channel.documents(turn.livemode).contains(&document)) {
        let message = "is not one by which this channel knows a buyer";
        return Err(Refusal::Invalid { field: "buyer.documentType", message });
    }
    turn.terms(Service::Cop, BankCall::COLLECT_COP).may_send()
}

/// Asks the processor about the payment, or sends the cancellation again.
pub fn deadline(payment: &CopPayment, turn: &Turn) -> Ruling {
    let effect = match payment.phase.waiting().and_then(|waiting| waiting.telling) {
        Some(telling) if telling.goes_on() => call_off(payment, turn.now),
        _ => order(payment, How::Ask, turn.now),
    };
    Ruling::effects(vec![effect])
}

/// The draft after the processor has said how the collection stands.
pub fn on_rail_reply(book: &Book, payment: &CopPayment, reply: RailReply, turn: &Turn) -> Ruling {
    let asked = reply.how == How::Ask;
    // Whoever asked for the payment has been answered, and with what the buyer does.
    let is_told = asked && payment.next_step().is_some();
    let is_instruction = reply.operation.entity_and_operation().1 == TELL;
    // If a question is due, this reply is its outcome.
    let is_due = payment.deadline().is_some_and(|at| at <= turn.now);
    let Some(Waiting { telling, .. }) = payment.phase.waiting() else {
        // The payment was settled by something else while the instruction was under way.
        let outcome = contradicted(payment, &reply, turn);
        let refusal = is_instruction.then_some(CopPaymentRefusal::NotPending.into());
        return Ruling { refusal, ..outcome };
    };
    let (before, payment) = (payment, &live::noting_reply(payment, &reply));
    let is_news = payment != before;
    match reply.answer.clone() {
        RailAnswer::Done { reference } => {
            let reference = reference.unwrap_or_default();
            let wanted = matches!(telling, None | Some(Telling::Code | Telling::Pays | Telling::SendCode));
            let (draft, first_try) = sale::complete(book, payment, reference, turn);
            Ruling { effects: first_try.into_iter().collect(), ..settle(payment, draft, wanted, is_told) }
        }
        RailAnswer::Refused { code } => refused(payment, &code, telling, is_told, turn),
        _ if payment.live.is_some() => live::on_open(before, &reply, turn),
        // Before a look is due the order may be on its way still, and be taken after this answer:
        // somebody could pay what was ended here. So only a look that is due ends or resends it.
        RailAnswer::NeverReceived if !is_due => match telling {
            Some(Telling::Code | Telling::Pays | Telling::Declines) if is_instruction => tell_again(payment),
            _ => Ruling::unchanged(),
        },
        // The processor has no collection that could be paid.
        RailAnswer::NeverReceived if telling == Some(Telling::Cancel) => {
            settle(payment, canceled(payment, turn), true, is_told)
        }
        RailAnswer::NeverReceived if telling == Some(Telling::Void) => void(payment),
        RailAnswer::NeverReceived if turn.now >= payment.expires_at => {
            settle(payment, failed(payment, Failure::Expired, None), telling.is_none(), is_told)
        }
        RailAnswer::NeverReceived if asked || is_instruction => look_again(payment, true, turn),
        // Nobody could be asked: that is no look.
        RailAnswer::NotAsked if is_due => {
            let mut later = payment.clone();
            later.order.next_look = Some(next_look(payment, payment.order.looks, turn));
            Ruling::write(Draft::changed(Cause::BankAsked, payment, later))
        }
        RailAnswer::Waiting | RailAnswer::Silent | RailAnswer::Unaskable | RailAnswer::NotSent if is_due => {
            look_again(payment, false, turn)
        }
        RailAnswer::Waiting | RailAnswer::Silent | RailAnswer::Unaskable if is_news => {
            Ruling::write(Draft::changed(Cause::BankAsked, payment, payment.clone()))
        }
        RailAnswer::Waiting
        | RailAnswer::Silent
        | RailAnswer::Unaskable
        | RailAnswer::NeverReceived
        | RailAnswer::NotSent
        | RailAnswer::NotAsked => Ruling::unchanged(),
    }
}

/// The ruling about a collection that the processor refuses, or a word about it.
fn refused(payment: &CopPayment, code: &str, telling: Option<Telling>, is_told: bool, turn: &Turn) -> Ruling {
    match code {
        WRONG_CODE => match telling {
            Some(Telling::Code) => wrong_code(payment, turn),
            _ => Ruling::unchanged(),
        },
        CANCELED if telling == Some(Telling::Void) => void(payment),
        CANCELED => {
            settle(payment, canceled(payment, turn), matches!(telling, None | Some(Telling::Cancel)), is_told)
        }
        code => {
            let failure = Failure::of_code(code);
            let wanted = match telling {
                None | Some(Telling::SendCode) => true,
                // A live processor takes a code, and then the payment is declined.
                Some(Telling::Code) => payment.live.is_some(),
                Some(Telling::Declines) => failure == Failure::Rejected,
                Some(Telling::Cancel | Telling::Pays | Telling::Void) => false,
            };
            settle(payment, failed(payment, failure, Failure::own_code(code)), wanted, is_told)
        }
    }
}

/// The ruling on a reply about a collection that is settled. No pesos move by it.
fn contradicted(payment: &CopPayment, reply: &RailReply, turn: &Turn) -> Ruling {
    let payment = &live::noting_reply(payment, reply);
    let order = payment.order.contradicted(COLLECT);
    let said = match (payment.status, &reply.answer) {
        (Status::Failed | Status::Canceled, RailAnswer::Done { reference })
            if payment.processor_reference.is_none() =>
        {
            CopPayment {
                processor_reference: Some(reference.clone().unwrap_or_default()),
                order,
                ..payment.clone()
            }
        }
        // A wrong code says nothing about the collection.
        (Status::Completed | Status::Reversed, RailAnswer::Refused { code })
            if code != WRONG_CODE && payment.failure.is_none() =>
        {
            CopPayment { failure: Some(Failure::of_code(code)), order, ..payment.clone() }
        }
        _ => return payment.agreed(COLLECT, reply, turn),
    };
    Ruling::write(Draft::changed(Cause::OperationContradicted, payment, said))
}

fn next_look(payment: &CopPayment, looks: u32, turn: &Turn) -> Timestamp {
    turn.next_look(looks, payment.order.trace.sent_at.unwrap_or(payment.created_at))
}

/// The processor knows no more yet, or never received the order, which is then sent again under the
/// same name.
fn look_again(payment: &CopPayment, resend: bool, turn: &Turn) -> Ruling {
    let mut after = payment.clone();
    after.order.looks += 1;
    let later = next_look(payment, after.order.looks, turn);
    // The end of the buyer's time is looked at when it comes, but not while the order is on its way
    // once more.
    let is_open = turn.now < payment.expires_at && !resend;
    after.order.next_look = Some(if is_open { later.min(payment.expires_at) } else { later });
    if let Phase::Collecting(waiting) = &mut after.phase {
        waiting.telling = waiting.telling.filter(|telling| telling.goes_on());
    }
    let again = resend.then(|| order(payment, How::Send, turn.now));
    Ruling::write_then(Draft::changed(Cause::BankAsked, payment, after), again.into_iter().collect())
}

/// The ruling on a wrong SMS code. The payment goes on, unless it was the last code that may be
/// tried: then the processor is asked to cancel, so that no money comes for a failed payment.
fn wrong_code(payment: &CopPayment, turn: &Turn) -> Ruling {
    let Some(waiting) = payment.phase.waiting() else { return Ruling::unchanged() };
    let telling = (waiting.codes >= CODES_MAX).then_some(Telling::Void);
    let phase = Phase::Collecting(Waiting { telling, ..waiting });
    let after = CopPayment { phase, kept: None, ..payment.clone() };
    let mut draft = Draft::changed(Cause::CopPaymentInstructed, payment, after);
    draft.replaces_kept = payment.kept.clone();
    let effects = telling.map(|_| message(payment, Instruction::Cancel, turn.now)).into_iter().collect();
    Ruling { effects, ..Ruling::write_and_refuse(draft, CopPaymentRefusal::InvalidOtp) }
}

/// Ends a payment that the processor canceled because too many codes were wrong. The sender of the
/// last code waits for this, and is answered that it was wrong.
fn void(payment: &CopPayment) -> Ruling {
    Ruling::write_and_refuse(
        failed(payment, Failure::OtpAttemptsExhausted, None),
        CopPaymentRefusal::InvalidOtp,
    )
}
