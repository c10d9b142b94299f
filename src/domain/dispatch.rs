//! The rule for each command: one arm per resource, whose own `decide` matches its commands. Every
//! match here is exhaustive, so that a new command or a new kind of entity does not compile before
//! somebody has decided how it is treated.

use crate::at_rail::AtRail;
use crate::commands::Command;
use crate::decision::{Draft, Ruling, Turn};
use crate::kept::{self, KeepRef};
use crate::ledger::book::Book;
use crate::platform::{self, PlatformBook, moves, settings};
use crate::rail::{Effect, How, RailAnswer, RailReply};
use crate::record::{Cause, Entity};
use crate::refusal::Refusal;
use crate::resources::operations::{self, Resolution};
use crate::resources::payments::otp;
use crate::resources::payouts::{batch, lifecycle};
use crate::resources::reply_trace::ReplyTrace;
use crate::resources::verification::booked::{self, Booking, BookingOutcome};
use crate::resources::{
    adjustments, approvals, begin_anew, chargebacks, checkout, conversions, cop_payments, cop_payouts,
    crypto, merchants, notices, own_account, payments, payouts, products, webhooks,
};
use crate::values::time::Timestamp;
use std::sync::Arc;

/// The state of the one kind of entity that a resource rules over, if there is one yet. An id that
/// belongs to another kind names nothing here.
macro_rules! state {
    ($Kind:ident, $entity:expr) => {
        match $entity {
            None => None,
            Some(Entity::$Kind(state)) => Some(state),
            Some(_) => return Ruling::refuse(Refusal::NotFound),
        }
    };
}

/// The rule's ruling on a command to a tenant's book.
pub fn decide(
    book: &Book,
    entity: Option<&Entity>,
    command: Command,
    keep: Option<Arc<KeepRef>>,
    turn: &Turn<'_>,
) -> Ruling {
    if book.tenant_settings.moved_to.is_some() && !matches!(command, Command::TenantSettings(_)) {
        return moves::decided_elsewhere(&command);
    }
    match (command, entity) {
        // Payments in pesos have ids of the same form, and some commands say so.
        (Command::Payments(command), Some(Entity::CopPayment(_))) => {
            cop_payments::refuse_payments_command(&command)
        }
        (Command::Chargebacks(command), Some(Entity::CopPayment(_))) => {
            cop_payments::refuse_chargeback(&command)
        }
        (Command::Payments(command), entity) => {
            payments::decide(book, state!(Payment, entity), command, keep, turn)
        }
        (Command::Chargebacks(command), entity) => {
            chargebacks::decide(book, state!(Payment, entity), command, turn)
        }
        (Command::Otps(command), entity) => otp::decide(state!(Otp, entity), command, keep, turn),
        (Command::Payouts(command), entity) => {
            payouts::decide(book, state!(Payout, entity), command, keep, turn)
        }
        (Command::Batches(command), entity) => batch::decide(book, state!(Batch, entity), command, turn),
        (Command::Merchants(command), entity) => {
            merchants::decide(book, state!(Merchant, entity), command, keep, turn)
        }
        (Command::OwnAccount(command), entity) => {
            own_account::decide(book, state!(OwnAccount, entity), command, keep, turn)
        }
        (Command::Products(command), entity) => {
            products::decide(book, state!(Product, entity), command, turn)
        }
        (Command::Checkout(command), entity) => checkout::decide(state!(Session, entity), command, turn),
        (Command::Conversions(command), entity) => {
            conversions::decide(book, state!(Conversion, entity), command, turn)
        }
        (Command::CryptoPayouts(command), entity) => {
            crypto::payouts::decide(book, state!(CryptoPayout, entity), command, keep, turn)
        }
        (Command::DepositAddresses(command), entity) => {
            crypto::deposits::decide(book, state!(DepositAddress, entity), command, turn)
        }
        (Command::CopPayments(command), entity) => {
            cop_payments::decide(book, state!(CopPayment, entity), command, keep, turn)
        }
        (Command::CopPayouts(command), entity) => {
            cop_payouts::decide(book, state!(CopPayout, entity), command, turn)
        }
        (Command::Webhooks(command), entity) => {
            webhooks::decide(book, state!(Webhook, entity), command, turn)
        }
        (Command::Adjust(ask), _) => adjustments::adjust(book, *ask, turn),
        (Command::TenantSettings(new), _) => settings::renew(book, new),
        // The distance that the clock moved is in every record that is written while it moves.
        (Command::MoveClock, _) => Ruling::write(Draft::new(Cause::ClockMoved)),
        (Command::BeginAnew(kept), _) => begin_anew::begin_anew(book, *kept, turn),
        (Command::KeepAnswer(status, body), _) => kept::keep(status, body),
        // A tenant's book has no tenants in it, and no notices.
        (Command::Platform(_) | Command::Notices(_) | Command::Approvals(_), _) => {
            Ruling::refuse(Refusal::NotFound)
        }
        // The next request for the name of a found transfer waits for this record (`outbox.rs`).
        // Of an entity that is gone they change nothing.
        (Command::RailReply(reply) | Command::Found(reply, _), entity) => {
            let Some(entity) = entity else { return Ruling::unchanged() };
            let trace = ReplyTrace::bank(&reply);
            trace.mark(on_rail_reply(book, entity, reply, turn), entity, turn)
        }
        (Command::Resolve(resolution), Some(entity)) => resolve(book, entity, *resolution, turn),
        (Command::BookDeposits(booking), Some(entity)) => book_deposits(book, entity, &booking, turn),
        // What it was about ended with it: a phone that the bank says is not this client's is gone.
        (Command::Resolve(_), None) => Ruling::refuse(operations::OperationRefusal::Resolved),
        (Command::BookDeposits(_), None) => Ruling::refuse(Refusal::NotFound),
        (Command::Market(rate), Some(Entity::Conversion(conversion))) => {
            conversions::auto::on_rail_reply(book, conversion, rate, turn)
        }
        // The conversion that asked is gone.
        (Command::Market(_), _) => Ruling::unchanged(),
        (Command::Begin, Some(Entity::Payout(payout))) => lifecycle::begin(payout, turn),
        (Command::Begin, Some(Entity::CryptoPayout(payout))) => lifecycle::begin(payout, turn),
        // Nothing else waits for its turn.
        (Command::Begin, _) => Ruling::unchanged(),
        (Command::Deadline, entity) => deadline(book, entity, turn),
        (Command::Look, entity) => look(book, entity, turn),
    }
}

