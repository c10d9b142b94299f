//! An endpoint, and what its function is given: a [`Context`], with the call as it was sent, what the
//! server knows at that moment ([`Environment`]), and the server itself ([`Server`]), which asks the engine
//! and reads what is durable.
//!
//! An endpoint first reads and checks its call, and then does what is asked. From the first use of the
//! server on nothing more is read: its body is let go of, and a call with parameters that it does not take
//! is refused before anything happens.

use crate::answer::Show;
use crate::fields::{Fields, Got, Invalid};
use crate::lists::{List, Span};
use crate::openapi::document::{Access, ErrorShape, Row};
use crate::openapi::operation::Operation;
use crate::page::{ListOf, Page};
use crate::payments::card_tokens::CardToken;
use crate::problem::{BadField, Problem};
use crate::query::{self, Query};
use crate::records::{Answered, Records, Unread, another_kind};
use crate::respond::Reply;
use crate::search::sought::Sought;
use domain::entities::deposit_address::DepositAddress;
use domain::entities::mandate_approval::{self, MandateApproval};
use domain::entities::{Entity, OfKind};
use domain::index::Space;
use domain::ledger::Ledger;
use domain::ledger::balance::Balance;
use domain::ledger::book::Book;
use domain::ledger::days::Line;
use domain::machine::Command;
use domain::platform::{ApiKey, Tenant};
use domain::rail::Service;
use domain::resources::banks::Catalogue;
use domain::resources::payments::c2p::NewIntent;
use domain::resources::payments::charge::NewCharge;
use domain::resources::payments::otp::NewOtp;
use domain::resources::payouts::batch::NewBatch;
use domain::resources::rates::samples::Sample;
use domain::resources::tenants::keys::{KeyChange, NewKey};
use domain::values::ids::{EntityId, Id, is_live};
use domain::values::money::{Currency, Rate, Usdt, Ves};
use domain::values::text::ExternalRef;
use domain::values::time::{Date, Timestamp};
use hyper::Method;
use hyper::body::Bytes;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use url::Url;

/// The outcome of an endpoint, or of a step of one, when it is there.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, Problem>> + Send + 'a>>;

/// The function of an endpoint. Its future is boxed: each connection has room for its longest one, and most of
/// the time of a small one would go into moving it.
pub type Handler = for<'a, 'c> fn(&'a mut Context<'c>) -> Later<'a, Reply>;

/// An endpoint as its resource declares it; the row adds the policy. Each audience but the tenants has functions of
/// its own form.
#[derive(Clone, Copy)]
pub struct Endpoint<H = Handler> {
    pub chapter: &'static str,
    pub handler: H,
    pub description: fn() -> Operation,
    /// The function that shows what was decided, for who asked and again for a repeat under the same
    /// Idempotency-Key.
    pub show: Option<Show>,
}

impl<H: Copy> Endpoint<H> {
    pub const fn shows(self, show: Show) -> Endpoint<H> {
        Endpoint { show: Some(show), ..self }
    }

    /// Its row in the description of an interface.
    pub fn described(
        &self,
        method: Method,
        path: &'static str,
        operation: &'static str,
        access: Access,
    ) -> Row {
        let (chapter, description) = (self.chapter, (self.description)());
        Row { method, path, operation, access, errors: ErrorShape::Gateway, chapter, description }
    }
}

macro_rules! run {
    (|$cx:ident| $does:expr) => {
        (|$cx| Box::pin(async move { $does })) as crate::endpoint::Handler
    };
    ($function:path $(, $with:expr)*) => {
        (|cx| Box::pin($function(cx $(, $with)*))) as crate::endpoint::Handler
    };
}

pub(crate) use run;

pub const fn endpoint<H: Copy>(
    chapter: &'static str,
    handler: H,
    description: fn() -> Operation,
) -> Endpoint<H> {
    Endpoint { chapter, handler, description, show: None }
}

/// `NAME = FUNCTION, "What it does" => { STEPS } shows FUNCTION;` declares endpoints of a chapter, for the audience whose
/// `Handler` is in sight: each step is a method of [`Operation`], with what it is given.
#[macro_export]
macro_rules! endpoints {
    ($chapter:expr; $(
        $name:ident = $function:expr, $does:expr => { $($step:ident $($with:expr),*;)* } $(shows $show:expr)?;
    )*) => {
        $(pub const $name: $crate::endpoint::Endpoint<Handler> =
            $crate::endpoint::endpoint($chapter, $function, || {
                $crate::openapi::operation::summary($does)$(.$step($($with),*))*
            })$(.shows($show))?;)*
    };
}

