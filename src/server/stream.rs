//! A stream (`docs/contract.md, 23`): its lines are read one by one, and each goes the way of every request. What does
//! not belong here: the forms of lines (`src/api/streams.rs`), and anything about what a call means.
//!
//! Lines are decided in the order in which they stand. One begins when the line before it is in the mailbox of its book
//! ([`Turn`]), or answered; one that rests on more than its book (a read, most of all) also waits until all before it are
//! durable. Nobody waits for a bank. One task has all the lines of a stream, so that those which go on at once go on in
//! their order.

use super::table::Endpoint;
use super::{API, Audience, Measuring, Server};
use crate::cluster::Cluster;
use crate::gateway::limits::Owner;
use crate::gateway::streams::{Place, Progress, Turn};
use crate::http::body::{Inbound, is_media, is_plain};
use crate::http::listen::{Answer, Arrival};
use crate::http::respond::{Broken, Hold, Reply, RequestId, Rest};
use crate::http::router::Lookup;
use crate::requests::Code;
use api::dry_run::is_asked;
use api::endpoint::Caller;
use api::payments::receipt;
use api::problem::Problem;
use api::streams::{
    End, LINE_BYTES_MAX, LINES_UNDER_WAY_MAX, Line, MEDIA_TYPE, Outcome, PATH, STREAMS_PER_KEY_MAX, read_line,
};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use hyper::header::{CONTENT_TYPE, EXPECT, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Request, Uri};
use memchr::memchr;
use std::collections::HashSet;
use std::future::{pending, poll_fn};
use std::mem;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::{unconstrained, yield_now};
use tokio::time::sleep;
use zeroize::Zeroize as _;

const SILENCE_MAX: Duration = Duration::from_secs(60);
/// For the lines that are under way when the server stops: banks may take longer than that.
const STOP_MAX: Duration = Duration::from_secs(3);
/// Then others have the processor.
const LINES_IN_A_ROW: u64 = 64;
/// Of answers that the caller has not taken.
const ANSWERS_BYTES_MAX: usize = 2 << 20;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The headers of the stream that each of its lines has.
const OF_ALL_LINES: [HeaderName; 3] = [
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("prefer"),
    HeaderName::from_static("dry-run"),
];

/// Opens a stream, which goes on by itself behind the answer.
pub(super) async fn open(
    server: &Arc<Server>,
    caller: &Caller,
    arrival: &Arrival,
    inbound: &mut Inbound,
) -> Result<Reply, Problem> {
    let headers = &arrival.head.headers;
    is_plain(headers)?;
    is_asked(headers).map_err(|bad| Problem::invalid_data(vec![bad]))?;
    if !is_media(headers, MEDIA_TYPE) {
        let message = "send the lines with the header content-type: application/x-ndjson".into();
        return Err(Problem { message, ..Problem::unsupported_media_type() });
    }
    let services = &server.services;
    let Some(place) = services.streams.begin(caller.key.id) else {
        let many =
            format!("this key has {STREAMS_PER_KEY_MAX} streams open, and no more are opened beside them");
        return Err(Problem::too_often(many, 1));
    };
    let mut of_all_lines = HeaderMap::new();
    for name in OF_ALL_LINES {
        for value in headers.get_all(&name) {
            of_all_lines.append(name.clone(), value.clone());
        }
    }
    let mut lines = Lines::of(inbound.take());
    if headers.contains_key(EXPECT) {
        // Whoever waits to be told to go on is told when the body is first asked for, and before the answer begins.
        let mut first = pin!(lines.fill());
        let _ = poll_fn(|context| Poll::Ready(first.as_mut().poll(context))).await;
        yield_now().await;
    }
    let progress = Arc::<Progress>::default();
    let outlet = Arc::new(Outlet::new(Arc::clone(&progress)));
    let hold = Hold::default();
    let stream = Stream {
        server: Arc::clone(server),
        tenant: caller.tenant_key,
        peer: arrival.peer,
        of_all_lines,
        progress,
        outlet: Writing(Arc::clone(&outlet)),
        last: None,
        keys: HashSet::new(),
        numbered: 0,
        answered: 0,
        _place: place,
        _hold: hold.clone(),
    };
    tokio::spawn(stream.run(lines));
    Ok(Reply::pieces(MEDIA_TYPE, Bytes::new(), pieces(Reading(outlet))).reading_on(hold))
}

