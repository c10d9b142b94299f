//! The banks that are in force, in memory, because every request asks for them. The platform's book
//! owns them; this copy follows it once a change is durable.

use crate::gateway::bank_feed::BankFeed;
use domain::resources::banks::{BankBook, Catalogue};
use domain::values::time::Timestamp;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::{Mutex, MutexGuard};

pub struct Banks {
    shown: RwLock<Shown>,
    turn: Mutex<()>,
    feed: Option<BankFeed>,
}

struct Shown {
    catalogue: Arc<Catalogue>,
    refreshed_at: Option<Timestamp>,
}

impl Banks {
    /// The catalogue that the program brings along, refreshed from this feed.
    pub fn new(feed: Option<BankFeed>) -> Banks {
        let shown = Shown { catalogue: Arc::new(Catalogue::embedded()), refreshed_at: None };
        Banks { shown: RwLock::new(shown), turn: Mutex::default(), feed }
    }

    /// The feed that the catalogue is refreshed from, if one is configured.
    pub const fn feed(&self) -> Option<&BankFeed> {
        self.feed.as_ref()
    }

    pub fn now(&self) -> Arc<Catalogue> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner).catalogue)
    }

    /// The instant of the last refresh from a feed, on the server's clock.
    pub fn refreshed_at(&self) -> Option<Timestamp> {
        self.shown.read().unwrap_or_else(PoisonError::into_inner).refreshed_at
    }

    /// Waits until no other change of the catalogue is under way: what the book says next must not
    /// be overtaken by what it said before.
    pub async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Replaces the catalogue by that of the platform's book. To be called under the lock of
    /// [`Banks::turn`].
    pub fn learn(&self, book: &BankBook) {
        let shown = Shown { catalogue: Arc::new(book.catalogue()), refreshed_at: book.refreshed_at };
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = shown;
    }
}