/// The ruling on a command to the platform's book or to one of its entities, which are notices and approvals.
pub fn decide_platform(
    book: &PlatformBook,
    entity: Option<&Entity>,
    command: Command,
    now: Timestamp,
) -> Ruling {
    match command {
        Command::Platform(ask) => platform::decide(book, *ask, now),
        Command::Notices(command) => notices::decide(state!(Notice, entity), command, now),
        Command::Approvals(command) => approvals::decide(state!(Approval, entity), command, now),
        Command::Payments(_)
        | Command::Chargebacks(_)
        | Command::Otps(_)
        | Command::Payouts(_)
        | Command::Batches(_)
        | Command::Merchants(_)
        | Command::OwnAccount(_)
        | Command::Products(_)
        | Command::Checkout(_)
        | Command::Conversions(_)
        | Command::CryptoPayouts(_)
        | Command::DepositAddresses(_)
        | Command::CopPayments(_)
        | Command::CopPayouts(_)
        | Command::Webhooks(_)
        | Command::Adjust(_)
        | Command::TenantSettings(_)
        | Command::MoveClock
        | Command::BeginAnew(_)
        | Command::KeepAnswer(..)
        | Command::RailReply(_)
        | Command::Found(..)
        | Command::Resolve(_)
        | Command::BookDeposits(_)
        | Command::Market(_)
        | Command::Begin
        | Command::Deadline
        | Command::Look => Ruling::refuse(Refusal::NotFound),
    }
}