struct Stream {
    server: Arc<Server>,
    tenant: u64,
    peer: SocketAddr,
    of_all_lines: HeaderMap,
    progress: Arc<Progress>,
    outlet: Writing,
    /// That of the line that began last.
    last: Option<Turn>,
    /// The paths and Idempotency-Keys that lines under way have: one more waits for the answer, and has it again.
    keys: HashSet<(String, String)>,
    numbered: u64,
    answered: u64,
    _place: Place,
    _hold: Hold,
}

/// A line that is a call, and has not begun.
struct Call {
    number: u64,
    key: Option<String>,
    arrival: Arrival,
    body: Bytes,
    uses: Option<(String, String)>,
    is_of_book: bool,
}

/// A line whose call was answered.
struct Done {
    number: u64,
    key: Option<String>,
    uses: Option<(String, String)>,
    turn: Turn,
    reply: Reply,
}

type UnderWay = FuturesUnordered<Pin<Box<dyn Future<Output = Done> + Send>>>;

impl Stream {
    async fn run(mut self, mut lines: Lines) {
        let server = Arc::clone(&self.server);
        let services = &server.services;
        let mut stopping = services.streams.stopping();
        let mut stopped = pin!(async { drop(stopping.wait_for(|is_stopping| *is_stopping).await) });
        let mut deposed = pin!(until_deposed(services.cluster.as_ref()));
        let mut silence = pin!(sleep(SILENCE_MAX));
        let progress = Arc::clone(&self.progress);
        let (mut under_way, mut next, mut end) = (UnderWay::new(), None::<Call>, None::<End>);
        loop {
            if let Some(call) = next.take_if(|call| self.may_begin(call, &under_way)) {
                under_way.push(self.begin(call));
            }
            if end.is_some() && next.is_none() && under_way.is_empty() {
                break;
            }
            let has_room = self.outlet.has_room(under_way.len());
            let serves = !matches!(end, Some(End::ServerStopping | End::NoLeader));
            let over = tokio::select! {
                biased;
                Some(done) = under_way.next(), if !under_way.is_empty() => self.answer(done),
                () = progress.changed.notified() => None,
                () = &mut stopped, if serves => Some(End::ServerStopping),
                () = &mut deposed, if serves => Some(End::NoLeader),
                () = &mut silence => match (end, lines.silent_until(&self.outlet, has_room, next.is_some())) {
                    (Some(End::ServerStopping), _) => break,
                    (None, until) if until <= Instant::now() => Some(End::Idle),
                    (over, until) => {
                        // Once it is over, only what is under way is waited for.
                        let until = if over.is_none() { until } else { until.max(Instant::now() + STOP_MAX) };
                        silence.as_mut().reset(until.into());
                        None
                    }
                },
                read = lines.next(), if end.is_none() && next.is_none() && has_room => match read {
                    Read::Line(line) => {
                        next = self.read(line, &mut lines);
                        if self.numbered.is_multiple_of(LINES_IN_A_ROW) {
                            yield_now().await;
                        }
                        None
                    }
                    Read::TooLong => {
                        self.refuse_unread();
                        None
                    }
                    Read::End => {
                        end = Some(End::Whole);
                        None
                    }
                    Read::Cut => return,
                },
            };
            if self.outlet.is_cut() {
                return;
            }
            if let Some(over) = over.filter(|_| serves) {
                (end, next) = (Some(over), None);
                match over {
                    // Nothing that is under way can be confirmed any more.
                    End::NoLeader => break,
                    End::ServerStopping => silence.as_mut().reset((Instant::now() + STOP_MAX).into()),
                    End::Idle | End::Whole => {}
                }
            }
        }
        let end = end.unwrap_or(End::ServerStopping);
        self.outlet.end(&end.to_line(self.numbered, self.answered));
    }

