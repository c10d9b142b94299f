//! What fronts, and leaders of partitions, ask the leader of each partition: whether it has something that its own
//! index alone knows of. Ids and addresses do not say whose they are.

use api::problem::Problem;
use domain::values::ids::Id;
use hyper::http::request::Parts;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// For one answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);
/// For one about a thing of operators, which is looked for account by account.
const LONG_PATIENCE: Duration = Duration::from_secs(5);
/// Asked for at once: whoever makes up addresses has others wait, and the processes not work for it alone.
pub(super) const ASKING_MAX: usize = 64;
/// For so long an answer is not asked for again.
const GOOD: Duration = Duration::from_secs(10);
const RECENT_MAX: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Of a checkout.
    Session(Id),
    /// The end of a payment link's address.
    Link(String),
    /// The same, and whether somebody is about to have it.
    Claim(String),
    /// The hash of an account's key.
    Key([u8; 32]),
    /// The number of a live payer's document.
    Payer(u32),
    /// For operators alone.
    Thing(Thing, Id),
}

/// What operators ask for by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    Payment,
    Payout,
    Merchant,
    Event,
    Approval,
    Chargeback,
    CopPayout,
    CryptoPayout,
    Operation,
}

impl Thing {
    const ALL: [Thing; 9] = [
        Thing::Payment,
        Thing::Payout,
        Thing::Merchant,
        Thing::Event,
        Thing::Approval,
        Thing::Chargeback,
        Thing::CopPayout,
        Thing::CryptoPayout,
        Thing::Operation,
    ];

    /// Below `/admin/`, before its id.
    const fn path(self) -> &'static str {
        match self {
            Thing::Payment => "payments",
            Thing::Payout => "payouts",
            Thing::Merchant => "merchants",
            Thing::Event => "events",
            Thing::Approval => "approvals",
            Thing::Chargeback => "chargebacks",
            Thing::CopPayout => "cop-payouts",
            Thing::CryptoPayout => "crypto/payouts",
            Thing::Operation => "operations",
        }
    }

    /// The thing that is named by what stands below `/admin/`, whatever is asked of it.
    pub(super) fn named(below: &str) -> Option<(Thing, Id)> {
        Thing::ALL.into_iter().find_map(|thing| {
            let rest = below.strip_prefix(thing.path())?.strip_prefix('/')?;
            Some((thing, Id::parse(rest.split('/').next()?)?))
        })
    }
}

/// Whose leader shows a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownBy {
    /// That of the partition which has this.
    Holder(Thing, Id),
    Partition(u8),
}

const PARTITION: &str = "partition";

impl fmt::Display for ShownBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShownBy::Holder(thing, id) => Question::Thing(*thing, *id).fmt(f),
            ShownBy::Partition(partition) => write!(f, "{PARTITION} {partition}"),
        }
    }
}

impl ShownBy {
    pub(super) fn parse(text: &str) -> Option<ShownBy> {
        match text.split_once(' ')? {
            (PARTITION, number) => number.parse().ok().map(ShownBy::Partition),
            _ => match Question::parse(text)? {
                Question::Thing(thing, id) => Some(ShownBy::Holder(thing, id)),
                _ => None,
            },
        }
    }
}

/// Whether this partition has it, if it leads. The head says who asks, where that matters.
pub type Holds = Box<dyn Fn(Question, &Parts) -> Held + Send + Sync>;
pub type Held = Pin<Box<dyn Future<Output = Result<bool, Problem>> + Send>>;

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Session(id) => write!(f, "session {id}"),
            Question::Link(slug) => write!(f, "link {slug}"),
            Question::Claim(slug) => write!(f, "claim {slug}"),
            Question::Key(hash) => write!(f, "key {}", hex::encode(hash)),
            Question::Thing(thing, id) => write!(f, "{} {id}", thing.path()),
            Question::Payer(document) => write!(f, "payer {document}"),
        }
    }
}

impl Question {
    pub(super) const fn patience(&self) -> Duration {
        if self.is_of_operators() { LONG_PATIENCE } else { PATIENCE }
    }

    pub(super) const fn is_of_operators(&self) -> bool {
        matches!(self, Question::Thing(..))
    }

    pub(super) fn parse(text: &str) -> Option<Question> {
        let (what, name) = text.split_once(' ')?;
        Some(match what {
            "session" => Question::Session(Id::parse(name)?),
            "link" => Question::Link(name.to_owned()),
            "claim" => Question::Claim(name.to_owned()),
            "key" => Question::Key(hex::decode(name).ok()?.try_into().ok()?),
            "payer" => Question::Payer(name.parse().ok()?),
            what => {
                let thing = Thing::ALL.into_iter().find(|thing| thing.path() == what)?;
                Question::Thing(thing, Id::parse(name)?)
            }
        })
    }
}

/// The partitions that had what was asked for last.
#[derive(Default)]
pub(super) struct Recent(Mutex<HashMap<String, (usize, Instant)>>);

impl Recent {
    pub(super) fn find(&self, question: &str) -> Option<usize> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(question).filter(|(_, at)| at.elapsed() < GOOD).map(|(partition, _)| *partition)
    }

    pub(super) fn forget(&self, question: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(question);
    }

    pub(super) fn note(&self, question: String, partition: usize) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= RECENT_MAX {
            known.retain(|_, (_, at)| at.elapsed() < GOOD);
        }
        if known.len() < RECENT_MAX {
            known.insert(question, (partition, Instant::now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_as_they_were_written() {
        for question in [
            Question::Session(Id::derived(1, 2, 3)),
            Question::Link("camisa-lino".to_owned()),
            Question::Claim("camisa-lino".to_owned()),
            Question::Key([7; 32]),
            Question::Thing(Thing::CryptoPayout, Id::derived(1, 2, 3)),
            Question::Thing(Thing::Operation, Id::derived(1, 2, 3)),
            Question::Payer(12_345_678),
        ] {
            assert_eq!(Question::parse(&question.to_string()), Some(question));
        }
        for other in ["session", "session x", "key 07", "payments x", "things 7", ""] {
            assert_eq!(Question::parse(other), None, "{other}");
        }
    }

    #[test]
    fn who_shows_a_page_is_read_as_it_was_written() {
        for by in [ShownBy::Holder(Thing::CryptoPayout, Id::derived(1, 2, 3)), ShownBy::Partition(63)] {
            assert_eq!(ShownBy::parse(&by.to_string()), Some(by));
        }
        for other in ["", "partition", "partition x", "link a", "payments"] {
            assert_eq!(ShownBy::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_few_answers_are_remembered() {
        let recent = Recent::default();
        assert_eq!(recent.find("link a"), None);
        recent.note("link a".to_owned(), 2);
        assert_eq!((recent.find("link a"), recent.find("link b")), (Some(2), None));
        recent.forget("link a");
        assert_eq!(recent.find("link a"), None);
        (0..RECENT_MAX + 1).for_each(|n| recent.note(n.to_string(), 1));
        assert_eq!(recent.0.lock().expect("nobody panicked").len(), RECENT_MAX);
    }
}
