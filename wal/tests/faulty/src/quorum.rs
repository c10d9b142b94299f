//! A quorum in memory that fails as a network may: a question or an answer is lost, a transaction
//! is carried out late or twice, also after its answer, a client is cut off. The seam's promise is kept: a transaction is
//! carried out whole or not at all, and reads see one instant.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wal::cluster::{Change, Compare, Pair, Quorum, Read, Transaction, TransactionOutcome, Unanswered};

const UNANSWERED: Duration = Duration::from_millis(300);
const LATE_MS_MAX: u64 = 4_000;

/// So that clocks can be set back from here.
const EPOCH: Duration = Duration::from_secs(100_000);

type OnWait = Arc<dyn Fn(usize) + Send + Sync>;

/// Clones are the same client.
#[derive(Clone)]
pub struct MemoryQuorum {
    shared: Arc<Mutex<State>>,
    client: usize,
}

#[derive(Clone)]
pub struct QuorumFaults {
    shared: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    pairs: BTreeMap<Vec<u8>, Vec<u8>>,
    now: Duration,
    /// Parts of a thousand in which a call meets each fault.
    faults: [u64; 4],
    random: u64,
    late: Vec<(Duration, Transaction)>,
    cut: BTreeSet<usize>,
    set: BTreeMap<usize, i64>,
    on_wait: Option<OnWait>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answered,
    QuestionLost,
    AnswerLost,
    Late,
    /// Answered, and carried out once more later.
    Repeated,
}

impl MemoryQuorum {
    /// A client that meets no fault: a test that looks on.
    pub const WITNESS: usize = usize::MAX;

    pub fn new() -> MemoryQuorum {
        MemoryQuorum { shared: Arc::default(), client: 0 }
    }

    pub fn client(&self, client: usize) -> MemoryQuorum {
        MemoryQuorum { shared: Arc::clone(&self.shared), client }
    }

    pub fn faults(&self) -> QuorumFaults {
        QuorumFaults { shared: Arc::clone(&self.shared) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, time: Duration) {
        let on_wait = {
            let mut state = self.lock();
            state.advance(time);
            state.on_wait.clone()
        };
        if let Some(on_wait) = on_wait {
            on_wait(self.client);
        }
    }

    fn fate(&self) -> Fate {
        if self.client == MemoryQuorum::WITNESS {
            return Fate::Answered;
        }
        let mut state = self.lock();
        if state.cut.contains(&self.client) {
            return Fate::QuestionLost;
        }
        let [lost, unanswered, late, repeated] = state.faults;
        match state.random() % 1_000 {
            drawn if drawn < lost => Fate::QuestionLost,
            drawn if drawn < lost + unanswered => Fate::AnswerLost,
            drawn if drawn < lost + unanswered + late => Fate::Late,
            drawn if drawn < lost + unanswered + late + repeated => Fate::Repeated,
            _ => Fate::Answered,
        }
    }

    fn unanswered<T>(&self) -> Result<T, Unanswered> {
        self.wait(UNANSWERED);
        Err(Unanswered { why: "nobody answered".to_owned() })
    }
}

impl Default for MemoryQuorum {
    fn default() -> MemoryQuorum {
        MemoryQuorum::new()
    }
}

impl Quorum for MemoryQuorum {
    fn transact(&self, transaction: &Transaction) -> Result<TransactionOutcome, Unanswered> {
        match self.fate() {
            Fate::Answered => Ok(self.lock().transact(transaction)),
            Fate::QuestionLost => self.unanswered(),
            Fate::AnswerLost => {
                self.lock().transact(transaction);
                self.unanswered()
            }
            Fate::Late => {
                self.lock().do_later(transaction);
                self.unanswered()
            }
            Fate::Repeated => {
                let mut state = self.lock();
                state.do_later(transaction);
                Ok(state.transact(transaction))
            }
        }
    }

