//! Payouts, conversions and collections over HTTP in test mode: on one tenant's balance and spread
//! over many, payouts one by one and in batches, beside a server that does nothing and one that
//! appends to a plain file. A payout is two durable records, the debit and what the bank said, and so
//! is the charge of a collection; the debits of a batch are one record, and so is accepting a quote.
//! Other systems are measured by the contention lab (`benches/contention/`).

use crate::chart::{Chart, Series};
use crate::cleanup;
use crate::contest::{Case, Contest, Contested, Whom};
use crate::prepared::Kind;
use crate::report::{Bar, Line, Report, Unit};
use crate::requests::BATCH;
use crate::server::Setting;
use crate::table::{Table, grouped, microseconds, ratio};
use crate::{Outcome, Place, machine};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// The longest case of conversions: its quotes must not expire before they are used.
const CONVERSION_SECONDS_MAX: u64 = 20;
/// The requests per second of the server that does nothing, on the machine where the bar of batches
/// was set.
const DO_NOTHING_OF_THE_BAR: u64 = 120_000;
/// The items per second that batches have to make there.
const ITEMS_OF_THE_BAR: u64 = 200_000;
/// The budget of a durable debit of one record.
const CPU_NS_MAX: u64 = 18_000;
/// The number of connections at which the bars are measured.
const MOST: usize = 256;
/// The workload that most bars are about.
const CONVERSIONS: Whom = Whom::Prepared(Kind::Conversions);

/// Payouts, conversions and collections over HTTP, beside a server that does nothing
#[derive(Args, Clone, Debug)]
pub struct Http {
    #[command(flatten)]
    pub(super) place: Place,
    /// Connections
    #[arg(long, value_delimiter = ',', default_values_t = [16, 64, 256])]
    pub(super) connections: Vec<usize>,
    /// Connections that send batches of 1,000 payouts on one balance
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8])]
    pub(super) batch_connections: Vec<usize>,
    /// Tenants that the payouts are spread over
    #[arg(long, value_delimiter = ',', default_values_t = [1, 1000])]
    pub(super) tenants: Vec<usize>,
    /// Seconds per case and round
    #[arg(long, default_value_t = 2)]
    pub(super) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 3)]
    pub(super) rounds: usize,
    /// Threads of the generator
    #[arg(long, default_value_t = 2)]
    pub(super) threads: usize,
    /// Cases whose name begins so, and no others, for a look at them alone: payout, conversion,
    /// "bound payout" (by a key with a mandate), collection, batch, "do nothing"
    #[arg(long, value_delimiter = ',')]
    pub(super) only: Vec<String>,
}

impl Http {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        self.contest(&PathBuf::new()).takes()
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.connections.contains(&0)
            || self.batch_connections.contains(&0)
            || self.tenants.contains(&0)
            || self.tenants.is_empty()
            || self.rounds == 0
            || self.seconds == 0
        {
            return Err("there must be at least one of each".to_owned());
        }
        if self.seconds > CONVERSION_SECONDS_MAX {
            return Err(format!(
                "a case takes at most {CONVERSION_SECONDS_MAX} seconds: the quotes of conversions expire"
            ));
        }
        cleanup::watch(self.takes() * 3 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let place = self.place.made()?;
        let machine = machine::describe(&place);
        let contested = self.contest(&place).run()?;
        let mut table = contested.table("Payouts, conversions and collections over HTTP");
        table.remark(format!(
            "POST /v1/payouts in test mode, two durable records each, POST /v1/payouts/batch with {BATCH} items, POST /v1/conversions with quotes made beforehand, one durable record each, \
             and POST /v1/payments/c2p with intents made beforehand, two each; over kept HTTP/1.1 connections, closed loop; {} rounds of {} s with all cases interleaved, medians. Every status was checked, every 64th body read, of batches every 4th with all its items. The generator ({} threads) shares the cores with the servers. CPU and bytes are those of the server.",
            self.rounds, self.seconds, self.threads
        ));
        table.remark(machine);
        let mut report = Report {
            lines: lines(&contested),
            bars: self.bars(&contested),
            charts: vec![self.chart(&contested)],
            ..Report::default()
        };
        report.tables.push(table);
        // Of all widths the one that the bars are about, where it was measured.
        let widest = contested.cases.iter().map(|case| case.connections).filter(|width| *width <= MOST).max();
        report
            .tables
            .push(contested.account(|case| case.whom != Whom::Batches && Some(case.connections) == widest));
        report.tables.push(batches(&contested));
        Ok(report)
    }

