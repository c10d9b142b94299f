//! Overload: half the capacity for a while, then more than the capacity, then half again, with some
//! tenants among it that ask for no more than before. Measured are the requests that are served, how
//! fast the others are refused, what the well-behaved tenants see of it, memory, and the time until
//! all is as before.

use crate::cleanup::{self, Scratch};
use crate::latency::{apart, capacity};
use crate::load::Measured;
use crate::open_loop::{OpenLoop, Phase, PhaseFigures, SLICE};
use crate::prepare::{self, Extent, Tenant};
use crate::report::{Bar, Line, Report, Unit};
use crate::requests::{Requests, Workload};
use crate::server::{Server, Setting};
use crate::table::{
    Table, grouped, mebibytes, microseconds, milliseconds, nanoseconds_each, per_second, ratio,
};
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
/// The time after which a well-behaved tenant goes away: it does not.
const ENDLESS: Duration = Duration::from_secs(3_600);
/// The connections of the well-behaved tenants: more than they ever have under way.
const OTHERS_CONNECTIONS: usize = 64;
/// One tenant in so many is well-behaved, and has as large a part of the calm.
const OTHERS_PART: usize = 10;
/// Goodput of the capacity, in hundredths, up to twice the capacity and beyond.
const GOODPUT_MIN: (u64, u64) = (90, 80);
/// The longest time that a refusal may take, in microseconds.
const REFUSAL_US_MAX: u64 = 50_000;
/// The p99 of well-behaved tenants in the storm, in hundredths of that in the calm.
const OTHERS_P99_MAX: u64 = 150;
/// The most memory, in bytes, that the overload may take beyond the calm before it.
const MEMORY_MAX: u64 = 256 << 20;
/// The longest time until all is as before, in microseconds.
const RECOVERY_US_MAX: u64 = 1_000_000;
/// The latency, in microseconds, that counts as before, however fast it was then.
const CALM_US: u64 = 20_000;
/// The latency from which a request counts as slow, in microseconds.
const SLOW_US: u64 = 100_000;

/// More load than it can take, and what comes after
#[derive(Args, Clone, Debug)]
pub struct Overload {
    #[command(flatten)]
    pub(super) place: Place,
    /// Connections: what may be under way at once
    #[arg(long, default_value_t = 4_000)]
    pub(super) connections: usize,
    /// Offered load, in percent of the capacity
    #[arg(long, value_delimiter = ',', default_values_t = [120, 200, 500])]
    pub(super) percent: Vec<u64>,
    /// Tenants, of which one in ten asks for no more than before
    #[arg(long, default_value_t = 20)]
    pub(super) tenants: usize,
    /// Seconds of a storm; the calm before and after it is as long
    #[arg(long, default_value_t = 5)]
    pub(super) seconds: u64,
    /// Lets every tenant take all, so that only the engine's bounds hold
    #[arg(long)]
    pub(super) without_shares: bool,
}

/// The measurements of a storm: of the greedy tenants and of the well-behaved ones, before, during
/// and after it.
struct Storm {
    percent: u64,
    /// The capacity before the storm and after it.
    capacity: [Measured; 2],
    greedy: [PhaseFigures; 3],
    others: [PhaseFigures; 3],
    /// Microseconds until all was as before.
    recovery: u64,
    /// Payouts that were done during the storm, a second.
    goodput: u64,
}

impl Overload {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        let storms = u32::try_from(self.percent.len()).unwrap_or(u32::MAX);
        Duration::from_secs(8) + (CAPACITY_TIME * 2 + Duration::from_secs(3 * self.seconds + 5)) * storms
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        let is_sound = !self.percent.is_empty() && self.percent.iter().all(|percent| *percent > 0);
        if self.connections == 0 || self.seconds == 0 || self.tenants < 2 || !is_sound {
            return Err("there must be at least one of each, and two tenants".to_owned());
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
        let setting =
            Setting { cores: server_cores, with_shares: !self.without_shares, ..Setting::default() };
        let server = Server::gateway_in(scratch.path(), READY, &setting)?;
        let tenants = prepare::tenants(&server, self.tenants, Extent::Payable)?;
        let mut storms = Vec::new();
        for percent in &self.percent {
            storms.push(self.storm(&server, &tenants, *percent, &generator_cores)?);
        }
        let left = machine::own_memory(server.pid())?;
        let mut table = self.table(&storms);
        table.remark(format!(
            "Payouts at fixed rates over {} connections: half the capacity, then the storm, then half again, {} s each. {} tenants{}, of which one in {OTHERS_PART} is well-behaved: its rate stays \
             that of the calm, and its times count from when a request was due. The capacity is measured closed loop on the same cores by all tenants, right before each storm and \
             right after it; a storm is so much of the first, and judged by their mean. µs of CPU are the server's own for a payout. A request that \
             found no free connection within {} ms was given up by its client: the server had all of them. Memory {} MiB at rest afterwards.",
            grouped(self.connections as u64),
            self.seconds,
            self.tenants,
            if self.without_shares { " without shares" } else { "" },
            PATIENCE.as_millis(),
            mebibytes(left)
        ));
        table.remark(machine);
        Ok(Report {
            tables: vec![table],
            lines: storms.iter().map(Storm::line).collect(),
            bars: storms.iter().flat_map(Storm::bars).collect(),
            ..Report::default()
        })
    }

