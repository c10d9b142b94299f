//! The leader's side of the protocol. Nothing is changed in the quorum unless the epoch is ours in
//! that same instant; the outcome of a batch is asked for with the same transaction until it is
//! known or patience ends.

use super::agreement::{Agreed, Agreement, Proposal};
use super::batch::Packer;
use super::following::Seen;
use super::founding::Founded;
use super::keys::{AgreedTip, Epoch, Keys};
use super::quorum::{Change, Compare, Pair, Quorum, Read, Transaction, TransactionOutcome, Unanswered};
use crate::Seq;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const PAGE: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// After this the outcome of a batch is given up as unknown.
    pub total: Duration,
    pub pause: Duration,
}

#[derive(Clone)]
pub struct Leader {
    quorum: Arc<dyn Quorum>,
    keys: Keys,
    pub epoch: Epoch,
    lost: Arc<OnceLock<String>>,
    questions: Arc<Questions>,
}

/// Questions to the quorum are numbered: an order that needs no clock.
#[derive(Default)]
struct Questions {
    asked: AtomicU64,
    /// The number after that of the newest one whose answer showed that the epoch was ours.
    confirmed: AtomicU64,
}

impl Questions {
    fn next(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::SeqCst)
    }

    fn confirm(&self, number: u64) {
        self.confirmed.fetch_max(number + 1, Ordering::SeqCst);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The epoch was ours at an instant after the call.
    Ours,
    /// Somebody else has taken the log; it is never ours again.
    Lost,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The bytes of all batches before the oldest that is left; none if nothing as old was there.
    pub before: Option<u64>,
    pub may_go_on: bool,
}

impl Leader {
    pub(crate) fn new(quorum: Arc<dyn Quorum>, keys: Keys, epoch: Epoch) -> Leader {
        Leader { quorum, keys, epoch, lost: Arc::default(), questions: Arc::default() }
    }

    /// Set once the leader has learned that it is none any more.
    pub fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    pub fn appender(&self, tip: AgreedTip, patience: Patience) -> Appender {
        Appender { leader: self.clone(), bytes: tip.bytes, patience, packer: Packer::new() }
    }

    pub fn confirm(&self) -> Result<Standing, Unanswered> {
        let number = self.questions.next();
        let read = self.quorum.read(&[Read::Key(self.keys.epoch())])?;
        let standing = self.judge(read.first().map_or(&[], Vec::as_slice));
        if standing == Standing::Ours {
            self.questions.confirm(number);
        }
        Ok(standing)
    }

    /// The number of questions asked so far, for [`is_confirmed_since`](Leader::is_confirmed_since).
    pub fn asked(&self) -> u64 {
        self.questions.asked.load(Ordering::SeqCst)
    }

    /// Whether the epoch was ours after the instant at which `asked` questions had been asked.
    pub fn is_confirmed_since(&self, asked: u64) -> bool {
        self.questions.confirmed.load(Ordering::SeqCst) > asked
    }

    pub fn beat(&self, count: u64, is_open: bool, with: Vec<Pair>) -> Result<Standing, Unanswered> {
        let state = if is_open { "open" } else { "opening" };
        let beat = format!("{} {count} {state}", self.epoch.number).into_bytes();
        let mut then = vec![Change::Put(self.keys.beat(), beat)];
        then.extend(with.into_iter().map(|(key, value)| Change::Put(key, value)));
        self.change(then)
    }

    /// Has records be written in this version from here on, if each node says of itself what was `seen`. Asked again
    /// it changes nothing.
    pub fn raise(&self, seen: &Seen, stores: u8) -> Result<Standing, Unanswered> {
        let key = self.keys.founded();
        let read = self.quorum.read(&[Read::Key(key.clone())])?.into_iter().flatten().next();
        let Some((_, value)) = read else { return Ok(Standing::Ours) };
        let Some(founded) = Founded::parse(&value).filter(|founded| founded.stores < Some(stores)) else {
            return Ok(Standing::Ours);
        };
        let mut compare = vec![Compare::Is(key.clone(), value)];
        compare.extend(seen.nodes.iter().map(|(node, said)| Compare::Is(node.clone(), said.clone())));
        let raised = Founded { stores: Some(stores), ..founded };
        self.change_if(compare, vec![Change::Put(key, raised.value())])
    }

