//! One payment, of whatever kind: how it is found, read and shown.

use crate::chapters;
use crate::checkout::sale;
use crate::cop_payments;
use crate::endpoint::{Context, Endpoint, endpoint, run};
use crate::openapi::operation::summary;
use crate::openapi::{schema, values};
use crate::problem::Problem;
use crate::records::{Answered, Records, Stopped, Unread, first_known};
use crate::respond::Reply;
use crate::shown::{Members, Writing};
use domain::entities::chargeback::Chargeback;
use domain::entities::means::{Means, Method};
use domain::entities::payment::{CancelReason, Payment, Status};
use domain::entities::{Entity, chargeback};
use domain::index::Space;
use domain::trace::shown;
use domain::values::card::Brand;
use domain::values::external_ref::ExternalRef;
use domain::values::ids::{EntityId, Id};
use domain::values::money::Usdt;

const BRANDS: [Brand; 9] = [
    Brand::Visa,
    Brand::Mastercard,
    Brand::Amex,
    Brand::Diners,
    Brand::Discover,
    Brand::Jcb,
    Brand::UnionPay,
    Brand::Maestro,
    Brand::Unknown,
];

/// GET /v1/payments/:id
pub const READ: Endpoint = endpoint(chapters::PAYMENTS, run!(read), || {
    summary("Read a payment").answers(200, "Payment", "The payment")
});

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.read(move |records| read_any(records, of_name(records, id)?))
}

/// GET /v1/payments/by-ref/:externalRef
pub const READ_BY_REF: Endpoint = endpoint(chapters::PAYMENTS, run!(read_by_ref), || {
    summary("Read the newest payment under a reference").answers(200, "Payment", "The newest attempt")
});

async fn read_by_ref(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let name = ExternalRef::parse(cx.path("externalRef")).map_err(|_| Problem::not_found())?;
    cx.read(|records| {
        let newest = newest(records, name.as_str())?.ok_or_else(Problem::not_found)?;
        read_any(records, EntityId::payment(newest))
    })
}

/// The payment of this name, in whatever it was collected.
pub fn find(records: &dyn Records, id: Id) -> Result<Option<EntityId>, Stopped> {
    first_known(records, [EntityId::payment(id), EntityId::cop_payment(id)])
}

/// The payment of this id, or the problem that there is none.
pub fn of_name(records: &dyn Records, id: Id) -> Result<EntityId, Unread> {
    Ok(find(records, id)?.ok_or_else(Problem::not_found)?)
}

fn read_any(records: &dyn Records, id: EntityId) -> Answered {
    let payment = records.entity(id)?.ok_or_else(Problem::not_found)?;
    Ok(shown_as_stored(&payment)?)
}

/// A payment that was found under its id, for an answer.
pub(super) fn shown_as_stored(payment: &Entity) -> Result<Vec<u8>, Problem> {
    show_entity(payment)
        .ok_or_else(|| Problem::internal_error("a defect: a payment is stored as something else"))
}

/// The newest payment that a reference names: the tenant's, or the id of a checkout session.
pub fn newest(records: &dyn Records, name: &str) -> Result<Option<Id>, Stopped> {
    match records.named(Space::Payment, name)? {
        Some(newest) => Ok(Some(newest)),
        None => records.named(Space::Checkout, name),
    }
}

/// A payment of any kind, as JSON.
pub fn show_entity(entity: &Entity) -> Option<Vec<u8>> {
    match entity {
        Entity::Payment(payment) => Some(show(payment)),
        Entity::CopPayment(payment) => Some(cop_payments::show_as_payment(payment)),
        _ => None,
    }
}

/// The way in which a payment went back: cards by chargebacks, the others by a reversal.
pub fn reversal_type(payment: &Payment) -> Option<&'static str> {
    let kind = if payment.chargebacks.is_empty() { "reversal" } else { "chargeback" };
    (payment.status == Status::Reversed).then_some(kind)
}

/// A payment, as JSON (`docs/contract.md, 5.1`).
pub fn show(payment: &Payment) -> Vec<u8> {
    members(Writing::of(payment, 1280)).end()
}

