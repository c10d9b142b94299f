//! The books in files: a journal that is appended to, a map in memory of what is in it, and the
//! sorted file of all that came before. What [`Disk::decide`] answered is known after the process
//! is killed at any instant. A call waits for one write of the operating system at most, and for no
//! sync; nobody waits for a compaction. After a write or sync that failed every call fails, because
//! what is in the file is not known any more, until everything that is in memory is in new files.
//! Below the disk's reserve nothing new is decided.
//!
//! A thread syncs the journal about once a second while it is written to, and compacts: a new
//! journal begins, what was in the old one is merged into a new sorted file, and the old journal is
//! removed when that is durable. Memory holds the operations of two journals at most, each an
//! eighth of the sorted file or [`JOURNAL_BYTES`].

use super::super::fate::Fate;
use super::journal::{HEADER_BYTES, Record};
use super::sorted::{Sorted, Summary, Writer};
use super::{BooksError, files};
use crate::disk::Disk as Room;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use uuid::Uuid;

/// Or an eighth of the sorted file, if that is more: 4 MiB are 155,000 operations.
const JOURNAL_BYTES: u64 = 4 << 20;
/// Of a decision in a file, at most.
const DECISION_BYTES: u64 = 32;
/// The most that a power cut may take of the bank's knowledge.
const SYNC_PAUSE: Duration = Duration::from_secs(1);

pub(super) type Decisions = HashMap<Uuid, Fate, RandomState>;

pub(super) struct Disk {
    files: Arc<Files>,
    keeper: Option<JoinHandle<()>>,
}

pub(super) struct Files {
    directory: PathBuf,
    /// Taken after `journal` by whoever needs both.
    state: Mutex<State>,
    /// There is something to sync, or the end has come.
    wake: Condvar,
    journal: Mutex<Journal>,
    keeping: Mutex<()>,
    room: Arc<Room>,
    /// Let go when nobody writes any more: the keeper too has ended by then.
    _lock: File,
}

pub(super) struct Opened {
    pub lock: File,
    pub number: u64,
    pub journal: File,
    pub bytes: u64,
    pub recent: Decisions,
    pub sorted: Option<Sorted>,
    pub duplicates: u64,
    /// There are journals before this one.
    pub is_behind: bool,
}

struct State {
    number: u64,
    /// Where the next record begins in the journal.
    place: u64,
    /// Not in the file yet, and nobody is answered for them.
    pending: Vec<u8>,
    appended: u64,
    recent: Decisions,
    older: Older,
    duplicates: u64,
    is_unsynced: bool,
    is_closing: bool,
    failed: Option<BooksError>,
}

#[derive(Clone, Default)]
struct Older {
    /// Until the sorted file has them.
    compacting: Option<Arc<Compacting>>,
    sorted: Option<Arc<Sorted>>,
}

struct Compacting {
    decisions: Decisions,
    summary: Summary,
}

struct Journal {
    file: Arc<File>,
    written: u64,
    spare: Vec<u8>,
}

impl State {
    fn append(&mut self, record: &Record) {
        let before = self.pending.len();
        record.write_into(&mut self.pending, self.number, self.place);
        let added = (self.pending.len() - before) as u64;
        (self.place, self.appended) = (self.place + added, self.appended + added);
    }

    fn usable(&self) -> Result<(), BooksError> {
        self.failed.clone().map_or(Ok(()), Err)
    }
}