/// A chapter: its heading, what is said of it, its schemas by name (whose parts may be named without their path), its
/// events, and its endpoints.
#[macro_export]
macro_rules! chapter {
    ($tag:expr, $about:expr, {
        $(let $local:pat = $value:expr;)*
        $(with $more:expr;)?
        $($name:literal = $is:expr;)*
        $(event $event:literal = $when:literal, $data:expr;)*
    } $($endpoints:tt)*) => {
        pub fn chapter() -> $crate::openapi::document::Chapter {
            #[allow(unused_imports)]
            use $crate::openapi::{schema::*, values::*};
            $(let $local = $value;)*
            let schemas: Vec<(&'static str, $crate::openapi::schema::Schema)> = vec![$(($name, $is)),*];
            $(let schemas = [$more, schemas].concat();)?
            let webhooks =
                vec![$($crate::openapi::document::Webhook { name: $event, about: $when, data: $data }),*];
            $crate::openapi::document::Chapter { tag: $tag, about: $about, schemas, webhooks }
        }

        $crate::endpoints! { $tag; $($endpoints)* }
    };
}

/// The proof of a valid key; only authentication makes one.
#[derive(Clone)]
pub struct Caller {
    pub tenant: Arc<Tenant>,
    pub key: Arc<ApiKey>,
    pub tenant_key: u64,
    /// That of all accounts and keys as they were when it was recognised.
    pub version: u64,
}

impl Caller {
    pub fn livemode(&self) -> bool {
        is_live(self.tenant_key)
    }
}

/// The official rate of the dollar, and who says so.
pub struct Official {
    pub bcv: Option<Arc<Sample>>,
    pub bank: BankRate,
}

pub enum BankRate {
    NotConfigured,
    /// A bank is configured and has given no rate lately.
    Unavailable,
    Says(Arc<Sample>),
}

/// What the server knows at the moment of a call.
pub trait Environment: Sync {
    /// The server's clock.
    fn now(&self) -> Timestamp;
    fn bcv_rate(&self) -> Option<Rate>;
    fn official(&self) -> Official;
    /// The market's price of a USDT in this currency, if there is a fresh one.
    fn market_rate(&self, currency: Currency) -> Option<Rate>;
    /// The network fee of a USDT payout on each network, in the order of
    /// [`domain::resources::crypto::address::Network`].
    fn network_fees(&self) -> &[Usdt; 4];
    /// The blocks after which a transfer on each network is final, in the same order; `None` where no
    /// node is configured.
    fn confirmations(&self) -> &[Option<u64>; 4];
    /// Whether a rail has this done in the key's mode, now or later.
    fn serves(&self, service: Service) -> bool;
    /// An id for something new: later than every id of the tenant's before it.
    fn new_id(&self) -> Id;
    /// An id that says nothing, not even its time, for what is shown to whoever knows its id.
    fn random_id(&self) -> Id;
    fn micro_deposits(&self) -> (Ves, Ves);
    /// The public URL of this server, without a slash at the end.
    fn base_url(&self) -> &str;
    /// A keyed hash, for what may be recognised but not known.
    fn mark(&self, parts: &[&[u8]]) -> [u8; 16];
    /// A keyed hash of cards, under a key that no copy of the data has.
    fn card_mark(&self, parts: &[&[u8]]) -> [u8; 16];
    fn private_targets(&self) -> bool;
    /// The time for which the notice of a live transfer is waited for, in milliseconds.
    fn notice_wait_ms(&self) -> i64;
}

#[derive(Clone, Copy)]
pub enum Target {
    Book,
    Entity(EntityId),
    New(EntityId),
}

/// A key, with the minute of its last use.
pub type KnownKey = (Arc<ApiKey>, Option<Timestamp>);

/// A read of as many records as there are, which may be done again on another thread.
pub type LongRead = Box<dyn Fn(&dyn Records) -> Answered + Send>;

/// The server, as an endpoint uses it: it asks the engine, reads what is durable, and does what needs more than
/// both. A request has a work slot, which is given back before anything that takes its time.
pub trait Server: Send {
    /// Sends a command and answers with what was decided. Names that were reserved are held until its first
    /// record is durable.
    fn ask(&mut self, target: Target, command: Command) -> Later<'_, Reply>;

    /// The tenant's book and its clock, when everything is durable that it was decided by.
    fn book(&mut self) -> Later<'_, (Box<Book>, Timestamp)>;

    fn records(&self) -> Box<dyn Records + '_>;

    /// Reads any number of records, such as a page: among the reads of the tenant, and on another thread when
    /// they are too many.
    fn read_long(&mut self, read: LongRead) -> Later<'_, Vec<u8>>;

    /// Gives the work slot back, before a wait.
    fn release_slot(&mut self);

    /// Reserves a name of an owner, after waiting for who has it.
    fn hold<'s>(&'s mut self, owner: u64, space: Space, name: &'s str) -> Later<'s, ()>;

    /// Reserves the first of these slugs that no link has.
    fn free_slug(&mut self, slugs: Vec<String>) -> Later<'_, Option<String>>;

    fn may_reach<'s>(&'s mut self, url: &'s Url) -> Later<'s, ()>;

    /// In live mode: has the payer's bank send a key if it does so at our word; `known` is the newest payment
    /// on the reference.
    fn send_c2p_code<'s>(&'s mut self, new: &'s mut NewIntent, known: Option<Id>) -> Later<'s, ()>;

    /// In live mode: has the payer's bank send the code of a debit.
    fn send_debit_code<'s>(&'s mut self, new: &'s mut NewOtp) -> Later<'s, ()>;

    /// A charge without an intent: a new attempt on its reference, or a repeat of the newest. `token` is that of
    /// its card, if it came with one.
    fn charge(&mut self, new: NewCharge, token: Option<CardToken>) -> Later<'_, Reply>;

    /// In live mode: makes a deposit address the next that derives from the network's seed, if that is served.
    fn derive_address<'s>(&'s mut self, new: &'s mut DepositAddress) -> Later<'s, bool>;

    /// A batch of payouts, unless its reference is known.
    fn pay_batch(&mut self, batch: Box<NewBatch>) -> Later<'_, Reply>;

    fn batch(&mut self, id: Id) -> Later<'_, Reply>;

    /// The test clock moves by so many milliseconds, with everything that is due on the way.
    fn advance(&mut self, ms: i64) -> Later<'_, Reply>;

    fn begin_anew(&mut self) -> Later<'_, Reply>;

    fn balance_at(&mut self, at: Timestamp) -> Later<'_, Balance>;

    fn statement(&mut self, ledger: Ledger, currency: Currency, days: (Date, Date)) -> Later<'_, Vec<Line>>;

    /// The receipt of a payment, in the language with this code.
    fn receipt(&mut self, id: Id, lang: Option<&'static str>) -> Result<Reply, Problem>;

    /// Sets the percentage of peso payments that is converted by itself.
    fn set_auto_convert(&mut self, percent: u8) -> Later<'_, Reply>;

    /// What became of the use of an Idempotency-Key on this path, or the newest use.
    fn key_use(&mut self, key: String, path: Option<String>) -> Later<'_, Reply>;

    fn search(&mut self, sought: Sought) -> Later<'_, Reply>;

    fn request(&mut self, id: String) -> Later<'_, Reply>;

    fn deliveries(&mut self, webhook: Id, page: Page) -> Later<'_, Reply>;

    fn resend(&mut self, event: Id) -> Later<'_, Reply>;

    fn test_notification(&mut self) -> Later<'_, Reply>;

    /// The key of the account with this id, in either mode.
    fn key(&mut self, id: Id) -> Later<'_, Option<KnownKey>>;

    /// The account's keys in both modes, newest first.
    fn keys(&mut self) -> Later<'_, Vec<KnownKey>>;

    /// A new key of the account, in the mode of the caller's; its scopes are said.
    fn make_key(&mut self, new: NewKey) -> Later<'_, Reply>;

    fn change_key(&mut self, id: Id, change: KeyChange) -> Later<'_, Reply>;

    fn revoke_key(&mut self, id: Id, with_successors: bool) -> Later<'_, Reply>;

    /// A new key in the place of the caller's own, which works on for so many seconds.
    fn rotate_own_key(&mut self, overlap: i64) -> Later<'_, Reply>;

    fn ask_live(&mut self) -> Later<'_, Reply>;

    /// Has a call that waited for an approval done, or not.
    fn decide_waiting(
        &mut self,
        approval: MandateApproval,
        status: mandate_approval::Status,
        is_approved: bool,
    ) -> Later<'_, Reply>;
}

pub struct Context<'c> {
    pub caller: &'c Caller,
    pub env: &'c dyn Environment,
    pub banks: &'c Catalogue,
    pub body: Bytes,
    pub parameters: &'c [(&'static str, String)],
    pub query: Option<&'c str>,
    /// What is bad about the call outside of its body, until it is said.
    pub unexpected: Vec<BadField>,
    pub server: &'c mut dyn Server,
}

