//! A [`Reply`] in terms of this service, and its form as an HTTP response. The listener adds
//! `X-Request-Id`, so no handler can forget it. A body is whole, or comes in pieces: the next piece
//! is made when the connection takes it, never before, so a caller that stops reading holds one
//! piece in memory and nothing else, no thread and no place among those at work.

use crate::problem::Problem;
use bytes::{Bytes, BytesMut};
use http_body_util::{Either, Full};
use hyper::body::{Body as HttpBody, Frame};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode, Version};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
pub const WAL_SEQ: HeaderName = HeaderName::from_static("wal-seq");
pub const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

pub const JSON: &str = "application/json";
pub const HTML: &str = "text/html; charset=utf-8";
pub const CSV: &str = "text/csv; charset=utf-8";
pub const TEXT: &str = "text/plain; charset=utf-8";

const REQUEST_ID_LEN_MAX: usize = 64;

/// In the response, in the error body and in every log line about the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Named);

/// Names of our own are copied as they are: every request has one, and its copies would cost more
/// than itself.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    Here([u8; 13]),
    Outside(HeaderValue),
}

impl RequestId {
    /// The caller's id if it is 1 to 64 visible ASCII characters, or else a new one.
    pub fn of(headers: &HeaderMap) -> Self {
        match headers.get(X_REQUEST_ID) {
            Some(sent) if is_fit(sent.as_bytes()) => RequestId(Named::Outside(sent.clone())),
            _ => Self::generate(),
        }
    }

    /// 13 characters, unlike any other with all likelihood: a keyed hash of a counter, so that
    /// nobody learns from two of them how many requests came in between.
    pub fn generate() -> Self {
        static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        static COUNT: AtomicU64 = AtomicU64::new(0);
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let mut mixed = KEY.hash_one(COUNT.fetch_add(1, Ordering::Relaxed));
        let mut text = [0; 13];
        for digit in &mut text {
            *digit = ALPHABET[mixed as usize & 31];
            mixed >>= 5;
        }
        RequestId(Named::Here(text))
    }

    pub fn as_str(&self) -> &str {
        match &self.0 {
            Named::Here(text) => std::str::from_utf8(text),
            Named::Outside(value) => std::str::from_utf8(value.as_bytes()),
        }
        .unwrap_or("")
    }
}

fn is_fit(sent: &[u8]) -> bool {
    (1..=REQUEST_ID_LEN_MAX).contains(&sent.len()) && sent.iter().all(u8::is_ascii_graphic)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    pub queue_us: u64,
    pub apply_us: u64,
    pub wal_us: u64,
    /// The part of `wal_us` in which other machines agreed, where there are others.
    pub agree_us: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    pub seq: Option<u64>,
    pub timing: Option<Timing>,
}

/// Of a problem that has a private message, beside the request's id. Whoever answers with a problem
/// in a shape of its own calls this; nobody else does.
pub fn log(problem: &Problem, request_id: &RequestId) {
    if let Some(error) = problem.private_message() {
        let (status, code) = (problem.status, problem.code);
        tracing::error!(request_id = request_id.as_str(), status, code, error, "a request failed");
    }
}

/// What the connection has to keep while a request is read on behind its answer.
#[derive(Clone, Default)]
pub struct Hold(Arc<Mutex<Option<Box<dyn Send>>>>);

impl Hold {
    pub fn keep(&self, kept: impl Send + 'static) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(kept));
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hold")
    }
}

#[derive(Debug)]
#[must_use]
pub struct Reply {
    pub status: u16,
    pub body: Bytes,
    pub trace: Trace,
    rest: Option<Rest>,
    content_type: &'static str,
    replayed: bool,
    close: bool,
    /// Whoever reads the request on while it is answered has this, and lets go of it when that is over.
    reads_on: Option<Hold>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Reply {
    pub fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Reply {
            status,
            body: body.into(),
            trace: Trace::default(),
            rest: None,
            content_type: JSON,
            replayed: false,
            close: false,
            reads_on: None,
            headers: Vec::new(),
        }
    }

    pub fn new(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Reply { content_type, ..Self::json(status, body) }
    }

    pub fn empty(status: u16) -> Self {
        Self::json(status, Bytes::new())
    }

