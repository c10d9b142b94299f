//! Payouts and conversions over HTTP in test mode: on one tenant's balance and spread over many, payouts one by one and in batches, beside a server that does nothing. A payout is two
//! durable records, the debit and what the bank said; the debits of a batch are one record, and so is accepting a quote.

use super::cleanup::{self, Scratch};
use super::conversions::Conversions;
use super::load::{Load, Measured};
use super::prepare::{self, Extent};
use super::requests::{BATCH, Requests, Workload};
use super::server::Server;
use super::table::{Line, Report, Table, grouped, median, microseconds, milliseconds, nanoseconds_each, per_second, ratio};
use super::{Outcome, Place, machine, progress};
use clap::Args;
use std::sync::Arc;
use std::time::Duration;

/// Before what counts.
const WARM_UP: Duration = Duration::from_millis(500);

/// Until a server is ready on an empty directory.
const READY: Duration = Duration::from_secs(30);

/// The longest case of conversions: its quotes must not expire before they are used.
const CONVERSION_SECONDS_MAX: u64 = 20;

/// Payouts and conversions over HTTP, beside a server that does nothing
#[derive(Args, Clone, Debug)]
pub struct Http {
    #[command(flatten)]
    pub(super) place: Place,
    /// Connections
    #[arg(long, value_delimiter = ',', default_values_t = [1, 64, 256])]
    pub(super) connections: Vec<usize>,
    /// Connections that send batches of 1,000 payouts on one balance
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8])]
    pub(super) batch_connections: Vec<usize>,
    /// Tenants that the payouts are spread over
    #[arg(long, value_delimiter = ',', default_values_t = [1, 1000])]
    pub(super) tenants: Vec<usize>,
    /// Seconds per case and round
    #[arg(long, default_value_t = 3)]
    pub(super) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 3)]
    pub(super) rounds: usize,
    /// Threads of the generator
    #[arg(long, default_value_t = 2)]
    pub(super) threads: usize,
    /// Leave out the server that does nothing
    #[arg(long)]
    pub(super) no_baseline: bool,
    /// Leave out the conversions
    #[arg(long)]
    pub(super) no_conversions: bool,
}

/// Whom a case measures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whom {
    DoNothing,
    /// The gateway, with payouts over so many tenants.
    Gateway(usize),
    /// The gateway, with batches of payouts on one balance.
    Batches,
    /// The gateway, with conversions on one balance.
    Conversion,
}

struct Case {
    whom: Whom,
    connections: usize,
    rounds: Vec<Measured>,
}

