//! Commands to a book and its entities: an envelope around the commands of each resource, and the
//! few that belong to no resource. [`crate::dispatch`] hands each to its rule.

use crate::kept::KeepRef;
use crate::platform::PlatformAsk;
use crate::platform::audit::AuditEntry;
use crate::platform::settings::TenantSettings;
use crate::rail::RailReply;
use crate::resources::adjustments::Adjustment;
use crate::resources::begin_anew::BeginAnew;
use crate::resources::operations::Resolution;
use crate::resources::payments::otp;
use crate::resources::payouts::batch;
use crate::resources::verification::booked::Booking;
use crate::resources::{
    approvals, chargebacks, checkout, conversions, cop_payments, cop_payouts, crypto, merchants, notices,
    own_account, payments, payouts, products, webhooks,
};
use crate::values::money::Rate;
use std::any::Any;

/// A command. Those of a resource go to the entity that the command names, if there is one yet.
pub enum Command {
    Payments(payments::Command),
    /// A command to a request for the code of a debit.
    Otps(otp::Command),
    /// A command to a chargeback, which its payment decides.
    Chargebacks(chargebacks::Command),
    Payouts(payouts::Command),
    Batches(batch::Command),
    Merchants(merchants::Command),
    /// A command to the tenant's own payout account.
    OwnAccount(own_account::Command),
    Products(products::Command),
    Checkout(checkout::Command),
    Conversions(conversions::Command),
    CryptoPayouts(crypto::payouts::Command),
    DepositAddresses(crypto::deposits::Command),
    CopPayments(cop_payments::Command),
    CopPayouts(cop_payouts::Command),
    Webhooks(webhooks::Command),
    /// A command to a notice, which is the platform's.
    Notices(notices::Command),
    /// A command to an approval, which is the platform's.
    Approvals(approvals::Command),
    /// Test money, or a correction by the operator, to the book.
    Adjust(Box<Adjustment>),
    /// A new version of the tenant's settings, to the book.
    TenantSettings(TenantSettings),
    /// The test clock has moved to the instant of the turn.
    MoveClock,
    BeginAnew(Box<BeginAnew>),
    /// The answer, as status and body, to a request that other records or none were written for, to be
    /// kept for its Idempotency-Key.
    KeepAnswer(u16, Vec<u8>),
    Platform(Box<PlatformAsk>),
    /// A bank's reply about an operation of the entity.
    RailReply(RailReply),
    /// A bank's reply about a transfer that was found, with the reservation of the transfer's name,
    /// which nobody else may take until this command is decided.
    Found(RailReply, Box<dyn Any + Send>),
    /// The turn of an order that waited for it has come at its rail.
    Begin,
    /// An operator's word on an operation, in the bank's place.
    Resolve(Box<Resolution>),
    BookDeposits(Box<Booking>),
    /// The market price of a USDT, if any source knows it, to a conversion that waits for it.
    Market(Option<Rate>),
    Deadline,
    /// The bank may have an answer about the entity before the next look: it is asked now.
    Look,
}

impl Command {
    /// Whether the command may be refused. Replies from outside, prices, deadlines and answers may not:
    /// they are about something that has happened.
    pub const fn is_refusable(&self) -> bool {
        match self {
            Command::RailReply(_)
            | Command::Found(..)
            | Command::Resolve(_)
            | Command::BookDeposits(_)
            | Command::Market(_)
            | Command::Begin
            | Command::Deadline
            | Command::Look
            | Command::KeepAnswer(..) => false,
            Command::Payments(_)
            | Command::Otps(_)
            | Command::Chargebacks(_)
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
            | Command::Notices(_)
            | Command::Approvals(_)
            | Command::Adjust(_)
            | Command::TenantSettings(_)
            | Command::MoveClock
            | Command::BeginAnew(_)
            | Command::Platform(_) => true,
        }
    }
}

/// Implements the conversion of each resource's commands into the envelope.
macro_rules! envelope {
    ($($Room:ident: $command:ty),+ $(,)?) => {
        $(impl From<$command> for Command {
            fn from(command: $command) -> Command {
                Command::$Room(command)
            }
        })+
    };
}

envelope! {
    Payments: payments::Command,
    Otps: otp::Command,
    Chargebacks: chargebacks::Command,
    Payouts: payouts::Command,
    Batches: batch::Command,
    Merchants: merchants::Command,
    OwnAccount: own_account::Command,
    Products: products::Command,
    Checkout: checkout::Command,
    Conversions: conversions::Command,
    CryptoPayouts: crypto::payouts::Command,
    DepositAddresses: crypto::deposits::Command,
    CopPayments: cop_payments::Command,
    CopPayouts: cop_payouts::Command,
    Webhooks: webhooks::Command,
    Notices: notices::Command,
    Approvals: approvals::Command,
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
