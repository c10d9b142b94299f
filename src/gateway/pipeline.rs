//! The steps of a request, once and in their order, for every surface: tenants, operators, buyers,
//! banks that call, people in front of pages, and everybody.
//!
//! A [`Surface`] has the parts in which they differ: its table, the authentication of callers, the
//! columns of a row, and the last step. It has no order of its own. The steps are: guard,
//! documents, route, caller, admission, body, work slot, Idempotency-Key, handler, doing.
//!
//! The reasons for a surface's own way stand where it takes it: `admin/serve.rs` why the last step
//! is a task, `checkout/mod.rs` why buyers are known only after the body, `public.rs` what it
//! answers to OPTIONS. No rule about money is here.

use crate::cluster::Confirming;
use crate::gateway::meter::{Measuring, Meter};
use crate::gateway::services::Services;
use crate::gateway::shares::{Share, WorkSlot};
use crate::http::body::Inbound;
use crate::http::body::{idempotency_key, unexpected_parameters};
use crate::http::documents::Documents;
use crate::http::listen::Arrival;
use crate::http::respond::Reply;
use crate::http::router::{Lookup, Parameters, Router};
use api::absent;
use api::problem::{BadField, Problem};
use bytes::Bytes;
use domain::values::ids::Id;
use hyper::Method;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;

/// The columns of a route table, as far as a step depends on them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns {
    /// Whether work is refused while there is no room for it: on the disk, in the engine.
    pub needs_room: bool,
    /// Whether a body of JSON is read before the doing.
    pub takes_json: bool,
    /// Whether the body has a card in it.
    pub has_card: bool,
    /// Whether an Idempotency-Key counts.
    pub takes_key: bool,
    /// Whether the parameters after the question mark are the handler's; if not, any is unexpected.
    pub takes_query: bool,
}

/// The proof of who calls. Only a surface's authentication makes one.
pub trait Proof: Send + Sync {
    /// The tenant and its key in the caller's mode, if the caller is a tenant.
    fn tenant(&self) -> Option<(Id, u64)> {
        None
    }

    /// The tenant key and the key that was sent, if the caller has one.
    fn key(&self) -> Option<(u64, Id)> {
        None
    }
}

/// A caller of whom no proof is asked, or only later.
pub struct Anybody;

impl Proof for Anybody {}

/// A request whose row and caller are known and whose body is there. It stays in one place, where
/// [`Surface::prepare`] looks at it.
pub struct Asked<'a, S: Surface> {
    /// The row of the route table that the request matched.
    pub row: &'a S::Row,
    /// The values of the path's parameters.
    pub parameters: Parameters<'a>,
    /// The head of the request: method, path, headers and request id.
    pub arrival: &'a Arrival,
    /// A panic is answered by the listener.
    pub body: Bytes,
    /// The body as it arrives, for handlers that read another form than JSON.
    pub inbound: &'a mut Inbound,
    /// The Idempotency-Key, if one was sent and counts; or what is bad about it.
    pub key: Result<Option<&'a str>, BadField>,
    /// The parameters after the question mark of a call that takes none.
    pub unexpected: Vec<BadField>,
    /// The right to keep processors and disk busy.
    pub slot: Option<WorkSlot>,
}

/// A kind of callers, and what is for them.
pub trait Surface: Sized + Send + Sync {
    /// A row of its table.
    type Row: Send + Sync;
    /// The proof of who calls.
    type Caller: Proof;
    /// The work that is left after a request was read.
    type Work: Send;

    /// The server's parts.
    fn services(&self) -> &Services;

    /// The surface's route table.
    fn router(&self) -> &Router<(Self::Row, Arc<Meter>)>;

    /// The meter of what is not in the table.
    fn unrouted(&self) -> &Meter;

    fn columns(&self, row: &Self::Row) -> Columns;

    /// Authenticates the caller and checks that the row may be called with this key; 401 or 403 if
    /// not.
    fn authenticate(&self, row: &Self::Row, arrival: &Arrival) -> Result<Self::Caller, Problem>;

    /// Reads what is asked: the answer, if it was given before or needs no more than that, or the
    /// work that is left.
    fn prepare(
        &self,
        caller: Self::Caller,
        asked: &mut Asked<'_, Self>,
    ) -> impl Future<Output = Result<ControlFlow<Reply, Self::Work>, Problem>> + Send;

    /// Does the work that is left, and returns the answer.
    fn perform(
        &self,
        work: Self::Work,
        arrival: &Arrival,
    ) -> impl Future<Output = Result<Reply, Problem>> + Send;

