//! The keys of the index, and the entries of a record. One entry per entity, name, list facet,
//! movement type, block of events and day that is over: each costs about 2 µs, so there are no others.
//!
//! The writing of an entry belongs here. What an entity is found by does not: each resource says
//! that (`entities/`). No rule about money is here.
//!
//! Every key starts with the tenant key (4 bytes, big endian), then a letter:
//!
//! | letter | then | value | what |
//! |---|---|---|---|
//! | `e` | kind, id | sequence | the record with an entity's newest state |
//! | `r` | space, reference | id | what a tenant's reference names, of payments the newest attempt; which payment a transfer paid |
//! | `r` | under the platform's key: space, name | differs | what is found among all tenants: ids, slugs, notices, payers, payments that wait for a notice |
//! | `l` | kind, facet, id | | lists of entities, by facet; ids sort by time |
//! | `m` | ledger, type, time, sequence | | movements of a ledger, by type; type 0 marks records that change a balance without a movement of its tenant. The USDT of a conversion are found by what was paid for them |
//! | `v` | event number | sequence | the record with this event and those after it |
//! | `k` | hash of the key, hash of the path | sequence | the record that keeps an answer; of operators under the platform's key, and with a byte for the mode that it is about. It is taken out when the answer has expired |
//! | `o` | 1, sequence | | under the platform's key, the records by which banks contradicted themselves |
//! | `q` | what it is, hash of a text, tenant key, id, kind | of deposits the sequence | under the platform's key, what has a text that is searched for ([`found_by`]) |
//! | `a` | which, whose, time, sequence | | under the platform's key, the entries of the audit: all of them, those of an operator, about a tenant, of an action |
//! | `d` | endpoint, delivery | sequence | the record with the outcome of a delivery; names of deliveries sort as they became due |
//! | `t` | account, date | the day | a day of an account that is over (`ledger/days.rs`) |
//! | `g` | | event number | of a book that began anew, the event with which it did. Its record removed every entry of the tenant's but those of customers' deposit addresses |
//!
//! Under the platform's key, `l` with the kind of webhook endpoints and facet 0 lists those of all
//! tenants: the tenant key (8 bytes), then the id.

use crate::bank_names::Owner;
use crate::ledger::Ledger;
use crate::values::ids::{EntityId, Id, Kind, PLATFORM, is_live};
use crate::values::money::Currency;
use crate::values::time::{Date, Timestamp};
use crate::values::venezuela::{IdentityDocument, MobilePhone};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use wal::IndexOps;