    /// Calm, storm, calm, between two measurements of the capacity.
    fn storm(&self, server: &Server, tenants: &[Tenant], percent: u64, cores: &[usize]) -> Outcome<Storm> {
        let capacity_before = capacity(server, tenants, cores, CAPACITY_TIME)?;
        let capacity_now = capacity_before.rate();
        progress(&format!("capacity: {} payouts/s; now {percent} % of it", grouped(capacity_now)));
        let time = Duration::from_secs(self.seconds);
        let (others_tenants, greedy_tenants) = tenants.split_at((tenants.len() / OTHERS_PART).max(1));
        let others_rate = (capacity_now / 2 / OTHERS_PART as u64).max(1);
        let calm = (capacity_now / 2).saturating_sub(others_rate).max(1);
        let storm = (capacity_now * percent / 100).saturating_sub(others_rate).max(1);
        let phases = [calm, storm, calm].map(|rate| Phase { rate, time });
        let steady = [Phase { rate: others_rate, time }; 3];
        let payouts =
            |tenants: &[Tenant]| -> Arc<dyn Workload> { Arc::new(Requests::payouts(server.api, tenants)) };
        let (greedy, others) = (payouts(greedy_tenants), payouts(others_tenants));
        let greedy = OpenLoop {
            server,
            requests: &greedy,
            connections: self.connections,
            phases: &phases,
            patience: PATIENCE,
            cores,
        };
        let others = OpenLoop {
            requests: &others,
            connections: OTHERS_CONNECTIONS,
            phases: &steady,
            patience: ENDLESS,
            ..greedy
        };
        let [greedy, others] = greedy.run_beside(&others)?;
        let three = |figures: Vec<PhaseFigures>| -> Outcome<[PhaseFigures; 3]> {
            figures.try_into().map_err(|_| "there were no three phases".to_owned())
        };
        let (greedy, others) = (three(greedy)?, three(others)?);
        let recovery = recovery(&greedy[0], &greedy[2]);
        let goodput = per_second(greedy[1].answers + others[1].answers, time);
        server.rest()?;
        let capacity = [capacity_before, capacity(server, tenants, cores, CAPACITY_TIME)?];
        progress(&format!(
            "goodput {}/s, others p99 {} ms, {} ms in the calm, as before after {} ms",
            grouped(goodput),
            milliseconds(others[1].done.value_at_quantile(0.99)),
            milliseconds(others[0].done.value_at_quantile(0.99)),
            milliseconds(recovery)
        ));
        Ok(Storm { percent, capacity, greedy, others, recovery, goodput })
    }