impl Files {
    pub fn new(directory: &Path, opened: Opened, room: &Arc<Room>) -> Files {
        let Opened { number, journal, bytes, recent, sorted, duplicates, lock, is_behind: _ } = opened;
        let state = State {
            number,
            place: bytes,
            pending: Vec::new(),
            appended: 0,
            recent,
            older: Older { compacting: None, sorted: sorted.map(Arc::new) },
            duplicates,
            // The records that were found are synced soon, whoever wrote them.
            is_unsynced: bytes > HEADER_BYTES as u64,
            is_closing: false,
            failed: None,
        };
        let journal = Journal { file: Arc::new(journal), written: 0, spare: Vec::new() };
        Files {
            directory: directory.to_owned(),
            state: Mutex::new(state),
            wake: Condvar::new(),
            journal: Mutex::new(journal),
            keeping: Mutex::default(),
            room: Arc::clone(room),
            _lock: lock,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, operation: Uuid) -> Result<Option<Fate>, BooksError> {
        let older = {
            let state = self.state();
            state.usable()?;
            if let Some(fate) = state.recent.get(&operation) {
                return Ok(Some(*fate));
            }
            state.older.clone()
        };
        if let Some(fate) = older.compacting.and_then(|before| before.decisions.get(&operation).copied()) {
            return Ok(Some(fate));
        }
        older.sorted.map_or(Ok(None), |sorted| sorted.get(operation))
    }

    /// What `change` appends is written before this returns.
    fn write<T>(&self, change: impl FnOnce(&mut State) -> T) -> Result<T, BooksError> {
        if self.room.is_short() {
            return Err(BooksError::because("the disk is nearly full, so nothing new is decided"));
        }
        let (made, appended) = {
            let mut state = self.state();
            state.usable()?;
            let made = change(&mut state);
            if !state.is_unsynced {
                state.is_unsynced = true;
                self.wake.notify_one();
            }
            (made, state.appended)
        };
        self.written(appended).map(|()| made)
    }

    /// Whoever comes first writes for all who came meanwhile.
    fn written(&self, appended: u64) -> Result<(), BooksError> {
        let mut journal = self.journal();
        if journal.written >= appended { self.state().usable() } else { self.write_pending(&mut journal) }
    }

    fn write_pending(&self, journal: &mut Journal) -> Result<(), BooksError> {
        let mut bytes = std::mem::take(&mut journal.spare);
        let place = {
            let mut state = self.state();
            state.usable()?;
            std::mem::swap(&mut bytes, &mut state.pending);
            state.place - bytes.len() as u64
        };
        journal.file.write_all_at(&bytes, place).map_err(|error| self.fail(&error))?;
        journal.written += bytes.len() as u64;
        bytes.clear();
        journal.spare = bytes;
        Ok(())
    }

    /// Nothing is answered until all that is in memory is in new files ([`Files::compact`]).
    fn fail(&self, error: &std::io::Error) -> BooksError {
        self.failed(&mut self.state(), error)
    }

    fn failed(&self, state: &mut State, error: &std::io::Error) -> BooksError {
        let failed = BooksError::because(format!("{}: {error}", self.directory.display()));
        self.wake.notify_one();
        state.failed.get_or_insert(failed).clone()
    }

    /// And writes down how far.
    pub fn sync(&self) -> Result<(), BooksError> {
        let _one = self.keeping.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, synced) = {
            let journal = self.journal();
            let mut state = self.state();
            state.usable()?;
            // The callers whose records are pending have said so already.
            state.is_unsynced = !state.pending.is_empty();
            (Arc::clone(&journal.file), state.place - state.pending.len() as u64)
        };
        file.sync_data().map_err(|error| self.fail(&error))?;
        self.mark(synced)
    }

    /// A disk without room for the mark is no end of the books: nobody was answered for it.
    fn mark(&self, synced: u64) -> Result<(), BooksError> {
        let mut journal = self.journal();
        let mut state = self.state();
        self.write_here(&mut journal, &mut state)?;
        let mut mark = Vec::new();
        Record::Synced(synced).write_into(&mut mark, state.number, state.place);
        if let Err(error) = journal.file.write_all_at(&mark, state.place) {
            return match journal.file.set_len(state.place) {
                Ok(()) => Err(files::at(&self.directory)(error)),
                Err(error) => Err(self.failed(&mut state, &error)),
            };
        }
        state.place += mark.len() as u64;
        Ok(())
    }

    /// Nobody can add to it meanwhile.
    fn write_here(&self, journal: &mut Journal, state: &mut State) -> Result<(), BooksError> {
        state.usable()?;
        let place = state.place - state.pending.len() as u64;
        journal.file.write_all_at(&state.pending, place).map_err(|error| self.failed(state, &error))?;
        state.pending.clear();
        journal.written = state.appended;
        Ok(())
    }

    fn is_large(&self) -> bool {
        let state = self.state();
        let sorted = state.older.sorted.as_ref().map_or(0, |sorted| sorted.bytes());
        state.older.compacting.is_some() || state.place > JOURNAL_BYTES.max(sorted / 8)
    }

    fn compacted_bytes(&self) -> u64 {
        let state = self.state();
        let compacting = state.older.compacting.as_ref().map_or(0, |before| before.decisions.len());
        let sorted = state.older.sorted.as_ref().map_or(0, |sorted| sorted.bytes());
        sorted + (state.recent.len() + compacting) as u64 * DECISION_BYTES + JOURNAL_BYTES
    }

    /// Moves what is in the journal to the sorted file. Books that failed are whole again after it.
    pub fn compact(&self) -> Result<(), BooksError> {
        let _one = self.keeping.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.room.has_room_for(self.compacted_bytes()) {
            return Err(BooksError::because("the disk has no room for their compaction"));
        }
        // One that failed is taken up again.
        let behind = self.state().older.compacting.clone();
        if let Some(before) = behind {
            self.merge(&before)?;
            if self.state().failed.is_none() {
                return Ok(());
            }
        }
        let before = self.begin_journal()?;
        self.merge(&before)?;
        if self.state().failed.take().is_some() {
            tracing::info!("the books of the simulated bank are whole again");
        }
        Ok(())
    }

    fn merge(&self, before: &Compacting) -> Result<(), BooksError> {
        let sorted = self.state().older.sorted.clone();
        let merged = merge(&self.directory, before, sorted.as_deref())?;
        self.state().older = Older { compacting: None, sorted: Some(Arc::new(merged)) };
        super::opening::remove_journals(&self.directory, before.summary.through)
    }