/// The members of a payment in bolívares or USDT; of one in USDT some are its own.
pub(crate) fn members<'a, M: Members<'a, Payment>>(members: M) -> M {
    members
        .plain("id", values::uuid, |payment| payment.id)
        .plain(
            "paymentId",
            || {
                values::uuid().about(
                    "Equal to `id`; of C2P the `intentId` \
                     too.",
                )
            },
            |payment| payment.id,
        )
        .constant("object", "payment")
        // A payment to an address has no `externalRef`: nobody asked for it by name.
        .maybe_text(
            "externalRef",
            || {
                values::shown_ref().about(
                    "Null of payments in pesos and in USDT; of \
                     one through a checkout session, the session's \
                     id.",
                )
            },
            |payment| in_bolivares(payment).then_some(&*payment.external_ref),
        )
        .number("attempt", values::attempt, |payment| payment.attempt)
        .plain("status", || schema::one_of(Status::ALL.map(Status::name)), |payment| payment.status.name())
        .plain("method", || schema::one_of(Method::ALL.map(Method::name)), |payment| payment.method().name())
        .maybe_text(
            "failureCode",
            || {
                schema::text().about(
                    "The bank's code, when it failed, such as `AM04` \
                     (insufficient funds) or `TKCM` (wrong \
                     key).",
                )
            },
            |payment| payment.failure_code.as_deref().filter(|_| payment.status == Status::Failed),
        )
        .maybe_plain(
            "cancelReason",
            || schema::one_of([CancelReason::Superseded.name(), CancelReason::Expired.name()]),
            |payment| payment.cancel_reason.map(CancelReason::name),
        )
        .number("usdAmount", || values::figure().or_null(), |payment| payment.usd)
        .maybe_number("vesAmount", values::figure, |payment| in_bolivares(payment).then_some(payment.ves))
        .maybe_number("bcvRate", values::figure, |payment| {
            in_bolivares(payment).then_some(payment.bcv_rate.0.normalize())
        })
        .maybe_number("feeVes", || values::figure().about("Null until completed."), |payment| payment.fee)
        .maybe_number(
            "netVes",
            || {
                values::figure().about(
                    "`vesAmount` less `feeVes`; null until \
                     completed.",
                )
            },
            |payment| payment.net(),
        )
        .maybe_plain("merchantId", values::uuid, |payment| {
            payment.marketplace.as_deref().map(|sale| sale.merchant)
        })
        .maybe_number("applicationFeePercent", values::figure, |payment| {
            payment.marketplace.as_deref().map(|sale| sale.commission_percent.0.normalize())
        })
        .maybe_number("applicationFeeVes", values::figure, |payment| {
            payment.marketplace.as_deref().and_then(|sale| sale.commission)
        })
        .maybe_number("sellerNetVes", values::figure, |payment| {
            payment.marketplace.as_deref().and_then(|sale| sale.seller_net)
        })
        .maybe_plain("debtorBankCode", values::bank_code, |payment| {
            payment.debtor().map(|debtor| debtor.bank)
        })
        .maybe_plain(
            "debtorId",
            || schema::text().about("Masked: `V***678`."),
            |payment| payment.debtor().map(|debtor| debtor.id.masked()),
        )
        .maybe_plain(
            "debtorCellPhone",
            || schema::text().about("Masked: `0414***4567`."),
            |payment| payment.debtor().map(|debtor| debtor.phone.masked()),
        )
        .maybe_plain(
            "cardLast4",
            || schema::text().pattern("^[0-9]{4}$"),
            |payment| payment.card().map(|(_, last_four)| format!("{last_four:04}")),
        )
        .maybe_plain(
            "cardBrand",
            || schema::one_of(BRANDS.map(Brand::name)),
            |payment| payment.card().map(|(brand, _)| brand.name()),
        )
        .maybe_text("bankReference", schema::text, |payment| bank_reference(payment))
        .maybe_plain(
            "operationId",
            || {
                values::uuid().about(
                    "While a bank is being asked; see `GET \
                     /v1/payments/operations/{id}`.",
                )
            },
            Payment::operation,
        )
        .maybe_text("description", schema::text, |payment| payment.description.as_deref())
        .maybe_plain(
            "checkoutSessionId",
            || {
                values::uuid().about(
                    "The checkout session through which it was \
                     paid.",
                )
            },
            |payment| payment.checkout.as_deref().map(|sale| sale.session),
        )
        .maybe_text(
            "reference",
            || {
                schema::text().about(
                    "Of the checkout session; of a payment in pesos its \
                     own.",
                )
            },
            |payment| payment.checkout.as_deref().and_then(|sale| sale.reference.as_deref()),
        )
        .json_or_null("checkoutSession", sale::in_payment, |payment| {
            payment.checkout.as_deref().map(sale::show_in_payment)
        })
        .maybe_plain("reversedAt", values::instant, |payment| payment.reversed_at)
        .maybe_text("reversalRef", schema::text, |payment| {
            shown(&payment.reversal_ref).filter(|_| payment.status == Status::Reversed)
        })
        .maybe_plain("reversalType", || schema::one_of(["reversal", "chargeback", "refund"]), reversal_type)
        .list(
            "chargebacks",
            || schema::list(schema::named("PaymentChargeback")),
            |payment| payment.chargebacks.iter().map(show_chargeback),
        )
        .boolean("livemode", values::livemode, |payment| payment.livemode)
        .plain("createdAt", values::instant, |payment| payment.created_at)
        .maybe_plain("expiresAt", values::instant, |payment| payment.expires_at)
        .maybe_plain("completedAt", values::instant, |payment| payment.completed_at)
        .maybe_plain(
            "availableAt",
            || {
                values::instant().about(
                    "The end of the \
                     hold.",
                )
            },
            |payment| payment.available_at,
        )
        .optional_plain(
            "currency",
            || {
                schema::one_of(["COP", "USDT"]).about(
                    "With members of their own, of \
                     payments in pesos and in USDT.",
                )
            },
            |payment| usdt(payment).map(|_| "USDT"),
        )
        .optional_plain(
            "amountUsdt",
            || values::ves().about("What came."),
            |payment| usdt(payment).map(|(amount, ..)| amount),
        )
        .optional_text(
            "txHash",
            || {
                schema::text().about(
                    "Of the transfer that completed \
                     it.",
                )
            },
            |payment| usdt(payment).map(|(.., tx_hash)| tx_hash),
        )
        .optional_maybe_plain("sellerNetUsdt", values::ves, |payment| {
            usdt(payment).map(|(_, seller_net, _)| seller_net)
        })
}

