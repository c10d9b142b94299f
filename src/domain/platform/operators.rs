//! Operators: people with a token and a role of their own (`docs/contract.md, 20.1`). The token of the
//! configuration is the operator `root`, who is not in this book.

use crate::codec::stored;
use crate::values::ids::Id;
use crate::values::time::Timestamp;

stored! {
    /// A role: what an operator may do. Each may do what those before it may.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Role {
        /// Reads everything, with personal data masked.
        0 Viewer "viewer",
        /// Sees payers one at a time, sends events again, cancels payments.
        1 Support "support",
        2 Treasury "treasury",
        3 Admin "admin",
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OperatorStatus {
        0 Active "active",
        1 Disabled "disabled",
    }

    /// An operator as the platform's book keeps it: without the token.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OperatorAccount {
        0 pub id: Id,
        /// The name for people; several may have the same.
        1 pub name: Box<str>,
        /// The e-mail address, as it was given; no two operators have the same.
        2 pub email: Box<str>,
        3 pub role: Role,
        4 pub status: OperatorStatus,
        /// SHA-256 of the token.
        5 pub token_hash: [u8; 32],
        /// The instant at which the operator was made, on the server's clock.
        6 pub created_at: Timestamp,
        /// Whoever had a hand in what the operator can do, each once.
        7 pub makers: Vec<Maker>,
    }

    /// Somebody who made an operator, raised or enabled it, or had a token of it made: for a day they are not
    /// two persons (`docs/contract.md, 20.2`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Maker {
        /// The operator; `None` for `root`.
        0 pub by: Option<Id>,
        1 pub at: Timestamp,
    }
}

/// The people in whose name an operator is changed: who asks and, where one was needed, who approves.
pub type By = Vec<Option<Id>>;

impl OperatorAccount {
    /// Whether the operator has this address, however its letters are written.
    pub fn has_email(&self, email: &str) -> bool {
        self.email.to_lowercase() == email.to_lowercase()
    }

    /// Whether it could do more with this role and status; what is `None` stays.
    pub fn gains(&self, role: Option<Role>, status: Option<OperatorStatus>) -> bool {
        let is_enabled = self.status == OperatorStatus::Disabled && status == Some(OperatorStatus::Active);
        role.is_some_and(|role| role > self.role) || is_enabled
    }

    pub(crate) fn made(mut self, by: By, now: Timestamp) -> OperatorAccount {
        self.makers.retain(|maker| !by.contains(&maker.by));
        self.makers.extend(by.into_iter().map(|by| Maker { by, at: now }));
        self
    }
}
