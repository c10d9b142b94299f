//! The domain's machine, with every turn and every look at a book written down in the order in which
//! the books took them: what the model then judges, however many requests were under way at once.

use crate::bank::Bank;
use crate::life::Memory;
use crate::values::DISPUTED_MARK;
use actors::{Clock, Decision, Effects, Machine, Turn as Instant};
use api::refusals::problem;
use domain::codec::Undecodable;
use domain::entities::Entity;
use domain::entities::means::Means;
use domain::ledger::book::Book;
use domain::ledger::invariants::Breach;
use domain::machine::{AnyBook, Domain};
use domain::machine::{Command, KeyedCommand};
use domain::platform::mandate::Mandate;
use domain::rail::{Effect, Order, RailReply};
use domain::record::Record;
use domain::refusal::{MandateRefusal, Refusal};
use domain::resources::adjustments::Adjustment;
use domain::resources::chargebacks;
use domain::resources::chargebacks::Verdict as Decided;
use domain::resources::mandate_approvals::{Consent, Rejection};
use domain::resources::merchants;
use domain::resources::own_account;
use domain::resources::payments;
use domain::resources::payments::charge::{NewCharge, Price};
use domain::resources::payouts::batch;
use domain::resources::payouts::batch::NewItem;
use domain::resources::payouts::{NewPayout, Receiver};
use domain::values::ids::{EntityId, Id};
use domain::values::time::Date;
use domain::values::venezuela::MobilePhone;
use pasarela::outbox::Outbox;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use wal::{IndexOps, PAYLOAD_BYTES_MAX};

/// The method by which a payment is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    C2p,
    Card,
    /// A card whose holder disputes what it paid.
    Disputed,
    Debit,
    Transfer,
}

/// A payout as it was asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub id: Id,
    pub cents: i64,
    /// The reference, which a batch may name twice.
    pub reference: String,
    pub to: Paid,
}

/// The mandate under which a call was made, and how it stands to approval.
#[derive(Clone, Debug)]
pub struct Within {
    pub mandate: Arc<Mandate>,
    pub consent: Option<Said>,
}

/// The approval of a call.
#[derive(Clone, Copy, Debug)]
pub enum Said {
    /// The id that it has if it waits.
    Asks(Id),
    /// It was given; `was_decided` as whoever gives it has read it.
    Given { id: Id, was_decided: bool },
}

impl Within {
    fn of(command: &KeyedCommand) -> Option<Within> {
        let consent = command.consent.as_ref().map(|consent| match consent {
            Consent::Ask(asked) => Said::Asks(asked.id),
            Consent::Given(given) => {
                Said::Given { id: given.approval.id, was_decided: given.approval.decision.is_some() }
            }
        });
        command.mandate.clone().map(|mandate| Within { mandate, consent })
    }
}

/// A charge as it was asked for.
#[derive(Clone, Debug)]
pub struct Sought {
    pub id: Id,
    pub by: By,
    pub usd_cents: i64,
    pub seller: Option<(Id, u32)>,
    pub date: Option<Date>,
    pub reference: String,
    /// The attempt before it, as whoever asks has read it.
    pub before: Option<Id>,
}

impl Sought {
    fn of(new: &NewCharge) -> Option<Sought> {
        let (by, date) = match new.means {
            Means::Card { mark: DISPUTED_MARK, .. } => (By::Disputed, None),
            Means::Card { .. } => (By::Card, None),
            Means::Debit { .. } => (By::Debit, None),
            Means::Transfer { date, .. } => (By::Transfer, Some(date)),
            Means::C2p { .. } | Means::Usdt { .. } => return None,
        };
        let usd_cents = match new.price {
            Price::Usd(usd) => usd.minor(),
            Price::Ves { amount, .. } => amount.minor() / 200,
        };
        Some(Sought {
            id: new.id,
            by,
            usd_cents,
            seller: share(new.marketplace),
            date,
            reference: new.external_ref.to_string(),
            before: new.before.map(|before| before.id),
        })
    }
}

/// The receiver of a payout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paid {
    Merchant {
        id: Id,
        from_balance: bool,
    },
    Own,
    /// The one phone that is paid.
    Phone,
    Other,
}

