//! Payouts of pesos.

use crate::codec::stored;
use crate::entities::payout::Status;
use crate::entities::resource::{Change, Resource};
use crate::index::{Entries, Space, Trait};
use crate::values::colombia::{DocumentNumber, DocumentType};
use crate::values::ids::Id;
use crate::values::money::Cop;
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use std::fmt;

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AccountType {
        0 Savings "savings",
        1 Checking "checking",
        /// A wallet, such as one that a phone number names.
        2 Wallet "wallet",
    }

    /// The number of an account in Colombia, which no check digit guards. Personal data: shown masked.
    #[derive(Clone, PartialEq, Eq)]
    pub struct ColombianAccount(pub(crate) Box<str>);
}

impl ColombianAccount {
    /// Reads a number of 5 to 20 digits; the error is a message for the caller.
    pub fn parse(text: &str) -> Result<ColombianAccount, &'static str> {
        let fits = (5..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if fits {
            Ok(ColombianAccount(Box::from(text)))
        } else {
            Err("must be an account number of 5 to 20 digits")
        }
    }

    /// The account unmasked. Only for whoever pays to it.
    pub fn clear(&self) -> &str {
        &self.0
    }

    /// The account masked to its last four digits: `…1234`.
    pub fn masked(&self) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "…{}", &self.0[self.0.len().saturating_sub(4)..]))
    }
}

impl fmt::Debug for ColombianAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.masked(), f)
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Beneficiary {
        0 pub bank: String,
        1 pub account: ColombianAccount,
        2 pub account_type: AccountType,
        3 pub holder_name: String,
        4 pub document_type: DocumentType,
        5 pub document_number: DocumentNumber,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CopPayout {
        0 pub id: Id,
        1 pub external_ref: ExternalRef,
        2 pub status: Status,
        3 pub amount: Cop,
        4 pub to: Beneficiary,
        5 pub reference: Option<String>,
        6 pub failure_code: Option<String>,
        /// Whether real money moves; a test payout moves none.
        7 pub livemode: bool,
        8 pub created_at: Timestamp,
        9 pub settled_at: Option<Timestamp>,
    }
}

impl CopPayout {
    /// The instants at which it moved money, by which its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        std::iter::once(self.created_at).chain(self.settled_at).collect()
    }
}

impl Resource for CopPayout {
    fn facet(&self) -> u8 {
        self.status as u8
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            entries.name(Space::CopPayout, &self.external_ref);
            entries.id_among_all(Space::CopPayout);
        }
        if self.status == Status::Completed && change.is_moved {
            entries.found_by(Trait::BankReference, self.reference.as_deref());
        }
    }
}
