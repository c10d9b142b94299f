//! The last page of a session: the receipt, or why a payment failed.

use super::*;

/// The reason why an attempt did not pay; `None` while it still may.
pub(super) fn failure(attempt: &Tried, w: &'static Words) -> Option<&'static str> {
    let (status, pesos) = match attempt {
        Tried::Payment(payment) => (payment.status, None),
        Tried::Pesos(payment) => (payment.status, Some(payment.failure)),
    };
    match (status, pesos) {
        (PaymentStatus::Failed, Some(Some(Failure::Expired))) => Some(w.failed_expired),
        (PaymentStatus::Failed, Some(Some(Failure::OtpAttemptsExhausted))) => Some(w.failed_codes),
        (PaymentStatus::Failed, Some(_)) => Some(w.failed_rejected),
        (PaymentStatus::Canceled, Some(_)) => Some(w.failed_replaced),
        (PaymentStatus::Failed, None) => Some(match attempt.failure_code() {
            Some("AM04" | "51") => w.failed_funds,
            Some("TKCM" | "15" | "55") => w.failed_key,
            Some("AB01" | "05" | "87") => w.failed_time,
            _ => w.failed_other,
        }),
        (PaymentStatus::Canceled, None) => Some(w.failed_superseded),
        (PaymentStatus::Pending | PaymentStatus::Completed | PaymentStatus::Reversed, _) => None,
    }
}

pub(super) fn receipt(paid: &Tried, language: Language) -> Vec<(&'static str, String)> {
    let w = language.words();
    match paid {
        Tried::Payment(payment) => {
            let mut lines = match &payment.means {
                Means::Usdt { amount, tx_hash, .. } => {
                    vec![(w.paid_amount, usdt(*amount, language)), (w.transaction, tx_hash.clone())]
                }
                _ => vec![(w.paid_amount, bolivares(payment.ves, language))],
            };
            lines.extend(payment.completed_at.map(|at| (w.date, in_caracas(at))));
            lines.extend(payment.bank_reference.clone().map(|reference| (w.bank_reference, reference)));
            lines.push((w.payment_number, payment.id.to_string()));
            lines
        }
        Tried::Pesos(payment) => in_pesos(payment, language),
    }
}

fn in_pesos(payment: &CopPayment, language: Language) -> Vec<(&'static str, String)> {
    let w = language.words();
    let mut lines = vec![(w.paid_amount, pesos(payment.amount, language))];
    lines.extend(payment.checkout.as_ref().map(|checkout| (w.rate, rate(checkout.rate, language))));
    lines.extend(payment.completed_at.map(|at| (w.date, in_caracas(at))));
    lines.extend(payment.processor_reference.clone().map(|reference| (w.bank_reference, reference)));
    lines.push((w.payment_number, payment.id.to_string()));
    lines
}
