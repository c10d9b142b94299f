//! Debits on one balance in process, through the engine and its log on the disk, beside group
//! commit to a plain file.

use crate::cleanup::{self, Scratch};
use crate::load::{histogram, microseconds};
use crate::plain_file::PlainFile;
use crate::report::{Bar, Line, Report};
use crate::table::{Table, grouped, median, milliseconds, nanoseconds_each, per_second, ratio};
use crate::{Outcome, Place, machine, progress, table};
use actors::{Clock, Config, Effects, Engine, Shares};
use api::operators::changes;
use clap::Args;
use domain::cause::Cause;
use domain::machine::Domain;
use domain::machine::{Command, KeyedCommand};
use domain::rail::Effect;
use domain::resources::adjustments::Adjustment;
use domain::values::ids::{Mode, tenant_key};
use domain::values::money::Currency;
use hdrhistogram::Histogram;
use pasarela::recovery::directory::LOG_DIRECTORY;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use wal::{RECORD_OVERHEAD_BYTES, RocksStore};

/// The tenant whose balance is debited.
const TENANT: u32 = 1;

/// The time before what counts.
const WARM_UP: Duration = Duration::from_millis(300);

/// Callers of the bar.
const MOST: usize = 1_024;

/// Histograms that the callers share, so that few meet at one.
const SHARDS: usize = 8;

/// Debits on one balance in process, beside a plain file
#[derive(Args, Clone, Debug)]
pub struct InProcess {
    #[command(flatten)]
    pub(super) place: Place,
    /// Concurrent callers
    #[arg(long, value_delimiter = ',', default_values_t = [1, 64, 1024])]
    pub(super) callers: Vec<usize>,
    /// Seconds per case and round
    #[arg(long, default_value_t = 2)]
    pub(super) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 3)]
    pub(super) rounds: usize,
}

/// The engine without an outside world: nothing here asks for one.
pub struct NoEffects;

impl Effects<Domain> for NoEffects {
    fn perform(&self, _tenant: u64, _effect: Effect) -> Pin<Box<dyn Future<Output = KeyedCommand> + Send>> {
        Box::pin(async { Command::Deadline.into() })
    }
}

/// An engine on a data directory, which makes no snapshots by itself.
pub async fn engine(data: &Path, permits_max: usize, idle_seconds: u64) -> Outcome<Engine<Domain>> {
    engine_with(data, permits_max, idle_seconds, Arc::new(NoEffects)).await
}

/// The same with an outside world.
pub async fn engine_with(
    data: &Path,
    permits_max: usize,
    idle_seconds: u64,
    effects: Arc<dyn Effects<Domain>>,
) -> Outcome<Engine<Domain>> {
    let store = RocksStore::open(data.join(LOG_DIRECTORY)).map_err(|error| error.to_string())?;
    let config = Config {
        permits_max,
        shares: Shares::UNBOUNDED,
        snapshot_records: u64::MAX,
        snapshot_seconds: u64::MAX,
        idle_seconds,
        awake_max: usize::MAX,
        has_room: Arc::new(|| true),
        has_room_for_due: Arc::new(|_| true),
        is_elsewhere: None,
        patience: Duration::from_secs(3600),
        on_fatal: Arc::new(|why| eprintln!("pasarela-bench: the engine stops: {why}")),
        set_aside: BTreeMap::new(),
        on_halt: Arc::new(|halted| eprintln!("pasarela-bench: halted: {halted:?}")),
        clock: Clock::system(),
        seeds: actors::unforeseeable(),
        stepper: None,
    };
    let domain = Domain {
        rails: Arc::new(domain::rail::TestModeAlone),
        holidays: Vec::new(),
        changes,
        person_marks: Default::default(),
    };
    Engine::start(domain, effects, Box::new(store), wal::Config::default(), config)
        .await
        .map_err(|error| error.to_string())
}

/// Adds cents to a balance, or takes them; returns how long the book's turn took.
pub async fn adjust(engine: &Engine<Domain>, tenant: u64, minor: i64) -> Outcome<Duration> {
    post(engine, tenant, minor, false).await
}

/// Adds cents to a balance that are held for a day.
pub async fn hold(engine: &Engine<Domain>, tenant: u64, minor: i64) -> Outcome<Duration> {
    post(engine, tenant, minor, true).await
}

async fn post(engine: &Engine<Domain>, tenant: u64, minor: i64, held: bool) -> Outcome<Duration> {
    let description = "bench".to_owned();
    let ask = Adjustment {
        cause: Cause::Funded,
        currency: Currency::Ves,
        minor,
        merchant: None,
        held,
        description,
        external_ref: None,
    };
    let settled = engine
        .ask_book(tenant, Command::Adjust(Box::new(ask)).into(), None)
        .await
        .map_err(|failure| format!("{failure:?}"))?;
    match (settled.refusal, settled.record) {
        (None, Some(_)) => Ok(settled.timing.apply),
        (refusal, _) => Err(format!("the adjustment was refused: {refusal:?}")),
    }
}

