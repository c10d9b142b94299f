//! What answers on a listener: one table of all its rows, and the steps of a request, once and in their order
//! for every audience: origin, documents, route, caller, admission, body, work slot, Idempotency-Key,
//! endpoint.
//!
//! In what audiences differ, it is a match on the audience or on the row's endpoint here. What an endpoint does
//! belongs to its own room; no rule about money is here.

mod dry_run;
mod mcp;
mod stream;
mod table;
mod whose;

pub use table::{operators_csv, prepare};
pub use whose::whose;

use crate::admin::AdminApi;
use crate::checkout::Checkout;
use crate::cluster::front::StandbyFront;
use crate::cluster::node_front::NodeFront;
use crate::cluster::ways::tenant_of;
use crate::cluster::{Confirming, front, passing};
use crate::console;
use crate::gateway::dispatch::{Gateway, Request, sent_key};
use crate::gateway::limits;
use crate::gateway::meter::{GONE, Meter, Meters, STATUSES};
use crate::gateway::public::Public;
use crate::gateway::rail_calls::RailCalls;
use crate::gateway::services::Services;
use crate::gateway::test_accounts;
use crate::guides::Guides;
use crate::http::body::{Inbound, idempotency_key, unexpected_parameters, without_unexpected};
use crate::http::documents::Documents;
use crate::http::listen::{Answer, Arrival, OnBehalf};
use crate::http::origin_check::OriginCheck;
use crate::http::respond::Reply;
use crate::http::router::{Lookup, Router, named};
use crate::metrics::{self, Metrics};
use crate::network::TrustedProxies;
use crate::operators::Operator;
use crate::pages::front::Pages;
use crate::portal;
use crate::requests::{Answered, Code};
use crate::store::read_budget::ReadBudget;
use crate::telemetry::spans::{RequestSummary, Trace};
use api::absent;
use api::endpoint::Caller as TenantCaller;
use api::fields::Fields;
use api::problem::{BadField, Problem};
use api::writer::Object;
use bytes::Bytes;
use domain::values::ids::{Id, PLATFORM};
use hyper::Method;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Instant;
use table::{Endpoint, Policy, Whose, policy};

const API: &str = "/v1/";
const HEALTH: &str = "/healthz";
const READY: &str = "/readyz";
/// The tenant key of what anybody may ask for: no tenant has it.
const ANYBODY: u64 = PLATFORM + 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Tenant,
    /// Anybody, without a key (interface A).
    Visitor,
    Bank,
    Buyer,
    /// A merchant who is logged in to the portal, or about to.
    Merchant,
    Operator,
    /// An operator who is logged in to the console, or about to.
    ConsoleOperator,
}

/// The beginnings of the paths that are for others than tenants on the public listener, and than the operators'
/// programs on theirs.
const AUDIENCES: [(bool, &str, Audience); 10] = [
    (false, api::public::routes::PREFIX, Audience::Visitor),
    (false, "/rails/", Audience::Bank),
    (false, "/checkout", Audience::Buyer),
    (false, "/checkout.js", Audience::Buyer),
    (false, "/checkout-assets/", Audience::Buyer),
    (false, "/pay", Audience::Buyer),
    (false, "/portal", Audience::Merchant),
    (false, "/page-assets/", Audience::Merchant),
    (true, "/console", Audience::ConsoleOperator),
    (true, "/page-assets/", Audience::ConsoleOperator),
];

