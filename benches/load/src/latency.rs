//! The latency at a given load: requests at fixed rates, from a tenth to nine tenths of what the
//! server can do, latencies counted from when a request was due. Server and generator have a core
//! of their own each, so that neither waits for the other's turn; beside it a single write and sync
//! to the same disk.

use crate::chart::{Chart, Series};
use crate::cleanup::{self, Scratch};
use crate::load::{Load, Measured, histogram, microseconds};
use crate::open_loop::{OpenLoop, Phase, PhaseFigures};
use crate::prepare::{self, Extent, Tenant};
use crate::prepared::{Enough, Kind, Prepared};
use crate::report::{Bar, Line, Report, Unit};
use crate::requests::{Requests, Workload};
use crate::server::{Server, Setting};
use crate::table::{Table, grouped, median, milliseconds, nanoseconds_each, per_second};
use crate::{Outcome, Place, machine, progress, table};
use clap::Args;
use hdrhistogram::Histogram;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time until a server must be ready on an empty directory.
const READY: Duration = Duration::from_secs(30);
/// The time before what counts.
const WARM_UP: Duration = Duration::from_millis(500);
/// Connections that are there for the requests.
const CONNECTIONS: usize = 256;
/// Connections with which the capacity is found.
const CAPACITY_CONNECTIONS: usize = 256;
/// The time after which a request is given up: none is.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// The bytes that are written before each of the syncs that are measured alone.
const SYNC_BYTES: usize = 4 << 10;
/// The factor by which the 99th percentile at half the load may exceed a sync.
const OF_A_SYNC_MAX: u64 = 5;
/// Half the load, in percent.
const HALF: u64 = 50;
/// Tenants that payouts are spread over.
const TENANTS: usize = 1;

/// Latency at fixed rates, server and generator on cores of their own
#[derive(Args, Clone, Debug)]
pub struct Latency {
    #[command(flatten)]
    pub(super) place: Place,
    /// Rates, in percent of the capacity that is found first
    #[arg(long, value_delimiter = ',', default_values_t = [10, 25, 50, 75, 90])]
    pub(super) percent: Vec<u64>,
    /// Seconds per case and round
    #[arg(long, default_value_t = 3)]
    pub(super) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 2)]
    pub(super) rounds: usize,
}

/// The workloads that are measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Conversions,
    Payouts,
}

struct Case {
    what: What,
    percent: u64,
    rounds: Vec<PhaseFigures>,
}

/// The cores of the server and those of the generator; both are empty if there are too few.
pub fn apart() -> (Vec<usize>, Vec<usize>) {
    let mut cores = machine::cores();
    if cores.len() < 2 {
        return (Vec::new(), Vec::new());
    }
    let generator = cores.pop().into_iter().collect();
    (cores, generator)
}

/// The most payouts that the server answers, closed loop, from a generator on these cores.
pub fn capacity(server: &Server, tenants: &[Tenant], cores: &[usize], time: Duration) -> Outcome<Measured> {
    let requests: Arc<dyn Workload> = Arc::new(Requests::payouts(server.api, tenants));
    let measured = closed_loop(server, &requests, cores, time)?;
    server.rest()?;
    Ok(measured)
}

/// The most requests per second that the server answers.
fn busiest(server: &Server, requests: &Arc<dyn Workload>, cores: &[usize], time: Duration) -> Outcome<u64> {
    Ok(closed_loop(server, requests, cores, time)?.rate())
}

fn closed_loop(
    server: &Server,
    requests: &Arc<dyn Workload>,
    cores: &[usize],
    time: Duration,
) -> Outcome<Measured> {
    let load =
        Load { server, requests, connections: CAPACITY_CONNECTIONS, threads: 1, warm_up: WARM_UP, time };
    machine::on_cores(cores, || load.run())
}

