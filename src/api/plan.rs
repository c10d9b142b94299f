//! What a handler wants done: data for the one function that waits (`server/dispatch.rs`). A
//! handler reads, checks and says; it does nothing itself.

use crate::events::World;
use crate::page::Page;
use domain::commands::Command;
use domain::index::{LedgerKey, Space};
use domain::kept::Shape;
use domain::platform::{ApiKey, Tenant, is_live};
use domain::record::Entity;
use domain::resources::banks::Catalogue;
use domain::resources::payouts::batch::NewBatch;
use domain::resources::products::NewLink;
use domain::resources::rates::samples::Sample;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::money::{Currency, Rate, Usdt};
use domain::values::time::Timestamp;
use std::sync::Arc;
use url::Url;

/// The proof of a valid key; only authentication makes one.
#[derive(Clone)]
pub struct Caller {
    /// Whose key.
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

/// What the official rate of the dollar is, and who says so.
pub struct Official {
    /// The central bank's, in force.
    pub bcv: Option<Arc<Sample>>,
    /// A bank's word on it.
    pub bank: BankRate,
}

/// What a bank says of the official rate.
pub enum BankRate {
    /// None is asked.
    NotConfigured,
    /// It was asked and has said nothing lately.
    Unavailable,
    /// This.
    Says(Arc<Sample>),
}

/// What a handler is given.
pub struct Call<'a> {
    /// Who calls.
    pub caller: &'a Caller,
    /// A parameter of the path; it must name one of the route.
    pub path: &'a dyn Fn(&str) -> String,
    /// After the question mark.
    pub query: Option<&'a str>,
    /// The body.
    pub body: &'a [u8],
    /// The banks.
    pub banks: &'a Catalogue,
    /// The BCV rate in force.
    pub bcv_rate: Option<Rate>,
    /// What is said of the dollar, for quotes.
    pub official: &'a dyn Fn() -> Official,
    /// Whether there is a bank to call in the key's mode.
    pub has_rail: bool,
    /// The server's clock.
    pub now: Timestamp,
    /// Makes an id for something new: later than every id of the tenant's before it.
    pub fresh_id: &'a dyn Fn() -> Id,
    /// Makes an id that says nothing, not even its time.
    pub random_id: &'a dyn Fn() -> Id,
    /// The amounts of a micro-deposit, should one be sent.
    pub micro_deposits: (domain::values::money::Ves, domain::values::money::Ves),
    /// How the outside reaches this server, without a slash at the end.
    pub base_url: &'a str,
    /// What the market asks for a USDT in this currency, unless nobody knows.
    pub market_rate: &'a dyn Fn(Currency) -> Option<Rate>,
    /// What the networks take for a USDT payout, in the order of
    /// [`domain::resources::crypto::address::Network`].
    pub network_fees: &'a [Usdt; 4],
    /// A keyed hash, for what may be recognised but not known.
    pub mark: &'a dyn Fn(&[&[u8]]) -> [u8; 16],
    /// The same for cards, under a key that no copy of the data has.
    pub card_mark: &'a dyn Fn(&[&[u8]]) -> [u8; 16],
    /// Whether webhooks may go to loopback and private addresses.
    pub private_targets: bool,
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

    /// The id in the path, under this name; what is no UUID names nothing.
    pub fn id(&self, name: &str) -> Result<Id, crate::problem::Problem> {
        Id::parse(&(self.path)(name)).ok_or_else(crate::problem::Problem::not_found)
    }
}

/// How an entity is shown.
pub type Show = fn(&Entity) -> Vec<u8>;