fn is_below(path: &str, prefix: &str) -> bool {
    let rest = path.strip_prefix(prefix);
    rest.is_some_and(|rest| prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
}

struct Row {
    policy: Policy,
    endpoint: Endpoint,
    meter: Arc<Meter>,
}

enum Caller {
    Tenant(TenantCaller),
    Operator(Operator),
    /// Nobody is asked who they are, or only by the endpoint: people by the session of their login, buyers by
    /// what they ask for.
    Anybody,
}

pub struct Audiences {
    pub tenants: Gateway,
    pub visitors: Public,
    pub banks: RailCalls,
    pub buyers: Checkout,
    pub portal: Pages<TenantCaller>,
    pub operators: AdminApi,
    pub console: Pages<Operator>,
}

struct OfOperators {
    /// Keeps other sites' pages out.
    origin: OriginCheck,
    metrics: Metrics,
    scrapes: Arc<Meter>,
}

pub struct Server {
    services: Arc<Services>,
    audiences: Arc<Audiences>,
    table: Router<Row>,
    /// The paths of the table that a caller may be told of who asked for one that is not there.
    told: Vec<(Audience, &'static str)>,
    proxies: TrustedProxies,
    documents: Documents,
    document_meters: Vec<Arc<Meter>>,
    guides: Option<Arc<Guides<Arc<Meter>>>>,
    operators: Option<OfOperators>,
    unrouted: Arc<Meter>,
    health: Arc<Meter>,
    ready: Arc<Meter>,
}

fn audience(is_operators: bool, path: &str) -> Audience {
    if path.starts_with(API) && !is_operators {
        return Audience::Tenant;
    }
    for (of_operators, prefix, audience) in AUDIENCES {
        if of_operators == is_operators && is_below(path, prefix) {
            return audience;
        }
    }
    if is_operators { Audience::Operator } else { Audience::Tenant }
}

fn is_api(path: &str) -> bool {
    path.starts_with(API) || path == mcp::PATH
}

impl Server {
    /// The public listener: tenants, visitors, banks, buyers and merchants. `home` is the page at `/`, `test_key`
    /// a test key that may be shown to whoever asks. `opens_accounts`: anybody may open an account of test mode.
    pub fn public(
        services: Arc<Services>,
        audiences: Arc<Audiences>,
        proxies: TrustedProxies,
        home: Vec<u8>,
        test_key: Option<&str>,
        opens_accounts: bool,
    ) -> Server {
        let meters = Arc::clone(&services.observed.meters);
        let banks = audiences.banks.rows().map(|(path, call)| (Method::POST, path, Endpoint::Bank(call)));
        let rows = table::public(banks, opens_accounts);
        let described = || api::interface::public(crate::checkout::described()).to_json();
        let documents = Documents::new(described).with_home(home);
        let guides =
            Arc::new(Guides::new(&services.site.known_url, test_key, |route| meters.of("GET", route)));
        Server::new(services, audiences, proxies, rows, documents, Some(guides), None)
    }

    pub fn of_operators(
        services: Arc<Services>,
        audiences: Arc<Audiences>,
        origin: OriginCheck,
        metrics: Metrics,
    ) -> Server {
        let documents = Documents::new(|| crate::admin::document().to_json());
        let scrapes = services.observed.meters.of("GET", metrics::PATH);
        let operators = Some(OfOperators { origin, metrics, scrapes });
        Server::new(
            services,
            audiences,
            TrustedProxies::default(),
            table::of_operators(),
            documents,
            None,
            operators,
        )
    }

    fn new(
        services: Arc<Services>,
        audiences: Arc<Audiences>,
        proxies: TrustedProxies,
        rows: Vec<table::Row>,
        documents: Documents,
        guides: Option<Arc<Guides<Arc<Meter>>>>,
        operators: Option<OfOperators>,
    ) -> Server {
        let meters: Arc<Meters> = Arc::clone(&services.observed.meters);
        let is_told =
            |endpoint: &Endpoint| !matches!(endpoint, Endpoint::Tenant(route) if route.needs.is_for_pages);
        let mut told: Vec<_> = rows
            .iter()
            .filter(|(.., endpoint)| is_told(endpoint))
            .map(|(_, path, _)| (audience(operators.is_some(), path), *path))
            .collect();
        told.dedup();
        let table = Router::new(rows.into_iter().map(|(method, path, endpoint)| {
            let meter = meters.of(method.as_str(), path);
            (method.clone(), path, Row { policy: policy(&method, &endpoint), endpoint, meter })
        }));
        let (unrouted, health, ready) =
            (meters.of("any", "none"), meters.of("GET", HEALTH), meters.of("GET", READY));
        Server {
            services,
            audiences,
            table,
            told,
            proxies,
            document_meters: documents.paths().map(|path| meters.of("GET", path)).collect(),
            documents,
            guides,
            operators,
            unrouted,
            health,
            ready,
        }
    }

    async fn steps<'a>(
        self: &'a Arc<Self>,
        audience: Audience,
        arrival: &'a Arrival,
        inbound: &'a mut Inbound,
        measuring: &mut Measuring<'a>,
    ) -> Result<Reply, Problem> {
        // Before anything is answered, documents and metrics too: no other site's page may ask.
        if let Some(operators) = &self.operators {
            operators.origin.check(&arrival.head)?;
        }
        if !(audience == Audience::Tenant && is_api(arrival.head.uri.path()))
            && let Some(answer) = self.open_to_all(audience, arrival, measuring).await
        {
            return answer;
        }
        // The question of a request that only reads is sent before anything is read: it is on its way
        // meanwhile. What a machine knows of its cluster it says by itself, right or wrong.
        let is_own = audience == Audience::Operator && arrival.head.uri.path() == front::CLUSTER;
        let confirming = self.services.cluster.as_ref().filter(|_| !is_own).map(|cluster| {
            let confirming = cluster.begin_to_confirm();
            (cluster, if is_read(arrival) { confirming.asked() } else { confirming })
        });
        // In one place: moved into what follows, it would take its room in every connection twice.
        let mut routed = pin!(self.routed(audience, arrival, inbound, measuring));
        let Some((cluster, confirming)) = confirming else { return routed.await };
        let confirmed = async { confirmed(confirming, routed.as_mut().await, arrival).await };
        tokio::select! {
            reply = confirmed => reply,
            // The request that is not answered by now may still be carried out.
            () = cluster.stalled() => Err(unconfirmed(arrival)),
        }
    }

    /// The steps of a request that is in the table.
    async fn routed<'a>(
        self: &'a Arc<Self>,
        audience: Audience,
        arrival: &'a Arrival,
        inbound: &'a mut Inbound,
        measuring: &mut Measuring<'a>,
    ) -> Result<Reply, Problem> {
        // The block drops what need not outlive a wait: each connection has room only for the work that is
        // left.
        let work = {
            let head = &arrival.head;
            // Whatever comes of the call: what is read of one that is refused, to be discarded, has the card too. Of
            // a path that is no row nobody knows what was meant for it.
            inbound.has_card = self.operators.is_none();
            let found = match self.table.lookup(&head.method, head.uri.path()) {
                Lookup::Found(found) => found,
                Lookup::WrongMethod { .. } if audience == Audience::Visitor => {
                    return Err(Problem::method_not_allowed("GET, HEAD, OPTIONS".into()));
                }
                Lookup::WrongMethod { .. } if self.is_for_pages(head.uri.path()) => {
                    return Err(self.not_found(audience, arrival));
                }
                Lookup::WrongMethod { allow } => return Err(Problem::method_not_allowed(Arc::clone(allow))),
                Lookup::NotFound => return Err(self.not_found(audience, arrival)),
            };
            let Row { policy, endpoint, meter } = found.value;
            measuring.meter = meter;
            inbound.has_card = policy.has_card;

            let caller = match self.caller(endpoint, &found.parameters, arrival) {
                // An account that has just come here may not be known yet: the first partition knows all keys.
                Err(problem)
                    if problem.status == 401
                        && audience == Audience::Tenant
                        && self.services.callers.first().is_some() =>
                {
                    measuring.leaves_nothing = true;
                    return Ok(passing::elsewhere(0, &arrival.request_id));
                }
                caller => caller?,
            };
            let is_passed = policy.is_of_platform && head.extensions.get::<OnBehalf>().is_some();
            if self.services.callers.sending.is_some()
                && !is_passed
                && let Some(partition) = self.elsewhere(&caller, head.uri.path())
            {
                // It is asked there, and noted there.
                measuring.leaves_nothing = true;
                return Ok(passing::elsewhere(partition, &arrival.request_id));
            }
            let tenant = match &caller {
                Caller::Tenant(caller) => {
                    measuring.tenant = Some(caller.tenant.id);
                    measuring.caller = Some((caller.tenant_key, caller.key.id));
                    Some(caller.tenant_key)
                }
                Caller::Operator(_) | Caller::Anybody => None,
            };
            // What is checked of a call is checked of each of its lines.
            if let (Endpoint::Stream, Caller::Tenant(caller)) = (endpoint, &caller) {
                return Box::pin(stream::open(self, caller, arrival, inbound)).await;
            }
            if let (Endpoint::Mcp, Caller::Tenant(caller)) = (endpoint, &caller) {
                return mcp::answer(self, caller.clone(), arrival, inbound).await;
            }

            // Also where the body is read later: nobody's bodies are gathered in all the room that there is.
            let gathers = head.method != Method::GET;
            let share = match (policy.share, tenant) {
                (Whose::Tenant, Some(tenant)) => Some(self.services.shares.of(limits::Owner::Tenant(tenant))),
                (Whose::Client, _) if policy.works_in_share || gathers => {
                    let client = self.proxies.client(arrival.peer.ip(), &head.headers);
                    Some(self.services.shares.of(limits::Owner::Client(client)))
                }
                _ => None,
            };
            let works_in = if policy.works_in_share { share.clone() } else { None };
            self.services.admit_request(tenant, policy.needs_room, works_in.as_deref()).await?;

            if gathers && let Some(share) = share {
                inbound.share.caller = Some(share);
            }
            let body = if policy.takes_json { inbound.json(&head.headers).await? } else { Bytes::new() };
            let slot = match &works_in {
                Some(share) => self.services.shares.slot(share).await?,
                None => None,
            };

            let key = if policy.takes_key { idempotency_key(&head.headers) } else { Ok(None) };
            let mut unexpected = match head.uri.query() {
                query @ Some(_) if !policy.takes_query => unexpected_parameters(query),
                _ => Vec::new(),
            };
            let is_asked =
                if policy.may_be_rehearsed { api::dry_run::is_asked(&head.headers) } else { Ok(false) };
            measuring.leaves_nothing = matches!(is_asked, Ok(true));
            // One that says neither must not be made.
            let is_rehearsed = is_asked.unwrap_or_else(|bad| {
                unexpected.push(bad);
                true
            });
            if policy.is_of_platform
                && gathers
                && let (Some(first), Caller::Tenant(caller)) = (self.services.callers.first(), &caller)
            {
                drop(slot);
                return Box::pin(first.ask_first(&caller.key.hash, arrival, body)).await;
            }
            let parameters = found.parameters;
            let mut request = Request { parameters, arrival, body, inbound, key, unexpected, slot };

            if is_rehearsed {
                return Box::pin(self.rehearsed(endpoint, caller, request)).await;
            }
            match (endpoint, caller) {
                (Endpoint::Tenant(route), Caller::Tenant(caller)) => {
                    match self.audiences.tenants.prepare(route, caller, &mut request).await? {
                        ControlFlow::Break(reply) => return Ok(reply),
                        ControlFlow::Continue(work) => work,
                    }
                }
                (Endpoint::Visitor(route), _) => return self.audiences.visitors.answer(route, request),
                // Boxed: each connection has room for its longest future, and these are rare.
                (endpoint, caller) => return Box::pin(self.rare(endpoint, caller, request)).await,
            }
        };
        self.audiences.tenants.perform(work, Some(arrival), arrival.head.uri.query()).await
    }

    /// The partition that has the books that a call is about, if this one has not.
    fn elsewhere(&self, caller: &Caller, path: &str) -> Option<u8> {
        let callers = &self.services.callers;
        match caller {
            Caller::Tenant(caller) => callers.elsewhere(&caller.tenant),
            Caller::Operator(_) => {
                let tenant = callers.directory.tenant(tenant_of(path).and_then(Id::parse)?)?;
                callers.elsewhere(&tenant)
            }
            Caller::Anybody => None,
        }
    }

    async fn rare(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        caller: Caller,
        mut request: Request<'_>,
    ) -> Result<Reply, Problem> {
        let Audiences { banks, buyers, portal, operators, console, .. } = &*self.audiences;
        match (endpoint, caller) {
            (Endpoint::Bank(call), _) => banks.answer(*call, &mut request).await,
            (Endpoint::Buyer(row), _) => buyers.answer(row, &mut request).await,
            (Endpoint::TestAccount, _) => {
                let headers = &request.arrival.head.headers;
                let mut unexpected = std::mem::take(&mut request.unexpected);
                // What cannot be rehearsed is not done instead.
                if headers.contains_key(api::dry_run::NAME) {
                    unexpected.push(BadField::new(api::dry_run::NAME, "is not taken"));
                }
                let nothing =
                    Fields::parse_optional(&request.body).and_then(|fields| Ok(fields.finish().map(drop)?));
                without_unexpected(nothing, unexpected)?;
                test_accounts::open(&self.services, request.arrival.peer.ip()).await
            }
            (Endpoint::Merchant(row), _) => portal.answer(row, self, &mut request).await,
            (Endpoint::ConsoleOperator(row), _) => console.answer(row, self, &mut request).await,
            (Endpoint::Operator(route), Caller::Operator(operator)) => {
                operators.answer(route, operator, request).await
            }
            (
                Endpoint::Tenant(_)
                | Endpoint::Stream
                | Endpoint::Mcp
                | Endpoint::Visitor(_)
                | Endpoint::Operator(_),
                _,
            ) => Err(Problem::internal_error("a defect: an endpoint without its caller")),
        }
    }

    /// Who calls, and whether they may call this row; 401 or 403 if not.
    fn caller(
        &self,
        endpoint: &Endpoint,
        parameters: &[(&'static str, String)],
        arrival: &Arrival,
    ) -> Result<Caller, Problem> {
        match endpoint {
            // What only pages can call is named to nobody.
            Endpoint::Tenant(route)
                if route.needs.is_for_pages && arrival.head.extensions.get::<OnBehalf>().is_none() =>
            {
                Err(self.not_found(Audience::Tenant, arrival))
            }
            Endpoint::Tenant(route) => self.audiences.tenants.caller(arrival, route).map(Caller::Tenant),
            Endpoint::Stream => self.audiences.tenants.recognise(arrival).map(Caller::Tenant),
            Endpoint::Mcp => mcp::authenticate(self, &arrival.head).map(Caller::Tenant),
            Endpoint::Operator(route) => {
                self.audiences.operators.authenticate(route, parameters, arrival).map(Caller::Operator)
            }
            Endpoint::Bank(call) => {
                self.audiences.banks.authenticate(*call, arrival).map(|()| Caller::Anybody)
            }
            Endpoint::TestAccount
            | Endpoint::Visitor(_)
            | Endpoint::Buyer(_)
            | Endpoint::Merchant(_)
            | Endpoint::ConsoleOperator(_) => Ok(Caller::Anybody),
        }
    }

    /// The answer to what needs no caller and no confirmation: documents, health, and what browsers ask.
    async fn open_to_all<'m>(
        &'m self,
        audience: Audience,
        arrival: &Arrival,
        measuring: &mut Measuring<'m>,
    ) -> Option<Result<Reply, Problem>> {
        let (head, path) = (&arrival.head, arrival.head.uri.path());
        match audience {
            // The description of the API is no secret: a page must be there before a token can be typed into
            // it.
            Audience::Tenant | Audience::Operator => {
                if let Some(answer) = health(&self.services, &head.method, path) {
                    measuring.meter = if path == READY { &self.ready } else { &self.health };
                    return Some(answer);
                }
                if let Some(answer) = self.guide(arrival, measuring).await {
                    return Some(answer);
                }
                if let Some(answer) = self.documents.answer(&head.method, &head.uri, &head.headers) {
                    return Some(answer.map(|(place, reply)| {
                        measuring.meter = &self.document_meters[place];
                        reply
                    }));
                }
                let operators = self.operators.as_ref().filter(|_| path == metrics::PATH)?;
                measuring.meter = &operators.scrapes;
                if !operators.metrics.is_open
                    && let Err(refused) = self.services.callers.operators.authenticate(&head.headers)
                {
                    return Some(Err(refused));
                }
                Some(operators.metrics.answer(&head.method))
            }
            // Browsers ask with OPTIONS what they may do, at paths of the table alone.
            Audience::Visitor => {
                let is_preflight = head.method == Method::OPTIONS
                    && matches!(self.table.lookup(&Method::GET, path), Lookup::Found(_));
                is_preflight.then(|| Ok(self.audiences.visitors.preflight(&head.headers)))
            }
            // An address with a slash at its end, as people type it, leads to the page without one.
            Audience::Merchant | Audience::ConsoleOperator => {
                let is_typed =
                    head.method == Method::GET && path.ends_with('/') && !path.starts_with("/page-assets/");
                is_typed.then(|| Ok(crate::pages::front::without_slash(&head.uri)))
            }
            Audience::Bank | Audience::Buyer => None,
        }
    }

    /// The answer to a request for a guide, which is counted. One that takes long is made one at a time for everybody
    /// together, as nobody says who asks.
    async fn guide<'m>(
        &'m self,
        arrival: &Arrival,
        measuring: &mut Measuring<'m>,
    ) -> Option<Result<Reply, Problem>> {
        let (guides, head) = (self.guides.as_ref()?, &arrival.head);
        let answer = if guides.takes_long(head.uri.path()) {
            let (method, uri, headers) = (head.method.clone(), head.uri.clone(), head.headers.clone());
            let made =
                move |guides: &Guides<Arc<Meter>>, _: &ReadBudget| Ok(guides.answer(&method, &uri, &headers));
            match Box::pin(self.services.read_pool.read_long(guides, ANYBODY, made)).await {
                Ok(answer) => answer?,
                Err(problem) if problem.status == 429 => {
                    Err(Problem::too_often("too many people search the guides at once", 1))
                }
                Err(problem) => Err(problem),
            }
        } else {
            guides.answer(&head.method, &head.uri, &head.headers)?
        };
        Some(answer.map(|(route, reply)| {
            measuring.meter = &guides.values[route];
            reply
        }))
    }

    fn is_for_pages(&self, path: &str) -> bool {
        matches!(self.table.lookup(&Method::POST, path), Lookup::Found(found)
            if matches!(&found.value.endpoint, Endpoint::Tenant(route) if route.needs.is_for_pages))
    }

    fn not_found(&self, audience: Audience, arrival: &Arrival) -> Problem {
        let head = &arrival.head;
        let known = self.told.iter().filter(|(whose, _)| *whose == audience).map(|(_, path)| *path);
        absent::path(head.method.as_str(), head.uri.path(), known)
    }

    /// The problem of an object that is not there with the words for which one, where a program asked; any
    /// other as it is. The row is looked up again, as nobody waits for such an answer.
    fn named(&self, audience: Audience, problem: Problem, arrival: &Arrival) -> Problem {
        let place = match audience {
            _ if !problem.is_unnamed() => return problem,
            Audience::Operator => "on this server",
            Audience::Tenant => match sent_key(&arrival.head.headers).unwrap_or_default() {
                key if key.starts_with("pk_live_") => "under this key; a live key sees live mode alone",
                key if key.starts_with("pk_test_") => "under this key; a test key sees test mode alone",
                _ => "in this account's mode",
            },
            _ => return problem,
        };
        match self.table.lookup(&arrival.head.method, arrival.head.uri.path()) {
            Lookup::Found(found) => absent::object(found.path, |name| named(&found.parameters, name), place),
            _ => problem,
        }
    }

    fn refused(&self, audience: Audience, problem: Problem, arrival: &Arrival) -> Reply {
        let problem = self.named(audience, problem, arrival);
        match audience {
            Audience::Tenant | Audience::Operator => Reply::problem(&problem, &arrival.request_id),
            Audience::Visitor => Public::refused(&problem, arrival),
            Audience::Buyer => self.audiences.buyers.refused(&problem, arrival),
            Audience::Merchant => portal::SITE.refused(&problem, arrival),
            Audience::ConsoleOperator => console::SITE.refused(&problem, arrival),
            Audience::Bank => match self.table.lookup(&arrival.head.method, arrival.head.uri.path()) {
                Lookup::Found(found) if let Endpoint::Bank(call) = found.value.endpoint => {
                    RailCalls::refused(call, &problem, arrival)
                }
                _ => Reply::problem(&problem, &arrival.request_id),
            },
        }
    }
}