impl Http {
    /// How long it takes, about.
    pub fn takes(&self) -> Duration {
        // A conversion case takes as long again, and half, for its quotes.
        let each = self.tenants.len() + usize::from(!self.no_baseline) + 3 * usize::from(!self.no_conversions);
        let cases = (self.connections.len() * each + self.batch_connections.len()) * self.rounds;
        (Duration::from_secs(self.seconds) + Duration::from_millis(800)) * u32::try_from(cases).unwrap_or(u32::MAX) + Duration::from_secs(5)
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
        if !self.no_conversions && self.seconds > CONVERSION_SECONDS_MAX {
            return Err(format!("conversions take at most {CONVERSION_SECONDS_MAX} seconds: quotes expire; or leave them out"));
        }
        cleanup::watch(self.takes() * 3 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let machine = machine::describe(&self.place.made()?);
        let cases = self.measure()?;
        Ok(Report { table: self.table(&machine, &cases), lines: lines(&cases) })
    }

    fn measure(&self) -> Outcome<Vec<Case>> {
        let scratch = Scratch::new(&self.place.made()?, "http")?;
        let gateway = Server::gateway(scratch.path(), READY)?;
        let do_nothing = if self.no_baseline { None } else { Some(Server::do_nothing(scratch.path())?) };
        let most = self.tenants.iter().copied().max().unwrap_or(1);
        progress(&format!("preparing {most} tenants"));
        let tenants = prepare::tenants(&gateway, most, Extent::Payable)?;
        let mut cases = Vec::new();
        for connections in &self.connections {
            let gateways = self.tenants.iter().map(|tenants| Whom::Gateway(*tenants));
            let conversions = (!self.no_conversions).then_some(Whom::Conversion);
            for whom in do_nothing.iter().map(|_| Whom::DoNothing).chain(gateways).chain(conversions) {
                cases.push(Case { whom, connections: *connections, rounds: Vec::new() });
            }
        }
        cases.extend(self.batch_connections.iter().map(|connections| Case { whom: Whom::Batches, connections: *connections, rounds: Vec::new() }));
        for round in 1..=self.rounds {
            for case in &mut cases {
                let payouts = |server: &Server, count: usize| Arc::new(Requests::payouts(server.api, &tenants[..count])) as Arc<dyn Workload>;
                let (server, requests) = match (case.whom, &do_nothing) {
                    (Whom::DoNothing, Some(server)) => (server, payouts(server, 1)),
                    (Whom::DoNothing, None) => continue,
                    (Whom::Gateway(count), _) => (&gateway, payouts(&gateway, count)),
                    (Whom::Batches, _) => (&gateway, Arc::new(Requests::batches(gateway.api, &tenants[..1])) as Arc<dyn Workload>),
                    (Whom::Conversion, _) => {
                        let time = (WARM_UP + Duration::from_secs(self.seconds)) * 3 / 2;
                        (&gateway, Arc::new(Conversions::prepare(&gateway, &tenants[0], time)?) as Arc<dyn Workload>)
                    }
                };
                gateway.rest()?;
                let load = Load {
                    server,
                    requests: &requests,
                    connections: case.connections,
                    threads: self.threads,
                    warm_up: WARM_UP,
                    time: Duration::from_secs(self.seconds),
                };
                let measured = load.run().map_err(|why| format!("{}: {why}", case.whom.name()))?;
                let rate = grouped(per_second(measured.answers, measured.time));
                progress(&format!("round {round}/{}: {}, {} connections: {rate}/s", self.rounds, case.whom.name(), case.connections));
                case.rounds.push(measured);
            }
        }
        Ok(cases)
    }

    fn table(&self, machine: &str, cases: &[Case]) -> Table {
        let columns = ["case", "connections", "requests/s", "payouts/s", "spread", "p50 ms", "p99 ms", "p99.9 ms", "of do-nothing", "server CPU µs/request"];
        let mut table = Table::new("Payouts and conversions over HTTP", &columns);
        table.remark(format!(
            "POST /v1/payouts in test mode, two durable records each, POST /v1/payouts/batch with {BATCH} items, and POST /v1/conversions with quotes made beforehand, one durable record each, \
             over kept HTTP/1.1 connections, closed loop; {} rounds of {} s with all cases interleaved, medians. Every status was checked, every 64th body read, of batches every 4th with all \
             its items. The generator ({} threads) shares the cores with the server.",
            self.rounds, self.seconds, self.threads
        ));
        table.remark(machine);
        for case in cases {
            let rate = case.rate();
            let baseline = baseline(cases, case.connections);
            let rates = || case.rounds.iter().map(|round| per_second(round.answers, round.time));
            let spread = rates().max().unwrap_or(0) - rates().min().unwrap_or(0);
            let cpu = median(case.rounds.iter().map(|round| nanoseconds_each(round.server_cpu, round.answers)));
            table.row([
                case.whom.name(),
                case.connections.to_string(),
                grouped(rate),
                case.payouts().map_or_else(|| "–".to_owned(), grouped),
                format!("{} %", spread * 100 / rate.max(1)),
                case.quantile(0.5),
                case.quantile(0.99),
                case.quantile(0.999),
                match case.whom {
                    Whom::DoNothing => "1".to_owned(),
                    Whom::Gateway(_) | Whom::Conversion => ratio(rate, baseline),
                    Whom::Batches => "–".to_owned(),
                },
                microseconds(cpu),
            ]);
        }
        let most = self.connections.iter().copied().max().unwrap_or(0);
        let at_most = |tenants: Option<&usize>| {
            let case = cases.iter().find(|case| case.connections == most && Some(case.whom) == tenants.map(|tenants| Whom::Gateway(*tenants)));
            case.map_or(0, Case::rate)
        };
        if self.tenants.len() > 1 {
            let hot = ratio(at_most(self.tenants.iter().min()), at_most(self.tenants.iter().max()));
            table.remark(format!("The fewest balances do {hot} of what the most do, at {most} connections."));
        }
        table
    }
}

/// What the server that does nothing did.
fn baseline(cases: &[Case], connections: usize) -> u64 {
    cases.iter().find(|other| other.whom == Whom::DoNothing && other.connections == connections).map_or(0, Case::rate)
}

/// The figures that count.
fn lines(cases: &[Case]) -> Vec<Line> {
    let line = |case: &Case| {
        let latency = format!("p50 {}, p99 {}, p99.9 {} ms", case.quantile(0.5), case.quantile(0.99), case.quantile(0.999));
        let (rate, baseline) = (case.rate(), baseline(cases, case.connections));
        let what = format!("{}, {} connections", case.whom.name(), case.connections);
        if case.whom == Whom::Batches {
            let single = cases.iter().filter(|other| other.whom == Whom::Gateway(1)).filter_map(Case::payouts).max().unwrap_or(0);
            let payouts = case.payouts().unwrap_or(0);
            let figure = format!("{} payouts/s ({latency})", grouped(payouts));
            return Line { what, figure, baseline: format!("{}/s one by one", grouped(single)), ratio: ratio(payouts, single) };
        }
        let (figure, baseline_figure) = (format!("{}/s ({latency})", grouped(rate)), format!("{}/s doing nothing", grouped(baseline)));
        Line { what, figure, baseline: baseline_figure, ratio: ratio(rate, baseline) }
    };
    cases.iter().filter(|case| case.whom != Whom::DoNothing).map(line).collect()
}

impl Case {
    fn quantile(&self, q: f64) -> String {
        milliseconds(median(self.rounds.iter().map(|round| round.latency.value_at_quantile(q))))
    }

    /// Payouts per second: of a batch all its items.
    fn payouts(&self) -> Option<u64> {
        match self.whom {
            Whom::DoNothing | Whom::Conversion => None,
            Whom::Gateway(_) => Some(self.rate()),
            Whom::Batches => Some(median(self.rounds.iter().map(|round| per_second(round.answers * BATCH as u64, round.time)))),
        }
    }

    fn rate(&self) -> u64 {
        median(self.rounds.iter().map(|round| per_second(round.answers, round.time)))
    }
}

impl Whom {
    fn name(self) -> String {
        match self {
            Whom::DoNothing => "do nothing".to_owned(),
            Whom::Batches => format!("batch of {}, 1 balance", grouped(BATCH as u64)),
            Whom::Conversion => "conversion, 1 balance".to_owned(),
            Whom::Gateway(1) => "payout, 1 balance".to_owned(),
            Whom::Gateway(tenants) => format!("payout, {} balances", grouped(tenants as u64)),
        }
    }
}