fn in_bolivares(payment: &Payment) -> bool {
    usdt(payment).is_none()
}

/// The amount of a payment in USDT, the seller's part of it, and the transfer that completed it.
fn usdt(payment: &Payment) -> Option<(&Usdt, Option<Usdt>, &String)> {
    match &payment.means {
        Means::Usdt { amount, seller_net, tx_hash } => Some((amount, *seller_net, tx_hash)),
        Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Transfer { .. } => None,
    }
}

/// A chargeback within its payment, as JSON.
pub fn show_chargeback(chargeback: &Chargeback) -> Vec<u8> {
    chargeback_members(Writing::of(chargeback, 256)).end()
}

/// The members of a chargeback within its payment.
pub(crate) fn chargeback_members<'a, M: Members<'a, Chargeback>>(members: M) -> M {
    members
        .plain("chargebackId", values::uuid, |chargeback| chargeback.id)
        .plain("status", chargeback_status, |chargeback| chargeback.status.name())
        .plain("amountVes", values::ves, |chargeback| chargeback.amount)
        .plain("feeVes", values::ves, |chargeback| chargeback.fee)
        .plain("reason", chargeback_reason, |chargeback| chargeback.reason.name())
        .plain("bankDebitedAt", values::instant, |chargeback| chargeback.bank_debited_at)
}

/// The status of a dispute.
pub(crate) fn chargeback_status() -> schema::Schema {
    schema::one_of(chargeback::Status::ALL.map(chargeback::Status::name))
}

/// The reason why the bank took the money back.
pub(crate) fn chargeback_reason() -> schema::Schema {
    schema::one_of(chargeback::Reason::ALL.map(chargeback::Reason::name))
}

/// The bank's reference, as a payment shows it.
pub(crate) fn bank_reference(payment: &Payment) -> Option<&str> {
    shown(&payment.bank_reference).filter(|_| payment.status != Status::Failed)
}