/// The measurements of a case in one round.
struct Measured {
    count: u64,
    time: Duration,
    latency: Histogram<u64>,
    /// Turns of the book, all together.
    turns: Duration,
    /// CPU of this process.
    cpu: Duration,
    /// Synced writes of the engine, from the first call to the last answer.
    syncs: u64,
    /// The records that were written.
    logged: u64,
}

struct Case {
    plain: bool,
    callers: usize,
    rounds: Vec<Measured>,
}

/// The bytes that the engine wrote for one debit.
struct Size {
    /// The record, with its frame.
    record: usize,
    /// The bytes of an operation in all, with the index and everything else.
    all: u64,
}

impl InProcess {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        let cases = self.callers.len() * 2 * self.rounds;
        (Duration::from_secs(self.seconds) + WARM_UP) * u32::try_from(cases).unwrap_or(u32::MAX)
            + Duration::from_secs(2)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.callers.contains(&0) || self.rounds == 0 || self.seconds == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(self.takes() * 3 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let machine = machine::describe(&self.place.made()?);
        let scratch = Scratch::new(&self.place.made()?, "engine")?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let (size, cases) = self.measure(&runtime, scratch.path())?;
        Ok(Report {
            tables: vec![self.table(&machine, &size, &cases)],
            lines: lines(&cases),
            bars: bars(&cases),
            ..Report::default()
        })
    }

    fn measure(&self, runtime: &Runtime, dir: &Path) -> Outcome<(Size, Vec<Case>)> {
        let tenant = tenant_key(TENANT, Mode::Test);
        let most = self.callers.iter().copied().max().unwrap_or(1);
        let engine = runtime.block_on(engine(&dir.join("data"), most * 2, u64::MAX))?;
        let record = runtime.block_on(async {
            adjust(&engine, tenant, 99_000_000_000_000).await?;
            adjust(&engine, tenant, -1).await?;
            let record = engine.reader().record(2).map_err(|error| error.to_string())?;
            Ok::<_, String>(record.map_or(0, |record| record.payload.len() + RECORD_OVERHEAD_BYTES))
        })?;
        let file = Arc::new(PlainFile::create(&dir.join("plain"), record)?);
        let cases = self.callers.iter().flat_map(|callers| {
            [true, false].map(|plain| Case { plain, callers: *callers, rounds: Vec::new() })
        });
        let mut cases: Vec<Case> = cases.collect();
        for round in 1..=self.rounds {
            for case in &mut cases {
                let time = Duration::from_secs(self.seconds);
                let before = engine.status().log;
                let measured = if case.plain {
                    let file = Arc::clone(&file);
                    runtime.block_on(closed_loop(case.callers, time, move |caller| {
                        let file = Arc::clone(&file);
                        async move { file.append(caller).await.map(|()| Duration::ZERO) }
                    }))
                } else {
                    let engine = engine.clone();
                    runtime.block_on(closed_loop(case.callers, time, move |_| {
                        let engine = engine.clone();
                        async move { adjust(&engine, tenant, -1).await }
                    }))
                };
                let mut measured = measured.map_err(|why| format!("{}: {why}", case.name()))?;
                let log = engine.status().log;
                measured.syncs = log.batches - before.batches;
                measured.logged = log.records - before.records;
                progress(&format!(
                    "round {round}/{}: {}, {} callers: {}/s",
                    self.rounds,
                    case.name(),
                    case.callers,
                    grouped(per_second(measured.count, measured.time))
                ));
                case.rounds.push(measured);
            }
        }
        let written = engine.status().log;
        runtime.block_on(engine.stop(Duration::from_secs(10)));
        Ok((Size { record, all: written.bytes / written.records.max(1) }, cases))
    }

