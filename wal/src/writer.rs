//! The one thread that writes: takes one entry, drains what else is there, writes once, syncs once,
//! acknowledges in order. Sequences are dense and in the order of the channel; nothing is
//! acknowledged before its sync; the first failed write is the last; every entry that was sent is
//! answered, also after a failure and while closing.

use crate::Seq;
use crate::batch::Batch;
use crate::cluster::{Agreed, Agreement, PROPOSAL_BYTES_MAX, Proposal};
use crate::config::Config;
use crate::log::{Append, Completion, Durable, Shared};
use crate::opening::End;
use crate::poison::Poisoned;
use crate::record::{self, RECORD_OVERHEAD_BYTES, Tip};
use crate::retention::Superfluous;
use crate::snapshot::{Snapshot, WHOLE_BYTES_MAX, Writing, Written};
use crate::store::{Family, Store};
use crossbeam::channel::Receiver;
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub(crate) struct Entry<C> {
    pub what: What,
    pub bytes: usize,
    pub completion: C,
    pub at: Instant,
}

pub(crate) enum What {
    Record(Append),
    Snapshot(Snapshot),
    SnapshotAt(Seq, Snapshot),
    Floor(Seq),
    Removal(Superfluous),
    Pruning(Vec<(Vec<u8>, Vec<u8>)>),
    Fence,
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
const GATHER_LOOK: Duration = Duration::from_micros(100);
/// The longest such wait: an agreement that took long was held up, and says nothing of the next.
const GATHER_MAX: Duration = Duration::from_millis(10);

pub(crate) struct Writer<C: Completion> {
    store: Arc<dyn Store>,
    entries: Receiver<Option<Entry<C>>>,
    shared: Arc<Shared>,
    config: Config,
    /// Of what is durable and of the batch under way.
    tip: Tip,
    floor: Seq,
    /// The batch under way: chunks of records, then what is derived from them, then the tip.
    batch: Batch,
    chunk_at: Option<usize>,
    rest: Batch,
    records: u64,
    snapshots: u64,
    waiting: VecDeque<Waiting<C>>,
    in_pieces: VecDeque<Writing<C>>,
    /// Must not be in the batch under way.
    first_of_next: Option<Entry<C>>,
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

impl<C: Completion> Writer<C> {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        entries: Receiver<Option<Entry<C>>>,
        shared: Arc<Shared>,
        config: Config,
        ack_sender: Option<AckSender<C>>,
        agreement: Option<Box<dyn Agreement>>,
    ) -> Writer<C> {
        let End { tip, floor } = shared.end();
        Writer {
            store,
            entries,
            shared,
            config,
            tip,
            floor,
            batch: Batch::new(),
            chunk_at: None,
            rest: Batch::new(),
            records: 0,
            snapshots: 0,
            waiting: VecDeque::new(),
            in_pieces: VecDeque::new(),
            first_of_next: None,
            taken: 0,
            taken_bytes: 0,
            ack_sender,
            agreement,
            under_way: 0,
            gather_until: Instant::now(),
            closing: false,
        }
    }

    pub(crate) fn run(mut self) {
        let written = panic::catch_unwind(AssertUnwindSafe(|| {
            while self.write_next(Writer::wait)? {}
            Ok(())
        }));
        let poisoned = match written {
            Ok(Ok(())) => {
                if self.config.closes_store
                    && let Err(error) = self.store.close()
                {
                    tracing::error!(%error, "the store could not be put in order; nothing is lost, the next \
                        start takes longer");
                }
                return;
            }
            Ok(Err(poisoned)) => poisoned,
            // A completion panicked, or an assertion here: the outcome of the write under way is
            // unknown too.
            Err(_) => Poisoned { why: "the writer thread of the log panicked".into(), outcome_unknown: true },
        };
        let (why, last_durable_seq) = (&*poisoned.why, self.shared.end().tip.seq);
        if poisoned.outcome_unknown {
            tracing::error!(why, last_durable_seq, "the log is poisoned: nothing more is written");
        } else {
            // Nothing is wrong here: a planned switch ends so too.
            tracing::warn!(
                why,
                last_durable_seq,
                "another writer has taken the log: nothing more is written here"
            );
        }
        let mut refuse_until_closed = || {
            self.begin_to_refuse(&poisoned);
            while let Some(entry) = self.wait() {
                self.refuse(entry.bytes, entry.completion, &poisoned);
            }
        };
        while panic::catch_unwind(AssertUnwindSafe(&mut refuse_until_closed)).is_err() {
            tracing::error!("a completion panicked while it was told that the log has failed");
        }
    }

