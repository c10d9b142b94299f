//! The standby's side of the protocol: reading what was agreed on, noticing that a leader is
//! silent, and taking the next epoch.
//!
//! Promises: what is read is one instant of the quorum; batches are whole, checked, and follow the
//! local tip; a local log that is not a prefix of the agreed one is named as such. Clocks decide
//! when an epoch is tried for, never who gets it.

use super::batch::{self, AgreedBatch, Head};
use super::founding::Founded;
use super::keys::{AgreedTip, Epoch, Keys};
use super::leader::Leader;
use super::quorum::{Change, Compare, Pair, Quorum, Read, Transaction, TransactionOutcome, Unanswered};
use crate::record::Tip;
use crate::{Damage, Seq};
use std::sync::Arc;
use std::time::Duration;

/// At most so many batches a poll: of the usual size a few megabytes.
const BATCHES_MAX: usize = 16;
const PAGE: usize = 64;

#[derive(Clone, Debug)]
pub struct Seen {
    pub epoch: Epoch,
    pub tip: AgreedTip,
    pub beat: Vec<u8>,
    pub is_open: bool,
    pub window_bytes: u64,
    /// The version in which records are written; `None`: that of the first release. The largest number stands for
    /// words that this program cannot read.
    pub stores: Option<u8>,
    pub batches: Vec<AgreedBatch>,
    pub nodes: Vec<Pair>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookError {
    #[error("etcd does not answer: {0}")]
    Unanswered(#[from] Unanswered),
    #[error("etcd holds no cluster under this partition")]
    NotFounded,
    #[error("etcd holds a cluster under this partition already")]
    Exists,
    #[error(
        "partition {partition} is in another etcd than the one that cluster.etcd_of, or cluster.etcd, names"
    )]
    Elsewhere { partition: u8 },
    #[error("etcd holds a cluster in a format that this program does not know")]
    Unknown,
    #[error("record {after} and what follows it are no longer in etcd")]
    Pruned { after: Seq },
    #[error("this log ends at {local}, the agreed one at {agreed}")]
    Ahead { local: Seq, agreed: Seq },
    #[error("record {seq} is another one than was agreed on")]
    Diverged { seq: Seq },
    #[error(transparent)]
    Damage(#[from] Damage),
}

#[derive(Clone)]
pub struct Following {
    pub quorum: Arc<dyn Quorum>,
    pub keys: Keys,
    node: String,
}

impl Following {
    pub fn new(quorum: Arc<dyn Quorum>, keys: Keys, node: &str) -> Following {
        Following { quorum, keys, node: node.to_owned() }
    }

    pub fn look(&self, local: Tip) -> Result<Seen, LookError> {
        let keys = &self.keys;
        let next = range(keys.batches_from(local.seq + 1), keys.batches_end(), BATCHES_MAX, false);
        let (mut seen, following) = self.see(next)?;
        let agreed = seen.tip.tip;
        if local.seq > agreed.seq {
            return Err(LookError::Ahead { local: local.seq, agreed: agreed.seq });
        }
        if local.seq == agreed.seq && local.hash != agreed.hash {
            return Err(LookError::Diverged { seq: local.seq });
        }
        seen.batches = self.batches(local, agreed, following)?;
        Ok(seen)
    }

    pub fn glance(&self) -> Result<Seen, LookError> {
        let nothing = Read::Key(self.keys.batches_end());
        Ok(self.see(nothing)?.0)
    }

