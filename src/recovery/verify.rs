//! Everything is read again from the first record, and compared with what is stored beside the log:
//! snapshots, index, floor, tip. In both directions: nothing is missing in the index, and nothing
//! is there that no record wrote. Memory holds the books, not the history: the index entries of the
//! records go through files that are sorted in a scratch directory, and are then compared in one
//! walk with the stored ones.

use super::books::{Books, PROGRESS_RECORDS, balances, replay_records, restored};
use super::{Failed, Progress};
use actors::{Machine, wake_key};
use domain::codec;
use domain::entities::resource::IndexedState;
use domain::index;
use domain::indexing;
use domain::kept::KEPT_MS;
use domain::record::Record;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::ops::Bound;
use std::path::Path;
use wal::{Damage, ExternalSort, Hash, Reader, Seq, Sorted};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub records: u64,
    pub bytes: u64,
    pub books: u64,
    /// Each equal to what the records before it lead to.
    pub snapshots: u64,
    /// Each as the records say.
    pub index_entries: u64,
    /// Each follows from the one before it.
    pub states: u64,
    /// Covers all records before it.
    pub head: Hash,
}

/// Up to the tip as the reader sees it. `scratch` must not exist and does not afterwards.
pub fn verify(reader: &Reader, scratch: &Path, progress: Progress<'_>) -> Result<Verified, Failed> {
    let tip = reader.tip();
    let mut replay = Replay::new(reader, scratch)?;
    replay_records(reader, tip.seq, ("replay", progress), |stored| replay.take(&stored))?;
    progress("replay", tip.seq, tip.seq);
    replay.snapshots_before(Seq::MAX)?;
    if replay.verified.head != tip.hash {
        let detail = format!("record {} is not the one that the tip names", tip.seq);
        return Err(Damage { seq: tip.seq, detail }.into());
    }
    for (tenant, book) in replay.books.iter() {
        balances(book)
            .map_err(|breach| Damage { seq: tip.seq, detail: format!("book {tenant}: {breach}") })?;
    }
    replay.floor()?;
    replay.compare_index(tip.seq, progress)?;
    replay.verified.books = replay.books.books.len() as u64;
    Ok(replay.verified)
}

#[derive(Clone, Copy, Default)]
struct Ends {
    /// At or below the floor.
    record: Seq,
    snapshot: Seq,
}

struct Replay<'a> {
    reader: &'a Reader,
    books: Books,
    sort: ExternalSort,
    /// Of each tenant that has one.
    ahead: BinaryHeap<Reverse<(Seq, u64)>>,
    ends: HashMap<u64, Ends>,
    floor: Seq,
    /// In a tenant's records and snapshots.
    latest_ms: HashMap<u64, i64>,
    removed: Ranges,
    verified: Verified,
}

/// Ranges of keys that were removed from the index, by their first key: the end of each, and the last
/// record that removed it. None overlaps another.
type Ranges = BTreeMap<Vec<u8>, (Vec<u8>, Seq)>;

/// Whether a range that was removed after this record has the key.
fn is_removed(removed: &Ranges, key: &[u8], seq: Seq) -> bool {
    let before = removed.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back();
    before.is_some_and(|(_, (to, last))| key < to.as_slice() && seq < *last)
}

const INDEX: u8 = 0;
const STATES: u8 = 1;

