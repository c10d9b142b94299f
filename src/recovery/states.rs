//! Digests of the states that records lead to: of each book as its last record left it, and of each entity that was
//! written. A digest is of the state alone, so it is the same from wherever the records are read, and by whichever
//! release. Beside them, where they are asked for, digests of what follows from states: of a book's index entries and
//! of what the API shows, since the line before; where there is a line for each record, with digests of the entries and
//! of the members that are shown.

use super::books::{Books, each_record};
use super::rebuild::log_ends;
use super::{Failed, Progress};
use api::checkout::sessions;
use api::payouts::batches;
use api::products::links;
use api::tenants::approvals;
use api::webhooks;
use domain::cause::Cause;
use domain::codec::{self, Decode, Encode};
use domain::entities::Entity;
use domain::index::{self, PersonMarks};
use domain::indexing;
use domain::ledger::Ledger;
use domain::ledger::balance::{balance, cop_balance};
use domain::ledger::sellers;
use domain::machine::AnyBook;
use domain::record::Record;
use domain::resources::checkout::Status;
use domain::values::ids::{EntityId, Id, Kind, Mode, PLATFORM, is_live};
use domain::values::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wal::{Damage, Reader, Seq};

const PROGRESS_RECORDS: u64 = 1_024;
const BOOK: &str = "book";
/// The id of the book that belongs to no tenant.
const OF_THE_PLATFORM: &str = "platform";
/// The kinds of what follows from states.
const DERIVED: [&str; 2] = ["index", "answers"];
/// Persons are in the index under a secret of the server's: here under no secret, so that two directories agree.
const PERSON_MARKS: &[u8] = b"pasarela wal states";
/// The most that a line says of its parts, in bytes.
const PARTS_BYTES_MAX: usize = 32 << 10;

/// What a state is of. Platform's have no tenant and no mode.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Thing {
    pub tenant_id: Option<String>,
    pub mode: Option<String>,
    pub kind: String,
    pub id: String,
}

