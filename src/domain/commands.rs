//! Commands, and the rule for each. A resource has a row in the table: its commands, the kind of entity
//! that they are about, and the rule, which the command is handed to with the entity's state.

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::session::Session;
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::platform::PlatformBook;
use crate::platform::audit::AuditEntry;
use crate::platform::settings::TenantSettings;
use crate::rail::{How, RailAnswer, RailReply};
use crate::refusal::{ChargebackRefusal, OperationRefusal, PaymentRefusal, Refusal};
use crate::resources::adjustments::{self, Adjustment};
use crate::resources::begin_anew::{self, BeginAnew};
use crate::resources::operations::{self, Resolution};
use crate::resources::payments::otp;
use crate::resources::payouts::batch;
use crate::resources::polling::marked;
use crate::resources::tenants;
use crate::resources::tenants::PlatformAsk;
use crate::resources::verification::booked::{self, Booking, BookingOutcome};
use crate::resources::{
    approvals, chargebacks, checkout, conversions, cop_payments, cop_payouts, crypto, merchants, notices,
    own_account, payments, payouts, products, webhooks,
};
use crate::values::money::Rate;
use crate::values::time::Timestamp;
use std::any::Any;

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

macro_rules! commands {
    (
        { $($(#[$about:meta])* $Resource:ident($command:ty) of $Kind:ident by $decide:path;)+ }
        besides { $($besides:tt)+ }
    ) => {
        /// A command. Those of a resource go to the entity that the command names, if there is one yet.
        pub enum Command {
            $($(#[$about])* $Resource($command),)+
            $($besides)+
        }

        $(impl From<$command> for Command {
            fn from(command: $command) -> Command {
                Command::$Resource(command)
            }
        })+

        impl Command {
            /// The rule's ruling, in a tenant's book. One that moved away decides nothing more, and what has
            /// happened changes nothing: whoever has the tenant now asks the bank.
            pub fn decide(self, book: &Book, entity: Option<&Entity>, turn: &Turn<'_>) -> Ruling {
                let is_moved = book.tenant_settings.moved_to.is_some();
                match (self, entity) {
                    (command, _) if is_moved && !matches!(command, Command::TenantSettings(_)) => {
                        match command.is_refusable() {
                            true => Ruling::refuse(Refusal::TenantMoved),
                            false => Ruling::unchanged(),
                        }
                    }
                    // Payments in pesos have ids of the same form, and some commands say so.
                    (Command::Payments(payments::Command::Reverse), Some(Entity::CopPayment(_))) => {
                        Ruling::refuse(PaymentRefusal::NotReversible)
                    }
                    (Command::Chargebacks(chargebacks::Command::Open(_)), Some(Entity::CopPayment(_))) => {
                        Ruling::refuse(ChargebackRefusal::NotAllowed)
                    }
                    $((Command::$Resource(command), _) => {
                        $decide(book, state!($Kind, entity), command, turn).unwrap_or_else(Ruling::refuse)
                    })+
                    (command, _) => decide_besides(book, entity, command, turn),
                }
            }
        }
    };
}

commands! {
    {
    Payments(payments::Command) of Payment by payments::decide;
    /// To a request for the code of a debit.
    Otps(otp::NewOtp) of Otp by otp::decide;
    /// To a chargeback, which its payment decides.
    Chargebacks(chargebacks::Command) of Payment by chargebacks::decide;
    /// A request for a payout; the entity is the payout with its reference, if there is one.
    Payouts(Box<payouts::NewPayout>) of Payout by payouts::decide;
    Batches(batch::Command) of Batch by batch::decide;
    Merchants(merchants::Command) of Merchant by merchants::decide;
    OwnAccount(own_account::Command) of OwnAccount by own_account::decide;
    Products(products::Command) of Product by products::decide;
    Checkout(Box<Session>) of Session by checkout::decide;
    Conversions(conversions::Command) of Conversion by conversions::decide;
    CryptoPayouts(crypto::payouts::Command) of CryptoPayout by crypto::payouts::decide;
    DepositAddresses(crypto::deposits::Command) of DepositAddress by crypto::deposits::decide;
    CopPayments(cop_payments::Command) of CopPayment by cop_payments::decide;
    CopPayouts(cop_payouts::Command) of CopPayout by cop_payouts::decide;
    Webhooks(webhooks::Command) of Webhook by webhooks::decide;
    }
    besides {
        Notices(notices::Command),
        Approvals(approvals::Command),
        /// Test money, or a correction by the operator, to the book.
        Adjust(Box<Adjustment>),
        TenantSettings(TenantSettings),
        /// The test clock has moved to the instant of the turn.
        MoveClock,
        BeginAnew(Box<BeginAnew>),
        /// The answer, as status and body, to a request that other records or none were written for, to be
        /// kept for its Idempotency-Key.
        KeepAnswer(u16, Vec<u8>),
        Platform(Box<PlatformAsk>),
        RailReply(RailReply),
        /// A bank's reply about a transfer that was found, with the reservation of the transfer's name,
        /// which nobody else may take until this command is decided.
        Found(RailReply, Box<dyn Any + Send>),
        /// The turn of an order that waited for it has come at its rail.
        Begin,
        /// An operator's word on an operation, in the bank's place.
        Resolve(Box<Resolution>),
        /// Lines of a bank's statement that show micro-deposits.
        BookDeposits(Box<Booking>),
        /// The market price of a USDT, if any source knows it, to a conversion that waits for it.
        Market(Option<Rate>),
        Deadline,
        /// The bank may have an answer about the entity before the next look: it is asked now.
        Look,
    }
}

impl From<notices::Command> for Command {
    fn from(command: notices::Command) -> Command {
        Command::Notices(command)
    }
}

impl From<approvals::Command> for Command {
    fn from(command: approvals::Command) -> Command {
        Command::Approvals(command)
    }
}

impl Command {
    /// Whether the command may be refused. Replies from outside, prices, deadlines and answers may not:
    /// they are about something that has happened.
    pub const fn is_refusable(&self) -> bool {
        !matches!(
            self,
            Command::RailReply(_)
                | Command::Found(..)
                | Command::Resolve(_)
                | Command::BookDeposits(_)
                | Command::Market(_)
                | Command::Begin
                | Command::Deadline
                | Command::Look
                | Command::KeepAnswer(..)
        )
    }

    /// The ruling in the platform's book, whose entities are notices and approvals.
    pub fn decide_platform(self, book: &PlatformBook, entity: Option<&Entity>, now: Timestamp) -> Ruling {
        match self {
            Command::Platform(ask) => tenants::decide(book, *ask, now),
            Command::Notices(command) => notices::decide(state!(Notice, entity), command, now),
            Command::Approvals(command) => approvals::decide(state!(Approval, entity), command, now),
            _ => Ruling::refuse(Refusal::NotFound),
        }
    }
}

fn decide_besides(book: &Book, entity: Option<&Entity>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, entity) {
        (Command::Adjust(ask), _) => adjustments::adjust(book, *ask, turn),
        (Command::TenantSettings(new), _) => tenants::renew(book, new),
        // The distance that the clock moved is in every record that is written while it moves.
        (Command::MoveClock, _) => Ruling::write(Draft::new(Cause::ClockMoved)),
        (Command::BeginAnew(kept), _) => begin_anew::begin_anew(book, *kept, turn),
        (Command::KeepAnswer(status, body), _) => {
            let mut draft = Draft::new(Cause::AnswerKept);
            draft.answer = Some((status, body));
            Ruling::write(draft)
        }
        // The next request for the name of a found transfer waits for this record (`outbox.rs`).
        (Command::RailReply(reply) | Command::Found(reply, _), Some(entity)) => {
            let nobody = matches!(reply.answer, RailAnswer::NotAsked | RailAnswer::Unaskable);
            let (operation, is_asked) = (reply.operation, reply.how == How::Ask && !nobody);
            marked(entity.rules().on_rail_reply(book, reply, turn), operation, is_asked, entity, turn)
        }
        (Command::Resolve(resolution), Some(entity)) => resolve(book, entity, *resolution, turn),
        (Command::BookDeposits(booking), Some(entity)) => book_deposits(book, entity, &booking, turn),
        // What it was about ended with it: a phone that the bank says is not this client's is gone.
        (Command::Resolve(_), None) => Ruling::refuse(OperationRefusal::Resolved),
        (Command::Market(rate), Some(Entity::Conversion(conversion))) => {
            conversions::auto::on_market(book, conversion, rate, turn)
        }
        (Command::Begin, Some(entity)) => entity.rules().on_begin(turn),
        (Command::Deadline, Some(entity)) => entity.rules().on_deadline(book, turn),
        (Command::Look, Some(entity)) => entity.rules().on_look(book, turn),
        // Of an entity that is gone they change nothing.
        (
            Command::RailReply(_)
            | Command::Found(..)
            | Command::Market(_)
            | Command::Begin
            | Command::Deadline
            | Command::Look,
            _,
        ) => Ruling::unchanged(),
        // A tenant's book has no tenants in it, no notices and no approvals.
        _ => Ruling::refuse(Refusal::NotFound),
    }
}

/// The words of an operator in a bank's place, as if the bank had said them.
fn resolve(book: &Book, entity: &Entity, resolution: Resolution, turn: &Turn<'_>) -> Ruling {
    let answer = match operations::in_banks_words(entity, &resolution) {
        Ok(answer) => answer,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let operation = resolution.operation;
    let ruling = entity.rules().on_rail_reply(book, RailReply::plain(operation, How::Ask, answer), turn);
    operations::resolved(marked(ruling, operation, false, entity, turn), operation, turn)
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

/// A command, the Idempotency-Key for which its answer is to be kept, and the entry of the audit that
/// its record is to have.
pub struct KeyedCommand {
    pub command: Command,
    /// The key; its `first_seen` is filled in by the decision.
    pub keep: Option<KeepRef>,
    /// The entry, if an operator asks; the decision fills in what was changed.
    pub audit: Option<Box<AuditEntry>>,
}

impl KeyedCommand {
    pub fn keeping(self, keep: Option<KeepRef>) -> KeyedCommand {
        KeyedCommand { keep, ..self }
    }

    pub fn audited(self, audit: Option<Box<AuditEntry>>) -> KeyedCommand {
        KeyedCommand { audit, ..self }
    }
}

impl<C: Into<Command>> From<C> for KeyedCommand {
    fn from(command: C) -> KeyedCommand {
        KeyedCommand { command: command.into(), keep: None, audit: None }
    }
}
