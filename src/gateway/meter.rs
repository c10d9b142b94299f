//! The meters of requests: how many, by route and status, and how long they took. A meter belongs
//! to a row of a route table and is found with it, so that counting costs a few additions and a
//! look at the clock; the metrics read it when they are asked for. The span of a request is made of
//! the same. A label is never a path, which holds references.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use wal::Histogram;

/// In order, as it is searched by halves.
pub const STATUSES: [u16; 24] = [
    200, 201, 202, 204, 302, 303, 304, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 499, 500,
    502, 503, 504,
];
/// Of a caller who went away before there was an answer.
pub const GONE: u16 = 499;
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
    /// One more than [`STATUSES`], for all others.
    pub statuses: [AtomicU64; STATUSES.len() + 1],
    pub latency_us: Histogram,
}

impl Meter {
    pub fn counts(&self) -> impl Iterator<Item = (u16, u64)> {
        let known = STATUSES.iter().copied().chain([0]).zip(&self.statuses);
        known.map(|(status, count)| (status, count.load(Ordering::Relaxed))).filter(|(_, count)| *count > 0)
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
        let meter = Arc::new(Meter {
            method: method.to_owned(),
            route,
            statuses: [const { AtomicU64::new(0) }; STATUSES.len() + 1],
            latency_us: Histogram::new(&LATENCY_US),
        });
        meters.push(Arc::clone(&meter));
        meter
    }

    pub fn all(&self) -> Vec<Arc<Meter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_has_one_meter() {
        let meters = Meters::default();
        let (one, other) = (meters.of("GET", "/docs"), meters.of("GET", "/docs"));
        assert!(STATUSES.is_sorted());
        assert!(Arc::ptr_eq(&one, &other) && !Arc::ptr_eq(&one, &meters.of("POST", "/docs")));
        assert_eq!(meters.all().len(), 2);
    }
}