impl Thing {
    /// Whether it follows from states.
    pub fn is_derived(&self) -> bool {
        DERIVED.contains(&self.kind.as_str())
    }
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct State {
    pub seq: Seq,
    #[serde(flatten)]
    pub of: Thing,
    pub digest: String,
    /// Of what follows from states, the beginnings of the digests of its parts by their names: keys of index entries,
    /// members of what is shown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, String>,
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
    books.machine.person_marks = PersonMarks::under(PERSON_MARKS);
    let mut changed = Changed::new();
    let mut is_enough = false;
    let read = each_record(reader, from, to, |stored| {
        let record = books.apply(&stored)?;
        let change = changed.entry(stored.tenant).or_default();
        if derived {
            change.derive(&books, &stored, &record, every == 1);
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
            let how = (derived, every == 1);
            let states = lines_of(seq, std::mem::take(&mut changed), &books, &names, how);
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
    /// The sellers whose balances may have changed.
    sellers: BTreeSet<Id>,
    index: Derived,
    answers: Derived,
}

/// A digest in the making, with its parts where they are wanted.
#[derive(Default)]
struct Derived {
    digest: Sha256,
    parts: BTreeMap<String, String>,
    bytes: usize,
    /// The hash of the record, which only the log has: without it a document or a phone could be guessed.
    salt: wal::Hash,
}

impl Derived {
    fn add(&mut self, part: Option<&[u8]>) {
        self.digest.update(part.map_or(u64::MAX, |part| part.len() as u64).to_be_bytes());
        self.digest.update(part.unwrap_or_default());
    }

    /// Of too many parts none is named.
    fn name(&mut self, name: String, value: &[u8]) {
        let short = self.short(value);
        self.bytes += name.len() + short.len() + 8;
        if self.bytes <= PARTS_BYTES_MAX {
            self.parts.insert(name, short);
        } else {
            self.parts.clear();
        }
    }

    fn short(&self, value: &[u8]) -> String {
        hex::encode(&Sha256::new().chain_update(self.salt).chain_update(value).finalize()[..8])
    }

    fn show(&mut self, Shown { what, body }: &Shown, with_parts: bool) {
        self.add(Some(what.as_bytes()));
        self.add(Some(body));
        if !with_parts {
            return;
        }
        let members: BTreeMap<&str, &RawValue> = serde_json::from_slice(body).unwrap_or_default();
        for (member, value) in members {
            self.name(format!("{what} {member}"), value.get().as_bytes());
        }
    }
}

/// What an endpoint shows, and of what.
struct Shown {
    what: String,
    body: Vec<u8>,
}

impl Shown {
    /// What the API shows of the entities that a record writes, by their states alone: of a session as long as nobody has
    /// paid it, of a batch with those of its payouts that the record made.
    fn by(record: &Record, time: Timestamp, livemode: bool) -> Vec<Shown> {
        let mut all = Vec::new();
        for state in record.entities.iter().map(|written| &*written.state) {
            let id = state.id();
            let mut add =
                |of: &str, id: Id, body: Vec<u8>| all.push(Shown { what: format!("{of} {id}"), body });
            match state {
                Entity::Batch(batch) => {
                    let made = |id| record.entity(EntityId::payout(id)).cloned();
                    add(id.kind.name(), id.id, batches::show(batch, livemode, made));
                }
                Entity::Session(session) => {
                    add(id.kind.name(), id.id, sessions::show(session, Status::Open));
                }
                Entity::Webhook(webhook) => add(id.kind.name(), id.id, webhooks::show(webhook)),
                Entity::MandateApproval(approval) => {
                    let shown = approvals::show(approval, approval.status(time), approvals::WHOLE);
                    add(id.kind.name(), id.id, shown);
                }
                state => {
                    if let Entity::Product(product) = state {
                        product
                            .links
                            .iter()
                            .for_each(|link| add("link", link.id, links::show(product, link)));
                    }
                    if let Some(shown) = api::entity::show(state) {
                        add(id.kind.name(), id.id, shown);
                    }
                }
            }
        }
        all
    }

    /// What the balances show: the account's, and those of these sellers.
    fn balances(book: &AnyBook, sellers: &BTreeSet<Id>, livemode: bool) -> Vec<Shown> {
        let AnyBook::Tenant(book) = book else { return Vec::new() };
        let crypto = domain::resources::crypto::balance(book);
        let own = [
            ("balance", api::balance::show(&balance(book), livemode)),
            ("cop balance", api::balance::show_cop(&cop_balance(book), livemode)),
            ("crypto balance", api::crypto::show_balance(&crypto, livemode)),
        ];
        let own = own.map(|(what, body)| Shown { what: what.to_owned(), body });
        let of_seller = |id: &Id| {
            let body = api::balance::show_seller(&sellers::balance(book, *id)?, livemode);
            Some(Shown { what: format!("seller's balance {id}"), body })
        };
        own.into_iter().chain(sellers.iter().filter_map(of_seller)).collect()
    }
}

impl Change {
    /// Takes note of the index entries of a record, and of what the API shows of the entities that it writes.
    fn derive(&mut self, books: &Books, stored: &wal::Record, record: &Record, with_parts: bool) {
        (self.index.salt, self.answers.salt) = (stored.hash, stored.hash);
        let batch = books.entries(stored, record).resolved(stored.seq);
        // Later ones win, in whichever order they were written.
        let entries: BTreeMap<_, _> = batch.ops().map(|op| ((op.until, op.key), op.value)).collect();
        for ((until, key), value) in entries {
            let value = value.map(|value| indexing::comparable(key, value));
            for part in [until, Some(key), value.as_deref()] {
                self.index.add(part);
            }
            if with_parts {
                let until = until.map(|until| format!(" to {}", until.escape_ascii()));
                let name = match index::is_personal(key) {
                    true => format!("person {}", self.index.short(key)),
                    false => format!("{}{}", key.escape_ascii(), until.unwrap_or_default()),
                };
                self.index.name(name, value.as_deref().unwrap_or(b"removed"));
            }
        }
        let time = Timestamp::from_unix_ms(stored.time_ms);
        for shown in Shown::by(record, time, is_live(stored.tenant)) {
            self.answers.show(&shown, with_parts);
        }
        let moved = record.postings.iter().map(|posting| posting.ledger);
        let moved = moved.chain(record.holds.iter().map(|hold| hold.ledger));
        let moved = moved.filter_map(|ledger| if let Ledger::Seller(id) = ledger { Some(id) } else { None });
        let named = record.entities.iter().map(|written| written.state.id());
        let named = named.filter(|id| id.kind == Kind::Merchant).map(|id| id.id);
        self.sellers.extend(moved.chain(named));
    }
}

fn lines_of(
    seq: Seq,
    changed: Changed,
    books: &Books,
    names: &HashMap<u64, Id>,
    (derived, with_parts): (bool, bool),
) -> Vec<State> {
    let mut states = Vec::new();
    for (tenant, Change { entities, sellers, index, mut answers }) in changed {
        let Some(book) = books.get(tenant) else { continue };
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
            for shown in Shown::balances(book, &sellers, is_live(tenant)) {
                answers.show(&shown, with_parts);
            }
            for (kind, Derived { digest, parts, .. }) in DERIVED.into_iter().zip([index, answers]) {
                let line = state(seq, (tenant, names), (kind, id.clone()), &digest.finalize().into());
                states.push(State { parts, ..line });
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
    State { seq, of, digest: hex::encode(digest), parts: BTreeMap::new() }
}
