//! The public interface over a full history: the latest rate, 30 days of hours, a year of days;
//! each beside a server that answers as many bytes without doing anything.

use crate::cleanup::{self, Scratch};
use crate::load::{Load, Measured};
use crate::prepare::Client;
use crate::reads::Reads;
use crate::report::{Line, Report};
use crate::requests::Workload;
use crate::server::Server;
use crate::table::{Table, grouped, median, microseconds, milliseconds, nanoseconds_each, ratio, seconds};
use crate::{Outcome, Place, machine, progress};
use clap::Args;
use domain::resources::rates::buckets::price;
use domain::resources::rates::samples::{Pair, Sample, Series};
use domain::values::time::DAY_MS;
use pasarela::disk::Disk;
use pasarela::gateway::services::system_now;
use pasarela::rates::{Item, RateStore};
use pasarela::recovery::directory::RATES_DIRECTORY;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The time before what counts.
const WARM_UP: Duration = Duration::from_millis(300);
/// The time until a server must be ready.
const READY: Duration = Duration::from_secs(60);
/// Samples that wait for the disk at once.
const WIDTH: usize = 4_096;
/// The time over which the samples are spread, in ms.
const SPREAD_MS: i64 = 366 * DAY_MS;

/// The requests: a name, a path, and how a right answer ends.
const ASKED: [(&str, &str, &str); 3] = [
    ("the latest rate", "/api/v1/fx/latest?side=BUY", "}"),
    ("30 days of hours", "/api/v1/fx/history?side=BUY&days=30&interval=hour&limit=720", "\"count\":720}"),
    ("a year of days", "/api/v1/fx/history?side=BUY&days=365&interval=day&limit=365", "\"count\":365}"),
];

/// The latest rate and its history, over a million samples, beside a server that does nothing
#[derive(Args, Clone, Debug)]
pub struct Rates {
    #[command(flatten)]
    pub(super) place: Place,
    /// Samples in the history, spread over a year
    #[arg(long, default_value_t = 1_000_000)]
    pub(super) samples: u32,
    /// Connections
    #[arg(long, value_delimiter = ',', default_values_t = [1, 64])]
    pub(super) connections: Vec<usize>,
    /// Seconds per case and round
    #[arg(long, default_value_t = 2)]
    pub(super) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 3)]
    pub(super) rounds: usize,
    /// Threads of the generator
    #[arg(long, default_value_t = 2)]
    pub(super) threads: usize,
}

struct Case {
    name: &'static str,
    path: String,
    ending: &'static str,
    does_nothing: bool,
    connections: usize,
    bytes: usize,
    rounds: Vec<Measured>,
}

