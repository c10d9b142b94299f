//! Administrative acts: what operators did that leaves no record of another kind, such as backups,
//! samples of rates and changes of catalogues. The record says who did what and when; a request
//! body is never in it, as it may hold secrets.

use crate::values::ids::Id;
use crate::values::time::Timestamp;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// The actor: the operator's name, or the command that started the server.
    pub who: String,
    /// The IP address that the request came from; `None` for a command of this machine.
    pub from: Option<String>,
    /// The id of the request; `None` for a command.
    pub request_id: Option<String>,
    pub deed: Deed,
}

/// A deed of an operator, with what is needed to understand it later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Called {
        operation: String,
        /// The path of the request, which names what the call was about.
        path: String,
    },
    BackedUp {
        directory: String,
        /// The sequence of the last record in the copy.
        seq: u64,
    },
    TookOver {
        made_by: String,
        /// The sequence of the last record that the copy was made with.
        seq: u64,
    },
    /// An operation with a bank was settled in the bank's place; written in the record of the
    /// outcome.
    Resolved { operation: Id, done: bool, note: String },
}

impl Act {
    /// An act of an operator who called the API.
    pub fn of_operator(who: String, from: String, request_id: String, deed: Deed) -> Act {
        Act { who, from: Some(from), request_id: Some(request_id), deed }
    }
}

/// The act as `pasarela wal inspect` prints it.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedUp {
    pub at: Timestamp,
    pub directory: String,
    /// The sequence of the last record in it.
    pub seq: u64,
}