    /// A check before any route, documents included; the problem if nothing may be asked.
    fn guard(&self, _: &Arrival) -> Result<(), Problem> {
        Ok(())
    }

    /// Whether the answer is what this machine knows by itself, right or wrong: nothing is confirmed.
    fn is_own(&self, _: &Arrival) -> bool {
        false
    }

    /// The answer to a path that has no row and needs no caller, such as a document.
    fn beside<'m>(
        &'m self,
        _: &Arrival,
        _: &mut Measuring<'m>,
    ) -> impl Future<Output = Option<Result<Reply, Problem>>> + Send {
        async { None }
    }

    /// The tenant key and the key of a caller who was refused, or asked for what is not there.
    fn key_of(&self, _: &Arrival) -> Option<(u64, Id)> {
        None
    }

    /// The share that the request is counted in, if it is in one.
    fn share(&self, _: &Self::Row, _: &Self::Caller, _: &Arrival) -> Option<Arc<Share>> {
        None
    }

    /// The share that a body is gathered in, if it is in one: that of the work, unless a surface whose
    /// work needs none says who sends it.
    fn gathered_in(&self, row: &Self::Row, caller: &Self::Caller, arrival: &Arrival) -> Option<Arc<Share>> {
        self.share(row, caller, arrival)
    }

    /// The problem of a path that leads nowhere.
    fn not_found(&self, arrival: &Arrival) -> Problem {
        absent::path(arrival.head.method.as_str(), arrival.head.uri.path(), self.router().paths())
    }

    /// The place where objects are looked for, in words for a caller who named one that is not
    /// there; none if callers do not learn what was missing.
    fn looked_for(&self, _: &Arrival) -> Option<&'static str> {
        None
    }

    /// The problem of a path that takes only other methods.
    fn wrong_method(&self, allow: &Arc<str>) -> Problem {
        Problem::method_not_allowed(Arc::clone(allow))
    }

    /// The answer to a problem, in the form that these callers read.
    fn refused(&self, problem: &Problem, arrival: &Arrival) -> Reply {
        Reply::problem(problem, &arrival.request_id)
    }

    /// Completes an answer, whatever it is, before it is sent.
    fn finish(&self, reply: Reply, _: &Arrival) -> Reply {
        reply
    }
}

/// Answers a request to a surface, and counts it.
pub async fn answer<S: Surface>(surface: &S, arrival: &Arrival, inbound: &mut Inbound) -> Reply {
    let mut measuring = Measuring::begin(surface.unrouted())
        .traced(surface.services().observed.spans.as_deref(), &arrival.head.headers);
    let reply = match steps(surface, arrival, inbound, &mut measuring).await {
        Ok(reply) => reply,
        Err(problem) => surface.refused(&named(surface, problem, arrival), arrival),
    };
    let reply = surface.finish(reply, arrival);
    if !measuring.is_known() {
        measuring.by(surface.key_of(arrival));
    }
    let services = surface.services();
    if measuring.is_known()
        && services.files.requests.takes(reply.status())
        && let Some(answered) =
            measuring.answered(&arrival.head.method, &reply, &arrival.request_id, services.now())
    {
        services.files.requests.note(answered);
    }
    measuring.end(&reply, &arrival.request_id);
    reply
}

/// The problem of an object that is not there with the words for which one; any other as it is. The row
/// is looked up again, as nobody waits for such an answer.
fn named<S: Surface>(surface: &S, problem: Problem, arrival: &Arrival) -> Problem {
    let place = if problem.is_unnamed() { surface.looked_for(arrival) } else { None };
    let Some(place) = place else { return problem };
    match surface.router().lookup(&arrival.head.method, arrival.head.uri.path()) {
        Lookup::Found(found) => absent::object(found.path, |name| found.parameters.get(name), place),
        _ => problem,
    }
}

async fn steps<'a, S: Surface>(
    surface: &'a S,
    arrival: &'a Arrival,
    inbound: &'a mut Inbound,
    measuring: &mut Measuring<'a>,
) -> Result<Reply, Problem> {
    surface.guard(arrival)?;
    if let Some(answer) = surface.beside(arrival, measuring).await {
        return answer;
    }
    // The question of a request that only reads is sent before anything is read: it is on its way
    // meanwhile.
    let cluster = surface.services().cluster.as_ref().filter(|_| !surface.is_own(arrival));
    let confirming = cluster.map(|cluster| {
        let confirming = cluster.begin_to_confirm();
        (cluster, if is_read(arrival) { confirming.asked() } else { confirming })
    });
    // In one place: moved into what follows, it would take its room in every connection twice.
    let mut routed = pin!(routed(surface, arrival, inbound, measuring));
    let Some((cluster, confirming)) = confirming else { return routed.await };
    let confirmed = async { confirmed(confirming, routed.as_mut().await, arrival).await };
    tokio::select! {
        reply = confirmed => reply,
        // The request that is not answered by now may still be carried out.
        () = cluster.stalled() => Err(unconfirmed(arrival)),
    }
}

