//! Steadiness: payouts over a few connections and over thousands, of one tenant and of many. No width may
//! be more than a fifth slower than its best neighbour: a fall between two widths is something that
//! flips, and not the machine's limit.

use crate::chart::{Chart, Series};
use crate::cleanup;
use crate::contest::{Contest, Contested, Whom};
use crate::report::{Bar, Bound, Report, Unit};
use crate::server::Setting;
use crate::table::{Table, grouped, microseconds, ratio};
use crate::{Outcome, Place, machine};
use clap::Args;
use std::path::Path;
use std::time::Duration;

/// The least that a width makes of its best neighbour, in hundredths.
const LEAST: u64 = 80;

/// Payouts at every width: connections and tenants, each beside its neighbours
#[derive(Args, Clone, Debug)]
pub struct Widths {
    #[command(flatten)]
    pub(super) place: Place,
    /// Connections, from few to many
    #[arg(long, value_delimiter = ',', default_values_t = [16, 64, 256, 1024, 4096])]
    pub(super) connections: Vec<usize>,
    /// Tenants, from few to many
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 1000])]
    pub(super) tenants: Vec<usize>,
    /// Seconds per case and round
    #[arg(long, default_value_t = 2)]
    pub(super) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 3)]
    pub(super) rounds: usize,
}

/// The rates of all widths: a row for each number of connections, in it one for each number of tenants.
type Rates = Vec<Vec<u64>>;

impl Widths {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        self.contest(Path::new("")).takes()
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        let counts = [&self.connections, &self.tenants];
        if counts.iter().any(|counts| counts.is_empty() || counts.contains(&0))
            || self.rounds == 0
            || self.seconds == 0
        {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(self.takes() * 3 + Duration::from_secs(120));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let place = self.place.made()?;
        let machine = machine::describe(&place);
        let contested = self.contest(&place).run()?;
        let rates: Rates = self
            .connections
            .iter()
            .map(|connections| {
                self.tenants
                    .iter()
                    .map(|tenants| contested.rate(Whom::Payouts(*tenants), *connections))
                    .collect()
            })
            .collect();
        let mut table = contested.table("Every width in full");
        table.remark(machine);
        Ok(Report {
            tables: vec![self.table(&contested, &rates), table],
            bars: vec![self.bar(&rates)],
            charts: vec![self.chart(&rates)],
            ..Report::default()
        })
    }

    fn contest<'a>(&self, place: &'a Path) -> Contest<'a> {
        let whoms = |connections: usize| {
            let payouts = self.tenants.iter().map(|tenants| Whom::Payouts(*tenants));
            [Whom::DoNothing].into_iter().chain(payouts).map(move |whom| (whom, connections))
        };
        Contest {
            place,
            setting: Setting::default(),
            cases: self.connections.iter().flat_map(|connections| whoms(*connections)).collect(),
            seconds: self.seconds,
            rounds: self.rounds,
            threads: 2,
        }
    }

    fn table(&self, contested: &Contested, rates: &Rates) -> Table {
        let columns: Vec<String> = ["connections".to_owned(), "do nothing".to_owned()]
            .into_iter()
            .chain(self.tenants.iter().flat_map(|tenants| {
                let tenants = grouped(*tenants as u64);
                [format!("tenants: {tenants}"), "CPU µs".to_owned(), "of its best neighbour".to_owned()]
            }))
            .collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut table = Table::new("Payouts a second at every width", &columns);
        table.remark(format!(
            "POST /v1/payouts over kept HTTP/1.1 connections, closed loop; {} rounds of {} s with all cases interleaved, medians. A neighbour has the next number of connections or tenants; \
             what makes less than {} of its best one is marked.",
            self.rounds, self.seconds, ratio(LEAST, 100)
        ));
        for failure in &contested.failures {
            table.remark(format!("**Not measured** {failure}."));
        }
        for (row, connections) in self.connections.iter().enumerate() {
            let nothing = contested.rate(Whom::DoNothing, *connections);
            let cells = self.tenants.iter().enumerate().flat_map(|(column, tenants)| {
                let cpu = contested.case(Whom::Payouts(*tenants), *connections);
                let best = best_neighbour(rates, row, column);
                let share = ratio(rates[row][column], best);
                let marked = if falls(rates[row][column], best) { format!("**{share}**") } else { share };
                [
                    grouped(rates[row][column]),
                    cpu.map_or_else(|| "–".to_owned(), |case| microseconds(case.cpu_ns())),
                    marked,
                ]
            });
            table.row([grouped(*connections as u64), grouped(nothing)].into_iter().chain(cells));
        }
        table
    }

    /// The worst width, as a share of its best neighbour.
    fn bar(&self, rates: &Rates) -> Bar {
        let mut worst = (100, String::new());
        for (row, connections) in self.connections.iter().enumerate() {
            for (column, tenants) in self.tenants.iter().enumerate() {
                let (rate, best) = (rates[row][column], best_neighbour(rates, row, column));
                let share = (rate * 100).checked_div(best).unwrap_or(100);
                if share < worst.0 {
                    let place = format!(
                        "{} connections, {} tenants",
                        grouped(*connections as u64),
                        grouped(*tenants as u64)
                    );
                    worst = (share, format!("{place}: {}/s of {}/s", grouped(rate), grouped(best)));
                }
            }
        }
        Bar {
            what: "payouts at the worst width, of its best neighbour".to_owned(),
            unit: Unit::Ratio,
            figure: worst.0,
            bound: Bound::AtLeast(LEAST),
            from: worst.1,
        }
    }

    fn chart(&self, rates: &Rates) -> Chart {
        let series = self.tenants.iter().enumerate().map(|(column, tenants)| Series {
            name: format!("tenants: {}", grouped(*tenants as u64)),
            points: rates.iter().map(|row| Some(row[column]).filter(|rate| *rate > 0)).collect(),
        });
        Chart {
            file: "widths",
            title: "Payouts at every width".to_owned(),
            across: "connections",
            upwards: "payouts per second",
            steps: self.connections.iter().map(ToString::to_string).collect(),
            series: series.collect(),
            by_factors: true,
        }
    }
}

/// Whether a width is more than a fifth slower than its best neighbour.
fn falls(rate: u64, best: u64) -> bool {
    rate * 100 < best * LEAST
}

/// The best rate of those with the next number of connections or tenants, up and down.
fn best_neighbour(rates: &Rates, row: usize, column: usize) -> u64 {
    let at = |row: Option<usize>, column: Option<usize>| rates.get(row?)?.get(column?).copied();
    [
        at(row.checked_sub(1), Some(column)),
        at(row.checked_add(1), Some(column)),
        at(Some(row), column.checked_sub(1)),
        at(Some(row), column.checked_add(1)),
    ]
    .into_iter()
    .flatten()
    .max()
    .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_is_seen_from_every_side() {
        let rates = vec![vec![100, 120], vec![79, 100], vec![90, 95]];
        assert_eq!(best_neighbour(&rates, 1, 0), 100);
        assert_eq!((best_neighbour(&rates, 0, 1), best_neighbour(&rates, 2, 0)), (100, 95));
        assert!(falls(79, 100) && !falls(80, 100) && !falls(0, 0));
        let widths = Widths {
            place: Place { dir: "x".into() },
            connections: vec![16, 64, 256],
            tenants: vec![1, 10],
            seconds: 1,
            rounds: 1,
        };
        let bar = widths.bar(&rates);
        assert_eq!((bar.figure, bar.is_met()), (79, false));
        assert_eq!(bar.from, "64 connections, 1 tenants: 79/s of 100/s");
    }
}
