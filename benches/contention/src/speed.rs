//! How fast a peer is: closed loops at several numbers of callers, open loops at several rates, on
//! fresh data every round. After each cell the balance is held against what was acknowledged.

use crate::cleanup::Scratch;
use crate::loader::{self, Load, Seen};
use crate::peer::{Peer, Setup};
use crate::peers::Make;
use crate::table::{grouped, per_second};
use crate::verdict::start;
use crate::{Outcome, progress};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The balance at first: enough for every run.
const FUNDS: i64 = 90_000_000_000_000;
/// The minor units of a debit.
const MINOR: i64 = 100;
/// The time before what counts.
const WARM_UP_MS: u64 = 500;
/// The time for which a setting is tried, and the callers meanwhile.
const TRIAL_MS: u64 = 800;
const TRIAL_CALLERS: usize = 64;
/// Callers of an open loop.
const OPEN_CALLERS: usize = 256;
/// Debits that may be under way at once; cells beyond it are not measured.
const UNDER_WAY_MAX: usize = 600_000;
/// Calls that an open loop makes at least; rates below it are not measured.
const CALLS_MIN: u64 = 20;
/// Ids of a cell: more than it can use.
const IDS: u64 = 1 << 32;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Callers of closed loops.
    pub callers: Vec<usize>,
    /// Debits a second of open loops.
    pub rates: Vec<u64>,
    /// Milliseconds that count.
    pub time_ms: u64,
    /// Rounds.
    pub rounds: usize,
}

/// A cell: closed at so many callers, or open at such a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// A closed loop of so many callers.
    Closed(usize),
    /// An open loop at so many debits a second.
    Open(u64),
}

/// The setting that was the best of each peer, by its number and its name.
#[derive(Clone, Debug, Default)]
pub struct Settings(pub BTreeMap<String, (usize, String)>);

impl Plan {
    /// The approximate time for one peer.
    pub fn takes(&self) -> Duration {
        let cells = (self.callers.len() + self.rates.len()) as u64;
        let starts =
            Duration::from_secs(3) + Duration::from_millis(cells * (self.time_ms + WARM_UP_MS + 300));
        starts * u32::try_from(self.rounds).unwrap_or(u32::MAX)
    }

    fn cells(&self) -> Vec<Cell> {
        let closed = self.callers.iter().map(|callers| Cell::Closed(*callers));
        closed.chain(self.rates.iter().map(|rate| Cell::Open(*rate))).collect()
    }
}

/// Measures all cells of a peer once; `failures` gets those that could not be.
pub async fn measure(
    name: &str,
    make: &Make,
    dir: &Path,
    plan: &Plan,
    settings: &mut Settings,
    failures: &mut Vec<String>,
) -> Outcome<Vec<(Cell, Seen)>> {
    let scratch = Scratch::new(dir, "speed")?;
    let peer = make(&Setup { dir: scratch.path().to_owned(), funds: FUNDS, plant: false })?;
    start(&*peer).await?;
    let mut run = Run { peer: &*peer, first_id: 1, spent: 0 };
    let names = peer.settings();
    match settings.0.get(name) {
        Some((nth, _)) => peer.take(*nth),
        None if !names.is_empty() => {
            let mut best = (0, 0);
            for (nth, setting) in names.iter().enumerate() {
                peer.take(nth);
                let seen = run.load(TRIAL_CALLERS, TRIAL_MS, None).await?;
                progress(&format!("{name}, {setting}: {}/s", grouped(rate(&seen))));
                best = best.max((rate(&seen), nth));
            }
            peer.take(best.1);
            settings.0.insert(name.to_owned(), (best.1, names[best.1].clone()));
        }
        None => {}
    }
    let mut cells = Vec::new();
    for cell in plan.cells() {
        let per_call = peer.about().per_call;
        let is_open_enough = |rate: u64| rate * plan.time_ms / 1_000 >= CALLS_MIN * per_call as u64;
        let seen = match cell {
            Cell::Closed(callers) if callers * per_call <= UNDER_WAY_MAX => {
                run.load(callers, plan.time_ms, None)
            }
            Cell::Open(rate) if is_open_enough(rate) => {
                run.load(OPEN_CALLERS.min(UNDER_WAY_MAX / per_call), plan.time_ms, Some(rate))
            }
            Cell::Closed(_) | Cell::Open(_) => continue,
        };
        match seen.await {
            Ok(seen) => {
                progress(&format!(
                    "{name}, {cell:?}: {}/s, p99 {} µs",
                    grouped(rate(&seen)),
                    grouped(seen.us[1])
                ));
                cells.push((cell, seen));
            }
            Err(why) => {
                progress(&format!("{name}, {cell:?}: {why}"));
                failures.push(format!("{name}, {cell:?}: {why}"));
            }
        }
    }
    peer.kill();
    Ok(cells)
}

/// Debits a second.
pub fn rate(seen: &Seen) -> u64 {
    per_second(seen.done, Duration::from_millis(seen.time_ms))
}

struct Run<'a> {
    peer: &'a dyn Peer,
    first_id: u64,
    /// Minor units that are gone.
    spent: i64,
}

impl Run<'_> {
    async fn load(&mut self, callers: usize, time_ms: u64, rate: Option<u64>) -> Outcome<Seen> {
        let per_call = self.peer.about().per_call;
        let load =
            Load { per_call, minor: MINOR, first_id: self.first_id, warm_up_ms: WARM_UP_MS, time_ms, rate };
        self.first_id += IDS;
        let seen = match self.peer.drive(callers, load) {
            Some(seen) => seen.await?,
            None => loader::run(self.peer.open(callers).await?, load).await?,
        };
        let before = FUNDS - self.spent;
        let balance = self.peer.balance().await?;
        self.spent = FUNDS - balance;
        if seen.failed > 0 {
            return Err(format!(
                "{} debits of {} were not done",
                seen.failed,
                seen.failed + seen.done_in_all
            ));
        }
        let due = before - MINOR * seen.done_in_all as i64;
        if balance != due {
            return Err(format!("the balance is {balance} and was to be {due}"));
        }
        Ok(seen)
    }
}