    fn read(&self, reads: &[Read]) -> Result<Vec<Vec<Pair>>, Unanswered> {
        match self.fate() {
            Fate::Answered | Fate::Repeated => Ok(self.lock().read(reads)),
            _ => self.unanswered(),
        }
    }

    fn compact(&self) {}

    fn now(&self) -> Duration {
        let state = self.lock();
        let set_ms = state.set.get(&self.client).copied().unwrap_or(0);
        let by = Duration::from_millis(set_ms.unsigned_abs());
        let began = state.now + EPOCH;
        if set_ms < 0 { began.saturating_sub(by) } else { began + by }
    }

    fn rest(&self, time: Duration) {
        self.wait(time);
    }
}

impl QuorumFaults {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Faults in so many of a thousand calls each.
    pub fn begin(&self, seed: u64, lost: u64, unanswered: u64, late: u64, repeated: u64) {
        let mut state = self.lock();
        state.random = seed;
        state.faults = [lost, unanswered, late, repeated];
    }

    pub fn end(&self) {
        let mut state = self.lock();
        state.faults = [0; 4];
        state.cut.clear();
        for (_, late) in std::mem::take(&mut state.late) {
            state.transact(&late);
        }
    }

    pub fn cut(&self, client: usize, is_cut: bool) {
        let mut state = self.lock();
        if is_cut {
            state.cut.insert(client);
        } else {
            state.cut.remove(&client);
        }
    }

    pub fn set_clock(&self, client: usize, by_ms: i64) {
        *self.lock().set.entry(client).or_default() += by_ms;
    }

    pub fn advance(&self, time: Duration) {
        self.lock().advance(time);
    }

    pub fn on_wait(&self, on_wait: impl Fn(usize) + Send + Sync + 'static) {
        self.lock().on_wait = Some(Arc::new(on_wait));
    }

    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.lock().pairs.get(key).cloned()
    }

    pub fn len(&self) -> usize {
        self.lock().pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl State {
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn advance(&mut self, time: Duration) {
        self.now += time;
        let now = self.now;
        let (due, later) = std::mem::take(&mut self.late).into_iter().partition(|(at, _)| *at <= now);
        self.late = later;
        let due: Vec<(Duration, Transaction)> = due;
        for (_, transaction) in due {
            self.transact(&transaction);
        }
    }

    fn do_later(&mut self, transaction: &Transaction) {
        let at = self.now + Duration::from_millis(self.random() % LATE_MS_MAX);
        self.late.push((at, transaction.clone()));
    }

    fn transact(&mut self, transaction: &Transaction) -> TransactionOutcome {
        let holds = transaction.compare.iter().all(|compare| match compare {
            Compare::Is(key, value) => self.pairs.get(key) == Some(value),
            Compare::Absent(key) => !self.pairs.contains_key(key),
        });
        if !holds {
            return TransactionOutcome::Refused(self.read(&transaction.otherwise));
        }
        for change in &transaction.then {
            match change {
                Change::Put(key, value) => {
                    self.pairs.insert(key.clone(), value.clone());
                }
                Change::Delete(key) => {
                    self.pairs.remove(key);
                }
                Change::DeleteRange(from, to) => {
                    self.pairs.retain(|key, _| key < from || key >= to);
                }
            }
        }
        TransactionOutcome::Done
    }

    fn read(&self, reads: &[Read]) -> Vec<Vec<Pair>> {
        let one = |read: &Read| match read {
            Read::Key(key) => self.pairs.get_key_value(key).map(owned).into_iter().collect(),
            Read::Range { from, to, limit, keys_only } => {
                let limit = if *limit == 0 { usize::MAX } else { *limit };
                let bare = |(key, value): Pair| (key, if *keys_only { Vec::new() } else { value });
                self.pairs.range(from.clone()..to.clone()).take(limit).map(owned).map(bare).collect()
            }
        };
        reads.iter().map(one).collect()
    }
}

fn owned((key, value): (&Vec<u8>, &Vec<u8>)) -> Pair {
    (key.clone(), value.clone())
}