/// The kinds of names, each with a space of its own per tenant and mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Space {
    Payment = 1,
    Payout = 2,
    Merchant = 3,
    /// The operator's adjustments; the value is a sequence.
    Adjustment = 4,
    Batch = 5,
    /// Transfers that pay for something, by bank, day and reference; the value is the payment.
    Transfer = 16,
    /// Chargebacks of all tenants, under the platform's key; the value is the tenant key.
    Chargeback = 17,
    /// The tenant's own payout account, which has no reference.
    OwnAccount = 6,
    /// Slugs of payment links, under the platform's key; the value is the tenant key and the link.
    Slug = 12,
    /// Payments by C2P for a checkout session, by the session's id; the value names the newest.
    Checkout = 13,
    /// USDT paid for a checkout session, by the session's id; the value is the entity of its
    /// addresses.
    CheckoutUsdt = 15,
    /// Payments in pesos for a checkout session, by the session's id; the value names the newest.
    CheckoutCop = 18,
    /// Checkout sessions of all tenants, under the platform's key; the value is the tenant key.
    Session = 14,
    /// USDT payouts. Under the platform's key their ids, whose value is the tenant key.
    CryptoPayout = 7,
    DepositAddress = 8,
    DepositTo = 9,
    /// The operator's payouts of pesos. Under the platform's key their ids, as operators settle a
    /// payout by its id alone; the value is the tenant key.
    CopPayout = 10,
    /// Nonces that transactions of hot wallets have taken, under the platform's key: chain, wallet
    /// and nonce; the value is the USDT payout.
    WalletNonce = 24,
    /// The progress of the search for deposits, under the platform's key: network and chain; the
    /// value is the sequence of the newest record that says so.
    SearchedBlocks = 25,
    /// Deposits of live mode that were credited, by their entries in a network's log; and the blocks of their
    /// transactions.
    Deposit = 26,
    /// Notices, under the platform's key: the traits of a transfer, then its reference.
    Notice = 19,
    /// Payments whose transfer has not been noticed yet, under the platform's key: the traits of the
    /// transfer, the tenant key and the id. The value is both.
    AwaitedNotice = 20,
    /// The numbers of documents of live payers, under the platform's key.
    Payer = 21,
    /// Live payments in pesos of all tenants, by id, under the platform's key; the value is the
    /// tenant key.
    CopPayment = 22,
    /// Approvals under which something was done, under the platform's key; the value is the sequence of
    /// the record in which it was.
    Approved = 27,
    /// Orders that the simulated bank of a cluster decided about, under the platform's key, by the
    /// operation's id; the value is what it decided.
    Fate = 28,
    /// Records of a cluster with samples of rates, under the platform's key: the instant at which the
    /// newest of them was taken; the record's sequence follows.
    Sampled = 29,
    /// Places of rates that were pinned in a cluster, under the platform's key; the value is the
    /// sequence of the newest record about the place.
    Pinned = 30,
    /// Micro-deposits that a bank made, by their operation, whose id sorts as they were sent; the value is
    /// the sequence of the newest record whose entity tells of them. A method that is started again or
    /// deleted tells no more.
    MicroDeposits = 31,
    /// Starts of verifications: bank, phone and operation, whose id sorts as they were made. In live mode
    /// under the platform's key, as all tenants start the same phone.
    DepositStart = 32,
    /// References of transfers that live payments looked for and have not found, under the platform's key:
    /// bank, day, phone, whether it is still waited for, and reference; the value is the newest payment that
    /// looked for it.
    TransferGuess = 33,
    /// The names that banks gave live orders, under the platform's key: ids, and references by call and
    /// day; the value is the operation and whose it is (`bank_names.rs`).
    BankName = 37,
    /// Micro-deposits that were ordered, by their operation, under the platform's key; the value is the
    /// tenant key and the entity, which may tell of them no more.
    DepositOrder = 38,
    /// Payments of other partitions that claim no notice any more, under the platform's key; the value is the
    /// payment.
    EndedSearch = 39,
}

impl Space {
    /// The tenant key under which names of a tenant's record are: the platform's where they are among those
    /// of all tenants.
    pub const fn owner(self, tenant: u64) -> u64 {
        match self {
            Space::Slug => PLATFORM,
            // Test mode costs nobody anything, and its tenants have clocks of their own.
            Space::DepositStart if is_live(tenant) => PLATFORM,
            _ => tenant,
        }
    }
}

/// The part of a movement key that says whose ledger it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LedgerKey {
    Tenant(Currency),
    Seller(Id),
}

/// The movement type of records that change a balance without a movement on the tenant's ledger.
pub const OTHER: u8 = 0;

pub(crate) const OPERATORS: &str = "/admin/";

const KEPT: u8 = b'k';
/// The last byte of the index key of an operators' kept answer, by the mode that the call was
/// about.
const LIVE_MODE: u8 = 0;
const TEST_MODE: u8 = 1;
const NO_MODE: u8 = 2;

fn key(tenant: u64, letter: u8, parts: &[&[u8]]) -> Vec<u8> {
    let tenant = u32::try_from(tenant).unwrap_or(u32::MAX);
    let mut key = Vec::with_capacity(48);
    key.extend_from_slice(&tenant.to_be_bytes());
    key.push(letter);
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}

/// The index key of an entity; its value is the sequence of the entity's newest record.
pub fn entity(tenant: u64, id: EntityId) -> Vec<u8> {
    key(tenant, b'e', &[&[id.kind as u8], id.id.as_bytes()])
}

pub fn name(tenant: u64, space: Space, name: &str) -> Vec<u8> {
    key(tenant, b'r', &[&[space as u8], name.as_bytes()])
}

/// The index key of micro-deposits that a bank made.
pub fn micro_deposits(tenant: u64, operation: Id) -> Vec<u8> {
    name(tenant, Space::MicroDeposits, &operation.to_string())
}