impl Answer for Arc<Server> {
    async fn answer(&self, arrival: &Arrival, inbound: &mut Inbound) -> Reply {
        let services = &*self.services;
        let audience = audience(self.operators.is_some(), arrival.head.uri.path());
        let trace = services.observed.spans.as_ref().map(|spans| spans.begin(&arrival.head.headers));
        let mut measuring = Measuring {
            meter: &self.unrouted,
            tenant: None,
            caller: None,
            began: Instant::now(),
            status: None,
            trace,
            leaves_nothing: false,
        };
        let reply = match self.steps(audience, arrival, inbound, &mut measuring).await {
            Ok(reply) => reply,
            Err(problem) => self.refused(audience, problem, arrival),
        };
        let reply = match audience {
            // What the API says is the caller's alone, refusals too.
            Audience::Tenant if is_api(arrival.head.uri.path()) => reply.no_store(),
            Audience::Operator => reply.no_store(),
            Audience::Visitor => self.audiences.visitors.for_browsers(reply, arrival),
            _ => reply,
        };
        // Who was refused, or asked for what is not there, may have a key all the same.
        if audience == Audience::Tenant && measuring.caller.is_none() {
            measuring.caller = self.audiences.tenants.key_of(arrival);
        }
        measuring.end(services, arrival, &reply);
        reply
    }
}

