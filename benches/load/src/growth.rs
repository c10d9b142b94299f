//! The growth of costs: what more tenants, more holds on a balance and a longer history do to
//! throughput, memory, disk and restart. Every level is a data directory of its own, filled, killed
//! and started; its throughput is taken in turns with that of a server that holds next to nothing,
//! which runs beside it all the time.

use crate::chart::{Chart, Series};
use crate::cleanup::{self, Scratch};
use crate::fill::{Filling, key_of};
use crate::load::{Load, Measured};
use crate::prepare::Tenant;
use crate::report::{Bar, Line, Report, Unit};
use crate::requests::{Requests, Workload};
use crate::restart::{bytes_in, check};
use crate::server::Server;
use crate::table::{
    Table, grouped, mebibytes, median, microseconds, milliseconds, nanoseconds_each, ratio, seconds,
};
use crate::{Outcome, Place, machine, progress};
use clap::Args;
use pasarela::recovery::directory::LOG_DIRECTORY;
use std::sync::Arc;
use std::time::Duration;

/// The time until a server must be ready, however much it has to replay.
const PATIENCE: Duration = Duration::from_secs(300);
/// The time before what counts.
const WARM_UP: Duration = Duration::from_millis(400);
/// Records behind the snapshot, on every level.
const TAIL: u64 = 100_000;
/// Tenants of a long history.
const HISTORY_TENANTS: u32 = 100;
/// Connections.
const CONNECTIONS: usize = 64;
/// The history whose throughput and restart have bars.
const LONG: u64 = 10_000_000;
/// The restart's bar, in microseconds.
const RESTART_US_MAX: u64 = 1_000_000;

/// Throughput, memory, disk and restart with more tenants, holds and history
#[derive(Args, Clone, Debug)]
pub struct Growth {
    #[command(flatten)]
    pub(super) place: Place,
    /// Tenants
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000])]
    pub(super) tenants: Vec<u32>,
    /// Tenants that pay and have paid, of each number of them; 0 for all
    #[arg(long, default_value_t = 0)]
    pub(super) active: u32,
    /// Holds of the balance that is debited
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 1_000_000])]
    pub(super) holds: Vec<u64>,
    /// Records of history
    #[arg(long, value_delimiter = ',', default_values_t = [1_000_000, 10_000_000])]
    pub(super) history: Vec<u64>,
    /// Seconds per case and round
    #[arg(long, default_value_t = 2)]
    pub(super) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 3)]
    pub(super) rounds: usize,
}

/// The quantity that grows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    Nothing,
    Tenants,
    Holds,
    History,
}

struct Level {
    driver: Driver,
    size: u64,
    filling: Filling,
}

/// The measurements at a level.
struct Seen {
    driver: Driver,
    size: u64,
    /// The payouts here, and those of the server with next to nothing in the same rounds.
    own: Vec<Measured>,
    base: Vec<Measured>,
    ready_after: Duration,
    memory: u64,
    disk: u64,
    records: u64,
    filled_in: Duration,
}

/// A server on a filled directory.
struct Started {
    server: Server,
    seen: Seen,
    requests: Arc<dyn Workload>,
    _scratch: Scratch,
}

