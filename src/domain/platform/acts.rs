//! What operators did that leaves no record of another kind: copies, samples of rates, changes of
//! catalogues. The record says who, what and when; a body is never in it, as it may hold secrets.

use crate::values::ids::Id;
use crate::values::time::Timestamp;
use std::fmt;

/// An administrative act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// Who: whoever holds the operators' token, or the command that started the server.
    pub who: String,
    /// From which address.
    pub from: Option<String>,
    /// The id of the request.
    pub request_id: Option<String>,
    /// What was done.
    pub deed: Deed,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A call of the operators' API.
    Called {
        /// Its name in the documentation.
        operation: String,
        /// Its path, which names what it was about.
        path: String,
    },
    /// Everything was copied.
    BackedUp {
        /// Where the copy is.
        directory: String,
        /// The last record in it.
        seq: u64,
    },
    /// A restored copy became the active server.
    TookOver {
        /// The command that had made its directory.
        made_by: String,
        /// The last record of the server that was copied.
        seq: u64,
    },
    /// An order at a bank was settled in the bank's place: in the record of the outcome.
    Resolved {
        /// Which.
        operation: Id,
        /// Whether it was done.
        done: bool,
        /// Why it is believed.
        note: String,
    },
}

impl Act {
    /// An act of an operator who called the API.
    pub fn of_operator(from: String, request_id: String, deed: Deed) -> Act {
        Act { who: "operator".to_owned(), from: Some(from), request_id: Some(request_id), deed }
    }
}

/// As `pasarela wal inspect` prints it.
impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.who)?;
        if let Some(from) = &self.from {
            write!(f, " from {from}")?;
        }
        match &self.deed {
            Deed::Called { operation, path } => write!(f, ": {operation} {path}"),
            Deed::BackedUp { directory, seq } => write!(f, ": makeBackup {directory} up to {seq}"),
            Deed::Resolved { operation, done, note } => {
                let outcome = if *done { "done" } else { "refused" };
                write!(f, ": resolveOperation {operation} as {outcome}: {note}")
            }
            Deed::TookOver { made_by, seq } => write!(f, ": took over what {made_by} made, up to {seq}"),
        }
    }
}

/// A copy that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedUp {
    /// When.
    pub at: Timestamp,
    /// Where it is.
    pub directory: String,
    /// The last record in it.
    pub seq: u64,
}