    pub(crate) fn step(&mut self) -> bool {
        if let Some(poisoned) = self.shared.poisoned.get().cloned() {
            self.refuse_waiting(&poisoned);
            return false;
        }
        self.write_next(Writer::try_next).unwrap_or_else(|poisoned| {
            self.begin_to_refuse(&poisoned);
            false
        })
    }

    /// Writes what is there in one batch; false if nothing was. `wait` is called only when there is
    /// nothing else to write, as a state in pieces.
    fn write_next(&mut self, wait: fn(&mut Writer<C>) -> Option<Entry<C>>) -> Result<bool, Poisoned> {
        let first = match self.first_of_next.take() {
            Some(first) => Some(first),
            None if self.in_pieces.is_empty() => wait(self),
            None => self.try_next(),
        };
        if first.is_none() && self.in_pieces.is_empty() {
            return Ok(false);
        }
        if let Some(first) = first {
            // A large state takes its time, which is no reason for an alarm.
            if !matches!(first.what, What::SnapshotAt(..)) {
                *self.shared.counters.waits_since.lock().expect("nobody panics with it") = Some(first.at);
            }
            self.take(first);
        }
        while self.first_of_next.is_none()
            && self.waiting.len() < self.config.batch_records_max
            && self.batch.bytes.len() + self.rest.bytes.len() < self.config.batch_bytes_max
            && (self.agreement.is_none() || self.batch.bytes.len() < PROPOSAL_BYTES_MAX)
        {
            match self.try_next() {
                // Pruning compares with what is durable, so nothing else may be in the batch before
                // it.
                Some(entry) if matches!(entry.what, What::Pruning(_)) && !self.waiting.is_empty() => {
                    self.first_of_next = Some(entry)
                }
                Some(entry) => self.take(entry),
                None if self.agreement.is_none() || self.records == 0 || self.closing => break,
                // Waits for as many entries as were under way when the last batch was acknowledged, but only
                // for a part of an agreement's time: whoever was answered may be about to ask again. Otherwise
                // callers come to be of two halves, of which each waits while the other is agreed on, and the
                // quorum is asked twice as often.
                None => {
                    let left = self.gather_until.saturating_duration_since(Instant::now());
                    if self.waiting.len() >= self.under_way || left.is_zero() {
                        break;
                    }
                    // Whoever sends to a thread that listens has to wake it, which costs more than to look.
                    std::thread::sleep(left.min(GATHER_LOOK));
                }
            }
        }
        if let Some(mut writing) = self.in_pieces.pop_front() {
            let piece_bytes_max = self.config.piece_bytes_max;
            let Writing { snapshot, seq, written, .. } = &mut writing;
            if written.put_next(&mut self.rest, *seq, snapshot, piece_bytes_max) {
                let Writing { snapshot, seq, at, completion, .. } = writing;
                snapshot.index.resolve_into(seq, &mut self.rest);
                self.snapshots += 1;
                self.taken += 1;
                self.waiting.push_back(Waiting { seq, at, completion });
            } else {
                self.in_pieces.push_front(writing);
            }
        }
        self.commit()?;
        *self.shared.counters.waits_since.lock().expect("nobody panics with it") = None;
        Ok(true)
    }

    fn try_next(&mut self) -> Option<Entry<C>> {
        loop {
            match self.entries.try_recv() {
                Ok(Some(entry)) => return Some(entry),
                Ok(None) => self.closing = true,
                Err(_) => return None,
            }
        }
    }