impl Growth {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        let each = (Duration::from_secs(self.seconds) + WARM_UP + Duration::from_millis(400))
            * 2
            * u32::try_from(self.rounds).unwrap_or(u32::MAX);
        self.levels()
            .iter()
            .map(|level| {
                level.filling.takes()
                    + each
                    + Duration::from_secs(3 + u64::from(level.filling.tenants) / 5_000)
            })
            .sum()
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.tenants.contains(&0) || self.rounds == 0 || self.seconds == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(self.takes() * 4 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    fn levels(&self) -> Vec<Level> {
        let level = |driver, size, tenants, holds, history: u64| {
            let filling = Filling { tenants, active: self.active, holds, records: 0, tail: TAIL };
            Level {
                driver,
                size,
                filling: Filling { records: filling.opening() + history + TAIL, ..filling },
            }
        };
        let mut levels = vec![level(Driver::Nothing, 0, 1, 0, 0)];
        levels.extend(
            self.tenants.iter().map(|tenants| level(Driver::Tenants, u64::from(*tenants), *tenants, 0, 0)),
        );
        levels.extend(self.holds.iter().map(|holds| level(Driver::Holds, *holds, 1, *holds, 0)));
        levels.extend(
            self.history.iter().map(|history| level(Driver::History, *history, HISTORY_TENANTS, 0, *history)),
        );
        levels
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let machine = machine::describe(&self.place.made()?);
        let mut levels = self.levels().into_iter();
        let base = levels.next().ok_or("there is no level")?;
        let mut base = self.start(&base)?;
        let mut all = Vec::new();
        let mut failures = Vec::new();
        for level in levels {
            let name = format!("{} {}", grouped(level.size), level.driver.name());
            match self.level(&level, &base) {
                Ok(seen) => all.push(seen),
                Err(why) => {
                    progress(&format!("{name}: {why}"));
                    failures.push(format!("**Not measured** {name}: {why}."));
                }
            }
        }
        // Rounds of its own, as many as every level has, so that it has a row.
        for _ in 0..self.rounds {
            let own = self.pay(&base)?;
            base.seen.own.push(own);
        }
        all.insert(0, base.seen);
        let mut table = self.table(&all);
        failures.into_iter().for_each(|failure| table.remark(failure));
        table.remark(machine);
        let lines = all.iter().filter(|seen| seen.driver != Driver::Nothing).map(Seen::line).collect();
        Ok(Report { tables: vec![table], lines, bars: bars(&all), charts: vec![chart(&all)] })
    }

    /// Fills a directory and starts a server on it, which must know what it holds.
    fn start(&self, level: &Level) -> Outcome<Started> {
        let scratch = Scratch::new(&self.place.made()?, "growth")?;
        progress(&format!(
            "filling {} records: {} tenants, {} holds",
            grouped(level.filling.records),
            grouped(u64::from(level.filling.tenants)),
            grouped(level.filling.holds)
        ));
        let data = scratch.path().join("data");
        let filled_in = level.filling.done_in(&data)?;
        let disk = bytes_in(&data.join(LOG_DIRECTORY));
        let server = Server::gateway(scratch.path(), PATIENCE)?;
        let memory = machine::own_memory(server.pid())?;
        check(&server, &level.filling)?;
        let tenants: Vec<Tenant> = (1..=level.filling.active())
            .map(|tenant| Tenant { key: key_of(tenant), merchant: String::new() })
            .collect();
        let requests: Arc<dyn Workload> = Arc::new(Requests::credits(server.api, &tenants));
        let (driver, size, ready_after, records) =
            (level.driver, level.size, server.ready_after, level.filling.records);
        let seen = Seen {
            driver,
            size,
            own: Vec::new(),
            base: Vec::new(),
            ready_after,
            memory,
            disk,
            records,
            filled_in,
        };
        Ok(Started { server, seen, requests, _scratch: scratch })
    }

    fn level(&self, level: &Level, base: &Started) -> Outcome<Seen> {
        let mut started = self.start(level)?;
        for round in 1..=self.rounds {
            let base = self.pay(base)?;
            let own = self.pay(&started)?;
            let (with, without) = (own.rate(), base.rate());
            progress(&format!(
                "round {round}/{}: {}/s, {}/s with next to nothing",
                self.rounds,
                grouped(with),
                grouped(without)
            ));
            started.seen.own.push(own);
            started.seen.base.push(base);
        }
        Ok(started.seen)
    }

    fn pay(&self, started: &Started) -> Outcome<Measured> {
        started.server.rest()?;
        let time = Duration::from_secs(self.seconds);
        Load {
            server: &started.server,
            requests: &started.requests,
            connections: CONNECTIONS,
            threads: 2,
            warm_up: WARM_UP,
            time,
        }
        .run()
    }

    fn table(&self, all: &[Seen]) -> Table {
        let columns = [
            "driver",
            "size",
            "payouts/s",
            "of next to nothing",
            "p99 ms",
            "server CPU µs/payout",
            "seconds to ready",
            "memory MiB",
            "disk MiB",
            "disk bytes/record",
            "filled in s",
        ];
        let mut table = Table::new("How cost grows", &columns);
        table.remark(format!(
            "Payouts to a phone (POST /v1/payments/credit, two durable records) over {CONNECTIONS} connections, from {} of the level in turn; {} rounds of {} s, each beside a round of a \
             server with one tenant, no hold and no history; medians. Every level has {} records behind its last snapshot, which a start after SIGKILL replays; history is debits of {} tenants. \
             Memory is the process's own when it is ready. Balances were checked after the start.",
            match self.active {
                0 => "all tenants".to_owned(),
                active => format!("the first {} tenants", grouped(u64::from(active))),
            },
            self.rounds,
            self.seconds,
            grouped(TAIL),
            HISTORY_TENANTS
        ));
        for seen in all {
            let of = |figure: &dyn Fn(&Measured) -> u64| median(seen.own.iter().map(figure));
            table.row([
                seen.driver.name().to_owned(),
                grouped(seen.size),
                grouped(rate(&seen.own)),
                if seen.base.is_empty() { "1".to_owned() } else { ratio(rate(&seen.own), rate(&seen.base)) },
                milliseconds(of(&|load| load.latency.value_at_quantile(0.99))),
                microseconds(of(&|load| nanoseconds_each(load.server.cpu, load.answers))),
                seconds(seen.ready_after),
                mebibytes(seen.memory),
                mebibytes(seen.disk),
                grouped(seen.disk / seen.records.max(1)),
                seconds(seen.filled_in),
            ]);
        }
        table
    }
}

fn rate(loads: &[Measured]) -> u64 {
    median(loads.iter().map(Measured::rate))
}

/// The bars: the long history's, and that nothing grows faster than the quantity that drives it.
fn bars(all: &[Seen]) -> Vec<Bar> {
    let mut bars = Vec::new();
    if let Some(long) = all.iter().find(|seen| seen.driver == Driver::History && seen.size == LONG) {
        bars.push(Bar::ratio(
            "throughput after 10 million records, of that of the first",
            rate(&long.own),
            rate(&long.base),
            90,
        ));
        let (ready_us, from) = (
            u64::try_from(long.ready_after.as_micros()).unwrap_or(u64::MAX),
            format!("of {} records", grouped(long.records)),
        );
        bars.push(Bar::at_most(
            "restart with 100,000 records of tail",
            Unit::Time,
            ready_us,
            RESTART_US_MAX,
            from,
        ));
    }
    for driver in [Driver::Tenants, Driver::Holds, Driver::History] {
        let mut levels: Vec<&Seen> =
            all.iter().filter(|seen| seen.driver == driver && seen.size > 0).collect();
        levels.sort_by_key(|seen| seen.size);
        for pair in levels.windows(2) {
            let factor = |before: u64, after: u64| after.saturating_mul(100).checked_div(before).unwrap_or(0);
            let costs = |seen: &Seen| {
                let ready_us = u64::try_from(seen.ready_after.as_micros()).unwrap_or(u64::MAX);
                [
                    ("memory", seen.memory),
                    ("disk", seen.disk),
                    ("restart", ready_us),
                    ("time per payout", 1_000_000_000 / rate(&seen.own).max(1)),
                ]
            };
            let factors = costs(pair[0])
                .into_iter()
                .zip(costs(pair[1]))
                .map(|((name, before), (_, after))| (factor(before, after), name));
            let worst = factors.max().unwrap_or((0, ""));
            let what = format!(
                "what grows most from {} to {} {}",
                grouped(pair[0].size),
                grouped(pair[1].size),
                driver.name()
            );
            bars.push(Bar::at_most(
                &what,
                Unit::Ratio,
                worst.0,
                factor(pair[0].size, pair[1].size),
                worst.1.to_owned(),
            ));
        }
    }
    bars
}

fn chart(all: &[Seen]) -> Chart {
    let drivers = [Driver::Tenants, Driver::Holds, Driver::History]
        .map(|driver| (driver, all.iter().filter(|seen| seen.driver == driver).collect::<Vec<_>>()));
    let most = drivers.iter().map(|(_, levels)| levels.len()).max().unwrap_or(0);
    let series = drivers.into_iter().filter(|(_, levels)| !levels.is_empty()).map(|(driver, levels)| {
        let sizes: Vec<String> = levels.iter().map(|seen| grouped(seen.size)).collect();
        let shares = levels.iter().map(|seen| (rate(&seen.own) * 100).checked_div(rate(&seen.base)));
        Series {
            name: format!("{}: {}", driver.name(), sizes.join(", ")),
            points: std::iter::once(Some(100)).chain(shares).collect(),
        }
    });
    Chart {
        file: "growth",
        title: "Throughput as a server holds more".to_owned(),
        across: "from next to nothing to the sizes beside the names",
        upwards: "percent of the throughput with next to nothing",
        series: series.collect(),
        steps: (0..=most)
            .map(|nth| if nth == 0 { "next to nothing".to_owned() } else { format!("size {nth}") })
            .collect(),
        by_factors: false,
    }
}

impl Seen {
    fn line(&self) -> Line {
        Line {
            what: format!("payouts with {} {}", grouped(self.size), self.driver.name()),
            figure: format!(
                "{}/s, {} MiB, ready in {} s",
                grouped(rate(&self.own)),
                mebibytes(self.memory),
                seconds(self.ready_after)
            ),
            baseline: format!("{}/s with next to nothing", grouped(rate(&self.base))),
            ratio: ratio(rate(&self.own), rate(&self.base)),
        }
    }
}

impl Driver {
    fn name(self) -> &'static str {
        match self {
            Driver::Nothing => "next to nothing",
            Driver::Tenants => "tenants",
            Driver::Holds => "holds on the balance",
            Driver::History => "records of history",
        }
    }
}
