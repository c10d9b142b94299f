//! The copy of a tenant's book that another engine decides, while the tenant moves here.

use super::Engine;
use crate::machine::Machine;
use crate::protocol::{BookMessage, Failure, reply_to};

impl<M: Machine> Engine<M> {
    /// Appends records of a tenant that is elsewhere ([`crate::Config::is_elsewhere`]), as they are. They follow those
    /// that the book has, which the caller has made sure of, one call at a time. The book with them, which is durable
    /// when it returns; no effect is performed, and nobody is told of them.
    pub async fn copy(&self, tenant: u64, records: Vec<(i64, Vec<u8>)>) -> Result<M::Book, Failure> {
        let copied = reply_to(|to| self.host.send_to_book(tenant, BookMessage::Copy { records, to })).await;
        copied.map(|(book, _)| book)
    }

    /// Whether nothing is done here for an entity of a tenant.
    pub fn is_quiet(&self, tenant: u64) -> bool {
        self.host.entities.iter().all(|entity| entity.key().0 != tenant)
    }

    /// Forgets the states of a tenant's entities that are in memory, which are those of a life of it here before: it
    /// may come back with others. False while something that was under way when it left would bring one along; from
    /// then on nothing does, as nothing is begun for a tenant that is elsewhere.
    pub fn forget_entities(&self, tenant: u64) -> bool {
        if !self.is_quiet(tenant) {
            return false;
        }
        self.host.entity_cache.retain(|(of, _), _| *of != tenant);
        true
    }
}