    fn contest<'a>(&self, place: &'a std::path::Path) -> Contest<'a> {
        let mut cases = Vec::new();
        for connections in &self.connections {
            let own = [Whom::DoNothing, Whom::PlainFile]
                .into_iter()
                .chain(self.tenants.iter().map(|tenants| Whom::Payouts(*tenants)));
            cases.extend(
                own.chain([Whom::Bound, CONVERSIONS, Whom::Prepared(Kind::Collections)])
                    .map(|whom| (whom, *connections)),
            );
        }
        cases.extend(self.batch_connections.iter().map(|connections| (Whom::Batches, *connections)));
        cases.retain(|(whom, _)| {
            match self.only.as_slice() {
                // Beside a payout without a mandate, for a look at the two alone.
                [] => *whom != Whom::Bound,
                only => only.iter().any(|name| whom.name().starts_with(name)),
            }
        });
        let (seconds, rounds, threads) = (self.seconds, self.rounds, self.threads);
        Contest { place, setting: Setting::default(), cases, seconds, rounds, threads }
    }

    fn bars(&self, contested: &Contested) -> Vec<Bar> {
        let (one, many) = (
            self.tenants.iter().copied().min().unwrap_or(1),
            self.tenants.iter().copied().max().unwrap_or(1),
        );
        let rate = |whom, connections| contested.rate(whom, connections);
        let nothing = rate(Whom::DoNothing, MOST);
        let mut bars = vec![
            Bar::ratio(
                "conversions on one balance, of doing nothing, 256 connections",
                rate(CONVERSIONS, MOST),
                nothing,
                55,
            ),
            Bar::ratio(
                "payouts on one balance, of doing nothing, 256 connections",
                rate(Whom::Payouts(1), MOST),
                nothing,
                35,
            ),
        ];
        if one != many {
            let what = format!(
                "payouts on one balance, of those on {} balances, 256 connections",
                grouped(many as u64)
            );
            bars.push(Bar::ratio(&what, rate(Whom::Payouts(one), MOST), rate(Whom::Payouts(many), MOST), 90));
        }
        if let Some(case) = contested.case(CONVERSIONS, MOST) {
            let nothing = contested.case(Whom::DoNothing, MOST).map_or(0, Case::cpu_ns);
            let from = format!("RocksDB's threads included; {} µs doing nothing", microseconds(nothing));
            bars.push(Bar::at_most(
                "server CPU of a conversion, 256 connections",
                Unit::Cpu,
                case.cpu_ns(),
                CPU_NS_MAX,
                from,
            ));
        }
        let items = contested
            .cases
            .iter()
            .filter(|case| case.whom == Whom::Batches)
            .map(Case::items)
            .max()
            .unwrap_or(0);
        let nothing = contested.best(Whom::DoNothing);
        let least = ITEMS_OF_THE_BAR.saturating_mul(nothing) / DO_NOTHING_OF_THE_BAR;
        let from = format!(
            "{} for every {} that the server which does nothing makes; here {}/s",
            grouped(ITEMS_OF_THE_BAR),
            grouped(DO_NOTHING_OF_THE_BAR),
            grouped(nothing)
        );
        bars.push(Bar::at_least("items of batches of payouts", Unit::Rate, items, least, from));
        // A bar of something that was not measured says nothing.
        bars.retain(|bar| !bar.from.ends_with(" of 0/s"));
        bars
    }

    fn chart(&self, contested: &Contested) -> Chart {
        let mut whoms: Vec<Whom> = Vec::new();
        for case in contested.cases.iter().filter(|case| case.whom != Whom::Batches) {
            if !whoms.contains(&case.whom) {
                whoms.push(case.whom);
            }
        }
        let points = |whom: Whom| {
            self.connections
                .iter()
                .map(|connections| Some(contested.rate(whom, *connections)).filter(|rate| *rate > 0))
                .collect()
        };
        Chart {
            file: "throughput",
            title: "Durable debits over HTTP, each on its own request".to_owned(),
            across: "connections",
            upwards: "requests per second",
            steps: self.connections.iter().map(ToString::to_string).collect(),
            series: whoms
                .into_iter()
                .map(|whom| Series { name: whom.name(), points: points(whom) })
                .collect(),
            by_factors: true,
        }
    }
}

fn batches(contested: &Contested) -> Table {
    let mut table = Table::new(
        "Batches of payouts",
        &["connections", "batches/s", "payouts/s", "of payouts one by one", "p50 ms", "p99 ms"],
    );
    let single = contested.best(Whom::Payouts(1));
    for case in contested.cases.iter().filter(|case| case.whom == Whom::Batches) {
        let cells = [
            grouped(case.rate()),
            grouped(case.items()),
            ratio(case.items(), single),
            case.quantile(0.5),
            case.quantile(0.99),
        ];
        table.row([case.connections.to_string()].into_iter().chain(cells));
    }
    table
}

/// The figures that count.
fn lines(contested: &Contested) -> Vec<Line> {
    let cases = contested.cases.iter().filter(|case| {
        matches!(case.whom, Whom::Payouts(_) | Whom::Bound | Whom::Prepared(_) | Whom::Batches)
    });
    let line = |case: &Case| {
        let latency = format!(
            "p50 {}, p99 {}, p99.9 {} ms",
            case.quantile(0.5),
            case.quantile(0.99),
            case.quantile(0.999)
        );
        let what = format!("{}, {} connections", case.whom.name(), case.connections);
        if case.whom == Whom::Batches {
            let single = contested.best(Whom::Payouts(1));
            let figure = format!("{} payouts/s ({latency})", grouped(case.items()));
            return Line {
                what,
                figure,
                baseline: format!("{}/s one by one", grouped(single)),
                ratio: ratio(case.items(), single),
            };
        }
        let nothing = contested.rate(Whom::DoNothing, case.connections);
        let figure = format!("{}/s ({latency})", grouped(case.rate()));
        Line {
            what,
            figure,
            baseline: format!("{}/s doing nothing", grouped(nothing)),
            ratio: ratio(case.rate(), nothing),
        }
    };
    cases.map(line).collect()
}
