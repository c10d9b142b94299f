//! The counts of what became of money, for the metrics: payments by method, bank and outcome, payouts,
//! conversions and chargebacks, with their volume and the codes of failures.
//!
//! A durable record is counted by the events in it, once, by whoever acknowledges it: a few additions to
//! plain atomics, no lock and no allocation unless a code is new. The labels are bounded: methods and
//! outcomes are the domain's, and of banks and codes only so many are told apart; the rest is `other`. A
//! restart begins at nothing, as every counter of Prometheus does. It must not know how a page of metrics
//! is written.

use domain::entities::Entity;
use domain::entities::means::{Means, Method};
use domain::events::EventKind;
use domain::record::Record;
use domain::values::money::Currency;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The outcomes of a payment, in the order of [`Outcome`].
pub const OUTCOMES: [&str; 4] = ["completed", "failed", "canceled", "reversed"];
/// The outcomes of a payout, in the order of [`PaidOut`].
pub const PAID_OUT: [&str; 2] = ["completed", "failed"];
pub const CONVERTED: [&str; 2] = ["completed", "canceled"];
pub const DISPUTED: [&str; 2] = ["opened", "closed"];
pub const CURRENCIES: [Currency; 3] = [Currency::Ves, Currency::Cop, Currency::Usdt];

#[derive(Clone, Copy)]
enum Outcome {
    Completed,
    Failed,
    Canceled,
    Reversed,
}

#[derive(Clone, Copy)]
enum PaidOut {
    Completed,
    Failed,
}

#[derive(Default)]
pub struct Business {
    live: Counts,
    test: Counts,
}

#[derive(Default)]
pub struct Counts {
    banks: Slots,
    payments: [PaymentCounts; Method::ALL.len()],
    payouts: [PayoutCounts; CURRENCIES.len()],
    conversions: [AtomicU64; CONVERTED.len()],
    chargebacks: [AtomicU64; DISPUTED.len()],
}

struct PaymentCounts {
    /// The attempts by the slot of the payer's bank; the last but one is of none, the last of any
    /// other.
    by_bank: [[AtomicU64; OUTCOMES.len()]; BANKS + 2],
    volume_minor: AtomicU64,
    failures: Codes,
}

impl Default for PaymentCounts {
    fn default() -> PaymentCounts {
        let by_bank = [const { [const { AtomicU64::new(0) }; OUTCOMES.len()] }; BANKS + 2];
        PaymentCounts { by_bank, volume_minor: AtomicU64::new(0), failures: Codes::default() }
    }
}

#[derive(Default)]
struct PayoutCounts {
    outcomes: [AtomicU64; PAID_OUT.len()],
    volume_minor: AtomicU64,
    failures: Codes,
}

pub const fn currency_of(method: Method) -> Currency {
    match method {
        Method::C2p | Method::Vpos | Method::Debit | Method::PagoMovil => Currency::Ves,
        Method::Cop => Currency::Cop,
        Method::Usdt => Currency::Usdt,
    }
}

impl Business {
    pub const fn of(&self, is_live: bool) -> &Counts {
        if is_live { &self.live } else { &self.test }
    }

    pub fn note(&self, is_live: bool, record: &Record) {
        use EventKind as Kind;
        let counts = if is_live { &self.live } else { &self.test };
        for event in &record.events {
            for written in &record.entities {
                let subject = &*written.state;
                if Some(subject.id()) != event.subject {
                    continue;
                }
                match event.kind {
                    Kind::PaymentCompleted => counts.payment(subject, Outcome::Completed),
                    Kind::PaymentFailed => counts.payment(subject, Outcome::Failed),
                    Kind::PaymentCanceled => counts.payment(subject, Outcome::Canceled),
                    Kind::PaymentReversed => counts.payment(subject, Outcome::Reversed),
                    Kind::PayoutCompleted => counts.payout(subject, PaidOut::Completed),
                    Kind::PayoutFailed => counts.payout(subject, PaidOut::Failed),
                    Kind::ConversionCompleted => add(&counts.conversions[0], 1),
                    Kind::ConversionCanceled => add(&counts.conversions[1], 1),
                    Kind::PaymentChargeback => add(&counts.chargebacks[0], 1),
                    Kind::PaymentChargebackClosed => add(&counts.chargebacks[1], 1),
                    // The events of USDT payouts alone come beside that of all payouts, which was counted.
                    _ => {}
                }
                break;
            }
        }
    }
}

