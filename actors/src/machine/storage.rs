//! The storage of a machine: bytes of records and books, and the keys of entities.

use super::rules::Rules;
use std::error::Error;
use wal::IndexOps;

/// The stored form of records and books, and the keys under which they are found again.
pub trait Storage: Rules {
    type Undecodable: Error + Send + Sync + 'static;

    fn encode(&self, record: &Self::Record) -> Vec<u8>;

    fn decode(&self, bytes: &[u8]) -> Result<Self::Record, Self::Undecodable>;

    fn index(&self, tenant: u64, time_ms: i64, record: &Self::Record, ops: &mut IndexOps);

    /// Where [`Storage::index`] keeps the sequence of the record with the entity's newest state.
    fn entity_key(&self, tenant: u64, id: Self::EntityId) -> Vec<u8>;

    /// The key under which [`Storage::index`] keeps the generation of a book that began anew, 8 bytes big
    /// endian; `None` for a tenant whose book never does.
    fn generation_key(&self, _tenant: u64) -> Option<Vec<u8>> {
        None
    }

    /// More commands are expected soon, so that the state is worth a place in the entity cache.
    fn is_open(&self, _entity: &Self::Entity) -> bool {
        false
    }

    /// Encoding the book takes too long for its turn: a clone is encoded beside its turns.
    fn is_large(&self, _book: &Self::Book) -> bool {
        false
    }

    fn save(&self, book: &Self::Book) -> Vec<u8>;

    fn restore(&self, tenant: u64, bytes: &[u8]) -> Result<Self::Book, Self::Undecodable>;
}
