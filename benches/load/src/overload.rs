//! Overload: half the capacity for a while, then twice the capacity, then half again. Measured are
//! the requests that are served, how fast the others are refused, memory, and the time until all is
//! as before.

use crate::cleanup::{self, Scratch};
use crate::latency::{apart, capacity};
use crate::open_loop::{OpenLoop, Phase, PhaseFigures, SLICE};
use crate::prepare::{self, Extent};
use crate::report::{Bar, Line, Report, Unit};
use crate::requests::{Requests, Workload};
use crate::server::{Server, Setting};
use crate::table::{Table, grouped, mebibytes, milliseconds, per_second, ratio};
use crate::{Outcome, Place, machine, progress};
use clap::Args;
use std::sync::Arc;
use std::time::Duration;

/// The time until a server must be ready on an empty directory.
const READY: Duration = Duration::from_secs(30);
/// The time for which the capacity is measured.
const CAPACITY_TIME: Duration = Duration::from_secs(3);
/// The time after which a client that found no free connection goes away: requests wait in the
/// server and not in the generator.
const PATIENCE: Duration = Duration::from_millis(20);
/// Goodput of the capacity, in hundredths.
const GOODPUT_MIN: u64 = 90;
/// The longest time that a refusal may take, in microseconds.
const REFUSAL_US_MAX: u64 = 50_000;
/// The most memory, in bytes, that the overload may take beyond the calm before it.
const MEMORY_MAX: u64 = 256 << 20;
/// The longest time until all is as before, in microseconds.
const RECOVERY_US_MAX: u64 = 1_000_000;
/// The latency, in microseconds, that counts as before, however fast it was then.
const CALM_US: u64 = 20_000;
/// The latency from which a request counts as slow, in microseconds.
const SLOW_US: u64 = 100_000;

/// Twice as much load as it can take, and what comes after
#[derive(Args, Clone, Debug)]
pub struct Overload {
    #[command(flatten)]
    pub(super) place: Place,
    /// Connections: what may be under way at once
    #[arg(long, default_value_t = 4_000)]
    pub(super) connections: usize,
    /// Offered load, in percent of the capacity
    #[arg(long, default_value_t = 200)]
    pub(super) percent: u64,
    /// Seconds of the storm; the calm before and after it is as long
    #[arg(long, default_value_t = 5)]
    pub(super) seconds: u64,
}

impl Overload {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        Duration::from_secs(3 * self.seconds) + CAPACITY_TIME + Duration::from_secs(8)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.connections == 0 || self.percent == 0 || self.seconds == 0 {
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
        let scratch = Scratch::new(&place, "overload")?;
        raise_open_files();
        let (server_cores, generator_cores) = apart();
        let server = Server::gateway_in(
            scratch.path(),
            READY,
            &Setting { cores: server_cores, ..Setting::default() },
        )?;
        let tenants = prepare::tenants(&server, 1, Extent::Payable)?;
        let capacity = capacity(&server, &tenants, &generator_cores, CAPACITY_TIME)?;
        progress(&format!("capacity: {} payouts/s; now {} % of it", grouped(capacity), self.percent));
        let time = Duration::from_secs(self.seconds);
        let calm = Phase { rate: (capacity / 2).max(1), time };
        let storm = Phase { rate: (capacity * self.percent / 100).max(1), time };
        let requests: Arc<dyn Workload> = Arc::new(Requests::payouts(server.api, &tenants));
        let phases = [calm, storm, calm];
        let open_loop = OpenLoop {
            server: &server,
            requests: &requests,
            connections: self.connections,
            phases: &phases,
            patience: PATIENCE,
            cores: &generator_cores,
        };
        let told = open_loop.run()?;
        server.rest()?;
        let left = machine::own_memory(server.pid())?;
        let [before, during, after] = told.as_slice() else {
            return Err("there were no three phases".to_owned());
        };
        let recovery = recovery(before, after);
        progress(&format!(
            "goodput {}/s, as before after {} ms",
            grouped(per_second(during.answers, time)),
            milliseconds(recovery)
        ));
        let mut table = self.table(&[("half", before), ("storm", during), ("half", after)]);
        table.remark(format!(
            "Payouts at fixed rates over {} connections: half the capacity, {} % of it, half of it again, {} s each. The capacity, closed loop on the same cores, is {} payouts/s. A request that \
             found no free connection within {} ms was given up by its client: the server had all of them. As before: after {} ms every request got its answer, in no more than twice the p99 of the calm ({} to {} ms). Memory {} MiB at rest \
             afterwards.",
            grouped(self.connections as u64),
            self.percent,
            self.seconds,
            grouped(capacity),
            PATIENCE.as_millis(),
            milliseconds(recovery),
            CALM_US / 1_000,
            SLOW_US / 1_000,
            mebibytes(left)
        ));
        table.remark(machine);
        let goodput = per_second(during.answers, time);
        let line = Line {
            what: format!("payouts done at {} % of the capacity", self.percent),
            figure: format!(
                "{}/s, {} refused",
                grouped(goodput),
                grouped(during.refused.len() + during.unadvised)
            ),
            baseline: format!("{}/s capacity", grouped(capacity)),
            ratio: ratio(goodput, capacity),
        };
        Ok(Report {
            tables: vec![table],
            lines: vec![line],
            bars: self.bars(goodput, capacity, before, during, recovery),
            ..Report::default()
        })
    }

