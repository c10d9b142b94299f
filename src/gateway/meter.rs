//! The meters of requests: how many, by route and status, and how long they took. A meter belongs
//! to a row of a route table and is found with it, so that counting costs a few additions and a
//! look at the clock; the metrics read it when they are asked for. The span of a request is made of
//! the same. A label is never a path, which holds references.

use crate::http::respond::{Reply, RequestId};
use crate::requests::{Answered, Code};
use crate::telemetry::spans::{RequestSummary, Spans, Trace};
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use hyper::Method;
use hyper::header::HeaderMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use wal::{Counted, Histogram};

/// In order, as it is searched by halves.
const STATUSES: [u16; 24] = [
    200, 201, 202, 204, 302, 303, 304, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 499, 500,
    502, 503, 504,
];
const VERBS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const GONE: u16 = 499;
/// Microseconds from the head of a request to its answer.
const LATENCY_US: [u64; 14] = [
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 5_000_000,
    15_000_000,
];

#[derive(Debug)]
pub struct Meter {
    pub method: String,
    /// The route's path as the table writes it, with `:names`.
    pub route: &'static str,
    statuses: [AtomicU64; STATUSES.len() + 1],
    latency_us: Histogram,
}

impl Meter {
    fn new(method: &str, route: &'static str) -> Meter {
        Meter {
            method: method.to_owned(),
            route,
            statuses: [const { AtomicU64::new(0) }; STATUSES.len() + 1],
            latency_us: Histogram::new(&LATENCY_US),
        }
    }

    pub fn statuses(&self) -> impl Iterator<Item = (u16, u64)> {
        let known = STATUSES.iter().copied().chain([0]).zip(&self.statuses);
        known.map(|(status, count)| (status, count.load(Ordering::Relaxed))).filter(|(_, count)| *count > 0)
    }

    pub fn latency_us(&self) -> Counted {
        self.latency_us.counted()
    }
}

#[derive(Debug, Default)]
pub struct Meters(Mutex<Vec<Arc<Meter>>>);

impl Meters {
    /// The meter of a route, which both listeners share if they both have it. For the making of a
    /// table, not for requests.
    pub fn of(&self, method: &str, route: &'static str) -> Arc<Meter> {
        let mut meters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(meter) = meters.iter().find(|meter| meter.method == method && meter.route == route) {
            return Arc::clone(meter);
        }
        let meter = Arc::new(Meter::new(method, route));
        meters.push(Arc::clone(&meter));
        meter
    }

    pub fn all(&self) -> Vec<Arc<Meter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A request that is being answered. It counts when it ends, whichever way.
#[must_use]
pub struct Measuring<'m> {
    pub meter: &'m Meter,
    pub tenant: Option<Id>,
    pub caller: Option<(u64, Id)>,
    began: Instant,
    status: Option<u16>,
    trace: Option<Trace<'m>>,
}

impl<'m> Measuring<'m> {
    pub fn begin(meter: &'m Meter, spans: Option<&'m Spans>, headers: &HeaderMap) -> Measuring<'m> {
        let trace = spans.map(|spans| spans.begin(headers));
        Measuring { meter, tenant: None, caller: None, began: Instant::now(), status: None, trace }
    }

    /// The line for the log of requests, if a key asked; `now` is the server's clock. Its
    /// method is the one that was sent: of what no row is for, the meter knows none.
    pub fn answered(
        &self,
        method: &Method,
        reply: &Reply,
        request_id: &RequestId,
        now: Timestamp,
    ) -> Option<Answered> {
        let (tenant, key) = self.caller?;
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut verb = "OTHER";
        for known in VERBS {
            if method == known {
                verb = known;
            }
        }
        Some(Answered {
            request_id: request_id.clone(),
            tenant,
            key,
            at: now.plus_ms(-i64::try_from(ms).unwrap_or(0)),
            ms,
            method: verb,
            route: self.meter.route,
            status: reply.status,
            error: if reply.status >= 400 { Code::of(&reply.body) } else { None },
            seq: reply.trace.seq,
        })
    }

    pub fn end(mut self, reply: &Reply, request_id: &RequestId) {
        self.status = Some(reply.status);
        let Some(trace) = self.trace.take() else { return };
        trace.end(RequestSummary {
            method: &self.meter.method,
            route: self.meter.route,
            status: reply.status,
            request_id: request_id.as_str(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn every_end_of_a_request_is_counted_once() {
        assert!(STATUSES.is_sorted());
        let meters = Meters::default();
        let (none, row) = (meters.of("any", "none"), meters.of("GET", "/v1/payments/:id"));
        let begin = || {
            let mut measuring = Measuring::begin(&none, None, &HeaderMap::new());
            measuring.meter = &row;
            measuring
        };
        let id = RequestId::generate();
        let end = |measuring: Measuring<'_>, status| measuring.end(&Reply::empty(status), &id);
        end(begin(), 200);
        end(begin(), 200);
        end(begin(), 418);
        drop(begin());
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _measuring = begin();
            panic!("on purpose");
        }));
        assert_eq!(row.statuses().collect::<Vec<_>>(), [(200, 2), (499, 1), (500, 1), (0, 1)]);
        assert_eq!((row.latency_us().total(), none.latency_us().total()), (5, 0));
    }

    #[test]
    fn of_a_refusal_its_code_is_kept_and_not_its_answer() {
        let meters = Meters::default();
        let meter = meters.of("POST", "/v1/payouts");
        let body = [br#"{"error":"invalid_data","message":""#.as_slice(), &[b'x'; 100_000]].concat();
        let (body, id) = (Bytes::from(body), RequestId::generate());
        let line = |_| {
            let mut measuring = Measuring::begin(&meter, None, &HeaderMap::new());
            measuring.caller = Some((2, Id::random(1, 1)));
            let reply = Reply::json(400, body.clone());
            let now = Timestamp::from_unix_ms(1_000);
            measuring.answered(&Method::POST, &reply, &id, now).expect("a key asked")
        };
        let lines: Vec<Answered> = (0..10_000).map(line).collect();
        assert!(body.is_unique(), "an answer is kept");
        assert!(lines.iter().all(|line| line.error == Code::of(br#"{"error":"invalid_data"}"#)));
    }

    #[test]
    fn a_route_has_one_meter() {
        let meters = Meters::default();
        let (one, other) = (meters.of("GET", "/docs"), meters.of("GET", "/docs"));
        assert!(Arc::ptr_eq(&one, &other) && !Arc::ptr_eq(&one, &meters.of("POST", "/docs")));
        assert_eq!(meters.all().len(), 2);
    }
}