    pub fn pieces(content_type: &'static str, first: impl Into<Bytes>, rest: Rest) -> Self {
        Reply { rest: Some(rest), ..Self::new(200, content_type, first) }
    }

    /// A file of this name instead, each piece of it as `how` writes it.
    pub fn rewritten(mut self, name: &str, how: Rewriting) -> Self {
        self.headers.retain(|(known, _)| *known != header::CONTENT_DISPOSITION);
        let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
        self.headers.extend(disposition.ok().map(|value| (header::CONTENT_DISPOSITION, value)));
        self.body = how(&self.body).into();
        self.rest = self.rest.map(|rest| rest.rewritten(how));
        self
    }

    /// The request is read on while this answer goes out, until the hold is let go of.
    pub fn reading_on(self, hold: Hold) -> Self {
        Reply { reads_on: Some(hold), ..self }
    }

    pub fn reads_on(&mut self) -> Option<Hold> {
        self.reads_on.take()
    }

    pub fn is_replayed(&self) -> bool {
        self.replayed
    }

    /// Another machine's answer, whose headers are added as they are.
    pub fn passed(status: u16, body: impl Into<Bytes>) -> Self {
        Self::new(status, "", body)
    }

    pub fn passed_in_pieces(status: u16, first: impl Into<Bytes>, rest: Rest) -> Self {
        Reply { rest: Some(rest), ..Self::passed(status, first) }
    }

    /// In the shape of interface B; the log gets its private message.
    pub fn problem(problem: &Problem, request_id: &RequestId) -> Self {
        log(problem, request_id);
        Self::json(problem.status, problem.to_json(request_id.as_str())).with_problem_headers(problem)
    }

    /// In the shape of the public interface; the log gets its private message.
    pub fn public_problem(problem: &Problem, request_id: &RequestId) -> Self {
        log(problem, request_id);
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let reason = status.canonical_reason().unwrap_or("Error");
        Self::json(problem.status, problem.to_public_json(reason)).with_problem_headers(problem)
    }

    /// With when to try again, and what the address takes, where a problem says it.
    pub fn with_problem_headers(mut self, problem: &Problem) -> Self {
        if let Some(seconds) = problem.retry_after {
            self.headers.push((header::RETRY_AFTER, HeaderValue::from(seconds.get())));
        }
        if let Some(allow) = problem.allow.as_deref().and_then(|allow| HeaderValue::from_str(allow).ok()) {
            self.headers.push((header::ALLOW, allow));
        }
        self
    }

    pub fn trace(self, trace: Trace) -> Self {
        Reply { trace, ..self }
    }

    pub fn replayed(mut self) -> Self {
        self.replayed = true;
        self
    }

    pub fn close(mut self) -> Self {
        self.close = true;
        self
    }

    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    pub fn take_header(&mut self, name: &HeaderName) -> Option<HeaderValue> {
        let place = self.headers.iter().position(|(known, _)| known == name)?;
        Some(self.headers.remove(place).1)
    }

    /// Unless the answer says already how long it may be kept.
    pub fn no_store(mut self) -> Self {
        if !self.headers.iter().any(|(name, _)| *name == header::CACHE_CONTROL) {
            self.headers.push((header::CACHE_CONTROL, HeaderValue::from_static("no-store")));
        }
        self
    }

