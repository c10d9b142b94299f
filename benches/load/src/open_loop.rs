//! The generator at a fixed rate: requests are due at instants that no answer moves, and a latency
//! is counted from the instant at which its request was due. So a server that stalls is seen to
//! stall by everybody who would have come meanwhile (no coordinated omission). A request that is
//! due when all connections are busy waits for one; that counts as well.
//!
//! It runs on one thread that never sleeps: timers of the kernel would be later than the answers.

use crate::Outcome;
use crate::connection::Connection;
use crate::load::{histogram, microseconds};
use crate::machine::{self, Spent};
use crate::requests::Workload;
use crate::server::Server;
use hdrhistogram::Histogram;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, LocalSet};

/// The time by which a run may exceed its plan.
const GRACE: Duration = Duration::from_secs(30);
/// The time between two looks at the server's memory, and the length of a slice.
pub const SLICE: Duration = Duration::from_millis(100);
/// The latency, in microseconds, noted for a request that never got what it asked for.
const NEVER_US: u64 = u64::MAX;
/// Requests that are handed out before the connections get their turn.
const BURST: usize = 16;

/// A rate of requests for some time.
#[derive(Clone, Copy, Debug)]
pub struct Phase {
    /// The requests per second.
    pub rate: u64,
    /// The length of the phase.
    pub time: Duration,
}

/// An open-loop load on a server.
pub struct OpenLoop<'a> {
    /// The server.
    pub server: &'a Server,
    /// The requests that are sent.
    pub requests: &'a Arc<dyn Workload>,
    /// The number of connections.
    pub connections: usize,
    /// The phases, one after the other.
    pub phases: &'a [Phase],
    /// The time after which a request that could not be sent is given up.
    pub patience: Duration,
    /// The cores that the generator runs on; any if there are none.
    pub cores: &'a [usize],
}

/// The measurements of the requests that were due in a phase.
pub struct PhaseFigures {
    /// The number of requests that were due.
    pub due: u64,
    /// The times from due to the right answer, in microseconds.
    pub done: Histogram<u64>,
    /// The times from sent to a 429 or 503 with Retry-After, in microseconds.
    pub refused: Histogram<u64>,
    /// The number of 429 and 503 without Retry-After.
    pub unadvised: u64,
    /// The number of requests whose connection ended without an answer.
    pub broken: u64,
    /// The number of requests given up before a connection was free.
    pub given_up: u64,
    /// Right answers that came during the phase, whenever they were due.
    pub answers: u64,
    /// The longest that a request waited for its answer, in each slice by when it was due;
    /// `u64::MAX` where one was given up, cut off or refused.
    pub worst_us: Vec<u64>,
    /// The resources that the server used during the phase.
    pub server: Spent,
    /// The most memory that the server's own process had, in bytes.
    pub memory_most: u64,
    began: Duration,
    ended: Duration,
}

/// The state that the tasks of the generator share.
struct Line {
    /// The requests that are due: the phase and the instant of each.
    due: VecDeque<Option<(usize, Instant)>>,
    figures: Vec<PhaseFigures>,
    begin: Instant,
    wrong: Option<String>,
}

impl OpenLoop<'_> {
    /// Runs the load, and returns the measurements of each phase.
    pub fn run(&self) -> Outcome<Vec<PhaseFigures>> {
        Ok(together(&[self])?.pop().unwrap_or_default())
    }

    /// Runs the load beside another on the same server with phases of the same lengths; returns the
    /// measurements of both. One thread generates them: two that never sleep would wait for each
    /// other's time slices.
    pub fn run_beside(&self, other: &OpenLoop<'_>) -> Outcome<[Vec<PhaseFigures>; 2]> {
        let figures = together(&[self, other])?;
        figures.try_into().map_err(|_| "there are not two loads".to_owned())
    }

    /// Watches the resources that the server uses in each phase, from another thread.
    fn watch(&self, begin: Instant) -> Outcome<Vec<(Spent, u64)>> {
        let (mut watched, mut end) = (Vec::new(), begin);
        for phase in self.phases {
            end += phase.time;
            let (before, mut most) = (self.server.spent()?, 0);
            while let Some(left) = end.checked_duration_since(Instant::now()) {
                most = most.max(machine::own_memory(self.server.pid())?);
                std::thread::sleep(left.min(SLICE));
            }
            watched.push((self.server.spent()?.since(before), most));
        }
        Ok(watched)
    }

    async fn connect(&self) -> Outcome<Vec<Connection>> {
        let mut connections = Vec::with_capacity(self.connections);
        for _ in 0..self.connections {
            connections.push(Connection::open(self.server.api).await?);
        }
        Ok(connections)
    }

    /// Begins to send over these connections what is due.
    fn begin(&self, connections: Vec<Connection>, begin: Instant) -> Begun {
        let mut began = Duration::ZERO;
        let mut figures = Vec::new();
        for phase in self.phases {
            figures.push(PhaseFigures::new(began, phase.time));
            began += phase.time;
        }
        let line = Rc::new(RefCell::new(Line { due: VecDeque::new(), figures, begin, wrong: None }));
        let turns = Rc::new(Semaphore::new(0));
        let talks = connections
            .into_iter()
            .enumerate()
            .map(|(nth, connection)| {
                let talk = Talk {
                    server: self.server.api,
                    requests: Arc::clone(self.requests),
                    nth,
                    patience: self.patience,
                    line: Rc::clone(&line),
                    turns: Rc::clone(&turns),
                };
                tokio::task::spawn_local(talk.run(connection))
            })
            .collect();
        let pace = tokio::task::spawn_local(pace(self.phases.to_vec(), Rc::clone(&line), Rc::clone(&turns)));
        Begun { line, turns, talks, pace }
    }
}

