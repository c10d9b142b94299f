//! The counts of what became of money, for the metrics: payments by method, bank and outcome, payouts,
//! conversions and chargebacks, with their volume and the codes of failures.
//!
//! A durable record is counted by the events in it, once, by whoever acknowledges it: a few additions to
//! plain atomics, no lock and no allocation unless a code is new. The labels are bounded: methods and
//! outcomes are the domain's, and of banks and codes only so many are told apart; the rest is `other`. A
//! restart begins at nothing, as every counter of Prometheus does. It must not know how a page of metrics
//! is written.

mod tally;

use crate::gateway::business::tally::{BANKS, Codes, Slots, clean};
use domain::events::{Event, EventKind};
use domain::record::{Entity, Record};
use domain::resources::payments::{Means, Method};
use domain::values::money::Currency;
use std::sync::atomic::{AtomicU64, Ordering};

/// The outcomes of a payment, in the order of [`Outcome`].
pub const OUTCOMES: [&str; 4] = ["completed", "failed", "canceled", "reversed"];
/// The outcomes of a payout, in the order of [`PaidOut`].
pub const PAID_OUT: [&str; 2] = ["completed", "failed"];
/// The outcomes of a conversion.
pub const CONVERTED: [&str; 2] = ["completed", "canceled"];
/// The events of a chargeback.
pub const DISPUTED: [&str; 2] = ["opened", "closed"];
/// The currencies of payouts.
pub const CURRENCIES: [Currency; 3] = [Currency::Ves, Currency::Cop, Currency::Usdt];

/// The outcome of a payment.
#[derive(Clone, Copy)]
enum Outcome {
    Completed,
    Failed,
    Canceled,
    Reversed,
}

/// The outcome of a payout.
#[derive(Clone, Copy)]
enum PaidOut {
    Completed,
    Failed,
}

/// The counts of both modes.
#[derive(Default)]
pub struct Business {
    live: Counts,
    test: Counts,
}

/// The counts of a mode.
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

/// The currency that payments by a method are in.
pub const fn currency_of(method: Method) -> Currency {
    match method {
        Method::C2p | Method::Vpos | Method::Debit | Method::PagoMovil => Currency::Ves,
        Method::Cop => Currency::Cop,
        Method::Usdt => Currency::Usdt,
    }
}

impl Business {
    /// The counts of a mode.
    pub const fn of(&self, is_live: bool) -> &Counts {
        if is_live { &self.live } else { &self.test }
    }

    /// Counts what a durable record says.
    pub fn note(&self, is_live: bool, record: &Record) {
        let counts = self.of(is_live);
        for event in &record.events {
            counts.note(event, record);
        }
    }
}

impl Counts {
    fn note(&self, event: &Event, record: &Record) {
        use EventKind as Kind;
        let subject = record
            .entities
            .iter()
            .map(|written| &*written.state)
            .find(|state| Some(state.id()) == event.subject);
        let Some(subject) = subject else { return };
        match event.kind {
            Kind::PaymentCompleted => self.payment(subject, Outcome::Completed),
            Kind::PaymentFailed => self.payment(subject, Outcome::Failed),
            Kind::PaymentCanceled => self.payment(subject, Outcome::Canceled),
            Kind::PaymentReversed => self.payment(subject, Outcome::Reversed),
            Kind::PayoutCompleted => self.payout(subject, PaidOut::Completed),
            Kind::PayoutFailed => self.payout(subject, PaidOut::Failed),
            Kind::ConversionCompleted => add(&self.conversions[0], 1),
            Kind::ConversionCanceled => add(&self.conversions[1], 1),
            Kind::PaymentChargeback => add(&self.chargebacks[0], 1),
            Kind::PaymentChargebackClosed => add(&self.chargebacks[1], 1),
            Kind::MerchantVerified
            | Kind::MerchantRejected
            | Kind::MerchantDeactivated
            | Kind::MerchantReactivated
            | Kind::MerchantBalanceUpdated
            | Kind::TenantLiveStatusChanged
            | Kind::ConversionCreated
            | Kind::CryptoDepositCompleted
            | Kind::TestReset => {}
            // The event of all payouts, in the same record, was counted.
            Kind::CryptoPayoutCompleted | Kind::CryptoPayoutFailed => {}
        }
    }

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
            // No payment is of these kinds.
            Entity::Payout(_)
            | Entity::Merchant(_)
            | Entity::Batch(_)
            | Entity::Chargeback(_)
            | Entity::Otp(_)
            | Entity::OwnAccount(_)
            | Entity::Product(_)
            | Entity::Session(_)
            | Entity::Conversion(_)
            | Entity::CryptoPayout(_)
            | Entity::DepositAddress(_)
            | Entity::CopPayout(_)
            | Entity::Webhook(_)
            | Entity::Notice(_)
            | Entity::Approval(_) => return,
        };
        let counts = &self.payments[method as usize];
        let slot = bank.map_or(BANKS, |bank| self.banks.of(bank));
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
            // No payout is of these kinds.
            Entity::Payment(_)
            | Entity::Merchant(_)
            | Entity::Batch(_)
            | Entity::Chargeback(_)
            | Entity::Otp(_)
            | Entity::OwnAccount(_)
            | Entity::Product(_)
            | Entity::Session(_)
            | Entity::Conversion(_)
            | Entity::DepositAddress(_)
            | Entity::CopPayment(_)
            | Entity::Webhook(_)
            | Entity::Notice(_)
            | Entity::Approval(_) => return,
        };
        let counts = &self.payouts[currency];
        add(&counts.outcomes[outcome as usize], 1);
        match outcome {
            PaidOut::Completed => add(&counts.volume_minor, minor.unsigned_abs()),
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

    /// The conversions by outcome.
    pub fn conversions(&self) -> [u64; CONVERTED.len()] {
        self.conversions.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// The chargebacks by what became of them.
    pub fn chargebacks(&self) -> [u64; DISPUTED.len()] {
        self.chargebacks.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}
