//! Digests of the states that records lead to: of each book as its last record left it, and of each entity that was
//! written. A digest is of the state alone, so it is the same from wherever the records are read, and by whichever
//! release. Beside them, where they are asked for, digests of what follows from states: of a book's index entries and
//! of what the API shows, since the line before.

use super::books::{Books, each_record};
use super::rebuild::log_ends;
use super::{Failed, Progress};
use domain::cause::Cause;
use domain::codec::{self, Decode, Encode};
use domain::indexing;
use domain::ledger::balance::{balance, cop_balance};
use domain::machine::AnyBook;
use domain::record::Record;
use domain::values::ids::{EntityId, Id, Mode, PLATFORM, is_live};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wal::{Damage, Reader, Seq};

const PROGRESS_RECORDS: u64 = 1_024;
const BOOK: &str = "book";
/// The id of the book that belongs to no tenant.
const OF_THE_PLATFORM: &str = "platform";
/// The kinds of what follows from states.
pub const DERIVED: [&str; 2] = ["index", "answers"];

/// What a state is of. Platform's have no tenant and no mode.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Thing {
    pub tenant_id: Option<String>,
    pub mode: Option<String>,
    pub kind: String,
    pub id: String,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct State {
    pub seq: Seq,
    #[serde(flatten)]
    pub of: Thing,
    pub digest: String,
}

/// Which records are read, and after how many of them digests are made.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    pub from: Seq,
    /// Included.
    pub to: Seq,
    pub every: u64,
    /// Whether what follows from states has digests too.
    pub derived: bool,
}

impl Stretch {
    pub fn to_end(reader: &Reader, from: Seq, every: u64, derived: bool) -> Result<Stretch, Failed> {
        let to = reader.last_seq();
        if from > to { Err(log_ends(to, from)) } else { Ok(Stretch { from, to, every, derived }) }
    }
}

/// Gives what changed up to each sequence at which digests are made, in order, until it is told to stop. Memory holds
/// the books, what changed since the last time, and the ids of what a reset of test data will remove.
pub fn states(
    reader: &Reader,
    Stretch { from, to, every, derived }: Stretch,
    progress: Progress<'_>,
    each: &mut dyn FnMut(Seq, Vec<State>) -> Result<bool, Failed>,
) -> Result<(), Failed> {
    let names = names(reader)?;
    let (mut books, mut resets) = before(reader, from, to, progress)?;
    let mut changed = Changed::new();
    let mut is_enough = false;
    let read = each_record(reader, from, to, |stored| {
        let record = books.apply(&stored)?;
        let change = changed.entry(stored.tenant).or_default();
        if derived {
            change.derive(&books, &stored, &record);
        }
        let entities = &mut change.entities;
        for id in resets.removed_by(stored.tenant, stored.seq, &record) {
            entities.insert(id, of_nothing());
        }
        for written in &record.entities {
            entities.insert(written.state.id(), digest(&*written.state));
        }
        for (id, _) in &record.removed {
            entities.insert(*id, of_nothing());
        }
        let seq = stored.seq;
        if seq.is_multiple_of(PROGRESS_RECORDS) {
            progress("replay", seq - from, to - from);
        }
        if seq == to || (seq - from + 1).is_multiple_of(every) {
            let states = lines_of(seq, std::mem::take(&mut changed), &books, &names, derived);
            is_enough = !each(seq, states)?;
        }
        // What each_record is ended by; nobody sees it.
        if is_enough { Err(Failed::NotDone(String::new())) } else { Ok(()) }
    });
    if is_enough { Ok(()) } else { read }
}

fn digest<T: Encode + Decode<u8>>(state: &T) -> [u8; 32] {
    Sha256::digest(codec::encode_comparably(state)).into()
}

/// The digest of what is no more.
fn of_nothing() -> [u8; 32] {
    Sha256::digest([]).into()
}

/// What was there of the accounts whose test data begins anew in a stretch: the record that does so names only what
/// stays.
#[derive(Default)]
struct Resets {
    /// The last one of each tenant.
    last: HashMap<u64, Seq>,
    ids: HashMap<u64, BTreeSet<EntityId>>,
}

impl Resets {
    fn removed_by(&mut self, tenant: u64, seq: Seq, record: &Record) -> BTreeSet<EntityId> {
        let Some(last) = self.last.get(&tenant) else { return BTreeSet::new() };
        let ids = self.ids.entry(tenant).or_default();
        let removed = if record.cause == Cause::TestReset { std::mem::take(ids) } else { BTreeSet::new() };
        if seq < *last {
            ids.extend(record.entities.iter().map(|written| written.state.id()));
            for (id, _) in &record.removed {
                ids.remove(id);
            }
        }
        removed
    }
}

