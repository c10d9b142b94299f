//! The state of an order at its rail: how far it got, when it was sent and asked about, what the rail
//! calls it and what it last said; and when the next look is (`docs/contract.md, 5.11, 18.1`). It must not
//! know what an order is about.

use crate::codec::stored;
use crate::values::text::is_bidi_control;
use crate::values::time::{DAY_MS, HOUR_MS, MINUTE_MS, Timestamp};
use crate::values::token::StepToken;

/// In test mode the first look at a bank that stayed silent comes so long after the call
/// (`docs/contract.md, 5.11`).
pub const POLL_MS: i64 = 60_000;
/// Looks in test mode get rarer, down to one an hour.
const POLL_MS_MAX: i64 = HOUR_MS;
/// Looks in live mode get rarer after an order's first hour, down to one in 15 minutes.
const LIVE_POLL_MS_MAX: i64 = 15 * MINUTE_MS;
/// After an operator's word a bank is asked on for so long whether it agrees.
pub const ASKED_ON_MS: i64 = 7 * DAY_MS;
/// The look at what cannot be asked about: no clock gets there. It keeps the order among those that
/// wait.
pub const NEVER: Timestamp = Timestamp::CLOCKS_END;

/// Orders before the newest that are remembered.
const EARLIER_MAX: usize = 16;
const TEXT_CHARACTERS_MAX: usize = 200;
const CODE_CHARACTERS_MAX: usize = 32;
/// Characters of a reference or id: a longer one is none.
const ID_CHARACTERS_MAX: usize = 64;

stored! {
    /// The id that a rail gave an order: 1 to 64 visible characters.
    #[derive(Clone, PartialEq, Eq, Hash)]
    pub struct RailId(pub(crate) Box<str>);
}

