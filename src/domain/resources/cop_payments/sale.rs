//! How a payment in pesos ends, and its sale in the ledger: the amount, the fee, the seller's share,
//! and the holds (`docs/contract.md, 6.3, 11.5`).

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::cop_payment::{CopPayment, Failure, ForSession, Marketplace, Phase};
use crate::entities::payment::Status;
use crate::events::{BalanceReason, EventKind};
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::rail::Effect;
use crate::refusal::CopPaymentRefusal;
use crate::resources::collections::sale::{self as collections, SellerShare};
use crate::resources::conversions::auto::{self, Completed};
use crate::resources::payments::sale::{HOLD_MS, seller_available_at};
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    pub fee: Cop,
    pub commission: Option<Cop>,
    /// The seller's share; negative when the commission and the fee exceed the amount.
    pub seller_net: Option<Cop>,
}

/// The figures of a payment of `amount`; `commission_percent` is the part that the tenant keeps of
/// a seller's sale. `None` when a figure overflows.
pub fn figures(amount: Cop, commission_percent: Option<Rate>) -> Option<Figures> {
    let fee = fee(amount)?;
    let Some(percent) = commission_percent else {
        return Some(Figures { fee, commission: None, seller_net: None });
    };
    let commission = Cop::rounded(percent.percent_of(amount.decimal())?)?;
    let seller_net = amount.minus(fee)?.minus(commission)?;
    Some(Figures { fee, commission: Some(commission), seller_net: Some(seller_net) })
}

/// The operator's share of a sale through a payment link. On a marketplace sale it comes out of the
/// commission, so the lower percentage counts; what the tenant keeps is never negative
/// (`docs/contract.md, 12.3`).
fn platform_fee(book: &Book, payment: &CopPayment, fee: Cop) -> Option<Cop> {
    payment.checkout.as_ref()?.sale.link?;
    let percent = book.tenant_settings.settings.fees.link_percent;
    let percent = payment.marketplace.as_ref().map_or(percent, |sale| sale.commission_percent.min(percent));
    let share = Cop::rounded(percent.percent_of(payment.amount.decimal())?)?;
    Some(share.min(payment.amount.minus(fee)?))
}

/// The record of a completed payment, and the first try of the conversion that the tenant's
/// settings may ask for.
pub(super) fn complete(
    book: &Book,
    payment: &CopPayment,
    reference: String,
    turn: &Turn,
) -> (Draft, Option<Effect>) {
    let now = turn.now;
    let Some(figures) =
        figures(payment.amount, payment.marketplace.as_ref().map(|sale| sale.commission_percent))
    else {
        unreachable!("the figures fitted when the payment was asked for, and the amount is the same")
    };
    let available_at = now.plus_ms(HOLD_MS);
    let marketplace = payment.marketplace.as_ref().map(|sale| shared_sale(book, sale, &figures, turn));
    let shared = marketplace
        .as_ref()
        .and_then(|sale| Some((sale.merchant, sale.seller_net.filter(|net| !net.is_zero())?)));
    let platform_fee = platform_fee(book, payment, figures.fee);
    let checkout = payment
        .checkout
        .as_ref()
        .map(|checkout| Box::new(ForSession { platform_fee, ..(**checkout).clone() }));
    let completed = CopPayment {
        status: Status::Completed,
        fee: Some(figures.fee),
        marketplace,
        processor_reference: Some(reference),
        completed_at: Some(now),
        available_at: Some(available_at),
        checkout,
        ..over(payment)
    };
    let mut draft = Draft::new(Cause::CopPaymentCompleted);
    let own = Cop::from_minor(of_payment(&completed).collect(&mut draft, available_at));
    draft.change(payment, completed);
    draft.event(EventKind::PaymentCompleted, EntityId::cop_payment(payment.id));
    if let Some((seller, share)) = shared {
        sellers::tell(&mut draft, book, seller, Currency::Cop, share.minor(), BalanceReason::Sale);
    }
    let to_convert = Completed {
        payment: payment.id,
        reference: payment.reference.as_deref(),
        net: own,
        release_at: available_at,
    };
    let first_try = auto::arrange(book, &mut draft, &to_convert, turn);
    (draft, first_try)
}

fn shared_sale(book: &Book, sale: &Marketplace, figures: &Figures, turn: &Turn) -> Box<Marketplace> {
    // A seller who was deleted meanwhile cannot be owed anything; the tenant keeps the share.
    let seller_net =
        figures.seller_net.filter(|_| book.sellers.contains_key(&sale.merchant)).unwrap_or(Cop::ZERO);
    Box::new(Marketplace {
        commission: figures.commission,
        seller_net: Some(seller_net),
        seller_available_at: Some(seller_available_at(book, turn.now, turn)),
        ..sale.clone()
    })
}

pub(super) fn of_payment(payment: &CopPayment) -> collections::Sale {
    let share = payment.marketplace.as_ref().and_then(|sale| {
        let minor = sale.seller_net?.minor();
        Some(SellerShare { merchant: sale.merchant, minor, available_at: sale.seller_available_at? })
    });
    collections::Sale {
        currency: Currency::Cop,
        subject: EntityId::cop_payment(payment.id),
        external_ref: None,
        amount: payment.amount.minor(),
        fee: payment.fee.unwrap_or_default().minor(),
        platform_fee: payment.platform_fee().minor(),
        share,
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
    let mut draft = ended(payment, canceled, Cause::CopPaymentCanceled, EventKind::PaymentCanceled);
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
        ..payment.clone()
    };
    over.order.stop();
    over
}

pub(super) fn failed(payment: &CopPayment, failure: Failure, own_code: Option<Box<str>>) -> Draft {
    let failed = CopPayment { status: Status::Failed, failure: Some(failure), own_code, ..over(payment) };
    ended(payment, failed, Cause::CopPaymentFailed, EventKind::PaymentFailed)
}

fn ended(payment: &CopPayment, ended: CopPayment, cause: Cause, event: EventKind) -> Draft {
    let mut draft = Draft::changed(cause, payment, ended);
    draft.event(event, EntityId::cop_payment(payment.id));
    draft
}