impl Counts {
    fn payment(&self, subject: &Entity, outcome: Outcome) {
        let (method, bank, minor, failure) = match subject {
            Entity::Payment(payment) => {
                let minor = match &payment.means {
                    Means::Usdt { amount, .. } => amount.minor(),
                    Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Transfer { .. } => {
                        payment.ves.minor()
                    }
                };
                let bank = payment.debtor().map(|debtor| debtor.bank.number());
                (payment.means.method(), bank, minor, payment.failure_code.as_deref())
            }
            Entity::CopPayment(payment) => {
                (Method::Cop, None, payment.amount.minor(), payment.failure_code())
            }
            _ => return,
        };
        let counts = &self.payments[method as usize];
        let slot = match bank {
            Some(bank) => self.banks.of(bank),
            None => BANKS,
        };
        add(&counts.by_bank[slot][outcome as usize], 1);
        match outcome {
            Outcome::Completed => add(&counts.volume_minor, minor.unsigned_abs()),
            Outcome::Failed => counts.failures.note(clean(failure)),
            Outcome::Canceled | Outcome::Reversed => {}
        }
    }

    fn payout(&self, subject: &Entity, outcome: PaidOut) {
        let (currency, minor, failure) = match subject {
            Entity::Payout(payout) => (0, payout.amount.minor(), payout.failure_code.as_deref()),
            Entity::CopPayout(payout) => (1, payout.amount.minor(), payout.failure_code.as_deref()),
            Entity::CryptoPayout(payout) => (2, payout.amount.minor(), payout.failure_code.as_deref()),
            _ => return,
        };
        let counts = &self.payouts[currency];
        counts.outcomes[outcome as usize].fetch_add(1, Ordering::Relaxed);
        match outcome {
            PaidOut::Completed => {
                counts.volume_minor.fetch_add(minor.unsigned_abs(), Ordering::Relaxed);
            }
            PaidOut::Failed => counts.failures.note(clean(failure)),
        }
    }

    /// The payments that came to an end, by method, bank and outcome, as far as there are any. The bank is
    /// `none` where a method has none, and `other` beyond those that are told apart.
    pub fn payments(&self) -> Vec<(Method, String, &'static str, u64)> {
        let mut found = Vec::new();
        for method in Method::ALL {
            for (slot, outcomes) in self.payments[method as usize].by_bank.iter().enumerate() {
                for (outcome, count) in OUTCOMES.into_iter().zip(outcomes) {
                    let count = count.load(Ordering::Relaxed);
                    if count > 0 {
                        let bank = match slot {
                            BANKS => "none".to_owned(),
                            slot => self.banks.name(slot),
                        };
                        found.push((method, bank, outcome, count));
                    }
                }
            }
        }
        found
    }

    /// The sum of completed payments by a method, in minor units of its currency.
    pub fn payment_volume(&self, method: Method) -> u64 {
        self.payments[method as usize].volume_minor.load(Ordering::Relaxed)
    }

    /// The codes of failed payments by a method, and how often each came.
    pub fn payment_failures(&self, method: Method) -> Vec<(String, u64)> {
        self.payments[method as usize].failures.counts()
    }

