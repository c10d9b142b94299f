//! The banks that are in force, in memory: every request asks. The platform's book owns them; this
//! is what it says, after it was durable.

use domain::resources::banks::{BankBook, Catalogue};
use domain::values::time::Timestamp;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::{Mutex, MutexGuard};

/// The catalogue.
pub struct Banks {
    shown: RwLock<Shown>,
    turn: Mutex<()>,
}

struct Shown {
    catalogue: Arc<Catalogue>,
    refreshed_at: Option<Timestamp>,
}

impl Default for Banks {
    fn default() -> Self {
        Banks {
            shown: RwLock::new(Shown { catalogue: Arc::new(Catalogue::embedded()), refreshed_at: None }),
            turn: Mutex::default(),
        }
    }
}

impl Banks {
    /// The catalogue as it is now.
    pub fn now(&self) -> Arc<Catalogue> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner).catalogue)
    }

    /// When it was last refreshed from a feed, on the server's clock.
    pub fn refreshed_at(&self) -> Option<Timestamp> {
        self.shown.read().unwrap_or_else(PoisonError::into_inner).refreshed_at
    }

    /// Waits until nobody else changes it: what the book says next must not be overtaken by what it
    /// said before.
    pub async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Learns what the platform's book says. Called in turn.
    pub fn learn(&self, book: &BankBook) {
        let shown = Shown { catalogue: Arc::new(book.catalogue()), refreshed_at: book.refreshed_at };
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = shown;
    }
}