/// The operation that an entry of micro-deposits names.
pub fn micro_deposits_of(key: &[u8]) -> Option<Id> {
    Id::parse(std::str::from_utf8(key.get(6..)?).ok()?)
}

/// The space and the text of a key that names something among all tenants; `None` of any other key.
pub fn among_all(named: &[u8]) -> Option<(u8, &[u8])> {
    let rest = named.strip_prefix(key(PLATFORM, b'r', &[]).as_slice())?;
    rest.split_first().map(|(space, name)| (*space, name))
}

/// An instant in the names of [`Space::Sampled`]: as many digits for each, so that they sort.
pub fn sampled_at(unix_ms: i64) -> String {
    format!("{:020}", unix_ms.max(0))
}

/// The prefix of the list of a kind's entities with a facet. The entity's id follows; for
/// conversions, the instant at which it began and the number of those before it stand in between.
pub fn list(tenant: u64, kind: Kind, facet: u8) -> Vec<u8> {
    key(tenant, b'l', &[&[kind as u8, facet]])
}

/// The prefix of the movements of a ledger of a type; time and sequence follow, 8 bytes each, big
/// endian.
pub fn movements(tenant: u64, ledger: LedgerKey, kind: u8) -> Vec<u8> {
    match ledger {
        LedgerKey::Tenant(currency) => key(tenant, b'm', &[&[currency as u8, kind]]),
        LedgerKey::Seller(merchant) => key(tenant, b'm', &[&[0xFF], merchant.as_bytes(), &[kind]]),
    }
}

/// The values of days alone are stored values, with a version of the format in front.
pub(crate) const DAYS: u8 = b't';

/// The prefix of the days of an account that are over; the date follows, 4 bytes, as
/// [`day_bytes`] has it.
pub fn days(tenant: u64, ledger: Ledger, currency: Currency) -> Vec<u8> {
    let (kind, seller) = match &ledger {
        Ledger::Tenant => (1, None),
        Ledger::Seller(merchant) => (2, Some(merchant)),
        Ledger::Fees => (3, None),
        Ledger::Rail => (4, None),
        Ledger::Operator => (5, None),
        Ledger::Exchange => (6, None),
    };
    key(tenant, DAYS, &[&[currency as u8, kind], seller.map_or(&[], |seller| seller.as_bytes().as_slice())])
}

/// A date as key bytes that sort in its order.
pub fn day_bytes(date: Date) -> [u8; 4] {
    ((date.days() ^ i32::MIN) as u32).to_be_bytes()
}

/// The index key of the event with which a book began anew; the value is its number, 8 bytes big endian.
pub fn begun_at(tenant: u64) -> Vec<u8> {
    key(tenant, b'g', &[])
}

/// The ranges of a tenant's keys that a book which begins anew leaves: all but those of customers' deposit
/// addresses.
pub(crate) fn left(tenant: u64) -> [(Vec<u8>, Vec<u8>); 3] {
    let at = |letter, kind: u8| key(tenant, letter, &[&[kind]]);
    let (address, names) = (Kind::DepositAddress as u8, Space::DepositAddress as u8);
    debug_assert_eq!(names + 1, Space::DepositTo as u8, "the names of addresses are side by side");
    [
        (key(tenant, 0, &[]), at(b'e', address)),
        (at(b'e', address + 1), at(b'r', names)),
        (at(b'r', names + 2), key(tenant + 1, 0, &[])),
    ]
}

/// The index key of an event that is the first in its record; the value is the record's sequence.
pub fn event(tenant: u64, number: u64) -> Vec<u8> {
    key(tenant, b'v', &[&number.to_be_bytes()])
}

/// The end of the events' keys: past the largest number.
pub fn events_end(tenant: u64) -> Vec<u8> {
    key(tenant, b'v' + 1, &[])
}

/// The prefix of the uses of an Idempotency-Key; the hash of the path follows.
pub fn kept(tenant: u64, idempotency_key: &str) -> Vec<u8> {
    key(tenant, KEPT, &[&short_hash(idempotency_key)])
}

/// The index key of the answer to an Idempotency-Key on a path.
pub fn kept_on(tenant: u64, idempotency_key: &str, path: &str) -> Vec<u8> {
    key(tenant, KEPT, &[&short_hash(idempotency_key), &short_hash(path)])
}

