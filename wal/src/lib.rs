//! A group-committed, hash-chained log of opaque records, with an index and snapshots beside it, on
//! RocksDB.
//!
//! `Log::append` takes a record and a completion and returns at once. One writer thread drains what
//! waits into one batch, gives each record the next sequence, writes the batch with one sync, and
//! calls the completions in order. A `Reader` sees what is durable and nothing else. The crate
//! knows bytes, tenants as numbers, and time as a number it is given; it must not know money,
//! actors or async.
//!
//! # What is promised
//!
//! | what happens | what follows |
//! |---|---|
//! | the process is killed, or the power cut | every acknowledged record is there at the next start; one that was being written is there whole or not at all |
//! | a torn tail: the last write reached the disk in part, its end is missing or zeros | it was never acknowledged; the log opens without it |
//! | a write or its sync fails, the disk is full | the first failed write is the last: completions in it hear "outcome unknown", those behind it "not written", then `on_poison` is called |
//! | a byte of RocksDB's log is flipped, one of its files is gone, or it is cut below what was acknowledged | the log does not open, and names the first missing sequence if RocksDB let it come so far |
//! | a byte of a stored record is flipped, or a record is gone | reading it is an error that names it; `verify` finds it |
//! | a second process opens the directory | it is refused, with the pid of the owner |
//!
//! An operator who knows that the tail is lost and accepts it removes the file `WITNESS`; then the
//! log opens with what RocksDB has, if that is whole in itself.
//!
//! # Format, version 1
//!
//! Five families. Numbers are little endian in values and big endian in keys, so that keys sort.
//! Golden files in `tests/golden` pin every line of this.
//!
//! ```text
//! log         key    u64 sequence of the first record in the chunk
//!             value  records one after the other, up to 16 KiB; a larger one is a chunk alone
//!
//!   record    0   u32   length of what follows
//!             4   u8    version = 1
//!             5   u8    flags = 0
//!             6   u16   reserved = 0
//!             8   u64   sequence
//!             16  i64   time, milliseconds since 1970
//!             24  u64   tenant
//!             32  [16]  first half of the SHA-256 of the predecessor, from its version to its
//!                       checksum; zeroes in the first record
//!             48  ..    payload
//!             end u32   crc32c from version to payload
//!
//! index       keys and values are the callers'; a sequence in them is a u64, big endian
//!
//! snapshots   key    u64 tenant, u64 sequence of the last record before it
//!             value  0   u8    version = 1
//!                    1   i64   time, milliseconds since 1970
//!                    9   ..    state
//!                    end u32   crc32c of the key and of all before this
//!             or the head of a state that is in pieces, as one of more than 4 KiB always is
//!                    0   u8    version = 2
//!                    1   i64   time, milliseconds since 1970
//!                    9   u64   bytes of the state
//!                    17  u32   pieces
//!                    21  u32   crc32c of the state
//!                    end u32   crc32c of the key and of all before this
//!
//! pieces      key    u64 tenant, u64 sequence of the snapshot, u32 number of the piece, from 0
//!             value  up to 128 KiB of the state, then u32 crc32c of the key and of these; nothing
//!                    without a head
//!
//! meta        key    "format"   value  "pasarela", u32 version = 1, u32 crc32c of key and value
//!             key    "tip"      value  u64 last sequence, [16] its hash, u32 crc32c of key and
//!                                      value; written in every batch
//!             key    "floor"    value  u64 sequence, u32 crc32c of key and value; replay starts
//!                                      after it
//!
//! beside it   file WITNESS      the value of a tip, its checksum over the key "witness";
//!                               overwritten after every sync
//!             file OWNER        the pid of the process that has the directory open, in decimal;
//!                               locked while it has
//! ```

mod batch;
pub mod cluster;
mod config;
mod damage;
mod directory;
mod external_sort;
mod log;
mod opening;
mod options;
mod poison;
mod reader;
mod record;
mod rehearsal;
mod replay;
mod retention;
mod rocks;
mod salvage;
mod snapshot;
mod stats;
mod stepper;
mod store;
mod writer;
mod zeroed_end;
mod zeros_ahead;

/// The place of a record in the log: dense, the first is 1.
pub type Seq = u64;

pub use batch::{Batch, IndexOps, Op, Ops};
pub use config::Config;
pub use damage::{Damage, OpenError, ReadError};
pub use directory::make_directory;
pub use external_sort::{ExternalSort, Sorted};
pub use log::{Append, Completion, Durable, Log, ReportTo};
pub use options::{beside, fitting};
pub use poison::Poisoned;
pub use reader::{IndexCursor, IndexMoment, Reader, Verified};
pub use record::{Hash, PAYLOAD_BYTES_MAX, RECORD_OVERHEAD_BYTES, RECORD_VERSION, Record, Tip};
pub use rehearsal::BEFORE_REHEARSED;
pub use retention::{Retention, Superfluous};
pub use rocks::{OWNER_FILE, RocksStore, is_damage};
pub use salvage::{Salvage, salvage};
pub use snapshot::{STATE_BYTES_MAX, Snapshot, SnapshotHead, StoredSnapshot};
pub use stats::{Counted, Histogram, Stats};
pub use stepper::Stepper;
pub use store::{Family, Item, Scan, Store, StoreCursor, StoreError, StoreMoment};
pub use writer::{AckBatch, AckSender};
