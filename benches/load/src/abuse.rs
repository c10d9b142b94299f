//! The effect of a tenant that asks for all it can get on another: payouts of the other at a fixed
//! rate, alone and beside a tenant that sends payouts, lists and past balances over many
//! connections as fast as answers come, and does not heed `Retry-After`.

use crate::cleanup::{self, Scratch};
use crate::connection::Connection;
use crate::latency::apart;
use crate::open_loop::{OpenLoop, Phase, PhaseFigures};
use crate::prepare::{self, Extent, Tenant};
use crate::report::{Bar, Line, Report, Unit};
use crate::requests::{Requests, Workload};
use crate::server::{Server, Setting};
use crate::table::{Table, grouped, median, milliseconds, per_second, ratio};
use crate::{Outcome, Place, machine, progress};
use chrono::{SecondsFormat, Utc};
use clap::Args;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::LocalSet;

/// The time until a server must be ready on an empty directory.
const READY: Duration = Duration::from_secs(30);
/// The connections of the tenant that is measured: more than it ever has under way.
const CONNECTIONS: usize = 64;
/// The time before what counts.
const WARM_UP: Duration = Duration::from_secs(1);
/// The time after which a request is given up: none is.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// The `nice` value of the abusive generator, below the priority of what is measured.
const NICENESS: i32 = 10;
/// The p99 beside the abuse, in hundredths of the p99 without it.
const OTHERS_P99_MAX: u64 = 150;

/// What one tenant that asks for everything does to another
#[derive(Args, Clone, Debug)]
pub struct Abuse {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Connections of the one who asks for everything
    #[arg(long, default_value_t = 256)]
    pub(crate) connections: usize,
    /// Payouts per second of the other
    #[arg(long, default_value_t = 300)]
    pub(crate) rate: u64,
    /// Seconds per case and round
    #[arg(long, default_value_t = 4)]
    pub(crate) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: usize,
    /// Lets every tenant take all, to see what the shares are worth
    #[arg(long)]
    pub(crate) without_shares: bool,
}

/// The requests that the abusive tenant sends all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Nothing,
    Payouts,
    Lists,
    PastBalances,
}

impl Asks {
    const ALL: [Asks; 4] = [Asks::Nothing, Asks::Payouts, Asks::Lists, Asks::PastBalances];

    fn name(self) -> &'static str {
        match self {
            Asks::Nothing => "nothing",
            Asks::Payouts => "payouts",
            Asks::Lists => "lists of 100 payouts",
            Asks::PastBalances => "past balances",
        }
    }
}

/// The counts of answers to the abusive tenant.
#[derive(Debug, Default)]
struct Answers {
    is_over: AtomicBool,
    served: AtomicU64,
    at_share: AtomicU64,
    full: AtomicU64,
}

struct Round {
    figures: PhaseFigures,
    served: u64,
    at_share: u64,
    full: u64,
}

impl Abuse {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        let each = Duration::from_secs(self.seconds + 1) + WARM_UP;
        each * u32::try_from(Asks::ALL.len() * self.rounds).unwrap_or(u32::MAX) + Duration::from_secs(5)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.connections == 0 || self.rate == 0 || self.seconds == 0 || self.rounds == 0 {
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
        let scratch = Scratch::new(&place, "abuse")?;
        let (server_cores, generator_cores) = apart();
        let setting =
            Setting { cores: server_cores, with_shares: !self.without_shares, ..Setting::default() };
        let server = Server::gateway_in(scratch.path(), READY, &setting)?;
        let tenants = prepare::tenants(&server, 2, Extent::Payable)?;
        let [other, greedy] = tenants.as_slice() else { return Err("there are no two tenants".to_owned()) };
        let mut rounds: Vec<(Asks, Vec<Round>)> = Asks::ALL.map(|asks| (asks, Vec::new())).into();
        for round in 1..=self.rounds {
            for (asks, of_case) in &mut rounds {
                server.rest()?;
                let one = self.round(&server, other, greedy, *asks, &generator_cores)?;
                let p99 = milliseconds(one.figures.done.value_at_quantile(0.99));
                progress(&format!("round {round}/{}: beside {}: p99 {p99} ms", self.rounds, asks.name()));
                of_case.push(one);
            }
        }
        let mut table = self.table(&rounds);
        table.remark(machine);
        Ok(Report { tables: vec![table], lines: lines(&rounds), bars: bars(&rounds), ..Report::default() })
    }

    fn round(
        &self,
        server: &Server,
        other: &Tenant,
        greedy: &Tenant,
        asks: Asks,
        cores: &[usize],
    ) -> Outcome<Round> {
        let answers = Arc::new(Answers::default());
        let figures = std::thread::scope(|scope| {
            let asking = (asks != Asks::Nothing).then(|| {
                let ask = || {
                    // The priority of this thread alone: what is measured must not wait for this
                    // generator.
                    let _ = rustix::process::nice(NICENESS);
                    ask_for_everything(server.api, greedy, asks, self.connections, &answers)
                };
                scope.spawn(move || machine::on_cores(cores, ask))
            });
            let requests: Arc<dyn Workload> =
                Arc::new(Requests::payouts(server.api, std::slice::from_ref(other)));
            let phases = [
                Phase { rate: self.rate, time: WARM_UP },
                Phase { rate: self.rate, time: Duration::from_secs(self.seconds) },
            ];
            let open_loop = OpenLoop {
                server,
                requests: &requests,
                connections: CONNECTIONS,
                phases: &phases,
                patience: PATIENCE,
                cores,
            };
            let figures = open_loop.run();
            answers.is_over.store(true, Ordering::Relaxed);
            if let Some(asking) = asking {
                asking.join().map_err(|_| "the generator of the abuse panicked")??;
            }
            figures
        })?;
        let figures = figures.into_iter().nth(1).ok_or("there was no second phase")?;
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Ok(Round {
            figures,
            served: read(&answers.served),
            at_share: read(&answers.at_share),
            full: read(&answers.full),
        })
    }