/// The command of a turn, as far as the model knows of it.
#[derive(Clone, Debug)]
pub enum Asked {
    Adjust {
        minor: i64,
        merchant: Option<Id>,
        held: bool,
    },
    TenantSettings {
        version: u64,
        reserve: i64,
        payout_fee: i64,
        chargeback_fee: i64,
        hold_days: u32,
    },
    Charge(Sought),
    Intent {
        id: Id,
        usd_cents: i64,
        reference: String,
    },
    CancelIntent,
    MakeWay(Sought),
    Execute {
        seller: Option<(Id, u32)>,
    },
    Reverse,
    ChargeBack {
        id: Id,
        cents: Option<i64>,
    },
    Close {
        id: Id,
        won: bool,
    },
    Pay(Wanted),
    Batch {
        id: Id,
        items: Vec<Wanted>,
    },
    /// A call that waits for an approval will not be done.
    RejectWaiting {
        id: Id,
        was_decided: bool,
    },
    Register {
        id: Id,
    },
    AddMethod,
    Prove {
        method: Id,
    },
    Proved {
        method: Id,
    },
    SetDefault(Id),
    DeleteMethod(Id),
    Switch(bool),
    Delete,
    SetOwn {
        phone: MobilePhone,
    },
    /// `phone` is the account's, as whoever asks has read it.
    ProveOwn {
        phone: MobilePhone,
    },
    ProvedOwn,
    RailReply(RailReply),
    Deadline,
    MoveClock,
    /// A command that the model knows nothing of.
    Other,
}

fn share(marketplace: Option<(Id, domain::values::money::Rate)>) -> Option<(Id, u32)> {
    let ten_thousandths = |rate: domain::values::money::Rate| {
        u32::try_from((rate.0 * rust_decimal::Decimal::from(10_000)).mantissa() / scale(rate))
            .expect("a percentage")
    };
    marketplace.map(|(seller, percent)| (seller, ten_thousandths(percent)))
}

fn scale(rate: domain::values::money::Rate) -> i128 {
    10_i128.pow((rate.0 * rust_decimal::Decimal::from(10_000)).scale())
}

impl Wanted {
    fn of(new: &NewPayout) -> Wanted {
        let to = match new.receiver {
            Receiver::Merchant { merchant, from_balance, .. } => {
                Paid::Merchant { id: merchant, from_balance }
            }
            Receiver::Own => Paid::Own,
            Receiver::Credit(_) => Paid::Phone,
            _ => Paid::Other,
        };
        let reference = String::from(&*new.external_ref);
        Wanted { id: new.id, cents: new.amount.minor(), reference, to }
    }
}

impl Asked {
    fn of(command: &Command) -> Asked {
        match command {
            Command::Adjust(ask) => {
                let Adjustment { minor, merchant, held, .. } = **ask;
                Asked::Adjust { minor, merchant, held }
            }
            Command::TenantSettings(tenant_settings) => Asked::TenantSettings {
                version: tenant_settings.version,
                reserve: tenant_settings.settings.reserve.minor(),
                payout_fee: tenant_settings.settings.fees.payout.minor(),
                chargeback_fee: tenant_settings.settings.fees.chargeback.minor(),
                hold_days: tenant_settings.settings.seller_hold_business_days,
            },
            Command::Payments(payments::Command::Charge(new)) => {
                Sought::of(new).map_or(Asked::Other, Asked::Charge)
            }
            Command::Payments(payments::Command::RequestC2p(new)) => Asked::Intent {
                id: new.id,
                usd_cents: new.figured.usd.minor(),
                reference: new.external_ref.to_string(),
            },
            Command::Payments(payments::Command::ExecuteC2p(ask)) => {
                Asked::Execute { seller: share(ask.marketplace) }
            }
            Command::Payments(payments::Command::CancelIntent) => Asked::CancelIntent,
            Command::Payments(payments::Command::MakeWay(new)) => {
                Sought::of(new).map_or(Asked::Other, Asked::MakeWay)
            }
            Command::Payments(payments::Command::Reverse) => Asked::Reverse,
            Command::Chargebacks(chargebacks::Command::Open(new)) => {
                Asked::ChargeBack { id: new.id, cents: new.amount.map(|amount| amount.minor()) }
            }
            Command::Chargebacks(chargebacks::Command::Close(id, verdict)) => {
                Asked::Close { id: *id, won: *verdict == Decided::Won }
            }
            Command::Payouts(new) => Asked::Pay(Wanted::of(new)),
            Command::Batches(batch::Command::Pay(new)) => {
                let sound = |item: &NewItem| match item {
                    NewItem::Sound(new) => Some(Wanted::of(new)),
                    NewItem::Bad { .. } => None,
                };
                Asked::Batch { id: new.id, items: new.items.iter().filter_map(sound).collect() }
            }
            Command::RejectWaiting(Rejection { approval, .. }) => {
                Asked::RejectWaiting { id: approval.id, was_decided: approval.decision.is_some() }
            }
            Command::Merchants(merchants::Command::Register(new)) => Asked::Register { id: new.id },
            Command::Merchants(merchants::Command::AddMethod(..)) => Asked::AddMethod,
            Command::Merchants(merchants::Command::StartVerification { method, .. }) => {
                Asked::Prove { method: *method }
            }
            Command::Merchants(merchants::Command::Verify { method, .. }) => {
                Asked::Proved { method: *method }
            }
            Command::Merchants(merchants::Command::SetDefaultMethod(method)) => Asked::SetDefault(*method),
            Command::Merchants(merchants::Command::DeleteMethod(method)) => Asked::DeleteMethod(*method),
            Command::Merchants(merchants::Command::SetActive(active)) => Asked::Switch(*active),
            Command::Merchants(merchants::Command::Delete) => Asked::Delete,
            Command::OwnAccount(own_account::Command::Set(held)) => Asked::SetOwn { phone: held.phone },
            Command::OwnAccount(own_account::Command::StartVerification(start)) => {
                Asked::ProveOwn { phone: start.phone.phone }
            }
            Command::OwnAccount(own_account::Command::Verify(_)) => Asked::ProvedOwn,
            Command::RailReply(heard) => Asked::RailReply(heard.clone()),
            Command::Deadline => Asked::Deadline,
            Command::MoveClock => Asked::MoveClock,
            _ => Asked::Other,
        }
    }
}