    /// The call of a line; none if the line was refused.
    fn read(&mut self, mut line: Vec<u8>, lines: &mut Lines) -> Option<Call> {
        self.numbered += 1;
        let (key, read) = read_line(&line);
        let key = key.map(str::to_owned);
        let call = match read {
            Ok(call) => self.call(key.clone(), &call),
            Err(problem) => Err(Box::new((self.arrival(Method::POST, Uri::from_static(PATH)), problem))),
        };
        match call {
            Ok((call, has_card)) => {
                if has_card {
                    line.zeroize();
                    lines.hold_card();
                }
                Some(call)
            }
            Err(refused) => {
                let (arrival, problem) = *refused;
                let reply = self.server.refuse_line(&arrival, problem);
                self.write(self.numbered, key.as_deref(), &reply);
                None
            }
        }
    }

    fn refuse_unread(&mut self) {
        self.numbered += 1;
        let arrival = self.arrival(Method::POST, Uri::from_static(PATH));
        let reply = self.server.refuse_line(&arrival, Problem::payload_too_large(LINE_BYTES_MAX));
        self.write(self.numbered, None, &reply);
    }

    /// The request that a line stands for, and whether a card may be in it; or why there is none.
    fn call(&self, key: Option<String>, line: &Line<'_>) -> Result<(Call, bool), Box<(Arrival, Problem)>> {
        let refused =
            |problem| Err(Box::new((self.arrival(line.method.clone(), Uri::from_static(PATH)), problem)));
        let is_plain = line.path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
        let Some(path) = PathAndQuery::try_from(&*line.path).ok().filter(|_| is_plain) else {
            return refused(Problem::invalid_field("path", "must be the path of a call, percent-encoded"));
        };
        let mut arrival = self.arrival(line.method.clone(), Uri::from(path));
        let path = arrival.head.uri.path();
        if !path.starts_with(API) {
            let problem = self.server.not_found(Audience::Tenant, &arrival);
            return Err(Box::new((arrival, problem)));
        }
        if path == PATH {
            return refused(Problem::invalid_field("path", "must be that of a call, not of a stream"));
        }
        let (mut is_of_book, mut has_card) = (false, false);
        if let Lookup::Found(found) = self.server.table.lookup(&line.method, path) {
            has_card = found.value.policy.has_card;
            match &found.value.endpoint {
                Endpoint::Tenant(route) if route.operation == receipt::OPERATION => {
                    return refused(Problem::invalid_field(
                        "path",
                        "must be that of a call that answers JSON",
                    ));
                }
                Endpoint::Tenant(route) => is_of_book = route.is_of_book,
                _ => {}
            }
        }
        let uses = line.key.as_deref().map(|key| (path.to_owned(), key.to_owned()));
        let headers = &mut arrival.head.headers;
        if let Some(Ok(key)) = line.key.as_deref().map(HeaderValue::from_str) {
            headers.insert(IDEMPOTENCY_KEY, key);
        }
        if !line.body.is_empty() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = Bytes::copy_from_slice(line.body.as_bytes());
        Ok((Call { number: self.numbered, key, arrival, body, uses, is_of_book }, has_card))
    }

    fn arrival(&self, method: Method, uri: Uri) -> Arrival {
        let (mut head, ()) = Request::new(()).into_parts();
        (head.method, head.uri, head.headers) = (method, uri, self.of_all_lines.clone());
        Arrival { head, request_id: RequestId::generate(), peer: self.peer }
    }

    /// Whether a line may begin now: those before it are where it sees them, and it would not be refused because of
    /// them. When one of them comes further, it is asked again.
    fn may_begin(&self, call: &Call, under_way: &UnderWay) -> bool {
        let services = &self.server.services;
        self.last.as_ref().is_none_or(Turn::is_handed_over)
            && (call.is_of_book || self.progress.all_recorded())
            && call.uses.as_ref().is_none_or(|uses| !self.keys.contains(uses))
            && (under_way.is_empty()
                || services.engine.has_place(self.tenant)
                    && !services.shares.is_full(&services.shares.of(Owner::Tenant(self.tenant))))
    }

    fn begin(&mut self, call: Call) -> Pin<Box<dyn Future<Output = Done> + Send>> {
        let Call { number, key, mut arrival, body, uses, .. } = call;
        let turn = Turn::begin(&self.progress);
        arrival.head.extensions.insert(turn.clone());
        self.last = Some(turn.clone());
        self.keys.extend(uses.clone());
        let server = Arc::clone(&self.server);
        // Constrained, those that go on after the task's budget is spent would go on in the reverse order.
        Box::pin(unconstrained(async move {
            let reply = server.answer(&arrival, &mut Inbound::made(body)).await;
            Done { number, key, uses, turn, reply }
        }))
    }

