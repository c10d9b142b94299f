//! What live rails report about an order, how its outcome can be learned afterwards, and what an
//! order that never left this machine is called. [`after_sending`] and [`after_asking`] say the
//! same in the words of the domain, which need to know too whether the order can be asked about.

use super::checking::Finding;
use super::{BoxFuture, Call, Order, RailAnswer};
/// Refused without a call: a rail could not carry the order.
pub use domain::entities::cop_payment::UNFIT;
use domain::rail::Service;
pub use domain::trace::{BankWord, RailId, folded, visible};
use domain::trace::{Progress, Said};
use domain::values::money::Ves;
use domain::values::token::StepToken;
use std::time::Duration;

/// How the outcome of an order is learned that the rail's answer did not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recall {
    /// The rail is asked by its own id; without one it can't be.
    ById,
    ByOperation,
    /// An operator finds out.
    Unaskable,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderOutcome {
    Done {
        reference: Option<String>,
    },
    /// The order was not done, and never will be.
    Refused {
        /// Ours.
        code: String,
    },
    /// Nobody can tell yet: it waits, or the answer was lost or says nothing.
    Open {
        id: Option<RailId>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub outcome: OrderOutcome,
    pub id: Option<RailId>,
    pub word: Option<BankWord>,
    /// An answer that can be read, whatever it said: for the circuit.
    pub is_answered: bool,
    /// Its address or its picture, for the buyer.
    pub qr_image: Option<String>,
    pub progress: Option<Progress>,
    pub token: Option<StepToken>,
    /// The first of two micro-deposits was made, the second refused.
    pub half_done: bool,
}

impl Report {
    pub fn answered(outcome: OrderOutcome, word: BankWord) -> Report {
        Report { outcome, word: Some(word), is_answered: true, ..Report::unanswered(None) }
    }

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// There was no connection: the same order may be sent later.
    NoConnection,
    /// The rail says that it did nothing: the same order may be sent later.
    NothingDone,
    /// The rail can't carry such an order, now or later, for this reason.
    Unfit(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    Report(Report),
    NeverReceived,
    NotAsked,
}

#[derive(Clone, Copy, Debug)]
pub struct Profile {
    pub name: &'static str,
    pub services: &'static [Service],
    pub amount_max: Option<Ves>,
    /// Of a whole call.
    pub timeout: Duration,
}

pub trait LiveRail: Send + Sync {
    fn profile(&self) -> Profile;

    /// `None` where the rail does not serve the order, which is then refused without a call.
    fn recall(&self, order: &Order) -> Option<Recall>;

    /// Once, and only after the record that says so is durable.
    fn execute<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Report, NotSent>>;

    /// Under the rail's id of the order if there is one.
    fn look<'a>(&'a self, call: &'a Call, id: Option<&'a RailId>) -> BoxFuture<'a, Look>;

    fn probe(&self) -> BoxFuture<'_, bool>;

    fn check(&self) -> BoxFuture<'_, Vec<Finding>>;
}

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
            let is_id = recall == Some(Recall::ByOperation);
            let id = reference.as_deref().filter(|_| is_id).and_then(RailId::parse);
            (RailAnswer::Done { reference }, decided.or(id))
        }
        OrderOutcome::Refused { code } => (RailAnswer::Refused { code }, decided),
        OrderOutcome::Open { id } => {
            let answer = match (recall, &id) {
                (Some(Recall::ById | Recall::ByOperation), Some(_)) => RailAnswer::Waiting,
                (Some(Recall::ByOperation), None) => RailAnswer::Silent,
                _ if could_ask => RailAnswer::Silent,
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
        let by_id = Some(Recall::ById);
        assert_eq!(after_sending(by_id, Err(NotSent::NoConnection)).0, RailAnswer::NotSent);
        let (answer, said) = after_sending(by_id, Err(NotSent::Unfit("no account")));
        assert_eq!(answer, RailAnswer::refused(UNFIT));
        assert_eq!(said.word.map(|word| word.text).as_deref(), Some("no account"));
    }

    #[test]
    fn what_nobody_can_ask_about_is_told_apart_from_what_waits() {
        for (recall, id, sent, asked) in [
            (Recall::Unaskable, None, RailAnswer::Unaskable, RailAnswer::Silent),
            (Recall::Unaskable, Some("7"), RailAnswer::Unaskable, RailAnswer::Silent),
            (Recall::ById, None, RailAnswer::Unaskable, RailAnswer::Silent),
            (Recall::ById, Some("7"), RailAnswer::Waiting, RailAnswer::Waiting),
            (Recall::ByOperation, None, RailAnswer::Silent, RailAnswer::Silent),
            (Recall::ByOperation, Some("7"), RailAnswer::Waiting, RailAnswer::Waiting),
        ] {
            let report = || Report::unanswered(id.and_then(RailId::parse));
            let (answer, said) = after_sending(Some(recall), Ok(report()));
            assert_eq!((answer, said.id), (sent, id.and_then(RailId::parse)), "{recall:?} {id:?}");
            assert_eq!(after_asking(Some(recall), Look::Report(report())).0, asked, "{recall:?} {id:?}");
        }
        assert_eq!(after_asking(Some(Recall::Unaskable), Look::NotAsked).0, RailAnswer::Unaskable);
        assert_eq!(after_asking(Some(Recall::ByOperation), Look::NeverReceived).0, RailAnswer::NeverReceived);
    }
}
