//! The one thread that writes: takes one entry, drains what else is there, writes once, syncs once,
//! acknowledges in order. Sequences are dense and in the order of the channel; nothing is
//! acknowledged before its sync; the first failed write is the last; every entry that was sent is
//! answered, also after a failure and while closing.

use crate::Seq;
use crate::batch::{Building, Family};
use crate::cluster::{Agreed, Agreement, PROPOSAL_BYTES_MAX, Proposal};
use crate::config::Config;
use crate::log::{Append, Completion, Durable, Shared};
use crate::opening::Opened;
use crate::pieces::Writing;
use crate::poison::{Ended, Poisoned};
use crate::retention::Superfluous;
use crate::snapshot::Snapshot;
use crate::store::Store;
use crossbeam::channel::Receiver;
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub(crate) enum Entry<C> {
    Record { record: Append, completion: C, at: Instant },
    Snapshot { snapshot: Snapshot, completion: C, at: Instant },
    SnapshotAt(Box<Writing<C>>),
    Floor { floor: Seq, completion: C, at: Instant },
    Removal { superfluous: Superfluous, completion: C, at: Instant },
    Pruning { entries: Vec<(Vec<u8>, Vec<u8>)>, completion: C, at: Instant },
    Fence { completion: C, at: Instant },
    Close,
}

impl<C> Entry<C> {
    fn at(&self) -> Option<Instant> {
        match self {
            Entry::Record { at, .. }
            | Entry::Snapshot { at, .. }
            | Entry::Floor { at, .. }
            | Entry::Removal { at, .. }
            | Entry::Pruning { at, .. }
            | Entry::Fence { at, .. } => Some(*at),
            // A large state takes its time, which is no reason for an alarm.
            Entry::SnapshotAt(_) | Entry::Close => None,
        }
    }
}

pub(crate) struct Waiting<C> {
    pub seq: Seq,
    pub at: Instant,
    pub completion: C,
}

/// Takes a batch from the writer to the task that acknowledges, so that the writer can go on. The
/// task has to acknowledge batches in the order in which they come.
pub type AckSender<C> = Box<dyn Fn(AckBatch<C>) + Send>;

/// A batch counts as pending until its last completion was called.
pub struct AckBatch<C: Completion> {
    waiting: VecDeque<Waiting<C>>,
    at: Instant,
    agreed: Option<Duration>,
    /// Entries and bytes that count as pending until every completion was called.
    pending: (usize, usize),
    shared: Arc<Shared>,
}

impl<C: Completion> AckBatch<C> {
    /// Completions are called in order; after a panic in one the rest are dropped uncalled.
    pub fn acknowledge(mut self) {
        while let Some(Waiting { seq, at, completion }) = self.waiting.pop_front() {
            let waited = self.at.saturating_duration_since(at);
            completion.complete(Ok(Durable { seq, waited, agreed: self.agreed }));
        }
    }
}

impl<C: Completion> Drop for AckBatch<C> {
    fn drop(&mut self) {
        self.waiting.clear();
        let (entries, bytes) = self.pending;
        self.shared.leave(entries, bytes);
        self.shared.handed_over.end();
    }
}

/// Handing over a smaller batch would cost more than acknowledging it.
const HANDED_OVER_FROM: usize = 8;

/// The part of an agreement's time, as its divisor, for which the next batch waits for more.
const GATHER_PART: u32 = 2;
/// The time between two looks at what has come meanwhile.
const GATHER_LOOK: Duration = Duration::from_micros(100);
/// The longest such wait: an agreement that took long was held up, and says nothing of the next.
const GATHER_MAX: Duration = Duration::from_millis(10);

pub(crate) struct Writer<C: Completion> {
    store: Arc<dyn Store>,
    entries: Receiver<Entry<C>>,
    shared: Arc<Shared>,
    config: Config,
    building: Building,
    waiting: VecDeque<Waiting<C>>,
    in_pieces: VecDeque<Box<Writing<C>>>,
    /// Must not be in the batch under way.
    first_of_next: Option<Entry<C>>,
    /// Still counted as pending.
    taken: usize,
    taken_bytes: usize,
    ack_sender: Option<AckSender<C>>,
    agreement: Option<Box<dyn Agreement>>,
    /// Of the last batch, and those that waited behind it when it was acknowledged.
    under_way: usize,
    /// Until then those who were answered may be about to ask again.
    gather_until: Instant,
    closing: bool,
}

