//! The counts of what became of money, for the metrics: payments by method, bank and outcome, payouts,
//! conversions and chargebacks, with their volume and the codes of failures.
//!
//! A durable record is counted by the events in it, once, by whoever acknowledges it. The labels are bounded: methods
//! and outcomes are the domain's, and of banks and codes only so many are told apart; the rest is `other`. A restart
//! begins at nothing, as every counter of Prometheus does. It must not know how a page of metrics is written.

use domain::entities::Entity;
use domain::entities::means::Method;
use domain::events::EventKind;
use domain::record::Record;
use domain::values::money::Currency;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub const OUTCOMES: [&str; 4] = ["completed", "failed", "canceled", "reversed"];
const COMPLETED: usize = 0;
const FAILED: usize = 1;
const CANCELED: usize = 2;
const REVERSED: usize = 3;
/// As far as payouts have them.
pub const PAID_OUT: [&str; 2] = ["completed", "failed"];
pub const CONVERTED: [&str; 2] = ["completed", "canceled"];
pub const DISPUTED: [&str; 2] = ["opened", "closed"];
pub const CURRENCIES: [Currency; 3] = [Currency::Ves, Currency::Cop, Currency::Usdt];

/// The banks that are told apart; there are about thirty.
const BANKS: usize = 64;
const CODES: usize = 48;
/// Characters of a code; a longer text is a sentence.
const CODE_MAX: usize = 32;
const OTHER: &str = "other";

#[derive(Default)]
pub struct Business {
    live: Mutex<Counts>,
    test: Mutex<Counts>,
}

#[derive(Clone, Default)]
pub struct Counts {
    pub payments: [PaymentCounts; Method::ALL.len()],
    pub payouts: [PayoutCounts; CURRENCIES.len()],
    pub conversions: [u64; CONVERTED.len()],
    pub chargebacks: [u64; DISPUTED.len()],
}

#[derive(Clone, Default)]
pub struct PaymentCounts {
    /// By the payer's bank; `none` where a method has none, and `other` beyond those that are told apart.
    pub by_bank: BTreeMap<String, [u64; OUTCOMES.len()]>,
    /// Of completed ones, in minor units of the method's currency.
    pub volume_minor: u64,
    pub failures: BTreeMap<String, u64>,
}

#[derive(Clone, Default)]
pub struct PayoutCounts {
    pub outcomes: [u64; PAID_OUT.len()],
    pub volume_minor: u64,
    pub failures: BTreeMap<String, u64>,
}

impl Business {
    pub fn of(&self, is_live: bool) -> MutexGuard<'_, Counts> {
        let counts = if is_live { &self.live } else { &self.test };
        counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn note(&self, is_live: bool, record: &Record) {
        use EventKind as Kind;
        if record.events.is_empty() {
            return;
        }
        let mut counts = self.of(is_live);
        for event in &record.events {
            for written in &record.entities {
                let subject = &*written.state;
                if Some(subject.id()) != event.subject {
                    continue;
                }
                match event.kind {
                    Kind::PaymentCompleted => counts.payment(subject, COMPLETED),
                    Kind::PaymentFailed => counts.payment(subject, FAILED),
                    Kind::PaymentCanceled => counts.payment(subject, CANCELED),
                    Kind::PaymentReversed => counts.payment(subject, REVERSED),
                    Kind::PayoutCompleted => counts.payout(subject, COMPLETED),
                    Kind::PayoutFailed => counts.payout(subject, FAILED),
                    Kind::ConversionCompleted => counts.conversions[0] += 1,
                    Kind::ConversionCanceled => counts.conversions[1] += 1,
                    Kind::PaymentChargeback => counts.chargebacks[0] += 1,
                    Kind::PaymentChargebackClosed => counts.chargebacks[1] += 1,
                    // The events of USDT payouts alone come beside that of all payouts, which was counted.
                    _ => {}
                }
                break;
            }
        }
    }
}

impl Counts {
    fn payment(&mut self, subject: &Entity, outcome: usize) {
        let (method, bank, minor, failure) = match subject {
            Entity::Payment(payment) => {
                let (_, minor) = payment.amount();
                let bank = payment.debtor().map(|debtor| format!("{:04}", debtor.bank.number()));
                (payment.means.method(), bank, minor, payment.failure_code.as_deref())
            }
            Entity::CopPayment(payment) => {
                (Method::Cop, None, payment.amount.minor(), payment.failure_code())
            }
            _ => return,
        };
        let counts = &mut self.payments[method as usize];
        named(&mut counts.by_bank, bank.as_deref().unwrap_or("none"), BANKS)[outcome] += 1;
        match outcome {
            COMPLETED => counts.volume_minor = counts.volume_minor.saturating_add(minor.unsigned_abs()),
            FAILED => *named(&mut counts.failures, clean(failure), CODES) += 1,
            _ => {}
        }
    }

