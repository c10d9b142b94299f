//! Cases over HTTP in one place: the gateway and its baselines, each with the same requests from the
//! same generator, all cases interleaved in rounds. What fails is left out of the rest of the run and
//! said in the table; it does not end the run.

use crate::account::{self, Account};
use crate::cleanup::Scratch;
use crate::load::{Load, Measured};
use crate::prepare::{self, Extent, Tenant};
use crate::prepared::{Kind, Prepared};
use crate::requests::{BATCH, Requests, Workload};
use crate::server::{LogStatus, Server, Setting};
use crate::table::{Table, grouped, median, microseconds, milliseconds, nanoseconds_each, per_second, ratio};
use crate::{Outcome, progress};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The time before what counts.
pub const WARM_UP: Duration = Duration::from_millis(500);

/// Characters of a reason that a table shows; it may have a whole answer in it.
const WHY_MAX: usize = 400;

/// The time until a server must be ready on an empty directory.
const READY: Duration = Duration::from_secs(30);

/// The server that a case measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// The server that does nothing.
    DoNothing,
    /// The server that does nothing but append to a plain file first.
    PlainFile,
    /// The gateway, with payouts over so many tenants.
    Payouts(usize),
    /// The gateway, with payouts of one tenant by a key with a mandate.
    Bound,
    /// The gateway, with conversions or collections on one balance.
    Prepared(Kind),
    /// The gateway, with batches of payouts on one balance.
    Batches,
}

/// A contest: what is measured, and how.
pub struct Contest<'a> {
    /// The directory for the data.
    pub place: &'a Path,
    /// The setting that all servers run in.
    pub setting: Setting,
    /// The server and the number of connections of each case.
    pub cases: Vec<(Whom, usize)>,
    /// Seconds per case and round.
    pub seconds: u64,
    /// The number of rounds; each runs every case once.
    pub rounds: usize,
    /// Threads of the generator.
    pub threads: usize,
}

/// A case, and its result in each round.
pub struct Case {
    /// The server that it measures.
    pub whom: Whom,
    /// The number of connections.
    pub connections: usize,
    rounds: Vec<Round>,
    failed: bool,
}

struct Round {
    load: Measured,
    /// The records and bytes that the gateway wrote meanwhile, the warm-up included.
    log: LogStatus,
}

/// The results of all cases.
pub struct Contested {
    /// The cases that did not fail.
    pub cases: Vec<Case>,
    /// The cases that failed, and why.
    pub failures: Vec<String>,
}

/// The servers that take part.
struct Field {
    gateway: Server,
    tenants: Vec<Tenant>,
    /// The first of them, by a key with a mandate.
    bound: Tenant,
    /// A gateway that collects and does nothing else: open intents and held money would be in the
    /// way of the other cases.
    collecting: (Server, Tenant),
    do_nothing: Server,
    plain_file: Server,
}

