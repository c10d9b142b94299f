//! Everything that a seed decides, and what must hold whatever it decided.

use super::machine::{FAILOVER, Machine, Role, Turn};
use faulty::{MemoryQuorum, QuorumFaults};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use wal::cluster::{Following, Founded, Keys, Quorum, Standing, found};
use wal::{Reader, Tip};

const MACHINES: usize = 3;
const STEPS: u64 = 220;
/// Turns within which a calm cluster has to come to rest.
const CALM_TURNS: u64 = 600;

/// What does not hold.
#[derive(Debug)]
pub struct Broken(pub String);

/// What a run came to.
#[derive(Debug, Default)]
pub struct Sum {
    pub acknowledged: u64,
    pub takeovers: u64,
}

/// A seeded source of choices.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// The history that was seen from outside.
#[derive(Default)]
struct History {
    /// The sequence under which each payload was acknowledged.
    acknowledged: BTreeMap<u64, u64>,
    takeovers: u64,
    broken: Option<String>,
}

pub struct Universe {
    quorum: MemoryQuorum,
    faults: QuorumFaults,
    shared: Arc<Shared>,
    dice: Dice,
    payloads: u64,
}

struct Shared {
    machines: Vec<Mutex<Machine>>,
    history: Mutex<History>,
    dice: Mutex<Dice>,
    quorum: MemoryQuorum,
}

impl Shared {
    /// The turn of a machine, unless it is in the middle of one, or paused.
    fn turn(&self, number: usize) {
        let Ok(mut machine) = self.machines[number].try_lock() else { return };
        if machine.paused_until > self.quorum.now() {
            return;
        }
        let turned = machine.turn();
        self.note(turned);
    }

    fn note(&self, turned: Result<Turn, Broken>) {
        let mut history = self.history.lock().expect("nobody panics with it");
        match turned {
            Ok(turn) => {
                history.takeovers += u64::from(turn.took_over);
                for (payload, seq) in turn.acknowledged {
                    history.acknowledged.insert(payload, seq);
                }
            }
            Err(Broken(why)) => history.broken = Some(why),
        }
    }
}

impl Universe {
    pub fn new(seed: u64, canary: bool) -> Universe {
        let quorum = MemoryQuorum::new();
        let founding = Founded { fingerprint: "f".to_owned(), id: "i".to_owned(), stores: None };
        found(&quorum, &Keys::new("main"), (&founding, 1), "n0", 1, Tip::default()).expect("it is new");
        let machines =
            (0..MACHINES).map(|number| Mutex::new(Machine::new(number, &quorum, canary))).collect();
        let shared = Arc::new(Shared {
            machines,
            history: Mutex::default(),
            dice: Mutex::new(Dice(seed ^ 0xD1CE)),
            quorum: quorum.client(MACHINES),
        });
        let faults = quorum.faults();
        let others: Weak<Shared> = Arc::downgrade(&shared);
        faults.on_wait(move |_| {
            let Some(shared) = others.upgrade() else { return };
            let number = shared.dice.lock().expect("nobody panics with it").roll(MACHINES as u64);
            shared.turn(number as usize);
        });
        let mut dice = Dice(seed);
        // Some seeds have a calm network, some a bad one.
        let bad = dice.roll(4);
        faults.begin(seed, 30 * bad, 40 * bad, 20 * bad, 40 * bad);
        Universe { quorum: shared.quorum.clone(), faults, shared, dice, payloads: 0 }
    }

    /// Runs the seed, lets everything heal, and checks what must hold.
    pub fn run(mut self) -> Result<Sum, Broken> {
        for _ in 0..STEPS {
            self.step()?;
        }
        self.heal();
        self.come_to_rest()?;
        self.check()
    }

    fn step(&mut self) -> Result<(), Broken> {
        self.faults.advance(Duration::from_millis(5 + self.dice.roll(120)));
        let number = self.dice.roll(MACHINES as u64) as usize;
        match self.dice.roll(100) {
            0..30 => self.ask(),
            30..32 => self.with(number, |machine| machine.role = Role::Down),
            32..34 => {
                let until = self.quorum.now() + Duration::from_millis(self.dice.roll(5_000));
                self.with(number, |machine| machine.paused_until = until);
            }
            34..36 => self.faults.cut(number, true),
            36..42 => self.faults.cut(number, false),
            42..43 => self.with(number, |machine| machine.refuse_write()),
            43..50 => self.read(number)?,
            50..53 => self.set_clock(number),
            53..55 => self.with(number, Machine::stop),
            _ => self.shared.turn(number),
        }
        self.confirmed_reads()?;
        self.prefixes()
    }

    /// A machine's clock jumps, forward or back: it may try too early or too late, and nothing else.
    fn set_clock(&mut self, number: usize) {
        let by_ms = i64::try_from(self.dice.roll(20_000)).expect("it is small") - 10_000;
        self.faults.set_clock(number, by_ms);
    }

    fn with(&self, number: usize, what: impl FnOnce(&mut Machine)) {
        what(&mut self.shared.machines[number].lock().expect("nobody panics with it"));
    }

    /// Every machine that believes that it leads is asked for a record.
    fn ask(&mut self) {
        for number in 0..MACHINES {
            self.payloads += 1;
            let payload = self.payloads;
            self.with(number, |machine| machine.ask(payload));
        }
    }

    /// A read that the leader confirms has everything that was acknowledged before it began, whether
    /// it asks by itself or waits for the answer to whatever the leader asks next.
    fn read(&self, number: usize) -> Result<(), Broken> {
        let mut machine = self.shared.machines[number].lock().expect("nobody panics with it");
        let Role::Leads(leads) = &mut machine.role else { return Ok(()) };
        let before = self.acknowledged();
        let has = leads.log.durable_seq();
        leads.reads.push((leads.leader.asked(), before));
        let asks = self.shared.dice.lock().expect("nobody panics with it").roll(2) == 0;
        match if asks { leads.leader.confirm() } else { Ok(Standing::Lost) } {
            Ok(Standing::Ours) if has < before => Err(misses(has, before)),
            _ => Ok(()),
        }
    }

