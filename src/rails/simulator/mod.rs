//! The bank of test mode (`docs/contract.md, 4.5`) is another party: what it did is in books of its
//! own, which a crash of the gateway does not touch, and which show whether the gateway ever sent
//! an operation twice. It answers at once, without a task or a timer, unless it is told to be slow.

pub mod books;
mod collection;
mod fate;

use crate::disk::Disk;
use crate::rails::{BoxFuture, Call, Order, Rail, RailAnswer};
use books::Books;
pub use books::{AgreedBooks, BooksError, Decided};
use domain::values::money::Ves;
use fate::{Fate, Refusal};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use uuid::Uuid;

pub const MICRO_DEPOSITS: (Ves, Ves) = (Ves::from_minor(32), Ves::from_minor(45));

const FULL_REFERENCE: &str = "7700";

/// Operations that can be looked up and written at the same time.
const STRIPES: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Whoever asks about an order that is not answered yet hears the opposite.
    Contradicts,
    /// An order that never arrived does not arrive when it is sent again either.
    Loses,
    /// The same transfer is found under its full reference, [`FULL_REFERENCE`] and the last four
    /// digits given, whatever digits are given.
    OneTransfer,
}

impl Fault {
    /// As the configuration names them.
    pub const ALL: [(&str, Fault); 4] = [
        ("none", Fault::None),
        ("contradicts", Fault::Contradicts),
        ("loses", Fault::Loses),
        ("one_transfer", Fault::OneTransfer),
    ];
}

pub struct Simulator {
    books: Books,
    /// Of two calls with one id at once, the second one is counted.
    stripes: [Mutex<()>; STRIPES],
    delay: Duration,
    fault: Fault,
    unanswered: Mutex<HashSet<Uuid>>,
    has_failed: AtomicBool,
}

impl Simulator {
    /// An order is in the books in `directory` at once and answered after `delay`; questions are
    /// answered at once.
    pub fn open(
        directory: &Path,
        room: &Arc<Disk>,
        delay: Duration,
        fault: Fault,
    ) -> Result<Simulator, BooksError> {
        Ok(Simulator { delay, fault, ..Simulator::with(Books::open(directory, room)?) })
    }

    /// The books are in the log of a cluster before anybody can ask: the ones on this disk do not
    /// know what other leaders' banks did.
    pub fn agreed_in(self, agreed: Arc<dyn AgreedBooks>) -> Simulator {
        Simulator { books: self.books.agreed_in(agreed), ..self }
    }

    /// Once what was decided may be told. A bank whose books fail gives no answer: whether it did
    /// anything, nobody knows. That is logged once, however many call meanwhile.
    async fn once_settled(&self, call: &Call, answer: Result<RailAnswer, BooksError>) -> RailAnswer {
        let answer = self.books.settled(about(call)).await.and(answer);
        let had_failed = self.has_failed.swap(answer.is_err(), Ordering::Relaxed);
        match answer {
            Ok(answer) => answer,
            Err(error) => {
                if !had_failed {
                    tracing::error!(%error, operation = %call.operation_id, "the books of the simulated bank failed");
                }
                RailAnswer::Silent
            }
        }
    }

    pub fn in_memory() -> Simulator {
        Simulator::with(Books::default())
    }

    fn with(books: Books) -> Simulator {
        Simulator {
            books,
            stripes: [const { Mutex::new(()) }; STRIPES],
            delay: Duration::ZERO,
            fault: Fault::None,
            unanswered: Mutex::default(),
            has_failed: AtomicBool::new(false),
        }
    }

    fn receive(&self, call: &Call) -> Result<RailAnswer, BooksError> {
        if let Order::TellCop { collection, instruction, .. } = &call.order {
            return self.tell(collection, instruction, call.at);
        }
        let _turn = self.turn(call.operation_id);
        let fate = match self.books.get(call.operation_id)? {
            None => fate::of(&call.order, call.at, |original| self.books.get(original))?,
            // The bank said that it never received it: sending it once more is right, and this time
            // it arrives.
            Some(Fate::Lost) if self.fault == Fault::Loses => Fate::Lost,
            Some(Fate::Lost) => Fate::Done,
            Some(decided) => {
                let total = self.books.count_duplicate()?;
                tracing::error!(operation = %call.operation_id, order = call.order.kind(), total, "an operation was sent twice to the simulated bank");
                return Ok(self.worded(call, decided.settled(call.operation_id)));
            }
        };
        self.books.put(call.operation_id, fate)?;
        Ok(self.worded(call, fate.first(call.operation_id)))
    }

