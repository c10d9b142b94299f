//! A real day: what shops and their buyers ask for, in the shares that they ask for it, each wish granted
//! from its first call to its last, over a closed loop. Six of ten wishes are payments by C2P, which are
//! two calls; the rest are looks at balances and payments, payouts, batches, pesos, and payouts that one
//! of a hundred webhook endpoints is told of. Meanwhile somebody polls the rate.
//!
//! `mix` what is wished for, decided by a seed · `asked` the calls and their answers, every one of which
//! is judged · `shops` the tenants, and their books at the end · `nodes` the same over nodes that run already.

mod asked;
mod mix;
mod nodes;
mod shops;

use crate::cleanup::{self, Scratch};
use crate::lanes::Lanes;
use crate::load::{Load, histogram};
use crate::receiver::Receiver;
use crate::report::{Line, Report};
use crate::requests::{Numbered, Requests, Workload};
use crate::server::{Server, Setting};
use crate::table::{
    Table, grouped, median, microseconds, milliseconds, nanoseconds_each, per_second, ratio, seconds,
};
use crate::{Outcome, Place, machine, progress};
use clap::Args;
use hdrhistogram::Histogram;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use asked::{Call, Common, Talk};
pub use nodes::Nodes;
pub use shops::{Holds, Shops};

/// The time before what counts.
const WARM_UP: Duration = Duration::from_millis(500);
/// The time until a server must be ready on an empty directory.
const READY: Duration = Duration::from_secs(30);
/// The time between two looks at the rate.
pub const POLL_EVERY: Duration = Duration::from_millis(10);
/// Threads of the generator.
const THREADS: usize = 2;
/// The time in which every event must have arrived.
const DELIVERED: Duration = Duration::from_secs(60);
/// The time between two looks at what arrived.
const LOOK: Duration = Duration::from_millis(5);

/// A real day's mix: C2P, reads, payouts, batches, pesos, webhooks, rates
#[derive(Args, Clone, Debug)]
pub struct Day {
    #[command(flatten)]
    pub(super) place: Place,
    /// Connections
    #[arg(long, default_value_t = 64)]
    pub(super) connections: usize,
    /// Shops that buyers come to
    #[arg(long, default_value_t = 20)]
    pub(super) shops: usize,
    /// Webhook endpoints, each of another shop
    #[arg(long, default_value_t = 100)]
    pub(super) endpoints: usize,
    /// Payouts in a batch
    #[arg(long, default_value_t = 20)]
    pub(super) items: usize,
    /// Seconds per round
    #[arg(long, default_value_t = 3)]
    pub(super) seconds: u64,
    /// Rounds, of which the median is shown
    #[arg(long, default_value_t = 3)]
    pub(super) rounds: usize,
    /// What decides who asks for what, and in which order
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
}

/// What the connections have seen.
#[derive(Clone)]
pub struct Seen {
    /// Wishes that were granted.
    wishes: u64,
    /// Microseconds of each call.
    calls: Vec<Histogram<u64>>,
}

impl Seen {
    /// Nothing, yet.
    pub fn none() -> Seen {
        Seen { wishes: 0, calls: Call::ALL.map(|_| histogram()).to_vec() }
    }
}

struct Round {
    seen: Seen,
    server: machine::Spent,
    /// Requests per second of a server that does nothing, beside it in time.
    nothing: u64,
    /// Payouts that endpoints were told of, and the time until all had been.
    announced: u64,
    caught_up: Duration,
}

