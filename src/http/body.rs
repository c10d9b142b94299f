//! A body is read up to a limit and within a time, whole or not at all. What nobody read is
//! discarded behind the answer if it is little, so that the connection can be used again. A body that comes in more
//! than one piece has to be gathered: all bodies of the process together are given so many bytes
//! for that. What is bad about a write beside its body, its Idempotency-Key and parameters that do
//! not belong there, is reported together with what is bad in the body (`docs/contract.md, 1.2`).

use api::problem::{BadField, Problem};
use api::query;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use zeroize::Zeroize;

/// Of an unread body, to keep its connection; beyond it a new one is cheaper.
const DISCARDED_BYTES_MAX: usize = 2 << 20;
/// Where it may have a card, as that is held until the connection is over.
const HELD_BYTES_MAX: usize = 64 << 10;

const EXPECTED_BYTES_MAX: usize = 16 << 10;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENCY_KEY_CHARACTERS_MAX: usize = 255;

const CARDS_MAX: usize = 16;
const CARDS_FORGOTTEN_FROM: usize = 256;

#[derive(Debug)]
pub struct Budget {
    left: AtomicUsize,
    bytes: usize,
}

impl Budget {
    pub fn new(bytes: usize) -> Budget {
        Budget { left: AtomicUsize::new(bytes), bytes }
    }
}

/// What one caller may have of the budget beside the others. Who that is, and how much it may be,
/// is decided elsewhere.
pub trait Room: fmt::Debug + Send + Sync {
    fn gather(&self, bytes: usize, left: usize, all: usize) -> Result<(), Problem>;

    fn release(&self, bytes: usize);
}

#[derive(Debug)]
pub struct TakenBytes {
    budget: Arc<Budget>,
    bytes: usize,
    /// Whose part of the budget it is.
    pub caller: Option<Arc<dyn Room>>,
}

