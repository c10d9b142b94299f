//! Digests of the states that records lead to: of each book as its last record left it, and of each entity that was
//! written. A digest is of the state alone, so it is the same from wherever the records are read.

use super::books::{Books, each_record};
use super::rebuild::log_ends;
use super::{Failed, Progress};
use actors::Machine;
use domain::codec;
use domain::machine::AnyBook;
use domain::values::ids::{EntityId, Id, Mode, PLATFORM};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wal::{Reader, Seq};

const PROGRESS_RECORDS: u64 = 1_024;
const BOOK: &str = "book";
/// The id of the book that belongs to no tenant.
const OF_THE_PLATFORM: &str = "platform";

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
}

impl Stretch {
    pub fn to_end(reader: &Reader, from: Seq, every: u64) -> Result<Stretch, Failed> {
        let to = reader.last_seq();
        if from > to { Err(log_ends(to, from)) } else { Ok(Stretch { from, to, every }) }
    }
}

/// Gives what changed up to each sequence at which digests are made, in order, until it is told to stop. Memory holds
/// the books and what changed since the last time.
pub fn states(
    reader: &Reader,
    Stretch { from, to, every }: Stretch,
    progress: Progress<'_>,
    each: &mut dyn FnMut(Seq, Vec<State>) -> Result<bool, Failed>,
) -> Result<(), Failed> {
    let names = names(reader)?;
    let mut books = before(reader, from, to, progress)?;
    let mut changed = Changed::new();
    let mut is_enough = false;
    let read = each_record(reader, from, to, |stored| {
        let record = books.apply(&stored)?;
        let entities = changed.entry(stored.tenant).or_default();
        for written in &record.entities {
            entities.insert(written.state.id(), Sha256::digest(codec::encode(&*written.state)).into());
        }
        for (id, _) in &record.removed {
            // Of nothing.
            entities.insert(*id, Sha256::digest([]).into());
        }
        let seq = stored.seq;
        if seq.is_multiple_of(PROGRESS_RECORDS) {
            progress("replay", seq - from, to - from);
        }
        if seq == to || (seq - from + 1).is_multiple_of(every) {
            let states = lines_of(seq, std::mem::take(&mut changed), &books, &names);
            is_enough = !each(seq, states)?;
        }
        // What each_record is ended by; nobody sees it.
        if is_enough { Err(Failed::NotDone(String::new())) } else { Ok(()) }
    });
    if is_enough { Ok(()) } else { read }
}

/// The books of whose records there are any in the stretch, as they were before it.
fn before(reader: &Reader, from: Seq, to: Seq, progress: Progress<'_>) -> Result<Books, Failed> {
    if from == 1 {
        return Ok(Books::default());
    }
    let mut touched = BTreeSet::new();
    each_record(reader, from, to, |stored| {
        touched.insert(stored.tenant);
        if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
            progress("whose records", stored.seq - from, to - from);
        }
        Ok(())
    })?;
    let touched: Vec<u64> = touched.into_iter().collect();
    Books::after(reader, &touched, from - 1)
}

/// The ids of tenants by their numbers.
fn names(reader: &Reader) -> Result<HashMap<u64, Id>, Failed> {
    let books = Books::after(reader, &[PLATFORM], reader.last_seq())?;
    let Some(AnyBook::Platform(platform)) = books.get(PLATFORM) else { return Ok(HashMap::new()) };
    Ok(platform.tenants.values().map(|tenant| (u64::from(tenant.number), tenant.id)).collect())
}

/// The books that changed, by tenant key, each with the digests of its entities that did.
type Changed = BTreeMap<u64, BTreeMap<EntityId, [u8; 32]>>;

fn lines_of(seq: Seq, changed: Changed, books: &Books, names: &HashMap<u64, Id>) -> Vec<State> {
    let mut states = Vec::new();
    for (tenant, entities) in changed {
        let Some(book) = books.get(tenant) else { continue };
        let digest: [u8; 32] = Sha256::digest(books.machine.save(book)).into();
        let id = match (tenant, names.get(&(tenant / 2))) {
            (PLATFORM, _) => OF_THE_PLATFORM.to_owned(),
            (_, Some(id)) => id.to_string(),
            // A log that says nothing of its tenants, only their numbers.
            (tenant, None) => (tenant / 2).to_string(),
        };
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
