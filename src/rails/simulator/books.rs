//! The simulated bank's books: what it decided, by operation id, in a RocksDB of its own.
//!
//! # What is durable when
//!
//! A decision is in RocksDB's log before it is answered: given to the operating system, not synced.
//! So a gateway that is killed finds everything that the bank ever said, and sends nothing twice. A
//! sync follows within about a second, by a thread of its own.
//!
//! A power cut takes that second from the bank at most. The log is synced, so the bank may then know
//! less than the log. No money is wrong by it, because a bank that forgot an operation did not do
//! it: what it did is what is in its books. What the gateway makes of it (`docs/contract.md, 5.11`):
//!
//! - An order whose answer is not in the log is asked about, and was never received: a charge fails
//!   with `AB01`, a payout or a collection is sent once more, and that is the one time it is done.
//! - An order whose answer is in the log is not asked about again, and the answer counts. To give it
//!   back is refused, as of any charge that the bank does not know, and the payment stays completed.
//! - After an operator's word the bank is asked on, and "never received" contradicts no word.
//!
//! A sync before each answer would exclude even that. It would make the bank's answers wait for the
//! disk, and cost a sync beside each of the log's.
//!
//! In a cluster the books are in the log (`AgreedBooks`), so that whoever leads has them: a decision
//! is written and agreed on before it is answered. What is in these files came before.
//!
//! # What is kept
//!
//! Every operation, for good. A book that is halted, or a server that is stopped, may ask about an
//! operation months after it was decided, and to have forgotten it would have a payout sent again; the
//! bank can't know what the gateway has heard.

use super::Fate;
use crate::disk::Disk as Room;
use crate::rails::BoxFuture;
use domain::values::ids::PLATFORM;
use rocksdb::{DB, DBRecoveryMode};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;
use uuid::Uuid;

const DUPLICATES: &[u8] = b"duplicates";
const SYNC_PAUSE: Duration = Duration::from_secs(1);
const WRITE_BUFFER_BYTES: usize = 4 << 20;
const CACHE_BYTES: usize = 1 << 20;

#[derive(Clone, Debug, thiserror::Error)]
#[error("the books of the simulated bank: {why}")]
pub struct BooksError {
    why: String,
    /// Whether what is stored is not what was written.
    pub is_damage: bool,
}

impl BooksError {
    pub fn because(why: impl Into<String>) -> BooksError {
        BooksError { why: why.into(), is_damage: false }
    }
}

pub type Decided = [u8; 2];

pub trait AgreedBooks: Send + Sync {
    fn read(&self, operation: Uuid) -> Result<Option<Decided>, BooksError>;

    /// Returns when all machines have agreed on the decision.
    fn write(&self, operation: Uuid, decided: Decided) -> BoxFuture<'_, Result<(), BooksError>>;
}

/// Closed, with everything in its tables, when it is dropped.
#[derive(Default)]
pub(super) struct Books {
    store: Option<Arc<Store>>,
    keeper: Option<JoinHandle<()>>,
    /// Where there is more than one machine: decisions from then on are there, and the books look there first.
    pub agreed: Option<Arc<dyn AgreedBooks>>,
    /// Without a disk all decisions; in a cluster those that are on their way to the log.
    memory: Mutex<HashMap<Uuid, Fate>>,
    pub duplicates: AtomicU64,
    /// What others decided is read, and what is decided here stays in memory.
    is_rehearsal: bool,
}

impl Books {
    pub fn open(directory: &Path, room: &Arc<Room>) -> Result<Books, BooksError> {
        // RocksDB makes the names inside durable, and not its own.
        wal::make_directory(directory)
            .map_err(|error| BooksError::because(format!("{}: {error}", directory.display())))?;
        let store = Arc::new(Store {
            directory: directory.to_owned(),
            room: Arc::clone(room),
            db: RwLock::new(None),
            is_unsynced: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
        });
        store.open()?;
        let mut books = Books::default();
        books.store = Some(Arc::clone(&store));
        if let Some(bytes) = store.get(DUPLICATES)? {
            let total = bytes.try_into().map(u64::from_le_bytes);
            let damaged =
                |_| BooksError { why: "the number of duplicates is damaged".to_owned(), is_damage: true };
            books.duplicates = AtomicU64::new(total.map_err(damaged)?);
        }
        let keeper = std::thread::Builder::new().name("bank-books".to_owned()).spawn(move || store.keep());
        books.keeper = Some(keeper.map_err(|error| BooksError::because(format!("no thread: {error}")))?);
        Ok(books)
    }

    pub fn rehearsing(&self) -> Books {
        // What is on its way to the log is decided already.
        let memory = Mutex::new(self.memory().clone());
        let mut books = Books::default();
        (books.store, books.agreed, books.memory) = (self.store.clone(), self.agreed.clone(), memory);
        books.is_rehearsal = true;
        books
    }