/// Whether a request only reads.
fn is_read(arrival: &Arrival) -> bool {
    matches!(arrival.head.method, Method::GET | Method::HEAD)
}

/// The problem of a request that was not confirmed, with what is certain of it.
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
    if confirming.await.is_ok() {
        return reply.map_err(|problem| of_read(problem, arrival));
    }
    Err(match reply {
        Err(problem) if problem.status == 503 => of_read(problem, arrival),
        _ => unconfirmed(arrival),
    })
}

/// The problem of a read whose log failed because another machine leads: nothing was to be written.
fn of_read(problem: Problem, arrival: &Arrival) -> Problem {
    if problem.code == Problem::storage_unavailable().code { unconfirmed(arrival) } else { problem }
}

/// The steps of a request that is in the table.
async fn routed<'a, S: Surface>(
    surface: &'a S,
    arrival: &'a Arrival,
    inbound: &'a mut Inbound,
    measuring: &mut Measuring<'a>,
) -> Result<Reply, Problem> {
    // The block drops what need not outlive a wait: each connection has room only for the work that
    // is left.
    let prepared = {
        let (caller, mut asked) = ask(surface, arrival, inbound, measuring).await?;
        surface.prepare(caller, &mut asked).await?
    };
    match prepared {
        ControlFlow::Break(reply) => Ok(reply),
        ControlFlow::Continue(work) => surface.perform(work, arrival).await,
    }
}

/// Runs the steps up to the handler: route, caller, admission, body and work slot.
async fn ask<'a, S: Surface>(
    surface: &'a S,
    arrival: &'a Arrival,
    inbound: &'a mut Inbound,
    measuring: &mut Measuring<'a>,
) -> Result<(S::Caller, Asked<'a, S>), Problem> {
    let head = &arrival.head;
    let found = match surface.router().lookup(&head.method, head.uri.path()) {
        Lookup::Found(found) => found,
        Lookup::WrongMethod { allow } => return Err(surface.wrong_method(allow)),
        Lookup::NotFound => return Err(surface.not_found(arrival)),
    };
    let (row, meter) = found.value;
    measuring.found(meter);
    let columns = surface.columns(row);
    let caller = surface.authenticate(row, arrival)?;
    if let Some((id, _)) = caller.tenant() {
        measuring.of(id);
    }
    measuring.by(caller.key());
    let tenant = caller.tenant().map(|(_, tenant)| tenant);
    if columns.needs_room {
        surface.services().admit(tenant)?;
    } else {
        surface.services().admit_read(tenant)?;
    }
    let share = surface.share(row, &caller, arrival);
    if let Some(share) = &share {
        surface.services().shares.admit(share).await?;
    }
    if columns.has_card {
        inbound.hold_card();
    }
    // Also where the body is read later: nobody's bodies are gathered in all the room that there is.
    if head.method != Method::GET
        && let Some(share) = surface.gathered_in(row, &caller, arrival)
    {
        inbound.charge_to(share);
    }
    let body = if columns.takes_json { inbound.json(&head.headers).await? } else { Bytes::new() };
    let slot = match &share {
        Some(share) => surface.services().shares.slot(share).await?,
        None => None,
    };
    let key = if columns.takes_key { idempotency_key(&head.headers) } else { Ok(None) };
    let unexpected = if columns.takes_query { Vec::new() } else { unexpected_parameters(head.uri.query()) };
    let parameters = found.parameters;
    Ok((caller, Asked { row, parameters, arrival, body, inbound, key, unexpected, slot }))
}

/// The answer to a request for a document, which is counted.
pub fn document<'m>(
    documents: &'m Documents<Arc<Meter>>,
    arrival: &Arrival,
    measuring: &mut Measuring<'m>,
) -> Option<Result<Reply, Problem>> {
    let head = &arrival.head;
    let answer = documents.answer(&head.method, head.uri.path(), &head.headers)?;
    Some(answer.map(|(meter, reply)| {
        measuring.found(meter);
        reply
    }))
}