/// A turn of a book.
#[derive(Clone)]
pub struct Turn {
    pub tenant: u64,
    pub now: i64,
    /// The entity as it was before, if there was one.
    pub entity: Option<EntityId>,
    pub asked: Asked,
    pub within: Option<Within>,
    /// The code of the refusal.
    pub refusal: Option<&'static str>,
    pub record: Option<Arc<Record>>,
}

/// An observation of a book: what it did or showed.
#[derive(Clone)]
pub enum Seen {
    Turn(Turn),
    View { tenant: u64, now: i64, book: Box<Book> },
}

/// The diary: everything that was seen since it was last taken.
#[derive(Clone, Default)]
pub struct Diary(Arc<Mutex<Vec<Seen>>>);

impl Diary {
    fn note(&self, seen: Seen) {
        self.0.lock().expect("nobody panics with it").push(seen);
    }

    pub fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics with it"))
    }
}

/// Changes what the rules see of a book and of a command, which the judges see as they are.
pub type Bend = fn(&mut AnyBook, &mut KeyedCommand);

/// The machine, and where it writes down what it sees.
pub struct Witness {
    pub domain: Domain,
    pub diary: Diary,
    /// A fault that is planted in what is decided, to see that it is noticed.
    pub plant: fn(&mut Record),
    /// A fault that is planted in what is decided upon.
    pub bend: Option<Bend>,
}

impl Machine for Witness {
    type EntityId = EntityId;
    type Entity = Entity;
    type Book = AnyBook;
    type Command = KeyedCommand;
    type Record = Record;
    type Refusal = Refusal;
    type Effect = Effect;
    type Breach = Breach;
    type Undecodable = Undecodable;

    fn is_essential(&self, tenant: u64) -> bool {
        self.domain.is_essential(tenant)
    }

    fn empty(&self, tenant: u64) -> AnyBook {
        self.domain.empty(tenant)
    }

    fn settle(&self, book: &mut AnyBook, now_ms: i64) {
        self.domain.settle(book, now_ms);
    }

    fn decide(
        &self,
        book: &AnyBook,
        entity: Option<&Entity>,
        mut command: KeyedCommand,
        turn: Instant,
    ) -> Decision<Record, Refusal, Effect> {
        let (asked, within) = (Asked::of(&command.command), Within::of(&command));
        let bent = self.bend.map(|bend| {
            let mut book = book.clone();
            bend(&mut book, &mut command);
            book
        });
        let seen = bent.as_ref().unwrap_or(book);
        let Decision { mut record, refusal, effects } = self.domain.decide(seen, entity, command, turn);
        record.iter_mut().for_each(self.plant);
        // A record that is too large is not written, and its caller is told.
        let fits = |record: &Record| self.domain.encode(record).len() <= PAYLOAD_BYTES_MAX;
        if record.as_ref().is_none_or(fits) {
            self.diary.note(Seen::Turn(Turn {
                tenant: turn.tenant,
                now: turn.now_ms,
                entity: entity.map(Entity::id),
                asked,
                within,
                refusal: refusal.as_ref().map(|refusal| match refusal {
                    // It is answered 202.
                    Refusal::Mandate(MandateRefusal::Awaits { .. }) => "awaiting_approval",
                    refusal => problem(refusal).code,
                }),
                // A copy: what joins others is no longer a record of its own.
                record: record.clone().map(Arc::new),
            }));
        }
        Decision { record, refusal, effects }
    }