    /// `None` when the log is closed and all that was appended is answered.
    fn wait(&mut self) -> Option<Entry<C>> {
        while !self.closing {
            match self.entries.recv() {
                Ok(Some(entry)) => return Some(entry),
                Ok(None) => self.closing = true,
                Err(_) => return None,
            }
        }
        loop {
            if let Some(entry) = self.try_next() {
                return Some(entry);
            }
            if self.shared.pending_records.load(Ordering::SeqCst) == 0 {
                return None;
            }
            // A caller is between counting its entry and sending it.
            std::thread::yield_now();
        }
    }

    fn take(&mut self, entry: Entry<C>) {
        let Entry { what, bytes, completion, at } = entry;
        match what {
            What::Record(Append { tenant, time_ms, payload, index }) => {
                let seq = self.tip.seq + 1;
                let bytes = RECORD_OVERHEAD_BYTES + payload.len();
                if let Some(at) = self.chunk_at
                    && self.batch.bytes.len() - at + bytes > self.config.chunk_bytes_max
                {
                    self.end_chunk();
                }
                if self.chunk_at.is_none() {
                    // Its length is written at its end.
                    self.batch.push(Family::Log as u8, &seq.to_be_bytes(), &[], &[]);
                    self.chunk_at = Some(self.batch.bytes.len());
                }
                let hash =
                    record::encode(&mut self.batch.bytes, seq, time_ms, tenant, &self.tip.hash, &payload);
                self.tip = Tip { seq, hash };
                self.records += 1;
                index.resolve_into(seq, &mut self.rest);
            }
            What::Snapshot(snapshot) => {
                let is_whole = snapshot.state.len() <= WHOLE_BYTES_MAX;
                let piece_bytes_max = if is_whole { usize::MAX } else { self.config.piece_bytes_max };
                let mut written = Written::default();
                while !written.put_next(&mut self.rest, self.tip.seq, &snapshot, piece_bytes_max) {}
                snapshot.index.resolve_into(self.tip.seq, &mut self.rest);
                self.snapshots += 1;
            }
            What::SnapshotAt(seq, snapshot) => {
                let written = Written::default();
                return self.in_pieces.push_back(Writing { snapshot, seq, at, completion, written });
            }
            What::Floor(floor) => {
                let floor = floor.min(self.tip.seq);
                if floor > self.floor {
                    self.floor = floor;
                    self.rest.put(Family::Meta, record::FLOOR_KEY, &record::floor_bytes(floor));
                }
            }
            What::Removal(superfluous) => {
                superfluous.0.iter().for_each(|head| head.remove_from(&mut self.rest));
            }
            What::Pruning(entries) => {
                for (key, value) in entries {
                    // An entry that cannot be read stays; its readers will say so.
                    if self.store.get(Family::Index, &key).is_ok_and(|found| found == Some(value)) {
                        self.rest.delete(Family::Index, &key);
                    }
                }
            }
            What::Fence => {}
        }
        self.taken += 1;
        self.taken_bytes += bytes;
        self.waiting.push_back(Waiting { seq: self.tip.seq, at, completion });
    }

    fn end_chunk(&mut self) {
        if let Some(at) = self.chunk_at.take() {
            let len = u32::try_from(self.batch.bytes.len() - at).expect("a chunk is shorter than 4 GiB");
            let header_at = at - size_of::<Seq>() - 4;
            self.batch.bytes[header_at..header_at + 4].copy_from_slice(&len.to_le_bytes());
        }
    }

