//! What became of money, and what waits. Labels are bounded; no tenant is one.

use super::text::{Page, Value, families};
use crate::gateway::business::{
    AGES, Business, CONVERTED, CURRENCIES, DISPUTED, KINDS, OUTCOMES, PAID_OUT, Seen, currency_of,
};
use domain::entities::means::Method;

pub fn write(page: &mut Page, business: &Business, waiting: &Seen) {
    let modes = &[("live", business.of(true).clone()), ("test", business.of(false).clone())];
    let currencies = || CURRENCIES.iter().enumerate();
    families! { page
        counter "pasarela_payments_total"
            "Payments that came to an end since the start, by mode, method, payer's bank (none: the method has none) and outcome."
            for (mode, counts) in modes, for (method, of) in Method::ALL.into_iter().zip(&counts.payments),
            for (bank, outcomes) in &of.by_bank,
            for (outcome, count) in OUTCOMES.into_iter().zip(*outcomes).filter(|(_, count)| *count > 0),
            by("mode" mode, "method" method.name(), "bank" bank, "outcome" outcome) => count;
        counter "pasarela_payment_volume_total"
            "What completed payments brought since the start, before fees, in units of its currency."
            for (mode, counts) in modes, for method in Method::ALL,
            by("mode" mode, "method" method.name(), "currency" currency_of(method).code())
            => Value::Minor(counts.payments[method as usize].volume_minor, currency_of(method).decimals());
        counter "pasarela_payment_failures_total"
            "Failed payments since the start, by mode, method and failureCode (other: beyond the first 48 codes, or no code)."
            for (mode, counts) in modes, for method in Method::ALL, for (code, count) in &counts.payments[method as usize].failures,
            by("mode" mode, "method" method.name(), "code" code) => *count;
        counter "pasarela_payouts_total"
            "Payouts that came to an end since the start, by mode, currency and outcome."
            for (mode, counts) in modes, for (n, currency) in currencies(),
            for (outcome, count) in PAID_OUT.into_iter().zip(counts.payouts[n].outcomes),
            by("mode" mode, "currency" currency.code(), "outcome" outcome) => count;
        counter "pasarela_payout_volume_total"
            "What completed payouts sent since the start, without fees, in units of its currency."
            for (mode, counts) in modes, for (n, currency) in currencies(), by("mode" mode, "currency" currency.code())
            => Value::Minor(counts.payouts[n].volume_minor, currency.decimals());
        counter "pasarela_payout_failures_total"
            "Failed payouts since the start, by mode, currency and failureCode."
            for (mode, counts) in modes, for (n, currency) in currencies(), for (code, count) in &counts.payouts[n].failures,
            by("mode" mode, "currency" currency.code(), "code" code) => *count;
        counter "pasarela_conversions_total"
            "Conversions that came to an end since the start, by mode and outcome."
            for (mode, counts) in modes, for (outcome, count) in CONVERTED.into_iter().zip(counts.conversions),
            by("mode" mode, "outcome" outcome) => count;
        counter "pasarela_chargebacks_total"
            "Chargebacks since the start, by mode: opened, and closed."
            for (mode, counts) in modes, for (what, count) in DISPUTED.into_iter().zip(counts.chargebacks),
            by("mode" mode, "what" what) => count;
    }
    let modes = [("live", 0), ("test", 1)];
    families! { page
        gauge "pasarela_pending"
            "Payments and payouts that wait for a bank, a payer or a network, by mode, kind and age (5m: younger than that; older: than a day), at the last count."
            for (mode, n) in modes, for (kind, ages) in KINDS.into_iter().zip(waiting.pending[n]),
            for ((age, _), count) in AGES.into_iter().zip(ages), by("mode" mode, "kind" kind, "age" age) => count;
        gauge "pasarela_payouts_awaiting_review"
            "Payouts in USDT that an operator has to review, by mode, at the last count."
            for (mode, n) in modes, by("mode" mode) => waiting.reviews[n].count;
        gauge "pasarela_payouts_awaiting_review_oldest_seconds"
            "How long the oldest payout in USDT has waited for an operator's review, by mode."
            for (mode, n) in modes, by("mode" mode) => waiting.reviews[n].oldest_seconds;
        gauge "pasarela_notices_unmatched"
            "Notices of banks about money that came and that no payment has claimed, at the last count; up to 10000."
            => waiting.notices.count;
        gauge "pasarela_notices_unmatched_oldest_seconds"
            "How long the oldest notice has waited that no payment has claimed."
            => waiting.notices.oldest_seconds;
        gauge "pasarela_webhook_lag_seconds"
            "Age of the oldest event of live mode that an endpoint was not sent yet, at the last count."
            => waiting.webhook_lag_seconds;
    }
}