    /// One instant: everything small, and the batches that `next` reads.
    fn see(&self, next: Read) -> Result<(Seen, Vec<Pair>), LookError> {
        let keys = &self.keys;
        let (nodes_from, nodes_to) = keys.nodes();
        let read = self.quorum.read(&[
            Read::Key(keys.epoch()),
            Read::Key(keys.tip()),
            Read::Key(keys.beat()),
            range(keys.batches_from(0), keys.batches_end(), 1, true),
            range(nodes_from, nodes_to, 0, false),
            Read::Key(keys.founded()),
            next,
        ])?;
        let [epoch, tip, beat, oldest, nodes, founded, following] = <[Vec<Pair>; 7]>::try_from(read)
            .map_err(|_| Damage::new(0, "etcd answered another question than was asked"))?;
        let (Some(epoch), Some(tip)) = (only(&epoch, Epoch::parse)?, only(&tip, AgreedTip::parse)?) else {
            return Err(LookError::NotFounded);
        };
        let beat = beat.into_iter().next().map(|(_, value)| value).unwrap_or_default();
        let before = oldest.first().and_then(|(key, _)| keys.parse_batch(key));
        let window_bytes = before.map_or(0, |(_, before)| tip.bytes.saturating_sub(before));
        let is_open = serves(&beat, epoch.number);
        let stores = founded.first().and_then(|(_, value)| {
            let founded = Founded::parse(value);
            founded.map_or(Some(u8::MAX), |founded| founded.stores)
        });
        Ok((Seen { epoch, tip, beat, is_open, window_bytes, stores, batches: Vec::new(), nodes }, following))
    }

    fn batches(&self, local: Tip, agreed: Tip, following: Vec<Pair>) -> Result<Vec<AgreedBatch>, LookError> {
        let mut at = local;
        let mut batches = Vec::new();
        if at.seq == agreed.seq {
            return Ok(batches);
        }
        let first = following.first().and_then(|(key, _)| self.keys.parse_batch(key));
        let holding = match first {
            Some((first, _)) if first == at.seq + 1 => None,
            // The batch that holds the next record begins before it.
            _ => self.holding(at.seq + 1)?,
        };
        for (key, value) in holding.into_iter().chain(following) {
            let (head, rest) = batch::head(&value)?;
            if head.tip.seq <= local.seq {
                continue;
            }
            if head.base.seq > at.seq {
                return Err(LookError::Pruned { after: at.seq });
            }
            let mut batch = self.open(&key, &head, rest)?;
            batch.records.retain(|record| record.seq > at.seq);
            if batch.records.first().is_none_or(|record| record.prev != at.hash) {
                return Err(LookError::Diverged { seq: at.seq });
            }
            batch.base = at;
            at = batch.tip;
            batches.push(batch);
        }
        if batches.is_empty() { Err(LookError::Pruned { after: at.seq }) } else { Ok(batches) }
    }

    fn holding(&self, seq: Seq) -> Result<Option<Pair>, Unanswered> {
        let (mut from, to) = (self.keys.batches_from(0), self.keys.batches_from(seq));
        let mut last = None;
        loop {
            let page = self.quorum.read(&[range(from, to.clone(), PAGE, true)])?;
            let page = page.into_iter().flatten().map(|(key, _)| key).collect::<Vec<_>>();
            last = page.last().cloned().or(last);
            if page.len() < PAGE {
                break;
            }
            from = last.iter().flatten().copied().chain([0]).collect();
        }
        let Some(key) = last else { return Ok(None) };
        Ok(self.quorum.read(&[Read::Key(key)])?.into_iter().flatten().next())
    }

    fn open(&self, key: &[u8], head: &Head, rest: &[u8]) -> Result<AgreedBatch, LookError> {
        if head.pieces == 0 {
            return Ok(batch::unpack(head, rest)?);
        }
        let before = self.keys.parse_batch(key).map_or(0, |(_, before)| before);
        let mut packed = Vec::new();
        for piece in 0..head.pieces {
            let key = self.keys.piece(head.first(), before, head.epoch, piece);
            let read = self.quorum.read(&[Read::Key(key)])?;
            let Some((_, bytes)) = read.first().and_then(|pairs| pairs.first()) else {
                return Err(LookError::Pruned { after: head.base.seq });
            };
            packed.extend_from_slice(bytes);
        }
        Ok(batch::unpack(head, &packed)?)
    }

