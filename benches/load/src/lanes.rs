//! The threads of a generator in a closed loop: each serves some of the connections, and they start at
//! the same instant. What is said over a connection is the caller's.

use crate::Outcome;
use crate::account::{Account, Reading};
use crate::connection::Connection;
use crate::machine::Spent;
use crate::server::Server;
use std::sync::{Arc, Barrier, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The time by which a case may exceed its plan.
const GRACE: Duration = Duration::from_secs(20);

/// Connections to a server, spread over threads.
pub struct Lanes<'a> {
    /// The server.
    pub server: &'a Server,
    /// The number of connections.
    pub connections: usize,
    /// The number of threads that send.
    pub threads: usize,
    /// The time before what counts.
    pub warm_up: Duration,
    /// The time that counts.
    pub time: Duration,
    /// Called when that begins, and when it ends.
    pub at_ends: &'a (dyn Fn() + Sync),
}

/// The time in which answers count.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Its begin; what comes before is the warm-up.
    pub begin: Instant,
    /// Its end, after which nothing more is asked.
    pub end: Instant,
}

/// What the connections of a thread have seen, under a lock that none of them has to wait for.
pub type Shared<S> = Arc<Mutex<S>>;

impl Lanes<'_> {
    /// Has `talk` speak over every connection, from now until the window ends; returns what each
    /// thread's connections have seen, what the server used within the window, and who had the
    /// processors meanwhile.
    pub fn run<S, T>(
        &self,
        seen: impl Fn() -> S + Sync,
        talk: impl Fn(usize, Connection, Window, Shared<S>) -> T + Sync,
    ) -> Outcome<(Vec<S>, Spent, Account)>
    where
        S: Clone + Send + 'static,
        T: Future<Output = Outcome<()>> + Send + 'static,
    {
        let threads = self.threads.clamp(1, self.connections);
        let (gate, start) = (Barrier::new(threads + 1), OnceLock::new());
        let measured = std::thread::scope(|scope| {
            let (gate, start, seen, talk) = (&gate, &start, &seen, &talk);
            let lanes: Vec<_> = (0..threads)
                .map(|nth| scope.spawn(move || self.lane((nth, threads), gate, start, seen(), talk)))
                .collect();
            // Two gates: one when all are connected, one when they know when it starts.
            gate.wait();
            let begin = *start.get_or_init(Instant::now) + self.warm_up;
            gate.wait();
            std::thread::sleep(begin.saturating_duration_since(Instant::now()));
            let processes = [self.server.pid()];
            (self.at_ends)();
            let (before, machine_before) = (self.server.spent(), Reading::of(&processes)?);
            std::thread::sleep((begin + self.time).saturating_duration_since(Instant::now()));
            (self.at_ends)();
            let (after, machine) = (self.server.spent(), Reading::of(&processes));
            let all = lanes
                .into_iter()
                .map(|lane| lane.join().map_err(|_| "the generator panicked")?)
                .collect::<Outcome<Vec<S>>>()?;
            Ok((all, after?.since(before?), machine?.since(&machine_before)))
        });
        measured.map_err(|why: String| {
            format!("{} connections: {why}: {}", self.connections, self.server.last_words())
        })
    }

    /// Serves every `step`-th connection from the `nth`, on a thread of their own.
    fn lane<S, T>(
        &self,
        (nth, step): (usize, usize),
        gate: &Barrier,
        start: &OnceLock<Instant>,
        seen: S,
        talk: &impl Fn(usize, Connection, Window, Shared<S>) -> T,
    ) -> Outcome<S>
    where
        S: Clone,
        T: Future<Output = Outcome<()>> + Send + 'static,
    {
        let opened = open(self.server, (nth..self.connections).step_by(step));
        // Waited for also when it failed: the others wait here.
        gate.wait();
        gate.wait();
        let (runtime, connections) = opened?;
        let begin = *start.get_or_init(Instant::now) + self.warm_up;
        let window = Window { begin, end: begin + self.time };
        let seen = Arc::new(Mutex::new(seen));
        runtime.block_on(async {
            let talks: Vec<_> = connections
                .into_iter()
                .map(|(each, connection)| tokio::spawn(talk(each, connection, window, Arc::clone(&seen))))
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
        let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(seen.clone())
    }
}

fn open(server: &Server, which: impl Iterator<Item = usize>) -> Outcome<(Runtime, Vec<(usize, Connection)>)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let connections = runtime.block_on(async {
        let mut connections = Vec::new();
        for each in which {
            connections.push((each, Connection::open(server.api_of(each)).await?));
        }
        Ok::<_, String>(connections)
    })?;
    Ok((runtime, connections))
}
