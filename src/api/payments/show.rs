//! One payment, of whatever kind: how it is found, read and shown.

use crate::cop_payments;
use crate::endpoint::{Context, Handler, endpoints, run, shown};
use crate::openapi::{schema, values};
use crate::problem::Problem;
use crate::records::{Answered, Records, Stopped, Unread, first_known};
use crate::respond::Reply;
use crate::sale;
use domain::entities::chargeback::Chargeback;
use domain::entities::means::{Means, Method};
use domain::entities::payment::{CancelReason, Payment, Status};
use domain::entities::{Entity, chargeback};
use domain::index::Space;
use domain::trace::shown;
use domain::values::card::Brand;
use domain::values::ids::{EntityId, Id};
use domain::values::money::Usdt;

pub(crate) const CHAPTER: &str = "Payments";

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

endpoints! { CHAPTER;
    READ = run!(read), "Read a payment" => { answers 200, "Payment", "The payment"; };
    READ_BY_REF = run!(read_by_ref), "Read the newest payment under a reference" => {
        answers 200, "Payment", "The newest attempt";
    };
}

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.read(move |records| read_any(records, of_name(records, id)?))
}

async fn read_by_ref(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let name = cx.external_ref()?;
    cx.read(|records| {
        let newest = newest(records, &name)?.ok_or_else(Problem::not_found)?;
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

shown! {
    /// A payment in bolívares or USDT, as JSON (`docs/contract.md, 5.1`); of one in USDT some members are its own.
    pub fn show(payment: &Payment), schema, 1280 {
        plain "id" = payment.id, values::uuid();
        plain "paymentId" = payment.id, values::uuid().about("Equal to `id`; of C2P the `intentId` too.");
        constant "object" = "payment";
        // A payment to an address has no `externalRef`: nobody asked for it by name.
        maybe text "externalRef" = in_bolivares(payment).then_some(&*payment.external_ref),
            values::shown_ref().about("Null of payments in pesos and in USDT; of one through a checkout session, the session's id.");
        number "attempt" = payment.attempt, values::attempt();
        plain "status" = payment.status.name(), schema::one_of(Status::ALL.map(Status::name));
        plain "method" = payment.method().name(), schema::one_of(Method::ALL.map(Method::name));
        maybe text "failureCode" = payment.failure_code.as_deref().filter(|_| payment.status == Status::Failed),
            schema::text().about("The bank's code, when it failed, such as `AM04` (insufficient funds) or `TKCM` (wrong key).");
        maybe plain "cancelReason" = payment.cancel_reason.map(CancelReason::name),
            schema::one_of([CancelReason::Superseded.name(), CancelReason::Expired.name()]);
        number "usdAmount" = payment.usd, values::figure().or_null();
        maybe number "vesAmount" = in_bolivares(payment).then_some(payment.ves), values::figure();
        maybe number "bcvRate" = in_bolivares(payment).then_some(payment.bcv_rate.0.normalize()), values::figure();
        maybe number "feeVes" = payment.fee, values::figure().about("Null until completed.");
        maybe number "netVes" = payment.net(), values::figure().about("`vesAmount` less `feeVes`; null until completed.");
        maybe plain "merchantId" = payment.marketplace.as_deref().map(|sale| sale.merchant), values::uuid();
        maybe number "applicationFeePercent" = payment.marketplace.as_deref().map(|sale| sale.commission_percent.0.normalize()),
            values::figure();
        maybe number "applicationFeeVes" = payment.marketplace.as_deref().and_then(|sale| sale.commission), values::figure();
        maybe number "sellerNetVes" = payment.marketplace.as_deref().and_then(|sale| sale.seller_net), values::figure();
        maybe plain "debtorBankCode" = payment.debtor().map(|debtor| debtor.bank), values::bank_code();
        maybe plain "debtorId" = payment.debtor().map(|debtor| debtor.id.masked()),
            schema::text().about("Masked: `V***678`.");
        maybe plain "debtorCellPhone" = payment.debtor().map(|debtor| debtor.phone.masked()),
            schema::text().about("Masked: `0414***4567`.");
        maybe plain "cardLast4" = payment.card().map(|(_, last_four)| format!("{last_four:04}")),
            schema::text().pattern("^[0-9]{4}$");
        maybe plain "cardBrand" = payment.card().map(|(brand, _)| brand.name()), schema::one_of(BRANDS.map(Brand::name));
        maybe text "bankReference" = bank_reference(payment), schema::text();
        maybe plain "operationId" = Payment::operation(payment),
            values::uuid().about("While a bank is being asked; see `GET /v1/payments/operations/{id}`.");
        maybe text "description" = payment.description.as_deref(), schema::text();
        maybe plain "checkoutSessionId" = payment.checkout.as_deref().map(|sale| sale.session),
            values::uuid().about("The checkout session through which it was paid.");
        maybe text "reference" = payment.checkout.as_deref().and_then(|sale| sale.reference.as_deref()),
            schema::text().about("Of the checkout session; of a payment in pesos its own.");
        maybe json "checkoutSession" = payment.checkout.as_deref().map(sale::show_in_payment), sale::in_payment();
        maybe plain "reversedAt" = payment.reversed_at, values::instant();
        maybe text "reversalRef" = shown(&payment.reversal_ref).filter(|_| payment.status == Status::Reversed),
            schema::text();
        maybe plain "reversalType" = reversal_type(payment), schema::one_of(["reversal", "chargeback", "refund"]);
        list "chargebacks" = payment.chargebacks.iter().map(show_chargeback),
            schema::list(schema::named("PaymentChargeback"));
        boolean "livemode" = payment.livemode, values::livemode();
        plain "createdAt" = payment.created_at, values::instant();
        maybe plain "expiresAt" = payment.expires_at, values::instant();
        maybe plain "completedAt" = payment.completed_at, values::instant();
        maybe plain "availableAt" = payment.available_at, values::instant().about("The end of the hold.");
        optional plain "currency" = usdt(payment).map(|_| "USDT"),
            schema::one_of(["COP", "USDT"]).about("With members of their own, of payments in pesos and in USDT.");
        optional plain "amountUsdt" = usdt(payment).map(|(amount, ..)| amount), values::ves().about("What came.");
        optional text "txHash" = usdt(payment).map(|(.., tx_hash)| tx_hash),
            schema::text().about("Of the transfer that completed it.");
        optional maybe plain "sellerNetUsdt" = usdt(payment).map(|(_, seller_net, _)| seller_net), values::ves();
    }
}

fn in_bolivares(payment: &Payment) -> bool {
    usdt(payment).is_none()
}

/// The amount of a payment in USDT, the seller's part of it, and the transfer that completed it.
fn usdt(payment: &Payment) -> Option<(&Usdt, Option<Usdt>, &String)> {
    let Means::Usdt { amount, seller_net, tx_hash } = &payment.means else { return None };
    Some((amount, *seller_net, tx_hash))
}

shown! {
    pub fn show_chargeback(chargeback: &Chargeback), chargeback_schema, 256 {
        plain "chargebackId" = chargeback.id, values::uuid();
        plain "status" = chargeback.status.name(), chargeback_status();
        plain "amountVes" = chargeback.amount, values::ves();
        plain "feeVes" = chargeback.fee, values::ves();
        plain "reason" = chargeback.reason.name(), chargeback_reason();
        plain "bankDebitedAt" = chargeback.bank_debited_at, values::instant();
    }
}

pub(crate) fn chargeback_status() -> schema::Schema {
    schema::one_of(chargeback::Status::ALL.map(chargeback::Status::name))
}

pub(crate) fn chargeback_reason() -> schema::Schema {
    schema::one_of(chargeback::Reason::ALL.map(chargeback::Reason::name))
}

pub(crate) fn bank_reference(payment: &Payment) -> Option<&str> {
    shown(&payment.bank_reference).filter(|_| payment.status != Status::Failed)
}