    fn look_up(&self, call: &Call) -> Result<RailAnswer, BooksError> {
        let answer = if let Order::CollectCop { collection, .. } = &call.order {
            self.collection(collection, call.at)?
        } else {
            let _turn = self.turn(call.operation_id);
            let fate = self.books.get(call.operation_id)?;
            fate.map_or(RailAnswer::NeverReceived, |fate| self.worded(call, fate.settled(call.operation_id)))
        };
        Ok(if self.fault == Fault::Contradicts && self.unanswered().contains(&call.operation_id) {
            self.opposite(call, answer)
        } else {
            answer
        })
    }

    /// A transfer that was found keeps its own reference: the digits that were given are all of it,
    /// unless it is to be longer. What goes over a network has the network's kind of name.
    fn worded(&self, call: &Call, answer: RailAnswer) -> RailAnswer {
        match (&call.order, answer) {
            (Order::FindTransfer { reference, .. }, RailAnswer::Done { .. }) => {
                let reference = match self.fault {
                    Fault::OneTransfer => {
                        let four = format!("{reference:0>4}");
                        format!("{FULL_REFERENCE}{}", &four[four.len() - 4..])
                    }
                    _ => reference.clone(),
                };
                RailAnswer::done(reference)
            }
            (Order::SendUsdt { network, .. }, RailAnswer::Done { .. }) => {
                RailAnswer::done(network.transaction(call.operation_id.as_bytes()))
            }
            (_, answer) => answer,
        }
    }

    fn opposite(&self, call: &Call, answer: RailAnswer) -> RailAnswer {
        match answer {
            RailAnswer::Done { .. } => refused(Refusal::NoAccount),
            RailAnswer::Refused { .. } => self.worded(call, Fate::Done.settled(call.operation_id)),
            answer => answer,
        }
    }

    fn unanswered(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self, operation: Uuid) -> MutexGuard<'_, ()> {
        // The last byte of a version 7 id is random.
        let stripe = usize::from(operation.as_bytes()[15]) % STRIPES;
        self.stripes[stripe].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rail for Simulator {
    fn name(&self) -> &'static str {
        "simulator"
    }

    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer> {
        Box::pin(async move {
            let answer = self.once_settled(call, self.receive(call)).await;
            if !self.delay.is_zero() {
                let about = about(call);
                self.unanswered().insert(about);
                tokio::time::sleep(self.delay).await;
                self.unanswered().remove(&about);
            }
            answer
        })
    }

    fn ask<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer> {
        Box::pin(async move { self.once_settled(call, self.look_up(call)).await })
    }

    fn micro_deposits(&self) -> (Ves, Ves) {
        MICRO_DEPOSITS
    }

    fn duplicate_calls(&self) -> u64 {
        self.books.duplicates()
    }
}

/// Whoever tells something about a collection, or asks for it, is answered how that stands.
fn about(call: &Call) -> Uuid {
    match &call.order {
        Order::TellCop { collection, .. } | Order::CollectCop { collection, .. } => {
            collection.original.into()
        }
        _ => call.operation_id,
    }
}

/// 8 digits that follow from the id alone.
fn reference(operation: Uuid) -> String {
    let (high, low) = operation.as_u64_pair();
    // The finaliser of splitmix64: neighbouring ids get references far apart.
    let mut mixed = high ^ low.rotate_left(32);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    (10_000_000 + mixed % 90_000_000).to_string()
}

fn refused(refusal: Refusal) -> RailAnswer {
    RailAnswer::Refused { code: refusal.code().to_owned() }
}

#[cfg(test)]
mod tests;