impl Latency {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        let each = Duration::from_secs(self.seconds) + WARM_UP + Duration::from_millis(500);
        // The quotes for conversions take about as long again.
        let cases = u32::try_from(self.percent.len() * 3 * self.rounds + 5).unwrap_or(u32::MAX);
        each * cases + Duration::from_secs(2 + self.rounds as u64)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.percent.contains(&0) || self.percent.is_empty() || self.rounds == 0 || self.seconds == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(self.takes() * 3 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let place = self.place.made()?;
        let machine = machine::describe(&place);
        let scratch = Scratch::new(&place, "latency")?;
        let (server_cores, generator_cores) = apart();
        let setting = Setting { cores: server_cores.clone(), ..Setting::default() };
        let server = Server::gateway_in(scratch.path(), READY, &setting)?;
        let tenants = prepare::tenants(&server, TENANTS, Extent::Payable)?;
        let time = Duration::from_secs(self.seconds);
        let payouts = capacity(&server, &tenants, &generator_cores, time)?.rate();
        let busiest = |quoted: &Arc<dyn Workload>| busiest(&server, quoted, &generator_cores, time);
        let conversions =
            Prepared::while_they_last(&server, &tenants[0], Kind::Conversions, time + WARM_UP, busiest)?;
        progress(&format!(
            "capacity: {} payouts/s, {} conversions/s",
            grouped(payouts),
            grouped(conversions)
        ));
        let capacity = |what| match what {
            What::Payouts => payouts,
            What::Conversions => conversions,
        };
        let mut cases: Vec<Case> = Vec::new();
        for what in [What::Conversions, What::Payouts] {
            cases.extend(self.percent.iter().map(|percent| Case {
                what,
                percent: *percent,
                rounds: Vec::new(),
            }));
        }
        let mut syncs = histogram();
        for round in 1..=self.rounds {
            server.rest()?;
            syncs
                .add(machine::on_cores(&server_cores, || {
                    single_syncs(scratch.path(), Duration::from_secs(1))
                })?)
                .map_err(|error| error.to_string())?;
            for case in &mut cases {
                let figures = self.round(
                    &server,
                    &tenants[0],
                    case.what,
                    (capacity(case.what) * case.percent / 100).max(1),
                    &generator_cores,
                )?;
                let p99 = milliseconds(figures.done.value_at_quantile(0.99));
                progress(&format!(
                    "round {round}/{}: {} at {} %: p99 {p99} ms",
                    self.rounds,
                    case.what.name(),
                    case.percent
                ));
                case.rounds.push(figures);
            }
        }
        let mut table = self.table(&cases, &syncs);
        table.remark(match generator_cores.as_slice() {
            [] => "Server and generator share the cores: there are too few to have them apart.".to_owned(),
            generator => format!("The server has the cores {server_cores:?}, the generator {generator:?}."),
        });
        table.remark(format!(
            "Capacity on these cores, closed loop at {CAPACITY_CONNECTIONS} connections: {} payouts/s, {} conversions/s.",
            grouped(payouts),
            grouped(conversions)
        ));
        table.remark(machine);
        Ok(Report {
            tables: vec![table],
            lines: lines(&cases, &syncs),
            bars: bars(&cases, &syncs),
            charts: vec![self.chart(&cases, &syncs)],
        })
    }

    fn round(
        &self,
        server: &Server,
        tenant: &Tenant,
        what: What,
        rate: u64,
        cores: &[usize],
    ) -> Outcome<PhaseFigures> {
        let phases = [Phase { rate, time: WARM_UP }, Phase { rate, time: Duration::from_secs(self.seconds) }];
        let requests: Arc<dyn Workload> = match what {
            What::Payouts => Arc::new(Requests::payouts(server.api, std::slice::from_ref(tenant))),
            What::Conversions => {
                let count = usize::try_from(rate * (self.seconds + 1)).unwrap_or(usize::MAX);
                Arc::new(Prepared::new(server, tenant, Kind::Conversions, Enough::Count(count))?)
            }
        };
        server.rest()?;
        let figures = OpenLoop {
            server,
            requests: &requests,
            connections: CONNECTIONS,
            phases: &phases,
            patience: PATIENCE,
            cores,
        }
        .run()?;
        figures.into_iter().nth(1).ok_or_else(|| "there was no second phase".to_owned())
    }

