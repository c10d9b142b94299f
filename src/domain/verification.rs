//! The proof that a phone at a bank is whose it should be: two small deposits, whose amounts its owner tells (`contract.md`, sections 7 and 17). The same for the payout methods of
//! merchants and for the tenant's own account.

use crate::domain::decision::Turn;
use crate::domain::ids::Id;
use crate::domain::kept::KeepRef;
use crate::domain::money::Ves;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use bincode::{Decode, Encode};
use std::sync::Arc;

/// Wrong tries after which a start is void.
pub const TRIES: u8 = 3;

/// A start that nobody confirmed can be repeated after so long.
const START_MS: i64 = 24 * 60 * 60 * 1000;

/// The bank's code for "these data are not this client's".
pub const NOT_THE_CLIENT: &str = "BE01";

/// How far the proof is.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum MethodStatus {
    /// Not begun, or void.
    Unverified,
    /// The deposits were sent.
    Verifying {
        /// The operation that sent them.
        operation: Id,
        /// Their amounts.
        amounts: (Ves, Ves),
        /// Tries left; none is locked.
        tries_left: u8,
        /// When.
        started_at: Timestamp,
        /// Which kept answer the bank's refusal replaces.
        kept: Option<Arc<KeepRef>>,
    },
    /// Proved.
    Verified {
        /// When.
        at: Timestamp,
    },
}

impl MethodStatus {
    /// As the API writes it.
    pub const fn name(&self) -> &'static str {
        match self {
            MethodStatus::Unverified | MethodStatus::Verifying { tries_left: 0, .. } => "unverified",
            MethodStatus::Verifying { .. } => "verifying",
            MethodStatus::Verified { .. } => "verified",
        }
    }

    /// Whether it is proved.
    pub const fn is_verified(&self) -> bool {
        matches!(self, MethodStatus::Verified { .. })
    }

    /// Whether `operation` sent the deposits that it waits for.
    pub fn waits_for(&self, sent_by: Id) -> bool {
        matches!(self, MethodStatus::Verifying { operation, .. } if *operation == sent_by)
    }

    /// Which kept answer the bank's refusal replaces.
    pub fn kept(&self) -> Option<Arc<KeepRef>> {
        if let MethodStatus::Verifying { kept, .. } = self { kept.clone() } else { None }
    }

    /// Begins with deposits of these amounts; what follows must send them as the operation that comes with it.
    pub fn started(&self, amounts: (Ves, Ves), kept: Option<Arc<KeepRef>>, turn: &Turn) -> Result<(MethodStatus, Id), Refusal> {
        match self {
            MethodStatus::Verified { .. } => return Err(Refusal::AlreadyVerified),
            MethodStatus::Verifying { tries_left: 1.., started_at, .. } if turn.now < started_at.plus_ms(START_MS) => {
                return Err(Refusal::VerificationInProgress);
            }
            MethodStatus::Unverified | MethodStatus::Verifying { .. } => {}
        }
        if !turn.has_rail {
            return Err(Refusal::RailNotConfigured);
        }
        let operation = Id::derived(turn.now.unix_ms(), turn.seed, 2);
        Ok((MethodStatus::Verifying { operation, amounts, tries_left: TRIES, started_at: turn.now, kept }, operation))
    }

    /// After its owner told these amounts, in either order: a new status, and a refusal if they are wrong. No status when there was nothing to try.
    pub fn tried(&self, seen: (Ves, Ves), now: Timestamp) -> Result<(MethodStatus, Option<Refusal>), Refusal> {
        let (amounts, tries_left) = match self {
            MethodStatus::Unverified => return Err(Refusal::VerificationNotStarted),
            MethodStatus::Verified { .. } => return Err(Refusal::AlreadyVerified),
            MethodStatus::Verifying { tries_left: 0, .. } => return Err(Refusal::VerificationLocked),
            MethodStatus::Verifying { amounts, tries_left, .. } => (*amounts, tries_left - 1),
        };
        if seen == amounts || (seen.1, seen.0) == amounts {
            return Ok((MethodStatus::Verified { at: now }, None));
        }
        let mut failed = self.clone();
        if let MethodStatus::Verifying { tries_left: left, .. } = &mut failed {
            *left = tries_left;
        }
        let refusal = if tries_left == 0 { Refusal::VerificationLocked } else { Refusal::AmountsMismatch { attempts_left: tries_left } };
        Ok((failed, Some(refusal)))
    }
}