/// The index key of the answer to an operator's call, under the platform's key whichever the
/// tenant: neither the tenant nor the mode is known before the body is read, and no tenant sees
/// these.
pub(crate) fn kept_of_operator(tenant: u64, idempotency_key: &str, path: &str) -> Vec<u8> {
    let mut key = kept_on(PLATFORM, idempotency_key, path);
    key.push(match tenant {
        PLATFORM => NO_MODE,
        tenant if is_live(tenant) => LIVE_MODE,
        _ => TEST_MODE,
    });
    key
}

/// The prefix of the records, of all tenants, in which a bank contradicted itself about an
/// operation; the sequence of the record follows.
pub fn contradicted() -> Vec<u8> {
    key(PLATFORM, b'o', &[&[1]])
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditList<'a> {
    All,
    /// The entries of an operator; `None` is `root`.
    Operator(Option<Id>),
    Tenant(Id),
    Action(&'a str),
}

/// The prefix of a list of the audit; time and sequence follow, 8 bytes each, big endian.
pub fn audit(list: AuditList<'_>) -> Vec<u8> {
    let (list, of) = match list {
        AuditList::All => return key(PLATFORM, b'a', &[&[0]]),
        AuditList::Operator(id) => (1, *id.unwrap_or(Id::from_bytes([0; 16])).as_bytes()),
        AuditList::Tenant(id) => (2, *id.as_bytes()),
        AuditList::Action(action) => (3, short_hash(action)),
    };
    key(PLATFORM, b'a', &[&[list], &of])
}

/// The bounds of the keys of a tenant's kept answers: the first is part of the range, the second is
/// not.
pub fn kept_of(tenant: u64) -> (Vec<u8>, Vec<u8>) {
    (key(tenant, KEPT, &[]), key(tenant, KEPT + 1, &[]))
}

/// Whether an operators' entry is of a call about test mode, whose records bear the time of a test
/// clock.
pub fn is_of_test_clock(key: &[u8]) -> bool {
    key.last() == Some(&TEST_MODE)
}

/// The tenant key of an entry that names a kept answer; `None` for any other entry.
pub fn keeper(key: &[u8]) -> Option<u64> {
    match key {
        [a, b, c, d, KEPT, ..] => Some(u32::from_be_bytes([*a, *b, *c, *d]).into()),
        _ => None,
    }
}

pub(crate) fn short_hash(text: &str) -> [u8; 16] {
    let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let (short, _) = hash.split_at(16);
    short.try_into().unwrap_or([0; 16])
}

/// The prefix of the outcomes of an endpoint's deliveries; the delivery's id follows.
pub fn deliveries(tenant: u64, webhook: Id) -> Vec<u8> {
    key(tenant, b'd', &[webhook.as_bytes()])
}

/// The endpoint and the delivery that the key of an outcome names.
pub fn delivery(key: &[u8]) -> Option<(Id, Id)> {
    let (webhook, delivery) = key.get(5..)?.split_first_chunk::<16>()?;
    Some((Id::from_bytes(*webhook), Id::from_bytes(delivery.try_into().ok()?)))
}

/// The prefix of the list of all tenants' webhook endpoints; the tenant key (8 bytes, big endian)
/// and the id follow.
pub fn webhooks() -> Vec<u8> {
    list(PLATFORM, Kind::Webhook, 0)
}

pub(crate) fn webhook(tenant: u64, id: Id) -> Vec<u8> {
    [webhooks().as_slice(), &tenant.to_be_bytes(), id.as_bytes()].concat()
}

/// A time as key bytes that sort in its order: milliseconds since 1970, big endian.
pub fn time_bytes(time: Timestamp) -> [u8; 8] {
    u64::try_from(time.unix_ms()).unwrap_or(0).to_be_bytes()
}

// What a search looks into: what is known of an entity besides its id and its names, such as a bank's reference
// or a payer's document. An entry is the platform's, so that operators find it among all tenants, and holds the
// tenant key behind the text, so that a tenant finds its own by one seek. The text is a short hash, of documents and
// phones under the server's key: the index tells nobody who paid. An entry says where to look, not what is there:
// whoever reads it compares with the entity, which may have changed, gone, or have another text of the same hash.

const SEARCH: u8 = b'q';
/// The byte of a deposit in USDT, which is no entity.
const DEPOSIT: u8 = 0xFF;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Trait {
    /// The reference of a bank or of a processor.
    BankReference = 1,
    /// The tenant's reference, which need not be unique: of checkout sessions and their payments,
    /// of payments in pesos, of conversions.
    Reference = 2,
    /// The hash of a transaction on a network.
    TxHash = 3,
    /// The identity document of a payer or a seller.
    Document = 4,
    Phone = 5,
    /// The id of a part of something: of a deposit in USDT, or of a seller's payout method.
    PartId = 6,
}

/// The server's key for what is found by a person's document or phone; without it, which is how
/// rules are tested, nothing is found by these.
#[derive(Clone, Default)]
pub struct PersonMarks(Option<Hmac<Sha256>>);

impl PersonMarks {
    pub fn under(key: &[u8]) -> PersonMarks {
        PersonMarks(Hmac::new_from_slice(key).ok())
    }

    pub const fn is_some(&self) -> bool {
        self.0.is_some()
    }
}

/// The prefix of what has a text, of all tenants; the tenant key (4 bytes), the id and its kind
/// follow. `None` for a person's where there is no key.
pub fn found_by(marks: &PersonMarks, by: Trait, text: &str) -> Option<Vec<u8>> {
    let hash: [u8; 8] = if matches!(by, Trait::Document | Trait::Phone) {
        let mac = marks.0.clone()?.chain_update(b"found by").chain_update(text.as_bytes());
        mac.finalize().into_bytes().first_chunk().copied()?
    } else {
        *Sha256::digest(text.as_bytes()).first_chunk()?
    };
    Some(key(PLATFORM, SEARCH, &[&[by as u8], &hash]))
}

/// The prefix of what has a text within a tenant key; the id and its kind follow.
pub fn found_within(found_by: &[u8], tenant: u64) -> Vec<u8> {
    let tenant = u32::try_from(tenant).unwrap_or(u32::MAX);
    [found_by, &tenant.to_be_bytes()].concat()
}

/// The tenant key of an entry behind the prefix of its text.
pub fn finder(suffix: &[u8]) -> Option<u64> {
    suffix.first_chunk::<4>().map(|tenant| u32::from_be_bytes(*tenant).into())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Entity(EntityId),
    /// A deposit in USDT; the value of its entry is the record.
    Deposit(Id),
}

pub fn found(suffix: &[u8]) -> Option<Found> {
    let (id, kind) = suffix.split_first_chunk::<16>()?;
    let id = Id::from_bytes(*id);
    match kind {
        [DEPOSIT] => Some(Found::Deposit(id)),
        [kind] => Kind::from_byte(*kind).map(|kind| Found::Entity(EntityId { kind, id })),
        _ => None,
    }
}

/// The key of a deposit that has a text.
pub(crate) fn of_deposit(found_by: &[u8], tenant: u64, deposit: Id) -> Vec<u8> {
    [found_within(found_by, tenant).as_slice(), deposit.as_bytes(), &[DEPOSIT]].concat()
}

/// A transaction's hash as it is searched for: networks write it in either case.
pub fn searched_hash(tx_hash: &str) -> String {
    tx_hash.to_ascii_lowercase()
}

/// Whether an entry is about a person, so that only who has the key can tell that it belongs there.
pub fn is_personal(key: &[u8]) -> bool {
    let personal = [Trait::Document as u8, Trait::Phone as u8];
    matches!(key, [_, _, _, _, SEARCH, by, ..] if personal.contains(by))
}

/// The entries of one entity, in the making.
pub struct Entries<'a> {
    pub(crate) tenant: u64,
    pub(crate) id: EntityId,
    pub(crate) marks: &'a PersonMarks,
    pub(crate) ops: &'a mut IndexOps,
}

