//! The records after which a condition on a tenant becomes true, or false again: each mode by itself, from a book with
//! nothing in it. Every record is looked at, as a condition can hold for a moment between two snapshots. What is
//! needed for the condition is kept, and no more: of payments the truths of its comparisons, not the payments.

use super::books::{Books, each_record};
use super::condition::{Condition, Member, Truths, pick};
use super::{Failed, Progress};
use api::members::Subject;
use api::{balance as shown, crypto};
use domain::cause::Cause;
use domain::codec;
use domain::entities::Entity;
use domain::ledger::balance::{Balance, CopBalance, balance_with, cop_balance};
use domain::ledger::book::Book;
use domain::ledger::{Ledger, sellers};
use domain::machine::AnyBook;
use domain::record::Record;
use domain::resources::crypto::{CryptoBalance, balance as usdt_balance};
use domain::values::ids::{EntityId, Id, Kind, is_live};
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use wal::{Damage, Reader};

const PROGRESS_RECORDS: u64 = 1_024;

/// A record after which the condition is another one than before it.
pub struct Turn {
    pub stored: wal::Record,
    pub record: Record,
    pub holds: bool,
}

/// The first record of each mode after which the condition holds or, with `every`, each after which its truth is
/// another one. `keys` are the tenant's, one for each mode.
pub fn bisect(
    reader: &Reader,
    keys: [u64; 2],
    condition: &Condition,
    every: bool,
    progress: Progress<'_>,
    each: &mut dyn FnMut(Turn) -> Result<bool, Failed>,
) -> Result<(), Failed> {
    let mut books = Books::default();
    let mut watches = keys.map(|key| Watch::new(condition, key));
    let last = reader.last_seq();
    let (mut is_enough, mut found) = (false, [false; 2]);
    let read = each_record(reader, 1, last, |stored| {
        if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
            progress("search", stored.seq, last);
        }
        let Some(mode) = keys.iter().position(|key| *key == stored.tenant) else { return Ok(()) };
        if found[mode] {
            return Ok(());
        }
        let watch = &mut watches[mode];
        let before = watch.holds;
        let record = watch.apply(&mut books, &stored)?;
        let holds = watch.holds;
        if if every { holds != before } else { holds } {
            found[mode] = !every;
            let goes_on = each(Turn { stored, record, holds })?;
            is_enough = !goes_on || found.iter().all(|found| *found);
        }
        // What each_record is ended by; nobody sees it.
        if is_enough { Err(Failed::NotDone(String::new())) } else { Ok(()) }
    });
    if is_enough { Ok(()) } else { read }
}

/// The condition in one mode.
struct Watch<'c> {
    condition: &'c Condition,
    livemode: bool,
    /// Only of a balance or a seller the book is derived.
    needs_book: bool,
    balance: Truths,
    shown: Option<(Balance, CopBalance, CryptoBalance)>,
    /// What each seller has, pending and available, in cents; and all of them together.
    sellers: HashMap<Id, (i64, i64)>,
    together: (i64, i64),
    merchants: HashMap<Id, Arc<Entity>>,
    /// Of payments, payouts and sellers.
    entities: [Counted; 3],
    holds: bool,
}

/// How many entities there are of each combination of truths.
#[derive(Default)]
struct Counted {
    of: HashMap<EntityId, Truths>,
    count: HashMap<Truths, u64>,
}

impl Counted {
    /// Whether there is another combination now, or one less.
    fn set(&mut self, id: EntityId, truths: Option<Truths>) -> bool {
        let before = match truths {
            Some(truths) => self.of.insert(id, truths),
            None => self.of.remove(&id),
        };
        if before == truths {
            return false;
        }
        let mut is_other = false;
        if let Some(truths) = truths {
            let count = self.count.entry(truths).or_default();
            *count += 1;
            is_other = *count == 1;
        }
        if let Some(before) = before
            && let Some(count) = self.count.get_mut(&before)
        {
            *count -= 1;
            if *count == 0 {
                self.count.remove(&before);
                is_other = true;
            }
        }
        is_other
    }
}

const fn place(subject: Subject) -> Option<usize> {
    match subject {
        Subject::Balance => None,
        Subject::Payment => Some(0),
        Subject::Payout => Some(1),
        Subject::Seller => Some(2),
    }
}

