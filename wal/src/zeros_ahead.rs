//! Zeros ahead of the end of RocksDB's own log. The sync of a file that grows writes its new length and the file
//! system's journal too; within its length it writes the data alone. A payout of 16 connections waits a fifth less.
//!
//! Nothing depends on them. They are appended behind whatever the file holds, in one step of the kernel's (`O_APPEND`),
//! and RocksDB writes over them at a place that it knows by itself. It cuts them off where it closes a log, and steps over
//! them at a start; a record that a kill left torn before them is cut off (`zeroed_end.rs`). When they run out, or can't
//! be written, the file grows as it would have.

use crate::zeroed_end;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Written at once, so that one sync in a hundred takes longer.
const AHEAD_BYTES: usize = 1 << 20;
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

#[derive(Default)]
pub(crate) struct ZerosAhead {
    newest: Option<(PathBuf, File)>,
    /// At least, as RocksDB takes less room for an operation than a batch does. None in a log that it has begun
    /// meanwhile.
    left: usize,
}

impl ZerosAhead {
    /// Before so many bytes are written to the log.
    pub(crate) fn make_room(&mut self, dir: &Path, bytes: usize) {
        if bytes <= self.left {
            self.left -= bytes;
            return;
        }
        // Without them, or without the rest of them, for as long as they would have lasted.
        self.left = AHEAD_BYTES.saturating_sub(bytes);
        let Ok(Some(path)) = zeroed_end::newest(dir) else { return };
        if self.newest.as_ref().is_none_or(|(of, _)| *of != path) {
            self.newest = File::options().append(true).open(&path).ok().map(|file| (path, file));
        }
        if let Some((_, file)) = &mut self.newest {
            let _ = (0..AHEAD_BYTES / ZEROS.len()).try_for_each(|_| file.write_all(&ZEROS));
        }
    }
}
