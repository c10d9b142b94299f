//! The cost of a live bank: credits by a live key, whose orders go over HTTP to a bank on loopback,
//! beside the same credits by a test key, which the simulated bank answers in the process. The bank
//! does nothing, takes its time, or never answers.

pub mod bank;

use crate::cleanup::{self, Scratch};
use crate::connection::Connection;
use crate::latency::apart;
use crate::load::{Load, Measured};
use crate::open_loop::{OpenLoop, Phase, PhaseFigures};
use crate::prepare::{self, Extent, Tenant};
use crate::report::{Bar, Report, Unit};
use crate::requests::{Requests, Workload};
use crate::server::{Server, Setting};
use crate::table::{Table, grouped, median, milliseconds, nanoseconds_each};
use crate::{Outcome, Place, machine, progress};
use bank::{Bank, Manner};
use clap::Args;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::LocalSet;

/// The time until a server must be ready on an empty directory.
const READY: Duration = Duration::from_secs(30);
/// The time before what counts.
const WARM_UP: Duration = Duration::from_secs(1);
/// The connections over which the cost of a call is measured.
const CONNECTIONS: usize = 256;
/// The charges that wait for a slow bank at once.
const IN_FLIGHT: usize = 2_000;
/// The time that a slow bank takes.
const SLOW: Duration = Duration::from_millis(300);
/// The payouts per second of a tenant whose bank is well, and the connections that carry them.
const OTHERS: (u64, usize) = (300, 64);
/// The connections that carry orders for the bank that is well or dead, and the time between two
/// orders of one: 64 a second in all.
const ORDERING: u32 = 128;
const ORDER_EVERY: Duration = Duration::from_secs(2);
/// The time after which a request is given up: none is.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// The processor time of a connector's call.
const CPU_NS_MAX: u64 = 60_000;
/// The memory of charges in flight.
const IN_FLIGHT_BYTES_MAX: u64 = 64 << 20;
/// The p99 of others beside a dead bank, in hundredths of that beside one that is well.
const OTHERS_P99_MAX: u64 = 120;

/// What a call to a live bank costs, and what a slow and a dead one do
#[derive(Args, Clone, Debug)]
pub struct Live {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Seconds per case and round
    #[arg(long, default_value_t = 4)]
    pub(crate) seconds: u64,
    /// Rounds; each runs every case once, and medians are shown
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: usize,
}

/// The figures of one round.
struct Round {
    /// Processor time of a credit by a test key and by a live key, in nanoseconds.
    cpu: [u64; 2],
    /// The server's own memory before, and at most while charges were in flight.
    memory: [u64; 2],
    /// The others' p99 beside a bank that is well and beside a dead one, in microseconds.
    others: [u64; 2],
}

impl Live {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        (Duration::from_secs(self.seconds) + WARM_UP + Duration::from_secs(2))
            * u32::try_from(5 * self.rounds).unwrap_or(u32::MAX)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        if self.seconds == 0 || self.rounds == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(self.takes() * 3 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let mut rounds = Vec::new();
        for round in 1..=self.rounds {
            let cpu = self.cost()?;
            let memory = self.in_flight()?;
            let others = [self.beside(Manner::At(Duration::ZERO))?, self.beside(Manner::Dead)?];
            progress(&format!(
                "round {round}/{}: {} and {} ns a credit, {} MiB in flight, others' p99 {} and {} ms",
                self.rounds,
                cpu[0],
                cpu[1],
                memory[1].saturating_sub(memory[0]) >> 20,
                milliseconds(others[0]),
                milliseconds(others[1])
            ));
            rounds.push(Round { cpu, memory, others });
        }
        let mut table = self.table(&rounds);
        table.remark(machine::describe(&self.place.made()?));
        Ok(Report { tables: vec![table], bars: bars(&rounds), ..Report::default() })
    }

    /// Processor time of a credit by a test key and by a live key, at a bank that does nothing.
    fn cost(&self) -> Outcome<[u64; 2]> {
        let scratch = Scratch::new(&self.place.made()?, "live-cost")?;
        let (server, bank) = self.serving(&scratch, Manner::At(Duration::ZERO))?;
        let mut cpu = [0; 2];
        for (cpu, tenant) in cpu.iter_mut().zip(tenants(&server)?) {
            server.rest()?;
            let time = (WARM_UP, Duration::from_secs(self.seconds));
            let measured = credits(&server, &tenant, CONNECTIONS, time)?;
            *cpu = nanoseconds_each(measured.server.cpu, measured.answers);
        }
        drop(bank);
        Ok(cpu)
    }

