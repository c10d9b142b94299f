//! Sellers: the list, and one with its balance and payout methods.

use super::{Here, Made};
use crate::pages::inside::{segment, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::view::{Link, Page};
use serde_json::Value;

const COLUMNS: [&str; 5] = ["name", "externalRef", "identification", "status", "createdAt"];
#[rustfmt::skip]
const FACTS: [&str; 9] = [
    "name", "externalRef", "identification", "contactEmail", "contactPhone", "status", "isActive", "createdAt",
    "merchantId",
];
const BALANCE: [&str; 3] = ["availableVes", "pendingVes", "nextReleaseAt"];
const METHODS: [&str; 4] = ["bankCode", "phone", "status", "verifiedAt"];

pub async fn list(visit: &Here<'_>) -> Made {
    let (language, here) = (visit.language, "/portal/merchants");
    let (found, next) = visit.list("/v1/merchants", here, &[], "25").await?;
    let row = |item: &Value| {
        show::row(language, item, &COLUMNS).link(0, format!("{here}/{}", str_of(item, "merchantId")))
    };
    let caption = visit.say("Vendedores, primero los más recientes", "Sellers, newest first");
    let table = show::table(language, caption, &COLUMNS).rows(items(&found).iter().map(row)).next(next);
    Ok(Page::new("merchants", visit.say("Vendedores", "Sellers")).with(table))
}

pub async fn one(visit: &Here<'_>) -> Made {
    let (language, id) = (visit.language, segment(visit.id()));
    let merchant = visit.inside.get(&format!("/v1/merchants/{id}")).await?;
    let balance = visit.inside.find(&format!("/v1/merchants/{id}/balance")).await?.unwrap_or_default();
    let methods = merchant["payoutMethods"].as_array().map_or(&[][..], Vec::as_slice);
    let caption = visit.say("Métodos de pago", "Payout methods");
    let rows = methods.iter().map(|item| visit.row(item, &METHODS));
    let table = show::table(language, caption, &METHODS).rows(rows);
    let links = vec![
        Link::new(
            visit.say("Sus pagos", "The seller's payouts"),
            with_query("/portal/payouts", &[("merchantId", &id)]),
        ),
        Link::new(
            visit.say("Su estado de cuenta", "The seller's statement"),
            with_query("/portal/statements", &[("merchantId", &id)]),
        ),
    ];
    let mut facts = show::facts(language, &merchant, &FACTS);
    for fact in facts.iter_mut().filter(|fact| fact.field == "merchantId") {
        fact.label = visit.label("id").to_owned();
    }
    Ok(Page::new("merchants", str_of(&merchant, "name"))
        .status(str_of(&merchant, "status"))
        .with(facts)
        .heading(visit.say("Saldo", "Balance"))
        .with(show::facts(language, &balance, &BALANCE))
        .heading(caption)
        .with(table)
        .with(links))
}
