//! Administrative acts: what operators did that leaves no record of another kind, such as backups,
//! samples of rates and changes of catalogues. The record says who did what and when; a request
//! body is never in it, as it may hold secrets.

use crate::codec::stored;
use crate::values::ids::Id;
use crate::values::time::Timestamp;
use std::fmt;

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Act {
        /// The actor: the operator's name, or the command that started the server.
        0 pub who: String,
        /// The IP address that the request came from; `None` for a command of this machine.
        1 pub from: Option<String>,
        /// The id of the request; `None` for a command.
        2 pub request_id: Option<String>,
        3 pub deed: Deed,
    }

    /// A deed of an operator, with what is needed to understand it later.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Deed {
        0 Called {
            0 operation: String,
            /// The path of the request, which names what the call was about.
            1 path: String,
        },
        1 BackedUp {
            0 directory: String,
            /// The sequence of the last record in the copy.
            1 seq: u64,
        },
        2 TookOver {
            0 made_by: String,
            /// The sequence of the last record that the copy was made with.
            1 seq: u64,
        },
        /// An operation with a bank was settled in the bank's place; written in the record of the
        /// outcome.
        3 Resolved { 0 operation: Id, 1 done: bool, 2 note: String },
    }
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

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct BackedUp {
        0 pub at: Timestamp,
        1 pub directory: String,
        /// The sequence of the last record in it.
        2 pub seq: u64,
    }
}
