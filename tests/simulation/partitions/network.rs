//! What leaders of partitions say to each other, on its way: lost, late, in another order, twice.

use super::universe::Dice;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::oneshot;

pub type Said = Result<Vec<u8>, String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    Platform,
    Copy,
    Records,
}

/// A node, and one of its processes by the partition.
pub type Place = (usize, u8);

/// A question that has arrived.
#[derive(Clone, Debug)]
pub struct Question {
    pub to: Place,
    pub path: Path,
    pub body: Vec<u8>,
    /// Under which the answer goes back; whoever asked a second time by no will of its own gets none.
    pub slot: Option<u64>,
}

enum Letter {
    Question(Question),
    Answer(u64, Said),
}

#[derive(Default)]
struct State {
    dice: Dice,
    now: Duration,
    /// Of a hundred letters so many are lost, and as many are late or come twice.
    bad: u64,
    letters: Vec<(Duration, u64, Letter)>,
    /// Who waits for which answer.
    waiting: HashMap<u64, (Place, oneshot::Sender<Said>)>,
    sent: u64,
}

pub struct Network(Mutex<State>);

impl Network {
    pub fn new(seed: u64) -> Network {
        Network(Mutex::new(State { dice: Dice(seed), ..State::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nobody panics with it")
    }

    pub fn be_bad(&self, bad: u64) {
        self.lock().bad = bad;
    }

    pub fn ask(&self, (from, to): (Place, Place), path: Path, body: Vec<u8>) -> oneshot::Receiver<Said> {
        let (give, take) = oneshot::channel();
        let mut state = self.lock();
        let slot = state.sent;
        state.waiting.insert(slot, (from, give));
        let question = Question { to, path, body, slot: Some(slot) };
        if state.is_unlucky() {
            state.post(Letter::Question(Question { slot: None, ..question.clone() }));
        }
        state.post(Letter::Question(question));
        take
    }

    pub fn answer(&self, slot: Option<u64>, said: Said) {
        if let Some(slot) = slot {
            self.lock().post(Letter::Answer(slot, said));
        }
    }

    /// The questions that arrive by now, and who got an answer.
    pub fn arrived(&self, now: Duration) -> (Vec<Question>, Vec<Place>) {
        let mut state = self.lock();
        state.now = now;
        let (mut due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut state.letters).into_iter().partition(|(at, ..)| *at <= now);
        state.letters = later;
        due.sort_by_key(|(at, number, _)| (*at, *number));
        let (mut questions, mut answered) = (Vec::new(), Vec::new());
        for (_, _, letter) in due {
            match letter {
                Letter::Question(question) => questions.push(question),
                Letter::Answer(slot, said) => {
                    // Whoever waited may be gone.
                    let Some((place, to)) = state.waiting.remove(&slot) else { continue };
                    let _ = to.send(said);
                    answered.push(place);
                }
            }
        }
        (questions, answered)
    }
}

impl State {
    fn is_unlucky(&mut self) -> bool {
        self.dice.roll(100) < self.bad
    }

    fn post(&mut self, letter: Letter) {
        self.sent += 1;
        if self.is_unlucky() {
            return;
        }
        let slow = if self.is_unlucky() { 4_000 } else { 40 };
        let at = self.now + Duration::from_millis(1 + self.dice.roll(slow));
        self.letters.push((at, self.sent, letter));
    }
}
