//! A command prints these as they are; a sequence at which the log is damaged is also read by programs.

use domain::codec::Undecodable;
use domain::values::time::Timestamp;
use std::io;
use std::path::{Path, PathBuf};
use wal::{Damage, OpenError, Poisoned, ReadError, Seq, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The first wrong sequence is named.
    #[error("bad sequence {}: {}", .0.seq, .0.detail)]
    Damaged(#[from] Damage),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: {source}", path.display())]
    Checkpoint { path: PathBuf, source: StoreError },
    #[error(transparent)]
    Open(OpenError),
    #[error("{}: {source}", path.display())]
    Beside { path: PathBuf, source: rocksdb::Error },
    #[error("{}: {fault}", path.display())]
    Refused { path: PathBuf, fault: Fault },
    #[error("{file}: block {block} at byte {at}, after record {last}, {fault}")]
    Block {
        file: String,
        block: u64,
        /// The byte at which the block begins.
        at: u64,
        last: Seq,
        fault: BlockFault,
    },
    #[error("{store}: an entry is larger than 4 GiB")]
    LargeEntry { store: String },
    #[error("the log ends at sequence {last}, before {wanted}")]
    LogEnds { last: Seq, wanted: Seq },
    #[error("the log has no record as early as {time}")]
    NothingAsEarly { time: Timestamp },
    #[error(transparent)]
    Notes(#[from] Undecodable),
    #[error("a panic while records were read")]
    ReaderPanicked,
    #[error("no randomness: {0}")]
    Randomness(getrandom::Error),
    #[error("stdout cannot be written")]
    Stdout,
}

#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("is not empty; name a new directory")]
    NotEmpty,
    #[error("exists already; name a new file")]
    Exists,
    #[error("cannot be understood; this directory is not to be trusted")]
    Marker,
    #[error("{made_by} broke off before this directory was finished; remove it and make it again")]
    BrokenOff { made_by: String },
    #[error("{file}: what began to make this directory broke off; remove it and make it again")]
    UnderConstruction { file: &'static str },
    #[error("ends with record {last}, but its marker says {marked}")]
    EndsElsewhere { last: Seq, marked: Seq },
    #[error("is no finished backup, nor is there one in it")]
    NoBackup,
    #[error("the server says that it made a copy, but here is none; is it on another machine?")]
    NotHere,
    #[error("{fault}; {}", if *has_log {
        "bring the one that belongs to this log from a backup"
    } else {
        "there is no log yet: remove it and start again"
    })]
    MarkKey { fault: KeyFault, has_log: bool },
    #[error("is not {bytes} bytes long; remove it or bring the right one")]
    CardKey { bytes: usize },
    #[error(
        "is not here: a file of pasarela is proved by the card.key of the deployment that wrote it; bring a \
         copy of it by another way than the file, or name it with --card-key"
    )]
    NoFileKey,
    #[error(transparent)]
    Poisoned(Poisoned),
    #[error("the log's writer ended")]
    WriterEnded,
    #[error("is too short for an export of pasarela")]
    ShortExport,
    #[error("is no export of pasarela: its first bytes are others")]
    NoExport,
    #[error("is an export of another version than {known}, which this program knows")]
    ExportVersion { known: u32 },
}

#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    #[error("is not {bytes} bytes long")]
    Length { bytes: usize },
    #[error("is not the one that this log was written with, or {check} is damaged")]
    Other { check: &'static str },
    #[error("is missing beside a log that was written with it")]
    Missing,
}

#[derive(Debug, thiserror::Error)]
pub enum BlockFault {
    #[error("is cut off: the file ends there")]
    CutOff,
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("has an impossible length")]
    Length,
    /// The bytes are not those that were written, or not by who has the key.
    #[error("is not what was written under the card.key here: it was changed, or the key is another one")]
    Unproved,
    #[error("cannot be decompressed")]
    Compression,
    #[error("is of a kind that does not belong there")]
    Kind,
    #[error("has a secret of another length")]
    SecretLength,
    #[error("has other records than those that should follow")]
    Records,
    /// The name is not one that may become a directory.
    #[error("names no store that may be made")]
    Store,
    #[error("has an entry that is cut off")]
    Entry,
    #[error("says of the end something else than what came before it")]
    End,
    #[error("is the last one, and yet the file goes on")]
    NotLast,
}

impl Failed {
    /// As against a task that could not be done.
    pub fn is_damage(&self) -> bool {
        match self {
            Failed::Damaged(_)
            | Failed::Store(StoreError::Corrupt(_))
            | Failed::Checkpoint { source: StoreError::Corrupt(_), .. }
            | Failed::Open(OpenError::Damage(_) | OpenError::Store(StoreError::Corrupt(_))) => true,
            Failed::Beside { source, .. } => wal::is_damage(source),
            Failed::Refused { fault, .. } => {
                matches!(fault, Fault::Marker | Fault::CardKey { .. } | Fault::MarkKey { .. })
            }
            _ => false,
        }
    }

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

pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Failed {
    move |source| Failed::File { path: path.to_owned(), source }
}
