//! The effect of a snapshot of a large balance on those who debit it meanwhile: a balance with as
//! many holds as asked for, debits at a fixed rate, and snapshots now and then.

use crate::cleanup::{self, Scratch};
use crate::in_process::{adjust, engine, hold};
use crate::load::{histogram, microseconds};
use crate::report::{Bar, Report, Unit};
use crate::table::{Table, grouped, median, milliseconds, milliseconds_of};
use crate::{Outcome, Place, machine, progress};
use actors::Engine;
use clap::Args;
use domain::machine::Domain;
use domain::values::ids::{Mode, tenant_key};
use hdrhistogram::Histogram;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The tenant whose balance is debited.
const TENANT: u32 = 1;
/// Holds that are made at once.
const WIDTH: usize = 1_024;
/// The time between two debits.
const EVERY: Duration = Duration::from_millis(1);
/// The time between two snapshots, and after the last.
const BETWEEN: Duration = Duration::from_millis(700);
/// The longest time that a snapshot may hold debits up, in microseconds.
const PAUSE_US_MAX: u64 = 20_000;

/// What a snapshot of a balance with many holds does to its debits
#[derive(Args, Clone, Debug)]
pub struct Pause {
    #[command(flatten)]
    pub(super) place: Place,
    /// Holds of the balance
    #[arg(long, default_value_t = 1_000_000)]
    pub(super) holds: u64,
    /// Snapshots
    #[arg(long, default_value_t = 5)]
    pub(super) snapshots: usize,
}

impl Pause {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        Duration::from_secs(3 + self.holds / 150_000)
            + 2 * BETWEEN * u32::try_from(self.snapshots).unwrap_or(u32::MAX)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.snapshots == 0 {
            return Err("there must be at least one snapshot".to_owned());
        }
        cleanup::watch(self.takes() * 5 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let place = self.place.made()?;
        let machine = machine::describe(&place);
        let scratch = Scratch::new(&place, "pause")?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let (calm, stormy) = runtime.block_on(async {
            let engine = engine(&scratch.path().join("data"), 8 * WIDTH, u64::MAX).await?;
            let tenant = tenant_key(TENANT, Mode::Test);
            adjust(&engine, tenant, 99_000_000_000_000).await?;
            progress(&format!("making {} holds", grouped(self.holds)));
            holds(&engine, tenant, self.holds).await?;
            // The first snapshot writes everything that was made until now.
            engine.snapshot().await.map_err(|failure| format!("{failure:?}"))?;
            let calm = debits(&engine, tenant, None, BETWEEN * 2).await?;
            let mut stormy = Vec::new();
            for nth in 1..=self.snapshots {
                let seen = debits(&engine, tenant, Some(engine.clone()), BETWEEN).await?;
                progress(&format!(
                    "snapshot {nth}/{} took {} ms, the slowest debit {} ms",
                    self.snapshots,
                    milliseconds_of(seen.snapshot),
                    milliseconds(seen.latency.max())
                ));
                stormy.push(seen);
            }
            engine.stop(Duration::from_secs(10)).await;
            Ok::<_, String>((calm, stormy))
        })?;
        Ok(self.written(machine, &calm, &stormy))
    }

    fn written(&self, machine: String, calm: &Seen, stormy: &[Seen]) -> Report {
        let mut table = Table::new(
            "Debits while their balance is saved",
            &["case", "snapshot ms", "p50 ms", "p99 ms", "longest ms"],
        );
        table.remark(format!(
            "In process, on one balance with {} holds: a debit each millisecond, latency counted from when it was due, for {} ms around the snapshot.",
            grouped(self.holds),
            BETWEEN.as_millis()
        ));
        table.remark(machine);
        for (name, seen) in [("no snapshot".to_owned(), calm)]
            .into_iter()
            .chain(stormy.iter().enumerate().map(|(nth, seen)| (format!("snapshot {}", nth + 1), seen)))
        {
            let quantile = |q: f64| milliseconds(seen.latency.value_at_quantile(q));
            let took =
                if seen.snapshot.is_zero() { "–".to_owned() } else { milliseconds_of(seen.snapshot) };
            table.row([name, took, quantile(0.5), quantile(0.99), milliseconds(seen.latency.max())]);
        }
        let longest = median(stormy.iter().map(|seen| seen.latency.max()));
        let from = format!(
            "the longest debit of each of {}, median; {} ms without",
            stormy.len(),
            milliseconds(calm.latency.max())
        );
        let what = format!("a debit delayed by a snapshot of a balance with {} holds", grouped(self.holds));
        Report {
            tables: vec![table],
            bars: vec![Bar::at_most(&what, Unit::Time, longest, PAUSE_US_MAX, from)],
            ..Report::default()
        }
    }
}

/// Debits for a while, with or without a snapshot among them.
struct Seen {
    latency: Histogram<u64>,
    snapshot: Duration,
}

/// Puts so many holds on one balance.
async fn holds(engine: &Engine<Domain>, tenant: u64, count: u64) -> Outcome<()> {
    let lanes: Vec<_> = (0..WIDTH as u64)
        .map(|lane| {
            let (engine, own) =
                (engine.clone(), count / WIDTH as u64 + u64::from(lane < count % WIDTH as u64));
            tokio::spawn(async move {
                for _ in 0..own {
                    hold(&engine, tenant, 1).await?;
                }
                Ok::<_, String>(())
            })
        })
        .collect();
    for lane in lanes {
        lane.await.map_err(|error| error.to_string())??;
    }
    Ok(())
}

async fn debits(
    engine: &Engine<Domain>,
    tenant: u64,
    saving: Option<Engine<Domain>>,
    time: Duration,
) -> Outcome<Seen> {
    let latency = Arc::new(Mutex::new(histogram()));
    let begin = Instant::now();
    let saved = tokio::spawn(async move {
        let Some(engine) = saving else { return Ok(Duration::ZERO) };
        tokio::time::sleep(time / 4).await;
        let began = Instant::now();
        engine.snapshot().await.map_err(|failure| format!("{failure:?}"))?;
        Ok::<_, String>(began.elapsed())
    });
    let mut under_way = Vec::new();
    let mut due = begin;
    while due < begin + time || !saved.is_finished() {
        tokio::time::sleep_until(due.into()).await;
        let (engine, latency) = (engine.clone(), Arc::clone(&latency));
        under_way.push(tokio::spawn(async move {
            adjust(&engine, tenant, -1).await?;
            latency
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .saturating_record(microseconds(due.elapsed()));
            Ok::<_, String>(())
        }));
        due += EVERY;
    }
    for debit in under_way {
        debit.await.map_err(|error| error.to_string())??;
    }
    let snapshot = saved.await.map_err(|error| error.to_string())??;
    let latency = latency.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Seen { latency, snapshot })
}
