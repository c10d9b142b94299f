//! What is asked of a bank and what it may answer, in the domain's words. The rails speak to banks; this is what they are told and what they tell.

use crate::domain::banks::BankCode;
use crate::domain::identity::IdentityDocument;
use crate::domain::ids::{EntityId, Id};
use crate::domain::money::Ves;
use crate::domain::phone::MobilePhone;
use crate::domain::time::Timestamp;

/// The first look at a bank that stayed silent comes so long after the call (`contract.md`, section 4).
pub const POLL_MS: i64 = 60_000;

/// Looks get rarer, down to one an hour.
const POLL_MS_MAX: i64 = 3_600_000;

/// When to look again after `looks` looks.
pub fn next_poll(now: Timestamp, looks: u32) -> Timestamp {
    now.plus_ms((POLL_MS << looks.min(6)).min(POLL_MS_MAX))
}

/// A one-time code that a payer gave. It is handed to the bank and forgotten: it cannot be shown, copied or written down.
pub struct Token(String);

impl Token {
    /// Wraps what the payer typed.
    pub fn new(token: String) -> Token {
        Token(token)
    }

    /// For the bank's eyes.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// What a bank is to do.
pub enum Order {
    /// Send the payer a one-time code.
    RequestOtp {
        /// The payer's bank.
        bank: BankCode,
        /// Who pays.
        debtor: IdentityDocument,
        /// The payer's phone.
        phone: MobilePhone,
        /// How much will be asked.
        amount: Ves,
    },
    /// Take money from a payer who gave a code.
    ChargeC2p {
        /// The payer's bank.
        bank: BankCode,
        /// Who pays.
        debtor: IdentityDocument,
        /// The payer's phone.
        phone: MobilePhone,
        /// How much.
        amount: Ves,
        /// The code; gone when the operation is only asked about.
        token: Option<Token>,
    },
    /// Give a C2P charge back.
    ReverseC2p {
        /// The operation of the charge.
        original: Id,
        /// The payer's bank.
        bank: BankCode,
        /// Who paid.
        debtor: IdentityDocument,
        /// The bank's reference of the charge.
        reference: String,
        /// How much.
        amount: Ves,
    },
    /// Send money to a phone and identity.
    Credit {
        /// The receiver's bank.
        bank: BankCode,
        /// The receiver's phone.
        phone: MobilePhone,
        /// Who receives, when known.
        identity: Option<IdentityDocument>,
        /// How much.
        amount: Ves,
        /// What for.
        concept: String,
    },
    /// Send the two small amounts that prove a payout method.
    MicroDeposit {
        /// The receiver's bank.
        bank: BankCode,
        /// The receiver's phone.
        phone: MobilePhone,
        /// Who should own it.
        identity: Option<IdentityDocument>,
        /// The amounts.
        amounts: (Ves, Ves),
    },
}

/// What a bank says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done.
    Done {
        /// The bank's reference.
        reference: String,
    },
    /// It will not be done.
    Refused {
        /// The bank's code.
        code: String,
    },
    /// Accepted; the result comes later.
    Waiting,
    /// No answer in time: it may have happened.
    Silent,
    /// The bank never received it.
    NeverReceived,
}

/// Whether an order is sent or asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Sent, under an operation id that the bank has not seen, or says that it never received.
    Send,
    /// Asked about.
    Ask,
}

/// What is to be done outside once the record that says so is durable.
pub struct Effect {
    /// Whom the answer concerns.
    pub entity: EntityId,
    /// Our name for it; the bank answers questions about it.
    pub operation: Id,
    /// The instant of the decision, on the tenant's clock.
    pub at: Timestamp,
    /// Sent or asked about.
    pub how: How,
    /// What.
    pub order: Order,
}

/// What came of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The operation.
    pub operation: Id,
    /// Whether it had been sent or asked about.
    pub how: How,
    /// What the bank said.
    pub answer: Answer,
}
