//! The generator: so many connections, each sends its next request when it has the answer to the
//! last. Every answer's status is looked at, every so many bodies are read; the first wrong answer
//! ends the case.

use crate::Outcome;
use crate::connection::Connection;
use crate::machine::Spent;
use crate::requests::Workload;
use crate::server::Server;
use crate::table::per_second;
use hdrhistogram::Histogram;
use std::net::SocketAddr;
use std::sync::{Arc, Barrier, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The time by which a case may exceed its plan.
const GRACE: Duration = Duration::from_secs(20);

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
        let threads = self.threads.clamp(1, self.connections);
        let (gate, start) = (Barrier::new(threads + 1), OnceLock::new());
        let measured = std::thread::scope(|scope| {
            let (gate, start) = (&gate, &start);
            let lanes: Vec<_> =
                (0..threads).map(|nth| scope.spawn(move || self.lane(nth, threads, gate, start))).collect();
            // Two gates: one when all are connected, one when they know when it starts.
            gate.wait();
            let begin = *start.get_or_init(Instant::now) + self.warm_up;
            gate.wait();
            std::thread::sleep(begin.saturating_duration_since(Instant::now()));
            let before = self.server.spent();
            std::thread::sleep((begin + self.time).saturating_duration_since(Instant::now()));
            let after = self.server.spent();
            let mut latency = histogram();
            for lane in lanes {
                let counted = lane.join().map_err(|_| "the generator panicked")??;
                latency.add(counted).map_err(|error| error.to_string())?;
            }
            Ok(Measured { answers: latency.len(), time: self.time, latency, server: after?.since(before?) })
        });
        measured.map_err(|why: String| {
            format!("{} connections: {why}: {}", self.connections, self.server.last_words())
        })
    }

    /// Serves every `step`-th connection from the `nth`, on a thread of their own.
    fn lane(
        &self,
        nth: usize,
        step: usize,
        gate: &Barrier,
        start: &OnceLock<Instant>,
    ) -> Outcome<Histogram<u64>> {
        let opened = open(self.server.api, (nth..self.connections).step_by(step));
        // Waited for also when it failed: the others wait here.
        gate.wait();
        gate.wait();
        let (runtime, connections) = opened?;
        let begin = *start.get_or_init(Instant::now) + self.warm_up;
        let end = begin + self.time;
        let counted = Arc::new(Mutex::new(histogram()));
        runtime.block_on(async {
            let talks: Vec<_> = connections
                .into_iter()
                .map(|(each, connection)| {
                    // The connections are spread evenly, so that those that run in step do not meet
                    // at one tenant.
                    let first = each * self.requests.choices() / self.connections;
                    tokio::spawn(talk(
                        connection,
                        Arc::clone(self.requests),
                        first,
                        begin,
                        end,
                        Arc::clone(&counted),
                    ))
                })
                .collect();
            let all = async {
                for talk in talks {
                    talk.await.map_err(|error| error.to_string())??;
                }
                Ok::<_, String>(())
            };
            tokio::time::timeout(self.warm_up + self.time + GRACE, all)
                .await
                .map_err(|_| format!("no answer within {GRACE:?}"))?
        })?;
        let counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(counted.clone())
    }
}

fn open(
    address: SocketAddr,
    which: impl Iterator<Item = usize>,
) -> Outcome<(Runtime, Vec<(usize, Connection)>)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let connections = runtime.block_on(async {
        let mut connections = Vec::new();
        for each in which {
            connections.push((each, Connection::open(address).await?));
        }
        Ok::<_, String>(connections)
    })?;
    Ok((runtime, connections))
}

/// Sends requests over one connection from now until `end`; answers that come from `begin` on
/// count.
async fn talk(
    mut connection: Connection,
    requests: Arc<dyn Workload>,
    first: usize,
    begin: Instant,
    end: Instant,
    counted: Arc<Mutex<Histogram<u64>>>,
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
        if now >= end {
            break;
        }
        if now >= begin {
            counted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .saturating_record(microseconds(now - asked));
        }
        asked = now;
    }
    Ok(())
}