/// A load that is under way.
struct Begun {
    line: Rc<RefCell<Line>>,
    turns: Rc<Semaphore>,
    talks: Vec<JoinHandle<()>>,
    pace: JoinHandle<()>,
}

impl Begun {
    /// Waits until everything that was due is answered; returns the measurements.
    async fn end(self) -> Outcome<Vec<PhaseFigures>> {
        self.pace.await.map_err(|error| error.to_string())?;
        for _ in 0..self.talks.len() {
            self.line.borrow_mut().due.push_back(None);
        }
        self.turns.add_permits(self.talks.len());
        let all = async {
            for talk in self.talks {
                talk.await.map_err(|error| error.to_string())?;
            }
            Ok::<_, String>(())
        };
        tokio::time::timeout(GRACE, all).await.map_err(|_| format!("no answer within {GRACE:?}"))??;
        let mut line = self.line.borrow_mut();
        match line.wrong.take() {
            Some(wrong) => Err(wrong),
            None => Ok(std::mem::take(&mut line.figures)),
        }
    }
}

/// Runs loads on one server beside each other, and returns the measurements of each.
fn together(loads: &[&OpenLoop<'_>]) -> Outcome<Vec<Vec<PhaseFigures>>> {
    let Some(first) = loads.first() else { return Ok(Vec::new()) };
    let figures = std::thread::scope(|scope| {
        let (start, started) = channel();
        let generator = scope.spawn(move || machine::on_cores(first.cores, || generate(loads, &start)));
        // If the generator ends before it starts, its own error says why.
        let watched = started.recv().map_or(Ok(Vec::new()), |begin| first.watch(begin));
        let figures = generator.join().map_err(|_| "the generator panicked")?;
        let (mut figures, watched) = (figures?, watched?);
        for figures in &mut figures {
            for (figures, (spent, memory)) in figures.iter_mut().zip(&watched) {
                (figures.server, figures.memory_most) = (*spent, *memory);
            }
        }
        Ok::<_, String>(figures)
    });
    figures.map_err(|why| format!("{why}: {}", first.server.last_words()))
}

fn generate(loads: &[&OpenLoop<'_>], start: &Sender<Instant>) -> Outcome<Vec<Vec<PhaseFigures>>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    LocalSet::new().block_on(&runtime, async {
        let mut connections = Vec::with_capacity(loads.len());
        for load in loads {
            connections.push(load.connect().await?);
        }
        let begin = Instant::now();
        // The other end has failed if nobody listens any more, and tells so there.
        let _ = start.send(begin);
        let begun: Vec<Begun> =
            loads.iter().zip(connections).map(|(load, connections)| load.begin(connections, begin)).collect();
        let mut figures = Vec::with_capacity(begun.len());
        for begun in begun {
            figures.push(begun.end().await?);
        }
        Ok(figures)
    })
}

/// Hands out the requests when they are due.
async fn pace(phases: Vec<Phase>, line: Rc<RefCell<Line>>, turns: Rc<Semaphore>) {
    let mut start = line.borrow().begin;
    for (nth, phase) in phases.iter().enumerate() {
        let count =
            u64::try_from(phase.time.as_nanos() * u128::from(phase.rate) / 1_000_000_000).unwrap_or(u64::MAX);
        for n in 0..count {
            let due = start
                + Duration::from_nanos(
                    u64::try_from(u128::from(n) * 1_000_000_000 / u128::from(phase.rate.max(1)))
                        .unwrap_or(u64::MAX),
                );
            let mut in_time = false;
            while Instant::now() < due {
                in_time = true;
                tokio::task::yield_now().await;
            }
            {
                let mut line = line.borrow_mut();
                line.figures[nth].due += 1;
                line.due.push_back(Some((nth, due)));
            }
            turns.add_permits(1);
            if !in_time && n.is_multiple_of(BURST as u64) {
                tokio::task::yield_now().await;
            }
        }
        start += phase.time;
        // The rest of the phase belongs to the answers.
        while Instant::now() < start {
            tokio::task::yield_now().await;
        }
    }
}