impl Contest<'_> {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        let each = Duration::from_secs(self.seconds) + Duration::from_millis(900);
        let prepared = self.cases.iter().filter(|(whom, _)| matches!(whom, Whom::Prepared(_))).count();
        // A case with things made beforehand takes as long again, and half.
        let cases = (self.cases.len() + prepared * 3 / 2) * self.rounds;
        each * u32::try_from(cases).unwrap_or(u32::MAX) + Duration::from_secs(6)
    }

    /// Measures.
    pub fn run(&self) -> Outcome<Contested> {
        let scratch = Scratch::new(self.place, "contest")?;
        let mut contested = Contested { cases: Vec::new(), failures: Vec::new() };
        let field = self.field(scratch.path())?;
        for (whom, connections) in &self.cases {
            contested.cases.push(Case {
                whom: *whom,
                connections: *connections,
                rounds: Vec::new(),
                failed: false,
            });
        }
        for round in 1..=self.rounds {
            for case in contested.cases.iter_mut().filter(|case| !case.failed) {
                match self.measure(&field, case.whom, case.connections) {
                    Ok(measured) => {
                        let rate = grouped(measured.load.rate());
                        progress(&format!(
                            "round {round}/{}: {}, {} connections: {rate}/s",
                            self.rounds,
                            case.whom.name(),
                            case.connections
                        ));
                        case.rounds.push(measured);
                    }
                    Err(why) => {
                        let why: String =
                            format!("{}, {} connections: {why}", case.whom.name(), case.connections)
                                .chars()
                                .take(WHY_MAX)
                                .collect();
                        progress(&why);
                        case.failed = true;
                        contested.failures.push(why);
                    }
                }
            }
        }
        contested.failures.extend(
            [field.gateway, field.collecting.0].into_iter().filter_map(|gateway| gateway.stop().err()),
        );
        contested.cases.retain(|case| !case.rounds.is_empty());
        if contested.cases.is_empty() { Err(contested.failures.join("; ")) } else { Ok(contested) }
    }

    fn field(&self, scratch: &Path) -> Outcome<Field> {
        let gateway = Server::gateway_in(scratch, READY, &self.setting)?;
        let most = self
            .cases
            .iter()
            .map(|(whom, _)| if let Whom::Payouts(tenants) = whom { *tenants } else { 1 })
            .max()
            .unwrap_or(1);
        progress(&format!("preparing {most} tenants"));
        let tenants = prepare::tenants(&gateway, most, Extent::Payable)?;
        let apart = scratch.join("collecting");
        std::fs::create_dir(&apart).map_err(|error| format!("{}: {error}", apart.display()))?;
        let collecting = Server::gateway_in(&apart, READY, &self.setting)?;
        let collector = prepare::tenants(&collecting, 1, Extent::Funded)?.remove(0);
        let (do_nothing, plain_file) =
            (Server::do_nothing(scratch)?, Server::plain_file(scratch, &self.setting)?);
        // Not of earlier releases, which make no keys.
        let bound = match self.cases.iter().any(|(whom, _)| matches!(whom, Whom::Bound)) {
            true => prepare::bound(&gateway, &tenants[0])?,
            false => tenants[0].clone(),
        };
        Ok(Field { gateway, tenants, bound, collecting: (collecting, collector), do_nothing, plain_file })
    }

    fn measure(&self, field: &Field, whom: Whom, connections: usize) -> Outcome<Round> {
        let payouts = |server: &Server, tenants: &[Tenant]| {
            Arc::new(Requests::payouts(server.api, tenants)) as Arc<dyn Workload>
        };
        let (server, requests) = match whom {
            Whom::DoNothing => (&field.do_nothing, payouts(&field.do_nothing, &field.tenants[..1])),
            Whom::PlainFile => (&field.plain_file, payouts(&field.plain_file, &field.tenants[..1])),
            Whom::Payouts(count) => (&field.gateway, payouts(&field.gateway, &field.tenants[..count])),
            Whom::Bound => (&field.gateway, payouts(&field.gateway, std::slice::from_ref(&field.bound))),
            Whom::Batches => (
                &field.gateway,
                Arc::new(Requests::batches(field.gateway.api, &field.tenants[..1])) as Arc<dyn Workload>,
            ),
            Whom::Prepared(kind) => {
                let time = WARM_UP + Duration::from_secs(self.seconds);
                let (server, tenant) = match kind {
                    Kind::Conversions => (&field.gateway, &field.tenants[0]),
                    Kind::Collections => (&field.collecting.0, &field.collecting.1),
                };
                return Prepared::while_they_last(server, tenant, kind, time, |requests| {
                    self.load(field, server, requests, connections, true)
                });
            }
        };
        self.load(
            field,
            server,
            &requests,
            connections,
            matches!(whom, Whom::Payouts(_) | Whom::Bound | Whom::Batches),
        )
    }

    /// Runs one case; of the gateway it also notes what was written.
    fn load(
        &self,
        field: &Field,
        server: &Server,
        requests: &Arc<dyn Workload>,
        connections: usize,
        is_gateway: bool,
    ) -> Outcome<Round> {
        field.gateway.rest()?;
        field.collecting.0.rest()?;
        server.rest()?;
        let before = if is_gateway { server.log_status()? } else { LogStatus::default() };
        let time = Duration::from_secs(self.seconds);
        let load =
            Load { server, requests, connections, threads: self.threads, warm_up: WARM_UP, time }.run()?;
        let log = if is_gateway { server.log_status()?.since(before) } else { LogStatus::default() };
        Ok(Round { load, log })
    }
}

impl Contested {
    /// Requests per second of a case; 0 if it was not measured.
    pub fn rate(&self, whom: Whom, connections: usize) -> u64 {
        self.case(whom, connections).map_or(0, Case::rate)
    }

