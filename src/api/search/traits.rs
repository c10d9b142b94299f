//! The comparison of what the index led to with the text that was searched for: an entity may have
//! changed since, and other texts have the same hash.

use super::items::FoundDeposit;
use crate::cop_payments;
use crate::records::{Records, Stopped, seq};
use domain::entities::cop_payment::CopPayment;
use domain::entities::means::Means;
use domain::entities::merchant::Merchant;
use domain::entities::payment::{Payment, Status};
use domain::entities::{Entity, payout};
use domain::events::Extra;
use domain::index::{Trait, searched_hash};
use domain::trace::shown;
use domain::values::ids::Id;
use domain::values::venezuela::{IdentityDocument, MobilePhone};

/// Whether an entity has a text, as its own endpoint shows it.
pub fn has(entity: &Entity, by: Trait, text: &str) -> bool {
    let is = |found: Option<&str>| found == Some(text);
    match entity {
        Entity::Payment(payment) => of_payment(payment, by, text),
        Entity::CopPayment(payment) => of_cop_payment(payment, by, text),
        Entity::Merchant(merchant) => of_merchant(merchant, by, text),
        Entity::Payout(payout) => {
            by == Trait::BankReference
                && payout.status == payout::Status::Completed
                && is(shown(&payout.reference))
        }
        Entity::CopPayout(payout) => by == Trait::BankReference && is(payout.reference.as_deref()),
        Entity::CryptoPayout(payout) => {
            by == Trait::TxHash && payout.tx_hash.as_deref().is_some_and(|hash| searched_hash(hash) == text)
        }
        Entity::Session(session) => by == Trait::Reference && is(session.reference.as_deref()),
        Entity::Conversion(conversion) => by == Trait::Reference && is(conversion.reference.as_deref()),
        _ => false,
    }
}

fn of_payment(payment: &Payment, by: Trait, text: &str) -> bool {
    match by {
        Trait::BankReference => {
            let back = shown(&payment.reversal_ref).filter(|_| payment.status == Status::Reversed);
            crate::payments::show::bank_reference(payment) == Some(text) || back == Some(text)
        }
        Trait::Reference => {
            payment.checkout.as_deref().and_then(|sale| sale.reference.as_deref()) == Some(text)
        }
        Trait::TxHash => {
            matches!(&payment.means, Means::Usdt { tx_hash, .. } if searched_hash(tx_hash) == text)
        }
        Trait::Document => payment.debtor().is_some_and(|debtor| is_document(debtor.id, text)),
        Trait::Phone => payment.debtor().is_some_and(|debtor| is_phone(debtor.phone, text)),
        Trait::PartId => false,
    }
}

fn of_cop_payment(payment: &CopPayment, by: Trait, text: &str) -> bool {
    let buyer = payment.buyer.as_deref();
    match by {
        Trait::BankReference => {
            let back = shown(&payment.refund_reference).filter(|_| payment.refunded_at.is_some());
            cop_payments::bank_reference(payment) == Some(text) || back == Some(text)
        }
        Trait::Reference => cop_payments::reference(payment) == Some(text),
        Trait::Document => {
            let document = buyer.and_then(|buyer| buyer.document_number.as_ref());
            document.is_some_and(|document| document.clear() == text)
        }
        Trait::Phone => {
            let phone = buyer.and_then(|buyer| buyer.phone);
            phone.is_some_and(|phone| phone.clear().to_string() == text)
        }
        Trait::TxHash | Trait::PartId => false,
    }
}

fn of_merchant(merchant: &Merchant, by: Trait, text: &str) -> bool {
    match by {
        Trait::Document => merchant.identification.is_some_and(|document| is_document(document, text)),
        Trait::Phone => {
            let of_methods = merchant.methods.iter().map(|method| method.phone);
            merchant.contact_phone.into_iter().chain(of_methods).any(|phone| is_phone(phone, text))
        }
        Trait::PartId => merchant.methods.iter().any(|method| method.id.to_string() == text),
        Trait::BankReference | Trait::Reference | Trait::TxHash => false,
    }
}

fn is_document(document: IdentityDocument, text: &str) -> bool {
    document.clear().to_string() == text
}

fn is_phone(phone: MobilePhone, text: &str) -> bool {
    phone.clear().to_string() == text
}

impl FoundDeposit {
    pub(super) fn has(&self, by: Trait, text: &str) -> bool {
        match by {
            Trait::PartId => self.deposit.id.to_string() == text,
            Trait::TxHash => searched_hash(&self.deposit.tx_hash) == text,
            Trait::BankReference | Trait::Reference | Trait::Document | Trait::Phone => false,
        }
    }
}

/// The deposit that an entry of the index leads to.
pub(super) fn deposit(records: &dyn Records, key: &[u8], id: Id) -> Result<Option<FoundDeposit>, Stopped> {
    let Some(value) = records.value(key)? else { return Ok(None) };
    let seq = seq(&value)?;
    if seq < records.begun_at()? {
        return Ok(None);
    }
    let (record, at) = records.record(seq)?;
    let deposit = record.events.iter().find_map(|event| match &event.extra {
        Extra::Deposit(deposit) if deposit.id == id => Some(deposit.clone()),
        _ => None,
    });
    Ok(deposit.map(|deposit| FoundDeposit { deposit, at }))
}