impl<'c> Watch<'c> {
    fn new(condition: &'c Condition, key: u64) -> Watch<'c> {
        let mut watch = Watch {
            condition,
            livemode: is_live(key),
            needs_book: condition.is_about(Subject::Balance) || condition.is_about(Subject::Seller),
            balance: Truths::default(),
            shown: None,
            sellers: HashMap::new(),
            together: (0, 0),
            merchants: HashMap::new(),
            entities: Default::default(),
            holds: false,
        };
        watch.look_at_balance(&Book::default());
        watch.holds = watch.truth();
        watch
    }

    fn apply(&mut self, books: &mut Books, stored: &wal::Record) -> Result<Record, Failed> {
        if !self.needs_book {
            let record: Record = codec::decode(&stored.payload)
                .map_err(|error| Damage { seq: stored.seq, detail: error.to_string() })?;
            if self.look_at_entities(&record) {
                self.holds = self.truth();
            }
            return Ok(record);
        }
        let mut touched = BTreeSet::new();
        if let Some(AnyBook::Tenant(book)) = books.get(stored.tenant) {
            let now = Timestamp::from_unix_ms(stored.time_ms);
            touched.extend(book.seller_releases.iter().take_while(|(at, _)| *at <= now).map(|(_, id)| *id));
        }
        let record = books.apply(stored)?;
        let Some(AnyBook::Tenant(book)) = books.get(stored.tenant) else { return Ok(record) };
        let mut is_other = self.look_at_entities(&record);
        touched.extend(sellers_of(&record));
        for seller in touched {
            is_other |= self.look_at_seller(book, seller);
        }
        is_other |= self.look_at_balance(book);
        if is_other {
            self.holds = self.truth();
        }
        Ok(record)
    }

    fn look_at_entities(&mut self, record: &Record) -> bool {
        let mut is_other = false;
        if record.cause == Cause::TestReset {
            (self.entities, self.merchants) = Default::default();
            (self.sellers, self.together) = Default::default();
            is_other = true;
        }
        let needed = |kind: Kind| match kind {
            Kind::Payment | Kind::CopPayment => self.condition.is_about(Subject::Payment),
            Kind::Payout | Kind::CryptoPayout | Kind::CopPayout => self.condition.is_about(Subject::Payout),
            _ => false,
        };
        for written in &record.entities {
            let id = written.state.id();
            if id.kind == Kind::Merchant && self.condition.is_about(Subject::Seller) {
                self.merchants.insert(id.id, Arc::clone(&written.state));
            }
            if !needed(id.kind) {
                continue;
            }
            let Some((subject, shown)) = Subject::shown(&written.state) else { continue };
            let Some(place) = place(subject) else { continue };
            let truths = self.truths(subject, &[(None, &shown)]);
            is_other |= self.entities[place].set(id, Some(truths));
        }
        for (id, _) in &record.removed {
            self.merchants.remove(&id.id);
            for entities in &mut self.entities {
                is_other |= entities.set(*id, None);
            }
        }
        is_other
    }

    /// The truths of what these show together; of a balance each shows members of its own.
    fn truths(&self, subject: Subject, shown: &[(Option<usize>, &[u8])]) -> Truths {
        let members = self.condition.members();
        let mut values: Vec<Option<Cow<'_, str>>> = vec![None; members.len()];
        for (source, shown) in shown {
            let place_of = |name: &str| {
                let is_meant = |member: &Member| {
                    member.subject == subject
                        && member.name == name
                        && source.is_none_or(|source| member.place == source)
                };
                members.iter().position(is_meant)
            };
            pick(shown, &place_of, &mut values);
        }
        self.condition.truths(subject, &values)
    }

    fn look_at_seller(&mut self, book: &Book, seller: Id) -> bool {
        let account = book.sellers.get(&seller).map(|seller| seller.account(Currency::Ves));
        let is = account.map(|account| (account.held, account.free()));
        let was = match is {
            Some(is) => self.sellers.insert(seller, is),
            None => self.sellers.remove(&seller),
        };
        let ((held, free), (held_before, free_before)) = (is.unwrap_or_default(), was.unwrap_or_default());
        self.together.0 += held - held_before;
        self.together.1 += free - free_before;
        if !self.condition.is_about(Subject::Seller) {
            return false;
        }
        let balance =
            sellers::balance(book, seller).map(|balance| shown::show_seller(&balance, self.livemode));
        let merchant = self.merchants.get(&seller).and_then(|merchant| api::entity::show(merchant));
        let parts: Vec<(Option<usize>, &[u8])> =
            [&merchant, &balance].into_iter().flatten().map(|shown| (None, shown.as_slice())).collect();
        let truths = (!parts.is_empty()).then(|| self.truths(Subject::Seller, &parts));
        self.entities[2].set(EntityId::merchant(seller), truths)
    }

    fn look_at_balance(&mut self, book: &Book) -> bool {
        if !self.condition.is_about(Subject::Balance) {
            return false;
        }
        let now = (balance_with(book, self.together), cop_balance(book), usdt_balance(book));
        if self.shown == Some(now) {
            return false;
        }
        self.shown = Some(now);
        let needs = |place: usize| {
            let is = |member: &Member| member.subject == Subject::Balance && member.place == place;
            self.condition.members().iter().any(is)
        };
        let mut shown: [Vec<u8>; 3] = Default::default();
        if needs(0) {
            shown[0] = shown::show(&now.0, self.livemode);
        }
        if needs(1) {
            shown[1] = shown::show_cop(&now.1, self.livemode);
        }
        if needs(2) {
            shown[2] = crypto::show_balance(&now.2, self.livemode);
        }
        let parts: Vec<(Option<usize>, &[u8])> =
            shown.iter().enumerate().map(|(n, shown)| (Some(n), shown.as_slice())).collect();
        let truths = self.truths(Subject::Balance, &parts);
        std::mem::replace(&mut self.balance, truths) != truths
    }

    /// Of any payment, any payout and any seller, or none, as a condition may hold without any.
    fn truth(&self) -> bool {
        let [payments, payouts, sellers] = self
            .entities
            .each_ref()
            .map(|entities| entities.count.keys().copied().chain([Truths::default()]).collect::<Vec<_>>());
        payments.iter().any(|payment| {
            payouts.iter().any(|payout| {
                let both = self.balance.and_of(*payment).and_of(*payout);
                sellers.iter().any(|seller| self.condition.holds(both.and_of(*seller)))
            })
        })
    }
}

fn sellers_of(record: &Record) -> impl Iterator<Item = Id> + '_ {
    let ledgers = record.postings.iter().map(|posting| posting.ledger);
    let ledgers = ledgers.chain(record.holds.iter().map(|hold| hold.ledger));
    let moved = ledgers.filter_map(|ledger| if let Ledger::Seller(id) = ledger { Some(id) } else { None });
    let written = record.entities.iter().map(|written| written.state.id());
    let changed = written.chain(record.removed.iter().map(|(id, _)| *id));
    moved.chain(changed.filter(|id| id.kind == Kind::Merchant).map(|id| id.id))
}
