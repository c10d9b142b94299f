//! The bank of test mode (`docs/contract.md, 4.5`) is another party: what it did is in books of its
//! own, which a crash of the gateway does not touch, and which show whether the gateway ever sent
//! an operation twice. It answers at once, without a task or a timer, unless it is told to be slow.

pub mod books;

use crate::disk::Disk;
use crate::rails::{BoxFuture, Call, Order, Rail, RailAnswer};
use books::Books;
pub use books::{AgreedBooks, BooksError, Decided};
use domain::entities::cop_payment::EXPIRED;
use domain::rail::{Collection, Instruction};
use domain::resources::cop_payments::collect::{CANCELED, WRONG_CODE};
use domain::values::card::Card;
use domain::values::money::Ves;
use domain::values::time::{MINUTE_MS, Timestamp};
use domain::values::token::Token;
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
            None => self.decide(&call.order, call.at)?,
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
        let operation = about(call);
        let _turn = self.turn(operation);
        let fate = match &call.order {
            Order::CollectCop { collection, .. } => self.standing(collection, call.at)?,
            _ => self.books.get(operation)?,
        };
        let answer = match fate {
            Some(fate) => self.worded(call, fate.settled(operation)),
            None => RailAnswer::NeverReceived,
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
            RailAnswer::Done { .. } => RailAnswer::refused("AC01"),
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

/// The codes of refusals (`docs/contract.md, 21.4, 21.5`). The books keep a code's place, so new ones go to the end.
const CODES: [&str; 17] = [
    "AB01",
    "AC01",
    "AM04",
    "BE01",
    "TKCM",
    "12",
    "41",
    "card_declined",
    "insufficient_funds",
    "expired_card",
    "processing_error",
    "reference_not_found",
    "network_refused",
    "rejected",
    CANCELED,
    EXPIRED,
    "processor_unavailable",
];

/// What the bank decided about an operation; of a refusal with its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Done,
    /// Giving it back will be refused.
    DoneForGood,
    Refused(&'static str),
    /// Without a word; who asks learns it.
    SilentlyDone,
    SilentlyRefused(&'static str),
    LaterDone,
    LaterRefused(&'static str),
    /// Never arrived. Kept only so that it arrives when it is sent again.
    Lost,
    Open,
}

impl Fate {
    fn first(self, operation: Uuid) -> RailAnswer {
        match self {
            Fate::Done | Fate::DoneForGood => RailAnswer::done(reference(operation)),
            Fate::Refused(code) => RailAnswer::refused(code),
            Fate::SilentlyDone | Fate::SilentlyRefused(_) | Fate::Lost => RailAnswer::Silent,
            Fate::LaterDone | Fate::LaterRefused(_) | Fate::Open => RailAnswer::Waiting,
        }
    }

    fn settled(self, operation: Uuid) -> RailAnswer {
        match self {
            Fate::Done | Fate::DoneForGood | Fate::SilentlyDone | Fate::LaterDone => {
                RailAnswer::done(reference(operation))
            }
            Fate::Refused(code) | Fate::SilentlyRefused(code) | Fate::LaterRefused(code) => {
                RailAnswer::refused(code)
            }
            Fate::Lost => RailAnswer::NeverReceived,
            Fate::Open => RailAnswer::Waiting,
        }
    }

    /// In the order of their numbers in the books.
    const fn all(code: &'static str) -> [Fate; 9] {
        [
            Fate::Done,
            Fate::DoneForGood,
            Fate::Refused(code),
            Fate::SilentlyDone,
            Fate::SilentlyRefused(code),
            Fate::LaterDone,
            Fate::LaterRefused(code),
            Fate::Lost,
            Fate::Open,
        ]
    }

    fn bytes(self) -> Decided {
        for (place, code) in CODES.into_iter().enumerate() {
            for (kind, fate) in Fate::all(code).into_iter().enumerate() {
                if fate == self {
                    return [kind as u8, place as u8];
                }
            }
        }
        unreachable!("every refusal has a code of the table")
    }

    fn from_bytes(bytes: &[u8]) -> Option<Fate> {
        let &[kind, place] = bytes else { return None };
        Fate::all(CODES.get(usize::from(place))?).get(usize::from(kind)).copied()
    }
}

impl Simulator {
    fn decide(&self, order: &Order, at: Timestamp) -> Result<Fate, BooksError> {
        Ok(match order {
            Order::ChargeC2p { token, .. } => of_token(token.as_ref()),
            Order::Debit { otp, .. } => of_token(otp.as_ref()),
            Order::ReverseC2p { original: charge, .. } => match self.books.get((*charge).into())? {
                Some(Fate::Done | Fate::SilentlyDone | Fate::LaterDone) => Fate::Done,
                Some(Fate::DoneForGood) => Fate::Refused("41"),
                Some(_) | None => Fate::Refused("12"),
            },
            Order::Credit { amount, .. } | Order::CreditAccount { amount, .. } => of_amount(*amount),
            Order::MicroDeposit { phone, .. } if phone.last_four() == 1 => Fate::Refused("BE01"),
            Order::ChargeCard { card, .. } => of_card(card.as_deref()),
            // A reference that is all zeros has lost them.
            Order::FindTransfer { reference, .. } if reference == "0" || reference.ends_with("0000") => {
                Fate::Refused("reference_not_found")
            }
            Order::SendUsdt { address, .. } if address.ends_with('0') => Fate::Refused("network_refused"),
            Order::CollectCop { .. } => Fate::Open,
            // An instruction is no operation of its own: `tell` answers it.
            Order::TellCop { .. } => Fate::Refused("12"),
            Order::RefundCop { original: collection, .. }
                if self.books.get((*collection).into())? != Some(Fate::Done) =>
            {
                Fate::Refused("12")
            }
            // Amounts that end in 503 cannot be refunded in their first minute.
            Order::RefundCop { amount, completed_at, .. }
                if amount.minor() % 1_000 == 503 && at.since_ms(*completed_at) < MINUTE_MS =>
            {
                Fate::Refused("processor_unavailable")
            }
            Order::RequestOtp { .. }
            | Order::MicroDeposit { .. }
            | Order::FindTransfer { .. }
            | Order::SendUsdt { .. }
            | Order::RefundCop { .. }
            // No bank is told: the outbox answers by itself.
            | Order::PriceUsdt { .. } => Fate::Done,
        })
    }
}

fn of_token(token: Option<&Token>) -> Fate {
    match token.map(Token::reveal) {
        Some("99999999") => Fate::Refused("AM04"),
        // A token that the gateway lost in a crash is no token.
        Some("88888888") | None => Fate::Refused("TKCM"),
        Some("77777777") => Fate::SilentlyDone,
        Some("66666666") => Fate::SilentlyRefused("AB01"),
        Some("55555555") => Fate::DoneForGood,
        Some(_) => Fate::Done,
    }
}

fn of_amount(amount: Ves) -> Fate {
    match amount.minor() % 100 {
        4 => Fate::Refused("AM04"),
        5 => Fate::LaterDone,
        6 => Fate::LaterRefused("AC01"),
        7 => Fate::Lost,
        _ => Fate::Done,
    }
}

fn of_card(card: Option<&Card>) -> Fate {
    match card.map(|card| card.number.reveal()) {
        Some("4000000000000002") => Fate::Refused("card_declined"),
        Some("4000000000009995") => Fate::Refused("insufficient_funds"),
        Some("4000000000000069") => Fate::Refused("expired_card"),
        // A card that the gateway lost in a crash is no card.
        Some("4000000000000119") | None => Fate::Refused("processing_error"),
        Some("4000000000000077") => Fate::LaterDone,
        Some("4000000000000341") => Fate::LaterRefused("processing_error"),
        Some(_) => Fate::Done,
    }
}

const SMS_CODE: &str = "123456";

fn outcome(instruction: &Instruction) -> Option<Fate> {
    match instruction {
        Instruction::Cancel => Some(Fate::Refused(CANCELED)),
        Instruction::Code(code) => (code.reveal() == SMS_CODE).then_some(Fate::Done),
        Instruction::Paid => Some(Fate::Done),
        Instruction::Declined => Some(Fate::Refused("rejected")),
        Instruction::SendCode => None,
    }
}

// A buyer pays, declines or types a code, the tenant cancels, time passes: whatever comes first ends a collection.

impl Simulator {
    fn tell(
        &self,
        collection: &Collection,
        instruction: &Instruction,
        at: Timestamp,
    ) -> Result<RailAnswer, BooksError> {
        let operation: Uuid = collection.original.into();
        let _turn = self.turn(operation);
        let Some(standing) = self.standing(collection, at)? else { return Ok(RailAnswer::NeverReceived) };
        match (standing, outcome(instruction)) {
            (Fate::Open, Some(ended)) => {
                self.books.put(operation, ended)?;
                Ok(ended.settled(operation))
            }
            (Fate::Open, None) => Ok(match instruction {
                Instruction::SendCode => RailAnswer::Waiting,
                _ => RailAnswer::refused(WRONG_CODE),
            }),
            (ended, _) => Ok(ended.settled(operation)),
        }
    }

    fn standing(&self, collection: &Collection, at: Timestamp) -> Result<Option<Fate>, BooksError> {
        let operation = collection.original.into();
        let fate = self.books.get(operation)?;
        if fate == Some(Fate::Open) && at >= collection.expires_at {
            let expired = Fate::Refused(EXPIRED);
            self.books.put(operation, expired)?;
            return Ok(Some(expired));
        }
        Ok(fate)
    }
}

#[cfg(test)]
mod tests;