    /// Writes the answer of a line. What the end of this server leaves without one is told by the end of the stream.
    fn answer(&mut self, done: Done) -> Option<End> {
        let Done { number, key, uses, turn, reply } = done;
        turn.recorded();
        if let Some(uses) = uses {
            self.keys.remove(&uses);
        }
        if reply.status == 503 {
            let is_deposed = self.server.services.cluster.as_ref().is_some_and(Cluster::is_deposed);
            let code = Code::of(&reply.body);
            match code.as_ref().map(Code::as_str) {
                Some("shutting_down") => return Some(End::ServerStopping),
                Some("no_leader") => return Some(End::NoLeader),
                Some("storage_unavailable") if is_deposed => return Some(End::NoLeader),
                _ => {}
            }
        }
        self.write(number, key.as_deref(), &reply);
        None
    }

    fn write(&mut self, line: u64, key: Option<&str>, reply: &Reply) {
        self.answered += 1;
        let (status, replayed) = (reply.status, reply.is_replayed());
        let outcome = Outcome { line, key, status, replayed, wal_seq: reply.trace.seq, body: &reply.body };
        self.outlet.write(&outcome.to_line());
    }
}

impl Server {
    /// Answers a line, or a tool's arguments, that are no call. It is in the log of requests, counts for the rate,
    /// and needs a key that is good still.
    pub(super) fn refuse_line(&self, arrival: &Arrival, problem: Problem) -> Reply {
        let mut measuring = Measuring {
            meter: &self.unrouted,
            tenant: None,
            caller: None,
            began: Instant::now(),
            status: None,
            trace: None,
            leaves_nothing: false,
        };
        let problem = match self.audiences.tenants.recognise(arrival) {
            Ok(caller) => {
                measuring.caller = Some((caller.tenant_key, caller.key.id));
                let rate = &self.services.rate;
                match rate.throttle.check(caller.tenant_key) {
                    Ok(()) => problem,
                    Err(seconds) => Problem::rate_limited(rate.per_second, seconds),
                }
            }
            Err(refused) => refused,
        };
        let reply = self.refused(Audience::Tenant, problem, arrival);
        measuring.end(&self.services, arrival, &reply);
        reply
    }
}

async fn until_deposed(cluster: Option<&Cluster>) {
    let Some(cluster) = cluster else { return pending().await };
    let mut views = cluster.changes();
    while !cluster.is_deposed() {
        if views.changed().await.is_err() {
            return pending().await;
        }
    }
}

enum Read {
    Line(Vec<u8>),
    TooLong,
    End,
    Cut,
}

/// The lines of a body as it comes.
struct Lines {
    inbound: Inbound,
    /// The piece that came last, and what of it is not read yet.
    whole: Bytes,
    piece: Bytes,
    /// Of a line whose end has not come.
    begun: Vec<u8>,
    is_too_long: bool,
    /// None of its bytes was anything but blank.
    is_blank: bool,
    /// The body has ended in order.
    is_over: bool,
    is_cut: bool,
    heard: Instant,
}

impl Lines {
    fn of(inbound: Inbound) -> Lines {
        Lines {
            inbound,
            whole: Bytes::new(),
            piece: Bytes::new(),
            begun: Vec::new(),
            is_too_long: false,
            is_blank: true,
            is_over: false,
            is_cut: false,
            heard: Instant::now(),
        }
    }

    /// The next line that is not empty. Nothing is lost if it is given up while it waits.
    async fn next(&mut self) -> Read {
        loop {
            while let Some(at) = memchr(b'\n', &self.piece) {
                let part = self.piece.split_to(at + 1);
                self.gather(&part[..at]);
                if let Some(line) = self.line() {
                    return line;
                }
            }
            let part = mem::take(&mut self.piece);
            self.gather(&part);
            if self.is_over {
                return self.line().unwrap_or(Read::End);
            }
            if self.is_cut {
                return Read::Cut;
            }
            self.fill().await;
        }
    }

    async fn fill(&mut self) {
        match self.inbound.data().await {
            Ok(Some(piece)) => {
                self.heard = Instant::now();
                (self.whole, self.piece) = (piece.clone(), piece);
            }
            Ok(None) => self.is_over = true,
            Err(_) => self.is_cut = true,
        }
    }