impl TakenBytes {
    fn grow(&mut self, bytes: usize) -> Result<(), Problem> {
        let left = &self.budget.left;
        if let Some(caller) = &self.caller {
            caller.gather(bytes, left.load(Ordering::Relaxed), self.budget.bytes)?;
        }
        if left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_err() {
            self.caller.iter().for_each(|caller| caller.release(bytes));
            return Err(Problem::overloaded(1));
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for TakenBytes {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        if let Some(caller) = &self.caller {
            caller.release(self.bytes);
        }
        self.budget.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub struct Inbound {
    incoming: Either<Incoming, Full<Bytes>>,
    pub share: TakenBytes,
    pub bytes_max: usize,
    timeout: Duration,
    pub(super) ended: bool,
    /// Not worth waiting for: the caller took too long, or waits for a `100 Continue` itself.
    hopeless: bool,
    secrets: Arc<Secrets>,
    /// The memory of what is read from now on is zeroed, as a card may be in it.
    pub has_card: bool,
}

/// Zeroes the memory of bodies that had a card in them. A body is a part of the buffer that hyper
/// read it into, and the connection goes on using that buffer. So the bodies are held until the
/// connection is over and nobody else has a part of the buffer, and zeroed then; a connection that
/// brought many cards is ended for it. Below TLS there are further copies, which are out of reach.
#[derive(Debug, Default)]
pub struct Secrets(Mutex<Vec<Bytes>>);

impl Inbound {
    pub(super) fn new(
        incoming: Incoming,
        headers: &HeaderMap,
        bytes_max: usize,
        timeout: Duration,
        budget: &Arc<Budget>,
        secrets: &Arc<Secrets>,
    ) -> Self {
        Inbound {
            ended: incoming.is_end_stream(),
            incoming: Either::Left(incoming),
            share: TakenBytes { budget: Arc::clone(budget), bytes: 0, caller: None },
            bytes_max,
            timeout,
            hopeless: headers.contains_key(header::EXPECT),
            secrets: Arc::clone(secrets),
            has_card: false,
        }
    }

    pub fn made(bytes: Bytes) -> Inbound {
        Inbound {
            ended: bytes.is_empty(),
            share: TakenBytes { budget: Arc::new(Budget::new(0)), bytes: 0, caller: None },
            bytes_max: bytes.len(),
            incoming: Either::Right(Full::new(bytes)),
            timeout: Duration::ZERO,
            hopeless: false,
            secrets: Arc::default(),
            has_card: false,
        }
    }

    pub fn cap(&mut self, bytes_max: usize) {
        self.bytes_max = self.bytes_max.min(bytes_max);
    }

    /// 413 if the body is too long, then 415 if it is something else. An empty body needs no type.
    pub async fn json(&mut self, headers: &HeaderMap) -> Result<Bytes, Problem> {
        let bytes = self.bytes().await?;
        is_plain(headers)?;
        if !bytes.is_empty() && !is_media(headers, "application/json") {
            return Err(Problem::unsupported_media_type());
        }
        Ok(bytes)
    }

    pub async fn csv(&mut self, headers: &HeaderMap) -> Result<Bytes, Problem> {
        let bytes = self.of_any_type(headers).await?;
        if is_media(headers, "text/csv") {
            return Ok(bytes);
        }
        Err(Problem { message: "send the body as text/csv".into(), ..Problem::unsupported_media_type() })
    }

    /// The body of a call that takes whatever it is, if it is written plainly.
    pub async fn of_any_type(&mut self, headers: &HeaderMap) -> Result<Bytes, Problem> {
        let bytes = self.bytes().await?;
        is_plain(headers)?;
        Ok(bytes)
    }

    pub async fn bytes(&mut self) -> Result<Bytes, Problem> {
        if self.ended {
            return Ok(Bytes::new());
        }
        if self.incoming.size_hint().lower() > self.bytes_max as u64 {
            return Err(Problem::payload_too_large(self.bytes_max));
        }
        let timeout = self.timeout;
        {
            let mut collecting = pin!(async {
                let mut all = BytesMut::new();
                while let Some(piece) = self.data().await? {
                    if all.len() + piece.len() > self.bytes_max {
                        return Err(Problem::payload_too_large(self.bytes_max));
                    }
                    if all.is_empty() {
                        // The frame that was announced in full is the usual case; more than one means a
                        // large, a slow or a chunked body.
                        if self.ended {
                            return Ok(piece);
                        }
                        let expected = usize::try_from(self.incoming.size_hint().lower()).unwrap_or(0);
                        all.reserve(piece.len() + expected.min(EXPECTED_BYTES_MAX));
                    }
                    self.share.grow(piece.len())?;
                    all.extend_from_slice(&piece);
                }
                let all = all.freeze();
                if self.has_card {
                    self.secrets.hold(all.clone());
                }
                Ok(all)
            });
            // Most bodies came whole with the head.
            if let Poll::Ready(read) = poll_fn(|context| Poll::Ready(collecting.as_mut().poll(context))).await
            {
                return read;
            }
            // Boxed, as it is rare and every request has room for this future.
            if let Ok(read) = Box::pin(tokio::time::timeout(timeout, collecting)).await {
                return read;
            }
        }
        self.hopeless = true;
        Err(Problem::request_timeout())
    }

    /// The body for whoever reads it on behind the answer; nothing is left here.
    pub fn take(&mut self) -> Inbound {
        mem::replace(self, Inbound::made(Bytes::new()))
    }

    /// What came, and what comes from now on, may have a card in it.
    pub fn hold_card(&mut self, came: Bytes) {
        self.has_card = true;
        self.secrets.hold(came);
    }

    /// The next piece of the body, however long it takes; none once it has ended. An error if it broke off.
    pub async fn data(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            let Some(frame) = self.incoming.frame().await else {
                self.ended = true;
                return Ok(None);
            };
            // The caller went away or broke the framing; nobody will read this answer.
            let frame = frame.map_err(|_| {
                self.ended = true;
                Problem::invalid_json("the body broke off")
            })?;
            if let Ok(data) = frame.into_data() {
                self.ended = self.incoming.is_end_stream();
                if self.has_card {
                    self.secrets.hold(data.clone());
                }
                return Ok(Some(data));
            }
        }
    }

    /// Reads a body that nobody read to its end, if it is little. False if bytes are left, or may be. Where large
    /// bodies are taken, whoever sends one that is too large is still writing when it is refused, and would not see
    /// the answer.
    pub(super) async fn discard(&mut self) -> bool {
        let mut left =
            if self.has_card { HELD_BYTES_MAX } else { DISCARDED_BYTES_MAX.max(2 * self.bytes_max) };
        if self.hopeless || self.incoming.size_hint().lower() > left as u64 {
            return false;
        }
        // A handler that read the body has its content; the rest is gathered by nobody.
        self.share = TakenBytes { budget: Arc::clone(&self.share.budget), bytes: 0, caller: None };
        let timeout = self.timeout;
        let all = async {
            while !self.ended {
                match self.data().await {
                    Ok(Some(data)) if data.len() <= left => left -= data.len(),
                    Ok(None) => {}
                    Ok(Some(_)) | Err(_) => return false,
                }
            }
            true
        };
        tokio::time::timeout(timeout, all).await.unwrap_or(false)
    }
}

/// What is compressed is not unpacked, and would be read as nothing that it is.
pub fn is_plain(headers: &HeaderMap) -> Result<(), Problem> {
    for coding in headers.get_all(header::CONTENT_ENCODING) {
        if !coding.as_bytes().eq_ignore_ascii_case(b"identity") {
            let message = "send the body as it is, without content-encoding: it is not unpacked".into();
            return Err(Problem { message, ..Problem::unsupported_media_type() });
        }
    }
    Ok(())
}

pub fn is_media(headers: &HeaderMap, wanted: &str) -> bool {
    let Some(Ok(text)) = headers.get(header::CONTENT_TYPE).map(HeaderValue::to_str) else { return false };
    text.split(';').next().unwrap_or("").trim().eq_ignore_ascii_case(wanted)
}

pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, BadField> {
    let mut sent = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(first) = sent.next() else { return Ok(None) };
    match (first.to_str(), sent.next()) {
        (Ok(key), None) if !key.is_empty() && key.len() <= IDEMPOTENCY_KEY_CHARACTERS_MAX => Ok(Some(key)),
        _ => Err(BadField::new("Idempotency-Key", "must have 1 to 255 characters of ASCII")),
    }
}

/// What is meant for the body must not be overlooked in the query.
pub fn unexpected_parameters(query: Option<&str>) -> Vec<BadField> {
    match query::read(query, |query| query.finish()) {
        Ok(_) => Vec::new(),
        Err(invalid) => Problem::from(invalid).fields,
    }
}

/// One problem names all bad fields, outside of the body and inside it.
pub fn without_unexpected<T>(read: Result<T, Problem>, mut unexpected: Vec<BadField>) -> Result<T, Problem> {
    match read {
        read if unexpected.is_empty() => read,
        Err(problem) if problem.code == "invalid_json" => Err(problem),
        Err(problem) => {
            unexpected.extend(problem.fields);
            Err(Problem::invalid_data(unexpected))
        }
        Ok(_) => Err(Problem::invalid_data(unexpected)),
    }
}

impl Secrets {
    fn held(&self) -> MutexGuard<'_, Vec<Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there are so many that the connection ends, which lets go of them.
    pub(super) fn are_many(&self) -> bool {
        let held = self.held();
        held.len() >= CARDS_MAX || held.iter().map(Bytes::len).sum::<usize>() >= HELD_BYTES_MAX
    }

    fn hold(&self, bytes: Bytes) {
        let mut held = self.held();
        if held.len() < CARDS_FORGOTTEN_FROM {
            held.push(bytes);
        }
    }
}

impl Drop for Secrets {
    fn drop(&mut self) {
        zero(mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner)));
    }
}

/// Returns how many buffers were zeroed, those that nobody else holds. Several bodies may lie in
/// one buffer, and only its last holder may write. That is the first body in it, because each is
/// let go after those behind it; from there to its end the buffer is zeroed.
fn zero(mut held: Vec<Bytes>) -> usize {
    held.sort_unstable_by_key(|bytes| bytes.as_ptr());
    let mut zeroed = 0;
    while let Some(last) = held.pop() {
        if let Ok(mut own) = last.try_into_mut() {
            own.resize(own.capacity(), 0);
            own.as_mut().zeroize();
            zeroed += 1;
        }
    }
    zeroed
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BufMut;

    #[test]
    fn what_the_budget_has_not_nobody_gets() {
        let budget = Arc::new(Budget::new(10));
        let share = || TakenBytes { budget: Arc::clone(&budget), bytes: 0, caller: None };
        let (mut one, mut other) = (share(), share());
        assert!(one.grow(7).is_ok() && other.grow(3).is_ok());
        assert_eq!(other.grow(1).map_err(|problem| (problem.status, problem.code)), Err((503, "overloaded")));
        drop(one);
        assert!(other.grow(7).is_ok());
        drop(other);
        assert_eq!(budget.left.load(Ordering::Relaxed), 10);
    }

    #[test]
    fn json_is_json_with_any_parameter() {
        let is_json = |sent: Option<&'static str>| {
            let sent = sent.map(|sent| (header::CONTENT_TYPE, HeaderValue::from_static(sent)));
            is_media(&sent.into_iter().collect(), "application/json")
        };
        for fine in [
            "application/json",
            "application/json; charset=utf-8",
            "Application/JSON;charset=\"utf-8\"",
            " application/json ",
        ] {
            assert!(is_json(Some(fine)), "{fine}");
        }
        for bad in [
            "",
            "text/plain",
            "application/jsonp",
            "application/x-www-form-urlencoded",
            "application/json-patch+json",
            "text/json",
        ] {
            assert!(!is_json(Some(bad)), "{bad}");
        }
        assert!(!is_json(None));
    }