impl<'a> Replay<'a> {
    fn new(reader: &'a Reader, scratch: &Path) -> Result<Replay<'a>, Failed> {
        let mut ahead = BinaryHeap::new();
        for newest in reader.latest_snapshots() {
            let tenant = newest?.tenant;
            if let Some(first) = reader.snapshot_from(tenant, 0)? {
                ahead.push(Reverse((first.seq, tenant)));
            }
        }
        Ok(Replay {
            reader,
            books: Books::default(),
            sort: ExternalSort::new(scratch)?,
            ahead,
            ends: HashMap::new(),
            floor: reader.floor(),
            latest_ms: HashMap::new(),
            removed: Ranges::new(),
            verified: Verified::default(),
        })
    }

    fn take(&mut self, stored: &wal::Record) -> Result<(), Failed> {
        self.snapshots_before(stored.seq)?;
        let record = self.books.apply(stored)?;
        for op in self.books.entries(stored, &record).resolved(stored.seq).ops() {
            match op.until {
                Some(until) => drop(self.removed.insert(op.key.to_vec(), (until.to_vec(), stored.seq))),
                None => self.expect(stored.seq, stored.time_ms, op.key, op.value)?,
            }
        }
        self.states(stored, &record)?;
        self.lived(stored.tenant, stored.time_ms);
        if stored.seq <= self.floor {
            self.ends.entry(stored.tenant).or_default().record = stored.seq;
        }
        self.verified.records += 1;
        self.verified.bytes += stored.bytes as u64;
        self.verified.head = stored.hash;
        Ok(())
    }

    fn lived(&mut self, tenant: u64, time_ms: i64) {
        let latest_ms = self.latest_ms.entry(tenant).or_insert(time_ms);
        *latest_ms = time_ms.max(*latest_ms);
    }

    /// `None` if record `seq` removes the entry.
    fn expect(&mut self, seq: Seq, time_ms: i64, key: &[u8], value: Option<&[u8]>) -> Result<(), Failed> {
        Ok(self.sort.put(&[&[INDEX], key].concat(), &codec::encode_newest(&(seq, time_ms, value)))?)
    }

    /// The indexed state of each entity of the record, before it and after it.
    fn states(&mut self, stored: &wal::Record, record: &Record) -> Result<(), Failed> {
        let written = record.entities.iter().map(|written| {
            let state = &written.state;
            let is = IndexedState { facet: state.facet(), deadline: state.deadline() };
            (state.id(), written.indexed, Some(is))
        });
        let removed = record.removed.iter().map(|(id, was)| (*id, Some(*was), None));
        for (n, (id, was, is)) in (0_u32..).zip(written.chain(removed)) {
            let (entity, seq) = (index::entity(stored.tenant, id), stored.seq.to_be_bytes());
            let key = [&[STATES], entity.as_slice(), &seq, &n.to_be_bytes()].concat();
            self.sort.put(&key, &codec::encode_newest(&(was, is)))?;
            self.verified.states += 1;
        }
        Ok(())
    }

    fn snapshots_before(&mut self, seq: Seq) -> Result<(), Failed> {
        while let Some(Reverse((at, tenant))) =
            self.ahead.peek().copied().filter(|Reverse((at, _))| *at < seq)
        {
            self.ahead.pop();
            self.compare_snapshot(tenant, at)?;
            self.ends.entry(tenant).or_default().snapshot = at;
            self.verified.snapshots += 1;
            if let Some(next) = self.reader.snapshot_from(tenant, at + 1)? {
                self.ahead.push(Reverse((next.seq, tenant)));
            }
        }
        Ok(())
    }

    /// As the records lead to at the snapshot's time, each hold included.
    fn compare_snapshot(&mut self, tenant: u64, seq: Seq) -> Result<(), Failed> {
        let damage = |detail: String| Damage { seq, detail };
        let stored = self.reader.snapshot(tenant, Some(seq))?.filter(|stored| stored.seq == seq);
        let gone = || damage(format!("the snapshot of book {tenant} at {seq} is gone"));
        let stored = stored.ok_or_else(gone)?;
        let saved = restored(&self.books.machine, &stored)?;
        let replayed = self.books.at(tenant, stored.time_ms);
        if saved != replayed {
            let why = format!("the snapshot of book {tenant} at {seq} is not what the records lead to");
            return Err(damage(why).into());
        }
        let wakes = self.books.machine.next_due(&saved, &|_| false).is_some();
        self.lived(tenant, stored.time_ms);
        self.expect(seq, stored.time_ms, &wake_key(tenant), wakes.then_some(&[][..]))
    }

    /// Snapshots must have all records up to the floor, which replay leaves out.
    fn floor(&self) -> Result<(), Damage> {
        let lost = self.ends.iter().filter(|(_, ends)| ends.record > ends.snapshot);
        let Some((tenant, ends)) = lost.min_by_key(|(_, ends)| ends.record) else { return Ok(()) };
        let (from, seq) = (self.floor + 1, ends.record);
        let detail = format!(
            "a start replays from sequence {from} on, but record {seq} of book {tenant} is in no snapshot"
        );
        Err(Damage { seq, detail })
    }

    /// Side by side, to the end of both; of all faults the first by sequence is reported.
    fn compare_index(&mut self, last: Seq, progress: Progress<'_>) -> Result<(), Failed> {
        let Replay { reader, sort, latest_ms, removed, verified, .. } = self;
        let mut first = None;
        let mut sorted = sort.sorted()?;
        compare_entries(&mut sorted, reader, (latest_ms, removed), (last, progress), verified, &mut first)?;
        compare_states(&mut sorted, last, &mut first)?;
        progress("index", verified.index_entries, verified.index_entries);
        first.map_or(Ok(()), |damage: Damage| Err(damage.into()))
    }
}

/// The lowest sequence counts.
fn blame(first: &mut Option<Damage>, seq: Seq, detail: String) {
    if first.as_ref().is_none_or(|first| seq < first.seq) {
        *first = Some(Damage { seq, detail });
    }
}

fn compare_entries(
    sorted: &mut Sorted<'_>,
    reader: &Reader,
    (latest_ms, removed): (&HashMap<u64, i64>, &Ranges),
    (last, progress): (Seq, Progress<'_>),
    verified: &mut Verified,
    first: &mut Option<Damage>,
) -> Result<(), Failed> {
    let mut stored = reader.index_entries();
    loop {
        let expected = match sorted.peek()? {
            Some((key, noted)) if key.first() == Some(&INDEX) => {
                let key = &key[1..];
                let (seq, time_ms, value): (Seq, i64, Option<Vec<u8>>) = codec::decode(noted)?;
                match value {
                    Some(value) if !is_removed(removed, key, seq) => Some((key, seq, time_ms, value)),
                    _ => {
                        sorted.advance();
                        continue;
                    }
                }
            }
            _ => None,
        };
        let found = match stored.peek() {
            Ok(found) => found,
            Err(error) => {
                let seq = expected.map_or(last, |(_, seq, ..)| seq);
                let fault = "the index cannot be read where an entry of record";
                blame(first, seq, format!("{fault} {seq} should be: {error}"));
                return Ok(());
            }
        };
        // The end of a list comes after every key.
        let order = match (&expected, &found) {
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (expected, found) => {
                expected.as_ref().map(|(key, ..)| *key).cmp(&found.as_ref().map(|(key, _)| *key))
            }
        };
        match (order, expected, found) {
            (Ordering::Less, Some((key, seq, time_ms, _)), _) => {
                if !has_expired(latest_ms, key, time_ms) {
                    let fault = format!("an index entry of record {seq} is missing: {}", described(key));
                    blame(first, seq, fault);
                }
                sorted.advance();
            }
            (Ordering::Greater, _, Some((key, value))) => {
                // A proof has no secret, so it cannot tell which of these belong there.
                if !index::is_personal(key) {
                    let fault = format!("the index has an entry that no record wrote: {}", described(key));
                    blame(first, suspect(key, value, last), fault);
                }
                stored.advance();
            }
            (_, Some((key, seq, _, value)), Some((_, found))) => {
                if !indexing::says_same(key, &value, found) {
                    let fault =
                        format!("an index entry of record {seq} says something else: {}", described(key));
                    blame(first, seq, fault);
                }
                verified.index_entries += 1;
                if verified.index_entries.is_multiple_of(PROGRESS_RECORDS) {
                    progress("index", verified.index_entries, 0);
                }
                sorted.advance();
                stored.advance();
            }
            (_, _, _) => return Ok(()),
        }
    }
}

/// A kept answer is so old that it may have been removed from the index.
fn has_expired(latest_ms: &HashMap<u64, i64>, key: &[u8], time_ms: i64) -> bool {
    let latest_ms = index::keeper(key).and_then(|tenant| latest_ms.get(&tenant));
    latest_ms.is_some_and(|latest_ms| time_ms.saturating_add(KEPT_MS) <= *latest_ms)
}

/// A record must begin with the state that the record before it left.
fn compare_states(sorted: &mut Sorted<'_>, last: Seq, first: &mut Option<Damage>) -> Result<(), Failed> {
    let mut before: Option<(Vec<u8>, Option<IndexedState>)> = None;
    while let Some((key, noted)) = sorted.peek()? {
        let Some((entity, place)) = key.strip_prefix(&[STATES]).and_then(|key| key.split_last_chunk::<12>())
        else {
            sorted.advance();
            continue;
        };
        let seq = place.first_chunk::<8>().map_or(last, |seq| Seq::from_be_bytes(*seq));
        let (was, is): (Option<IndexedState>, Option<IndexedState>) = codec::decode(noted)?;
        let stood = before.take().filter(|(known, _)| known == entity).and_then(|(_, stood)| stood);
        if was != stood {
            let entity = described(entity);
            let fault = format!(
                "record {seq} says of {entity} that it stood otherwise than the record before it left it"
            );
            blame(first, seq, fault);
        }
        before = Some((entity.to_vec(), is));
        sorted.advance();
    }
    Ok(())
}

/// Of an entry which no record wrote: a sequence is its value, or the end of its key.
fn suspect(key: &[u8], value: &[u8], last: Seq) -> Seq {
    let candidates = [<[u8; 8]>::try_from(value).ok(), key.last_chunk::<8>().copied()];
    let mut seqs = candidates.into_iter().flatten().map(Seq::from_be_bytes);
    seqs.find(|seq| (1..=last).contains(seq)).unwrap_or(last)
}

/// Tenant key, family, and the rest in hexadecimal.
fn described(key: &[u8]) -> String {
    match key {
        [a, b, c, d, letter, rest @ ..] if letter.is_ascii_lowercase() => {
            let tenant = u32::from_be_bytes([*a, *b, *c, *d]);
            format!("tenant key {tenant}, {}, {}", char::from(*letter), hex::encode(rest))
        }
        _ => hex::encode(key),
    }
}