/// The words of an operator in a bank's place, as if the bank had said them.
fn resolve(book: &Book, entity: &Entity, resolution: Resolution, turn: &Turn<'_>) -> Ruling {
    let answer = match operations::in_banks_words(entity, &resolution) {
        Ok(answer) => answer,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let operation = resolution.operation;
    let ruling = on_rail_reply(book, entity, RailReply::plain(operation, How::Ask, answer), turn);
    operations::resolved(ReplyTrace::operator(operation).mark(ruling, entity, turn), operation, turn)
}

/// Lines of a statement that show micro-deposits: the operation is done when both are booked.
fn book_deposits(book: &Book, entity: &Entity, booking: &Booking, turn: &Turn<'_>) -> Ruling {
    match booked::book(entity, booking) {
        Ok(BookingOutcome::Both(references)) => {
            let answer = RailAnswer::done(references);
            resolve(book, entity, Resolution { operation: booking.operation, answer }, turn)
        }
        Ok(BookingOutcome::One(draft)) => Ruling::write(*draft),
        Err(refusal) => Ruling::refuse(refusal),
    }
}

/// The words of a bank about an operation of this entity.
fn on_rail_reply(book: &Book, entity: &Entity, reply: RailReply, turn: &Turn<'_>) -> Ruling {
    let Some(entity) = entity.at_rail() else { return Ruling::unchanged() };
    match entity {
        AtRail::Payment(payment) => payments::on_rail_reply(book, payment, reply, turn),
        AtRail::Otp(request) => otp::on_rail_reply(request, reply, turn),
        AtRail::Payout(payout) => lifecycle::on_rail_reply(payout, reply, turn),
        AtRail::Merchant(merchant) => merchants::on_rail_reply(merchant, reply, turn),
        AtRail::OwnAccount(account) => own_account::on_rail_reply(account, &reply, turn),
        AtRail::CryptoPayout(payout) => lifecycle::on_rail_reply(payout, reply, turn),
        AtRail::CopPayment(payment) => cop_payments::on_rail_reply(book, payment, reply, turn),
        // Conversions have no operation with a bank: the market's rate comes by a command of its
        // own.
        AtRail::Conversion(_) => Ruling::unchanged(),
    }
}

/// The deadline of this entity; that of one which is gone changes nothing.
fn deadline(book: &Book, entity: Option<&Entity>, turn: &Turn<'_>) -> Ruling {
    if let Some(Entity::Webhook(webhook)) = entity {
        return webhooks::deadline(webhook, turn);
    }
    let Some(entity) = entity.and_then(Entity::at_rail) else { return Ruling::unchanged() };
    match entity {
        AtRail::Payment(payment) => payments::deadline(book, payment, turn),
        AtRail::Otp(request) => otp::deadline(request, turn),
        AtRail::Payout(payout) => lifecycle::deadline(payout, turn),
        AtRail::Merchant(merchant) => merchants::deadline(book, merchant, turn),
        AtRail::OwnAccount(account) => own_account::deadline(account, turn),
        AtRail::Conversion(conversion) => conversions::auto::deadline(conversion, turn),
        AtRail::CryptoPayout(payout) => lifecycle::deadline(payout, turn),
        AtRail::CopPayment(payment) => cop_payments::deadline(payment, turn),
    }
}

/// A look before its time, at an order that its bank may have answered. Nobody is asked about what is
/// not at a bank, but for collections of pesos: their processor may have more to say of one that is
/// settled.
fn look(book: &Book, entity: Option<&Entity>, turn: &Turn<'_>) -> Ruling {
    let Some(entity) = entity.and_then(Entity::at_rail) else { return Ruling::unchanged() };
    match entity {
        AtRail::Payment(payment) if payment.phase.is_deciding() => payments::deadline(book, payment, turn),
        AtRail::CopPayment(payment) => cop_payments::look(payment, turn),
        // No bank works on the payment. The others are asked about when they are due: no caller
        // waits for their outcome.
        AtRail::Payment(_)
        | AtRail::Otp(_)
        | AtRail::Payout(_)
        | AtRail::Merchant(_)
        | AtRail::OwnAccount(_)
        | AtRail::Conversion(_)
        | AtRail::CryptoPayout(_) => Ruling::unchanged(),
    }
}

/// Whether an entity without an active actor stays in memory, as more commands are expected soon.
pub fn is_open(entity: &Entity) -> bool {
    match entity {
        // A quote is accepted soon or never; what was accepted then waits for hours.
        Entity::Conversion(conversion) => conversion.is_quote(),
        // A try or an older secret is due in hours.
        Entity::Webhook(_) => false,
        // A dispute is due in a day.
        Entity::Payment(payment) => entity.deadline().is_some() && payment.disputed_at().is_none(),
        Entity::Payout(_)
        | Entity::Merchant(_)
        | Entity::Batch(_)
        | Entity::Chargeback(_)
        | Entity::Otp(_)
        | Entity::OwnAccount(_)
        | Entity::Product(_)
        | Entity::Session(_)
        | Entity::CryptoPayout(_)
        | Entity::DepositAddress(_)
        | Entity::CopPayment(_)
        | Entity::CopPayout(_)
        | Entity::Notice(_)
        | Entity::Approval(_) => entity.deadline().is_some(),
    }
}

/// Whether an effect is still wanted when it is about to be sent, given the current state of its
/// entity.
pub fn is_wanted(target: Option<&Entity>, effect: &Effect) -> bool {
    let Some(target) = target.and_then(Entity::at_rail) else { return false };
    match target {
        // Payouts of a batch are sent by the batch's record.
        AtRail::Payout(payout) => payout.is_unsent(),
        AtRail::Payment(payment) => payment.wants(&effect.order),
        // A payment's record asks for the price of its conversion.
        AtRail::Conversion(conversion) => conversions::auto::is_waiting(conversion),
        // No record of another entity's command asks for effects on these.
        AtRail::Merchant(_)
        | AtRail::Otp(_)
        | AtRail::OwnAccount(_)
        | AtRail::CryptoPayout(_)
        | AtRail::CopPayment(_) => false,
    }
}