/// The books of whose records there are any in the stretch, and what of theirs will be removed at once, as they were
/// before it. All of the stretch is read first, so damage is found before anybody compares what came of it.
fn before(reader: &Reader, from: Seq, to: Seq, progress: Progress<'_>) -> Result<(Books, Resets), Failed> {
    let (mut touched, mut resets) = (BTreeSet::new(), Resets::default());
    let decoded = |stored: &wal::Record| -> Result<Record, Failed> {
        let decoded = codec::decode(&stored.payload);
        Ok(decoded.map_err(|error| Damage { seq: stored.seq, detail: error.to_string() })?)
    };
    each_record(reader, from, to, |stored| {
        touched.insert(stored.tenant);
        if stored.tenant != PLATFORM && !is_live(stored.tenant) && decoded(&stored)?.cause == Cause::TestReset
        {
            resets.last.insert(stored.tenant, stored.seq);
        }
        if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
            progress("whose records", stored.seq - from, to - from);
        }
        Ok(())
    })?;
    if from == 1 {
        return Ok((Books::default(), resets));
    }
    if !resets.last.is_empty() {
        each_record(reader, 1, from - 1, |stored| {
            if resets.last.contains_key(&stored.tenant) {
                resets.removed_by(stored.tenant, stored.seq, &decoded(&stored)?);
            }
            if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
                progress("what was there", stored.seq, from - 1);
            }
            Ok(())
        })?;
    }
    let touched: Vec<u64> = touched.into_iter().collect();
    Ok((Books::after(reader, &touched, from - 1)?, resets))
}

/// The ids of tenants by their numbers.
fn names(reader: &Reader) -> Result<HashMap<u64, Id>, Failed> {
    let books = Books::after(reader, &[PLATFORM], reader.last_seq())?;
    let Some(AnyBook::Platform(platform)) = books.get(PLATFORM) else { return Ok(HashMap::new()) };
    Ok(platform.tenants.values().map(|tenant| (u64::from(tenant.number), tenant.id)).collect())
}

/// The books that changed, by tenant key.
type Changed = BTreeMap<u64, Change>;

#[derive(Default)]
struct Change {
    /// The digests of the entities that changed.
    entities: BTreeMap<EntityId, [u8; 32]>,
    index: Sha256,
    answers: Sha256,
}

impl Change {
    /// Takes note of the index entries of a record, and of what the API shows of the entities that it writes.
    fn derive(&mut self, books: &Books, stored: &wal::Record, record: &Record) {
        let batch = books.entries(stored, record).resolved(stored.seq);
        // Later ones win, in whichever order they were written.
        let entries: BTreeMap<_, _> = batch.ops().map(|op| ((op.until, op.key), op.value)).collect();
        let mut add = |part: Option<&[u8]>| {
            self.index.update(part.map_or(u64::MAX, |part| part.len() as u64).to_be_bytes());
            self.index.update(part.unwrap_or_default());
        };
        for ((until, key), value) in entries {
            let value = value.map(|value| indexing::comparable(key, value));
            [until, Some(key), value.as_deref()].into_iter().for_each(&mut add);
        }
        for shown in record.entities.iter().filter_map(|written| api::entity::show(&written.state)) {
            self.answers.update(shown);
        }
    }
}

/// What the three balances show.
fn balances(book: &AnyBook, livemode: bool) -> Vec<u8> {
    let AnyBook::Tenant(book) = book else { return Vec::new() };
    let crypto = domain::resources::crypto::balance(book);
    [
        api::balance::show(&balance(book), livemode),
        api::balance::show_cop(&cop_balance(book), livemode),
        api::crypto::show_balance(&crypto, livemode),
    ]
    .concat()
}

fn lines_of(
    seq: Seq,
    changed: Changed,
    books: &Books,
    names: &HashMap<u64, Id>,
    derived: bool,
) -> Vec<State> {
    let mut states = Vec::new();
    for (tenant, Change { entities, index, mut answers }) in changed {
        let Some(book) = books.get(tenant) else { continue };
        if derived {
            answers.update(balances(book, is_live(tenant)));
        }
        let digest = match book {
            AnyBook::Platform(book) => digest(book),
            AnyBook::Tenant(book) => digest(&**book),
        };
        let id = match (tenant, names.get(&(tenant / 2))) {
            (PLATFORM, _) => OF_THE_PLATFORM.to_owned(),
            (_, Some(id)) => id.to_string(),
            // A log that says nothing of its tenants, only their numbers.
            (tenant, None) => (tenant / 2).to_string(),
        };
        if derived {
            for (kind, digest) in DERIVED.into_iter().zip([index, answers]) {
                states.push(state(seq, (tenant, names), (kind, id.clone()), &digest.finalize().into()));
            }
        }
        states.push(state(seq, (tenant, names), (BOOK, id), &digest));
        for (id, digest) in entities {
            states.push(state(seq, (tenant, names), (id.kind.name(), id.id.to_string()), &digest));
        }
    }
    states
}

fn state(
    seq: Seq,
    (tenant, names): (u64, &HashMap<u64, Id>),
    (kind, id): (&str, String),
    digest: &[u8; 32],
) -> State {
    let is_platform = tenant == PLATFORM;
    let tenant_id = names.get(&(tenant / 2)).filter(|_| !is_platform).map(Id::to_string);
    let mode = (!is_platform).then(|| Mode::of(tenant).name().to_owned());
    let of = Thing { tenant_id, mode, kind: kind.to_owned(), id };
    State { seq, of, digest: hex::encode(digest) }
}