    fn commit(&mut self) -> Result<(), Poisoned> {
        let mut agreed = None;
        if self.batch.count + self.rest.count > 0 {
            self.end_chunk();
            self.rest.push(Family::Meta as u8, record::TIP_KEY, &[], &self.tip.sealed(record::TIP_KEY));
            self.batch.bytes.extend_from_slice(&self.rest.bytes);
            self.batch.count += self.rest.count;
            let (batch, tip, records) = (&self.batch, self.tip, self.records);
            // What is derived from records, or only local, needs no agreement.
            if let Some(agreement) = &mut self.agreement
                && records > 0
            {
                let began = Instant::now();
                let answer = agreement.agree(&Proposal::new(self.shared.end().tip, tip, batch));
                let took = began.elapsed();
                self.shared.counters.agree_us.note(took.as_micros() as u64);
                match answer {
                    Agreed::Committed => agreed = Some(took),
                    Agreed::Fenced(why) => return Err(Poisoned::not_written(why)),
                    Agreed::Unknown(why) => {
                        return Err(Poisoned { why: why.into(), outcome_unknown: true });
                    }
                }
            }
            let began = Instant::now();
            self.store.write(batch)?;
            let sync = began.elapsed();
            self.store.witness(&tip.sealed(record::WITNESS_KEY))?;
            *self.shared.end.lock().expect("nobody panics with it") = End { tip, floor: self.floor };
            self.shared.counters.batch(records, self.snapshots, batch.bytes.len() as u64, sync);
            for written in [&mut self.batch, &mut self.rest] {
                written.clear(self.config.batch_bytes_max);
            }
            (self.records, self.snapshots) = (0, 0);
        }
        self.under_way = self.waiting.len() + self.entries.len();
        self.gather_until = Instant::now() + (agreed.unwrap_or_default() / GATHER_PART).min(GATHER_MAX);
        // A large batch, and one that would overtake another, is handed to the task that acknowledges.
        if let Some(ack_sender) = &self.ack_sender
            && (self.waiting.len() >= HANDED_OVER_FROM || !self.shared.handed_over.is_done())
        {
            self.shared.handed_over.begin();
            ack_sender(AckBatch {
                // The next batch will be about as large: growing moves every completion.
                waiting: std::mem::replace(&mut self.waiting, VecDeque::with_capacity(self.under_way)),
                at: Instant::now(),
                agreed,
                pending: (std::mem::take(&mut self.taken), std::mem::take(&mut self.taken_bytes)),
                shared: Arc::clone(&self.shared),
            });
            return Ok(());
        }
        let now = Instant::now();
        while let Some(Waiting { seq, at, completion }) = self.waiting.pop_front() {
            let waited = now.saturating_duration_since(at);
            completion.complete(Ok(Durable { seq, waited, agreed }));
        }
        self.shared.leave(std::mem::take(&mut self.taken), std::mem::take(&mut self.taken_bytes));
        Ok(())
    }

    /// Refuses all entries that wait, and calls the hook.
    fn begin_to_refuse(&mut self, poisoned: &Poisoned) {
        self.shared.poisoned.get_or_init(|| poisoned.clone());
        self.shared.refuses.store(true, Ordering::SeqCst);
        // A panic may have kept some from being answered; closing must not wait for those.
        self.shared.leave(std::mem::take(&mut self.taken), std::mem::take(&mut self.taken_bytes));
        while let Some(waiting) = self.waiting.pop_front() {
            waiting.completion.complete(Err(poisoned.clone()));
        }
        while let Some(writing) = self.in_pieces.pop_front() {
            self.refuse(0, writing.completion, poisoned);
        }
        if let Some(entry) = self.first_of_next.take() {
            self.refuse(entry.bytes, entry.completion, poisoned);
        }
        self.refuse_waiting(poisoned);
        self.shared.call_poison_hook(poisoned);
    }

    fn refuse_waiting(&mut self, poisoned: &Poisoned) {
        while let Some(entry) = self.try_next() {
            self.refuse(entry.bytes, entry.completion, poisoned);
        }
    }

    /// The place is free before the completion, which may panic: closing waits until nothing is pending.
    fn refuse(&self, bytes: usize, completion: C, poisoned: &Poisoned) {
        self.shared.leave(1, bytes);
        completion.complete(Err(Poisoned::not_written(poisoned.why.clone())));
    }
}