    fn table(&self, cases: &[Case], syncs: &Histogram<u64>) -> Table {
        let columns = [
            "case",
            "load",
            "offered/s",
            "answered/s",
            "p50 ms",
            "p90 ms",
            "p99 ms",
            "p99.9 ms",
            "p99.99 ms",
            "longest ms",
            "server CPU µs/request",
            "bytes written/request",
        ];
        let mut table = Table::new("Latency at a given load", &columns);
        table.remark(format!(
            "Requests at fixed rates over {CONNECTIONS} connections, whatever the answers do; a latency is counted from when the request was due (corrected for coordinated omission). {} rounds of \
             {} s, medians. A single sync is {SYNC_BYTES} bytes appended and fdatasync, one after the other.",
            self.rounds, self.seconds
        ));
        for case in cases {
            let of = |figure: &dyn Fn(&PhaseFigures) -> u64| median(case.rounds.iter().map(figure));
            let time = Duration::from_secs(self.seconds);
            let quantile = |q: f64| case.quantile(q);
            table.row([
                case.what.name().to_owned(),
                format!("{} %", case.percent),
                grouped(of(&|figures| per_second(figures.due, time))),
                grouped(of(&|figures| per_second(figures.answers, time))),
                milliseconds(quantile(0.5)),
                milliseconds(quantile(0.9)),
                milliseconds(quantile(0.99)),
                milliseconds(quantile(0.999)),
                milliseconds(quantile(0.9999)),
                milliseconds(of(&|figures| figures.done.max())),
                table::microseconds(of(&|figures| nanoseconds_each(figures.server.cpu, figures.answers))),
                grouped(of(&|figures| figures.server.written / figures.answers.max(1))),
            ]);
        }
        let quantile = |q: f64| milliseconds(syncs.value_at_quantile(q));
        let nothing = || "–".to_owned();
        table.row([
            "a single sync".to_owned(),
            nothing(),
            nothing(),
            grouped(per_second(syncs.len(), Duration::from_secs(self.rounds as u64))),
            quantile(0.5),
            quantile(0.9),
            quantile(0.99),
            quantile(0.999),
            quantile(0.9999),
            milliseconds(syncs.max()),
            nothing(),
            nothing(),
        ]);
        table
    }

    fn chart(&self, cases: &[Case], syncs: &Histogram<u64>) -> Chart {
        let points = |what: What, q: f64| {
            self.percent
                .iter()
                .map(|percent| {
                    Some(cases.iter().find(|case| (case.what, case.percent) == (what, *percent))?.quantile(q))
                })
                .collect()
        };
        let line = |what: What, name: &str, q: f64| Series {
            name: format!("{} {name}", what.name()),
            points: points(what, q),
        };
        let mut series = Vec::new();
        for what in [What::Conversions, What::Payouts] {
            series
                .extend([("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)].map(|(name, q)| line(what, name, q)));
        }
        series.push(Series {
            name: "a single sync p99".to_owned(),
            points: self.percent.iter().map(|_| Some(syncs.value_at_quantile(0.99))).collect(),
        });
        let steps = self.percent.iter().map(|percent| format!("{percent} %")).collect();
        Chart {
            file: "latency",
            title: "Latency at a given load".to_owned(),
            across: "offered load, of the capacity",
            upwards: "microseconds from due to answered",
            steps,
            series,
            by_factors: true,
        }
    }
}

/// Appends and syncs, one after the other.
fn single_syncs(dir: &Path, time: Duration) -> Outcome<Histogram<u64>> {
    let path = dir.join("syncs");
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = File::create(&path).map_err(fail)?;
    let (bytes, mut latency, end) = ([0x5a; SYNC_BYTES], histogram(), Instant::now() + time);
    while Instant::now() < end {
        let began = Instant::now();
        file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(fail)?;
        latency.saturating_record(microseconds(began.elapsed()));
    }
    std::fs::remove_file(&path).map_err(fail)?;
    Ok(latency)
}

fn bars(cases: &[Case], syncs: &Histogram<u64>) -> Vec<Bar> {
    let sync = syncs.value_at_quantile(0.99);
    let bar = |case: &Case| {
        let from = format!("{OF_A_SYNC_MAX} times the p99 of a single sync, {} ms", milliseconds(sync));
        Bar::at_most(
            &format!("p99 of {} at half load", case.what.name()),
            Unit::Time,
            case.quantile(0.99),
            OF_A_SYNC_MAX * sync,
            from,
        )
    };
    cases.iter().filter(|case| case.percent == HALF).map(bar).collect()
}

/// The figures that count.
fn lines(cases: &[Case], syncs: &Histogram<u64>) -> Vec<Line> {
    let sync = syncs.value_at_quantile(0.99);
    let line = |case: &Case| Line {
        what: format!("p99 of {} at half load", case.what.name()),
        figure: format!(
            "{} ms (p99.9 {} ms)",
            milliseconds(case.quantile(0.99)),
            milliseconds(case.quantile(0.999))
        ),
        baseline: format!("{} ms, p99 of a single sync", milliseconds(sync)),
        ratio: table::ratio(case.quantile(0.99), sync),
    };
    cases.iter().filter(|case| case.percent == HALF).map(line).collect()
}

impl Case {
    fn quantile(&self, q: f64) -> u64 {
        median(self.rounds.iter().map(|figures| figures.done.value_at_quantile(q)))
    }
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Conversions => "conversions",
            What::Payouts => "payouts",
        }
    }
}
