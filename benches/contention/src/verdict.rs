//! A history of a peer under SIGKILL, and one with its planted fault, both judged.

use crate::Outcome;
use crate::cleanup::Scratch;
use crate::judge::{History, Verdict, judge};
use crate::loader::{self, Call, Notes, Storm, What};
use crate::peer::{Driven, Peer, Setup};
use crate::peers::Make;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The approximate time of both histories.
pub const TAKES: Duration = Duration::from_secs(12);

/// Debits that the balance suffices for. A quarter more are asked for.
const DEBITS: u64 = 8_000;
/// The minor units of each.
const MINOR: i64 = 100;
/// Who debits, and who reads the balance meanwhile.
const CALLERS: usize = 32;
const READERS: usize = 2;
/// Debits in a call at most, so that there are many calls.
const PER_CALL_MAX: usize = 50;
/// Debits a second at most, so that kills come while there are some under way.
const PACE: u64 = 4_000;
/// Kills of a history.
const KILLS: u64 = 3;
/// The time after which a history ends whatever happens.
const TIME_MS: u64 = 90_000;
/// Tries of a start: what was killed may not be gone yet.
const STARTS: usize = 5;

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// Of the peer as it is, killed so often.
    pub killed: Verdict,
    /// Kills that it survived.
    pub kills: usize,
    /// Of the peer with its planted fault.
    pub planted: Verdict,
}

/// Calls that are noted in memory.
#[derive(Default)]
struct InMemory(Mutex<Vec<Call>>);

impl Notes for InMemory {
    fn asked(&self, _id: u64, _at: u64) {}

    fn answered(&self, call: Call) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
}

/// Records both histories, and judges them.
pub async fn verdict(make: &Make, dir: &Path) -> Outcome<Found> {
    let (planted, _) = history(make, dir, true).await.map_err(|why| format!("with its fault: {why}"))?;
    let (killed, kills) = history(make, dir, false).await?;
    Ok(Found { killed, kills, planted })
}

async fn history(make: &Make, dir: &Path, plant: bool) -> Outcome<(Verdict, usize)> {
    let scratch = Scratch::new(dir, "history")?;
    let funds = MINOR * DEBITS as i64;
    let peer = make(&Setup { dir: scratch.path().to_owned(), funds, plant })?;
    start(&*peer).await?;
    let storm = Storm {
        per_call: peer.about().per_call.min(PER_CALL_MAX),
        minor: MINOR,
        first_id: 1,
        asks: DEBITS * 5 / 4,
        pace: PACE,
        time_ms: TIME_MS,
        readers: READERS,
        again: Vec::new(),
    };
    let kills = if plant { 0 } else { KILLS };
    let kill_at: Vec<u64> = (1..=kills).map(|nth| DEBITS * nth / (KILLS + 1)).collect();
    let driven = match peer.drive_storm(CALLERS + READERS, storm.clone(), kill_at.clone()) {
        Some(driven) => driven.await?,
        None => from_here(&*peer, storm, kill_at).await?,
    };
    // What is there is what is there after one more start.
    peer.kill();
    start(&*peer).await?;
    let asked: Vec<u64> = driven
        .calls
        .iter()
        .filter_map(|call| match call.what {
            What::Debit(id, _) => Some(id),
            What::Read(_) => None,
        })
        .collect();
    let balance = peer.balance().await?;
    let debited = peer.debited(&asked).await?;
    peer.kill();
    let verdict = judge(&History { funds, minor: MINOR, calls: driven.calls, balance, debited });
    if !plant && verdict.refused == 0 {
        return Err(format!("nothing was refused, so the balance was not used up: {verdict:?}"));
    }
    if driven.kills < usize::try_from(kills).unwrap_or(0) {
        return Err(format!("it was killed {} times, not {kills}: {verdict:?}", driven.kills));
    }
    Ok((verdict, driven.kills))
}

/// A storm whose callers are in this process, and which kills the peer meanwhile.
async fn from_here(peer: &dyn Peer, storm: Storm, kill_at: Vec<u64>) -> Outcome<Driven> {
    let callers = peer.open(CALLERS + READERS).await?;
    let (notes, done) = (Arc::new(InMemory::default()), Arc::new(AtomicU64::new(0)));
    let running = tokio::spawn(loader::storm(callers, storm, notes.clone(), Arc::clone(&done)));
    let mut kills = 0;
    while !running.is_finished() {
        if kill_at.get(kills).is_some_and(|at| done.load(Ordering::Relaxed) >= *at) {
            peer.kill();
            start(peer).await?;
            kills += 1;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    running.await.map_err(|error| error.to_string())??;
    let calls = std::mem::take(&mut *notes.0.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Driven { calls, kills })
}

/// Starts a peer; what was killed a moment ago may still be in the way.
pub async fn start(peer: &dyn Peer) -> Outcome<()> {
    let mut started = peer.start().await;
    for _ in 1..STARTS {
        if started.is_ok() {
            break;
        }
        peer.kill();
        tokio::time::sleep(Duration::from_millis(300)).await;
        started = peer.start().await;
    }
    started
}
