//! A soak: the mix of `day` at a fixed rate for hours. What leaks, grows or becomes slower with time shows
//! here and in no measurement of seconds: memory, the disk, the slowest of the answers.
//!
//! The test clock of each shop that buyers come to goes forward by an hour every minute, in steps.
//! So the holds of what was collected, which last for a day, end as fast as new ones come, and
//! snapshots become old enough to be thinned; with the clock of the wall the run would only measure
//! how a day fills.
//!
//! `offer` the wishes and who grants them · `looks` what is seen every minute, and the quarters.

mod looks;
mod offer;

use crate::cleanup::Scratch;
use crate::day::{Common, Holds, Shops, all_arrived};
use crate::receiver::Receiver;
use crate::report::{Bar, Line, Report, Unit};
use crate::requests::Numbered;
use crate::server::{Server, Setting};
use crate::table::{Table, grouped, mebibytes, microseconds, milliseconds, nanoseconds_each, ratio};
use crate::{Outcome, Place, machine, progress};
use clap::Args;
use looks::{Look, Span, bytes_below, quarters};
use offer::{Offer, Progress};
use pasarela::recovery::directory::LOG_DIRECTORY;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time until a server must be ready on an empty directory.
const READY: Duration = Duration::from_secs(30);
/// The longest time between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// The least number of looks of a run, so that its quarters have several.
const LOOKS_MIN: u32 = 8;
/// Looks in a row of the table, of a run of that many rows at least; every look of a shorter one.
const ROW: usize = 10;
/// The rows of a run whose rows have several looks.
const ROWS_MIN: usize = 4;
/// The time between two looks whether the run is over.
const NAP: Duration = Duration::from_millis(50);
/// Seconds between two rounds of snapshots of the server, of which those of the same hour of a shop's clock
/// are thinned.
const SNAPSHOT_SECONDS: u64 = 10;
/// A day of a shop's clock, in minutes: so long a hold lasts, and so long snapshots of each hour are kept.
const DAY_MINUTES: u64 = 24 * 60;
/// The priority of the thread that counts snapshots.
const NICENESS: i32 = 19;
/// The most that the last quarter may take of what the second took, in hundredths.
const GROWTH_MAX: u64 = 110;
/// The same of the slowest answers, which other work on the machine moves.
const SLOWER_MAX: u64 = 150;

/// The mix of a day at a fixed rate for hours: what memory, disk and latency become
#[derive(Args, Clone, Debug)]
pub struct Soak {
    #[command(flatten)]
    pub(super) place: Place,
    /// Minutes
    #[arg(long, default_value_t = 120)]
    pub(super) minutes: u64,
    /// Wishes that become due per second
    #[arg(long, default_value_t = 300)]
    pub(super) rate: u64,
    /// Connections
    #[arg(long, default_value_t = 64)]
    pub(super) connections: usize,
    /// Shops that buyers come to
    #[arg(long, default_value_t = 20)]
    pub(super) shops: usize,
    /// Webhook endpoints, each of another shop
    #[arg(long, default_value_t = 100)]
    pub(super) endpoints: usize,
    /// Minutes by which the shops' test clocks go forward every minute
    #[arg(long, default_value_t = 60)]
    pub(super) clock_minutes: u64,
    /// What decides who asks for what, and in which order
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
}

/// Payouts in a batch.
const ITEMS: usize = 20;

/// A run, as far as it came.
struct Soaked {
    looks: Vec<Look>,
    /// What ended it before its time.
    wrong: Option<String>,
}

