//! The reasons why a task of recovery fails: what was wrong, and where. A command prints them as they
//! are; a sequence at which the log is damaged is also read by programs.

use crate::rails::simulator::BooksError;
use domain::codec::Undecodable;
use domain::values::time::Timestamp;
use std::io;
use std::path::{Path, PathBuf};
use wal::{Damage, OpenError, Poisoned, ReadError, Seq, StoreError};

/// The reason why a task failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// Stored data is wrong; the first wrong sequence is named.
    #[error("bad sequence {}: {}", .0.seq, .0.detail)]
    Damaged(#[from] Damage),
    /// The file system failed.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or the directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The store of a log failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log cannot be copied.
    #[error("{}: {source}", path.display())]
    Checkpoint {
        /// The directory of the copy.
        path: PathBuf,
        source: StoreError,
    },
    /// A log does not open.
    #[error(transparent)]
    Open(OpenError),
    /// A store beside the log failed.
    #[error("{}: {source}", path.display())]
    Beside {
        /// The directory of the store.
        path: PathBuf,
        source: rocksdb::Error,
    },
    /// The books of the simulated bank are wrong, or cannot be written.
    #[error(transparent)]
    Books(#[from] BooksError),
    /// A file or a directory cannot be used for the task.
    #[error("{}: {fault}", path.display())]
    Refused {
        /// The file or the directory.
        path: PathBuf,
        /// The fault of the file.
        fault: Fault,
    },
    /// A block of an export cannot be used.
    #[error("{file}: block {block} at byte {at}, after record {last}, {fault}")]
    Block {
        file: String,
        /// The number of the block.
        block: u64,
        /// The byte at which the block begins.
        at: u64,
        /// The last record that was taken.
        last: Seq,
        fault: BlockFault,
    },
    /// A store beside the log has an entry that an export cannot hold.
    #[error("{store}: an entry is larger than 4 GiB")]
    LargeEntry { store: String },
    /// The log ends before the wanted sequence.
    #[error("the log ends at sequence {last}, before {wanted}")]
    LogEnds {
        /// The last sequence.
        last: Seq,
        wanted: Seq,
    },
    /// Every record is newer than the wanted instant.
    #[error("the log has no record as early as {time}")]
    NothingAsEarly {
        /// The instant.
        time: Timestamp,
    },
    /// The notes that a proof sorts on the disk cannot be read back.
    #[error(transparent)]
    Notes(#[from] Undecodable),
    /// The thread that reads records panicked.
    #[error("a panic while records were read")]
    ReaderPanicked,
    /// The system gives no random bytes.
    #[error("no randomness: {0}")]
    Randomness(getrandom::Error),
    /// Nobody takes what is printed.
    #[error("stdout cannot be written")]
    Stdout,
}

/// The faults of a file or a directory.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A new directory would be mixed with what is there.
    #[error("is not empty; name a new directory")]
    NotEmpty,
    /// A new file would overwrite another.
    #[error("exists already; name a new file")]
    Exists,
    /// The marker of a copy has no sense.
    #[error("cannot be understood; this directory is not to be trusted")]
    Marker,
    /// The command that made the directory did not end.
    #[error("{made_by} broke off before this directory was finished; remove it and make it again")]
    BrokenOff {
        /// The command.
        made_by: String,
    },
    /// The directory has the file that is there while a directory is made.
    #[error("{file}: what began to make this directory broke off; remove it and make it again")]
    UnderConstruction { file: &'static str },
    /// The log of a copy is not the one that its marker names.
    #[error("ends with record {last}, but its marker says {marked}")]
    EndsElsewhere {
        /// The last record.
        last: Seq,
        /// The last record by the marker.
        marked: Seq,
    },
    /// There is no copy to restore.
    #[error("is no finished backup, nor is there one in it")]
    NoBackup,
    /// The server made its copy where this process does not see it.
    #[error("the server says that it made a copy, but here is none; is it on another machine?")]
    NotHere,
    /// The key of keyed hashes cannot be used.
    #[error("{fault}; {}", if *has_log {
        "bring the one that belongs to this log from a backup"
    } else {
        "there is no log yet: remove it and start again"
    })]
    MarkKey {
        fault: KeyFault,
        /// Whether a log was written with it.
        has_log: bool,
    },
    /// The key of cards' hashes has another length.
    #[error("is not {bytes} bytes long; remove it or bring the right one")]
    CardKey {
        /// The right length.
        bytes: usize,
    },
    /// The key that proves a file of ours is not here.
    #[error(
        "is not here: a file of pasarela is proved by the card.key of the deployment that wrote it; bring a \
         copy of it by another way than the file, or name it with --card-key"
    )]
    NoFileKey,
    /// The log could not be written.
    #[error(transparent)]
    Poisoned(Poisoned),
    /// The log acknowledges nothing more.
    #[error("the log's writer ended")]
    WriterEnded,
    /// An export is shorter than its opening.
    #[error("is too short for an export of pasarela")]
    ShortExport,
    /// The file is something else.
    #[error("is no export of pasarela: its first bytes are others")]
    NoExport,
    /// An export of a version that this program does not read.
    #[error("is an export of another version than {known}, which this program knows")]
    ExportVersion {
        /// The version that it reads.
        known: u32,
    },
}

