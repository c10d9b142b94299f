//! A store in memory that keeps the promise of the storage seam until a test tells it not to,
//! through `Faults`.

use crate::cursor::{MemoryCursor, MemoryMoment};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;
use wal::{Batch, Family, RECORD_OVERHEAD_BYTES, Scan, Seq, Store, StoreCursor, StoreError, StoreMoment};

pub(crate) type Keys = BTreeMap<Vec<u8>, Vec<u8>>;

/// Clones are the same store: keep one, give one to the log.
#[derive(Clone, Default)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

#[derive(Clone)]
pub struct Faults {
    shared: Arc<Shared>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    Lost,
    /// Whole, though it was never acknowledged.
    Kept,
    /// A batch is all or nothing, so a part of one is dropped at the next opening.
    Torn(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The write fails, and nothing of it is stored.
    NotStored,
    /// The write fails, and is stored all the same.
    Stored,
    /// A crash may lose or keep it.
    SyncFails,
    DiskFull,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    families: [Arc<Keys>; 5],
    unsynced: Option<Batch>,
    witness: Option<Vec<u8>>,
    checkpoints: BTreeMap<PathBuf, MemoryStore>,
    writes: u64,
    writes_after_failure: u64,
    failed: bool,
    crashed: bool,
    closed: bool,
    refusal: Option<(u64, Refusal)>,
    room_bytes: Option<usize>,
    sync_delay: Duration,
    hold: bool,
    held: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding the state")
    }
}

impl State {
    fn apply(&mut self, batch: &Batch) {
        for op in batch.ops() {
            let keys = Arc::make_mut(&mut self.families[op.family as usize]);
            match (op.value, op.until) {
                (Some(value), _) => drop(keys.insert(op.key.to_vec(), value.to_vec())),
                (None, None) => drop(keys.remove(op.key)),
                (None, Some(until)) => keys.retain(|key, _| !(op.key..until).contains(&key.as_slice())),
            }
        }
    }

    fn family(&mut self, family: Family) -> &mut Keys {
        Arc::make_mut(&mut self.families[family as usize])
    }
}

impl MemoryStore {
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    pub fn faults(&self) -> Faults {
        Faults { shared: self.shared.clone() }
    }

    /// What is durable in this one, without faults, like a copy of its directory.
    pub fn copy(&self) -> MemoryStore {
        let state = self.shared.lock();
        let copy =
            State { families: state.families.clone(), witness: state.witness.clone(), ..State::default() };
        MemoryStore { shared: Arc::new(Shared { state: Mutex::new(copy), changed: Condvar::new() }) }
    }

    pub fn checkpoint_at(&self, dir: &Path) -> Option<MemoryStore> {
        self.shared.lock().checkpoints.get(dir).map(MemoryStore::copy)
    }

    pub fn is_closed(&self) -> bool {
        self.shared.lock().closed
    }
}

impl Faults {
    pub fn delay_syncs(&self, delay: Duration) {
        self.shared.lock().sync_delay = delay;
    }

    pub fn hold_syncs(&self) {
        self.shared.lock().hold = true;
    }

    pub fn wait_until_held(&self) {
        let mut state = self.shared.lock();
        while !state.held {
            state = self.shared.changed.wait(state).expect("nobody panics while holding the state");
        }
    }

    pub fn release_syncs(&self) {
        self.shared.lock().hold = false;
        self.shared.changed.notify_all();
    }

    pub fn refuse_write(&self, nth: u64, how: Refusal) {
        let mut state = self.shared.lock();
        state.refusal = Some((state.writes + nth, how));
    }

    /// The write that does not fit into so many more bytes is refused.
    pub fn leave_room(&self, bytes: usize) {
        self.shared.lock().room_bytes = Some(bytes);
    }

    /// Returns what the next start finds after a power cut.
    pub fn crash(&self, crash: Crash) -> MemoryStore {
        let mut state = self.shared.lock();
        state.crashed = true;
        let unsynced = state.unsynced.take();
        self.shared.changed.notify_all();
        drop(state);
        let store = MemoryStore { shared: self.shared.clone() }.copy();
        if let Some(batch) = unsynced {
            let survives = match crash {
                Crash::Lost => false,
                Crash::Kept => true,
                Crash::Torn(bytes) => bytes >= batch.len_bytes(),
            };
            if survives {
                store.shared.lock().apply(&batch);
            }
        }
        store
    }

    pub fn unsynced_bytes(&self) -> Option<usize> {
        self.shared.lock().unsynced.as_ref().map(Batch::len_bytes)
    }

    pub fn writes(&self) -> u64 {
        self.shared.lock().writes
    }

    /// The log must keep this at zero.
    pub fn writes_after_failure(&self) -> u64 {
        self.shared.lock().writes_after_failure
    }

    pub fn has_failed(&self) -> bool {
        self.shared.lock().failed
    }

    /// 0 if there is no such value.
    pub fn len_of(&self, family: Family, key: &[u8]) -> usize {
        self.shared.lock().families[family as usize].get(key).map_or(0, Vec::len)
    }

    /// Panics if there is no such value.
    pub fn flip_byte(&self, family: Family, key: &[u8], at: usize) {
        let mut state = self.shared.lock();
        let value = state.family(family).get_mut(key).expect("the key exists");
        value[at] ^= 1;
    }

    /// The length field counts too.
    pub fn flip_byte_of_record(&self, seq: Seq, at: usize) {
        self.edit_record(seq, |record| record[at] ^= 1);
    }

    pub fn remove_record(&self, seq: Seq) {
        self.edit_record(seq, Vec::clear);
    }