    /// A case, if it was measured.
    pub fn case(&self, whom: Whom, connections: usize) -> Option<&Case> {
        self.cases.iter().find(|case| case.whom == whom && case.connections == connections)
    }

    /// The best of a case over all numbers of connections.
    pub fn best(&self, whom: Whom) -> u64 {
        self.cases.iter().filter(|case| case.whom == whom).map(Case::rate).max().unwrap_or(0)
    }

    /// Every case with everything that was seen of it.
    pub fn table(&self, title: &str) -> Table {
        let columns = [
            "case",
            "connections",
            "requests/s",
            "spread",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "p99.99 ms",
            "of do-nothing",
            "server CPU µs/request",
            "bytes written/request",
            "syncs/s",
            "records/sync",
        ];
        let mut table = Table::new(title, &columns);
        for failure in &self.failures {
            table.remark(format!("**Not measured** {failure}."));
        }
        for case in &self.cases {
            let rates = || case.rounds.iter().map(|round| round.load.rate());
            let spread = rates().max().unwrap_or(0) - rates().min().unwrap_or(0);
            let of = |figure: &dyn Fn(&Round) -> u64| median(case.rounds.iter().map(figure));
            let is_logged = of(&|round| round.log.batches) > 0;
            let logged = |figure: u64| if is_logged { grouped(figure) } else { "–".to_owned() };
            table.row([
                case.whom.name(),
                case.connections.to_string(),
                grouped(case.rate()),
                format!("{} %", spread * 100 / case.rate().max(1)),
                case.quantile(0.5),
                case.quantile(0.99),
                case.quantile(0.999),
                case.quantile(0.9999),
                ratio(case.rate(), self.rate(Whom::DoNothing, case.connections)),
                microseconds(case.cpu_ns()),
                grouped(of(&|round| round.load.server.written / round.load.answers.max(1))),
                logged(of(&|round| per_second(round.log.batches, round.load.time + WARM_UP))),
                logged(of(&|round| round.log.records / round.log.batches.max(1))),
            ]);
        }
        table
    }
}

impl Contested {
    /// Where the processors went in these cases.
    pub fn account(&self, counts: impl Fn(&Case) -> bool) -> Table {
        let measured = |case: &Case| {
            let mut machine = Account::default();
            case.rounds.iter().for_each(|round| machine.add(&round.load.machine));
            let answers = case.rounds.iter().map(|round| round.load.answers).sum();
            (format!("{}, {}", case.whom.name(), case.connections), machine, answers)
        };
        account::table(&self.cases.iter().filter(|case| counts(case)).map(measured).collect::<Vec<_>>())
    }
}

impl Case {
    /// The median over the rounds, in milliseconds.
    pub fn quantile(&self, q: f64) -> String {
        milliseconds(median(self.rounds.iter().map(|round| round.load.latency.value_at_quantile(q))))
    }

    /// Requests per second, the median over the rounds.
    pub fn rate(&self) -> u64 {
        median(self.rounds.iter().map(|round| round.load.rate()))
    }

    /// Nanoseconds of CPU of the server and its database per request, the median over the rounds.
    pub fn cpu_ns(&self) -> u64 {
        median(self.rounds.iter().map(|round| nanoseconds_each(round.load.server.cpu, round.load.answers)))
    }

    /// Payouts per second: of a batch all its items.
    pub fn items(&self) -> u64 {
        let items = if self.whom == Whom::Batches { BATCH as u64 } else { 1 };
        median(self.rounds.iter().map(|round| per_second(round.load.answers * items, round.load.time)))
    }
}

impl Whom {
    /// The name in tables.
    pub fn name(self) -> String {
        let balances = |count: usize| {
            if count == 1 { "1 balance".to_owned() } else { format!("{} balances", grouped(count as u64)) }
        };
        match self {
            Whom::DoNothing => "do nothing".to_owned(),
            Whom::PlainFile => "do nothing but append to a plain file".to_owned(),
            Whom::Batches => format!("batch of {}, 1 balance", grouped(BATCH as u64)),
            Whom::Prepared(Kind::Conversions) => "conversion, 1 balance".to_owned(),
            Whom::Prepared(Kind::Collections) => "collection, 1 balance".to_owned(),
            Whom::Payouts(tenants) => format!("payout, {}", balances(tenants)),
            Whom::Bound => "bound payout, 1 balance".to_owned(),
        }
    }
}
