//! Lists of payouts: `GET /v1/payouts` and its twin for operators.

use super::CHAPTER;
use super::show;
use crate::endpoint::{Context, Handler, endpoints, run};
use crate::fields::{Got, Kind as _, gather};
use crate::lists::{Keep, List, Span};
use crate::openapi::kinds;
use crate::page::page_json;
use crate::problem::Problem;
use crate::query::Query;
use crate::records::{Records, Stopped};
use crate::respond::Reply;
use domain::entities::payout::{Payout, PayoutKind, Status};
use domain::entities::{Entity, OfKind};
use domain::index::Space;
use domain::values::ids::{EntityId, Id, Kind};

endpoints! { CHAPTER;
    LIST = run!(list), "List payouts" => {
        filters filters;
        answers 200, "PayoutPage", "Newest first";
    };
}

pub struct Filters {
    pub external_ref: Option<String>,
    status: Option<Status>,
    kind: Option<PayoutKind>,
    merchant: Option<Id>,
    span: Span,
}

pub fn filters(query: &mut Query<'_>) -> Got<Filters> {
    gather!(query {
        optional status = "status", kinds::named_one(Status::ALL, Status::name);
        optional kind = "kind", kinds::named_one(PayoutKind::ALL, PayoutKind::name);
        optional merchant = "merchantId", kinds::id().about("The seller who is paid.");
        optional external_ref = "externalRef", kinds::sought(1..=64);
        got span = Span::read(query);
    } => Filters { external_ref, status, kind, merchant, span })
}

impl Filters {
    pub fn list(self) -> List {
        let wanted = |each: &Status| self.status.is_none_or(|status| status == *each);
        let parts =
            Status::ALL.into_iter().filter(wanted).map(|status| (Kind::Payout, status as u8)).collect();
        let span = self.span;
        let keep: Keep = Box::new(move |entity| Payout::of(entity).is_some_and(|payout| self.has(payout)));
        List::of(parts, span, keep)
    }

    fn has(&self, payout: &Payout) -> bool {
        self.status.is_none_or(|status| status == payout.status)
            && self.kind.is_none_or(|kind| payout.kind == kind)
            && self.merchant.is_none_or(|merchant| payout.merchant == Some(merchant))
            && self.external_ref.as_deref().is_none_or(|wanted| &*payout.external_ref == wanted)
    }
}

pub fn show_entity(entity: &Entity) -> Option<Vec<u8>> {
    Payout::of(entity).map(show)
}

pub fn named(records: &dyn Records, name: &str) -> Result<Vec<EntityId>, Stopped> {
    Ok(records.named(Space::Payout, name)?.map(EntityId::payout).into_iter().collect())
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (filters, page) = cx.listed("payouts", filters)?;
    let name = filters.external_ref.clone();
    let list = filters.list();
    match name {
        // A reference names one payout.
        Some(name) => cx.read(|records| {
            let named = records.named(Space::Payout, &name)?.filter(|_| page.after.is_none());
            let found = named.map(|id| records.entity(EntityId::payout(id))).transpose()?.flatten();
            Ok(page_json(found.filter(|payout| list.has(payout)).as_deref().and_then(show_entity), None))
        }),
        None => cx.list(list, page, show_entity).await,
    }
}
