//! One machine of the simulated cluster: a standby that follows, a leader that appends, or a process
//! that is down.

use super::universe::Broken;
use crate::{Pending, Reply, append, record};
use faulty::{MemoryQuorum, MemoryStore, Refusal};
use std::sync::Arc;
use std::time::Duration;
use wal::cluster::{
    Agreed, Agreement, Appender, Epoch, Following, Leader, LookError, Patience, Proposal, Seen, Silence,
    Standing,
};
use wal::{Append, Config, Log, Stepper, Store, Tip};

pub const FAILOVER: Duration = Duration::from_millis(1_500);
const DOUBT: Duration = Duration::from_millis(250);
const GAP_MAX: Duration = Duration::from_millis(600);
const PATIENCE: Patience = Patience { total: Duration::from_millis(2_500), pause: Duration::from_millis(50) };

/// A machine with its disk.
pub struct Machine {
    pub number: usize,
    pub following: Following,
    pub store: MemoryStore,
    pub role: Role,
    pub paused_until: Duration,
    canary: bool,
    tokens: u64,
}

pub enum Role {
    Standby(Standby),
    Leads(Box<Leads>),
    Down,
}

pub struct Standby {
    pub log: Log<Reply>,
    stepper: Stepper,
    silence: Silence,
}

pub struct Leads {
    pub leader: Leader,
    pub log: Log<Reply>,
    pub stepper: Stepper,
    /// What was appended and not answered: the payload and its completion.
    pub asked: Vec<(u64, Pending)>,
    /// Reads that wait for any question's answer: the questions asked before them, and the highest
    /// sequence that had been acknowledged.
    pub reads: Vec<(u64, u64)>,
    beats: u64,
}

/// What a turn came to.
#[derive(Default)]
pub struct Turn {
    /// Payloads that were acknowledged, with their sequence.
    pub acknowledged: Vec<(u64, u64)>,
    pub took_over: bool,
}

/// The bug that the tests must find: it does not wait for an answer.
struct Hasty(Appender);

impl Agreement for Hasty {
    fn agree(&mut self, proposal: &Proposal<'_>) -> Agreed {
        match self.0.agree(proposal) {
            Agreed::Unknown(_) => Agreed::Committed,
            known => known,
        }
    }
}

impl Machine {
    pub fn new(number: usize, quorum: &MemoryQuorum, canary: bool) -> Machine {
        let quorum = Arc::new(quorum.client(number));
        let keys = wal::cluster::Keys::new("main");
        Machine {
            number,
            following: Following::new(quorum, keys, &format!("n{number}")),
            store: MemoryStore::new(),
            role: Role::Down,
            paused_until: Duration::ZERO,
            canary,
            tokens: 0,
        }
    }

    /// Starts the process anew on what its disk has.
    pub fn start(&mut self) {
        self.store = self.store.copy();
        let stepper = Stepper::new(|| {});
        let store: Arc<dyn Store> = Arc::new(self.store.clone());
        let log = Log::open_with(store, Config::default(), None, Some(stepper.clone()), None);
        let log = log.expect("a disk that keeps its promise opens");
        self.role = Role::Standby(Standby { log, stepper, silence: Silence::default() });
    }

    /// The end of the local log; `None` while the process is down.
    pub fn tip(&self) -> Option<Tip> {
        match &self.role {
            Role::Standby(standby) => Some(standby.log.reader().tip()),
            Role::Leads(leads) => Some(leads.log.reader().tip()),
            Role::Down => None,
        }
    }

    /// Has the disk refuse its next write.
    pub fn refuse_write(&self) {
        self.store.faults().refuse_write(1, Refusal::NotStored);
    }

    /// Appends a payload if this machine believes that it leads.
    pub fn ask(&mut self, payload: u64) {
        if let Role::Leads(leads) = &mut self.role {
            let asked = append(&leads.log, record(1, &payload.to_le_bytes()));
            leads.asked.push((payload, asked));
        }
    }

    /// Ends the process in good order: a leader lets the log go.
    pub fn stop(&mut self) {
        if let Role::Leads(leads) = &self.role {
            let _ = leads.leader.appoint(Epoch::ANYBODY);
        }
        self.role = Role::Down;
    }

    /// One turn of the process.
    pub fn turn(&mut self) -> Result<Turn, Broken> {
        match &mut self.role {
            Role::Down => {
                self.start();
                Ok(Turn::default())
            }
            Role::Standby(_) => self.stand_by(),
            Role::Leads(_) => Ok(self.lead()),
        }
    }