    fn evolve(&self, book: &mut AnyBook, record: &Record, time_ms: i64) {
        self.domain.evolve(book, record, time_ms);
    }

    fn check(&self, book: &AnyBook, record: &Record) -> Result<(), Breach> {
        self.domain.check(book, record)
    }

    fn entity_in(&self, record: &Record, id: EntityId) -> Option<Arc<Entity>> {
        self.domain.entity_in(record, id)
    }

    fn entities_in(&self, record: &Record) -> impl Iterator<Item = (EntityId, Arc<Entity>)> {
        self.domain.entities_in(record)
    }

    fn is_gone(&self, record: &Record, id: EntityId) -> bool {
        self.domain.is_gone(record, id)
    }

    fn effect_target(&self, effect: &Effect) -> EntityId {
        self.domain.effect_target(effect)
    }

    fn is_wanted(&self, target: Option<&Entity>, effect: &Effect) -> bool {
        self.domain.is_wanted(target, effect)
    }

    fn is_awaited(&self, book: &AnyBook, record: &Record) -> bool {
        self.domain.is_awaited(book, record)
    }

    fn may_join(&self, record: &Record) -> bool {
        self.domain.may_join(record)
    }

    fn join(&self, record: &mut Record, next: Record) {
        self.domain.join(record, next);
    }

    fn view(&self, tenant: u64, book: &AnyBook, now_ms: i64) -> AnyBook {
        if let AnyBook::Tenant(book) = book {
            self.diary.note(Seen::View { tenant, now: now_ms, book: book.clone() });
        }
        book.clone()
    }

    fn encode(&self, record: &Record) -> Vec<u8> {
        self.domain.encode(record)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Record, Undecodable> {
        self.domain.decode(bytes)
    }

    fn index(&self, tenant: u64, time_ms: i64, record: &Record, ops: &mut IndexOps) {
        self.domain.index(tenant, time_ms, record, ops);
    }

    fn entity_key(&self, tenant: u64, id: EntityId) -> Vec<u8> {
        self.domain.entity_key(tenant, id)
    }

    fn is_open(&self, entity: &Entity) -> bool {
        self.domain.is_open(entity)
    }

    fn is_large(&self, book: &AnyBook) -> bool {
        self.domain.is_large(book)
    }

    fn save(&self, book: &AnyBook) -> Vec<u8> {
        self.domain.save(book)
    }

    fn restore(&self, tenant: u64, bytes: &[u8]) -> Result<AnyBook, Undecodable> {
        self.domain.restore(tenant, bytes)
    }

    fn now_ms(&self, book: &AnyBook, wall_ms: i64) -> i64 {
        self.domain.now_ms(book, wall_ms)
    }

    fn wall_ms(&self, book: &AnyBook, tenant_ms: i64) -> i64 {
        self.domain.wall_ms(book, tenant_ms)
    }

    fn may_reach(&self, now_ms: i64) -> Result<(), Refusal> {
        self.domain.may_reach(now_ms)
    }

    fn next_due(&self, book: &AnyBook, skip: &dyn Fn(EntityId) -> bool) -> Option<(i64, EntityId)> {
        self.domain.next_due(book, skip)
    }

    fn deadline(&self, id: EntityId) -> KeyedCommand {
        self.domain.deadline(id)
    }
}

/// The outbox, for this machine.
pub struct Outside {
    pub outbox: Outbox,
    pub bank: Bank,
    pub memory: Arc<Mutex<Memory>>,
    pub clock: Clock,
}

impl Effects<Witness> for Outside {
    fn perform(&self, tenant: u64, effect: Effect) -> Pin<Box<dyn Future<Output = KeyedCommand> + Send>> {
        let Order::PriceUsdt { currency } = effect.order else {
            self.bank.expect(tenant, effect.entity, effect.operation);
            return self.outbox.perform(tenant, effect);
        };
        let (memory, now_ms) = (Arc::clone(&self.memory), self.clock.wall_ms());
        let priced = self.outbox.perform(tenant, effect);
        Box::pin(async move {
            let priced = priced.await;
            let mut memory = memory.lock().expect("nobody panics with the memory");
            let Command::Market(rate) = priced.command else { panic!("no price of {currency:?}") };
            memory.check_price(currency, rate, now_ms);
            priced
        })
    }

    fn durable(&self, tenant: u64, record: &Record) {
        self.outbox.durable(tenant, record);
    }
}