    fn payout(&mut self, subject: &Entity, outcome: usize) {
        let (currency, minor, failure) = match subject {
            Entity::Payout(payout) => (0, payout.amount.minor(), payout.failure_code.as_deref()),
            Entity::CopPayout(payout) => (1, payout.amount.minor(), payout.failure_code.as_deref()),
            Entity::CryptoPayout(payout) => (2, payout.amount.minor(), payout.failure_code.as_deref()),
            _ => return,
        };
        let counts = &mut self.payouts[currency];
        counts.outcomes[outcome] += 1;
        match outcome {
            COMPLETED => counts.volume_minor = counts.volume_minor.saturating_add(minor.unsigned_abs()),
            _ => *named(&mut counts.failures, clean(failure), CODES) += 1,
        }
    }
}

fn named<'c, T: Default>(counts: &'c mut BTreeMap<String, T>, name: &str, most: usize) -> &'c mut T {
    let name = if counts.len() < most || counts.contains_key(name) { name } else { OTHER };
    counts.entry(name.to_owned()).or_default()
}

/// A code as a label: what a bank wrote that is no code, or no code at all, is not one.
fn clean(code: Option<&str>) -> &str {
    match code {
        None => "none",
        Some(code)
            if (1..=CODE_MAX).contains(&code.len())
                && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) =>
        {
            code
        }
        Some(_) => OTHER,
    }
}

// Counts of what waits, as they were taken last: payments and payouts by their age, payouts for an operator's
// review, notices that nobody has claimed, events for webhook endpoints. A task counts now and then
// (`src/admin/due.rs`), so that a scrape of the metrics walks no books.

/// The ages that are told apart: each is below so many seconds, the last one older than all.
pub const AGES: [(&str, i64); 4] = [("5m", 300), ("1h", 3_600), ("1d", 86_400), ("older", i64::MAX)];
pub const KINDS: [&str; 4] = ["payment", "cop_payment", "payout", "usdt_payout"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub count: u64,
    pub oldest_seconds: u64,
}

impl Line {
    pub fn add(&mut self, seconds: i64) {
        self.count += 1;
        self.oldest_seconds = self.oldest_seconds.max(u64::try_from(seconds).unwrap_or(0));
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Orders that no bank has answered for too long, by their rail.
    pub unresolved: BTreeMap<&'static str, u64>,
    /// Of live mode, then of test mode, here and below.
    pub pending: [[[u64; AGES.len()]; KINDS.len()]; 2],
    pub reviews: [Line; 2],
    pub notices: Line,
    /// Seconds since the oldest event of live mode that an endpoint was not sent yet.
    pub webhook_lag_seconds: u64,
}

impl Seen {
    pub fn add(&mut self, is_live: bool, kind: usize, seconds: i64) {
        let age = AGES.iter().position(|(_, below)| seconds < *below).unwrap_or(AGES.len() - 1);
        self.pending[usize::from(!is_live)][kind][age] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_as_far_as_there_is_room() {
        let mut codes = BTreeMap::<String, u64>::new();
        for n in 0..CODES + 3 {
            *named(&mut codes, &format!("C{n}"), CODES) += 1;
        }
        *named(&mut codes, "C0", CODES) += 1;
        assert_eq!((codes.len(), codes["C0"], codes[OTHER]), (CODES + 1, 2, 3));
    }

    #[test]
    fn what_is_no_code_is_no_label() {
        let long = "x".repeat(33);
        for (code, label) in [
            (Some("AM04"), "AM04"),
            (Some("insufficient_funds"), "insufficient_funds"),
            (Some("la cuenta de Ana"), "other"),
            (Some("a\"}"), "other"),
            (Some(""), "other"),
            (Some(long.as_str()), "other"),
            (None, "none"),
        ] {
            assert_eq!(clean(code), label, "{code:?}");
        }
    }

    #[test]
    fn what_waits_is_counted_by_its_age() {
        let mut seen = Seen::default();
        for seconds in [-1, 0, 299, 300, 86_399, 86_400, i64::MAX] {
            seen.add(false, 2, seconds);
        }
        assert_eq!(seen.pending[1][2], [3, 1, 1, 2]);
        assert_eq!(seen.pending[0], Seen::default().pending[0]);
        let mut line = Line::default();
        line.add(7);
        line.add(-3);
        assert_eq!(line, Line { count: 2, oldest_seconds: 7 });
    }
}