    /// The server's own memory before, and at most while so many charges wait for a slow bank: one
    /// over each connection, so that what is written meanwhile does not count.
    fn in_flight(&self) -> Outcome<[u64; 2]> {
        let scratch = Scratch::new(&self.place.made()?, "live-slow")?;
        let (server, bank) = self.serving(&scratch, Manner::At(SLOW))?;
        let [_, live] = tenants(&server)?;
        // What caches and memtables take by themselves has been taken before.
        credits(&server, &live, CONNECTIONS, (Duration::ZERO, SLOW))?;
        server.rest()?;
        let before = machine::own_memory(server.pid())?;
        let once = (Duration::ZERO, Duration::from_millis(1));
        let (_, most) = most_during(server.pid(), || credits(&server, &live, IN_FLIGHT, once))?;
        drop(bank);
        Ok([before, most])
    }

    /// The p99 of a tenant's payouts beside a steady flow of orders for a bank like this.
    fn beside(&self, manner: Manner) -> Outcome<u64> {
        let scratch = Scratch::new(&self.place.made()?, "live-beside")?;
        let (server, bank) = self.serving(&scratch, manner)?;
        let [other, live] = tenants(&server)?;
        let figures = std::thread::scope(|scope| {
            let over = Arc::new(AtomicBool::new(false));
            let ordering = scope.spawn({
                let over = Arc::clone(&over);
                let (server, live) = (&server, &live);
                move || machine::on_cores(&apart().1, || order(server.api, live, over))
            });
            let figures = self.payouts(&server, &other);
            over.store(true, Ordering::Relaxed);
            ordering.join().map_err(|_| "the generator of orders panicked")??;
            figures
        })?;
        drop(bank);
        Ok(figures.done.value_at_quantile(0.99))
    }

    fn serving(&self, scratch: &Scratch, manner: Manner) -> Outcome<(Server, Bank)> {
        let (cores, generator) = apart();
        let bank = machine::on_cores(&generator, || Bank::open(manner))?;
        let setting = Setting { cores, r4: Some(bank.address), ..Setting::default() };
        Ok((Server::gateway_in(scratch.path(), READY, &setting)?, bank))
    }

    /// A tenant's payouts at a steady rate.
    fn payouts(&self, server: &Server, tenant: &Tenant) -> Outcome<PhaseFigures> {
        let requests: Arc<dyn Workload> =
            Arc::new(Requests::credits(server.api, std::slice::from_ref(tenant)));
        let (_, cores) = apart();
        let phases = [
            Phase { rate: OTHERS.0, time: WARM_UP },
            Phase { rate: OTHERS.0, time: Duration::from_secs(self.seconds) },
        ];
        let open_loop = OpenLoop {
            server,
            requests: &requests,
            connections: OTHERS.1,
            phases: &phases,
            patience: PATIENCE,
            cores: &cores,
        };
        open_loop.run()?.into_iter().nth(1).ok_or_else(|| "there was no second phase".to_owned())
    }

    fn table(&self, rounds: &[Round]) -> Table {
        let mut table = Table::new("A live bank", &["what", "figure"]);
        table.remark(format!(
            "Credits to a phone by a live key, through R4's connector to a bank on loopback, over {CONNECTIONS} connections; {} rounds of {} s, medians. The bank shares a core with the generator.",
            self.rounds, self.seconds
        ));
        let of = |figure: &dyn Fn(&Round) -> u64| median(rounds.iter().map(figure));
        let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
        for (what, figure) in [
            ("server CPU of a credit by a test key", format!("{} ns", grouped(of(&|round| round.cpu[0])))),
            ("server CPU of a credit by a live key", format!("{} ns", grouped(of(&|round| round.cpu[1])))),
            ("memory before charges wait for a slow bank", mib(of(&|round| round.memory[0]))),
            ("memory while 2,000 wait for one of 300 ms", mib(of(&|round| round.memory[1]))),
            (
                "others' p99 beside a bank that is well",
                format!("{} ms", milliseconds(of(&|round| round.others[0]))),
            ),
            ("others' p99 beside a dead bank", format!("{} ms", milliseconds(of(&|round| round.others[1])))),
        ] {
            table.row([what.to_owned(), figure]);
        }
        table
    }
}