    /// Hands the log to another node: from here on this one cannot append.
    pub fn appoint(&self, node: &str) -> Result<Standing, Unanswered> {
        let next = Epoch {
            number: self.epoch.number + 1,
            node: node.to_owned(),
            token: Epoch::APPOINTED.to_owned(),
        };
        let standing = self.change(vec![Change::Put(self.keys.epoch(), next.value())])?;
        let _ = self.lost.set(match node {
            Epoch::ANYBODY => "the log was let go".to_owned(),
            node => format!("the log was handed to {node}"),
        });
        Ok(standing)
    }

    /// Deletes one page of batches that end at or before `up_to`, never the last one.
    pub fn prune(&self, up_to: Seq) -> Result<Pruned, Unanswered> {
        let (from, to) = (self.keys.batches_from(0), self.keys.batches_from(up_to.saturating_add(2)));
        let page = Read::Range { from: from.clone(), to, limit: PAGE, keys_only: true };
        let found = self.quorum.read(&[page])?.into_iter().flatten().collect::<Vec<_>>();
        // The last of them holds the record after `up_to`, or may be the last of all.
        let Some((keep, (first, before))) =
            found.last().and_then(|(key, _)| Some((key.clone(), self.keys.parse_batch(key)?)))
        else {
            return Ok(Pruned::default());
        };
        if found.len() > 1 {
            self.change(vec![
                Change::DeleteRange(from, keep),
                Change::DeleteRange(self.keys.pieces_from(0), self.keys.pieces_from(first)),
            ])?;
        }
        Ok(Pruned { before: Some(before), may_go_on: found.len() == PAGE })
    }

    pub fn compact(&self) {
        self.quorum.compact();
    }

    fn change(&self, then: Vec<Change>) -> Result<Standing, Unanswered> {
        self.change_if(Vec::new(), then)
    }

    /// Nothing is done where one of `compare` is not so; whether the epoch is ours is answered then too.
    fn change_if(&self, mut compare: Vec<Compare>, then: Vec<Change>) -> Result<Standing, Unanswered> {
        compare.push(self.ours());
        let transaction = Transaction { compare, then, otherwise: vec![Read::Key(self.keys.epoch())] };
        let number = self.questions.next();
        match self.quorum.transact(&transaction)? {
            TransactionOutcome::Done => {
                self.questions.confirm(number);
                Ok(Standing::Ours)
            }
            TransactionOutcome::Refused(read) => Ok(self.judge(read.first().map_or(&[], Vec::as_slice))),
        }
    }

    fn ours(&self) -> Compare {
        Compare::Is(self.keys.epoch(), self.epoch.value())
    }

    fn judge(&self, epoch: &[Pair]) -> Standing {
        match epoch.first() {
            Some((_, value)) if *value == self.epoch.value() => Standing::Ours,
            found => {
                let now = found.and_then(|(_, value)| Epoch::parse(value));
                let why = now.map_or_else(
                    || "the epoch is gone from etcd".to_owned(),
                    |now| format!("{} has taken the log with epoch {}", now.node, now.number),
                );
                let _ = self.lost.set(why);
                Standing::Lost
            }
        }
    }
}

pub struct Appender {
    leader: Leader,
    bytes: u64,
    patience: Patience,
    packer: Packer,
}

