//! The audit: one entry for every call of an operator that changed something, and for every look at
//! personal data, in the record of the change itself (`docs/contract.md, 20.3`). So there is no
//! change without its entry, and no entry of a change that never was.
//!
//! A secret is never in an entry: what was changed is what the API shows of it.

use crate::codec::stored;
use crate::values::ids::Id;
use crate::values::time::Timestamp;
use std::fmt;

/// The number that the id of an entry has among the ids of its record.
const ENTRY: u16 = 0xFFFE;

stored! {
    /// A person who acts: an operator with a name, or the token of the configuration.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Who {
        /// The operator; `None` for `root`.
        0 pub id: Option<Id>,
        1 pub name: Box<str>,
    }
}

impl Who {
    /// The id and the name of the token of the configuration.
    pub const ROOT: &str = "root";

    pub fn root() -> Who {
        Who { id: None, name: Who::ROOT.into() }
    }

    pub fn shown_id(&self) -> String {
        self.id.map_or_else(|| Who::ROOT.to_owned(), |id| id.to_string())
    }

    /// Whether two are the same person, whatever their names are now.
    pub fn is(&self, other: &Who) -> bool {
        self.id == other.id
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AuditEntry {
        /// The instant of the call, on the server's clock.
        0 pub at: Timestamp,
        1 pub operator: Who,
        /// The address that the call came from; `None` for a command of this machine.
        2 pub peer: Option<String>,
        /// The act's name: noun and verb of the command line.
        3 pub action: String,
        4 pub tenant: Option<Id>,
        5 pub target: Option<String>,
        /// The changed members as they were, as a JSON object; `None` of what is new.
        6 pub before: Option<String>,
        /// The changed members as they are, as a JSON object.
        7 pub after: Option<String>,
        8 pub approval: Option<Id>,
        /// The consent of the second person, where an approval let it be done.
        9 pub consent: Option<Consent>,
        /// The id of the request; `None` for a command of this machine.
        10 pub request_id: Option<String>,
        /// The account's own key that acted, if no operator did.
        11 pub key: Option<Id> = since 8 else None,
        /// Who held it, as its mandate said then.
        12 pub agent: Option<Box<str>> = since 8 else None,
    }

    /// The second person's word.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Consent {
        0 pub by: Who,
        1 pub note: Option<String>,
    }
}

impl AuditEntry {
    /// An entry for an act of this person at this instant, of which nothing else is known.
    pub fn by(operator: Who, at: Timestamp, action: &str) -> AuditEntry {
        AuditEntry {
            at,
            operator,
            peer: None,
            action: action.to_owned(),
            tenant: None,
            target: None,
            before: None,
            after: None,
            approval: None,
            consent: None,
            request_id: None,
            key: None,
            agent: None,
        }
    }

    /// The id of the entry in the record with this seed.
    pub fn id(&self, seed: u64) -> Id {
        Id::derived(self.at.unix_ms(), seed, ENTRY)
    }
}

/// The entry as `pasarela wal inspect` prints it.
impl fmt::Display for AuditEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operator.name)?;
        if let Some(key) = &self.key {
            write!(f, " with the key {key}")?;
        }
        if let Some(agent) = &self.agent {
            write!(f, " of {agent}")?;
        }
        if let Some(peer) = &self.peer {
            write!(f, " from {peer}")?;
        }
        write!(f, ": {}", self.action)?;
        if let Some(target) = &self.target {
            write!(f, " {target}")?;
        }
        match &self.consent {
            Some(consent) => write!(f, ", approved by {}", consent.by.name),
            None => Ok(()),
        }
    }
}

/// The members that a decision changed, each side a JSON object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The id of what was made, where nobody knew it before.
    pub made: Option<Id>,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl AuditEntry {
    /// Completes the entry with what its record changed. What the caller said stays: it is about what
    /// is not in the record.
    pub(crate) fn complete(&mut self, changes: Changes) {
        let Changes { made, before, after } = changes;
        self.target = self.target.take().or(made.map(|id| id.to_string()));
        self.before = self.before.take().or(before);
        self.after = match (self.after.take(), after) {
            (Some(said), Some(changed)) => Some(joined(&changed, &said)),
            (said, changed) => said.or(changed),
        };
    }
}

/// The members of two JSON objects in one.
fn joined(one: &str, other: &str) -> String {
    let inside = |object: &str| object.get(1..object.len().saturating_sub(1)).unwrap_or_default().to_owned();
    let parts: Vec<String> = [one, other].into_iter().map(inside).filter(|part| !part.is_empty()).collect();
    format!("{{{}}}", parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> AuditEntry {
        AuditEntry {
            at: Timestamp::from_unix_ms(7),
            operator: Who::root(),
            peer: None,
            action: "operation.resolve".to_owned(),
            tenant: None,
            target: None,
            before: None,
            after: Some(r#"{"note":"n"}"#.to_owned()),
            approval: None,
            consent: None,
            request_id: None,
            key: None,
            agent: None,
        }
    }

    #[test]
    fn what_was_said_stands_beside_what_was_changed() {
        let changed = Changes {
            made: Some(Id::derived(1, 2, 0)),
            before: Some(r#"{"status":"PENDING"}"#.to_owned()),
            after: Some(r#"{"status":"COMPLETED"}"#.to_owned()),
        };
        let mut of_one = AuditEntry { target: Some("o".to_owned()), ..entry() };
        of_one.complete(changed.clone());
        assert_eq!(of_one.after.as_deref(), Some(r#"{"status":"COMPLETED","note":"n"}"#));
        assert_eq!(
            (of_one.before.as_deref(), of_one.target.as_deref()),
            (Some(r#"{"status":"PENDING"}"#), Some("o"))
        );
        let mut new = AuditEntry { after: None, ..entry() };
        new.complete(Changes { before: None, ..changed });
        assert_eq!((new.before, new.target), (None, Some(Id::derived(1, 2, 0).to_string())));
        let mut empty = entry();
        empty.complete(Changes { after: Some("{}".to_owned()), ..Changes::default() });
        assert_eq!(empty.after.as_deref(), Some(r#"{"note":"n"}"#));
    }
}