    /// The reads that an answer has confirmed since.
    fn confirmed_reads(&self) -> Result<(), Broken> {
        for machine in &self.shared.machines {
            let mut machine = machine.lock().expect("nobody panics with it");
            let Role::Leads(leads) = &mut machine.role else { continue };
            let has = leads.log.durable_seq();
            let (confirmed, waiting) = std::mem::take(&mut leads.reads)
                .into_iter()
                .partition(|(asked, _)| leads.leader.is_confirmed_since(*asked));
            leads.reads = waiting;
            let confirmed: Vec<(u64, u64)> = confirmed;
            if let Some((_, before)) = confirmed.into_iter().find(|(_, before)| has < *before) {
                return Err(misses(has, before));
            }
        }
        Ok(())
    }

    fn acknowledged(&self) -> u64 {
        let history = self.shared.history.lock().expect("nobody panics with it");
        history.acknowledged.values().copied().max().unwrap_or(0)
    }

    /// No local log is ahead of the agreed one.
    fn prefixes(&self) -> Result<(), Broken> {
        if let Some(why) = self.shared.history.lock().expect("nobody panics with it").broken.take() {
            return Err(Broken(why));
        }
        let agreed = self.agreed_seq();
        for machine in &self.shared.machines {
            let machine = machine.lock().expect("nobody panics with it");
            if machine.tip().is_some_and(|tip| tip.seq > agreed) {
                return Err(Broken(format!("machine {} is ahead of the agreed log", machine.number)));
            }
        }
        Ok(())
    }

    fn agreed_seq(&self) -> u64 {
        let value = self.faults.get(b"/pasarela/main/tip").unwrap_or_default();
        let text = String::from_utf8(value).unwrap_or_default();
        text.split(' ').next().and_then(|seq| seq.parse().ok()).unwrap_or(0)
    }

    fn heal(&self) {
        self.faults.end();
        for number in 0..MACHINES {
            self.with(number, |machine| machine.paused_until = Duration::ZERO);
        }
    }

    /// Turns until one leads, a last record is acknowledged, and all have it.
    fn come_to_rest(&mut self) -> Result<(), Broken> {
        let mut last = None;
        for turn in 0..CALM_TURNS {
            self.faults.advance(FAILOVER / 20);
            if turn % 50 == 40 {
                self.ask();
                last = Some(self.payloads);
            }
            for number in 0..MACHINES {
                self.shared.turn(number);
            }
            self.prefixes()?;
            let tips: Vec<Option<Tip>> =
                self.shared.machines.iter().map(|machine| machine.lock().expect("whole").tip()).collect();
            let history = self.shared.history.lock().expect("nobody panics with it");
            // One of the last payloads, one for each machine, was the leader's.
            let is_there = last.is_some_and(|last| {
                (last - 2..=last).any(|payload| history.acknowledged.contains_key(&payload))
            });
            if is_there && tips.iter().all(|tip| *tip == tips[0]) {
                return Ok(());
            }
        }
        Err(Broken("a calm cluster does not come to rest".to_owned()))
    }

    fn check(&self) -> Result<Sum, Broken> {
        let history = self.shared.history.lock().expect("nobody panics with it");
        for machine in &self.shared.machines {
            let machine = machine.lock().expect("nobody panics with it");
            let reader = match &machine.role {
                Role::Standby(standby) => standby.log.reader(),
                Role::Leads(leads) => leads.log.reader(),
                Role::Down => return Err(Broken("a machine is down after the calm".to_owned())),
            };
            reader.verify(&mut |_, _| {}).map_err(|damage| Broken(damage.to_string()))?;
            check_log(&reader, &history)?;
        }
        self.check_agreed()?;
        Ok(Sum { acknowledged: history.acknowledged.len() as u64, takeovers: history.takeovers })
    }

    /// A newcomer that reads the agreed log from its start comes to the same end.
    fn check_agreed(&self) -> Result<(), Broken> {
        let newcomer = Following::new(Arc::new(self.quorum.client(9)), Keys::new("main"), "n9");
        let mut tip = Tip::default();
        loop {
            let seen = newcomer.look(tip).map_err(|error| Broken(error.to_string()))?;
            match seen.batches.last() {
                Some(last) => tip = last.tip,
                None if tip == seen.tip.tip => return Ok(()),
                None => return Err(Broken("the agreed log ends before its tip".to_owned())),
            }
        }
    }
}

/// Every acknowledged payload is where it was acknowledged, and no payload is there twice.
fn check_log(reader: &Reader, history: &History) -> Result<(), Broken> {
    let mut found: BTreeMap<u64, u64> = BTreeMap::new();
    for stored in reader.records(1, None) {
        let stored = stored.map_err(|error| Broken(error.to_string()))?;
        let payload = u64::from_le_bytes(stored.payload.try_into().expect("eight bytes"));
        if found.insert(payload, stored.seq).is_some() {
            return Err(Broken(format!("payload {payload} is in the log twice")));
        }
    }
    for (payload, seq) in &history.acknowledged {
        if found.get(payload) != Some(seq) {
            return Err(Broken(format!(
                "payload {payload} was acknowledged as record {seq} and is not there"
            )));
        }
    }
    Ok(())
}

fn misses(has: u64, before: u64) -> Broken {
    Broken(format!("a confirmed read at {has} misses {before}, which was acknowledged"))
}