    pub fn into_response(self, request_id: &RequestId, version: Version) -> Response<Body> {
        let has_type = !self.content_type.is_empty() && (!self.body.is_empty() || self.rest.is_some());
        let body = match self.rest {
            None => Body::Left(Full::new(self.body)),
            rest => Body::Right(Pieces { ready: Some(self.body), rest, taken: None }),
        };
        let mut response = Response::new(body);
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.reserve(8 + self.headers.len());
        // All values that are made here share one allocation.
        let mut made = BytesMut::with_capacity(128);
        made.extend_from_slice(request_id.as_str().as_bytes());
        insert(headers, X_REQUEST_ID, &mut made);
        if let Some(seq) = self.trace.seq {
            made.extend_from_slice(itoa::Buffer::new().format(seq).as_bytes());
            insert(headers, WAL_SEQ, &mut made);
        }
        if let Some(timing) = self.trace.timing {
            // `queue;dur=0.012, apply;dur=0.003, wal;dur=1.250`, in milliseconds.
            let parts = [
                ("queue;dur=", Some(timing.queue_us)),
                (", apply;dur=", Some(timing.apply_us)),
                (", wal;dur=", Some(timing.wal_us)),
                (", agree;dur=", timing.agree_us),
            ];
            let mut digits = itoa::Buffer::new();
            for (name, us) in parts {
                let Some(us) = us else { continue };
                made.extend_from_slice(name.as_bytes());
                made.extend_from_slice(digits.format(us / 1_000).as_bytes());
                made.extend_from_slice(b".");
                // The first digit makes room for zeros.
                made.extend_from_slice(&digits.format(1_000 + us % 1_000).as_bytes()[1..]);
            }
            insert(headers, SERVER_TIMING, &mut made);
        }
        if has_type {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        }
        if self.replayed {
            headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
        }
        if self.close && version <= Version::HTTP_11 {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        for (name, value) in self.headers {
            headers.append(name, value);
        }
        response
    }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, made: &mut BytesMut) {
    if let Ok(value) = HeaderValue::from_maybe_shared(made.split().freeze()) {
        headers.insert(name, value);
    }
}

/// The body ended before it was whole: the connection is cut, so that nobody takes a part for all there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body ended before it was whole")]
pub struct Broken;

pub type Piece = Result<Option<(Bytes, Rest)>, Broken>;

/// Writes a piece of a body in another way.
pub type Rewriting = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

pub struct Rest(Pin<Box<dyn Future<Output = Piece> + Send>>);

impl Rest {
    pub fn new(next: impl Future<Output = Piece> + Send + 'static) -> Rest {
        Rest(Box::pin(next))
    }

    fn rewritten(self, how: Rewriting) -> Rest {
        Rest::new(async move {
            let next = self.0.await?;
            Ok(next.map(|(piece, rest)| (how(&piece).into(), rest.rewritten(how))))
        })
    }

    pub fn nothing() -> Rest {
        Rest::new(std::future::ready(Ok(None)))
    }
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rest")
    }
}

/// A body that is whole, or comes in pieces.
pub type Body = Either<Full<Bytes>, Pieces>;

pub struct Pieces {
    ready: Option<Bytes>,
    rest: Option<Rest>,
    taken: Option<Box<dyn Fn() + Send>>,
}

impl Pieces {
    pub fn noting(&mut self, taken: impl Fn() + Send + 'static) {
        self.taken = Some(Box::new(taken));
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        loop {
            // An empty chunk would end the body.
            if let Some(piece) = self.ready.take().filter(|piece| !piece.is_empty()) {
                self.taken.iter().for_each(|taken| taken());
                return Poll::Ready(Some(Ok(piece)));
            }
            let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
            match ready!(rest.0.as_mut().poll(cx)) {
                Ok(Some((piece, rest))) => (self.ready, self.rest) = (Some(piece), Some(rest)),
                Ok(None) => self.rest = None,
                Err(broken) => {
                    self.rest = None;
                    return Poll::Ready(Some(Err(broken)));
                }
            }
        }
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.poll_piece(cx).map_ok(Frame::data)
    }

    fn is_end_stream(&self) -> bool {
        self.ready.is_none() && self.rest.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use std::collections::HashSet;
    use std::sync::atomic::AtomicUsize;

    fn headers_with(sent: &[u8]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(X_REQUEST_ID, HeaderValue::from_bytes(sent).expect("a header value"));
        headers
    }

    #[test]
    fn the_callers_id_is_kept_if_it_is_fit() {
        for sent in ["a", "req-2026/11:21_~!", &"x".repeat(64)] {
            assert_eq!(RequestId::of(&headers_with(sent.as_bytes())).as_str(), sent);
        }
        for sent in ["", "two words", &"x".repeat(65), "ñ", "a\tb"] {
            let id = RequestId::of(&headers_with(sent.as_bytes()));
            assert!(id.as_str() != sent && is_fit(id.as_str().as_bytes()), "{sent:?}");
        }
    }

    #[test]
    fn new_ids_differ() {
        let ids: HashSet<String> = (0..10_000).map(|_| RequestId::generate().as_str().to_owned()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.len() == 13));
    }

