//! Loading the state of an entity from the record that its index entry names.

use super::EntityContext;
use crate::host::Host;
use crate::machine::Machine;
use std::collections::VecDeque;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use wal::Seq;

/// More than one: batches that come at once have many entities each, and a single record would be
/// decoded anew for nearly every one of them.
const DECODED_MAX: usize = 16;

/// The records that entities were loaded from last: those of a batch are all in one.
pub(super) struct Records<M: Machine> {
    decoded: Mutex<VecDeque<(Seq, Arc<M::Record>)>>,
}

impl<M: Machine> Records<M> {
    pub fn new() -> Self {
        Records { decoded: Mutex::new(VecDeque::with_capacity(DECODED_MAX)) }
    }

    fn get(&self, host: &Host<M>, seq: Seq) -> Result<Arc<M::Record>, Box<dyn Error + Send + Sync>> {
        let decoded = || self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = decoded().iter().find(|(kept, _)| *kept == seq).map(|(_, record)| Arc::clone(record));
        if let Some(record) = kept {
            return Ok(record);
        }
        let stored = host
            .reader
            .record(seq)?
            .ok_or_else(|| format!("the index names record {seq}, which is not there"))?;
        let record = Arc::new(host.machine.decode(&stored.payload)?);
        let mut decoded = decoded();
        decoded.truncate(DECODED_MAX - 1);
        decoded.push_front((seq, Arc::clone(&record)));
        Ok(record)
    }
}

pub(super) fn load<M: Machine>(
    context: &impl EntityContext<M>,
    tenant: u64,
    id: M::EntityId,
) -> Result<Option<Arc<M::Entity>>, Box<dyn Error + Send + Sync>> {
    let host = context.host();
    let Some(seq) = host.reader.index_get(&host.machine.entity_key(tenant, id))? else { return Ok(None) };
    let seq = u64::from_be_bytes(seq.as_slice().try_into()?);
    let record = context.entities().records.get(host, seq)?;
    Ok(host.machine.entity_in(&record, id))
}
