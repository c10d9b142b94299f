//! Things that live rails have in common: what they report about an order, how its outcome can be
//! learned afterwards, and what an order that never left this machine is called.
//!
//! A live rail reports; [`after_sending`] and [`after_asking`] say the same in the words of the domain,
//! which need to know too whether the order can be asked about. It must not know any rail's format.

use super::checking::Finding;
use super::{BoxFuture, Call, Order, RailAnswer};
use domain::rail::{Progress, Service};
use domain::trace::Said;
pub use domain::trace::{BankWord, RailId, folded, visible};
use domain::values::money::Ves;
use domain::values::token::StepToken;
use std::time::Duration;

/// The failure code of an order of ours that was refused without a call: a rail could not carry it.
pub use domain::resources::cop_payments::live::UNFIT;
/// The way in which the outcome of an order can be learned after its call.
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
    /// The id of the operation, which is ours.
    OperationId,
}

/// The outcome of an order, as far as its rail has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderOutcome {
    Done {
        /// The rail's reference, if it gave one.
        reference: Option<String>,
    },
    /// The order was not done, and never will be.
    Refused {
        /// The failure code, which is ours.
        code: String,
    },
    /// Nobody can tell yet: it waits, or the answer was lost or says nothing.
    Open {
        /// The rail's name for the order, if it has said one.
        id: Option<RailId>,
    },
}

/// The outcome of a call that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub outcome: OrderOutcome,
    /// The rail's name for an order that it has decided.
    pub id: Option<RailId>,
    /// In the rail's own words.
    pub word: Option<BankWord>,
    /// Whether there was an answer that can be read, whatever it said: for the circuit.
    pub is_answered: bool,
    /// The address or the picture of the QR code that the buyer scans.
    pub qr_image: Option<String>,
    /// The standing of a collection that waits.
    pub progress: Option<Progress>,
    /// The token that the next step about a collection takes.
    pub token: Option<StepToken>,
    /// Whether the first of two micro-deposits was made, of which the second was refused.
    pub half_done: bool,
}

impl Report {
    /// A readable answer.
    pub fn answered(outcome: OrderOutcome, word: BankWord) -> Report {
        Report { outcome, word: Some(word), is_answered: true, ..Report::unanswered(None) }
    }

    /// No readable answer.
    pub fn unanswered(id: Option<RailId>) -> Report {
        Report {
            outcome: OrderOutcome::Open { id },
            id: None,
            word: None,
            is_answered: false,
            qr_image: None,
            progress: None,
            token: None,
            half_done: false,
        }
    }
}

/// The reasons why nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// There was no connection. The same order may be sent later.
    NoConnection,
    /// The rail says that it did nothing. The same order may be sent later.
    NothingDone,
    /// The rail can't carry such an order, now or later, for this reason.
    Unfit(&'static str),
}

/// The outcome of a question.
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
    /// The name, for the operators.
    fn name(&self) -> &'static str;

    /// The services that it does for tenants.
    fn services(&self) -> &[Service];

    /// The largest amount in bolívares that it carries.
    fn amount_max(&self) -> Option<Ves> {
        None
    }

    /// The time that a call may take.
    fn timeout(&self) -> Duration;

    /// The way in which the outcome of such an order can be learned; `None` where it does not serve
    /// it.
    fn recall(&self, order: &Order) -> Option<Recall>;

    /// Sends an order once. Called only after the record that says so is durable.
    fn execute<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Report, NotSent>>;

    /// Asks what became of an order, under the rail's id of it if there is one.
    fn look<'a>(&'a self, call: &'a Call, id: Option<&'a RailId>) -> BoxFuture<'a, Look>;

    /// Makes a harmless call; whether the rail answers.
    fn probe(&self) -> BoxFuture<'_, bool>;

    /// Tries what can be tried without moving money.
    fn check(&self) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(async {
            let reach = match self.probe().await {
                true => Finding::fine("reach", "answers"),
                false => Finding::wrong("reach", "does not answer"),
            };
            vec![reach]
        })
    }
}

