//! The cost of deliveries for those who pay, and how fast the rest is delivered when they have
//! paid: the same payouts with and without endpoints, interleaved, then the backlog.

use crate::cleanup::{self, Scratch};
use crate::load::{Load, Measured};
use crate::prepare::{self, Client, Extent, Tenant};
use crate::receiver::Receiver;
use crate::report::{Bar, Line, Report};
use crate::requests::{Requests, Workload};
use crate::server::Server;
use crate::table::{Table, grouped, median, milliseconds, per_second, ratio};
use crate::{Outcome, Place, machine, progress};
use clap::Args;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time before what counts.
const WARM_UP: Duration = Duration::from_millis(500);
/// The time until a server must be ready on an empty directory.
const READY: Duration = Duration::from_secs(30);
/// Endpoints that a tenant has at most.
const PER_TENANT: usize = 20;
/// Threads of the generator.
const THREADS: usize = 2;
/// The percentage of the payouts' rate that deliveries must leave.
const PERCENT_LEFT: u64 = 90;
/// The time between two looks at what arrived.
const LOOK: Duration = Duration::from_millis(5);

/// Deliveries to webhook endpoints, and what they cost the payouts that they tell of
#[derive(Args, Clone, Debug)]
pub struct Webhooks {
    #[command(flatten)]
    pub(super) place: Place,
    /// Endpoints
    #[arg(long, value_delimiter = ',', default_values_t = [1, 100])]
    pub(super) endpoints: Vec<usize>,
    /// Connections
    #[arg(long, default_value_t = 64)]
    pub(super) connections: usize,
    /// Seconds per case and round, once for the payouts and at most once for the backlog
    #[arg(long, default_value_t = 3)]
    pub(super) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 3)]
    pub(super) rounds: usize,
}

/// A case: so many endpoints on so many tenants, beside as many tenants without.
struct Case {
    endpoints: usize,
    with: Vec<Tenant>,
    without: Vec<Tenant>,
    rounds: Vec<Round>,
}

struct Round {
    with: Measured,
    without: Measured,
    /// The deliveries per second while the payouts went on, and when they had ended.
    meanwhile: u64,
    afterwards: u64,
}

impl Webhooks {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        let each = Duration::from_secs(3 * self.seconds) + 3 * WARM_UP;
        each * u32::try_from(self.endpoints.len() * self.rounds).unwrap_or(u32::MAX) + Duration::from_secs(10)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.endpoints.contains(&0) || self.connections == 0 || self.rounds == 0 || self.seconds == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(self.takes() * 3 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let machine = machine::describe(&self.place.made()?);
        let scratch = Scratch::new(&self.place.made()?, "webhooks")?;
        let server = Server::gateway(scratch.path(), READY)?;
        let receiver = Receiver::start()?;
        let mut cases = Vec::new();
        for endpoints in &self.endpoints {
            let tenants = endpoints.div_ceil(PER_TENANT);
            let mut with = prepare::tenants(&server, 2 * tenants, Extent::Payable)?;
            let without = with.split_off(tenants);
            cases.push(Case { endpoints: *endpoints, with, without, rounds: Vec::new() });
        }
        for round in 1..=self.rounds {
            for case in &mut cases {
                let measured = self.round(&server, &receiver, case)?;
                progress(&format!(
                    "round {round}/{}: {} endpoints: {}/s with, {}/s without, delivered {}/s meanwhile, {}/s afterwards",
                    self.rounds,
                    case.endpoints,
                    grouped(measured.with.rate()),
                    grouped(measured.without.rate()),
                    grouped(measured.meanwhile),
                    grouped(measured.afterwards)
                ));
                case.rounds.push(measured);
            }
        }
        server.stop()?;
        let (lines, bars) = (cases.iter().map(Case::line).collect(), cases.iter().map(Case::bar).collect());
        Ok(Report { tables: vec![self.table(&machine, &cases)], lines, bars, ..Report::default() })
    }