impl Soak {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        self.time() + Duration::from_secs(20)
    }

    fn time(&self) -> Duration {
        Duration::from_secs(self.minutes * 60)
    }

    fn limit(&self) -> Duration {
        self.takes() * 2 + Duration::from_secs(300)
    }

    /// Measures and prints, also what was measured until something went wrong.
    pub fn run(self) -> Outcome<()> {
        let counts = [self.connections, self.shops, self.endpoints];
        if counts.contains(&0) || self.minutes == 0 || self.rate == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        let (machine, soaked) = self.soaked()?;
        self.shown(&machine, &soaked)?.print();
        soaked.wrong.map_or(Ok(()), Err)
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let (machine, soaked) = self.soaked()?;
        match soaked.wrong {
            Some(why) => Err(why),
            None => self.shown(&machine, &soaked),
        }
    }

    fn soaked(&self) -> Outcome<(String, Soaked)> {
        let machine = machine::describe(&self.place.made()?);
        let scratch = Scratch::new(&self.place.made()?, "soak")?;
        let setting = Setting { snapshot_seconds: Some(SNAPSHOT_SECONDS), ..Setting::default() };
        let server = Server::gateway_in(scratch.path(), READY, &setting)?;
        let receiver = Receiver::start()?;
        let common = Arc::new(Common {
            shops: Shops::open(&server, self.shops, self.endpoints, &receiver.url())?,
            api: server.api,
            seed: self.seed,
            items: ITEMS,
            numbered: Numbered::new(),
            announced: AtomicU64::new(0),
        });
        let offer = Offer {
            rate: self.rate,
            time: self.time(),
            connections: self.connections,
            clock_minutes: self.clock_minutes,
        };
        let run = offer.begin(&common, self.limit())?;
        let looker = Looker {
            server: &server,
            data: &scratch.path().join("data"),
            pending: &|| common.announced.load(Ordering::Relaxed).saturating_sub(receiver.arrived()),
            every: (self.time() / LOOKS_MIN).min(LOOK_EVERY),
            time: self.time(),
        };
        let (looks, failed) = looker.watch(&run.progress);
        let judged = run
            .end()
            .and(failed)
            .and_then(|()| all_arrived(&receiver, common.announced.load(Ordering::Relaxed)))
            .and_then(|()| common.shops.check(&server, Holds::End));
        let wrong = judged.err().map(|why| format!("{why}: {}", server.last_words()));
        let stopped = server.stop();
        let wrong = wrong.or_else(|| stopped.err());
        Ok((machine, Soaked { looks, wrong }))
    }

    fn shown(&self, machine: &str, soaked: &Soaked) -> Outcome<Report> {
        let columns = [
            "minutes",
            "wishes/s",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "server CPU µs/wish",
            "memory MiB",
            "disk MiB",
            "snapshots written",
            "snapshots kept",
            "deliveries pending",
            "wishes waiting",
        ];
        let mut table = Table::new("Hours of a day's mix", &columns);
        table.remark(format!(
            "{} wishes a second are due (the mix of `day`, seed {}), for {} min over {} connections of {} shops, 20 payouts in a batch, and payouts that one of {} endpoints is announced of; a wish's time counts \
             from when it was due to the last of its answers. The test clocks of the shops that buyers come to go forward by {} min every minute. The server takes a snapshot of what changed every {SNAPSHOT_SECONDS} s \
             (storage.snapshot_seconds) and thins them by its defaults: all for an hour, one of each hour for a day. Memory is the process's own (RssAnon), as a median of the looks in the row; the \
             rest is as at its end.",
            grouped(self.rate), self.seed, grouped(self.minutes), self.connections, self.shops, self.endpoints, self.clock_minutes,
        ));
        table.remark(match &soaked.wrong {
            Some(why) => format!("**Wrong**: {why}."),
            None => {
                "Every status and every body was judged, and at the end every balance; every event arrived."
                    .to_owned()
            }
        });
        table.remark(machine);
        let mut minutes = Duration::ZERO;
        for looks in soaked.looks.chunks(row_of(soaked.looks.len())) {
            minutes += looks.iter().map(|look| look.time).sum::<Duration>();
            if let Some(last) = looks.last() {
                table.row(row(minutes, &Span(looks), last)?);
            }
        }
        let mut report = Report { tables: vec![table], ..Report::default() };
        if let Some(quarters) = quarters(&soaked.looks) {
            self.judge(&mut report, minutes.as_secs() / 60, &quarters)?;
        }
        Ok(report)
    }

    /// Compares the last quarter of so many minutes with the second. A run is judged by it if a day of the
    /// shops' clocks has passed before either.
    fn judge(&self, report: &mut Report, minutes: u64, [second, last]: &[Span<'_>; 2]) -> Outcome<()> {
        let mut table =
            Table::new("The last quarter beside the second", &["what", "second", "last", "last of second"]);
        let each = |span: &Span<'_>| u64::try_from(span.bytes_each()).unwrap_or(0);
        let is_judged = minutes * self.clock_minutes >= 4 * DAY_MINUTES;
        let p99 = [second.quantile_us(0.99)?, last.quantile_us(0.99)?];
        let verdicts = [
            ("memory", "MiB", [second.memory(), last.memory()], mebibytes as fn(u64) -> String, GROWTH_MAX),
            ("p99", "ms", p99, milliseconds, SLOWER_MAX),
            ("disk for a wish", "bytes", [each(second), each(last)], grouped, GROWTH_MAX),
        ];
        for (what, unit, [before, after], show, most) in verdicts {
            let (before_shown, after_shown) =
                (format!("{} {unit}", show(before)), format!("{} {unit}", show(after)));
            table.row([what.to_owned(), before_shown.clone(), after_shown.clone(), ratio(after, before)]);
            if is_judged {
                let figure = after.saturating_mul(100).checked_div(before).unwrap_or(0);
                let from = format!("{after_shown} of {before_shown}");
                let what = format!("{what} in the last quarter of a soak, of the second");
                report.bars.push(Bar::at_most(&what, Unit::Ratio, figure, most, from));
            }
            report.lines.push(Line {
                what: format!("{what} in the last quarter of {} min of a day's mix", grouped(minutes)),
                figure: after_shown,
                baseline: format!("{before_shown} in the second"),
                ratio: ratio(after, before),
            });
        }
        report.tables.push(table);
        Ok(())
    }
}

