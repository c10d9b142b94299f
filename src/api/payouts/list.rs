//! Lists of payouts: `GET /v1/payouts` and its twin for operators.

use super::show;
use crate::answer::OfKind;
use crate::chapters;
use crate::endpoint::{Context, Endpoint, endpoint, run};
use crate::fields::{Got, Invalid, Kind as _, Sound};
use crate::lists::{GotSpan, Keep, List, Span};
use crate::openapi::kinds;
use crate::openapi::operation::summary;
use crate::page::{ListOf, Page, page_json};
use crate::problem::Problem;
use crate::query::Query;
use crate::records::{Records, Stopped};
use crate::respond::Reply;
use domain::entities::Entity;
use domain::entities::payout::{Payout, PayoutKind, Status};
use domain::index::Space;
use domain::values::ids::{EntityId, Id, Kind};

/// GET /v1/payouts
pub const LIST: Endpoint = endpoint(chapters::PAYOUTS, run!(list), || {
    summary("List payouts").list(asked).answers(200, "PayoutPage", "Newest first")
});

pub struct GotFilters {
    status: Got<Option<Status>>,
    kind: Got<Option<PayoutKind>>,
    merchant: Got<Option<uuid::Uuid>>,
    external_ref: Got<Option<String>>,
    span: GotSpan,
}

pub struct Filters {
    pub external_ref: Option<String>,
    statuses: Vec<Status>,
    kind: Option<PayoutKind>,
    merchant: Option<Id>,
    span: Span,
}

impl GotFilters {
    pub fn read(query: &mut Query<'_>) -> GotFilters {
        GotFilters {
            status: query.optional("status", kinds::named_one(Status::ALL, Status::name)),
            kind: query.optional("kind", kinds::named_one(PayoutKind::ALL, PayoutKind::name)),
            merchant: query.optional("merchantId", kinds::uuid().about("The seller who is paid.")),
            external_ref: query.optional("externalRef", kinds::sought(1..=64)),
            span: GotSpan::read(query),
        }
    }

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

pub fn named(records: &dyn Records, name: &str) -> Result<Vec<EntityId>, Stopped> {
    Ok(records.named(Space::Payout, name)?.map(EntityId::payout).into_iter().collect())
}

fn asked(mut query: Query<'_>, list: ListOf<'_>) -> Result<(Filters, Page), Invalid> {
    let (filters, page) = (GotFilters::read(&mut query), query.page(list));
    let sound = query.finish()?;
    Ok((filters.get(&sound), page.get(&sound)))
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (filters, page) = cx.listed("payouts", asked)?;
    let name = filters.external_ref.clone();
    let list = filters.list();
    match name {
        // A reference names one payout.
        Some(name) => cx.read(|records| {
            let named = records.named(Space::Payout, &name)?.filter(|_| page.after.is_none());
            let found = named.map(|id| records.entity(EntityId::payout(id))).transpose()?.flatten();
            Ok(page_json(found.filter(|payout| list.has(payout)).as_deref().and_then(show_entity), None))
        }),
        None => cx.read_long(move |records| list.page(records, &page, &show_entity)).await,
    }
}