    /// Leaves tip and witness as they are.
    pub fn drop_records_after(&self, last: Seq) {
        let end = {
            let state = self.shared.lock();
            let (key, chunk) =
                state.families[Family::Log as usize].last_key_value().expect("the log is not empty");
            first_of(key) + count(chunk)
        };
        for seq in (last + 1..end).rev() {
            self.remove_record(seq);
        }
    }

    pub fn keys(&self, family: Family) -> Vec<Vec<u8>> {
        self.shared.lock().families[family as usize].keys().cloned().collect()
    }

    pub fn overwrite(&self, family: Family, key: &[u8], value: Option<&[u8]>) {
        let mut state = self.shared.lock();
        match value {
            Some(value) => state.family(family).insert(key.to_vec(), value.to_vec()),
            None => state.family(family).remove(key),
        };
    }

    /// Gives the store the witness of another, which may have come further.
    pub fn take_witness_of(&self, other: &MemoryStore) {
        let witness = other.shared.lock().witness.clone();
        self.shared.lock().witness = witness;
    }

    fn edit_record(&self, seq: Seq, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.shared.lock();
        let keys = state.family(Family::Log);
        let (key, chunk) =
            keys.range_mut(..=seq.to_be_bytes().to_vec()).next_back().expect("the record exists");
        let mut rest: &[u8] = chunk;
        for _ in first_of(key)..seq {
            rest = split(rest).expect("the record exists").1;
        }
        let (raw, after) = split(rest).expect("the record exists");
        let start = chunk.len() - rest.len();
        let mut record = raw.to_vec();
        edit(&mut record);
        let edited = [&chunk[..start], &record, after].concat();
        let key = key.clone();
        if edited.is_empty() {
            keys.remove(&key);
        } else {
            keys.insert(key, edited);
        }
    }
}

fn first_of(key: &[u8]) -> Seq {
    Seq::from_be_bytes(key.try_into().expect("a log key has eight bytes"))
}

/// Takes the first record off a chunk by its length alone.
fn split(chunk: &[u8]) -> Option<(&[u8], &[u8])> {
    let total = u32::from_le_bytes(*chunk.first_chunk::<4>()?) as usize + 4;
    (RECORD_OVERHEAD_BYTES..=chunk.len()).contains(&total).then(|| chunk.split_at(total))
}

fn count(chunk: &[u8]) -> Seq {
    let mut rest = chunk;
    let mut count = 0;
    while let Some((_, next)) = split(rest) {
        rest = next;
        count += 1;
    }
    count
}

impl Store for MemoryStore {
    fn write(&self, batch: &Batch) -> Result<(), StoreError> {
        let mut state = self.shared.lock();
        state.writes += 1;
        if state.failed {
            state.writes_after_failure += 1;
        }
        if state.crashed {
            return Err(StoreError::Failed("the store has crashed".into()));
        }
        let mut refusal = state.refusal.filter(|(nth, _)| *nth == state.writes).map(|(_, how)| how);
        if let Some(room) = state.room_bytes {
            match room.checked_sub(batch.len_bytes()) {
                Some(left) => state.room_bytes = Some(left),
                None => refusal = Some(Refusal::DiskFull),
            }
        }
        if let Some(refusal) = refusal {
            state.failed = true;
            match refusal {
                Refusal::NotStored => {}
                Refusal::Stored => state.apply(batch),
                Refusal::SyncFails => state.unsynced = Some(batch.clone()),
                Refusal::DiskFull => {
                    return Err(StoreError::Full("no space left on device (injected)".into()));
                }
            }
            return Err(StoreError::Failed(
                if refusal == Refusal::SyncFails {
                    "the sync failed (injected)"
                } else {
                    "the write failed (injected)"
                }
                .into(),
            ));
        }
        state.unsynced = Some(batch.clone());
        if !state.sync_delay.is_zero() {
            let delay = state.sync_delay;
            drop(state);
            std::thread::sleep(delay);
            state = self.shared.lock();
        }
        while state.hold && !state.crashed {
            state.held = true;
            self.shared.changed.notify_all();
            state = self.shared.changed.wait(state).expect("nobody panics while holding the state");
        }
        state.held = false;
        if state.crashed {
            state.failed = true;
            return Err(StoreError::Failed("the store crashed during the sync".into()));
        }
        state.unsynced = None;
        state.apply(batch);
        Ok(())
    }

    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.shared.lock().families[family as usize].get(key).cloned())
    }

    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_> {
        let keys = self.shared.lock().families[scan.family as usize].clone();
        Box::new(MemoryCursor::new(keys, scan))
    }

    fn moment(&self) -> Box<dyn StoreMoment + '_> {
        Box::new(MemoryMoment { families: self.shared.lock().families.clone() })
    }

    fn witness(&self, note: &[u8]) -> Result<(), StoreError> {
        let mut state = self.shared.lock();
        if state.crashed {
            return Err(StoreError::Failed("the store has crashed".into()));
        }
        state.witness = Some(note.to_vec());
        Ok(())
    }

    fn witnessed(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.shared.lock().witness.clone())
    }

    fn checkpoint(&self, dir: &Path, note: &[u8]) -> Result<(), StoreError> {
        let copy = self.copy();
        copy.shared.lock().witness = Some(note.to_vec());
        self.shared.lock().checkpoints.insert(dir.to_owned(), copy);
        Ok(())
    }

    fn close(&self) -> Result<(), StoreError> {
        self.shared.lock().closed = true;
        Ok(())
    }
}