    fn round(&self, server: &Server, receiver: &Receiver, case: &Case) -> Outcome<Round> {
        server.rest()?;
        let without = self.pay(server, &case.without)?;
        server.rest()?;
        let made = endpoints(server, receiver, case)?;
        let (before, began) = (receiver.arrived(), Instant::now());
        let with = self.pay(server, &case.with)?;
        let (during, ended) = (receiver.arrived(), Instant::now());
        // Waits until nothing more comes, or for so long.
        let (mut last, mut quiet_since) = (during, ended);
        while ended.elapsed() < Duration::from_secs(self.seconds)
            && quiet_since.elapsed() < Duration::from_millis(500)
        {
            std::thread::sleep(LOOK);
            let now = receiver.arrived();
            if now != last {
                (last, quiet_since) = (now, Instant::now());
            }
        }
        let round = Round {
            with,
            without,
            meanwhile: per_second(during - before, ended - began),
            afterwards: per_second(last - during, quiet_since.saturating_duration_since(ended)),
        };
        remove(server, &made)?;
        Ok(round)
    }

    fn pay(&self, server: &Server, tenants: &[Tenant]) -> Outcome<Measured> {
        let requests: Arc<dyn Workload> = Arc::new(Requests::payouts(server.api, tenants));
        let time = Duration::from_secs(self.seconds);
        Load {
            server,
            requests: &requests,
            connections: self.connections,
            threads: THREADS,
            warm_up: WARM_UP,
            time,
        }
        .run()
    }

    fn table(&self, machine: &str, cases: &[Case]) -> Table {
        let columns = [
            "endpoints",
            "payouts/s without",
            "with",
            "with of without",
            "p99 ms without",
            "with",
            "deliveries/s meanwhile",
            "deliveries/s afterwards",
        ];
        let mut table = Table::new("Webhooks", &columns);
        table.remark(format!(
            "POST /v1/payouts over {} connections, for tenants with endpoints (20 each at most) that list payout.completed and for as many without; {} rounds of {} s, interleaved, \
             medians. The receiver shares the cores with the server, at the priority of the deliveries. Afterwards: the backlog, until it is gone or for {} s.",
            self.connections, self.rounds, self.seconds, self.seconds
        ));
        table.remark(machine);
        for case in cases {
            let p99 = |of: fn(&Round) -> &Measured| {
                milliseconds(median(
                    case.rounds.iter().map(|round| of(round).latency.value_at_quantile(0.99)),
                ))
            };
            table.row([
                case.endpoints.to_string(),
                grouped(case.without()),
                grouped(case.with()),
                ratio(case.with(), case.without()),
                p99(|round| &round.without),
                p99(|round| &round.with),
                grouped(median(case.rounds.iter().map(|round| round.meanwhile))),
                grouped(case.afterwards()),
            ]);
        }
        table
    }
}

impl Case {
    fn with(&self) -> u64 {
        median(self.rounds.iter().map(|round| round.with.rate()))
    }

    fn without(&self) -> u64 {
        median(self.rounds.iter().map(|round| round.without.rate()))
    }

    fn afterwards(&self) -> u64 {
        median(self.rounds.iter().map(|round| round.afterwards))
    }

    fn bar(&self) -> Bar {
        Bar::ratio(
            &format!("payouts told to {} endpoints, of those without any", self.endpoints),
            self.with(),
            self.without(),
            PERCENT_LEFT,
        )
    }

    fn line(&self) -> Line {
        Line {
            what: format!("payouts told to {} endpoints", self.endpoints),
            figure: format!("{}/s (then {} deliveries/s)", grouped(self.with()), grouped(self.afterwards())),
            baseline: format!("{}/s without endpoints", grouped(self.without())),
            ratio: ratio(self.with(), self.without()),
        }
    }
}

/// A key's header and an endpoint's path.
type Made = Vec<(String, String)>;

fn endpoints(server: &Server, receiver: &Receiver, case: &Case) -> Outcome<Made> {
    on_its_own(async {
        let mut api = Client::open(server.api).await?;
        let mut made = Vec::new();
        let body = json!({ "url": receiver.url(), "events": ["payout.completed"] });
        for nth in 0..case.endpoints {
            let header = format!("x-api-key: {}", case.with[nth % case.with.len()].key);
            let webhook = api.post(&header, "/v1/webhooks", &body, 201).await?;
            made.push((header, format!("/v1/webhooks/{}", webhook["id"].as_str().unwrap_or_default())));
        }
        Ok(made)
    })
}

/// Removes endpoints, with the deliveries that still wait for them.
fn remove(server: &Server, made: &Made) -> Outcome<()> {
    on_its_own(async {
        let mut api = Client::open(server.api).await?;
        for (header, path) in made {
            let _: Value = api.delete(header, path, 200).await?;
        }
        Ok(())
    })
}

fn on_its_own<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?
        .block_on(work)
}