pub(crate) struct Beside<C: Completion> {
    pub ack_sender: Option<AckSender<C>>,
    pub agreement: Option<Box<dyn Agreement>>,
}

impl<C: Completion> Writer<C> {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        entries: Receiver<Entry<C>>,
        shared: Arc<Shared>,
        config: Config,
        opened: Opened,
        beside: Beside<C>,
    ) -> Writer<C> {
        let building = Building::new(opened.tip, opened.floor, &config);
        Writer {
            store,
            entries,
            shared,
            config,
            building,
            waiting: VecDeque::new(),
            in_pieces: VecDeque::new(),
            first_of_next: None,
            taken: 0,
            taken_bytes: 0,
            ack_sender: beside.ack_sender,
            agreement: beside.agreement,
            under_way: 0,
            gather_until: Instant::now(),
            closing: false,
        }
    }

    pub(crate) fn run(mut self) {
        let written = panic::catch_unwind(AssertUnwindSafe(|| self.write_until_closed()));
        let poisoned = match written {
            Ok(Ok(())) => {
                if let Err(error) = self.store.close() {
                    tracing::error!(%error, "the store could not be put in order; nothing is lost, the next \
                        start takes longer");
                }
                return;
            }
            Ok(Err(ended)) => Poisoned::ended(&ended),
            // A completion panicked, or an assertion here: the outcome of the write under way is
            // unknown too.
            Err(_) => Poisoned::unknown("the writer thread of the log panicked"),
        };
        let (why, last_durable_seq) = (poisoned.why(), self.shared.published.seq());
        if poisoned.outcome_unknown() {
            tracing::error!(why, last_durable_seq, "the log is poisoned: nothing more is written");
        } else {
            // Nothing is wrong here: a planned switch ends so too.
            tracing::warn!(
                why,
                last_durable_seq,
                "another writer has taken the log: nothing more is written here"
            );
        }
        while panic::catch_unwind(AssertUnwindSafe(|| self.refuse_until_closed(&poisoned))).is_err() {
            tracing::error!("a completion panicked while it was told that the log has failed");
        }
    }

    fn write_until_closed(&mut self) -> Result<(), Ended> {
        loop {
            let first = self.first(Writer::wait);
            if first.is_none() && self.in_pieces.is_empty() {
                return Ok(());
            }
            self.write(first)?;
        }
    }

    pub(crate) fn write_next(&mut self) -> Result<bool, Ended> {
        let first = self.first(|writer| writer.entries.try_recv().ok());
        if first.is_none() && self.in_pieces.is_empty() {
            return Ok(false);
        }
        self.write(first)?;
        Ok(true)
    }

    /// `wait` is called only when there is nothing else to write, as a state in pieces.
    fn first(&mut self, wait: fn(&mut Writer<C>) -> Option<Entry<C>>) -> Option<Entry<C>> {
        match self.first_of_next.take() {
            Some(first) => Some(first),
            None if self.in_pieces.is_empty() => wait(self),
            None => self.entries.try_recv().ok(),
        }
    }

    fn write(&mut self, first: Option<Entry<C>>) -> Result<(), Ended> {
        if let Some(first) = first {
            if let Some(at) = first.at() {
                self.shared.counters.begin(at);
            }
            self.take(first);
        }
        self.drain();
        if self.agreement.is_some() && self.building.records > 0 && !self.closing {
            self.gather();
        }
        self.add_piece();
        self.commit()?;
        self.shared.counters.end();
        Ok(())
    }

    fn drain(&mut self) {
        while !self.is_full() && self.first_of_next.is_none() {
            match self.entries.try_recv() {
                // Pruning compares with what is durable, so nothing else may be in the batch before
                // it.
                Ok(entry @ Entry::Pruning { .. }) if !self.building.is_empty() => {
                    self.first_of_next = Some(entry)
                }
                Ok(entry) => self.take(entry),
                Err(_) => break,
            }
        }
    }

    /// Waits for as many entries as were under way when the last batch was acknowledged, but only
    /// for a part of an agreement's time: whoever was answered may be about to ask again. Otherwise
    /// callers come to be of two halves, of which each waits while the other is agreed on, and the
    /// quorum is asked twice as often.
    fn gather(&mut self) {
        loop {
            let are_missing = self.waiting.len() < self.under_way;
            let left = self.gather_until.saturating_duration_since(Instant::now());
            let is_over = self.closing || self.is_full() || self.first_of_next.is_some();
            if !are_missing || left.is_zero() || is_over {
                return;
            }
            // Whoever sends to a thread that listens has to wake it, which costs more than to look.
            std::thread::sleep(left.min(GATHER_LOOK));
            self.drain();
        }
    }

    /// `None` when the log is closed and all that was appended is answered.
    fn wait(&mut self) -> Option<Entry<C>> {
        if !self.closing {
            return self.entries.recv().ok();
        }
        loop {
            if let Ok(entry) = self.entries.try_recv() {
                return Some(entry);
            }
            if self.shared.pending_records.load(Ordering::SeqCst) == 0 {
                return None;
            }
            // A caller is between counting its entry and sending it.
            std::thread::yield_now();
        }
    }

    fn is_full(&self) -> bool {
        self.waiting.len() >= self.config.batch_records_max
            || self.building.len_bytes() >= self.config.batch_bytes_max
            || (self.agreement.is_some() && self.building.batch.len_bytes() >= PROPOSAL_BYTES_MAX)
    }

    fn take(&mut self, entry: Entry<C>) {
        let (completion, at) = match entry {
            Entry::Record { record, completion, at } => {
                self.taken_bytes += record.len_bytes();
                self.building.add_record(&record);
                (completion, at)
            }
            Entry::Snapshot { snapshot, completion, at } => {
                self.taken_bytes += snapshot.len_bytes();
                self.building.add_snapshot(&snapshot);
                (completion, at)
            }
            Entry::Floor { floor, completion, at } => {
                self.building.raise_floor(floor);
                (completion, at)
            }
            Entry::Removal { superfluous, completion, at } => {
                superfluous.0.iter().for_each(|head| head.remove_from(&mut self.building.rest));
                (completion, at)
            }
            Entry::Pruning { entries, completion, at } => {
                for (key, value) in entries {
                    // An entry that cannot be read stays; its readers will say so.
                    if self.store.get(Family::Index, &key).is_ok_and(|found| found == Some(value)) {
                        self.building.rest.delete(Family::Index, &key);
                    }
                }
                (completion, at)
            }
            Entry::Fence { completion, at } => (completion, at),
            Entry::SnapshotAt(writing) => {
                self.in_pieces.push_back(writing);
                return;
            }
            Entry::Close => {
                self.closing = true;
                return;
            }
        };
        self.taken += 1;
        self.waiting.push_back(Waiting { seq: self.building.tip.seq, at, completion });
    }

    /// With the last piece its completion waits for the batch.
    fn add_piece(&mut self) {
        let Some(mut writing) = self.in_pieces.pop_front() else { return };
        if !self.building.add_piece(&mut writing) {
            self.in_pieces.push_front(writing);
            return;
        }
        self.taken += 1;
        self.waiting.push_back(Waiting { seq: writing.seq, at: writing.at, completion: writing.completion });
    }

    fn commit(&mut self) -> Result<(), Ended> {
        let mut agreed = None;
        if !self.building.is_empty() {
            self.building.complete();
            let batch = &self.building.batch;
            if let Some(agreement) = &mut self.agreement {
                agreed = agree(&mut **agreement, &self.shared, &self.building)?;
            }
            let began = Instant::now();
            self.store.write(batch)?;
            let bytes = batch.len_bytes() as u64;
            let sync = began.elapsed();
            let building = &self.building;
            self.store.witness(&building.tip.witness_bytes())?;
            self.shared.published.publish(building.tip, building.floor);
            self.shared.counters.batch(building.records, building.snapshots, bytes, sync);
            self.building.clear(self.config.batch_bytes_max);
        }
        self.acknowledge(agreed);
        Ok(())
    }

    /// A large batch, and one that would overtake another, is handed to the task that acknowledges.
    fn acknowledge(&mut self, agreed: Option<Duration>) {
        self.under_way = self.waiting.len() + self.entries.len();
        self.gather_until = Instant::now() + (agreed.unwrap_or_default() / GATHER_PART).min(GATHER_MAX);
        if let Some(ack_sender) = &self.ack_sender
            && (self.waiting.len() >= HANDED_OVER_FROM || !self.shared.handed_over.is_done())
        {
            self.shared.handed_over.begin();
            ack_sender(AckBatch {
                waiting: std::mem::take(&mut self.waiting),
                at: Instant::now(),
                agreed,
                pending: (std::mem::take(&mut self.taken), std::mem::take(&mut self.taken_bytes)),
                shared: Arc::clone(&self.shared),
            });
            return;
        }
        let now = Instant::now();
        while let Some(Waiting { seq, at, completion }) = self.waiting.pop_front() {
            let waited = now.saturating_duration_since(at);
            completion.complete(Ok(Durable { seq, waited, agreed }));
        }
        self.leave();
    }

    /// A panic may have kept some from being answered; closing must not wait for those.
    fn leave(&mut self) {
        let (taken, bytes) = (std::mem::take(&mut self.taken), std::mem::take(&mut self.taken_bytes));
        self.shared.leave(taken, bytes);
    }

    /// Refuses all entries that wait, calls the hook, then refuses all that still come.
    fn refuse_until_closed(&mut self, poisoned: &Poisoned) {
        self.begin_to_refuse(poisoned);
        while let Some(entry) = self.wait() {
            self.refuse(entry, poisoned);
        }
    }

    pub(crate) fn begin_to_refuse(&mut self, poisoned: &Poisoned) {
        self.shared.poison(poisoned);
        self.leave();
        while let Some(waiting) = self.waiting.pop_front() {
            waiting.completion.complete(Err(poisoned.clone()));
        }
        while let Some(writing) = self.in_pieces.pop_front() {
            self.refuse(Entry::SnapshotAt(writing), poisoned);
        }
        if let Some(entry) = self.first_of_next.take() {
            self.refuse(entry, poisoned);
        }
        self.refuse_waiting(poisoned);
        self.shared.call_poison_hook(poisoned);
    }

    pub(crate) fn refuse_waiting(&mut self, poisoned: &Poisoned) {
        while let Ok(entry) = self.entries.try_recv() {
            self.refuse(entry, poisoned);
        }
    }

    fn refuse(&mut self, entry: Entry<C>, poisoned: &Poisoned) {
        let (bytes, completion) = match entry {
            Entry::Record { record, completion, .. } => (record.len_bytes(), completion),
            Entry::Snapshot { snapshot, completion, .. } => (snapshot.len_bytes(), completion),
            Entry::Floor { completion, .. }
            | Entry::Removal { completion, .. }
            | Entry::Pruning { completion, .. }
            | Entry::Fence { completion, .. } => (0, completion),
            Entry::SnapshotAt(writing) => (0, writing.completion),
            Entry::Close => {
                self.closing = true;
                return;
            }
        };
        // The place is free before the completion, which may panic: closing waits until nothing is
        // pending.
        self.shared.leave(1, bytes);
        completion.complete(Err(poisoned.not_written()));
    }
}

/// Returns the time that it took. What is derived from records, or only local, needs no agreement.
fn agree(
    agreement: &mut dyn Agreement,
    shared: &Shared,
    building: &Building,
) -> Result<Option<Duration>, Ended> {
    if building.records == 0 {
        return Ok(None);
    }
    let began = Instant::now();
    let agreed = agreement.agree(&Proposal::new(shared.published.tip(), building.tip, &building.batch));
    let took = began.elapsed();
    shared.counters.agreed(took);
    match agreed {
        Agreed::Committed => Ok(Some(took)),
        Agreed::Fenced(why) => Err(Ended::Fenced(why)),
        Agreed::Unknown(why) => Err(Ended::Unknown(why)),
    }
}
