//! The sale of a completed payment in the ledger: the amount, the fee, the seller's share, and the
//! holds (`docs/contract.md, 6.3, 6.4`).

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::means::Method;
use crate::entities::payment::{Marketplace, Payment, Phase, Status};
use crate::entities::sale::Sale;
use crate::events::{BalanceReason, EventKind};
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::resources::collections::sale::{self as collections, SellerShare};
use crate::values::ids::EntityId;
use crate::values::money::{Currency, Ves};
use crate::values::time::{Timestamp, nth_business_day_after};

/// The time for which every completed payment is held, in milliseconds (`docs/contract.md, 6.3`).
pub const HOLD_MS: i64 = 24 * 60 * 60 * 1000;

pub struct Figures {
    pub fee: Ves,
    pub commission: Option<Ves>,
    pub seller_net: Option<Ves>,
    pub platform_fee: Option<Ves>,
}

/// The figures of `payment`, were it completed now; `None` when a figure overflows.
pub fn figures(book: &Book, payment: &Payment) -> Option<Figures> {
    let fees = &book.tenant_settings.settings.fees;
    let fee = match payment.method() {
        Method::C2p => fees.c2p,
        Method::Vpos => fees.vpos,
        Method::Debit => fees.debit,
        Method::PagoMovil => fees.pago_movil,
        // Payments in pesos and USDT have prices of their own.
        Method::Cop | Method::Usdt => return None,
    }
    .of(payment.ves)?;
    let platform_fee = match &payment.checkout {
        Some(checkout) if checkout.link.is_some() => Some(platform_fee(book, payment, fee)?),
        _ => None,
    };
    let Some(sale) = &payment.marketplace else {
        return Some(Figures { fee, commission: None, seller_net: None, platform_fee });
    };
    let commission = Ves::rounded(sale.commission_percent.percent_of(payment.ves.decimal())?)?;
    let seller_net = payment.ves.minus(fee)?.minus(commission)?;
    Some(Figures { fee, commission: Some(commission), seller_net: Some(seller_net), platform_fee })
}

/// The operator's share of a sale through a payment link. On a marketplace sale it comes out of the
/// commission, so the lower percentage counts; what the tenant keeps is never negative
/// (`docs/contract.md, 12.3`).
fn platform_fee(book: &Book, payment: &Payment, fee: Ves) -> Option<Ves> {
    let percent = book.tenant_settings.settings.fees.link_percent;
    let percent = payment.marketplace.as_ref().map_or(percent, |sale| sale.commission_percent.min(percent));
    Some(Ves::rounded(percent.percent_of(payment.ves.decimal())?)?.min(payment.ves.minus(fee)?))
}

pub fn complete(book: &Book, payment: &Payment, reference: String, turn: &Turn) -> Ruling {
    let now = turn.now;
    // The charge was checked against the fees of its start; fees that rose since then may not make
    // the seller pay.
    let Some(figures) = figures(book, payment) else {
        unreachable!("the figures fitted when the charge was sent, and the amount is the same")
    };
    let available_at = now.plus_ms(HOLD_MS);
    let seller_available_at = seller_available_at(book, now, turn);
    let marketplace = payment.marketplace.as_ref().map(|sale| {
        // A seller who was deleted while the charge was at the bank cannot be owed anything; the
        // tenant keeps the share.
        let there = book.sellers.contains_key(&sale.merchant);
        let seller_net = figures.seller_net.map(|net| if there { net.max(Ves::ZERO) } else { Ves::ZERO });
        Box::new(Marketplace {
            commission: figures.commission,
            seller_net,
            seller_available_at: Some(seller_available_at),
            ..(**sale).clone()
        })
    });
    let shared = marketplace
        .as_ref()
        .and_then(|sale| Some((sale.merchant, sale.seller_net.filter(|net| !net.is_zero())?)));
    let checkout = payment
        .checkout
        .as_ref()
        .map(|checkout| Box::new(Sale { platform_fee: figures.platform_fee, ..(**checkout).clone() }));
    let mut completed = Payment {
        status: Status::Completed,
        phase: Phase::Idle,
        fee: Some(figures.fee),
        marketplace,
        bank_reference: Some(reference),
        completed_at: Some(now),
        available_at: Some(available_at),
        checkout,
        kept: None,
        ..payment.clone()
    };
    completed.order.stop();
    let mut draft = Draft::new(Cause::PaymentCompleted);
    of_payment(&completed).collect(&mut draft, available_at);
    draft.change(payment, completed);
    draft.event(EventKind::PaymentCompleted, EntityId::payment(payment.id));
    if let Some((seller, share)) = shared {
        sellers::tell(&mut draft, book, seller, Currency::Ves, share.minor(), BalanceReason::Sale);
    }
    draft.replaces_kept = payment.kept.clone();
    Ruling::write(draft)
}

/// The end of the hold on a seller's share: the later of the business days and the 24 hours.
pub fn seller_available_at(book: &Book, now: Timestamp, turn: &Turn) -> Timestamp {
    let hold = now.plus_ms(HOLD_MS);
    match book.tenant_settings.settings.seller_hold_business_days {
        0 => hold,
        days => nth_business_day_after(now, days, turn.holidays).max(hold),
    }
}

pub(super) fn of_payment(payment: &Payment) -> collections::Sale {
    let share = payment.marketplace.as_ref().and_then(|sale| {
        let minor = sale.seller_net?.minor();
        Some(SellerShare { merchant: sale.merchant, minor, available_at: sale.seller_available_at? })
    });
    collections::Sale {
        currency: Currency::Ves,
        subject: EntityId::payment(payment.id),
        external_ref: Some(payment.external_ref.clone()),
        amount: payment.ves.minor(),
        fee: payment.fee.unwrap_or_default().minor(),
        platform_fee: payment.platform_fee().minor(),
        share,
    }
}