impl Entries<'_> {
    /// A name of the tenant's that leads to the entity.
    pub fn name(&mut self, space: Space, text: &str) {
        self.ops.put(&name(self.tenant, space, text), self.id.id.as_bytes());
    }

    /// A name of the tenant's that is free again.
    pub fn free(&mut self, space: Space, text: &str) {
        self.ops.delete(&name(self.tenant, space, text));
    }

    /// The entity's id among those of all tenants; it leads to the tenant.
    pub fn id_among_all(&mut self, space: Space) {
        let key = name(PLATFORM, space, &self.id.id.to_string());
        self.ops.put(&key, &self.tenant.to_be_bytes());
    }

    /// A name among those of all tenants; it leads to the entity.
    pub fn name_among_all(&mut self, space: Space, text: &str) {
        self.ops.put(&name(PLATFORM, space, text), self.id.id.as_bytes());
    }

    pub fn free_among_all(&mut self, space: Space, text: &str) {
        self.ops.delete(&name(PLATFORM, space, text));
    }

    /// A name where names of its space are: the tenant's own, or among those of all tenants.
    pub fn name_in(&mut self, space: Space, text: &str) {
        self.ops.put(&name(space.owner(self.tenant), space, text), self.id.id.as_bytes());
    }

    /// The slug of a payment link among those of all tenants; it leads to the tenant and the link.
    pub fn slug(&mut self, slug: &str, link: Id) {
        let value = [self.tenant.to_be_bytes().as_slice(), link.as_bytes()].concat();
        self.ops.put(&name(PLATFORM, Space::Slug, slug), &value);
    }

    /// The document of a payer among those of all tenants.
    pub fn payer(&mut self, document: IdentityDocument) {
        self.ops.put(&name(PLATFORM, Space::Payer, &document.number().to_string()), &[]);
    }

    /// Adds the payment, whose transfer has no notice yet, to those of all tenants that wait for
    /// one.
    pub fn await_notice(&mut self, prefix: &str) {
        let value = [self.tenant.to_be_bytes().as_slice(), self.id.id.as_bytes()].concat();
        self.ops.put(&self.awaited(prefix), &value);
    }

    /// Removes the payment from those that wait: its notice has come, or is no longer waited for.
    pub fn await_no_notice(&mut self, prefix: &str) {
        self.ops.delete(&self.awaited(prefix));
    }

    fn awaited(&self, prefix: &str) -> Vec<u8> {
        let text = format!("{prefix}{} {}", self.tenant, self.id.id);
        name(PLATFORM, Space::AwaitedNotice, &text)
    }

    /// A text by which the entity is searched for, if it has it.
    pub fn found_by(&mut self, by: Trait, text: Option<&str>) {
        let Some(text) = text else { return };
        let Some(prefix) = found_by(self.marks, by, text) else { return };
        let prefix = found_within(&prefix, self.tenant);
        self.ops.put(&[&prefix, self.id.id.as_bytes().as_slice(), &[self.id.kind as u8]].concat(), &[]);
    }

    /// A person by whose document and phone the entity is searched for.
    pub fn found_by_person(&mut self, document: Option<IdentityDocument>, phone: Option<MobilePhone>) {
        self.found_by(Trait::Document, document.map(|document| document.clear().to_string()).as_deref());
        self.found_by(Trait::Phone, phone.map(|phone| phone.clear().to_string()).as_deref());
    }

    /// A webhook endpoint among those of all tenants.
    pub fn endpoint(&mut self) {
        self.ops.put(&webhook(self.tenant, self.id.id), &[]);
    }

    /// Micro-deposits that were ordered for the entity.
    pub fn deposit_order(&mut self, operation: Id) {
        let value = [&self.tenant.to_be_bytes()[..], &[self.id.kind as u8], self.id.id.as_bytes()].concat();
        self.ops.put(&name(PLATFORM, Space::DepositOrder, &operation.to_string()), &value);
    }

    /// The names that a bank has given the orders of the entity by now.
    pub fn bank_names(&mut self, named: Vec<(Id, String)>) {
        let (tenant, entity) = (self.tenant, self.id);
        for (operation, text) in named {
            let owner = Owner { tenant, entity, operation };
            self.ops.put(&name(PLATFORM, Space::BankName, &text), &owner.to_bytes());
        }
    }

    /// Micro-deposits that the bank made for the entity.
    pub fn micro_deposits(&mut self, operation: Id) {
        self.ops.put_seq(&micro_deposits(self.tenant, operation));
    }

    /// The outcome of a delivery of the endpoint.
    pub fn delivery(&mut self, delivery: Id) {
        self.ops.put_seq(&key(self.tenant, b'd', &[self.id.id.as_bytes(), delivery.as_bytes()]));
    }
}
