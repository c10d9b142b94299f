//! How a payment in pesos ends, and its sale in the ledger: the amount, the fee, the seller's share,
//! and the holds (`docs/contract.md, 6.3, 11.5`).

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::cop_payment::{CopPayment, Failure, ForSession, Phase};
use crate::entities::payment::Status;
use crate::events::EventKind;
use crate::ledger::book::Book;
use crate::ledger::spending::Drawn;
use crate::rail::Effect;
use crate::refusal::CopPaymentRefusal;
use crate::resources::collections::sale::{self as collections, Figures, HOLD_MS, SellerShare};
use crate::resources::conversions::auto::{self, Completed};
use crate::values::ids::EntityId;
use crate::values::money::{Cop, Currency, Rate};

/// The percentage of the fee in thousandths: 4.5 percent.
const FEE_THOUSANDTHS: i64 = 45;
const FEE_FIXED: i64 = 1_500;

/// The fee of `amount`: 4.5 percent rounded half up to the peso, plus 1,500, never more than the
/// amount; `None` when it overflows.
pub fn fee(amount: Cop) -> Option<Cop> {
    let share = amount.minor().checked_mul(FEE_THOUSANDTHS)?.checked_add(500)? / 1_000;
    share.checked_add(FEE_FIXED).map(|fee| Cop::from_minor(fee.min(amount.minor())))
}

/// The figures of a payment of `amount`; `commission_percent` is the part that the tenant keeps of
/// a seller's sale. `None` when a figure overflows.
pub fn figures(amount: Cop, commission_percent: Option<Rate>, link_percent: Option<Rate>) -> Option<Figures> {
    Figures::of(amount.minor(), fee(amount)?.minor(), commission_percent, link_percent)
}

/// The record of a completed payment, and the first try of the conversion that the tenant's
/// settings may ask for.
pub(super) fn complete(
    book: &Book,
    payment: &CopPayment,
    reference: String,
    turn: &Turn,
) -> (Draft, Option<Effect>) {
    let is_by_link = payment.checkout.as_ref().is_some_and(|checkout| checkout.sale.link.is_some());
    let commission_percent = payment.marketplace.as_ref().map(|sale| sale.commission_percent);
    let link_percent = is_by_link.then_some(book.tenant_settings.settings.fees.link_percent);
    let Some(figures) = figures(payment.amount, commission_percent, link_percent) else {
        unreachable!("the figures fitted when the payment was asked for, and the amount is the same")
    };
    let available_at = turn.now.plus_ms(HOLD_MS);
    let shared = payment.marketplace.as_ref().map(|sale| figures.shared(sale, Cop::from_minor, book, turn));
    let platform_fee = figures.platform_fee.map(Cop::from_minor);
    let completed = CopPayment {
        status: Status::Completed,
        fee: Some(Cop::from_minor(figures.fee)),
        marketplace: shared,
        processor_reference: Some(reference),
        completed_at: Some(turn.now),
        available_at: Some(available_at),
        checkout: payment.checkout.clone().map(|checkout| Box::new(ForSession { platform_fee, ..*checkout })),
        ..over(payment)
    };
    let sale = of_payment(&completed);
    let mut draft = Draft::changed(Cause::CopPaymentCompleted, payment, completed);
    let own = Cop::from_minor(sale.collect(&mut draft, book, available_at));
    let to_convert = Completed {
        payment: payment.id,
        reference: payment.reference.as_deref(),
        net: own,
        release_at: available_at,
    };
    let first_try = auto::arrange(book, &mut draft, &to_convert, turn);
    (draft, first_try)
}

pub(super) fn of_payment(payment: &CopPayment) -> collections::Sale {
    collections::Sale {
        currency: Currency::Cop,
        subject: EntityId::cop_payment(payment.id),
        external_ref: None,
        amount: payment.amount.minor(),
        fee: payment.fee.unwrap_or_default().minor(),
        platform_fee: payment.platform_fee().minor(),
        share: SellerShare::of(payment.marketplace.as_deref(), Cop::minor),
    }
}

/// Writes how it ended. `wanted` is whether that is what the processor was told last; if it is not,
/// whoever told it learns that the payment was over.
///
/// The answer that is kept for the one who asked for the payment is replaced when the processor refused at
/// once, and while it does not say what the buyer does; whoever told it something is answered with the
/// outcome, however late.
pub(super) fn settle(payment: &CopPayment, mut draft: Draft, wanted: bool, is_told: bool) -> Ruling {
    let telling = payment.phase.waiting().is_some_and(|waiting| waiting.telling.is_some());
    if telling || !is_told {
        draft.replaces_kept = payment.kept.clone();
    }
    if wanted { Ruling::write(draft) } else { Ruling::write_and_refuse(draft, CopPaymentRefusal::NotPending) }
}

/// The draft that calls the collection off. A live processor cannot be told, so somebody may pay it
/// all the same: it is asked on until it agrees.
pub(super) fn canceled(payment: &CopPayment, turn: &Turn) -> Draft {
    let mut canceled = CopPayment { status: Status::Canceled, ..over(payment) };
    if payment.live.is_some() {
        canceled.order.looks = 0;
        canceled.order.ask_on(turn);
    }
    let mut draft = Draft::changed(Cause::CopPaymentCanceled, payment, canceled);
    draft.event(EventKind::PaymentCanceled, EntityId::cop_payment(payment.id));
    draft.record.audit = payment.canceler.clone();
    draft
}

fn over(payment: &CopPayment) -> CopPayment {
    let mut over = CopPayment {
        phase: Phase::Idle,
        qr_image: None,
        kept: None,
        canceler: None,
        code_token: None,
        drawn: Drawn::NONE,
        ..payment.clone()
    };
    over.order.stop();
    over
}

pub(super) fn failed(payment: &CopPayment, failure: Failure, own_code: Option<Box<str>>) -> Draft {
    let failed = CopPayment { status: Status::Failed, failure: Some(failure), own_code, ..over(payment) };
    let mut draft = Draft::changed(Cause::CopPaymentFailed, payment, failed);
    draft.event(EventKind::PaymentFailed, EntityId::cop_payment(payment.id));
    draft
}