    fn table(&self, rounds: &[(Asks, Vec<Round>)]) -> Table {
        let columns = [
            "beside one who asks for",
            "its answers/s",
            "its 429/s",
            "its 503/s",
            "the other's done/s",
            "refused",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
        ];
        let mut table = Table::new("One who asks for everything, and another", &columns);
        table.remark(format!(
            "Payouts of one test key at {}/s, latencies counted from when each was due, beside another test key that asks over {} connections as fast as it is answered{}. {} rounds of {} s, \
             medians.",
            grouped(self.rate),
            grouped(self.connections as u64),
            if self.without_shares { ", without shares" } else { "" },
            self.rounds,
            self.seconds
        ));
        let time = Duration::from_secs(self.seconds);
        let with_warm_up = time + WARM_UP;
        for (asks, of_case) in rounds {
            let of = |figure: &dyn Fn(&Round) -> u64| median(of_case.iter().map(figure));
            table.row([
                asks.name().to_owned(),
                grouped(of(&|round| per_second(round.served, with_warm_up))),
                grouped(of(&|round| per_second(round.at_share, with_warm_up))),
                grouped(of(&|round| per_second(round.full, with_warm_up))),
                grouped(of(&|round| per_second(round.figures.answers, time))),
                grouped(of(&|round| round.figures.refused.len() + round.figures.unadvised)),
                milliseconds(quantile(of_case, 0.5)),
                milliseconds(quantile(of_case, 0.99)),
                milliseconds(quantile(of_case, 0.999)),
            ]);
        }
        table
    }
}

/// Asks over so many connections until the measurement is over.
fn ask_for_everything(
    api: SocketAddr,
    tenant: &Tenant,
    asks: Asks,
    connections: usize,
    answers: &Arc<Answers>,
) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let get = |path: &str| {
        format!("GET {path} HTTP/1.1\r\nhost: {api}\r\nx-api-key: {}\r\n\r\n", tenant.key).into_bytes()
    };
    let (payouts, fixed) = match asks {
        Asks::Nothing => return Ok(()),
        Asks::Payouts => (Some(Arc::new(Requests::payouts(api, std::slice::from_ref(tenant)))), Vec::new()),
        Asks::Lists => (None, get("/v1/payouts?limit=100")),
        Asks::PastBalances => {
            let at = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
            (None, get(&format!("/v1/balance?at={at}")))
        }
    };
    let talk = |nth: usize| {
        let (payouts, mut request, answers) = (payouts.clone(), fixed.clone(), Arc::clone(answers));
        async move {
            let mut connection = Connection::open(api).await?;
            while !answers.is_over.load(Ordering::Relaxed) {
                if let Some(payouts) = &payouts {
                    payouts.write(nth, &mut request)?;
                }
                let answer = connection.exchange(&request).await?;
                let count = match answer.status {
                    200 | 201 => &answers.served,
                    429 if answer.has_retry_after() => &answers.at_share,
                    503 if answer.has_retry_after() => &answers.full,
                    status => return Err(format!("{status}: {}", String::from_utf8_lossy(answer.body))),
                };
                count.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, String>(())
        }
    };
    LocalSet::new().block_on(&runtime, async {
        let talks: Vec<_> = (0..connections).map(|nth| tokio::task::spawn_local(talk(nth))).collect();
        for talk in talks {
            talk.await.map_err(|error| error.to_string())??;
        }
        Ok(())
    })
}

/// The median of the rounds' quantiles.
fn quantile(rounds: &[Round], q: f64) -> u64 {
    median(rounds.iter().map(|round| round.figures.done.value_at_quantile(q)))
}

/// The p99 without abuse, and beside each kind of it.
fn p99s(rounds: &[(Asks, Vec<Round>)]) -> (u64, impl Iterator<Item = (Asks, u64)>) {
    let p99 = |(asks, rounds): &(Asks, Vec<Round>)| (*asks, quantile(rounds, 0.99));
    let alone = rounds.iter().map(p99).find(|(asks, _)| *asks == Asks::Nothing).map_or(0, |(_, p99)| p99);
    (alone, rounds.iter().map(p99).filter(|(asks, _)| *asks != Asks::Nothing))
}

fn bars(rounds: &[(Asks, Vec<Round>)]) -> Vec<Bar> {
    let (alone, beside) = p99s(rounds);
    beside
        .map(|(asks, p99)| {
            Bar::at_most(
                &format!("p99 of others beside one who asks for {}", asks.name()),
                Unit::Ratio,
                p99.saturating_mul(100).checked_div(alone).unwrap_or(u64::MAX),
                OTHERS_P99_MAX,
                format!("{} ms, {} ms alone", milliseconds(p99), milliseconds(alone)),
            )
        })
        .collect()
}

fn lines(rounds: &[(Asks, Vec<Round>)]) -> Vec<Line> {
    let (alone, beside) = p99s(rounds);
    beside
        .map(|(asks, p99)| Line {
            what: format!("p99 of others beside one who asks for {}", asks.name()),
            figure: format!("{} ms", milliseconds(p99)),
            baseline: format!("{} ms alone", milliseconds(alone)),
            ratio: ratio(p99, alone),
        })
        .collect()
}
