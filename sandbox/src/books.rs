//! Books with one writer: a decision, its entry on disk, and its effect in memory are one step.
//!
//! Promises: whoever reads or decides sees only what is synced. It must not know which bank's books
//! they are.

use crate::journal::Journal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The state of a bank, as its entries lead to it.
pub trait Ledger: Default + Send + 'static {
    /// An entry: one line of the file.
    type Entry: Serialize + DeserializeOwned + Send;

    /// Applies an entry that is on disk.
    fn apply(&mut self, entry: Self::Entry);
}

/// The books of one bank.
pub struct Books<L> {
    inner: Arc<Mutex<Open<L>>>,
}

impl<L> Clone for Books<L> {
    fn clone(&self) -> Books<L> {
        Books { inner: Arc::clone(&self.inner) }
    }
}

/// Books that are held by a decision.
pub struct Open<L> {
    journal: Journal,
    ledger: L,
}

impl<L: Ledger> Open<L> {
    /// The state that the entries so far lead to.
    pub fn ledger(&self) -> &L {
        &self.ledger
    }

    /// Syncs an entry, then applies it.
    pub fn enter(&mut self, entry: L::Entry) {
        self.journal.append(&entry);
        self.ledger.apply(entry);
    }
}

impl<L: Ledger> Books<L> {
    /// Opens the books of a bank in a folder.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn open(folder: &Path, bank: &str) -> Result<Books<L>, String> {
        let (journal, entries) = Journal::open(folder, bank)?;
        let mut ledger = L::default();
        entries.into_iter().for_each(|entry| ledger.apply(entry));
        crate::site::say(&format!("books in {}", journal.path().display()));
        Ok(Books { inner: Arc::new(Mutex::new(Open { journal, ledger })) })
    }

    /// Does something with the books, alone, on a thread that may wait for the disk.
    ///
    /// # Panics
    /// When the decision panicked.
    pub async fn with<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&mut Open<L>) -> T + Send + 'static,
    ) -> T {
        let mut books = Arc::clone(&self.inner).lock_owned().await;
        tokio::task::spawn_blocking(move || decide(&mut books)).await.expect("a decision that ends")
    }
}
