//! Lists of payments in whatever they were collected: `GET /v1/payments` and its twin for operators.

use super::{attempts, description, show_entity};
use crate::fields::{Got, Sound};
use crate::lists::{GotSpan, Keep, List, Span};
use crate::openapi::operation::{Operation, summary};
use crate::openapi::{schema, values};
use crate::plan::{Call, Plan};
use crate::problem::Problem;
use crate::query::Query;
use crate::records::{Records, Stopped};
use crate::routes::{Endpoint, endpoint};
use domain::index::{Space, Trait};
use domain::record::Entity;
use domain::resources::payments::{Method, Payment, Status, facet};
use domain::trace::shown;
use domain::values::ids::{EntityId, Id, Kind};

/// Characters of the longest reference.
const REFERENCE_MAX: usize = 128;

/// GET /v1/payments
pub const LIST: Endpoint = endpoint(description::TAG, list, || {
    filters(summary("List payments")).pages().answers(200, "PaymentPage", "Newest first")
});

/// The description of the filters.
pub fn filters(operation: Operation) -> Operation {
    let time = |about: &str| values::instant().about(about);
    operation
        .query("status", schema::one_of(Status::ALL.map(Status::name)))
        .query("method", schema::one_of(Method::ALL.map(Method::name)))
        .query("externalRef", schema::text().chars(1..=64).about("All attempts under this reference."))
        .query(
            "bankReference",
            schema::text().chars(1..=REFERENCE_MAX).about("As the payment shows it, whole."),
        )
        .query(
            "reference",
            schema::text()
                .chars(1..=REFERENCE_MAX)
                .about("Of the checkout session, or of the payment in pesos."),
        )
        .query("merchantId", values::uuid().about("The seller."))
        .query("from", time("Made at this instant or later."))
        .query("to", time("Made before this instant."))
}

/// The filters, as they are read.
pub struct GotFilters {
    status: Got<Option<Status>>,
    method: Got<Option<Method>>,
    external_ref: Got<Option<String>>,
    bank_reference: Got<Option<String>>,
    reference: Got<Option<String>>,
    merchant: Got<Option<uuid::Uuid>>,
    span: GotSpan,
}

/// The filters of a list of payments.
pub struct Filters {
    /// The reference of the tenant's whose attempts are listed.
    pub external_ref: Option<String>,
    statuses: Vec<Status>,
    methods: Vec<Method>,
    bank_reference: Option<String>,
    reference: Option<String>,
    merchant: Option<Id>,
    span: Span,
}

impl GotFilters {
    /// Reads the filters of a query.
    pub fn read(query: &mut Query<'_>) -> GotFilters {
        let reference = |text: crate::query::Text<'_>| text.trimmed(1..=REFERENCE_MAX);
        GotFilters {
            status: query
                .optional("status", |text| text.one_of(&Status::ALL.map(|status| (status.name(), status)))),
            method: query
                .optional("method", |text| text.one_of(&Method::ALL.map(|method| (method.name(), method)))),
            external_ref: query.optional("externalRef", |text| text.trimmed(1..=64)),
            bank_reference: query.optional("bankReference", reference),
            reference: query.optional("reference", reference),
            merchant: query.optional("merchantId", |text| text.uuid()),
            span: GotSpan::read(query),
        }
    }

    /// The filters.
    pub fn get(self, sound: &Sound) -> Filters {
        let status = self.status.get(sound);
        let method = self.method.get(sound);
        Filters {
            external_ref: self.external_ref.get(sound),
            statuses: status.map_or_else(|| Status::ALL.to_vec(), |status| vec![status]),
            methods: method.map_or_else(|| Method::ALL.to_vec(), |method| vec![method]),
            bank_reference: self.bank_reference.get(sound),
            reference: self.reference.get(sound),
            merchant: self.merchant.get(sound).map(Id::from),
            span: self.span.get(sound),
        }
    }
}

impl Filters {
    /// The list, in which an `externalRef` is one filter more.
    pub fn list(self) -> List {
        let mut parts = Vec::new();
        for method in &self.methods {
            for status in &self.statuses {
                parts.push(match method {
                    Method::Cop => (Kind::CopPayment, *status as u8),
                    method => (Kind::Payment, facet(*method, *status)),
                });
            }
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
        self.statuses.contains(&listed.status)
            && self.methods.contains(&listed.method)
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

/// The bank's reference, as a payment shows it.
pub(crate) fn bank_reference(payment: &Payment) -> Option<&str> {
    shown(&payment.bank_reference).filter(|_| payment.status != Status::Failed)
}

fn list(call: &Call<'_>) -> Result<Plan, Problem> {
    let mut query = Query::parse(call.query);
    let filters = GotFilters::read(&mut query);
    let page = query.page(call.mark, call.caller.tenant_key, "payments");
    let sound = query.finish()?;
    let (filters, page) = (filters.get(&sound), page.get(&sound));
    Ok(match filters.external_ref.clone() {
        // Only payments of the first kind have an externalRef.
        Some(name) => {
            let list = filters.list();
            Plan::many(move |records| attempts::page(records, &name, &list, &page))
        }
        None => {
            let list = filters.list();
            Plan::many(move |records| list.page(records, &page, &show_entity))
        }
    })
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
