//! Notices of banks and processors about money that came.

use crate::bank_names::without_zeros;
use crate::codec::stored;
use crate::entities::resource::{Change, Resource};
use crate::index::{Entries, Space};
use crate::values::ids::Id;
use crate::values::money::Ves;
use crate::values::time::{Date, Timestamp, Zone};
use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
use std::fmt;

pub const UNMATCHED: u8 = 0;
pub const CLAIMED: u8 = 1;

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Notice {
        0 pub id: Id,
        1 pub about: About,
        2 pub created_at: Timestamp,
        3 pub claim: Option<Claim>,
        /// The tenant in its mode to which an operator gave a transfer whose reference was guessed at too often:
        /// a payment of nobody else claims it.
        4 pub given_to: Option<u64>,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum About {
        0 Transfer(Transfer),
        /// A transaction of the processor of pesos that no payment of ours is known by.
        1 Transaction { 0 id: String, 1 reference: Option<String> },
    }

    /// A transfer, as reported by the bank that received it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Transfer {
        0 pub reference: String,
        1 pub bank: BankCode,
        2 pub phone: MobilePhone,
        3 pub amount: Ves,
        4 pub paid_at: Timestamp,
        5 pub document: Option<NoticedDocument>,
    }

    /// The document of a payer in a notice: its number, with the letter or without.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct NoticedDocument {
        0 pub letter: Option<u8>,
        1 pub number: u32,
    }
}

impl NoticedDocument {
    pub fn is(&self, document: IdentityDocument) -> bool {
        self.number == document.number() && self.letter.is_none_or(|letter| letter == document.letter)
    }
}

impl fmt::Debug for NoticedDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "***{:03}", self.number % 1000)
    }
}

/// What is known of a reference that a payment looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    Waiting,
    Wrong,
}

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Claim {
        0 pub tenant: u64,
        1 pub payment: Id,
        2 pub at: Timestamp,
    }
}

impl Claim {
    pub fn is_of(&self, tenant: u64, payment: Id) -> bool {
        (self.tenant, self.payment) == (tenant, payment)
    }
}

stored! {
    /// The data that a notice of a transfer shares with a payment that it may verify, besides the
    /// reference, of which a payer knows only the end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Traits {
        0 pub bank: BankCode,
        1 pub day: Date,
        2 pub phone: MobilePhone,
        3 pub amount: Ves,
    }
}

impl Traits {
    /// The beginning of the names of notices with these traits.
    pub fn prefix(&self) -> String {
        let Traits { bank, day, phone, amount } = self;
        format!("{bank} {} {} {} ", day.days(), phone.clear(), amount.minor())
    }

    /// The beginning of the names of references that were looked for, of whatever amount; the reference
    /// without its leading zeros follows.
    pub fn guesses(&self, guess: Guess) -> String {
        let Traits { bank, day, phone, amount: _ } = self;
        let letter = match guess {
            Guess::Waiting => 'w',
            Guess::Wrong => 'x',
        };
        format!("{bank} {} {} {letter}", day.days(), phone.clear())
    }
}

impl Transfer {
    /// The traits by which payments that the notice may verify are found.
    pub fn traits(&self) -> Traits {
        let day = self.paid_at.date_in(Zone::Caracas);
        Traits { bank: self.bank, day, phone: self.phone, amount: self.amount }
    }
}

impl Notice {
    /// The name under which the same notice, sent again, is known.
    pub fn name(&self) -> String {
        match &self.about {
            About::Transfer(transfer) => {
                format!("{}{}", transfer.traits().prefix(), without_zeros(&transfer.reference))
            }
            About::Transaction { id, .. } => transaction_name(id),
        }
    }
}

/// The name of the notice of a processor's transaction.
pub fn transaction_name(id: &str) -> String {
    format!("wompi {id}")
}

impl Resource for Notice {
    fn facet(&self) -> u8 {
        if self.claim.is_some() { CLAIMED } else { UNMATCHED }
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            entries.name(Space::Notice, &self.name());
        }
    }
}