    pub fn to_be_agreed(&self) -> Option<&Arc<dyn AgreedBooks>> {
        self.agreed.as_ref().filter(|_| !self.is_rehearsal)
    }

    fn memory(&self) -> MutexGuard<'_, HashMap<Uuid, Fate>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn settled(&self, agreed: &dyn AgreedBooks, operation: Uuid) -> Result<(), BooksError> {
        let Some(fate) = self.memory().get(&operation).copied() else { return Ok(()) };
        agreed.write(operation, fate.bytes()).await?;
        let mut memory = self.memory();
        // The operation may have been decided anew meanwhile.
        if memory.get(&operation) == Some(&fate) {
            memory.remove(&operation);
        }
        Ok(())
    }

    pub fn get(&self, operation: Uuid) -> Result<Option<Fate>, BooksError> {
        if (self.agreed.is_some() || self.store.is_none() || self.is_rehearsal)
            && let Some(fate) = self.memory().get(&operation)
        {
            return Ok(Some(*fate));
        }
        let mut bytes = match &self.agreed {
            Some(agreed) => agreed.read(operation)?.map(Vec::from),
            None => None,
        };
        if bytes.is_none()
            && let Some(store) = &self.store
        {
            bytes = store.get(operation.as_bytes())?;
        }
        let Some(bytes) = bytes else { return Ok(None) };
        let damaged = || BooksError { why: format!("operation {operation} is damaged"), is_damage: true };
        Fate::from_bytes(&bytes).map(Some).ok_or_else(damaged)
    }

    pub fn put(&self, operation: Uuid, fate: Fate) -> Result<(), BooksError> {
        match &self.store {
            Some(store) if self.agreed.is_none() && !self.is_rehearsal => {
                store.put(operation.as_bytes(), &fate.bytes())
            }
            _ => {
                self.memory().insert(operation, fate);
                Ok(())
            }
        }
    }

    pub fn count_duplicate(&self) -> Result<u64, BooksError> {
        let total = self.duplicates.fetch_add(1, Ordering::Relaxed) + 1;
        // What could not be stored is counted all the same: a duplicate is worth more than an exact number.
        if let Some(store) = self.store.as_ref().filter(|_| !self.is_rehearsal) {
            store.put(DUPLICATES, &total.to_le_bytes())?;
        }
        Ok(total)
    }
}

impl Drop for Books {
    fn drop(&mut self) {
        if let (Some(store), Some(keeper)) = (&self.store, self.keeper.take()) {
            store.is_closing.store(true, Ordering::Relaxed);
            keeper.thread().unpark();
            let _ = keeper.join();
        }
    }
}

struct Store {
    directory: PathBuf,
    room: Arc<Room>,
    /// Nothing after a call that failed: what is in the files is known again when they are opened
    /// again.
    db: RwLock<Option<Arc<DB>>>,
    is_unsynced: AtomicBool,
    is_closing: AtomicBool,
}