    #[test]
    fn a_write_says_its_sequence_and_its_times() {
        let timing = Timing { queue_us: 12, apply_us: 3, wal_us: 1_250, agree_us: None };
        let id = RequestId::generate();
        let response = Reply::json(201, "{}")
            .trace(Trace { seq: Some(17), timing: Some(timing) })
            .replayed()
            .into_response(&id, Version::HTTP_11);
        let text = |name: &str| response.headers().get(name).map(|value| value.to_str().expect("text"));
        assert_eq!(response.status(), 201);
        assert_eq!(text("x-request-id"), Some(id.as_str()));
        assert_eq!(text("wal-seq"), Some("17"));
        assert_eq!(text("server-timing"), Some("queue;dur=0.012, apply;dur=0.003, wal;dur=1.250"));
        let timing = Timing { agree_us: Some(900), ..timing };
        let agreed = Reply::json(201, "{}")
            .trace(Trace { seq: None, timing: Some(timing) })
            .into_response(&id, Version::HTTP_11);
        assert!(
            agreed.headers()["server-timing"].to_str().is_ok_and(|text| text.ends_with(", agree;dur=0.900"))
        );
        assert_eq!(text("idempotent-replayed"), Some("true"));
        assert_eq!(text("content-type"), Some("application/json"));
        assert_eq!(text("connection"), None);
    }

    #[test]
    fn problems_bring_their_headers() {
        let id = RequestId::generate();
        let response =
            Reply::problem(&Problem::rate_limited(10, 3), &id).into_response(&id, Version::HTTP_11);
        assert_eq!(
            (response.status().as_u16(), &response.headers()["retry-after"]),
            (429, &HeaderValue::from(3))
        );
        let problem = Problem::method_not_allowed("GET, HEAD".into());
        let response = Reply::public_problem(&problem, &id).close().into_response(&id, Version::HTTP_11);
        assert_eq!(
            (&response.headers()["allow"], &response.headers()["connection"]),
            (&HeaderValue::from_static("GET, HEAD"), &HeaderValue::from_static("close"))
        );
    }

    #[test]
    fn http_2_knows_no_connection_header_and_an_empty_body_no_type() {
        let id = RequestId::generate();
        let response = Reply::empty(204).close().into_response(&id, Version::HTTP_2);
        assert!(
            response.headers().get("connection").is_none()
                && response.headers().get("content-type").is_none()
        );
    }

    fn in_pieces(first: &'static str, rest: Rest) -> Body {
        Reply::pieces(TEXT, first, rest).into_response(&RequestId::generate(), Version::HTTP_11).into_body()
    }

    fn numbers(from: usize, to: usize, made: Arc<AtomicUsize>) -> Rest {
        Rest::new(async move {
            if from == to {
                return Ok(None);
            }
            made.fetch_add(1, Ordering::Relaxed);
            // An empty piece in between is none.
            let piece = if from == 2 { Bytes::new() } else { from.to_string().into() };
            Ok(Some((piece, numbers(from + 1, to, made))))
        })
    }

    #[tokio::test]
    async fn a_piece_is_made_when_the_one_before_was_taken() {
        let (made, taken) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&taken);
        let mut body = in_pieces("0", numbers(1, 4, Arc::clone(&made)));
        if let Body::Right(pieces) = &mut body {
            pieces.noting(move || {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(body.size_hint().exact(), None);
        let first = body.frame().await.expect("a frame").expect("sound").into_data().expect("data");
        assert_eq!((&first[..], made.load(Ordering::Relaxed)), (&b"0"[..], 0));
        assert_eq!(&body.collect().await.expect("sound").to_bytes()[..], b"13");
        assert_eq!((made.load(Ordering::Relaxed), taken.load(Ordering::Relaxed)), (3, 3));
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_says_so() {
        let broken = in_pieces("a", Rest::new(std::future::ready(Err(Broken))));
        assert!(broken.collect().await.is_err());
        let whole = in_pieces("a", Rest::nothing());
        assert_eq!(&whole.collect().await.expect("sound").to_bytes()[..], b"a");
    }
}
