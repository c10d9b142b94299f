//! The agreement of several machines on one log: the batches of one writer go through a store that
//! a majority of machines keeps (a *quorum*), and everybody else follows.
//!
//! Promises: a batch is in the agreed log before its local sync, so that no local log is ahead of
//! it; a writer that was deposed or has diverged cannot append, because every transaction compares
//! the epoch and the tip that it builds on; an unknown outcome is asked for again, never guessed.
//! It knows bytes and the few verbs of [`Quorum`]; it must not know money, async, nor which product
//! keeps the quorum. Clocks come from the quorum, so that a test may run in its own time.
//!
//! # What is kept, version 1
//!
//! All keys begin with `/pasarela/PARTITION/`. Small values are text, for whoever has to look.
//!
//! ```text
//! key             value
//!
//! founded         FORMAT FINGERPRINT ID STORES
//!                                         made once, by the founder: the format, which is 2; the
//!                                         fingerprint of the secret that all nodes share; a random
//!                                         name of the cluster; and the version in which records
//!                                         are written, which a leader raises. In format 1 there is
//!                                         no such version: it is that of the first release, whose
//!                                         programs know no other format
//! partitions      NUMBER                  of the cluster, written by the founder, and raised; without it: 1
//! etcd            NAME                    of a further partition: a random name of the etcd that has
//!                                         its keys
//! etcd-of/N       NAME                    that name, among the first partition's keys: partition N is
//!                                         founded in no other
//! epoch           NUMBER NODE TOKEN       who may append; TOKEN is random for each taking, and "-"
//!                                         for a node that was appointed; NODE is "*" where that
//!                                         is anybody
//! tip             SEQ HASH BYTES          the end of the agreed log: its last sequence, the hash
//!                                         of that in hex, and the bytes of all batches so far
//! beat            NUMBER COUNT STATE      the leader's sign of life: its epoch, a counter,
//!                                         "opening" or "open"
//! log/FIRST-BYTES                         a batch, drawn in `batch.rs`; its key is its first
//!                                         sequence and the bytes of all batches before it, both in
//!                                         20 digits
//! pieces/FIRST-BYTES/EPOCH-N              the N-th piece of a batch above a megabyte, written
//!                                         before the batch that names it; nothing without it
//! nodes/NODE                              what a node says about itself; opaque here
//! ```

mod agreement;
mod batch;
mod following;
mod founding;
mod keys;
mod leader;
mod quorum;

pub use agreement::{Agreed, Agreement, Proposal};
pub use batch::{AgreedBatch, PROPOSAL_BYTES_MAX};
pub use following::{Following, LookError, Seen, Silence};
pub use founding::{Founded, found, founded, grow, partitions, place};
pub use keys::{AgreedTip, Epoch, Keys, cluster_name, is_node_name, partition_name};
pub use leader::{Appender, Leader, Patience, Pruned, Standing};
pub use quorum::{Change, Compare, Pair, Quorum, Read, Transaction, TransactionOutcome, Unanswered};
