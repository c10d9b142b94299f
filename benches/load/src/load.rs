//! The generator: so many connections, each sends its next request when it has the answer to the
//! last. Every answer's status is looked at, every so many bodies are read; the first wrong answer
//! ends the case.

use crate::Outcome;
use crate::account::Account;
use crate::connection::Connection;
use crate::lanes::{Lanes, Shared, Window};
use crate::machine::Spent;
use crate::requests::Workload;
use crate::server::Server;
use crate::table::per_second;
use hdrhistogram::Histogram;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// The longest latency that is told apart, in microseconds.
const LATENCY_US_MAX: u64 = 60_000_000;

/// A closed-loop load on a server.
pub struct Load<'a> {
    /// The server.
    pub server: &'a Server,
    /// The requests that are sent.
    pub requests: &'a Arc<dyn Workload>,
    /// The number of connections.
    pub connections: usize,
    /// The number of threads that send.
    pub threads: usize,
    /// The time before what counts.
    pub warm_up: Duration,
    /// The time that counts.
    pub time: Duration,
}

/// The result of a load.
pub struct Measured {
    /// The number of answers.
    pub answers: u64,
    /// The time in which they came.
    pub time: Duration,
    /// Microseconds from request to answer.
    pub latency: Histogram<u64>,
    /// The resources that the server used meanwhile, its database included.
    pub server: Spent,
    /// Who had the processors of the machine meanwhile.
    pub machine: Account,
}

impl Measured {
    /// Answers per second.
    pub fn rate(&self) -> u64 {
        per_second(self.answers, self.time)
    }
}

/// An empty histogram of microseconds.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("the bounds are right")
}

/// A time in whole microseconds, at least one.
pub fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX).clamp(1, LATENCY_US_MAX)
}

impl Load<'_> {
    /// Runs the load.
    pub fn run(&self) -> Outcome<Measured> {
        let lanes = Lanes {
            server: self.server,
            connections: self.connections,
            threads: self.threads,
            warm_up: self.warm_up,
            time: self.time,
            at_ends: &|| (),
        };
        let (counted, server, machine) = lanes.run(histogram, |each, connection, window, counted| {
            // The connections are spread evenly, so that those that run in step do not meet at one
            // tenant.
            let first = each * self.requests.choices() / self.connections;
            talk(connection, Arc::clone(self.requests), first, window, counted)
        })?;
        let mut latency = histogram();
        for counted in counted {
            latency.add(counted).map_err(|error| error.to_string())?;
        }
        Ok(Measured { answers: latency.len(), time: self.time, latency, server, machine })
    }
}

/// Sends requests over one connection until the window ends; answers that come within it count.
async fn talk(
    mut connection: Connection,
    requests: Arc<dyn Workload>,
    first: usize,
    window: Window,
    counted: Shared<Histogram<u64>>,
) -> Outcome<()> {
    let mut request = Vec::with_capacity(1 << 10);
    let mut asked = Instant::now();
    for answers in 0.. {
        let number = requests.write(first + answers, &mut request)?;
        let answer = connection.exchange(&request).await?;
        if answer.status != requests.status() {
            return Err(format!(
                "{} instead of {}: {}",
                answer.status,
                requests.status(),
                String::from_utf8_lossy(answer.body)
            ));
        }
        if answers.is_multiple_of(requests.body_every()) {
            requests.check(number, answer.body)?;
        }
        let now = Instant::now();
        if now >= window.end {
            break;
        }
        if now >= window.begin {
            counted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .saturating_record(microseconds(now - asked));
        }
        asked = now;
    }
    Ok(())
}
