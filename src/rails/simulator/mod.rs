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
        Ok(Simulator { books: Books::open(directory, room)?, delay, fault, ..Simulator::in_memory() })
    }

    /// The books are in the log of a cluster before anybody can ask: the ones on this disk do not
    /// know what other leaders' banks did.
    pub fn agreed_in(mut self, agreed: Arc<dyn AgreedBooks>) -> Simulator {
        self.books.agreed = Some(agreed);
        self
    }

    pub fn in_memory() -> Simulator {
        Simulator {
            books: Books::default(),
            stripes: [const { Mutex::new(()) }; STRIPES],
            delay: Duration::ZERO,
            fault: Fault::None,
            unanswered: Mutex::default(),
            has_failed: AtomicBool::new(false),
        }
    }

    /// Told once what was decided is settled. A bank whose books fail gives no answer: whether it did
    /// anything, nobody knows. That is logged once, however many call meanwhile.
    async fn handle(&self, call: &Call, is_question: bool) -> RailAnswer {
        let operation = about(call);
        let answer = {
            // The last byte of a version 7 id is random.
            let stripe = &self.stripes[usize::from(operation.as_bytes()[15]) % STRIPES];
            let _turn = stripe.lock().unwrap_or_else(PoisonError::into_inner);
            if is_question { self.look_up(call) } else { self.receive(call) }
        };
        let answer = match self.books.to_be_agreed() {
            Some(agreed) => self.books.settled(&**agreed, operation).await.and(answer),
            None => answer,
        };
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

    fn receive(&self, call: &Call) -> Result<RailAnswer, BooksError> {
        let operation = about(call);
        if let Order::TellCop { collection, instruction, .. } = &call.order {
            return self.tell(call, collection, instruction);
        }
        let (fate, first) = match self.books.get(operation)? {
            None => self.decide(&call.order, call.at)?,
            // The bank said that it never received it: sending it once more is right, and this time
            // it arrives.
            Some(Fate::Lost) if self.fault == Fault::Loses => (Fate::Lost, Some(RailAnswer::Silent)),
            Some(Fate::Lost) => (Fate::Done, None),
            Some(decided) => {
                let total = self.books.count_duplicate()?;
                tracing::error!(%operation, order = call.order.kind(), total, "an operation was sent twice to the simulated bank");
                return Ok(self.answer(call, decided));
            }
        };
        self.books.put(operation, fate)?;
        Ok(match first {
            Some(first) => first,
            None => self.answer(call, fate),
        })
    }

    fn look_up(&self, call: &Call) -> Result<RailAnswer, BooksError> {
        let fate = match &call.order {
            Order::CollectCop { collection, .. } => self.standing(collection, call.at)?,
            _ => self.books.get(about(call))?,
        };
        let Some(fate) = fate else { return Ok(RailAnswer::NeverReceived) };
        let contradicts = self.fault == Fault::Contradicts && self.unanswered().contains(&call.operation_id);
        Ok(match self.answer(call, fate) {
            RailAnswer::Done { .. } if contradicts => RailAnswer::refused("AC01"),
            RailAnswer::Refused { .. } if contradicts => self.answer(call, Fate::Done),
            answer => answer,
        })
    }

    /// A transfer that was found keeps its own reference: the digits that were given are all of it,
    /// unless it is to be longer. What goes over a network has the network's kind of name.
    fn answer(&self, call: &Call, fate: Fate) -> RailAnswer {
        match (fate, &call.order) {
            (Fate::Refused(code), _) => RailAnswer::refused(code),
            (Fate::Lost, _) => RailAnswer::NeverReceived,
            (Fate::Open, _) => RailAnswer::Waiting,
            (_, Order::FindTransfer { reference, .. }) if self.fault == Fault::OneTransfer => {
                let four = format!("{reference:0>4}");
                RailAnswer::done(format!("{FULL_REFERENCE}{}", &four[four.len() - 4..]))
            }
            (_, Order::FindTransfer { reference, .. }) => RailAnswer::done(reference.clone()),
            (_, Order::SendUsdt { network, .. }) => {
                RailAnswer::done(network.transaction(call.operation_id.as_bytes()))
            }
            (Fate::Done | Fate::DoneForGood, _) => RailAnswer::done(reference(about(call))),
        }
    }

    fn unanswered(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rail for Simulator {
    fn name(&self) -> &'static str {
        "simulator"
    }

    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer> {
        Box::pin(async move {
            let answer = self.handle(call, false).await;
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
        Box::pin(self.handle(call, true))
    }

    fn micro_deposits(&self) -> (Ves, Ves) {
        MICRO_DEPOSITS
    }

    fn rehearsing(&self) -> Arc<dyn Rail> {
        let (books, fault) = (self.books.rehearsing(), self.fault);
        Arc::new(Simulator { books, fault, ..Simulator::in_memory() })
    }

    fn duplicate_calls(&self) -> u64 {
        self.books.duplicates.load(Ordering::Relaxed)
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

/// What the bank decided about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Done,
    /// Giving it back will be refused.
    DoneForGood,
    Refused(&'static str),
    /// Never arrived. Kept only so that it arrives when it is sent again.
    Lost,
    Open,
}

impl Fate {
    fn bytes(self) -> Decided {
        match self {
            Fate::Done => [0, 0],
            Fate::DoneForGood => [1, 0],
            Fate::Refused(code) => match CODES.iter().position(|known| *known == code) {
                Some(place) => [2, place as u8],
                None => unreachable!("every refusal has a code of the table"),
            },
            Fate::Lost => [7, 0],
            Fate::Open => [8, 0],
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Fate> {
        Some(match *bytes {
            [0, 0] => Fate::Done,
            [1, 0] => Fate::DoneForGood,
            [2, place] => Fate::Refused(CODES.get(usize::from(place))?),
            [7, 0] => Fate::Lost,
            [8, 0] => Fate::Open,
            _ => return None,
        })
    }
}

/// A decision, and what the bank says at first where that is something else: who asks learns it.
type Decision = (Fate, Option<RailAnswer>);

impl Simulator {
    fn decide(&self, order: &Order, at: Timestamp) -> Result<Decision, BooksError> {
        let fate = match order {
            Order::ChargeC2p { token, .. } => return Ok(of_token(token.as_ref())),
            Order::Debit { otp, .. } => return Ok(of_token(otp.as_ref())),
            Order::Credit { amount, .. } | Order::CreditAccount { amount, .. } => return Ok(of_amount(*amount)),
            Order::ChargeCard { card, .. } => return Ok(of_card(card.as_deref())),
            Order::ReverseC2p { original: charge, .. } => match self.books.get((*charge).into())? {
                Some(Fate::Done) => Fate::Done,
                Some(Fate::DoneForGood) => Fate::Refused("41"),
                Some(_) | None => Fate::Refused("12"),
            },
            Order::MicroDeposit { phone, .. } if phone.last_four() == 1 => Fate::Refused("BE01"),
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
        };
        Ok((fate, None))
    }
}

fn of_token(token: Option<&Token>) -> Decision {
    match token.map(Token::reveal) {
        Some("99999999") => (Fate::Refused("AM04"), None),
        // A token that the gateway lost in a crash is no token.
        Some("88888888") | None => (Fate::Refused("TKCM"), None),
        Some("77777777") => (Fate::Done, Some(RailAnswer::Silent)),
        Some("66666666") => (Fate::Refused("AB01"), Some(RailAnswer::Silent)),
        Some("55555555") => (Fate::DoneForGood, None),
        Some(_) => (Fate::Done, None),
    }
}

fn of_amount(amount: Ves) -> Decision {
    match amount.minor() % 100 {
        4 => (Fate::Refused("AM04"), None),
        5 => (Fate::Done, Some(RailAnswer::Waiting)),
        6 => (Fate::Refused("AC01"), Some(RailAnswer::Waiting)),
        7 => (Fate::Lost, Some(RailAnswer::Silent)),
        _ => (Fate::Done, None),
    }
}

fn of_card(card: Option<&Card>) -> Decision {
    match card.map(|card| card.number.reveal()) {
        Some("4000000000000002") => (Fate::Refused("card_declined"), None),
        Some("4000000000009995") => (Fate::Refused("insufficient_funds"), None),
        Some("4000000000000069") => (Fate::Refused("expired_card"), None),
        // A card that the gateway lost in a crash is no card.
        Some("4000000000000119") | None => (Fate::Refused("processing_error"), None),
        Some("4000000000000077") => (Fate::Done, Some(RailAnswer::Waiting)),
        Some("4000000000000341") => (Fate::Refused("processing_error"), Some(RailAnswer::Waiting)),
        Some(_) => (Fate::Done, None),
    }
}

const SMS_CODE: &str = "123456";

// A buyer pays, declines or types a code, the tenant cancels, time passes: whatever comes first ends a collection.

impl Simulator {
    fn tell(
        &self,
        call: &Call,
        collection: &Collection,
        instruction: &Instruction,
    ) -> Result<RailAnswer, BooksError> {
        let fate = match (self.standing(collection, call.at)?, instruction) {
            (None, _) => return Ok(RailAnswer::NeverReceived),
            (Some(Fate::Open), Instruction::SendCode) => return Ok(RailAnswer::Waiting),
            (Some(Fate::Open), Instruction::Code(code)) if code.reveal() != SMS_CODE => {
                return Ok(RailAnswer::refused(WRONG_CODE));
            }
            (Some(Fate::Open), Instruction::Code(_) | Instruction::Paid) => Fate::Done,
            (Some(Fate::Open), Instruction::Cancel) => Fate::Refused(CANCELED),
            (Some(Fate::Open), Instruction::Declined) => Fate::Refused("rejected"),
            (Some(ended), _) => return Ok(self.answer(call, ended)),
        };
        self.books.put(about(call), fate)?;
        Ok(self.answer(call, fate))
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