/// The faults of the key of keyed hashes.
#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    /// The file has another length.
    #[error("is not {bytes} bytes long")]
    Length {
        /// The right length.
        bytes: usize,
    },
    /// The fingerprint is that of another key.
    #[error("is not the one that this log was written with, or {check} is damaged")]
    Other {
        /// The file of the fingerprint.
        check: &'static str,
    },
    /// There is no key.
    #[error("is missing beside a log that was written with it")]
    Missing,
}

/// The faults of a block of an export.
#[derive(Debug, thiserror::Error)]
pub enum BlockFault {
    /// The block ends before its length.
    #[error("is cut off: the file ends there")]
    CutOff,
    /// The file system failed.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    /// No block is so long.
    #[error("has an impossible length")]
    Length,
    /// The bytes are not those that were written, or not by who has the key.
    #[error("is not what was written under the card.key here: it was changed, or the key is another one")]
    Unproved,
    /// The bytes are no compressed block.
    #[error("cannot be decompressed")]
    Compression,
    /// The kind is unknown, or stands where it must not.
    #[error("is of a kind that does not belong there")]
    Kind,
    /// The secret of keyed hashes would start no server.
    #[error("has a secret of another length")]
    SecretLength,
    /// Records are missing or repeated.
    #[error("has other records than those that should follow")]
    Records,
    /// The name of a store is not one that may become a directory.
    #[error("names no store that may be made")]
    Store,
    /// An entry of a store is incomplete.
    #[error("has an entry that is cut off")]
    Entry,
    /// The last block does not agree with those before.
    #[error("says of the end something else than what came before it")]
    End,
    /// Bytes follow the last block.
    #[error("is the last one, and yet the file goes on")]
    NotLast,
}

impl Failed {
    /// Whether stored data is not what was written, as against a task that could not be done.
    pub fn is_damage(&self) -> bool {
        match self {
            Failed::Damaged(_)
            | Failed::Store(StoreError::Corrupt(_))
            | Failed::Checkpoint { source: StoreError::Corrupt(_), .. }
            | Failed::Open(OpenError::Damage(_) | OpenError::Store(StoreError::Corrupt(_))) => true,
            Failed::Beside { source, .. } => wal::is_damage(source),
            Failed::Books(error) => error.is_damage,
            Failed::Refused { fault, .. } => {
                matches!(fault, Fault::Marker | Fault::CardKey { .. } | Fault::MarkKey { .. })
            }
            _ => false,
        }
    }

    /// The failure of a task for a fault of this file or directory.
    pub fn refused(path: &Path, fault: Fault) -> Failed {
        Failed::Refused { path: path.to_owned(), fault }
    }
}

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Failed {
        match error {
            ReadError::Damage(damage) => Failed::Damaged(damage),
            ReadError::Store(error) => error.into(),
        }
    }
}

impl From<OpenError> for Failed {
    fn from(error: OpenError) -> Failed {
        match error {
            OpenError::Damage(damage) => Failed::Damaged(damage),
            error => Failed::Open(error),
        }
    }
}

/// Turns an error of the file system into a failure that names the path.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Failed {
    move |source| Failed::File { path: path.to_owned(), source }
}
