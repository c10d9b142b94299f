//! The names that banks give live orders: an id for ever, a reference for a day and a call. Each names one
//! operation of ours (`docs/contract.md, 18.3`): a bank that gives one name to two has said of which of them
//! it speaks in no word under that name.
//!
//! A name is written with the state that holds it. Who reads it holds its reservation.

use crate::rail::RailAnswer;
use crate::trace::{RailId, Trace};
use crate::values::ids::{EntityId, Id, Kind};
use crate::values::time::{Date, Timestamp, Zone};

/// The failure code of an operation that was decided under a name of another, for operators.
pub const AMBIGUOUS: &str = "bank_name_repeated";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub tenant: u64,
    pub entity: EntityId,
    pub operation: Id,
}

impl Owner {
    pub fn to_bytes(self) -> [u8; 41] {
        let mut bytes = [0; 41];
        bytes[..8].copy_from_slice(&self.tenant.to_be_bytes());
        bytes[8] = self.entity.kind as u8;
        bytes[9..25].copy_from_slice(self.entity.id.as_bytes());
        bytes[25..].copy_from_slice(self.operation.as_bytes());
        bytes
    }

    pub fn read(bytes: &[u8]) -> Option<Owner> {
        let (tenant, rest) = bytes.split_first_chunk()?;
        let (kind, rest) = rest.split_first()?;
        let (id, operation) = rest.split_first_chunk()?;
        Some(Owner {
            tenant: u64::from_be_bytes(*tenant),
            entity: EntityId { kind: Kind::from_byte(*kind)?, id: Id::from_bytes(*id) },
            operation: Id::from_bytes(operation.try_into().ok()?),
        })
    }
}

/// An order of an entity, as far as its names need it.
pub struct Named<'a> {
    pub operation: Id,
    pub kind: &'static str,
    pub trace: Option<&'a Trace>,
    pub since: Timestamp,
    pub reference: Option<&'a str>,
}

impl Named<'_> {
    fn names(&self) -> Vec<String> {
        let id = self.trace.and_then(|trace| trace.id.as_ref()).map(of_id);
        let reference = self.reference.filter(|reference| !reference.is_empty());
        let reference = reference.map(|reference| of_reference(self.kind, self.day(), reference));
        id.into_iter().chain(reference).collect()
    }

    /// The day on which the bank was sent it.
    fn day(&self) -> Date {
        self.trace.and_then(|trace| trace.sent_at).unwrap_or(self.since).date_in(Zone::Caracas)
    }
}

/// The name of an order by the bank's id of it, which banks write in either case, with dashes or without.
pub fn of_id(id: &RailId) -> String {
    let plain = id.as_str().chars().filter(char::is_ascii_alphanumeric);
    let plain: String = plain.map(|character| character.to_ascii_lowercase()).collect();
    format!("id {}", if plain.is_empty() { id.as_str() } else { &plain })
}

/// The name by the bank's reference, whose leading zeros tell nothing.
fn of_reference(kind: &str, day: Date, reference: &str) -> String {
    format!("{kind} {day} {}", without_zeros(reference))
}

/// The names that orders have by now, each with its operation.
pub fn names(orders: Vec<Named<'_>>) -> Vec<(Id, String)> {
    let named = |order: Named<'_>| order.names().into_iter().map(move |name| (order.operation, name));
    orders.into_iter().flat_map(named).collect()
}

/// The names under which a bank speaks of an operation in an answer, under this id; none of an operation
/// that no bank names.
pub fn in_answer(
    orders: &[Named<'_>],
    operation: Id,
    id: Option<&RailId>,
    answer: &RailAnswer,
) -> Vec<String> {
    let Some(order) = orders.iter().find(|order| order.operation == operation) else {
        return Vec::new();
    };
    let reference = match answer {
        RailAnswer::Done { reference } => reference.as_deref(),
        _ => None,
    };
    let reference = reference.filter(|reference| !reference.is_empty());
    let reference = reference.map(|reference| of_reference(order.kind, order.day(), reference));
    id.map(of_id).into_iter().chain(reference).collect()
}

/// Whether no word of the bank counts any more about an order, as its name is another's too.
pub fn is_given_up(orders: &[Named<'_>], operation: Id) -> bool {
    orders.iter().any(|order| order.operation == operation && order.trace.is_some_and(Trace::is_ambiguous))
}

/// The reference of a transfer without leading zeros, which carry no information.
pub fn without_zeros(reference: &str) -> &str {
    let digits = reference.trim_start_matches('0');
    if digits.is_empty() && !reference.is_empty() { "0" } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_however_it_is_written() {
        let id = |text| of_id(&RailId::parse(text).expect("an id"));
        let one = id("0f8fad5b-d9cb-469f-a165-70867728950e");
        for same in [
            "0F8FAD5B-D9CB-469F-A165-70867728950E",
            "0f8fad5bd9cb469fa16570867728950e",
            "{0f8fad5b-d9cb-469f-a165-70867728950e}",
        ] {
            assert_eq!(id(same), one, "{same}");
        }
        assert_ne!(id("0f8fad5b-d9cb-469f-a165-70867728950f"), one);
        assert_ne!(id("--"), id("---"));
        let day = Date::parse("2026-11-26").expect("a day");
        let reference = |text| of_reference("debit", day, text);
        assert_eq!(reference("00123456"), reference("123456"));
        assert_ne!(reference("1234560"), reference("123456"));
        assert_eq!(reference("000"), reference("0"));
    }
}
