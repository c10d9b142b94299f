//! The plan of a handler, for the one function that waits (`gateway/dispatch/doing.rs`). A handler
//! reads and checks a call and returns a plan; it does nothing itself.
//!
//! The verbs are few: an answer that is known, a read of what is durable, a question to the book,
//! and commands. A read that one endpoint alone needs is a function beside its handler, over
//! [`records`](crate::records). What takes more than one command is [`Work`].

use crate::entities::OfKind;
use crate::page::{ListOf, Page};
use crate::payments::card_tokens::CardToken;
use crate::problem::Problem;
use crate::query::{self, Query};
use crate::records::{self, Answered, Read, Records, RecordsNow, Unread};
use crate::search::Sought;
use crate::statements::Ask;
use domain::commands::Command;
use domain::index::Space;
use domain::platform::{ApiKey, Tenant, is_live};
use domain::rail::Service;
use domain::resources::banks::Catalogue;
use domain::resources::crypto::deposits::NewDepositAddress;
use domain::resources::payments::charge::NewCharge;
use domain::resources::payouts::batch::NewBatch;
use domain::resources::products::NewLink;
use domain::resources::rates::samples::Sample;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::money::{Currency, Rate, Usdt, Ves};
use domain::values::time::Timestamp;
use domain::view::{self, View};
use std::net::IpAddr;
use std::sync::Arc;
use url::Url;

/// The proof of a valid key; only authentication makes one.
#[derive(Clone)]
pub struct Caller {
    /// The tenant that the key belongs to.
    pub tenant: Arc<Tenant>,
    /// The key.
    pub key: Arc<ApiKey>,
    /// The tenant in the key's mode.
    pub tenant_key: u64,
}

impl Caller {
    /// Whether real money moves.
    pub fn livemode(&self) -> bool {
        is_live(self.tenant_key)
    }
}

/// The official rate of the dollar, and who says so.
pub struct Official {
    /// The central bank's, in force.
    pub bcv: Option<Arc<Sample>>,
    /// A bank's word on it.
    pub bank: BankRate,
}

/// A bank's statement of the official rate.
pub enum BankRate {
    /// No bank is configured.
    NotConfigured,
    /// A bank is configured and has given no rate lately.
    Unavailable,
    /// The bank's newest rate.
    Says(Arc<Sample>),
}

/// Rates and fees, as a handler may need them.
pub struct RatesInForce<'a> {
    /// The BCV rate in force.
    pub bcv_rate: &'a dyn Fn() -> Option<Rate>,
    /// The official rates of the dollar, for quotes.
    pub official: &'a dyn Fn() -> Official,
    /// The market's price of a USDT in this currency, if there is a fresh one.
    pub market_rate: &'a dyn Fn(Currency) -> Option<Rate>,
    /// The network fee of a USDT payout on each network, in the order of
    /// [`domain::resources::crypto::address::Network`].
    pub network_fees: &'a [Usdt; 4],
    /// The blocks after which a transfer on each network is final, in the same order; `None` where no
    /// node is configured.
    pub confirmations: &'a [Option<u64>; 4],
}

/// The input of a handler.
pub struct Call<'a> {
    /// The caller and its mode.
    pub caller: &'a Caller,
    /// A parameter of the path; it must name one of the route.
    pub path: &'a dyn Fn(&str) -> String,
    /// The query string, without its question mark.
    pub query: Option<&'a str>,
    /// The body.
    pub body: &'a [u8],
    /// The banks.
    pub banks: &'a Catalogue,
    /// Rates and fees, as they are now.
    pub prices: RatesInForce<'a>,
    /// Whether a rail has this done in the key's mode, now or later.
    pub serves: &'a dyn Fn(Service) -> bool,
    /// The server's clock.
    pub now: Timestamp,
    /// Makes an id for something new: later than every id of the tenant's before it.
    pub fresh_id: &'a dyn Fn() -> Id,
    /// Makes an id that says nothing, not even its time.
    pub random_id: &'a dyn Fn() -> Id,
    /// The amounts of a micro-deposit, should one be sent.
    pub micro_deposits: &'a dyn Fn() -> (Ves, Ves),
    /// The public URL of this server, without a slash at the end.
    pub base_url: &'a str,
    /// A keyed hash, for what may be recognised but not known.
    pub mark: &'a dyn Fn(&[&[u8]]) -> [u8; 16],
    /// A keyed hash of cards, under a key that no copy of the data has.
    pub card_mark: &'a dyn Fn(&[&[u8]]) -> [u8; 16],
    /// Whether webhooks may go to loopback and private addresses.
    pub private_targets: bool,
    /// The time for which the notice of a live transfer is waited for, in milliseconds.
    pub notice_wait_ms: i64,
}