impl Rates {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        let cases = self.connections.len() * ASKED.len() * 2 * self.rounds;
        Duration::from_secs(self.seconds + 1) * u32::try_from(cases).unwrap_or(u32::MAX)
            + Duration::from_secs(10 + u64::from(self.samples) / 20_000)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.connections.is_empty()
            || self.connections.contains(&0)
            || self.samples == 0
            || self.rounds == 0
            || self.seconds == 0
        {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(self.takes() * 3 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let machine = machine::describe(&self.place.made()?);
        let scratch = Scratch::new(&self.place.made()?, "rates")?;
        progress(&format!("filling {} samples", grouped(u64::from(self.samples))));
        let filled_in = self.fill(&scratch.path().join("data").join(RATES_DIRECTORY))?;
        let (gateway, do_nothing) =
            (Server::gateway(scratch.path(), READY)?, Server::do_nothing(scratch.path())?);
        let mut cases = self.cases(&gateway)?;
        for round in 1..=self.rounds {
            for case in &mut cases {
                let server = if case.does_nothing { &do_nothing } else { &gateway };
                let requests: Arc<dyn Workload> = Arc::new(Reads::new(server.api, &case.path, case.ending));
                let time = Duration::from_secs(self.seconds);
                let load = Load {
                    server,
                    requests: &requests,
                    connections: case.connections,
                    threads: self.threads,
                    warm_up: WARM_UP,
                    time,
                };
                let measured = load.run().map_err(|why| format!("{}: {why}", case.name))?;
                let rate = grouped(measured.rate());
                let whom = if case.does_nothing { "do nothing" } else { "gateway" };
                progress(&format!(
                    "round {round}/{}: {}, {whom}, {} connections: {rate}/s",
                    self.rounds, case.name, case.connections
                ));
                case.rounds.push(measured);
            }
        }
        Ok(Report {
            tables: vec![self.table(&machine, filled_in, &cases)],
            lines: lines(&cases),
            ..Report::default()
        })
    }

    /// Writes the samples as feeds do, evenly over a year.
    fn fill(&self, directory: &Path) -> Outcome<Duration> {
        std::fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let store = Arc::new(
            RateStore::open(directory, &Arc::new(Disk::new(directory, 0)))
                .map_err(|error| error.to_string())?,
        );
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .map_err(|error| error.to_string())?;
        let (began, now) = (Instant::now(), system_now());
        let series = Series::of(Pair::USDT_VES, "p2p").side("BUY");
        runtime.block_on(async {
            let mut waiting = JoinSet::new();
            for n in 0..i64::from(self.samples) {
                let at = now.minus_ms(SPREAD_MS - SPREAD_MS / i64::from(self.samples) * n);
                let sample = Arc::new(Sample::new(
                    series.clone(),
                    price(25_000_000_000 + i128::from(n % 1_000_000)),
                    at,
                    at,
                ));
                let store = Arc::clone(&store);
                waiting.spawn(async move { store.keep(Item::Sample(sample)).await });
                if waiting.len() == WIDTH {
                    while let Some(kept) = waiting.join_next().await {
                        kept.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
                    }
                }
            }
            while let Some(kept) = waiting.join_next().await {
                kept.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
            }
            Ok::<_, String>(began.elapsed())
        })
    }

    /// Every case, and beside it one that answers as many bytes.
    fn cases(&self, gateway: &Server) -> Outcome<Vec<Case>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let mut cases = Vec::new();
        for (name, path, ending) in ASKED {
            let bytes = runtime.block_on(async { Client::open(gateway.api).await?.size(path).await })?;
            for connections in &self.connections {
                let case = |path: String, ending, does_nothing| Case {
                    name,
                    path,
                    ending,
                    does_nothing,
                    connections: *connections,
                    bytes,
                    rounds: Vec::new(),
                };
                cases.push(case(format!("/?bytes={bytes}"), "}", true));
                cases.push(case(path.to_owned(), ending, false));
            }
        }
        Ok(cases)
    }

    fn table(&self, machine: &str, filled_in: Duration, cases: &[Case]) -> Table {
        let columns = [
            "case",
            "connections",
            "bytes",
            "requests/s",
            "p50 ms",
            "p99 ms",
            "do-nothing/s",
            "of do-nothing",
            "server CPU µs/request",
        ];
        let mut table = Table::new("Rates", &columns);
        table.remark(format!(
            "GET over kept HTTP/1.1 connections, closed loop, from a history of {} samples of one line over a year (filled in {} s); {} rounds of {} s with all cases interleaved, medians. \
             The server that does nothing answers as many bytes. The generator ({} threads) shares the cores with the server.",
            grouped(u64::from(self.samples)),
            seconds(filled_in),
            self.rounds,
            self.seconds,
            self.threads
        ));
        table.remark(machine);
        for pair in cases.chunks_exact(2) {
            let (nothing, case) = (&pair[0], &pair[1]);
            table.row([
                case.name.to_owned(),
                case.connections.to_string(),
                grouped(case.bytes as u64),
                grouped(case.rate()),
                case.quantile(0.5),
                case.quantile(0.99),
                grouped(nothing.rate()),
                ratio(case.rate(), nothing.rate()),
                microseconds(median(
                    case.rounds.iter().map(|round| nanoseconds_each(round.server.cpu, round.answers)),
                )),
            ]);
        }
        table
    }
}

/// The figures that count.
fn lines(cases: &[Case]) -> Vec<Line> {
    let line = |pair: &[Case]| {
        let (nothing, case) = (&pair[0], &pair[1]);
        Line {
            what: format!("{}, {} connections", case.name, case.connections),
            figure: format!(
                "{}/s (p50 {}, p99 {} ms)",
                grouped(case.rate()),
                case.quantile(0.5),
                case.quantile(0.99)
            ),
            baseline: format!("{}/s doing nothing", grouped(nothing.rate())),
            ratio: ratio(case.rate(), nothing.rate()),
        }
    };
    cases.chunks_exact(2).map(line).collect()
}

impl Case {
    fn quantile(&self, q: f64) -> String {
        milliseconds(median(self.rounds.iter().map(|round| round.latency.value_at_quantile(q))))
    }

    fn rate(&self) -> u64 {
        median(self.rounds.iter().map(Measured::rate))
    }
}