impl<'c> Context<'c> {
    /// A parameter of the path; it must name one of the row.
    pub fn path(&self, name: &str) -> &'c str {
        self.parameters.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
    }

    /// The id in the path, under this name; what is no UUID names nothing.
    pub fn id(&self, name: &str) -> Result<Id, Problem> {
        Id::parse(self.path(name)).ok_or_else(Problem::not_found)
    }

    /// The reference in the path; what cannot be one names nothing.
    pub fn external_ref(&self) -> Result<ExternalRef, Problem> {
        ExternalRef::parse(self.path("externalRef")).map_err(|_| Problem::not_found())
    }

    pub fn asked<T, E>(&self, reader: impl FnOnce(Query<'_>) -> Result<T, E>) -> Result<T, E> {
        query::read(self.query, reader)
    }

    /// Reads the query of a list of the caller's, of this kind: its filters, and the page.
    pub fn listed<F>(
        &self,
        kind: &str,
        filters: impl FnOnce(&mut Query<'_>) -> Got<F>,
    ) -> Result<(F, Page), Invalid> {
        let mark = &|parts: &[&[u8]]| self.env.mark(parts);
        let list = ListOf { mark, tenant_key: self.caller.tenant_key, kind };
        self.asked(|query| query::listed(query, list, filters))
    }

    /// The server, once the call is read: a problem if something is bad about it outside of its body.
    pub fn server(&mut self) -> Result<&mut (dyn Server + 'c), Problem> {
        if !self.unexpected.is_empty() {
            return Err(Problem::invalid_data(mem::take(&mut self.unexpected)));
        }
        self.body = Bytes::new();
        Ok(self.server)
    }

    /// Checks that no member was sent: the body of what takes none.
    pub fn no_body(&self) -> Result<(), Problem> {
        Fields::parse_optional(&self.body)?.finish()?;
        Ok(())
    }

    pub async fn ask(&mut self, id: EntityId, command: impl Into<Command>) -> Result<Reply, Problem> {
        self.server()?.ask(Target::Entity(id), command.into()).await
    }

    /// Makes a new entity without a reference.
    pub async fn make(&mut self, id: EntityId, command: impl Into<Command>) -> Result<Reply, Problem> {
        self.server()?.ask(Target::New(id), command.into()).await
    }

    /// Reserves a name of the tenant's until the next record, for the entity that has it, or for a new one.
    pub async fn reserve(&mut self, space: Space, name: &str, new: EntityId) -> Result<Target, Problem> {
        let tenant = self.caller.tenant_key;
        let server = self.server()?;
        server.hold(tenant, space, name).await?;
        let known = server.records().named(space, name)?;
        Ok(known.map_or(Target::New(new), |id| Target::Entity(EntityId { kind: new.kind, id })))
    }

    pub async fn clock(&mut self) -> Result<Timestamp, Problem> {
        Ok(self.server()?.book().await?.1)
    }

    pub fn find<T>(&mut self, read: impl FnOnce(&dyn Records) -> Result<T, Unread>) -> Result<T, Problem> {
        Ok(read(&*self.server()?.records())?)
    }

    pub fn read(&mut self, read: impl FnOnce(&dyn Records) -> Answered) -> Result<Reply, Problem> {
        Ok(Reply::json(200, self.find(read)?))
    }

    /// Shows what any number of records says, such as a page.
    pub async fn read_long(
        &mut self,
        read: impl Fn(&dyn Records) -> Answered + Send + 'static,
    ) -> Result<Reply, Problem> {
        Ok(Reply::json(200, self.server()?.read_long(Box::new(read)).await?))
    }

    pub fn one<T: OfKind>(&mut self, id: EntityId, show: fn(&T) -> Vec<u8>) -> Result<Reply, Problem> {
        self.read(|records| one(records, id, show))
    }

    pub fn named<T: OfKind>(
        &mut self,
        space: Space,
        name: &str,
        show: fn(&T) -> Vec<u8>,
    ) -> Result<Reply, Problem> {
        self.read(|records| {
            let id = records.named(space, name)?.ok_or_else(Problem::not_found)?;
            one(records, EntityId { kind: T::KIND, id }, show)
        })
    }

    /// Shows a page of a list.
    pub async fn list(
        &mut self,
        list: List,
        page: Page,
        show: fn(&Entity) -> Option<Vec<u8>>,
    ) -> Result<Reply, Problem> {
        self.read_long(move |records| list.page(records, &page, &show)).await
    }

    /// Shows a page of entities of one kind with these facets; none of them is an empty page.
    pub async fn page<T: OfKind>(
        &mut self,
        facets: Vec<u8>,
        page: Page,
        show: fn(&T) -> Vec<u8>,
    ) -> Result<Reply, Problem> {
        let listed = facets.into_iter().map(|facet| (T::KIND, facet)).collect();
        let list = List::of(listed, Span::default(), Box::new(|_| true));
        self.read_long(move |records| list.page(records, &page, &|entity| T::of(entity).map(show))).await
    }
}

fn one<T: OfKind>(records: &dyn Records, id: EntityId, show: fn(&T) -> Vec<u8>) -> Answered {
    let entity = records.entity(id)?.ok_or_else(Problem::not_found)?;
    Ok(show(T::of(&entity).ok_or_else(|| another_kind(id))?))
}

/// `fn SHOW(OF: TYPE), SCHEMA, BYTES [ LET …; ] { KIND "NAME" = VALUE, ITS SCHEMA; … }` makes two functions: one
/// writes the values straight into bytes, the other is the schema, whose parts may be named without their path. The
/// kinds are methods of [`Object`](crate::writer::Object): before them stands `maybe` of what may be null, `optional`
/// of what may be missing, both of an `Option`.
#[macro_export]
macro_rules! shown {
    (
        $(#[$attribute:meta])*
        $vis:vis fn $show:ident($($of:ident: $type:ty),+), $schema:ident, $bytes:tt
        $([ $($before:tt)* ])?
        { $($($kind:ident)+ $name:literal = $value:expr $(, $is:expr)?;)* }
    ) => {
        $(#[$attribute])*
        $vis fn $show($($of: $type),+) -> Vec<u8> {
            $($($before)*)?
            let object = $crate::writer::Object::with_capacity($bytes);
            $(let object = $crate::written!(object, $($kind)+ $name = $value);)*
            object.end()
        }

        pub fn $schema() -> $crate::openapi::schema::Schema {
            #[allow(unused_imports)]
            use $crate::openapi::{schema::*, values::*};
            let schema = $crate::openapi::schema::object();
            $(let schema = $crate::described!(schema, $($kind)+ $name = $value $(, $is)?);)*
            schema
        }
    };
}

/// How a member is written.
#[doc(hidden)]
#[macro_export]
macro_rules! written {
    ($object:ident, optional $($kind:ident)+ $name:literal = $value:expr) => {
        match $value {
            Some(value) => $crate::written!($object, $($kind)+ $name = value),
            None => $object,
        }
    };
    ($object:ident, maybe $kind:ident $name:literal = $value:expr) => {
        match $value {
            Some(value) => $object.$kind($name, value),
            None => $object.number($name, "null"),
        }
    };
    ($object:ident, constant $name:literal = $value:expr) => { $object.plain($name, $value) };
    ($object:ident, boolean $name:literal = $value:expr) => { $object.number($name, $value) };
    ($object:ident, $kind:ident $name:literal = $value:expr) => { $object.$kind($name, $value) };
}

/// How a member is described.
#[doc(hidden)]
#[macro_export]
macro_rules! described {
    ($schema:ident, optional maybe $kind:ident $name:literal = $value:expr, $is:expr) => {
        $schema.optional($name, $is.or_null())
    };
    ($schema:ident, optional $kind:ident $name:literal = $value:expr, $is:expr) => {
        $schema.optional($name, $is)
    };
    ($schema:ident, maybe $kind:ident $name:literal = $value:expr, $is:expr) => {
        $schema.member($name, $is.or_null())
    };
    ($schema:ident, constant $name:literal = $value:expr) => {
        $schema.member($name, $crate::openapi::schema::text().constant($value))
    };
    ($schema:ident, $kind:ident $name:literal = $value:expr, $is:expr) => {
        $schema.member($name, $is)
    };
}

pub use {chapter, endpoints, shown};