    fn bars(
        &self,
        goodput: u64,
        capacity: u64,
        before: &PhaseFigures,
        during: &PhaseFigures,
        recovery: u64,
    ) -> Vec<Bar> {
        let what = |what: &str| format!("{what} at {} % of the capacity", self.percent);
        let excess = self.percent > 100 && during.refused.is_empty();
        // No request was refused although there were too many: then the slowest answers stand for
        // the refusals that should have been.
        let refusal =
            if excess { during.done.value_at_quantile(0.99) } else { during.refused.value_at_quantile(0.99) };
        let from = if excess {
            "nobody was refused: the p99 of the answers stands here".to_owned()
        } else {
            format!("p99 of {} refusals with Retry-After", grouped(during.refused.len()))
        };
        let grown = during.memory_most.saturating_sub(before.memory_most);
        vec![
            Bar::ratio(&what("payouts done"), goodput, capacity, GOODPUT_MIN),
            Bar::at_most(&what("a refusal takes"), Unit::Time, refusal, REFUSAL_US_MAX, from),
            Bar::at_most(
                &what("refusals without Retry-After, connections cut"),
                Unit::Rate,
                during.unadvised + during.broken,
                0,
                format!("{} requests", grouped(during.due)),
            ),
            Bar::at_most(
                &what("more memory"),
                Unit::Bytes,
                grown,
                MEMORY_MAX,
                format!("{} MiB before", mebibytes(before.memory_most)),
            ),
            Bar::at_most(
                "all is as before after the storm",
                Unit::Time,
                recovery,
                RECOVERY_US_MAX,
                "the last slow answer, by when it was due".to_owned(),
            ),
        ]
    }

    fn table(&self, phases: &[(&str, &PhaseFigures)]) -> Table {
        let columns = [
            "load",
            "due/s",
            "done/s",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "refused/s",
            "p50 ms of a refusal",
            "p99 ms of a refusal",
            "without Retry-After",
            "cut",
            "given up",
            "memory MiB",
        ];
        let mut table = Table::new("Overload", &columns);
        let time = Duration::from_secs(self.seconds);
        for (name, told) in phases {
            let refused = |q: f64| {
                if told.refused.is_empty() {
                    "–".to_owned()
                } else {
                    milliseconds(told.refused.value_at_quantile(q))
                }
            };
            table.row([
                (*name).to_owned(),
                grouped(per_second(told.due, time)),
                grouped(per_second(told.answers, time)),
                milliseconds(told.done.value_at_quantile(0.5)),
                milliseconds(told.done.value_at_quantile(0.99)),
                milliseconds(told.done.value_at_quantile(0.999)),
                grouped(per_second(told.refused.len(), time)),
                refused(0.5),
                refused(0.99),
                grouped(told.unadvised),
                grouped(told.broken),
                grouped(told.given_up),
                mebibytes(told.memory_most),
            ]);
        }
        table
    }
}

/// Microseconds from the end of the storm to the last request of the calm that was answered late,
/// refused or not answered at all, by when it was due.
fn recovery(before: &PhaseFigures, after: &PhaseFigures) -> u64 {
    let slow = (before.done.value_at_quantile(0.99) * 2).clamp(CALM_US, SLOW_US);
    let last = after.worst_us.iter().rposition(|worst| *worst > slow).map_or(0, |slice| slice + 1);
    u64::try_from(SLICE.as_micros()).unwrap_or(u64::MAX) * last as u64
}

/// Raises the limit of open files as far as it goes: every connection is one.
fn raise_open_files() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    // If the limit is refused, the connections that are too many fail, and say so.
    let _ = rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_as_before_when_every_request_is_answered_as_fast_as_before() {
        let told = || PhaseFigures::new(Duration::ZERO, Duration::from_secs(1));
        let (mut before, mut after) = (told(), told());
        before.done.saturating_record(1_000);
        assert_eq!(recovery(&before, &after), 0);
        after.worst_us[1] = CALM_US;
        assert_eq!(recovery(&before, &after), 0, "calm enough");
        after.worst_us[2] = u64::MAX;
        assert_eq!(recovery(&before, &after), 300_000, "one that was given up");
        // A slow calm before does not excuse a slow recovery.
        before.done.saturating_record(30_000_000);
        assert_eq!(recovery(&before, &after), 300_000);
        after.worst_us[4] = SLOW_US + 1;
        assert_eq!(recovery(&before, &after), 500_000);
    }
}