impl Day {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        let round = 2 * Duration::from_secs(self.seconds) + 2 * WARM_UP + Duration::from_secs(2);
        round * u32::try_from(self.rounds).unwrap_or(u32::MAX) + Duration::from_secs(10)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        let counts = [self.connections, self.shops, self.endpoints, self.items, self.rounds];
        if counts.contains(&0) || self.seconds == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(self.takes() * 3 + Duration::from_secs(120));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let machine = machine::describe(&self.place.made()?);
        let scratch = Scratch::new(&self.place.made()?, "day")?;
        let server = Server::gateway_in(scratch.path(), READY, &Setting::default())?;
        let nothing = Server::do_nothing(scratch.path())?;
        let receiver = Receiver::start()?;
        let mut rounds = Vec::new();
        let shops = Shops::open(&server, self.shops, self.endpoints, &receiver.url())?;
        let common = Arc::new(Common {
            shops,
            api: server.api,
            seed: self.seed,
            items: self.items,
            numbered: Numbered::new(),
            announced: AtomicU64::new(0),
        });
        for round in 1..=self.rounds {
            let measured = self.round(&server, &nothing, &receiver, &common)?;
            progress(&format!(
                "round {round}/{}: {} wishes/s, {} requests/s, {} told",
                self.rounds,
                grouped(measured.wishes(self)),
                grouped(measured.requests(self)),
                grouped(measured.announced)
            ));
            rounds.push(measured);
        }
        common.shops.check(&server, Holds::Last)?;
        server.stop()?;
        Ok(self.shown(&machine, &rounds))
    }

    fn round(
        &self,
        server: &Server,
        nothing: &Server,
        receiver: &Receiver,
        common: &Arc<Common>,
    ) -> Outcome<Round> {
        let tenants = [common.shops.plain[0].tenant.clone()];
        let requests: Arc<dyn Workload> = Arc::new(Requests::payouts(nothing.api, &tenants));
        let (time, connections) = (Duration::from_secs(self.seconds), self.connections);
        server.rest()?;
        let nothing = Load {
            server: nothing,
            requests: &requests,
            connections,
            threads: THREADS,
            warm_up: WARM_UP,
            time,
        }
        .run()?
        .rate();
        let announced_before = common.announced.load(Ordering::Relaxed);
        // One connection more, which polls the rate.
        let lanes = Lanes {
            server,
            connections: connections + 1,
            threads: THREADS,
            warm_up: WARM_UP,
            time,
            at_ends: &|| (),
        };
        let (all, spent, _) = lanes.run(Seen::none, |each, connection, window, seen| {
            let talk = Talk::new(Arc::clone(common), each, connection, window, seen);
            async move {
                if each < connections {
                    return talk.run().await;
                }
                poll(talk, window.end).await.map_err(|why| format!("the rate: {why}"))
            }
        })?;
        let ended = Instant::now();
        let announced = common.announced.load(Ordering::Relaxed);
        all_arrived(receiver, announced)?;
        let caught_up = ended.elapsed();
        let mut seen = Seen::none();
        for one in all {
            seen.wishes += one.wishes;
            for (sum, calls) in seen.calls.iter_mut().zip(one.calls) {
                sum.add(calls).map_err(|error| error.to_string())?;
            }
        }
        Ok(Round { seen, server: spent, nothing, announced: announced - announced_before, caught_up })
    }

    fn shown(&self, machine: &str, rounds: &[Round]) -> Report {
        let columns = ["call", "a second", "p50 ms", "p99 ms", "p99.9 ms"];
        let mut table = Table::new("A real day", &columns);
        let of = |figure: &dyn Fn(&Round) -> u64| median(rounds.iter().map(figure));
        let (wishes, requests) = (of(&|round| round.wishes(self)), of(&|round| round.requests(self)));
        let nothing = of(&|round| round.nothing);
        let cpu = of(&|round| nanoseconds_each(round.server.cpu, round.seen.wishes));
        table.remark(format!(
            "{} wishes a second, {} requests; {} µs of the server's CPU for a wish; {} of a server that does nothing ({} requests a second over as many connections).",
            grouped(wishes), grouped(requests), microseconds(cpu), ratio(requests, nothing), grouped(nothing),
        ));
        table.remark(format!(
            "Seed {}: of 100 wishes 60 are payments by C2P (two calls), 15 looks at a balance or at a payment, 10 payouts, 5 batches of {}, 5 payments in pesos (two calls) and 5 payouts that \
             one of {} webhook endpoints is announced of; one connection asks for the rate every {} ms. {} shops, {} connections, closed loop, {} rounds of {} s, medians. Every status and every body \
             was judged, at the end the balances of all shops were those that the answers make, and every event arrived: {} in a round, the last of them {} s after it.",
            self.seed, self.items, self.endpoints, POLL_EVERY.as_millis(), self.shops, self.connections, self.rounds, self.seconds,
            grouped(of(&|round| round.announced)),
            seconds(rounds.iter().map(|round| round.caught_up).max().unwrap_or_default()),
        ));
        table.remark(machine);
        for (call, name) in Call::ALL {
            let calls = |round: &Round| round.seen.calls[call as usize].clone();
            let quantile = |q| milliseconds(of(&|round| calls(round).value_at_quantile(q)));
            let rate = of(&|round| per_second(calls(round).len(), self.time()));
            table.row([name.to_owned(), grouped(rate), quantile(0.5), quantile(0.99), quantile(0.999)]);
        }
        let line = Line {
            what: format!("a real day's wishes, {} connections", self.connections),
            figure: format!(
                "{}/s, {} requests/s ({} µs of CPU a wish)",
                grouped(wishes),
                grouped(requests),
                microseconds(cpu)
            ),
            baseline: format!("{} requests/s doing nothing", grouped(nothing)),
            ratio: ratio(requests, nothing),
        };
        Report { tables: vec![table], lines: vec![line], ..Report::default() }
    }

    fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

impl Round {
    fn wishes(&self, day: &Day) -> u64 {
        per_second(self.seen.wishes, day.time())
    }

    fn requests(&self, day: &Day) -> u64 {
        per_second(self.seen.calls.iter().map(Histogram::len).sum(), day.time())
    }
}

/// Waits until every event has arrived.
pub fn all_arrived(receiver: &Receiver, announced: u64) -> Outcome<()> {
    let began = Instant::now();
    while receiver.arrived() < announced {
        if began.elapsed() > DELIVERED {
            return Err(format!("{} of {announced} events arrived within {DELIVERED:?}", receiver.arrived()));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Asks for the rate again and again.
async fn poll(mut talk: Talk, end: Instant) -> Outcome<()> {
    let mut ticks = tokio::time::interval(POLL_EVERY);
    while Instant::now() < end {
        ticks.tick().await;
        talk.rate().await?;
    }
    Ok(())
}

/// Does something on a runtime of its own.
fn block_on<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?
        .block_on(work)
}
