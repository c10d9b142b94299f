//! The part of the index that a search looks into: what is known of an entity besides its id and
//! its names, such as a bank's reference or a payer's document.
//!
//! An entry is the platform's, so that operators find it among all tenants, and holds the tenant
//! key behind the text, so that a tenant finds its own by one seek. The text is a short hash, of
//! documents and phones under the server's key: the index tells nobody who paid. An entry says where
//! to look, not what is there: whoever reads it compares with the entity, which may have changed,
//! gone, or have another text of the same hash.

use super::{Space, begin};
use crate::values::ids::{EntityId, Id, Kind};
use crate::values::mode::PLATFORM;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

const SEARCH: u8 = b'q';
/// The byte of a deposit in USDT, which is no entity.
const DEPOSIT: u8 = 0xFF;

/// A trait by which an entity is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Trait {
    /// The reference of a bank or of a processor.
    BankReference = 1,
    /// The tenant's reference, which need not be unique: of checkout sessions and their payments,
    /// of payments in pesos, of conversions.
    Reference = 2,
    /// The hash of a transaction on a network.
    TxHash = 3,
    /// The identity document of a payer or a seller.
    Document = 4,
    Phone = 5,
    /// The id of a part of something: of a deposit in USDT, or of a seller's payout method.
    PartId = 6,
}

impl Trait {
    /// Whether it is about a person, who is not to be known by the index.
    const fn is_personal(self) -> bool {
        matches!(self, Trait::Document | Trait::Phone)
    }
}

/// The server's key for what is found by a person's document or phone; without it, which is how
/// rules are tested, nothing is found by these.
#[derive(Clone, Default)]
pub struct PersonMarks(Option<Hmac<Sha256>>);

impl PersonMarks {
    pub fn under(key: &[u8]) -> PersonMarks {
        PersonMarks(Hmac::new_from_slice(key).ok())
    }

    pub const fn is_some(&self) -> bool {
        self.0.is_some()
    }

    fn of(&self, text: &str) -> Option<[u8; 8]> {
        let mac = self.0.clone()?.chain_update(b"found by").chain_update(text.as_bytes());
        mac.finalize().into_bytes().first_chunk().copied()
    }
}

/// The prefix of what has a text, of all tenants; the tenant key (4 bytes), the id and its kind
/// follow. `None` for a person's where there is no key.
pub fn found_by(marks: &PersonMarks, by: Trait, text: &str) -> Option<Vec<u8>> {
    let hash =
        if by.is_personal() { marks.of(text)? } else { *Sha256::digest(text.as_bytes()).first_chunk()? };
    let mut key = begin(PLATFORM, SEARCH);
    key.push(by as u8);
    key.extend_from_slice(&hash);
    Some(key)
}

/// The prefix of what has a text within a tenant key; the id and its kind follow.
pub fn found_within(found_by: &[u8], tenant: u64) -> Vec<u8> {
    let tenant = u32::try_from(tenant).unwrap_or(u32::MAX);
    [found_by, &tenant.to_be_bytes()].concat()
}

/// The tenant key of an entry behind the prefix of its text.
pub fn finder(suffix: &[u8]) -> Option<u64> {
    suffix.first_chunk::<4>().map(|tenant| u32::from_be_bytes(*tenant).into())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Entity(EntityId),
    /// A deposit in USDT; the value of its entry is the record.
    Deposit(Id),
}

/// The target of an entry, from what follows the tenant key.
pub fn found(suffix: &[u8]) -> Option<Found> {
    let (id, kind) = suffix.split_first_chunk::<16>()?;
    let id = Id::from_bytes(*id);
    match kind {
        [DEPOSIT] => Some(Found::Deposit(id)),
        [kind] => Kind::from_byte(*kind).map(|kind| Found::Entity(EntityId { kind, id })),
        _ => None,
    }
}

/// The key of an entity that has a text.
pub(crate) fn of_entity(found_by: &[u8], tenant: u64, id: EntityId) -> Vec<u8> {
    let mut key = found_within(found_by, tenant);
    key.extend_from_slice(id.id.as_bytes());
    key.push(id.kind as u8);
    key
}

/// The key of a deposit that has a text.
pub(crate) fn of_deposit(found_by: &[u8], tenant: u64, deposit: Id) -> Vec<u8> {
    let mut key = found_within(found_by, tenant);
    key.extend_from_slice(deposit.as_bytes());
    key.push(DEPOSIT);
    key
}

/// A transaction's hash as it is searched for: networks write it in either case.
pub fn searched_hash(tx_hash: &str) -> String {
    tx_hash.to_ascii_lowercase()
}

/// Whether a directory may lack this entry although a record says it: an older version wrote the
/// record. What was found before is found without it, so only these are excused.
pub fn may_be_missing(key: &[u8]) -> bool {
    match key {
        [_, _, _, _, b'r', space, ..] => *space == Space::MicroDeposits as u8,
        [_, _, _, _, SEARCH, ..] => true,
        [_, _, _, _, b'l', kind, ..] => *kind == Kind::Session as u8,
        _ => false,
    }
}

/// Whether an entry is about a person, so that only who has the key can tell that it belongs there.
pub fn is_personal(key: &[u8]) -> bool {
    let personal = [Trait::Document as u8, Trait::Phone as u8];
    matches!(key, [_, _, _, _, SEARCH, by, ..] if personal.contains(by))
}