    /// The payouts in the `n`-th currency of [`CURRENCIES`] by outcome.
    pub fn payouts(&self, n: usize) -> [u64; PAID_OUT.len()] {
        self.payouts[n].outcomes.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// The sum of completed payouts, in minor units.
    pub fn payout_volume(&self, n: usize) -> u64 {
        self.payouts[n].volume_minor.load(Ordering::Relaxed)
    }

    /// The codes of failed payouts, and how often each came.
    pub fn payout_failures(&self, n: usize) -> Vec<(String, u64)> {
        self.payouts[n].failures.counts()
    }

    pub fn conversions(&self) -> [u64; CONVERTED.len()] {
        self.conversions.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    pub fn chargebacks(&self) -> [u64; DISPUTED.len()] {
        self.chargebacks.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

// Counts under names that are not known beforehand, of which there are only so many: a name gets a slot when it
// first comes, for as long as the process lives. No lock is taken.

/// The banks that are told apart; there are about thirty.
const BANKS: usize = 64;
/// The codes of failures that are told apart, of one method or currency.
const CODES: usize = 48;
/// Characters of a code; a longer text is a sentence.
const CODE_MAX: usize = 32;
const OTHER: &str = "other";

struct Slots([AtomicU16; BANKS]);

impl Default for Slots {
    fn default() -> Slots {
        Slots([const { AtomicU16::new(0) }; BANKS])
    }
}

impl Slots {
    /// The slot of a bank, by its number, which is never 0. Beyond the last one there are two more: see
    /// [`Slots::name`].
    fn of(&self, bank: u16) -> usize {
        for (slot, known) in self.0.iter().enumerate() {
            let holder = match known.load(Ordering::Relaxed) {
                0 => match known.compare_exchange(0, bank, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => bank,
                    Err(other) => other,
                },
                other => other,
            };
            if holder == bank {
                return slot;
            }
        }
        BANKS + 1
    }

    fn name(&self, slot: usize) -> String {
        self.0
            .get(slot)
            .map_or_else(|| OTHER.to_owned(), |bank| format!("{:04}", bank.load(Ordering::Relaxed)))
    }
}

/// The number of times that each code came.
struct Codes {
    known: [OnceLock<Box<str>>; CODES],
    counts: [AtomicU64; CODES],
    others: AtomicU64,
}

impl Default for Codes {
    fn default() -> Codes {
        Codes {
            known: [const { OnceLock::new() }; CODES],
            counts: [const { AtomicU64::new(0) }; CODES],
            others: AtomicU64::new(0),
        }
    }
}

impl Codes {
    fn note(&self, code: &str) {
        let slot = self.known.iter().position(|known| &**known.get_or_init(|| code.into()) == code);
        let count = slot.map_or(&self.others, |slot| &self.counts[slot]);
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn counts(&self) -> Vec<(String, u64)> {
        let known = self.known.iter().map_while(|known| known.get());
        let mut found: Vec<(String, u64)> = known
            .zip(&self.counts)
            .map(|(code, count)| (code.to_string(), count.load(Ordering::Relaxed)))
            .collect();
        let others = self.others.load(Ordering::Relaxed);
        if others > 0 {
            found.push((OTHER.to_owned(), others));
        }
        found
    }
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
// (`src/admin/operations.rs`), so that a scrape of the metrics walks no books.

/// The ages that are told apart: each is below so many seconds, the last one older than all.
pub const AGES: [(&str, i64); 4] = [("5m", 300), ("1h", 3_600), ("1d", 86_400), ("older", i64::MAX)];
pub const KINDS: [&str; 4] = ["payment", "cop_payment", "payout", "usdt_payout"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub count: u64,
    pub oldest_seconds: u64,
}

impl Line {
    /// Adds one that has waited so long.
    pub fn add(&mut self, seconds: i64) {
        self.count += 1;
        self.oldest_seconds = self.oldest_seconds.max(u64::try_from(seconds).unwrap_or(0));
    }
}

/// The figures of one count; of each pair the first is live mode's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The number of things that wait, by mode, kind and age.
    pub pending: [[[u64; AGES.len()]; KINDS.len()]; 2],
    pub reviews: [Line; 2],
    /// Notices of banks that no payment has claimed.
    pub notices: Line,
    /// Seconds since the oldest event of live mode that an endpoint was not sent yet.
    pub webhook_lag_seconds: u64,
}

impl Seen {
    /// Adds something of the `kind`-th kind that has waited so long.
    pub fn add(&mut self, is_live: bool, kind: usize, seconds: i64) {
        let age = AGES.iter().position(|(_, below)| seconds < *below).unwrap_or(AGES.len() - 1);
        self.pending[usize::from(!is_live)][kind][age] += 1;
    }
}

#[derive(Default)]
pub struct Waiting(Mutex<Seen>);

impl Waiting {
    pub fn counted(&self, seen: Seen) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }

    /// The newest count; zeros before the first.
    pub fn seen(&self) -> Seen {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bank_keeps_its_slot_and_the_last_ones_are_others() {
        let slots = Slots::default();
        let first: Vec<usize> = (1..=BANKS as u16).map(|bank| slots.of(bank)).collect();
        assert_eq!(first, (0..BANKS).collect::<Vec<_>>());
        assert_eq!((slots.of(7), slots.name(6).as_str()), (6, "0007"));
        assert_eq!((slots.of(9999), slots.name(slots.of(9999)).as_str()), (BANKS + 1, "other"));
    }

    #[test]
    fn codes_are_counted_by_name_as_far_as_there_is_room() {
        let codes = Codes::default();
        for n in 0..CODES + 3 {
            codes.note(&format!("C{n}"));
        }
        codes.note("C0");
        let counts = codes.counts();
        assert_eq!(counts.len(), CODES + 1);
        assert_eq!((&counts[0], &counts[CODES]), (&("C0".to_owned(), 2), &("other".to_owned(), 3)));
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
    fn threads_that_meet_a_new_name_agree_on_its_slot() {
        let (slots, codes) = (Slots::default(), Codes::default());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 1..=40_u16 {
                        slots.of(n);
                        codes.note(&n.to_string());
                    }
                });
            }
        });
        let slots_of: std::collections::BTreeSet<usize> = (1..=40).map(|bank| slots.of(bank)).collect();
        assert_eq!(slots_of, (0..40).collect());
        assert!(codes.counts().len() == 40 && codes.counts().iter().all(|(_, count)| *count == 4));
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
