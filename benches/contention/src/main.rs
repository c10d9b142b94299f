//! `contention`: one hot balance under each of several systems. How many durable debits a second,
//! how long they take, and whether the balance stays right while the server is killed.
//!
//! Layout: `peer` what a peer is · `peers/` a file for each · `loader` the callers · `judge` whether
//! a history can have happened · `verdict` histories under SIGKILL and with planted faults · `speed`
//! closed and open loops · `page` what a person reads · `hardware` what it ran on. Tables, charts,
//! the machine, child processes and the HTTP connection are those of `benches/load`.

#[path = "../../load/src/chart.rs"]
#[expect(dead_code, reason = "of what both crates have, each uses a part")]
mod chart;
#[path = "../../load/src/cleanup.rs"]
#[expect(dead_code, reason = "of what both crates have, each uses a part")]
mod cleanup;
#[path = "../../load/src/connection.rs"]
#[expect(dead_code, reason = "of what both crates have, each uses a part")]
mod connection;
mod hardware;
mod judge;
mod loader;
#[path = "../../load/src/machine.rs"]
#[expect(dead_code, reason = "of what both crates have, each uses a part")]
mod machine;
mod page;
mod peer;
mod peers;
mod speed;
#[path = "../../load/src/table.rs"]
#[expect(dead_code, reason = "of what both crates have, each uses a part")]
mod table;
mod verdict;

use clap::Parser;
use peer::Setup;
use peers::{Make, PEERS};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tikv_jemallocator::Jemalloc;

/// The allocator, the same as of the engine in process.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// The result of a step; the error says why it could not be finished.
pub(crate) type Outcome<T> = Result<T, String>;

/// One hot balance under each of several systems: speed, and correctness under kill -9.
///
/// Servers come from PATH (PostgreSQL, Redis or Valkey) and from the variables TIGERBEETLE,
/// PASARELA_BIN and PASARELA_BENCH_BIN; the last two default to what `make contention` built.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// These peers alone; all if there are none here
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Names the peers
    #[arg(long)]
    list: bool,
    /// Callers
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64, 256, 1024])]
    callers: Vec<usize>,
    /// Debits a second that become due in open loops
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 4_000, 16_000, 64_000])]
    rates: Vec<u64>,
    /// Milliseconds of a cell that count
    #[arg(long, default_value_t = 3_000)]
    time_ms: u64,
    /// Rounds; medians are shown
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// The verdicts alone
    #[arg(long)]
    verdicts_only: bool,
    /// Directory for the data; it is removed at the end
    #[arg(long, default_value = "target/contention")]
    dir: PathBuf,
    /// Directory for the page and its plots
    #[arg(long, default_value = "target/contention-report")]
    out: PathBuf,
    /// What is measured, for the page: a commit
    #[arg(long, default_value = "")]
    commit: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome =
        runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(run(arguments)));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("contention: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Outcome<()> {
    if arguments.list {
        PEERS.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    }
    let chosen = chosen(&arguments.only)?;
    let plan = speed::Plan {
        callers: arguments.callers.clone(),
        rates: arguments.rates.clone(),
        time_ms: arguments.time_ms,
        rounds: if arguments.verdicts_only { 0 } else { arguments.rounds },
    };
    let takes = (plan.takes() + verdict::TAKES) * u32::try_from(chosen.len()).unwrap_or(u32::MAX);
    cleanup::watch(takes * 5 + Duration::from_secs(600));
    progress(&format!("{} peers, about {} minutes", chosen.len(), takes.as_secs().div_ceil(60)));
    let hardware = hardware::describe(&arguments.dir)?;
    let mut page = page::Page::new(hardware, arguments.commit.clone(), &plan);
    let (mut there, mut failures) = (Vec::new(), Vec::new());
    for (name, make) in chosen {
        let setup = Setup { dir: PathBuf::new(), funds: 0, plant: false };
        match make(&setup) {
            Ok(peer) => {
                page.peer(name, peer.about(), peer.version());
                there.push((name, make));
            }
            Err(why) => {
                progress(&format!("{name} is skipped: {why}"));
                page.skipped(name, &why);
            }
        }
    }
    for (name, make) in &there {
        let found = verdict::verdict(make, &arguments.dir).await;
        if let Err(why) = &found {
            failures.push(format!("{name}: {why}"));
        } else if let Ok(found) = &found
            && found.planted.findings.is_empty()
        {
            failures.push(format!("{name}: the planted fault was not found"));
        }
        progress(&format!("{name}: {}", page::in_a_line(&found)));
        page.verdict(name, found);
        page.write(&arguments.out)?;
    }
    let mut settings = speed::Settings::default();
    for round in 1..=plan.rounds {
        for (name, make) in &there {
            progress(&format!("round {round} of {}: {name}", plan.rounds));
            match speed::measure(name, make, &arguments.dir, &plan, &mut settings, &mut failures).await {
                Ok(cells) => page.cells(name, cells),
                Err(why) => {
                    progress(&format!("{name}: {why}"));
                    failures.push(format!("{name}: {why}"));
                }
            }
            page.settings(&settings);
            page.failures(&failures);
            page.write(&arguments.out)?;
        }
    }
    page.failures(&failures);
    page.write(&arguments.out)?;
    println!("{}", page.markdown());
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}

fn chosen(only: &[String]) -> Outcome<Vec<(&'static str, Make)>> {
    if let Some(unknown) = only.iter().find(|name| PEERS.iter().all(|(known, _)| known != name)) {
        return Err(format!("there is no peer {unknown}; --list names them"));
    }
    let is_chosen = |name: &str| only.is_empty() || only.iter().any(|chosen| chosen == name);
    Ok(PEERS.into_iter().filter(|(name, _)| is_chosen(name)).collect())
}

/// A program that a variable names, or else the one beside this program or in the directory above,
/// where `make contention` builds them.
pub(crate) fn program(variable: &str, name: &str) -> Outcome<PathBuf> {
    let path = match std::env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => beside(name)?,
    };
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!("{} is not there; {variable} names another", path.display()))
    }
}

/// A file beside this program.
pub(crate) fn beside(name: &str) -> Outcome<PathBuf> {
    let own = std::env::current_exe().map_err(|error| format!("this program cannot be found: {error}"))?;
    Ok(own.with_file_name(name))
}

/// Writes to stderr what is going on.
pub(crate) fn progress(what: &str) {
    eprintln!("… {what}");
}
