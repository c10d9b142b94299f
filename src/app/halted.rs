//! The list of halted books in a file of the data directory: for `wal explain`, and for an operator
//! when the server is gone. The engine decides what is halted; the file follows it.

use crate::recovery::directory::halted;
use actors::Halted;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub struct HaltedFile {
    data: PathBuf,
    newest: Mutex<Vec<Halted>>,
    writing: Mutex<()>,
}

impl HaltedFile {
    pub fn new(data: PathBuf) -> Arc<HaltedFile> {
        Arc::new(HaltedFile { data, newest: Mutex::default(), writing: Mutex::new(()) })
    }

    /// Returns at once: a book's turn is no place to wait for a disk.
    pub fn note(self: &Arc<Self>, now: &[Halted]) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = now.to_vec();
        let file = Arc::clone(self);
        std::thread::spawn(move || {
            let _writing = file.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let newest = file.newest.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Err(error) = halted::write(&file.data, &newest) {
                tracing::error!(%error, "which books are halted could not be written down");
            }
        });
    }
}