impl RailId {
    pub fn parse(text: &str) -> Option<RailId> {
        visible(text).map(|text| RailId(Box::from(text)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for RailId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

stored! {
    /// The words of a rail for the outcome: for operators.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct BankWord {
        0 pub code: String,
        1 pub text: String,
    }
}

impl BankWord {
    /// Cut to what is kept, without characters that mislead whoever reads it.
    pub fn new(code: &str, text: &str) -> BankWord {
        BankWord { code: cut(code, CODE_CHARACTERS_MAX), text: cut(text, TEXT_CHARACTERS_MAX) }
    }
}

/// A reference or id that a rail gave, if it is 1 to 64 visible characters.
pub fn visible(text: &str) -> Option<&str> {
    let text = text.trim();
    let fits =
        (1..=ID_CHARACTERS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then_some(text)
}

/// A reference that a rail gave, as far as it is visible: what surrounds it is no reason to lose it.
pub fn folded(text: &str) -> Option<String> {
    let shown = text.chars().filter(char::is_ascii_graphic).take(ID_CHARACTERS_MAX).collect::<String>();
    Some(shown).filter(|shown| !shown.is_empty())
}

fn cut(text: &str, characters_max: usize) -> String {
    let is_shown = |character: &char| !is_bidi_control(*character);
    let plain = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    plain.filter(is_shown).take(characters_max).collect::<String>().trim().to_owned()
}

/// A reference as callers see it: a rail that was done without giving one left an empty one.
pub fn shown(reference: &Option<String>) -> Option<&str> {
    match reference {
        Some(reference) if !reference.is_empty() => Some(reference),
        _ => None,
    }
}

stored! {
    /// The distance that an order got.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Reach {
        /// The order is sent or being sent, and is asked about until the rail has decided.
        #[default]
        0 Sent,
        /// The order waits in the queue of its rail: nothing of it has left this machine.
        1 Queued,
        /// The order was sent, or may have been, and cannot be asked about: the rail decides by itself,
        /// or an operator does.
        2 Unaskable,
        /// The bank gave its name to another order too, so that no word of it counts: an operator decides.
        3 Ambiguous,
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Trace {
        0 pub reach: Reach,
        /// The instant of the record after which it was sent.
        1 pub sent_at: Option<Timestamp>,
        2 pub asked_at: Option<Timestamp>,
        3 pub asks: u32,
        /// The instant of the newest word that settled it, or contradicted what had.
        4 pub decided_at: Option<Timestamp>,
        5 pub id: Option<RailId>,
        6 pub word: Option<Box<BankWord>>,
    }

    /// An order after which its entity sent another.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct EarlierOrder {
        0 pub operation: u16,
        1 pub trace: Trace,
    }

    /// The newest order of an entity at its rail; none was sent while `sends` is 0. The rules are in
    /// `resources/polling.rs`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct OrderState {
        0 pub operation: u16,
        /// The number of times that it was sent: two at most, the second after the rail said that it never
        /// received the first.
        1 pub sends: u32,
        /// The number of questions by which the pause before the next is counted.
        2 pub looks: u32,
        /// The instant of the next question: about the outcome, or whether the rail agrees with an operator.
        3 pub next_look: Option<Timestamp>,
        /// An operator has settled it; until then the rail is asked whether it agrees.
        4 pub asked_on_until: Option<Timestamp>,
        5 pub trace: Trace,
        /// The orders of the entity before it: the first, and the newest of the rest.
        6 pub earlier: Vec<EarlierOrder>,
    }
}

impl Trace {
    pub fn sent(now: Timestamp) -> Trace {
        Trace { sent_at: Some(now), ..Trace::default() }
    }

    pub fn queued() -> Trace {
        Trace { reach: Reach::Queued, ..Trace::default() }
    }

    /// Whether nothing of the order has left this machine.
    pub fn is_queued(&self) -> bool {
        self.reach == Reach::Queued
    }

    /// Whether nobody can be asked about the order, and its call has ended.
    pub fn is_unaskable(&self) -> bool {
        matches!(self.reach, Reach::Unaskable | Reach::Ambiguous)
    }

    /// Whether its bank gave its name to another order too.
    pub fn is_ambiguous(&self) -> bool {
        self.reach == Reach::Ambiguous
    }

    /// Keeps what a rail said besides its answer.
    pub fn note(&mut self, said: &Said) {
        self.id = said.id.clone().or(self.id.take());
        self.word = said.word.clone().or(self.word.take());
    }
}

impl OrderState {
    /// `next`, which the entity sends after this one.
    pub fn followed_by(&self, next: OrderState) -> OrderState {
        let mut earlier = self.earlier.clone();
        if earlier.len() >= EARLIER_MAX {
            // The first is the one that took the money, about which a bank may speak longest.
            earlier.remove(1);
        }
        earlier.push(EarlierOrder { operation: self.operation, trace: self.trace.clone() });
        OrderState { earlier, ..next }
    }

    /// The trace of an operation, this one's or an earlier one's.
    pub fn of(&self, operation: u16) -> Option<&Trace> {
        if operation == self.operation {
            return Some(&self.trace);
        }
        self.earlier.iter().find(|order| order.operation == operation).map(|order| &order.trace)
    }

    pub fn of_mut(&mut self, operation: u16) -> Option<&mut Trace> {
        if operation == self.operation {
            return Some(&mut self.trace);
        }
        let found = self.earlier.iter_mut().find(|order| order.operation == operation);
        found.map(|order| &mut order.trace)
    }

    /// With what a rail said of an operation besides its answer.
    pub fn noting(&self, operation: u16, said: &Said) -> OrderState {
        let mut noted = self.clone();
        if let Some(trace) = noted.of_mut(operation) {
            trace.note(said);
        }
        noted
    }

    pub fn stop(&mut self) {
        (self.next_look, self.asked_on_until) = (None, None);
    }
}

/// The standing of a collection that nobody has decided, as its processor has said in words that
/// can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Waits,
    /// The collection waits, and the buyer can be sent a code.
    AwaitsCode,
    /// Something else was paid than what was asked for.
    Misfit,
}

/// The words of a rail besides its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub id: Option<RailId>,
    pub word: Option<Box<BankWord>>,
    /// The address or the picture of the QR code that the buyer scans.
    pub qr_image: Option<Box<str>>,
    pub progress: Option<Progress>,
    /// The token that the next step about a collection takes.
    pub token: Option<StepToken>,
    /// Whether it said that under a name of another order.
    pub is_ambiguous: bool,
    /// Whether the first of two micro-deposits was made, of which the second was refused.
    pub half_done: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polling {
    /// Pauses that double, from a minute to an hour.
    Test,
    /// Pauses of so many milliseconds in an order's first hour, then growing to 15 minutes.
    Live(i64),
}

impl Polling {
    /// Between the look that was the `looks`-th, at an order of this age, and the next.
    pub fn pause_ms(self, looks: u32, age_ms: i64) -> i64 {
        match self {
            Polling::Test => (POLL_MS << looks.min(6)).min(POLL_MS_MAX),
            Polling::Live(poll_ms) => {
                let grown = age_ms.saturating_sub(HOUR_MS).max(0) / 4;
                grown.clamp(poll_ms, LIVE_POLL_MS_MAX.max(poll_ms))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn live_looks_keep_their_pause_for_an_hour_and_never_pass_a_quarter(
            poll_ms in 1_000_i64..=HOUR_MS, age_ms in 0_i64..30 * DAY_MS, looks in 0_u32..200,
        ) {
            let pause = |age_ms| Polling::Live(poll_ms).pause_ms(looks, age_ms);
            if age_ms <= HOUR_MS {
                prop_assert_eq!(pause(age_ms), poll_ms);
            }
            prop_assert!((poll_ms..=LIVE_POLL_MS_MAX.max(poll_ms)).contains(&pause(age_ms)));
            prop_assert!(pause(age_ms) <= pause(age_ms + MINUTE_MS));
            prop_assert_eq!(pause(2 * HOUR_MS), LIVE_POLL_MS_MAX.max(poll_ms));
        }
    }

    #[test]
    fn what_a_bank_says_is_cut_and_on_one_line() {
        let word = BankWord::new(&"9".repeat(99), &format!("a\r\n\u{202e}b{}", "ñ".repeat(999)));
        assert_eq!((word.code.len(), word.text.chars().count()), (32, 200));
        assert!(word.text.starts_with("a  bñ"), "{}", word.text);
    }

    #[test]
    fn references_are_visible_and_short() {
        for (given, read) in [(" 00123456 ", Some("00123456")), ("", None), ("a b", None), ("ñ", None)] {
            assert_eq!(visible(given), read, "{given}");
        }
        assert_eq!((visible(&"1".repeat(64)).is_some(), visible(&"1".repeat(65))), (true, None));
    }
}