/// What is to be done.
pub enum Plan {
    /// The answer is known.
    Answer(u16, Vec<u8>),
    /// A command to the book itself.
    Book(Command, Shape),
    /// A command to an entity.
    Entity(EntityId, Command, Shape),
    /// Something new under a reference, unless the reference is known.
    Create {
        /// The space of its reference.
        space: Space,
        /// Its reference.
        name: String,
        /// Its id, if it is new.
        id: EntityId,
        /// What to do.
        ask: Command,
        /// What the answer shows.
        shape: Shape,
    },
    /// The test clock moves by so many milliseconds.
    Advance(i64),
    /// The tenant's clock.
    Clock,
    /// The balance now.
    Balance,
    /// The balance at an instant.
    BalanceAt(Timestamp),
    /// One entity.
    Read(EntityId, Show),
    /// The entity that a reference names.
    ReadNamed(Space, String, Kind, Show),
    /// A page of entities of a kind.
    List {
        /// Of what kind.
        kind: Kind,
        /// With which facets; none of them is an empty page.
        facets: Vec<u8>,
        /// Which page.
        page: Page,
        /// How they are shown.
        show: Show,
    },
    /// A page of the payments on a reference.
    Attempts {
        /// The reference.
        name: String,
        /// With which facets.
        facets: Vec<u8>,
        /// Which page.
        page: Page,
        /// How they are shown.
        show: Show,
    },
    /// A page of movements.
    Movements(Movements),
    /// What became of an operation with a bank.
    Operation(Id),
    /// What became of an Idempotency-Key.
    Kept {
        /// The key.
        key: String,
        /// On which path; the newest use without.
        path: Option<String>,
    },
    /// The balance of a seller now.
    SellerBalance(Id),
    /// A batch of payouts, unless its reference is known.
    Batch(Box<NewBatch>),
    /// A batch with its items as they are.
    ReadBatch(Id),
    /// The same, if there is such an entity.
    Knowing(EntityId, Box<Plan>),
    /// Something new that has no reference.
    New(EntityId, Command, Shape),
    /// A payment under a reference, by a transfer that pays once.
    CreateOnce {
        /// Its reference.
        name: String,
        /// The transfer.
        transfer: String,
        /// Its id, if it is new.
        id: EntityId,
        /// What to do, given whether the transfer pays for something already.
        ask: Box<dyn FnOnce(bool) -> Command + Send>,
        /// What the answer shows.
        shape: Shape,
    },
    /// A command to the payment of a chargeback.
    OfChargeback(Id, Command, Shape),
    /// A page of events, oldest first.
    Events {
        /// Those after this number.
        after: u64,
        /// Which page.
        page: Page,
        /// Whose they are.
        world: World,
    },
    /// One event.
    Event(Id, World),
    /// The newest payment that a reference names: the tenant's, or the id of a checkout session.
    ReadPaymentNamed(String, Show),
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
    /// A payment link.
    ReadLink(Id),
    /// A checkout session, shown with the random part of its client secret.
    Session(Id, [u8; 16]),
    /// One entity, if it is one that is shown.
    ReadShown(EntityId, fn(&Entity) -> Option<Vec<u8>>),
    /// A command to the entity that a name names.
    EntityNamed {
        /// The space of the name.
        space: Space,
        /// The name.
        name: String,
        /// What it names.
        kind: Kind,
        /// What to do.
        ask: Command,
        /// What the answer shows.
        shape: Shape,
    },
    /// The same, if a webhook may go to this address.
    Aimed(Url, Box<Plan>),
    /// A command to a webhook endpoint or of a new checkout session, whose answer shows its secret.
    Signing {
        /// Which endpoint or session.
        id: EntityId,
        /// Whether it is new.
        new: bool,
        /// What to do.
        ask: Command,
        /// What the answer shows.
        shape: Shape,
    },
    /// The balance in USDT now.
    CryptoBalance,
    /// The percentage of peso payments that is converted by itself.
    SetAutoConvert(u8),
    /// The balance in pesos now.
    CopBalance,
    /// A payment of this name, in whatever it was collected.
    ReadPayment(Id, Show),
    /// A command to the payment of this name, in whatever it was collected.
    OfPayment(Id, Command, Shape),
    /// A page of entities of several kinds, each with facets of its own.
    ListKinds {
        /// Which of which kind; none of them is an empty page.
        parts: Vec<(Kind, u8)>,
        /// Which page.
        page: Page,
        /// How they are shown.
        show: Show,
    },
    /// All webhook endpoints.
    Webhooks,
    /// A page of an endpoint's deliveries.
    Deliveries(Id, Page),
    /// An event is delivered again.
    Resend(Id),
    /// Something is sent to every enabled endpoint, for a try.
    TestNotification,
}

impl Plan {
    /// Whether a read looks at many records and not at a few: pages, and what may be as long.
    pub fn goes_through_records(&self) -> bool {
        matches!(
            self,
            Plan::List { .. }
                | Plan::ListKinds { .. }
                | Plan::Attempts { .. }
                | Plan::Movements(_)
                | Plan::Events { .. }
                | Plan::Deliveries(..)
                | Plan::ReadBatch(_)
                | Plan::Kept { .. }
        )
    }
}

/// Which movements.
pub struct Movements {
    /// Of which ledger.
    pub ledger: LedgerKey,
    /// Of which types, as facets.
    pub kinds: Vec<u8>,
    /// From this instant on.
    pub from: Option<Timestamp>,
    /// Before this instant.
    pub to: Option<Timestamp>,
    /// Of this payment or payout.
    pub subjects: Vec<EntityId>,
    /// Which page.
    pub page: Page,
}