    fn fields(problem: Problem) -> Vec<String> {
        problem.fields.into_iter().map(|bad| bad.field).collect()
    }

    #[test]
    fn idempotency_keys_have_1_to_255_characters() {
        let read = |sent: &[&str]| {
            let mut headers = HeaderMap::new();
            for sent in sent {
                headers.append(IDEMPOTENCY_KEY, HeaderValue::from_str(sent).expect("a header"));
            }
            idempotency_key(&headers).map(|key| key.map(str::to_owned))
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["k"]), Ok(Some("k".to_owned())));
        assert!(read(&[""]).is_err() && read(&[&"k".repeat(256)]).is_err() && read(&["a", "b"]).is_err());
    }

    #[test]
    fn what_is_bad_inside_and_outside_of_the_body_is_named_together() {
        let unexpected = || unexpected_parameters(Some("amount=5&x"));
        let plan = || Ok(200);
        assert!(without_unexpected(plan(), unexpected_parameters(None)).is_ok());
        assert_eq!(fields(without_unexpected(plan(), unexpected()).expect_err("refused")), ["amount", "x"]);
        let inside: Result<u16, _> = Err(Problem::invalid_field("monto", "is required"));
        assert_eq!(
            fields(without_unexpected(inside, unexpected()).expect_err("refused")),
            ["amount", "x", "monto"]
        );
        let no_json =
            without_unexpected::<u16>(Err(Problem::invalid_json("no")), unexpected()).expect_err("refused");
        assert_eq!(no_json.code, "invalid_json");
    }

    #[test]
    fn bodies_in_one_buffer_are_zeroed_by_the_first_of_them() {
        let bodies = || {
            let mut buffer = BytesMut::with_capacity(100);
            buffer.put_slice(b"head1111head2222rest");
            let _head = buffer.split_to(4);
            let one = buffer.split_to(4).freeze();
            let _head = buffer.split_to(4);
            let two = buffer.split_to(4).freeze();
            (buffer, one, two)
        };
        let ((first, one, two), (second, three, four)) = (bodies(), bodies());
        drop((first, second));
        assert_eq!(zero(vec![two, three, one, four, Bytes::from_static(b"nobody's")]), 2);
        let (other, one, two) = bodies();
        assert_eq!(zero(vec![one, two]), 0, "somebody still uses the buffer");
        drop(other);
    }
}
