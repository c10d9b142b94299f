//! The storage of a machine: bytes of records and books, and the keys of entities.

use super::rules::Rules;
use std::error::Error;
use wal::IndexOps;

/// The stored form of records and books, and the names under which they are found again.
pub trait Storage: Rules {
    /// The reason why bytes are no record or no book.
    type Undecodable: Error + Send + Sync + 'static;

    /// The bytes of a record, for the log.
    fn encode(&self, record: &Self::Record) -> Vec<u8>;

    /// Decodes a record from its bytes.
    fn decode(&self, bytes: &[u8]) -> Result<Self::Record, Self::Undecodable>;

    /// The index entries that belong to a record.
    fn index(&self, tenant: u64, time_ms: i64, record: &Self::Record, ops: &mut IndexOps);

    /// The key under which [`Storage::index`] keeps the sequence of the record with the entity's
    /// newest state.
    fn entity_key(&self, tenant: u64, id: Self::EntityId) -> Vec<u8>;

    /// The key under which [`Storage::index`] keeps the generation of a book that began anew, 8 bytes big
    /// endian; `None` for a tenant whose book never does.
    fn generation_key(&self, _tenant: u64) -> Option<Vec<u8>> {
        None
    }

    /// Whether more commands for an entity are expected soon, so that its state is worth a place in
    /// the entity cache while it is not active.
    fn is_open(&self, _entity: &Self::Entity) -> bool {
        false
    }

    /// Whether encoding the book takes too long for its turn: then a clone is encoded beside its
    /// turns.
    fn is_large(&self, _book: &Self::Book) -> bool {
        false
    }

    /// The book as bytes, for a snapshot.
    fn save(&self, book: &Self::Book) -> Vec<u8>;

    /// Decodes a book from a snapshot.
    fn restore(&self, tenant: u64, bytes: &[u8]) -> Result<Self::Book, Self::Undecodable>;
}
