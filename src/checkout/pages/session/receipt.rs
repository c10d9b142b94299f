//! The last page of a session: the receipt, or why a payment failed.

use super::*;
use crate::checkout::pages::figures::{bcv_rate, moment_in_bogota};
use domain::resources::payments::reasons::Reason;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

#[derive(Clone, Copy)]
pub(super) struct Failed {
    pub(super) cause: &'static str,
    pub(super) heading: &'static str,
    pub(super) words: &'static str,
    pub(super) ending: &'static str,
    pub(super) is_sent: bool,
}

impl Failed {
    pub(super) fn of(attempt: &Tried, w: &'static Words) -> Option<Failed> {
        let (cause, words) = failure(attempt, w)?;
        let is_sent =
            matches!(attempt, Tried::Payment(payment) if matches!(payment.means, Means::Transfer { .. }));
        // A Pago Móvil is sent before it is looked for: that it was not found says nothing of the money.
        let (heading, ending) = match cause {
            "reference_not_found" => (w.not_found_heading, w.sent_not_found),
            "reference_already_used" => (w.used_heading, w.sent_used),
            _ if is_sent => (w.failed, w.sent_not_found),
            _ => (w.failed, w.failed_retry),
        };
        Some(Failed { cause, heading, words, ending, is_sent })
    }
}

fn failure(attempt: &Tried, w: &'static Words) -> Option<(&'static str, &'static str)> {
    let (status, pesos) = match attempt {
        Tried::Payment(payment) => (payment.status, None),
        Tried::Pesos(payment) => (payment.status, Some(payment.failure)),
    };
    match (status, pesos) {
        (PaymentStatus::Failed, Some(Some(Failure::Expired))) => Some(("expired", w.failed_expired)),
        (PaymentStatus::Failed, Some(Some(Failure::OtpAttemptsExhausted))) => {
            Some(("otp_attempts_exhausted", w.failed_codes))
        }
        (PaymentStatus::Failed, Some(_)) => Some(("rejected", w.failed_rejected)),
        (PaymentStatus::Canceled, Some(_)) => Some(("superseded", w.failed_replaced)),
        (PaymentStatus::Failed, None) => Some(match attempt.failure_code().and_then(Reason::of) {
            Some(Reason::InsufficientFunds) => ("insufficient_funds", w.failed_funds),
            Some(Reason::WrongKey) => ("wrong_key", w.failed_key),
            Some(Reason::NoAnswer) => ("no_answer", w.failed_time),
            Some(Reason::CardDeclined) => ("card_declined", w.failed_card),
            Some(Reason::ExpiredCard) => ("expired_card", w.failed_card_expired),
            Some(Reason::ReferenceNotFound) => ("reference_not_found", w.failed_not_found),
            Some(Reason::ReferenceAlreadyUsed) => ("reference_already_used", w.failed_used),
            None => ("rejected", w.failed_other),
        }),
        (PaymentStatus::Canceled, None) => Some(("superseded", w.failed_superseded)),
        (PaymentStatus::Pending | PaymentStatus::Completed | PaymentStatus::Reversed, _) => None,
    }
}

#[derive(Template)]
#[template(path = "paid.html", config = "src/checkout/askama.toml")]
pub(super) struct PaidPage {
    pub(super) shell: Shell,
    pub(super) lines: Vec<(&'static str, String)>,
    pub(super) receipt: String,
    pub(super) receipt_pdf: String,
    pub(super) receipt_text: String,
    pub(super) mail: String,
    pub(super) success_url: Option<String>,
    pub(super) is_returned: bool,
    pub(super) also: Option<String>,
}

pub(super) fn paid_page(
    visit: &Visit<'_>,
    paid: Option<&Tried>,
    options: &PageOptions,
    shell: Shell,
) -> askama::Result<String> {
    let (session, language) = (&visit.session, options.language);
    let lines = paid.map(|paid| receipt(paid, language)).unwrap_or_default();
    let is_returned = paid.is_some_and(Tried::is_returned);
    let also = paid.and_then(|paid| visit.beside(paid.in_usdt())).map(|also| usdt(also, language));
    let w = language.words();
    let address = format!("{}/receipt?lang={}", shell.handle.base, language.code());
    let rows = lines.iter().map(|(name, value)| format!("{name}: {value}"));
    let head = [format!("{} · {}", w.receipt, shell.shop), format!("{}: {}", w.total, shell.bill.amount)];
    let text: Vec<String> = head.into_iter().chain(rows).chain([session.url.clone()]).collect();
    let text = text.join("\n");
    let part = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let mail = format!(
        "mailto:?subject={}&body={}",
        part(&format!("{} · {}", w.receipt, shell.shop)),
        part(&text.replace('\n', "\r\n"))
    );
    PaidPage {
        receipt_pdf: format!("{address}&format=pdf"),
        receipt: address,
        receipt_text: text,
        mail,
        success_url: session.success_url.clone(),
        is_returned,
        also,
        shell,
        lines,
    }
    .render()
}

fn receipt(paid: &Tried, language: Language) -> Vec<(&'static str, String)> {
    let w = language.words();
    match paid {
        Tried::Payment(payment) => {
            let mut lines = if let Means::Usdt { amount, tx_hash, .. } = &payment.means {
                vec![(w.paid_amount, usdt(*amount, language)), (w.transaction, tx_hash.clone())]
            } else {
                vec![
                    (w.paid_amount, bolivares(payment.ves, language)),
                    (w.rate_bcv, bcv_rate(payment.bcv_rate, language)),
                ]
            };
            if let Some((brand, last_four)) = payment.card() {
                lines.push((w.card, format!("{} …{last_four:04}", brand.name())));
            }
            lines.extend(payment.completed_at.map(|at| (w.date, in_caracas(at))));
            lines.extend(payment.reversed_at.map(|at| (w.returned_at, in_caracas(at))));
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
    lines.extend(payment.completed_at.map(|at| (w.date_bogota, moment_in_bogota(at))));
    lines.extend(payment.refunded_at.map(|at| (w.returned_at_bogota, moment_in_bogota(at))));
    lines.extend(payment.processor_reference.clone().map(|reference| (w.bank_reference, reference)));
    lines.push((w.payment_number, payment.id.to_string()));
    lines
}
