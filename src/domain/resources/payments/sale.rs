//! The sale of a completed payment in the ledger: the amount, the fee, the seller's share, and the
//! holds (`docs/contract.md, 6.3, 6.4`).

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::payment::{Payment, Phase, Status};
use crate::entities::sale::Sale;
use crate::ledger::book::Book;
use crate::resources::collections::sale::{self as collections, Figures, HOLD_MS, SellerShare};
use crate::values::ids::EntityId;
use crate::values::money::{Currency, Ves};

/// The figures of `payment`, were it completed now; `None` when a figure overflows.
pub fn figures(book: &Book, payment: &Payment) -> Option<Figures> {
    let fees = &book.tenant_settings.settings.fees;
    let fee = payment.method().fee(fees)?.of(payment.ves)?;
    let is_by_link = payment.checkout.as_ref().is_some_and(|checkout| checkout.link.is_some());
    let commission_percent = payment.marketplace.as_ref().map(|sale| sale.commission_percent);
    let link_percent = is_by_link.then_some(fees.link_percent);
    Figures::of(payment.ves.minor(), fee.minor(), commission_percent, link_percent)
}

pub fn complete(book: &Book, payment: &Payment, reference: String, turn: &Turn) -> Ruling {
    let Some(figures) = figures(book, payment) else {
        unreachable!("the figures fitted when the charge was sent, and the amount is the same")
    };
    let available_at = turn.now.plus_ms(HOLD_MS);
    let shared = payment.marketplace.as_ref().map(|sale| figures.shared(sale, Ves::from_minor, book, turn));
    let platform_fee = figures.platform_fee.map(Ves::from_minor);
    let mut completed = Payment {
        status: Status::Completed,
        phase: Phase::Idle,
        fee: Some(Ves::from_minor(figures.fee)),
        marketplace: shared,
        bank_reference: Some(reference),
        completed_at: Some(turn.now),
        available_at: Some(available_at),
        checkout: payment.checkout.clone().map(|checkout| Box::new(Sale { platform_fee, ..*checkout })),
        kept: None,
        ..payment.clone()
    };
    completed.order.stop();
    let sale = of_payment(&completed);
    let mut draft = Draft::changed(Cause::PaymentCompleted, payment, completed);
    sale.collect(&mut draft, book, available_at);
    draft.replaces_kept = payment.kept.clone();
    Ruling::write(draft)
}

pub(super) fn of_payment(payment: &Payment) -> collections::Sale {
    collections::Sale {
        currency: Currency::Ves,
        subject: EntityId::payment(payment.id),
        external_ref: Some(payment.external_ref.clone()),
        amount: payment.ves.minor(),
        fee: payment.fee.unwrap_or_default().minor(),
        platform_fee: payment.platform_fee().minor(),
        share: SellerShare::of(payment.marketplace.as_deref(), Ves::minor),
    }
}