/// Credits over so many connections, for so long before it counts and so long that counts.
fn credits(
    server: &Server,
    tenant: &Tenant,
    connections: usize,
    (warm_up, time): (Duration, Duration),
) -> Outcome<Measured> {
    let requests: Arc<dyn Workload> = Arc::new(Requests::credits(server.api, std::slice::from_ref(tenant)));
    let load = Load { server, requests: &requests, connections, threads: 1, warm_up, time };
    machine::on_cores(&apart().1, || load.run())
}

/// Sends orders at a steady rate, whatever comes of them, until it is over.
fn order(api: SocketAddr, tenant: &Tenant, over: Arc<AtomicBool>) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let orders = Arc::new(Requests::credits(api, std::slice::from_ref(tenant)));
    let talk = |nth: u32| {
        let (orders, over) = (Arc::clone(&orders), Arc::clone(&over));
        async move {
            let mut connection = Connection::open(api).await?;
            let mut request = Vec::new();
            tokio::time::sleep(ORDER_EVERY * nth / ORDERING).await;
            let mut turns = tokio::time::interval(ORDER_EVERY);
            while !over.load(Ordering::Relaxed) {
                turns.tick().await;
                orders.write(0, &mut request)?;
                connection.exchange(&request).await?;
            }
            Ok::<_, String>(())
        }
    };
    LocalSet::new().block_on(&runtime, async {
        let talks: Vec<_> = (0..ORDERING).map(|nth| tokio::task::spawn_local(talk(nth))).collect();
        for talk in talks {
            talk.await.map_err(|error| error.to_string())??;
        }
        Ok(())
    })
}

/// A tenant's test key and its live key, both with money.
fn tenants(server: &Server) -> Outcome<[Tenant; 2]> {
    let test = prepare::tenants(server, 1, Extent::Funded)?;
    let live = prepare::tenants(server, 1, Extent::Live)?;
    let one = |made: Vec<Tenant>| made.into_iter().next().ok_or_else(|| "there is no tenant".to_owned());
    Ok([one(test)?, one(live)?])
}

/// The most of a process's own memory while something is done.
fn most_during<T>(pid: u32, work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, u64)> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                most = most.max(machine::own_memory(pid)?);
                std::thread::sleep(Duration::from_millis(50));
            }
            Ok::<_, String>(most)
        });
        let worked = work();
        done.store(true, Ordering::Relaxed);
        let most = watch.join().map_err(|_| "whoever watched the memory panicked".to_owned())??;
        Ok((worked?, most))
    })
}

fn bars(rounds: &[Round]) -> Vec<Bar> {
    let of = |figure: &dyn Fn(&Round) -> u64| median(rounds.iter().map(figure));
    let (test, live) = (of(&|round| round.cpu[0]), of(&|round| round.cpu[1]));
    let in_flight = of(&|round| round.memory[1].saturating_sub(round.memory[0]));
    let (well, dead) = (of(&|round| round.others[0]), of(&|round| round.others[1]));
    vec![
        Bar::at_most(
            "a connector's call beside the simulated bank",
            Unit::Cpu,
            live.saturating_sub(test),
            CPU_NS_MAX,
            format!("{} ns by a live key, {} ns by a test key", grouped(live), grouped(test)),
        ),
        Bar::at_most(
            "memory of 2,000 charges that wait for a bank of 300 ms",
            Unit::Bytes,
            in_flight,
            IN_FLIGHT_BYTES_MAX,
            "at most, less what there was before".to_owned(),
        ),
        Bar::at_most(
            "p99 of others beside a dead bank",
            Unit::Ratio,
            dead.saturating_mul(100).checked_div(well).unwrap_or(u64::MAX),
            OTHERS_P99_MAX,
            format!("{} ms, {} ms beside one that is well", milliseconds(dead), milliseconds(well)),
        ),
    ]
}
