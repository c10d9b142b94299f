//! A body is read up to a limit and within a time, whole or not at all. What nobody read is
//! discarded behind the answer, so that the connection can be used again. A body that comes in more
//! than one piece has to be gathered: all bodies of the process together are given so many bytes
//! for that.

use crate::http::listen::Limits;
use crate::http::wiping::Secrets;
use api::problem::Problem;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

/// Of an unread body, to keep its connection; beyond it a new one is cheaper.
const DISCARD_BYTES_MAX: u64 = 2 << 20;

/// Room is made at once for so many announced bytes; for more, as they come.
const EXPECTED_BYTES_MAX: usize = 16 << 10;

/// For all bodies together.
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
    /// `left` of `all` are free for everybody.
    fn gather(&self, bytes: usize, left: usize, all: usize) -> Result<(), Problem>;

    fn release(&self, bytes: usize);
}

/// Until the request is answered.
#[derive(Debug)]
struct TakenBytes {
    budget: Arc<Budget>,
    bytes: usize,
    /// Once the caller is known.
    caller: Option<Arc<dyn Room>>,
}

impl TakenBytes {
    fn grow(&mut self, bytes: usize) -> Result<(), Problem> {
        let left = &self.budget.left;
        if let Some(caller) = &self.caller {
            caller.gather(bytes, left.load(Ordering::Relaxed), self.budget.bytes)?;
        }
        left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).map_err(
            |_| {
                self.caller.iter().for_each(|caller| caller.release(bytes));
                Problem::overloaded(1)
            },
        )?;
        self.bytes += bytes;
        Ok(())
    }

    fn release(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.caller.iter().for_each(|caller| caller.release(bytes));
        self.budget.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for TakenBytes {
    fn drop(&mut self) {
        self.release();
    }
}

#[derive(Debug)]
pub struct Inbound {
    incoming: Either<Incoming, Full<Bytes>>,
    share: TakenBytes,
    bytes_max: usize,
    timeout: Duration,
    ended: bool,
    /// Not worth waiting for: the caller took too long, or waits for a `100 Continue` itself.
    hopeless: bool,
    /// Zeroed when the connection is over.
    secrets: Arc<Secrets>,
    has_card: bool,
}

impl Inbound {
    pub(super) fn new(
        incoming: Incoming,
        headers: &HeaderMap,
        limits: &Limits,
        secrets: Arc<Secrets>,
    ) -> Self {
        Inbound {
            ended: incoming.is_end_stream(),
            incoming: Either::Left(incoming),
            share: TakenBytes { budget: Arc::clone(&limits.bodies), bytes: 0, caller: None },
            bytes_max: limits.body_bytes_max,
            timeout: limits.body_timeout,
            hopeless: headers.contains_key(header::EXPECT),
            secrets,
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

    /// Whatever the listener takes otherwise: for a call that is known to be large.
    pub fn cap_at(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
    }

    /// The body has a card in it: its memory is zeroed when the connection is over.
    pub fn hold_card(&mut self) {
        self.has_card = true;
    }

    /// To be called before the body is read.
    pub fn charge_to(&mut self, caller: Arc<dyn Room>) {
        self.share.caller = Some(caller);
    }

    pub(super) fn ends_connection(&self) -> bool {
        self.has_card && self.secrets.is_full()
    }

    /// 413 if the body is too long, then 415 if it is something else. An empty body needs no type.
    pub async fn json(&mut self, headers: &HeaderMap) -> Result<Bytes, Problem> {
        let bytes = self.bytes().await?;
        is_plain(headers)?;
        if !bytes.is_empty() && !is_json(headers.get(header::CONTENT_TYPE)) {
            return Err(Problem::unsupported_media_type());
        }
        Ok(bytes)
    }

    /// The body of a call that takes whatever it is, if it is written plainly.
    pub async fn of_any_type(&mut self, headers: &HeaderMap) -> Result<Bytes, Problem> {
        let bytes = self.bytes().await?;
        is_plain(headers)?;
        Ok(bytes)
    }

    /// As `json`.
    pub async fn csv(&mut self, headers: &HeaderMap) -> Result<Bytes, Problem> {
        let bytes = self.bytes().await?;
        is_plain(headers)?;
        if !is_media(headers.get(header::CONTENT_TYPE), "text/csv") {
            return Err(Problem {
                message: "send the body as text/csv".into(),
                ..Problem::unsupported_media_type()
            });
        }
        Ok(bytes)
    }

    /// 413 if the body is too long, 408 if it takes too long.
    pub async fn bytes(&mut self) -> Result<Bytes, Problem> {
        if self.ended {
            return Ok(Bytes::new());
        }
        if self.incoming.size_hint().lower() > self.bytes_max as u64 {
            return Err(Problem::payload_too_large(self.bytes_max));
        }
        let timeout = self.timeout;
        {
            let mut collecting = pin!(self.collect());
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

    async fn collect(&mut self) -> Result<Bytes, Problem> {
        let Some(first) = self.data().await? else {
            return Ok(Bytes::new());
        };
        if self.ended {
            return self.fit(first.len()).map(|()| first);
        }
        // The frame that was announced in full is the usual case; more than one means a large, a
        // slow or a chunked body.
        self.fit(first.len())?;
        self.share.grow(first.len())?;
        let expected =
            usize::try_from(self.incoming.size_hint().lower()).unwrap_or(0).min(EXPECTED_BYTES_MAX);
        let mut all = BytesMut::with_capacity(first.len() + expected);
        all.extend_from_slice(&first);
        while let Some(more) = self.data().await? {
            self.fit(all.len() + more.len())?;
            self.share.grow(more.len())?;
            all.extend_from_slice(&more);
        }
        let all = all.freeze();
        if self.has_card {
            self.secrets.hold(all.clone());
        }
        Ok(all)
    }

    fn fit(&self, len: usize) -> Result<(), Problem> {
        if len > self.bytes_max {
            return Err(Problem::payload_too_large(self.bytes_max));
        }
        Ok(())
    }

    /// `None` at the end. Trailers are passed over.
    async fn data(&mut self) -> Result<Option<Bytes>, Problem> {
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

    /// When the answer is there.
    pub(super) fn leftover(mut self) -> Leftover {
        // A handler that read the body has its content; the rest is gathered by nobody.
        self.share.release();
        if self.ended {
            return Leftover::Nothing;
        }
        if self.hopeless || self.incoming.size_hint().lower() > self.discard_bytes_max() {
            return Leftover::TooMuch;
        }
        Leftover::Discard(self)
    }

    /// Where large bodies are taken, whoever sends one that is too large is still writing when it
    /// is refused, and would not see the answer.
    fn discard_bytes_max(&self) -> u64 {
        DISCARD_BYTES_MAX.max(2 * self.bytes_max as u64)
    }

    /// Within bounds. True if the end was reached; if not, hyper closes the connection.
    pub(super) async fn discard(mut self) -> bool {
        let (timeout, most) = (self.timeout, self.discard_bytes_max());
        let all = async {
            let mut discarded = 0;
            while discarded <= most {
                match self.data().await {
                    Ok(Some(data)) => discarded += data.len() as u64,
                    Ok(None) => return true,
                    Err(_) => return false,
                }
            }
            false
        };
        tokio::time::timeout(timeout, all).await.unwrap_or(false)
    }
}

#[derive(Debug)]
pub(super) enum Leftover {
    Nothing,
    Discard(Inbound),
    TooMuch,
}

/// What is compressed is not unpacked, and would be read as nothing that it is.
pub fn is_plain(headers: &HeaderMap) -> Result<(), Problem> {
    let mut codings = headers.get_all(header::CONTENT_ENCODING).into_iter();
    if codings.all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Ok(());
    }
    Err(Problem {
        message: "send the body as it is, without content-encoding: it is not unpacked".into(),
        ..Problem::unsupported_media_type()
    })
}

/// Whatever the parameters.
fn is_json(content_type: Option<&HeaderValue>) -> bool {
    is_media(content_type, "application/json")
}

fn is_media(content_type: Option<&HeaderValue>, wanted: &str) -> bool {
    let Some(text) = content_type.and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let media = text.split(';').next().unwrap_or("").trim();
    media.eq_ignore_ascii_case(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for fine in [
            "application/json",
            "application/json; charset=utf-8",
            "Application/JSON;charset=\"utf-8\"",
            " application/json ",
        ] {
            assert!(is_json(Some(&HeaderValue::from_static(fine))), "{fine}");
        }
        for bad in [
            "",
            "text/plain",
            "application/jsonp",
            "application/x-www-form-urlencoded",
            "application/json-patch+json",
            "text/json",
        ] {
            assert!(!is_json(Some(&HeaderValue::from_static(bad))), "{bad}");
        }
        assert!(!is_json(None));
    }
}
