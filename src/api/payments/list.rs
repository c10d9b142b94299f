//! Lists of payments in whatever they were collected: `GET /v1/payments` and its twin for operators.

use super::attempts;
use super::show::CHAPTER;
use super::show::{bank_reference, show_entity};
use crate::endpoint::{Context, Handler, endpoints, run};
use crate::fields::{Got, Kind as _, gather};
use crate::lists::{Keep, List, Span};
use crate::openapi::kinds;
use crate::problem::Problem;
use crate::query::Query;
use crate::records::{Records, Stopped};
use crate::respond::Reply;
use domain::entities::Entity;
use domain::entities::means::Method;
use domain::entities::payment::{Status, facet};
use domain::index::{Space, Trait};
use domain::values::ids::{EntityId, Id, Kind};

const REFERENCE_MAX: usize = 128;

endpoints! { CHAPTER;
    LIST = run!(list), "List payments" => {
        filters filters;
        answers 200, "PaymentPage", "Newest first";
    };
}

pub struct Filters {
    pub external_ref: Option<String>,
    status: Option<Status>,
    method: Option<Method>,
    bank_reference: Option<String>,
    reference: Option<String>,
    merchant: Option<Id>,
    span: Span,
}

pub fn filters(query: &mut Query<'_>) -> Got<Filters> {
    let of_sale =
        kinds::sought(1..=REFERENCE_MAX).about("Of the checkout session, or of the payment in pesos.");
    gather!(query {
        optional status = "status", kinds::named_one(Status::ALL, Status::name);
        optional method = "method", kinds::named_one(Method::ALL, Method::name);
        optional external_ref = "externalRef", kinds::sought(1..=64).about("All attempts under this reference.");
        optional bank_reference = "bankReference", kinds::sought(1..=REFERENCE_MAX).about("As the payment shows it, whole.");
        optional reference = "reference", of_sale;
        optional merchant = "merchantId", kinds::id().about("The seller.");
        got span = Span::read(query);
    } => Filters { external_ref, status, method, bank_reference, reference, merchant, span })
}

impl Filters {
    /// The list, in which an `externalRef` is one filter more.
    pub fn list(self) -> List {
        let mut parts = Vec::new();
        for method in Method::ALL.into_iter().filter(|each| self.method.is_none_or(|method| method == *each))
        {
            let wanted = |each: &Status| self.status.is_none_or(|status| status == *each);
            parts.extend(Status::ALL.into_iter().filter(wanted).map(|status| match method {
                Method::Cop => (Kind::CopPayment, status as u8),
                method => (Kind::Payment, facet(method, status)),
            }));
        }
        let by = match (&self.bank_reference, &self.reference) {
            (Some(text), _) => Some((Trait::BankReference, text.clone())),
            (None, Some(text)) => Some((Trait::Reference, text.clone())),
            (None, None) => None,
        };
        let span = self.span;
        let keep: Keep = Box::new(move |entity| self.has(entity));
        match by {
            Some((by, text)) => List::found_by(by, text, span, keep),
            None => List::of(parts, span, keep),
        }
    }

    fn has(&self, entity: &Entity) -> bool {
        let Some(listed) = Listed::of(entity) else { return false };
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        self.status.is_none_or(|status| status == listed.status)
            && self.method.is_none_or(|method| method == listed.method)
            && self.merchant.is_none_or(|merchant| listed.merchant == Some(merchant))
            && is(&self.external_ref, listed.external_ref)
            && is(&self.bank_reference, listed.bank_reference)
            && is(&self.reference, listed.reference)
    }
}

/// The values by which payments of all kinds are filtered, as they show them.
struct Listed<'a> {
    status: Status,
    method: Method,
    merchant: Option<Id>,
    external_ref: Option<&'a str>,
    bank_reference: Option<&'a str>,
    reference: Option<&'a str>,
}

impl Listed<'_> {
    fn of(entity: &Entity) -> Option<Listed<'_>> {
        match entity {
            Entity::Payment(payment) => Some(Listed {
                status: payment.status,
                method: payment.method(),
                merchant: payment.marketplace.as_deref().map(|sale| sale.merchant),
                external_ref: Some(&payment.external_ref),
                bank_reference: bank_reference(payment),
                reference: payment.checkout.as_deref().and_then(|sale| sale.reference.as_deref()),
            }),
            Entity::CopPayment(payment) => Some(Listed {
                status: payment.status,
                method: Method::Cop,
                merchant: payment.marketplace.as_deref().map(|sale| sale.merchant),
                external_ref: None,
                bank_reference: crate::cop_payments::bank_reference(payment),
                reference: crate::cop_payments::reference(payment),
            }),
            _ => None,
        }
    }
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (filters, page) = cx.listed("payments", filters)?;
    let (name, list) = (filters.external_ref.clone(), filters.list());
    cx.read_long(move |records| match &name {
        // Only payments of the first kind have an externalRef.
        Some(name) => attempts::page(records, name, &list, &page),
        None => list.page(records, &page, &show_entity),
    })
    .await
}

/// The payments that a reference names, newest first, as far as they are one chain of attempts.
pub fn named(records: &dyn Records, name: &str) -> Result<Vec<EntityId>, Stopped> {
    let mut found = Vec::new();
    let mut next = records.named(Space::Payment, name)?;
    while let Some(id) = next.filter(|_| found.len() < 100) {
        found.push(EntityId::payment(id));
        next = match records.entity(EntityId::payment(id))?.as_deref() {
            Some(Entity::Payment(payment)) => payment.previous,
            _ => None,
        };
    }
    Ok(found)
}