/// The number of looks in a row, of so many in all.
fn row_of(looks: usize) -> usize {
    if looks < ROW * ROWS_MIN { 1 } else { ROW }
}

fn row(end: Duration, span: &Span<'_>, last: &Look) -> Outcome<[String; 12]> {
    Ok([
        crate::table::decimal(end.as_secs() * 10 / 60, 1),
        grouped(span.rate()),
        milliseconds(span.quantile_us(0.5)?),
        milliseconds(span.quantile_us(0.99)?),
        milliseconds(span.quantile_us(0.999)?),
        microseconds(nanoseconds_each(span.cpu(), span.wishes())),
        mebibytes(span.memory()),
        mebibytes(last.disk),
        grouped(last.snapshots_written),
        last.snapshots_kept.map_or_else(|| "–".to_owned(), grouped),
        grouped(last.deliveries_pending),
        grouped(last.waiting),
    ])
}

/// Whoever looks at a run.
struct Looker<'a> {
    server: &'a Server,
    data: &'a Path,
    /// The events that have not arrived.
    pending: &'a dyn Fn() -> u64,
    every: Duration,
    /// The time of the whole run.
    time: Duration,
}

impl Looker<'_> {
    /// Looks until nothing more becomes due; the last look is at what was left then.
    fn watch(&self, run: &Progress) -> (Vec<Look>, Outcome<()>) {
        let mut looks = Vec::new();
        let begin = Instant::now();
        let mut before = match self.server.spent() {
            Ok(spent) => (begin, spent.cpu),
            Err(why) => return (looks, Err(why)),
        };
        let row =
            row_of(usize::try_from(self.time.as_secs() / self.every.as_secs().max(1)).unwrap_or(usize::MAX));
        for nth in 1_u32.. {
            while Instant::now() < begin + self.every * nth && !run.is_over() {
                std::thread::sleep(NAP);
            }
            let is_over = run.is_over();
            // What is left of a look that was hardly begun is no look of its own.
            if is_over && before.0.elapsed() < self.every / 2 {
                return (looks, Ok(()));
            }
            match self.look(run, before, is_over || (nth as usize).is_multiple_of(row)) {
                Ok((look, now)) => {
                    tell(begin.elapsed(), &look);
                    looks.push(look);
                    before = now;
                }
                Err(why) => return (looks, Err(why)),
            }
            if is_over {
                break;
            }
        }
        (looks, Ok(()))
    }

    fn look(
        &self,
        run: &Progress,
        (at, cpu): (Instant, Duration),
        is_counted: bool,
    ) -> Outcome<(Look, (Instant, Duration))> {
        let (now, spent, took) = (Instant::now(), self.server.spent()?.cpu, run.took());
        // Counted before those that were written, which are never fewer.
        let snapshots_kept = if is_counted { snapshots_kept(self.data) } else { None };
        let look = Look {
            time: now - at,
            took,
            cpu: spent.saturating_sub(cpu),
            memory: machine::own_memory(self.server.pid())?,
            disk: bytes_below(self.data),
            snapshots_written: self.server.log_status()?.snapshots,
            snapshots_kept,
            deliveries_pending: (self.pending)(),
            waiting: run.waiting(),
        };
        Ok((look, (now, spent)))
    }
}

fn tell(since: Duration, look: &Look) {
    let span = Span(std::slice::from_ref(look));
    let of = |quantile| span.quantile_us(quantile).map_or_else(|_| "–".to_owned(), milliseconds);
    progress(&format!(
        "{} s: {} wishes/s, p50 {} ms, p99 {} ms, p99.9 {} ms, {} MiB, {} MiB on disk, {} snapshots of {} kept, {} deliveries pending, {} wishes waiting",
        since.as_secs(),
        grouped(span.rate()),
        of(0.5),
        of(0.99),
        of(0.999),
        mebibytes(look.memory),
        mebibytes(look.disk),
        look.snapshots_kept.map_or_else(|| "–".to_owned(), grouped),
        grouped(look.snapshots_written),
        grouped(look.deliveries_pending),
        grouped(look.waiting),
    ));
}

/// The snapshots on disk, which thinning leaves; none if they cannot be counted just now. The log is read
/// beside the server, on a thread of the lowest priority.
fn snapshots_kept(data: &Path) -> Option<u64> {
    let count = || {
        let _ = rustix::process::nice(NICENESS);
        let reader = wal::Reader::open_read_only(data.join(LOG_DIRECTORY)).ok()?;
        let tenants = reader.snapshot_tenants().ok()?;
        let heads =
            tenants.into_iter().map(|tenant| reader.snapshot_heads(tenant).ok().map(|heads| heads.len()));
        heads.sum::<Option<usize>>().map(|count| count as u64)
    };
    std::thread::scope(|scope| scope.spawn(count).join().ok().flatten())
}