/// The answer to an order that was sent, in the words of the domain.
pub fn after_sending(recall: Option<Recall>, sent: Result<Report, NotSent>) -> (RailAnswer, Said) {
    match sent {
        Ok(report) => answer(recall, report, false),
        Err(NotSent::NoConnection | NotSent::NothingDone) => (RailAnswer::NotSent, Said::default()),
        Err(NotSent::Unfit(why)) => {
            let word = Some(Box::new(BankWord::new("", why)));
            (RailAnswer::refused(UNFIT), Said { word, ..Said::default() })
        }
    }
}

/// The answer to a question, in the words of the domain.
pub fn after_asking(recall: Option<Recall>, look: Look) -> (RailAnswer, Said) {
    match look {
        Look::Report(report) => answer(recall, report, true),
        Look::NeverReceived => (RailAnswer::NeverReceived, Said::default()),
        Look::NotAsked => (RailAnswer::Unaskable, Said::default()),
    }
}

fn answer(recall: Option<Recall>, report: Report, could_ask: bool) -> (RailAnswer, Said) {
    let Report { outcome, id: decided, word, qr_image, progress, half_done, token, is_answered: _ } = report;
    let (answer, id) = match outcome {
        OrderOutcome::Done { reference } => {
            // A rail that is asked by our own id calls what it did by the id that it is known by from then on.
            let is_id = recall == Some(Recall::Asked(AskedBy::OperationId));
            let id = reference.as_deref().filter(|_| is_id).and_then(RailId::parse);
            (RailAnswer::Done { reference }, decided.or(id))
        }
        OrderOutcome::Refused { code } => (RailAnswer::Refused { code }, decided),
        OrderOutcome::Open { id } => {
            let by_operation = matches!(recall, Some(Recall::Asked(AskedBy::OperationId) | Recall::Reports));
            let by_id = recall == Some(Recall::Asked(AskedBy::RailId)) && id.is_some();
            let answer = match &id {
                Some(_) if by_id || by_operation => RailAnswer::Waiting,
                _ if by_operation || could_ask => RailAnswer::Silent,
                _ => RailAnswer::Unaskable,
            };
            (answer, id)
        }
    };
    let qr_image = qr_image.map(String::into_boxed_str);
    let word = word.map(Box::new);
    (answer, Said { id, word, qr_image, progress, token, half_done, is_ambiguous: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_never_left_is_not_sent_and_never_called_never_received() {
        let by_id = Some(Recall::Asked(AskedBy::RailId));
        assert_eq!(after_sending(by_id, Err(NotSent::NoConnection)).0, RailAnswer::NotSent);
        let (answer, said) = after_sending(by_id, Err(NotSent::Unfit("no account")));
        assert_eq!(answer, RailAnswer::refused(UNFIT));
        assert_eq!(said.word.map(|word| word.text).as_deref(), Some("no account"));
    }

    #[test]
    fn what_nobody_can_ask_about_is_told_apart_from_what_waits() {
        let (by_id, by_operation) = (AskedBy::RailId, AskedBy::OperationId);
        for (recall, id, sent, asked) in [
            (Recall::Unaskable, None, RailAnswer::Unaskable, RailAnswer::Silent),
            (Recall::Unaskable, Some("7"), RailAnswer::Unaskable, RailAnswer::Silent),
            (Recall::Asked(by_id), None, RailAnswer::Unaskable, RailAnswer::Silent),
            (Recall::Asked(by_id), Some("7"), RailAnswer::Waiting, RailAnswer::Waiting),
            (Recall::Asked(by_operation), None, RailAnswer::Silent, RailAnswer::Silent),
            (Recall::Asked(by_operation), Some("7"), RailAnswer::Waiting, RailAnswer::Waiting),
        ] {
            let report = || Report::unanswered(id.and_then(RailId::parse));
            let (answer, said) = after_sending(Some(recall), Ok(report()));
            assert_eq!((answer, said.id), (sent, id.and_then(RailId::parse)), "{recall:?} {id:?}");
            assert_eq!(after_asking(Some(recall), Look::Report(report())).0, asked, "{recall:?} {id:?}");
        }
        assert_eq!(after_asking(Some(Recall::Unaskable), Look::NotAsked).0, RailAnswer::Unaskable);
        assert_eq!(
            after_asking(Some(Recall::Asked(by_operation)), Look::NeverReceived).0,
            RailAnswer::NeverReceived
        );
    }
}