/// A request that is being answered. It counts when it ends, whichever way.
#[must_use]
struct Measuring<'m> {
    meter: &'m Meter,
    tenant: Option<Id>,
    caller: Option<(u64, Id)>,
    began: Instant,
    status: Option<u16>,
    trace: Option<Trace<'m>>,
    /// Of a rehearsal, and of what is another partition's.
    leaves_nothing: bool,
}

impl Measuring<'_> {
    /// Notes it in the log of requests, if a key asked, and ends its span.
    fn end(mut self, services: &Services, arrival: &Arrival, reply: &Reply) {
        self.status = Some(reply.status);
        if let Some((tenant, key)) = self.caller
            && !self.leaves_nothing
        {
            let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
            services.files.requests.note(tenant, reply.status, || Answered {
                request_id: arrival.request_id.clone(),
                tenant,
                key,
                at: services.now().plus_ms(-i64::try_from(ms).unwrap_or(0)),
                ms,
                // The one that was sent: of what no row is for, the meter knows none.
                method: match arrival.head.method {
                    Method::GET => "GET",
                    Method::POST => "POST",
                    Method::PUT => "PUT",
                    Method::PATCH => "PATCH",
                    Method::DELETE => "DELETE",
                    _ => "OTHER",
                },
                route: self.meter.route,
                status: reply.status,
                error: if reply.status >= 400 { Code::of(&reply.body) } else { None },
                seq: reply.trace.seq,
                // What a page reads to show itself is nothing that a program asked.
                is_listed: arrival.head.method != Method::GET
                    || arrival.head.extensions.get::<OnBehalf>().is_none(),
            });
        }
        let Some(trace) = self.trace.take() else { return };
        trace.end(RequestSummary {
            method: &self.meter.method,
            route: self.meter.route,
            status: reply.status,
            request_id: arrival.request_id.as_str(),
            tenant: self.tenant.map(|tenant| tenant.to_string()),
            wal_seq: reply.trace.seq,
            timing_us: reply.trace.timing.map(|times| [times.queue_us, times.apply_us, times.wal_us]),
        });
    }
}

