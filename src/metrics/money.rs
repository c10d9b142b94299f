//! What became of money, and what waits. Labels are bounded; no tenant is one.

use super::text::{Page, Value};
use crate::gateway::business::{AGES, KINDS, Line, Seen};
use crate::gateway::business::{
    Business, CONVERTED, CURRENCIES, Counts, DISPUTED, OUTCOMES, PAID_OUT, currency_of,
};
use domain::entities::means::Method;

const MODES: [(&str, bool); 2] = [("live", true), ("test", false)];

pub fn write(page: &mut Page, business: &Business, waiting: &Seen) {
    let modes = MODES.map(|(mode, is_live)| (mode, business.of(is_live)));
    payments(page, &modes);
    payouts(page, &modes);
    rest(page, &modes);
    lines(page, waiting);
}

type Modes = [(&'static str, Counts); 2];

fn payments(page: &mut Page, modes: &Modes) {
    let mut payments = page.counter(
        "pasarela_payments_total",
        "Payments that came to an end since the start, by mode, method, payer's bank (none: the method has \
         none) and outcome.",
    );
    for (mode, counts) in modes {
        for (method, of_method) in Method::ALL.into_iter().zip(&counts.payments) {
            for (bank, outcomes) in &of_method.by_bank {
                let counted = OUTCOMES.into_iter().zip(*outcomes).filter(|(_, count)| *count > 0);
                for (outcome, count) in counted {
                    let labels =
                        [("mode", *mode), ("method", method.name()), ("bank", bank), ("outcome", outcome)];
                    payments.sample(&labels, count);
                }
            }
        }
    }
    let mut volume = page.counter(
        "pasarela_payment_volume_total",
        "What completed payments brought since the start, before fees, in units of its currency.",
    );
    for (mode, counts) in modes {
        for method in Method::ALL {
            let currency = currency_of(method);
            let labels = [("mode", *mode), ("method", method.name()), ("currency", currency.code())];
            volume.sample(
                &labels,
                Value::Minor(counts.payments[method as usize].volume_minor, currency.decimals()),
            );
        }
    }
    let mut failures = page.counter(
        "pasarela_payment_failures_total",
        "Failed payments since the start, by mode, method and failureCode (other: beyond the first 48 codes, \
         or no code).",
    );
    for (mode, counts) in modes {
        for method in Method::ALL {
            for (code, count) in &counts.payments[method as usize].failures {
                failures.sample(&[("mode", *mode), ("method", method.name()), ("code", code)], *count);
            }
        }
    }
}

fn payouts(page: &mut Page, modes: &Modes) {
    let mut payouts = page.counter(
        "pasarela_payouts_total",
        "Payouts that came to an end since the start, by mode, currency and outcome.",
    );
    for (mode, counts) in modes {
        for (n, currency) in CURRENCIES.iter().enumerate() {
            for (outcome, count) in PAID_OUT.into_iter().zip(counts.payouts[n].outcomes) {
                payouts
                    .sample(&[("mode", *mode), ("currency", currency.code()), ("outcome", outcome)], count);
            }
        }
    }
    let mut volume = page.counter(
        "pasarela_payout_volume_total",
        "What completed payouts sent since the start, without fees, in units of its currency.",
    );
    for (mode, counts) in modes {
        for (n, currency) in CURRENCIES.iter().enumerate() {
            let sent = Value::Minor(counts.payouts[n].volume_minor, currency.decimals());
            volume.sample(&[("mode", *mode), ("currency", currency.code())], sent);
        }
    }
    let mut failures = page.counter(
        "pasarela_payout_failures_total",
        "Failed payouts since the start, by mode, currency and failureCode.",
    );
    for (mode, counts) in modes {
        for (n, currency) in CURRENCIES.iter().enumerate() {
            for (code, count) in &counts.payouts[n].failures {
                failures.sample(&[("mode", *mode), ("currency", currency.code()), ("code", code)], *count);
            }
        }
    }
}

fn rest(page: &mut Page, modes: &Modes) {
    let mut conversions = page.counter(
        "pasarela_conversions_total",
        "Conversions that came to an end since the start, by mode and outcome.",
    );
    for (mode, counts) in modes {
        for (outcome, count) in CONVERTED.into_iter().zip(counts.conversions) {
            conversions.sample(&[("mode", *mode), ("outcome", outcome)], count);
        }
    }
    let mut chargebacks = page
        .counter("pasarela_chargebacks_total", "Chargebacks since the start, by mode: opened, and closed.");
    for (mode, counts) in modes {
        for (what, count) in DISPUTED.into_iter().zip(counts.chargebacks) {
            chargebacks.sample(&[("mode", *mode), ("what", what)], count);
        }
    }
}

fn lines(page: &mut Page, waiting: &Seen) {
    let modes = MODES.map(|(mode, is_live)| (mode, usize::from(!is_live)));
    let mut pending = page.gauge(
        "pasarela_pending",
        "Payments and payouts that wait for a bank, a payer or a network, by mode, kind and age (5m: younger \
         than that; older: than a day), at the last count.",
    );
    for (mode, n) in modes {
        for (kind, ages) in KINDS.into_iter().zip(waiting.pending[n]) {
            for ((age, _), count) in AGES.into_iter().zip(ages) {
                pending.sample(&[("mode", mode), ("kind", kind), ("age", age)], count);
            }
        }
    }
    let mut reviews = page.gauge(
        "pasarela_payouts_awaiting_review",
        "Payouts in USDT that an operator has to review, by mode, at the last count.",
    );
    for (mode, n) in modes {
        reviews.sample(&[("mode", mode)], waiting.reviews[n].count);
    }
    let mut oldest = page.gauge(
        "pasarela_payouts_awaiting_review_oldest_seconds",
        "How long the oldest payout in USDT has waited for an operator's review, by mode.",
    );
    for (mode, n) in modes {
        oldest.sample(&[("mode", mode)], waiting.reviews[n].oldest_seconds);
    }
    let Line { count, oldest_seconds } = waiting.notices;
    page.gauge(
        "pasarela_notices_unmatched",
        "Notices of banks about money that came and that no payment has claimed, at the last count; up to \
         10000.",
    )
    .is(count);
    page.gauge(
        "pasarela_notices_unmatched_oldest_seconds",
        "How long the oldest notice has waited that no payment has claimed.",
    )
    .is(oldest_seconds);
    page.gauge(
        "pasarela_webhook_lag_seconds",
        "Age of the oldest event of live mode that an endpoint was not sent yet, at the last count.",
    )
    .is(waiting.webhook_lag_seconds);
}