impl Call<'_> {
    /// The id of something new.
    pub fn new_id(&self) -> Id {
        (self.fresh_id)()
    }

    /// The id of something new that is shown to whoever knows it.
    pub fn random_id(&self) -> Id {
        (self.random_id)()
    }

    /// Reads the query.
    pub fn asked<T, E>(&self, reader: impl FnOnce(Query<'_>) -> Result<T, E>) -> Result<T, E> {
        query::read(self.query, reader)
    }

    /// Reads the query of a list of the caller's, of this kind.
    pub fn listed<T, E>(
        &self,
        kind: &str,
        reader: impl FnOnce(Query<'_>, ListOf<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let list = ListOf { mark: self.mark, tenant_key: self.caller.tenant_key, kind };
        self.asked(|query| reader(query, list))
    }

    /// The id in the path, under this name; what is no UUID names nothing.
    pub fn id(&self, name: &str) -> Result<Id, Problem> {
        Id::parse(&(self.path)(name)).ok_or_else(Problem::not_found)
    }
}

/// The body of an answer to a question to the book, given whether real money moves.
pub type ShowView = fn(View, bool) -> Result<Vec<u8>, Problem>;

/// A search for the entity that a command is meant for.
pub type Find = Box<dyn FnOnce(&dyn Records) -> Result<EntityId, Unread> + Send>;

/// The work that a handler asks for.
pub enum Plan {
    /// The answer is known.
    Answer(u16, Vec<u8>),
    /// A read that is shown with status 200.
    Read(Read),
    /// The book is asked something, and its answer is shown with status 200.
    View(view::Query, ShowView),
    /// A command to the book itself.
    Book(Command),
    /// A command to an entity.
    Entity(EntityId, Command),
    /// A command to the entity that is found first.
    Found(Find, Command),
    /// A new entity without a reference.
    New(EntityId, Command),
    /// A new entity under a reference, unless the reference is known.
    Create {
        /// The space of its reference.
        space: Space,
        /// The reference that must be unique.
        name: String,
        /// The id of the entity, if it is new.
        id: EntityId,
        /// The command that creates it.
        ask: Command,
    },
    /// A plan that is carried out only if a condition holds. It is the only condition of a plan.
    If(Condition, Box<Plan>),
    /// Work that takes more than one command.
    Work(Work),
}

/// A condition that must hold before a plan is carried out.
pub enum Condition {
    /// The entity exists.
    Known(EntityId),
    /// A webhook may go to this address.
    MayReach(Url),
}

/// Work that takes more than one command, or more than the records: the gateway has a function for
/// each.
pub enum Work {
    /// The test clock moves by so many milliseconds.
    Advance(i64),
    /// The data of test mode begins anew.
    BeginAnew,
    /// The balance at an instant.
    BalanceAt(Timestamp),
    /// The days of an account.
    Statement(Ask),
    /// The receipt of a payment.
    Receipt {
        /// The payment.
        id: Id,
        /// The code of its language, if one was asked for.
        lang: Option<&'static str>,
        /// The media type, which the gateway weighs by what the caller accepts.
        form: &'static str,
    },
    /// A batch of payouts, unless its reference is known.
    Batch(Box<NewBatch>),
    /// A batch with its items as they are.
    ReadBatch(Id),
    /// A charge without an intent: a new attempt on its reference, or a repeat of the newest.
    Charge {
        /// The charge.
        new: Box<NewCharge>,
        /// The token of its card, if it came with one.
        token: Option<CardToken>,
    },
    /// The deposit address of a customer in live mode: a new one derives from the network's seed.
    OpenAddress {
        /// The name of the customer, network and asset.
        name: String,
        /// The address, if it is new, still without what it derives from.
        new: Box<NewDepositAddress>,
    },
    /// Micro-deposits are sent, unless their phone got too many.
    StartVerification {
        /// The merchant, or the tenant's own account.
        entity: EntityId,
        /// The payout method of the merchant.
        method: Option<Id>,
        /// The amounts.
        amounts: (Ves, Ves),
    },
    /// A new payment link of a product, under the first slug that is free.
    AddLink {
        /// The product.
        product: EntityId,
        /// The slug that was asked for; without one it is made from the product's name.
        given: Option<String>,
        /// Ids whose random parts make further slugs.
        fresh: Vec<Id>,
        /// The link, still without a slug.
        link: Box<NewLink>,
    },
    /// The percentage of peso payments that is converted by itself.
    SetAutoConvert(u8),
    /// A look-up of an Idempotency-Key: its kept answer, or that a request is under way.
    Kept {
        /// The key.
        key: String,
        /// The path of the use that is meant; the newest use if there is none.
        path: Option<String>,
    },
    /// A search in everything of the tenant's.
    Search(Sought),
    /// The outcome of the request with this id.
    Request(String),
    /// A page of an endpoint's deliveries.
    Deliveries(Id, Page),
    /// An event is delivered again.
    Resend(Id),
    /// A test notification to every enabled endpoint.
    TestNotification,
    /// A new key in the place of the caller's own.
    RotateOwnKey {
        /// The seconds for which the old one works on.
        overlap: i64,
        /// The address that it is asked from, for the audit.
        peer: Option<IpAddr>,
    },
    /// The operator is asked for live mode.
    AskLive {
        /// The address that it is asked from, for the audit.
        peer: Option<IpAddr>,
    },
}

impl Plan {
    /// A read of a few records.
    pub fn few(read: impl FnOnce(&dyn Records) -> Answered + Send + 'static) -> Plan {
        Plan::Read(Read::Few(Box::new(read)))
    }

    /// A read of a few records, with the tenant's clock.
    pub fn few_now(read: impl FnOnce(&dyn RecordsNow) -> Answered + Send + 'static) -> Plan {
        Plan::Read(Read::FewNow(Box::new(read)))
    }

    /// A read of as many records as there are.
    pub fn many(read: impl Fn(&dyn Records) -> Answered + Send + 'static) -> Plan {
        Plan::Read(Read::Many(Box::new(read)))
    }

    /// A read of as many records as there are, with the tenant's clock.
    pub fn many_now(read: impl Fn(&dyn RecordsNow) -> Answered + Send + 'static) -> Plan {
        Plan::Read(Read::ManyNow(Box::new(read)))
    }

    /// A read that shows one entity.
    pub fn one<T: OfKind>(id: EntityId, show: fn(&T) -> Vec<u8>) -> Plan {
        Plan::few(move |records| records::one(records, id, show))
    }

    /// The entity that a reference names, shown.
    pub fn named<T: OfKind>(space: Space, name: String, show: fn(&T) -> Vec<u8>) -> Plan {
        Plan::few(move |records| {
            let id = records.named(space, &name)?.ok_or_else(Problem::not_found)?;
            records::one(records, EntityId { kind: T::KIND, id }, show)
        })
    }

    /// A page of entities of one kind with these facets; none of them is an empty page.
    pub fn list<T: OfKind>(facets: Vec<u8>, page: Page, show: fn(&T) -> Vec<u8>) -> Plan {
        let listed: Vec<(Kind, u8)> = facets.into_iter().map(|facet| (T::KIND, facet)).collect();
        Plan::many(move |records| records::page(records, &listed, &page, &|entity| T::of(entity).map(show)))
    }

    /// Whether many records are looked at and not a few: pages, and what may be as long.
    pub fn goes_through_records(&self) -> bool {
        matches!(
            self,
            Plan::Read(Read::Many(_) | Read::ManyNow(_))
                | Plan::Work(
                    Work::Deliveries(..)
                        | Work::ReadBatch(_)
                        | Work::Kept { .. }
                        | Work::Search(_)
                        | Work::Statement(_)
                )
        )
    }
}
