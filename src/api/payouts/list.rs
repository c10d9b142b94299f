//! Lists of payouts: `GET /v1/payouts` and its twin for operators.

use super::{KINDS, description, show};
use crate::entities::OfKind;
use crate::fields::{Got, Sound};
use crate::lists::{GotSpan, Keep, List, Span};
use crate::openapi::operation::{Operation, summary};
use crate::openapi::{schema, values};
use crate::page::page_json;
use crate::plan::{Call, Plan};
use crate::problem::Problem;
use crate::query::Query;
use crate::records::{Records, Stopped};
use crate::routes::{Endpoint, endpoint};
use domain::index::Space;
use domain::record::Entity;
use domain::resources::payouts::{Payout, PayoutKind, Status};
use domain::values::ids::{EntityId, Id, Kind};

/// GET /v1/payouts
pub const LIST: Endpoint = endpoint(description::TAG, list, || {
    filters(summary("List payouts")).pages().answers(200, "PayoutPage", "Newest first")
});

/// The description of the filters.
pub fn filters(operation: Operation) -> Operation {
    operation
        .query("status", schema::one_of(Status::ALL.map(Status::name)))
        .query("kind", schema::one_of(KINDS.map(PayoutKind::name)))
        .query("merchantId", values::uuid().about("The seller who is paid."))
        .query("externalRef", schema::text().chars(1..=64))
        .query("from", values::instant().about("Made at this instant or later."))
        .query("to", values::instant().about("Made before this instant."))
}

/// The filters, as they are read.
pub struct GotFilters {
    status: Got<Option<Status>>,
    kind: Got<Option<PayoutKind>>,
    merchant: Got<Option<uuid::Uuid>>,
    external_ref: Got<Option<String>>,
    span: GotSpan,
}

/// The filters of a list of payouts.
pub struct Filters {
    /// The reference of the one that is listed.
    pub external_ref: Option<String>,
    statuses: Vec<Status>,
    kind: Option<PayoutKind>,
    merchant: Option<Id>,
    span: Span,
}

impl GotFilters {
    /// Reads the filters of a query.
    pub fn read(query: &mut Query<'_>) -> GotFilters {
        GotFilters {
            status: query
                .optional("status", |text| text.one_of(&Status::ALL.map(|status| (status.name(), status)))),
            kind: query.optional("kind", |text| text.one_of(&KINDS.map(|kind| (kind.name(), kind)))),
            merchant: query.optional("merchantId", |text| text.uuid()),
            external_ref: query.optional("externalRef", |text| text.trimmed(1..=64)),
            span: GotSpan::read(query),
        }
    }

    /// The filters.
    pub fn get(self, sound: &Sound) -> Filters {
        let status = self.status.get(sound);
        Filters {
            external_ref: self.external_ref.get(sound),
            statuses: status.map_or_else(|| Status::ALL.to_vec(), |status| vec![status]),
            kind: self.kind.get(sound),
            merchant: self.merchant.get(sound).map(Id::from),
            span: self.span.get(sound),
        }
    }
}

impl Filters {
    /// The list.
    pub fn list(self) -> List {
        let parts = self.statuses.iter().map(|status| (Kind::Payout, *status as u8)).collect();
        let span = self.span;
        let keep: Keep = Box::new(move |entity| Payout::of(entity).is_some_and(|payout| self.has(payout)));
        List::of(parts, span, keep)
    }

    fn has(&self, payout: &Payout) -> bool {
        self.statuses.contains(&payout.status)
            && self.kind.is_none_or(|kind| payout.kind == kind)
            && self.merchant.is_none_or(|merchant| payout.merchant == Some(merchant))
            && self.external_ref.as_deref().is_none_or(|wanted| &*payout.external_ref == wanted)
    }
}

/// A payout of any entity.
pub fn show_entity(entity: &Entity) -> Option<Vec<u8>> {
    Payout::of(entity).map(show)
}

/// The payout that a reference names.
pub fn named(records: &dyn Records, name: &str) -> Result<Vec<EntityId>, Stopped> {
    Ok(records.named(Space::Payout, name)?.map(EntityId::payout).into_iter().collect())
}

fn list(call: &Call<'_>) -> Result<Plan, Problem> {
    let mut query = Query::parse(call.query);
    let filters = GotFilters::read(&mut query);
    let page = query.page(call.mark, call.caller.tenant_key, "payouts");
    let sound = query.finish()?;
    let (filters, page) = (filters.get(&sound), page.get(&sound));
    let name = filters.external_ref.clone();
    let list = filters.list();
    Ok(match name {
        // A reference names one payout.
        Some(name) => Plan::few(move |records| {
            let named = records.named(Space::Payout, &name)?.filter(|_| page.after.is_none());
            let found = named.map(|id| records.entity(EntityId::payout(id))).transpose()?.flatten();
            Ok(page_json(found.filter(|payout| list.has(payout)).as_deref().and_then(show_entity), None))
        }),
        None => Plan::many(move |records| list.page(records, &page, &show_entity)),
    })
}
