//! The copy of a tenant's book that another engine decides, while the tenant moves here.

use super::Engine;
use crate::machine::Machine;
use crate::protocol::{BookMessage, Failure, reply_to};
use wal::Seq;

impl<M: Machine> Engine<M> {
    /// Appends records of a tenant that is elsewhere ([`crate::Config::is_elsewhere`]), as they are. They follow those
    /// that the book has, which the caller has made sure of, one call at a time. Durable when it returns; no effect is
    /// performed, and nobody is told of them.
    pub async fn copy(&self, tenant: u64, records: Vec<(i64, Vec<u8>)>) -> Result<Seq, Failure> {
        reply_to(|to| self.host.send_to_book(tenant, BookMessage::Copy { records, to })).await
    }

    /// Whether nothing is done here for an entity of a tenant. What was under way when it left would bring an old state
    /// along.
    pub fn is_quiet(&self, tenant: u64) -> bool {
        self.host.entities.iter().all(|entity| entity.key().0 != tenant)
    }
}