impl PhaseFigures {
    /// The empty measurements of a phase that begins so long after the first and takes so long.
    pub(super) fn new(began: Duration, time: Duration) -> PhaseFigures {
        let slices = usize::try_from(time.as_nanos().div_ceil(SLICE.as_nanos())).unwrap_or(0);
        PhaseFigures {
            due: 0,
            done: histogram(),
            refused: histogram(),
            unadvised: 0,
            broken: 0,
            given_up: 0,
            answers: 0,
            worst_us: vec![0; slices],
            server: Spent::default(),
            memory_most: 0,
            began,
            ended: began + time,
        }
    }
}

impl Line {
    /// Notes in its slice how long a request took that was due then.
    fn mark(&mut self, phase: usize, due: Instant, took_us: u64) {
        let since = (due - self.begin).saturating_sub(self.figures[phase].began);
        let slice = usize::try_from(since.as_nanos() / SLICE.as_nanos()).unwrap_or(usize::MAX);
        if let Some(worst) = self.figures[phase].worst_us.get_mut(slice) {
            *worst = (*worst).max(took_us);
        }
    }
}

/// A connection of the generator.
struct Talk {
    server: std::net::SocketAddr,
    requests: Arc<dyn Workload>,
    nth: usize,
    patience: Duration,
    line: Rc<RefCell<Line>>,
    turns: Rc<Semaphore>,
}

impl Talk {
    /// Sends the requests that are due until no more come.
    async fn run(self, mut connection: Connection) {
        let mut request = Vec::with_capacity(1 << 10);
        let mut nth = self.nth;
        loop {
            match self.turns.acquire().await {
                Ok(turn) => turn.forget(),
                Err(_) => return,
            }
            let Some(Some((phase, due))) = self.line.borrow_mut().due.pop_front() else { return };
            if due.elapsed() > self.patience {
                let mut line = self.line.borrow_mut();
                line.figures[phase].given_up += 1;
                line.mark(phase, due, NEVER_US);
                continue;
            }
            let number = match self.requests.write(nth, &mut request) {
                Ok(number) => number,
                Err(why) => return self.wrong(why),
            };
            nth += 1;
            let sent = Instant::now();
            let right = self.requests.status();
            let (status, advised, checked) = match connection.exchange(&request).await {
                Ok(answer) => {
                    let is_read = answer.status == right && nth.is_multiple_of(self.requests.body_every());
                    let checked = if is_read { self.requests.check(number, answer.body) } else { Ok(()) };
                    let checked = match answer.status {
                        status if status == right || status == 429 || status == 503 => checked,
                        status => Err(format!(
                            "{status} instead of {right}: {}",
                            String::from_utf8_lossy(answer.body)
                        )),
                    };
                    (answer.status, answer.status != right && answer.has_retry_after(), checked)
                }
                Err(_) => {
                    {
                        let mut line = self.line.borrow_mut();
                        line.figures[phase].broken += 1;
                        line.mark(phase, due, NEVER_US);
                    }
                    match Connection::open(self.server).await {
                        Ok(new) => connection = new,
                        Err(why) => return self.wrong(why),
                    }
                    continue;
                }
            };
            if let Err(why) = checked {
                return self.wrong(why);
            }
            self.count(phase, due, sent, status == right, advised);
        }
    }

    fn count(&self, phase: usize, due: Instant, sent: Instant, is_right: bool, advised: bool) {
        let now = Instant::now();
        let mut line = self.line.borrow_mut();
        let since = now - line.begin;
        let figures = &mut line.figures[phase];
        match (is_right, advised) {
            (true, _) => figures.done.saturating_record(microseconds(now - due)),
            (false, true) => figures.refused.saturating_record(microseconds(now - sent)),
            (false, false) => figures.unadvised += 1,
        }
        line.mark(phase, due, if is_right { microseconds(now - due) } else { NEVER_US });
        if is_right
            && let Some(during) =
                line.figures.iter_mut().find(|figures| (figures.began..figures.ended).contains(&since))
        {
            during.answers += 1;
        }
    }

    /// Notes the first wrong answer, which ends the case.
    fn wrong(&self, why: String) {
        let mut line = self.line.borrow_mut();
        line.wrong.get_or_insert(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_got_no_answer_stands_in_its_slice_for_ever() {
        let begin = Instant::now();
        let figures = vec![
            PhaseFigures::new(Duration::ZERO, Duration::from_secs(1)),
            PhaseFigures::new(Duration::from_secs(1), Duration::from_secs(1)),
        ];
        let mut line = Line { due: VecDeque::new(), figures, begin, wrong: None };
        let due = begin + Duration::from_millis(1_250);
        for took_us in [40, NEVER_US, 50] {
            line.mark(1, due, took_us);
        }
        assert_eq!(line.figures[1].worst_us, [0, 0, NEVER_US, 0, 0, 0, 0, 0, 0, 0]);
        line.mark(1, begin + Duration::from_secs(9), NEVER_US);
        assert_eq!(line.figures[0].worst_us, [0; 10]);
    }
}