impl Drop for Measuring<'_> {
    fn drop(&mut self) {
        // The listener answers for a panic.
        let unanswered = if std::thread::panicking() { 500 } else { GONE };
        let place = STATUSES.binary_search(&self.status.unwrap_or(unanswered)).unwrap_or(STATUSES.len());
        self.meter.statuses[place].fetch_add(1, Ordering::Relaxed);
        self.meter.latency_us.note(u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
}

/// Life and readiness, for balancers and watchdogs: the same answers on both listeners, in words that name no
/// address and no part of the engine. What failed is in the log.
fn health(services: &Services, method: &Method, path: &str) -> Option<Result<Reply, Problem>> {
    let reply = match path {
        HEALTH => front::alive(),
        READY => match (services.ready(), &services.cluster) {
            (Ok(()), Some(cluster)) => front::ready(cluster),
            (Err(why), Some(cluster)) => front::unready(cluster, why),
            (Ok(()), None) => Reply::json(200, Object::new().plain("status", "ready").end()),
            (Err(why), None) => unready(why),
        },
        _ => return None,
    };
    Some(front::read_only(method, reply))
}

fn unready(why: &'static str) -> Reply {
    Reply::json(503, Object::new().plain("status", "unavailable").plain("reason", why).end())
}

fn is_read(arrival: &Arrival) -> bool {
    matches!(arrival.head.method, Method::GET | Method::HEAD)
}

fn unconfirmed(arrival: &Arrival) -> Problem {
    if is_read(arrival) { Problem::no_leader() } else { Problem::storage_unavailable() }
}

/// An answer, once it is sure that this machine led while it was found; otherwise what is certain. A
/// machine that leads no more may have carried out what it cannot confirm.
async fn confirmed(
    confirming: Confirming,
    reply: Result<Reply, Problem>,
    arrival: &Arrival,
) -> Result<Reply, Problem> {
    match (confirming.await, reply) {
        (Ok(_), Ok(reply)) => Ok(reply),
        // The log failed because another machine leads. Of a read nothing was to be written.
        (_, Err(problem)) if is_read(arrival) && problem.code == Problem::storage_unavailable().code => {
            Err(Problem::no_leader())
        }
        (Ok(_), Err(problem)) => Err(problem),
        (Err(_), Err(problem)) if problem.status == 503 => Err(problem),
        (Err(_), _) => Err(unconfirmed(arrival)),
    }
}

/// Leads to the server once it is open.
pub struct StartupGate {
    inside: OnceLock<Arc<Server>>,
    standby: OnceLock<StandbyFront>,
    /// Of a node with several partitions, in the place of all else.
    front: OnceLock<NodeFront>,
    why_closed: RwLock<&'static str>,
    /// Whether another machine may lead meanwhile: then a request is not this one's to do.
    is_node: AtomicBool,
    is_operators: bool,
    cards: Router<bool>,
}

impl StartupGate {
    pub fn new(is_operators: bool) -> StartupGate {
        StartupGate {
            is_operators,
            cards: table::cards(),
            inside: OnceLock::new(),
            standby: OnceLock::new(),
            front: OnceLock::new(),
            why_closed: RwLock::new("recovering: the log is being replayed"),
            is_node: AtomicBool::new(false),
        }
    }

    /// Has the gate answer for a node of a cluster that opens its log.
    pub fn start_node(&self) {
        self.explain("starting: this node opens its log, and then follows the cluster");
        self.is_node.store(true, Ordering::Release);
    }

    /// Of a path that is no row nobody knows what was meant for it.
    fn may_have_card(&self, method: &Method, path: &str) -> bool {
        match audience(self.is_operators, path) {
            Audience::Tenant | Audience::Buyer => match self.cards.lookup(method, path) {
                Lookup::Found(found) => *found.value,
                Lookup::NotFound | Lookup::WrongMethod { .. } => true,
            },
            _ => false,
        }
    }

    fn closed(&self) -> Problem {
        if self.is_node.load(Ordering::Acquire) { Problem::no_leader() } else { Problem::overloaded(1) }
    }

    pub fn explain(&self, why: &'static str) {
        *self.why_closed.write().unwrap_or_else(PoisonError::into_inner) = why;
    }

    pub fn stand_by(&self, front: StandbyFront) {
        let _ = self.standby.set(front);
    }

    pub fn pass_on(&self, front: NodeFront) {
        let _ = self.front.set(front);
    }

    pub fn open(&self, inside: Server) {
        assert!(self.inside.set(Arc::new(inside)).is_ok(), "a startup gate is opened once");
    }
}

impl Answer for StartupGate {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        if let Some(front) = self.standby.get()
            && let Some(reply) = front.own(arrival)
        {
            return reply;
        }
        // Though nobody reads it here, or a standby passes it on.
        body.has_card =
            self.inside.get().is_none() && self.may_have_card(&arrival.head.method, arrival.head.uri.path());
        match self.inside.get() {
            Some(inside) => inside.answer(arrival, body).await,
            None if let Some(front) = self.front.get() => front.answer(arrival, body).await,
            None if let Some(front) = self.standby.get() => front.answer(arrival, body).await,
            None if arrival.head.uri.path() == HEALTH => front::alive(),
            None if arrival.head.uri.path() == READY => {
                unready(*self.why_closed.read().unwrap_or_else(PoisonError::into_inner))
            }
            None => match audience(self.is_operators, arrival.head.uri.path()) {
                Audience::Visitor => Reply::public_problem(&self.closed(), &arrival.request_id),
                Audience::Merchant => portal::SITE.refused(&self.closed(), arrival),
                Audience::ConsoleOperator => console::SITE.refused(&self.closed(), arrival),
                Audience::Tenant | Audience::Bank | Audience::Buyer | Audience::Operator => {
                    Reply::problem(&self.closed(), &arrival.request_id)
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::respond::RequestId;
    use hyper::header::CONTENT_TYPE;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn every_end_of_a_request_is_counted_once() {
        let meters = Meters::default();
        let (none, row) = (meters.of("any", "none"), meters.of("GET", "/v1/payments/:id"));
        let ended = |status| {
            let (began, tenant, caller, trace) = (Instant::now(), None, None, None);
            let leaves_nothing = false;
            let mut measuring =
                Measuring { meter: &none, tenant, caller, began, status, trace, leaves_nothing };
            measuring.meter = &row;
            measuring
        };
        for status in [Some(200), Some(200), Some(418), None] {
            drop(ended(status));
        }
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _measuring = ended(None);
            panic!("on purpose");
        }));
        assert_eq!(row.counts().collect::<Vec<_>>(), [(200, 2), (499, 1), (500, 1), (0, 1)]);
        let took = |meter: &Meter| meter.latency_us.counted().total();
        assert_eq!((took(&row), took(&none)), (5, 0));
    }

    #[test]
    fn a_closed_gate_knows_where_a_card_may_be() {
        for (is_operators, method, path, may) in [
            (false, Method::POST, "/v1/payments/vpos", true),
            (false, Method::POST, "/v1/payouts", false),
            (false, Method::POST, "/v1/payment/vpos", true),
            (false, Method::POST, "/checkout/01975a2e-7c00-7000-8000-0000000000aa/card", true),
            (false, Method::POST, "/portal/login", false),
            (true, Method::POST, "/admin/reconciliations", false),
            (true, Method::POST, "/v1/payments/vpos", false),
        ] {
            assert_eq!(StartupGate::new(is_operators).may_have_card(&method, path), may, "{path}");
        }
    }

    #[tokio::test]
    async fn before_the_start_people_are_answered_pages_and_programs_json() {
        for (is_operators, path, form) in [
            (false, "/portal", "text/html"),
            (false, "/portal/home", "text/html"),
            (false, "/v1/payments", "application/json"),
            (true, "/console", "text/html"),
            (true, "/admin/tenants", "application/json"),
        ] {
            let request = hyper::Request::get(path).body(()).expect("a request");
            let (head, ()) = request.into_parts();
            let request_id = RequestId::generate();
            let arrival = Arrival { head, request_id, peer: ([127, 0, 0, 1], 9).into() };
            let gate = StartupGate::new(is_operators);
            let reply = gate.answer(&arrival, &mut Inbound::made(Bytes::new())).await;
            let response = reply.into_response(&arrival.request_id, hyper::Version::HTTP_11);
            assert_eq!(response.status(), 503, "{path}");
            let sent = response.headers()[CONTENT_TYPE].to_str().expect("text");
            assert!(sent.starts_with(form), "{path}: {sent}");
        }
    }
}