    fn table(&self, storms: &[Storm]) -> Table {
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
            "µs of CPU",
            "memory MiB",
        ];
        let mut table = Table::new("Overload", &columns);
        for storm in storms {
            let percent = storm.percent;
            for (nth, phase) in ["before", "storm", "after"].iter().enumerate() {
                let (greedy, others) = (&storm.greedy[nth], &storm.others[nth]);
                let each = nanoseconds_each(greedy.server.cpu, greedy.answers + others.answers);
                self.row(&mut table, format!("{percent} %: {phase}"), greedy, each);
                self.row(&mut table, format!("{percent} %: {phase}, well-behaved"), others, each);
            }
            for (when, capacity) in ["before", "after"].iter().zip(&storm.capacity) {
                let mut row = vec!["–".to_owned(); columns.len()];
                row[0] = format!("{percent} %: capacity {when}");
                row[2] = grouped(capacity.rate());
                row[12] = microseconds(nanoseconds_each(capacity.server.cpu, capacity.answers));
                table.row(row);
            }
        }
        table
    }

    fn row(&self, table: &mut Table, name: String, figures: &PhaseFigures, cpu_ns_each: u64) {
        let time = Duration::from_secs(self.seconds);
        let refused = |q: f64| {
            if figures.refused.is_empty() {
                "–".to_owned()
            } else {
                milliseconds(figures.refused.value_at_quantile(q))
            }
        };
        table.row([
            name,
            grouped(per_second(figures.due, time)),
            grouped(per_second(figures.answers, time)),
            milliseconds(figures.done.value_at_quantile(0.5)),
            milliseconds(figures.done.value_at_quantile(0.99)),
            milliseconds(figures.done.value_at_quantile(0.999)),
            grouped(per_second(figures.refused.len(), time)),
            refused(0.5),
            refused(0.99),
            grouped(figures.unadvised),
            grouped(figures.broken),
            grouped(figures.given_up),
            microseconds(cpu_ns_each),
            mebibytes(figures.memory_most),
        ]);
    }
}

impl Storm {
    /// The name of a bar at this load.
    fn at(&self, what: &str) -> String {
        format!("{what} at {} % of the capacity", self.percent)
    }

    fn line(&self) -> Line {
        let during = &self.greedy[1];
        Line {
            what: self.at("payouts done"),
            figure: format!(
                "{}/s, {} refused",
                grouped(self.goodput),
                grouped(during.refused.len() + during.unadvised)
            ),
            baseline: format!("{}/s capacity", grouped(self.mean_capacity())),
            ratio: ratio(self.goodput, self.mean_capacity()),
        }
    }

    fn mean_capacity(&self) -> u64 {
        let [before, after] = &self.capacity;
        u64::midpoint(before.rate(), after.rate())
    }

    fn bars(&self) -> Vec<Bar> {
        let [before, during, _] = &self.greedy;
        let goodput_min = if self.percent <= 200 { GOODPUT_MIN.0 } else { GOODPUT_MIN.1 };
        let mut bars =
            vec![Bar::ratio(&self.at("payouts done"), self.goodput, self.mean_capacity(), goodput_min)];
        if !during.refused.is_empty() {
            bars.push(Bar::at_most(
                &self.at("a refusal takes"),
                Unit::Time,
                during.refused.value_at_quantile(0.99),
                REFUSAL_US_MAX,
                format!("p99 of {} refusals with Retry-After", grouped(during.refused.len())),
            ));
        }
        bars.push(Bar::at_most(
            &self.at("refusals without Retry-After, connections cut"),
            Unit::Rate,
            during.unadvised + during.broken,
            0,
            format!("{} requests", grouped(during.due)),
        ));
        bars.extend(self.others_bars());
        bars.push(Bar::at_most(
            &self.at("more memory"),
            Unit::Bytes,
            during.memory_most.saturating_sub(before.memory_most),
            MEMORY_MAX,
            format!("{} MiB before", mebibytes(before.memory_most)),
        ));
        bars.push(Bar::at_most(
            &format!("all is as before after a storm of {} %", self.percent),
            Unit::Time,
            self.recovery,
            RECOVERY_US_MAX,
            "the last slow answer, by when it was due".to_owned(),
        ));
        bars
    }

    /// The bars of well-behaved tenants: they are served, and about as fast as in the calm.
    fn others_bars(&self) -> [Bar; 2] {
        let [before, during, _] = &self.others;
        let p99 = |figures: &PhaseFigures| figures.done.value_at_quantile(0.99);
        let refused = during.refused.len() + during.unadvised + during.broken;
        [
            Bar::at_most(
                &self.at("p99 of well-behaved tenants"),
                Unit::Ratio,
                p99(during).saturating_mul(100).checked_div(p99(before)).unwrap_or(u64::MAX),
                OTHERS_P99_MAX,
                format!("{} ms, {} ms in the calm", milliseconds(p99(during)), milliseconds(p99(before))),
            ),
            Bar::at_most(
                &self.at("well-behaved tenants refused"),
                Unit::Rate,
                refused,
                0,
                format!("{} requests", grouped(during.due)),
            ),
        ]
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
        let figures = || PhaseFigures::new(Duration::ZERO, Duration::from_secs(1));
        let (mut before, mut after) = (figures(), figures());
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