impl Store {
    fn open(&self) -> Result<(), BooksError> {
        let open = |mode| {
            let mut options = wal::beside(&self.directory, WRITE_BUFFER_BYTES, CACHE_BYTES)?;
            options.set_wal_recovery_mode(mode);
            DB::open(&options, &self.directory)
        };
        // A last record that is not whole was never answered. Damage before the end is said, and what follows
        // it is lost: the bank forgot it, as after a power cut.
        let db = match open(DBRecoveryMode::TolerateCorruptedTailRecords) {
            Err(error) if wal::is_damage(&error) => {
                let directory = self.directory.display();
                let db = open(DBRecoveryMode::PointInTime);
                tracing::error!(%directory, %error, "the log of the simulated bank's books is damaged: it forgot what follows");
                db
            }
            opened => opened,
        };
        let db = db.map_err(|error| self.failed(error))?;
        *self.db.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(db));
        Ok(())
    }

    fn failed(&self, error: rocksdb::Error) -> BooksError {
        *self.db.write().unwrap_or_else(PoisonError::into_inner) = None;
        let is_damage = wal::is_damage(&error);
        BooksError { why: format!("{}: {}", self.directory.display(), error.into_string()), is_damage }
    }

    /// A call that fails closes them; nobody is in another call then.
    fn with<T>(&self, call: impl FnOnce(&DB) -> Result<T, rocksdb::Error>) -> Result<T, BooksError> {
        let db = self.db.read().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = &*db else {
            return Err(BooksError::because("a call failed, and they are not open again yet"));
        };
        let done = call(open);
        drop(db);
        done.map_err(|error| self.failed(error))
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BooksError> {
        self.with(|db| db.get(key))
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), BooksError> {
        if !self.room.has_room(PLATFORM, false) {
            return Err(BooksError::because("the disk is nearly full, so nothing new is decided"));
        }
        self.with(|db| db.put(key, value))?;
        self.is_unsynced.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn keep_once(&self) -> Result<(), BooksError> {
        if self.db.read().unwrap_or_else(PoisonError::into_inner).is_none() {
            self.open()?;
            tracing::info!("the books of the simulated bank are open again");
        }
        if self.is_unsynced.swap(false, Ordering::Relaxed) {
            self.with(|db| db.flush_wal(true))?;
        }
        Ok(())
    }

    fn keep(&self) {
        let mut said = None;
        while !self.is_closing.load(Ordering::Relaxed) {
            std::thread::park_timeout(SYNC_PAUSE);
            let kept = self.keep_once().err().map(|error| error.to_string());
            if let Some(error) = kept.as_ref().filter(|_| kept != said) {
                tracing::error!(error, "the books of the simulated bank were not synced");
            }
            said = kept;
        }
        // Damage is noticed in tables wherever it is.
        if self.room.has_room(PLATFORM, false)
            && let Err(error) = self.with(DB::flush)
        {
            tracing::error!(%error, "the books of the simulated bank were not written to tables at the end");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const ALL: [Fate; 4] = [Fate::Done, Fate::Refused("AM04"), Fate::Refused("expired"), Fate::Lost];

    fn room(data: &Path, reserve: u64) -> Arc<Room> {
        Arc::new(Room::new(data, reserve))
    }

    /// What a kill leaves: what was given to the operating system.
    fn killed(from: &Path, to: &Path) {
        fs::create_dir(to).expect("a directory");
        for entry in fs::read_dir(from).expect("readable").flatten() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }

    fn knows(books: &Books, decided: &HashMap<Uuid, Fate>) {
        for (operation, fate) in decided {
            assert_eq!(books.get(*operation).expect("an answer"), Some(*fate));
        }
        assert_eq!(books.get(Uuid::now_v7()).expect("an answer"), None);
    }

    #[test]
    fn what_was_decided_is_known_after_a_stop_and_after_a_kill() {
        let place = tempfile::tempdir().expect("a directory");
        let (path, room) = (place.path().join("simulator"), room(place.path(), 0));
        let mut decided = HashMap::new();
        for run in 0..3 {
            let books = Books::open(&path, &room).expect("opens");
            knows(&books, &decided);
            assert_eq!(books.duplicates.load(Ordering::Relaxed), run);
            for fate in ALL.into_iter().cycle().take(500) {
                let operation = Uuid::now_v7();
                books.put(operation, Fate::Open).expect("written");
                books.put(operation, fate).expect("written");
                decided.insert(operation, fate);
            }
            assert_eq!(books.count_duplicate().expect("written"), run + 1);
            let left = place.path().join(format!("killed-{run}"));
            killed(&path, &left);
            let killed = Books::open(&left, &room).expect("opens");
            knows(&killed, &decided);
            assert_eq!(killed.duplicates.load(Ordering::Relaxed), run + 1);
        }
    }

    #[test]
    fn books_are_one_servers_at_a_time() {
        let place = tempfile::tempdir().expect("a directory");
        let (path, room) = (place.path().join("simulator"), room(place.path(), 0));
        let _books = Books::open(&path, &room).expect("opens");
        assert!(Books::open(&path, &room).is_err());
    }

    #[test]
    fn books_that_failed_answer_nothing_until_they_are_open_again() {
        let place = tempfile::tempdir().expect("a directory");
        let books = Books::open(&place.path().join("simulator"), &room(place.path(), 0)).expect("opens");
        let (before, after) = (Uuid::now_v7(), Uuid::now_v7());
        books.put(before, Fate::Done).expect("written");
        let store = books.store.as_ref().expect("a disk");
        // As of any call that RocksDB refuses.
        assert!(store.with(|db| db.ingest_external_file(vec!["/no file"])).is_err());
        assert!(books.get(before).is_err() && books.put(after, Fate::Done).is_err());
        store.keep_once().expect("opens again");
        books.put(after, Fate::Lost).expect("written");
        knows(&books, &HashMap::from([(before, Fate::Done), (after, Fate::Lost)]));
    }

    #[test]
    fn below_the_reserve_nothing_new_is_decided_and_what_is_known_is_told() {
        let place = tempfile::tempdir().expect("a directory");
        let (path, operation) = (place.path().join("simulator"), Uuid::now_v7());
        let books = Books::open(&path, &room(place.path(), 0)).expect("opens");
        books.put(operation, Fate::Done).expect("written");
        drop(books);
        let books = Books::open(&path, &room(place.path(), u64::MAX)).expect("opens");
        assert!(books.put(Uuid::now_v7(), Fate::Done).is_err() && books.count_duplicate().is_err());
        knows(&books, &HashMap::from([(operation, Fate::Done)]));
    }
}