impl Agreement for Appender {
    fn agree(&mut self, proposal: &Proposal<'_>) -> Agreed {
        let leader = &self.leader;
        let (keys, epoch) = (&leader.keys, leader.epoch.number);
        let records = proposal.records();
        let (value, pieces) = self.packer.pack(epoch, proposal.base, proposal.tip, &records);
        let first = proposal.base.seq + 1;
        let mut bytes = self.bytes + value.len() as u64;
        let began = leader.quorum.now();
        let number = leader.questions.next();
        for (nth, piece) in (0..).zip(pieces) {
            bytes += piece.len() as u64;
            let key = keys.piece(first, self.bytes, epoch, nth);
            // Written once more until it is there: nothing counts before the batch names it.
            match self.insist(began, || leader.change(vec![Change::Put(key.clone(), piece.clone())])) {
                Ok(Standing::Ours) => {}
                Ok(Standing::Lost) => return Agreed::Fenced(leader.lost().unwrap_or_default().to_owned()),
                // The batch itself was never asked for.
                Err(why) => {
                    let _ = leader.lost.set(why.clone());
                    return Agreed::Fenced(why);
                }
            }
        }
        let base = AgreedTip { tip: proposal.base, bytes: self.bytes };
        let tip = AgreedTip { tip: proposal.tip, bytes }.value();
        let place = keys.batch(first, self.bytes);
        let transaction = Transaction {
            compare: vec![leader.ours(), Compare::Is(keys.tip(), base.value())],
            then: vec![Change::Put(place.clone(), value.clone()), Change::Put(keys.tip(), tip.clone())],
            otherwise: vec![Read::Key(keys.epoch()), Read::Key(keys.tip()), Read::Key(place)],
        };
        let agreed = match self.insist(began, || leader.quorum.transact(&transaction)) {
            Ok(TransactionOutcome::Done) => Agreed::Committed,
            Ok(TransactionOutcome::Refused(read)) => self.judge(&value, (&base, &tip), &read),
            Err(why) => Agreed::Unknown(why),
        };
        match &agreed {
            Agreed::Committed => {
                // Whichever attempt was carried out, it was asked for after the number was taken.
                leader.questions.confirm(number);
                self.bytes = bytes;
            }
            Agreed::Fenced(why) | Agreed::Unknown(why) => {
                let _ = leader.lost.set(why.clone());
            }
        }
        agreed
    }
}

impl Appender {
    /// Asks until there is an answer or patience ends.
    fn insist<T>(
        &self,
        began: Duration,
        mut ask: impl FnMut() -> Result<T, Unanswered>,
    ) -> Result<T, String> {
        let quorum = &self.leader.quorum;
        loop {
            match ask() {
                Ok(answer) => return Ok(answer),
                Err(Unanswered { why }) if quorum.now().saturating_sub(began) >= self.patience.total => {
                    return Err(format!("etcd did not answer in time: {why}"));
                }
                Err(_) => quorum.rest(self.patience.pause),
            }
        }
    }

    /// A refusal: either an earlier attempt was committed after all, or the log is not ours.
    fn judge(&self, asked: &[u8], (base, tip): (&AgreedTip, &[u8]), read: &[Vec<Pair>]) -> Agreed {
        let value = |at: usize| read.get(at).and_then(|pairs| pairs.first()).map(|(_, value)| &**value);
        if value(2) == Some(asked) {
            return Agreed::Committed; // its value names the epoch, which nobody else has
        }
        let standing = self.leader.judge(read.first().map_or(&[], Vec::as_slice));
        let why = || match standing {
            Standing::Lost => self.leader.lost().unwrap_or_default().to_owned(),
            Standing::Ours => "the agreed log does not end where this one does".to_owned(),
        };
        // Somebody else's batch is in the place, or nothing has been appended since.
        if value(2).is_some() || value(1) == Some(&*base.value()) {
            return Agreed::Fenced(why());
        }
        // The place is empty and the log has gone on: it may have been there and been pruned.
        if value(1) == Some(tip) { Agreed::Committed } else { Agreed::Unknown(why()) }
    }
}
