//! What live rails have in common: what they report about an order, how its outcome can be learned
//! afterwards, and what an order that never left this machine is called.
//!
//! It says more than [`RailAnswer`]: the bank's own words, the bank's own id, and that nothing was
//! sent. It must not know any rail's format.

use super::{BoxFuture, Call, Order, RailAnswer};
use std::fmt;

/// Why an order of ours was refused without a call: a rail could not carry it.
pub const UNFIT: &str = "order_unfit";
/// Characters of a bank's own text that are kept.
const TEXT_CHARACTERS_MAX: usize = 200;
/// Characters of a bank's own code that are kept.
const CODE_CHARACTERS_MAX: usize = 32;
/// Characters of a reference or id: a longer one is none.
const ID_CHARACTERS_MAX: usize = 64;

/// How the outcome of an order can be learned after its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recall {
    /// The rail can be asked.
    Asked(AskedBy),
    /// The rail can't be asked: what its answer did not say, an operator finds out.
    Unaskable,
    /// The rail is not called at all: it reports by itself.
    Reports,
}

/// The name under which a rail can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedBy {
    /// The id that its answer gave; without one it can't be asked.
    RailId,
    /// Our id of the operation.
    OperationId,
}

/// The id that a rail gave an order: 1 to 64 visible characters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RailId(Box<str>);

impl RailId {
    /// Reads one.
    pub fn parse(text: &str) -> Option<RailId> {
        visible(text).map(|text| RailId(Box::from(text)))
    }

    /// As the rail wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RailId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a rail calls the outcome itself: for operators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BankWord {
    /// Its code, as it wrote it.
    pub code: String,
    /// Its text, cut.
    pub text: String,
}

impl BankWord {
    /// Cut to what is kept, without characters that mislead whoever reads it.
    pub fn new(code: &str, text: &str) -> BankWord {
        BankWord { code: cut(code, CODE_CHARACTERS_MAX), text: cut(text, TEXT_CHARACTERS_MAX) }
    }
}

/// What became of an order, as far as its rail has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done {
        /// The rail's reference, if it gave one.
        reference: Option<String>,
    },
    /// It was not done, and never will be.
    Refused {
        /// Our failure code.
        code: String,
    },
    /// Nobody can tell yet: it waits, or the answer was lost or says nothing.
    Open {
        /// What the rail calls it, if it has said.
        id: Option<RailId>,
    },
}

/// What came of a call that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What became of the order.
    pub outcome: Outcome,
    /// In the rail's own words.
    pub word: Option<BankWord>,
    /// Whether there was an answer that can be read, whatever it said: for the circuit.
    pub is_answered: bool,
    /// The address or the picture of the QR code that the buyer scans.
    pub qr_image: Option<String>,
}

impl Report {
    /// A readable answer.
    pub fn answered(outcome: Outcome, word: BankWord) -> Report {
        Report { outcome, word: Some(word), is_answered: true, qr_image: None }
    }

    /// No readable answer.
    pub fn unanswered(id: Option<RailId>) -> Report {
        Report { outcome: Outcome::Open { id }, word: None, is_answered: false, qr_image: None }
    }
}

/// Why nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// There was no connection. The same order may be sent later.
    NoConnection,
    /// The rail can't carry such an order, now or later, for this reason.
    Unfit(&'static str),
}

/// What a question came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// The rail said something, or nothing.
    Report(Report),
    /// The rail says under our own operation id that it never received it.
    NeverReceived,
    /// The order can't be asked about, so nobody was asked.
    NotAsked,
}

/// A rail that is not simulated.
pub trait LiveRail: Send + Sync {
    /// Its name, for the operators.
    fn name(&self) -> &'static str;

    /// How the outcome of such an order can be learned; `None` where it does not serve it.
    fn recall(&self, order: &Order) -> Option<Recall>;

    /// Sends an order once. Called only after the record that says so is durable.
    fn execute<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Report, NotSent>>;

    /// Asks what became of an order, under the rail's id of it if there is one.
    fn look<'a>(&'a self, call: &'a Call, id: Option<&'a RailId>) -> BoxFuture<'a, Look>;

    /// Makes a harmless call; whether the rail answers.
    fn probe(&self) -> BoxFuture<'_, bool>;
}

/// A sent order in the words of the domain, which has none for "not sent": an order without a
/// connection is silence, which is never sent again.
pub fn answer_to_order(sent: Result<Report, NotSent>) -> RailAnswer {
    match sent {
        Ok(report) => answer(report.outcome),
        Err(NotSent::NoConnection) => RailAnswer::Silent,
        Err(NotSent::Unfit(_)) => RailAnswer::Refused { code: UNFIT.to_owned() },
    }
}

/// A question in the words of the domain.
pub fn answer_to_look(look: Look) -> RailAnswer {
    match look {
        Look::Report(report) => answer(report.outcome),
        Look::NeverReceived => RailAnswer::NeverReceived,
        Look::NotAsked => RailAnswer::Silent,
    }
}

fn answer(outcome: Outcome) -> RailAnswer {
    match outcome {
        Outcome::Done { reference } => RailAnswer::Done { reference: reference.unwrap_or_default() },
        Outcome::Refused { code } => RailAnswer::Refused { code },
        Outcome::Open { id: Some(_) } => RailAnswer::Waiting,
        Outcome::Open { id: None } => RailAnswer::Silent,
    }
}

/// A reference or id that a rail gave, if it is 1 to 64 visible characters.
pub fn visible(text: &str) -> Option<&str> {
    let text = text.trim();
    let fits =
        (1..=ID_CHARACTERS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then_some(text)
}

/// The first characters of a text, on one line.
fn cut(text: &str, characters_max: usize) -> String {
    let is_shown = |character: &char| !domain::values::free_text::is_bidi_control(*character);
    let plain = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    plain.filter(is_shown).take(characters_max).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn an_order_that_never_left_is_never_called_never_received() {
        assert_eq!(answer_to_order(Err(NotSent::NoConnection)), RailAnswer::Silent);
        assert_eq!(
            answer_to_order(Err(NotSent::Unfit("no account"))),
            RailAnswer::Refused { code: UNFIT.to_owned() }
        );
        let waits = Report::unanswered(RailId::parse("7"));
        assert_eq!(answer_to_order(Ok(waits.clone())), RailAnswer::Waiting);
        assert_eq!(answer_to_look(Look::Report(waits)), RailAnswer::Waiting);
        assert_eq!(answer_to_look(Look::NotAsked), RailAnswer::Silent);
    }
}