    fn lead(&mut self) -> Turn {
        let Role::Leads(leads) = &mut self.role else { return Turn::default() };
        while leads.stepper.step() {}
        let mut turn = Turn::default();
        leads.asked.retain(|(payload, asked)| match asked.outcome() {
            Some(Ok(durable)) => {
                turn.acknowledged.push((*payload, durable.seq));
                false
            }
            Some(Err(_)) => false,
            None => true,
        });
        leads.beats += 1;
        let standing = leads.leader.beat(leads.beats, true, Vec::new());
        if standing == Ok(Standing::Lost) || leads.log.poisoned().is_some() {
            self.start();
        }
        turn
    }

    fn stand_by(&mut self) -> Result<Turn, Broken> {
        let Role::Standby(standby) = &mut self.role else { return Ok(Turn::default()) };
        let local = standby.log.reader().tip();
        let quorum = Arc::clone(&self.following.quorum);
        let seen = match self.following.look(local) {
            Ok(seen) => seen,
            Err(LookError::Unanswered(_)) => {
                standby.silence.failed();
                return Ok(Turn::default());
            }
            Err(error) => return Err(Broken(format!("machine {}: {error}", self.number))),
        };
        standby.silence.looked(quorum.now(), &seen, GAP_MAX);
        if !follow(standby, &seen)? {
            self.start(); // its disk refused
            return Ok(Turn::default());
        }
        let now = quorum.now();
        // In one half of the time it believes that the leader has died.
        let is_in_doubt = now.as_secs() / 4 % 2 == 1;
        let is_silent = standby.silence.lasts(now) >= if is_in_doubt { DOUBT } else { FAILOVER };
        let is_due = is_silent || seen.epoch.appoints(&format!("n{}", self.number));
        if is_due { self.take_over(&seen) } else { Ok(Turn::default()) }
    }

    fn take_over(&mut self, seen: &Seen) -> Result<Turn, Broken> {
        self.tokens += 1;
        let token = format!("{}-{}", self.number, self.tokens);
        let Ok(Some(leader)) = self.following.take(seen, &token) else { return Ok(Turn::default()) };
        let Role::Standby(standby) = &mut self.role else { return Ok(Turn::default()) };
        // What was agreed on until the epoch was taken is caught up with; nobody appends after it.
        let seen = loop {
            match self.following.look(standby.log.reader().tip()) {
                Ok(seen) if seen.epoch != leader.epoch => {
                    self.start();
                    return Ok(Turn::default());
                }
                Ok(seen) if seen.batches.is_empty() => break seen,
                Ok(seen) => {
                    if !follow(standby, &seen)? {
                        self.start();
                        return Ok(Turn::default());
                    }
                }
                Err(LookError::Unanswered(_)) => {}
                Err(error) => return Err(Broken(format!("machine {}: {error}", self.number))),
            }
        };
        self.open(leader, &seen);
        Ok(Turn { took_over: true, ..Turn::default() })
    }

    fn open(&mut self, leader: Leader, seen: &Seen) {
        if let Role::Standby(standby) = std::mem::replace(&mut self.role, Role::Down) {
            standby.log.close();
        }
        let stepper = Stepper::new(|| {});
        let appender = leader.appender(seen.tip, PATIENCE);
        let agreement: Box<dyn Agreement> =
            if self.canary { Box::new(Hasty(appender)) } else { Box::new(appender) };
        let store = Arc::new(self.store.clone());
        let log = Log::open_with(store, Config::default(), None, Some(stepper.clone()), Some(agreement));
        let log = log.expect("a disk that keeps its promise opens");
        self.role = Role::Leads(Box::new(Leads {
            leader,
            log,
            stepper,
            asked: Vec::new(),
            reads: Vec::new(),
            beats: 0,
        }));
    }
}

/// Applies what was seen; false if the disk refused.
fn follow(standby: &mut Standby, seen: &Seen) -> Result<bool, Broken> {
    for batch in &seen.batches {
        for stored in &batch.records {
            let again = Append {
                tenant: stored.tenant,
                time_ms: stored.time_ms,
                payload: stored.payload.clone(),
                ..Append::default()
            };
            drop(append(&standby.log, again));
        }
        while standby.stepper.step() {}
        if standby.log.poisoned().is_some() {
            return Ok(false);
        }
        if standby.log.reader().tip() != batch.tip {
            return Err(Broken(format!("a standby came to another tip after record {}", batch.tip.seq)));
        }
    }
    Ok(true)
}