    fn gather(&mut self, part: &[u8]) {
        self.is_blank &= part.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        // With a carriage return, which is no part of the line.
        if self.begun.len() + part.len() > LINE_BYTES_MAX + 1 {
            self.is_too_long = true;
            self.begun.zeroize();
        }
        if !self.is_too_long {
            self.begun.extend_from_slice(part);
        }
    }

    /// The line that is whole now; none if it is empty.
    fn line(&mut self) -> Option<Read> {
        let mut line = mem::take(&mut self.begun);
        let (is_too_long, is_blank) =
            (mem::take(&mut self.is_too_long), mem::replace(&mut self.is_blank, true));
        if is_blank {
            return None;
        }
        if is_too_long {
            return Some(Read::TooLong);
        }
        line.pop_if(|last| *last == b'\r');
        match line.len() {
            0..=LINE_BYTES_MAX => Some(Read::Line(line)),
            _ => Some(Read::TooLong),
        }
    }

    /// The memory of cards is zeroed when the connection is over.
    fn hold_card(&mut self) {
        self.inbound.hold_card(self.whole.clone());
    }

    /// When the caller will have been silent for as long as it may. While nothing is read nobody knows of that: whoever
    /// takes no answers is as silent.
    fn silent_until(&self, outlet: &Writing, has_room: bool, is_waiting: bool) -> Instant {
        let since = match (has_room, is_waiting) {
            (true, false) => self.heard,
            (true, true) => Instant::now(),
            (false, _) => self.heard.max(outlet.taken_at()),
        };
        since + SILENCE_MAX
    }
}

/// The lines that go out, from the task of the stream to the connection, which takes them when it can send them.
struct Outlet {
    queue: Mutex<Queue>,
    filled: Notify,
    progress: Arc<Progress>,
}

struct Queue {
    bytes: Vec<u8>,
    lines: usize,
    taken_at: Instant,
    is_whole: bool,
    is_left: bool,
    is_cut: bool,
}

impl Outlet {
    fn new(progress: Arc<Progress>) -> Outlet {
        let queue = Queue {
            bytes: Vec::new(),
            lines: 0,
            taken_at: Instant::now(),
            is_whole: false,
            is_left: false,
            is_cut: false,
        };
        Outlet { queue: Mutex::new(queue), filled: Notify::new(), progress }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of the task: a stream that it left without its last line broke off.
struct Writing(Arc<Outlet>);

impl Writing {
    fn has_room(&self, under_way: usize) -> bool {
        let queue = self.0.queue();
        under_way + queue.lines < LINES_UNDER_WAY_MAX && queue.bytes.len() < ANSWERS_BYTES_MAX
    }

    fn taken_at(&self) -> Instant {
        self.0.queue().taken_at
    }

    fn is_cut(&self) -> bool {
        self.0.queue().is_cut
    }

    fn write(&self, line: &[u8]) {
        let mut queue = self.0.queue();
        queue.bytes.extend_from_slice(line);
        queue.lines += 1;
        drop(queue);
        self.0.filled.notify_one();
    }

    fn end(&self, line: &[u8]) {
        self.write(line);
        self.0.queue().is_whole = true;
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.queue().is_left = true;
        self.0.filled.notify_one();
    }
}

/// The end of the connection.
struct Reading(Arc<Outlet>);

impl Reading {
    async fn next(&self) -> Result<Option<Bytes>, Broken> {
        loop {
            {
                let mut queue = self.0.queue();
                if !queue.bytes.is_empty() {
                    queue.lines = 0;
                    queue.taken_at = Instant::now();
                    let bytes = mem::take(&mut queue.bytes);
                    drop(queue);
                    self.0.progress.changed.notify_one();
                    return Ok(Some(bytes.into()));
                }
                if queue.is_left {
                    return if queue.is_whole { Ok(None) } else { Err(Broken) };
                }
            }
            self.0.filled.notified().await;
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.queue().is_cut = true;
        self.0.progress.changed.notify_one();
    }
}

fn pieces(reading: Reading) -> Rest {
    Rest::new(async move {
        let piece = reading.next().await?;
        Ok(piece.map(|piece| (piece, pieces(reading))))
    })
}
