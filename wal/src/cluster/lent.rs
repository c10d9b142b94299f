//! A store that outlives the log over it: a follower's log is closed and the leader's opened on the
//! same store.

use crate::batch::{Batch, Family};
use crate::store::{Scan, Store, StoreCursor, StoreError, StoreMoment};
use std::path::Path;
use std::sync::Arc;

pub struct Lent(pub Arc<dyn Store>);

impl Store for Lent {
    fn write(&self, batch: &Batch) -> Result<(), StoreError> {
        self.0.write(batch)
    }
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.get(family, key)
    }
    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_> {
        self.0.cursor(scan)
    }
    fn moment(&self) -> Box<dyn StoreMoment + '_> {
        self.0.moment()
    }
    fn witness(&self, note: &[u8]) -> Result<(), StoreError> {
        self.0.witness(note)
    }
    fn witnessed(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.witnessed()
    }
    fn checkpoint(&self, dir: &Path, note: &[u8]) -> Result<(), StoreError> {
        self.0.checkpoint(dir, note)
    }
    fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
