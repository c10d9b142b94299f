//! Rails: the ways money moves outside, through a bank.
//!
//! A bank is called only after the record that says so is durable, and under an operation id of our own, so that after any crash the bank
//! can be asked what became of it. Nothing here knows the ledger, payments or payouts; an actor cannot tell one rail from another.

pub mod simulator;

use crate::domain::account::AccountNumber;
use crate::domain::banks::BankCode;
use crate::domain::identity::IdentityDocument;
use crate::domain::money::Ves;
use crate::domain::phone::MobilePhone;
use crate::domain::time::Timestamp;
use crate::domain::token::Token;
use std::pin::Pin;
use uuid::Uuid;

/// A future that can be sent to another thread, behind a pointer.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A bank.
pub trait Rail: Send + Sync {
    /// Its name, for the operators.
    fn name(&self) -> &'static str;

    /// Sends an order. Called only after the record that says so is durable; at most once per operation, except after
    /// [`Answer::NeverReceived`] from [`Rail::ask`].
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Answer>;

    /// Asks what became of an operation that was sent or may have been.
    fn ask<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Answer>;
}

/// An order to a bank, under the id by which it can be asked about for ever.
#[derive(Debug)]
pub struct Call {
    /// Our id of the operation.
    pub operation_id: Uuid,
    /// When, on the tenant's clock.
    pub at: Timestamp,
    /// The tenant in its mode.
    pub tenant: u64,
    /// What is to be done.
    pub order: Order,
}

/// What a bank is told to do.
pub enum Order {
    /// Take money from a customer who made a key for it.
    ChargeC2p {
        /// The customer's bank.
        bank: BankCode,
        /// Who pays.
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        /// How much.
        amount: Ves,
        /// The customer's key; gone after a crash, and not needed to ask.
        token: Option<Token>,
    },
    /// Give back a whole C2P charge.
    ReverseC2p {
        /// The operation id of the charge.
        original: Uuid,
        /// The customer's bank.
        bank: BankCode,
        /// Who paid.
        debtor: IdentityDocument,
        /// The bank's reference of the charge.
        reference: String,
        /// How much it was.
        amount: Ves,
    },
    /// Have the bank send its customer a key or code.
    RequestOtp {
        /// The customer's bank.
        bank: BankCode,
        /// Who will pay.
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        /// How much it will be.
        amount: Ves,
    },
    /// Take money from a customer who was sent a code for it.
    Debit {
        /// The customer's bank.
        bank: BankCode,
        /// Who pays.
        debtor: IdentityDocument,
        /// The phone that the bank knows the customer by.
        phone: MobilePhone,
        /// The customer's name.
        name: String,
        /// How much.
        amount: Ves,
        /// What for.
        concept: String,
        /// The customer's code; gone after a crash, and not needed to ask.
        otp: Option<Token>,
    },
    /// Pay to a phone.
    Credit {
        /// The bank of who is paid.
        bank: BankCode,
        /// The phone that is paid.
        phone: MobilePhone,
        /// Who is paid; some banks check it.
        identity: Option<IdentityDocument>,
        /// How much.
        amount: Ves,
        /// What for.
        concept: String,
    },
    /// Pay to an account.
    CreditAccount {
        /// The account that is paid.
        account: AccountNumber,
        /// Whose it is.
        identity: IdentityDocument,
        /// The holder's name.
        name: String,
        /// How much.
        amount: Ves,
        /// What for.
        concept: String,
    },
    /// Pay two small amounts to a phone, so that its owner can prove to see them.
    MicroDeposit {
        /// The bank of the phone.
        bank: BankCode,
        /// The phone that is proved.
        phone: MobilePhone,
        /// Whose it should be.
        identity: IdentityDocument,
        /// The two amounts.
        amounts: (Ves, Ves),
    },
}

impl Order {
    /// What kind of order it is, for the logs.
    pub const fn kind(&self) -> &'static str {
        match self {
            Order::ChargeC2p { .. } => "charge_c2p",
            Order::ReverseC2p { .. } => "reverse_c2p",
            Order::RequestOtp { .. } => "request_otp",
            Order::Debit { .. } => "debit",
            Order::Credit { .. } => "credit",
            Order::CreditAccount { .. } => "credit_account",
            Order::MicroDeposit { .. } => "micro_deposit",
        }
    }
}

/// The kind alone: what is in an order is somebody's personal data.
impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind())
    }
}

/// What a bank answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done.
    Done {
        /// The bank's own reference.
        reference: String,
    },
    /// It was not done, and never will be.
    Refused {
        /// The bank's code, such as `AM04`.
        code: String,
    },
    /// Accepted; the result comes later (AC00). Ask.
    Waiting,
    /// No answer in time: it may have been done or not. Ask; do not send again.
    Silent,
    /// The bank knows of no such operation: it may be sent.
    NeverReceived,
}