    fn table(&self, machine: &str, size: &Size, cases: &[Case]) -> Table {
        let columns = [
            "case",
            "callers",
            "records/s",
            "spread",
            "p50 ms",
            "p99 ms",
            "of plain file",
            "CPU µs/record",
            "book's turn µs",
            "syncs/s",
            "records/sync",
        ];
        let mut table = Table::new("Debits on one balance, in process", &columns);
        table.remark(format!(
            "Each caller debits one cent and waits until it is durable; {} rounds of {} s with all cases interleaved, medians. A record has {} bytes with its frame (the plain file writes as \
             many), {} with its index entries. The callers share the cores with the engine; their CPU is counted.",
            self.rounds, self.seconds, size.record, size.all
        ));
        table.remark(machine);
        for case in cases {
            let rate = case.rate();
            let rates = || case.rounds.iter().map(|round| per_second(round.count, round.time));
            let spread = rates().max().unwrap_or(0) - rates().min().unwrap_or(0);
            let plain = baseline(cases, case.callers);
            let quantile = |q: f64| {
                milliseconds(median(case.rounds.iter().map(|round| round.latency.value_at_quantile(q))))
            };
            let logged = |figure: &dyn Fn(&Measured) -> u64| {
                if case.plain { "–".to_owned() } else { grouped(median(case.rounds.iter().map(figure))) }
            };
            table.row([
                case.name().to_owned(),
                case.callers.to_string(),
                grouped(rate),
                format!("{} %", spread * 100 / rate.max(1)),
                quantile(0.5),
                quantile(0.99),
                if case.plain { "1".to_owned() } else { ratio(rate, plain) },
                table::microseconds(median(
                    case.rounds.iter().map(|round| nanoseconds_each(round.cpu, round.count)),
                )),
                if case.plain { "–".to_owned() } else { table::microseconds(case.turn_ns()) },
                logged(&|round| per_second(round.syncs, round.time + WARM_UP)),
                logged(&|round| round.logged / round.syncs.max(1)),
            ]);
        }
        let most = cases.iter().filter(|case| !case.plain).max_by_key(|case| case.callers);
        if let Some(most) = most {
            let ceiling = 1_000_000_000 / most.turn_ns().max(1);
            table.remark(format!(
                "At {} callers the balance's turns take {} % of the time: alone they would allow {} debits/s.",
                grouped(most.callers as u64),
                most.rate() * 100 / ceiling.max(1),
                grouped(ceiling)
            ));
        }
        table
    }
}

/// The rate of the plain file with as many callers, in writes per second.
fn baseline(cases: &[Case], callers: usize) -> u64 {
    cases.iter().find(|other| other.plain && other.callers == callers).map_or(0, Case::rate)
}

/// The bars: durable debits compared with the plain file.
fn bars(cases: &[Case]) -> Vec<Bar> {
    let asked = cases.iter().filter(|case| !case.plain && case.callers == MOST);
    let what = format!(
        "durable debits on one balance in process, of a plain file, {} callers",
        grouped(MOST as u64)
    );
    asked.map(|case| Bar::ratio(&what, case.rate(), baseline(cases, case.callers), 43)).collect()
}

/// The figures that count.
fn lines(cases: &[Case]) -> Vec<Line> {
    let line = |case: &Case| Line {
        what: format!("durable debits on one balance, in process, {} callers", grouped(case.callers as u64)),
        figure: format!("{}/s", grouped(case.rate())),
        baseline: format!("{}/s to a plain file", grouped(baseline(cases, case.callers))),
        ratio: ratio(case.rate(), baseline(cases, case.callers)),
    };
    cases.iter().filter(|case| !case.plain).map(line).collect()
}

impl Case {
    fn name(&self) -> &'static str {
        if self.plain { "plain file" } else { "engine" }
    }

    fn rate(&self) -> u64 {
        median(self.rounds.iter().map(|round| per_second(round.count, round.time)))
    }

    fn turn_ns(&self) -> u64 {
        median(self.rounds.iter().map(|round| nanoseconds_each(round.turns, round.count)))
    }
}

/// Runs so many callers, each of which asks again when it was answered.
async fn closed_loop<F, A>(callers: usize, time: Duration, ask: F) -> Outcome<Measured>
where
    F: Fn(usize) -> A + Clone + Send + 'static,
    A: Future<Output = Outcome<Duration>> + Send,
{
    let shards: Arc<Vec<Mutex<Histogram<u64>>>> =
        Arc::new((0..SHARDS).map(|_| Mutex::new(histogram())).collect());
    let turns_ns = Arc::new(AtomicU64::new(0));
    let begin = Instant::now() + WARM_UP;
    let end = begin + time;
    let mut running = Vec::with_capacity(callers);
    for caller in 0..callers {
        let (ask, shards, turns_ns) = (ask.clone(), Arc::clone(&shards), Arc::clone(&turns_ns));
        running.push(tokio::spawn(async move {
            let mut turns = Duration::ZERO;
            let mut asked = Instant::now();
            loop {
                let turn = ask(caller).await?;
                let now = Instant::now();
                if now >= end {
                    break;
                }
                if now >= begin {
                    turns += turn;
                    shards[caller % SHARDS]
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .saturating_record(microseconds(now - asked));
                }
                asked = now;
            }
            turns_ns.fetch_add(u64::try_from(turns.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
            Ok::<_, String>(())
        }));
    }
    tokio::time::sleep_until(begin.into()).await;
    let cpu_before = machine::cpu_time(std::process::id())?;
    tokio::time::sleep_until(end.into()).await;
    let cpu = machine::cpu_time(std::process::id())?.saturating_sub(cpu_before);
    for caller in running {
        caller.await.map_err(|error| error.to_string())??;
    }
    let mut latency = histogram();
    for shard in shards.iter() {
        latency
            .add(&*shard.lock().unwrap_or_else(PoisonError::into_inner))
            .map_err(|error| error.to_string())?;
    }
    Ok(Measured {
        count: latency.len(),
        time,
        latency,
        turns: Duration::from_nanos(turns_ns.load(Ordering::Relaxed)),
        cpu,
        syncs: 0,
        logged: 0,
    })
}