    /// Of a journal that failed all that counts is in memory, also what it was to be written for:
    /// whoever asked was told nothing.
    fn begin_journal(&self) -> Result<Arc<Compacting>, BooksError> {
        let number = self.state().number;
        let file = files::made_journal(&self.directory, number + 1, &[])?;
        let (ended, before) = {
            let mut journal = self.journal();
            let mut state = self.state();
            let has_failed = state.failed.is_some();
            if has_failed {
                state.pending.clear();
                journal.written = state.appended;
            } else {
                self.write_here(&mut journal, &mut state)?;
            }
            (state.number, state.place) = (number + 1, HEADER_BYTES as u64);
            let summary = Summary { through: number, duplicates: state.duplicates };
            let before = Arc::new(Compacting { decisions: std::mem::take(&mut state.recent), summary });
            state.older.compacting = Some(Arc::clone(&before));
            let ended = std::mem::replace(&mut journal.file, Arc::new(file));
            (Some(ended).filter(|_| !has_failed), before)
        };
        if let Some(ended) = ended {
            ended.sync_data().map_err(|error| self.fail(&error))?;
        }
        Ok(before)
    }

    fn keep_once(&self) -> Result<(), BooksError> {
        let has_failed = self.state().failed.is_some();
        if !has_failed {
            self.sync()?;
        }
        if has_failed || self.is_large() { self.compact() } else { Ok(()) }
    }

    fn keep(&self) {
        let mut said = None;
        loop {
            {
                let state = self.state();
                let is_idle =
                    |state: &mut State| !state.is_unsynced && state.failed.is_none() && !state.is_closing;
                let woken = self.wake.wait_while(state, is_idle);
                let state = woken.unwrap_or_else(PoisonError::into_inner);
                // The records that come within the pause are one sync.
                let paused = self.wake.wait_timeout_while(state, SYNC_PAUSE, |state| !state.is_closing);
                let (state, _) = paused.unwrap_or_else(PoisonError::into_inner);
                if state.is_closing {
                    break;
                }
            }
            let kept = self.keep_once().err().map(|error| error.to_string());
            // Said once, however long it lasts.
            if let Some(error) = kept.as_ref().filter(|_| kept != said) {
                tracing::error!(error, "the books of the simulated bank were not synced or compacted");
            }
            said = kept;
        }
        let has_failed = self.state().failed.is_some();
        if !has_failed && let Err(error) = self.sync() {
            tracing::error!(%error, "the books of the simulated bank were not synced at the end");
        }
    }
}

/// Of a decision in several the newer one counts.
fn merge(directory: &Path, before: &Compacting, sorted: Option<&Sorted>) -> Result<Sorted, BooksError> {
    let mut newer: Vec<(Uuid, Fate)> = before.decisions.iter().map(|(id, fate)| (*id, *fate)).collect();
    newer.sort_unstable_by_key(|(id, _)| *id);
    let mut newer = newer.into_iter().peekable();
    let mut writer = Writer::new(&directory.join(files::SORTED_FILE))?;
    if let Some(sorted) = sorted {
        sorted.walk(|id, fate| {
            while let Some((next, decided)) = newer.next_if(|(next, _)| *next <= id) {
                writer.put(next, decided)?;
            }
            if writer.last() == Some(id) { Ok(()) } else { writer.put(id, fate) }
        })?;
    }
    for (id, fate) in newer {
        writer.put(id, fate)?;
    }
    writer.finish(before.summary)
}

impl Disk {
    pub fn new(directory: &Path, opened: Opened, room: &Arc<Room>) -> Result<Disk, BooksError> {
        let mut disk = Disk::without_keeper(directory, opened, room);
        let files = Arc::clone(&disk.files);
        let keeper = std::thread::Builder::new().name("bank-books".to_owned()).spawn(move || files.keep());
        disk.keeper = Some(keeper.map_err(|error| BooksError::because(format!("no thread: {error}")))?);
        Ok(disk)
    }

    /// Whoever opened the books syncs and compacts them.
    pub fn without_keeper(directory: &Path, opened: Opened, room: &Arc<Room>) -> Disk {
        let is_behind = opened.is_behind;
        let files = Arc::new(Files::new(directory, opened, room));
        if is_behind || files.is_large() {
            // On a full disk there is no room for it, and reading goes on.
            if let Err(error) = files.compact() {
                tracing::warn!(%error, "the books of the simulated bank were not compacted");
            }
        }
        Disk { files, keeper: None }
    }

    pub fn get(&self, operation: Uuid) -> Result<Option<Fate>, BooksError> {
        self.files.get(operation)
    }

    pub fn decide(&self, operation: Uuid, fate: Fate) -> Result<(), BooksError> {
        self.files.write(|state| {
            state.append(&Record::Decided(operation, fate));
            state.recent.insert(operation, fate);
        })
    }

    /// Returns how many such calls there are now.
    pub fn count_duplicate(&self) -> Result<u64, BooksError> {
        self.files.write(|state| {
            state.duplicates += 1;
            state.append(&Record::Duplicates(state.duplicates));
            state.duplicates
        })
    }

    pub fn duplicates(&self) -> u64 {
        self.files.state().duplicates
    }

    #[cfg(test)]
    pub fn files(&self) -> &Files {
        &self.files
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.files.state().is_closing = true;
        self.files.wake.notify_one();
        if let Some(keeper) = self.keeper.take() {
            // The thread has said in its log line everything that it had to say.
            let _ = keeper.join();
        }
    }
}