    /// `token` must be random. `None` if somebody else was faster, or the leader has given a sign of life
    /// since it was `seen`: one that lives keeps the log.
    pub fn take(&self, seen: &Seen, token: &str) -> Result<Option<Leader>, Unanswered> {
        let ours = Epoch { number: seen.epoch.number + 1, node: self.node.clone(), token: token.to_owned() };
        let beat = match &seen.beat[..] {
            [] => Compare::Absent(self.keys.beat()),
            beat => Compare::Is(self.keys.beat(), beat.to_vec()),
        };
        let transaction = Transaction {
            compare: vec![
                Compare::Is(self.keys.epoch(), seen.epoch.value()),
                Compare::Is(self.keys.tip(), seen.tip.value()),
                beat,
            ],
            then: vec![Change::Put(self.keys.epoch(), ours.value())],
            otherwise: vec![Read::Key(self.keys.epoch())],
        };
        let taken = match self.quorum.transact(&transaction) {
            Ok(TransactionOutcome::Done) => true,
            Ok(TransactionOutcome::Refused(read)) => self.is_ours(&read, &ours),
            // The change may have been done: the epoch itself says so.
            Err(_) => {
                let read = self.quorum.read(&[Read::Key(self.keys.epoch())])?;
                self.is_ours(&read, &ours)
            }
        };
        Ok(taken.then(|| Leader::new(Arc::clone(&self.quorum), self.keys.clone(), ours)))
    }

    fn is_ours(&self, read: &[Vec<Pair>], ours: &Epoch) -> bool {
        read.first().and_then(|pairs| pairs.first()).is_some_and(|(_, value)| *value == ours.value())
    }

    pub fn note(&self, what: Vec<u8>) -> Result<(), Unanswered> {
        let then = vec![Change::Put(self.keys.node(&self.node), what)];
        self.quorum.transact(&Transaction { then, ..Transaction::default() }).map(|_| ())
    }
}

fn range(from: Vec<u8>, to: Vec<u8>, limit: usize, keys_only: bool) -> Read {
    Read::Range { from, to, limit, keys_only }
}

fn only<T>(pairs: &[Pair], parse: fn(&[u8]) -> Option<T>) -> Result<Option<T>, Damage> {
    match pairs.first() {
        None => Ok(None),
        Some((key, value)) => match parse(value) {
            Some(parsed) => Ok(Some(parsed)),
            None => Err(Damage::new(0, format!("etcd: {} is not readable", String::from_utf8_lossy(key)))),
        },
    }
}

fn serves(beat: &[u8], epoch: u64) -> bool {
    let mut words = std::str::from_utf8(beat).unwrap_or_default().split(' ');
    words.next().and_then(|word| word.parse().ok()) == Some(epoch) && words.nth(1) == Some("open")
}

/// The silence of a leader. It is counted only between successful polls: while the quorum itself
/// does not answer, no leader can be heard.
#[derive(Clone, Debug, Default)]
pub struct Silence {
    last_sign: Option<(Epoch, Tip, Vec<u8>)>,
    since: Duration,
    looked: Option<Duration>,
}

impl Silence {
    /// A gap of `gap_max` since the last poll is no silence. True if there was a sign of life since that.
    pub fn looked(&mut self, now: Duration, seen: &Seen, gap_max: Duration) -> bool {
        let last_sign = (seen.epoch.clone(), seen.tip.tip, seen.beat.clone());
        let is_gap = self.looked.is_none_or(|last| now.saturating_sub(last) > gap_max);
        let lives = self.last_sign.as_ref().is_some_and(|before| *before != last_sign);
        if is_gap || self.last_sign.as_ref() != Some(&last_sign) {
            self.last_sign = Some(last_sign);
            self.since = now;
        }
        self.looked = Some(now);
        lives
    }

    pub fn failed(&mut self) {
        self.looked = None;
    }

    pub fn lasts(&self, now: Duration) -> Duration {
        match self.looked {
            Some(_) => now.saturating_sub(self.since),
            None => Duration::ZERO,
        }
    }
}
