//! Sellers: the list, and one with its balance and payout methods.

use super::{Here, Made};
use crate::pages::inside::{segment, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::view::{Block, Link, Page, Row, Table};
use serde_json::Value;

const COLUMNS: [&str; 5] = ["name", "externalRef", "identification", "status", "createdAt"];
const FACTS: [&str; 9] = [
    "name",
    "externalRef",
    "identification",
    "contactEmail",
    "contactPhone",
    "status",
    "isActive",
    "createdAt",
    "merchantId",
];
const BALANCE: [&str; 3] = ["availableVes", "pendingVes", "nextReleaseAt"];
const METHODS: [&str; 4] = ["bankCode", "phone", "status", "verifiedAt"];

/// GET /portal/merchants
pub async fn list(visit: &Here<'_>) -> Made {
    let language = visit.language;
    let found = visit
        .inside
        .get(&with_query("/v1/merchants", &[("limit", "25"), ("cursor", visit.query.text("cursor"))]))
        .await?;
    let row = |item: &Value| {
        let mut cells = COLUMNS.map(|name| show::cell(language, name, &item[name]));
        cells[0].href = Some(format!("/portal/merchants/{}", str_of(item, "merchantId")));
        Row::new(cells.into()).status(str_of(item, "status"))
    };
    let next =
        found["nextCursor"].as_str().map(|cursor| with_query("/portal/merchants", &[("cursor", cursor)]));
    let caption = visit.say("Vendedores, primero los más recientes", "Sellers, newest first");
    let table = Table {
        rows: items(&found).iter().map(row).collect(),
        next,
        ..show::table(language, caption, &COLUMNS)
    };
    Ok(Page::new("merchants", visit.say("Vendedores", "Sellers")).with(table))
}

/// GET /portal/merchants/:id
pub async fn one(visit: &Here<'_>, id: &str) -> Made {
    let (language, id) = (visit.language, segment(id));
    let merchant = visit.inside.get(&format!("/v1/merchants/{id}")).await?;
    let balance = visit.inside.find(&format!("/v1/merchants/{id}/balance")).await?.unwrap_or_default();
    let methods = merchant["payoutMethods"].as_array().map_or(&[][..], Vec::as_slice);
    let row = |item: &Value| {
        Row::new(METHODS.map(|name| show::cell(language, name, &item[name])).into())
            .status(str_of(item, "status"))
    };
    let caption = visit.say("Métodos de pago", "Payout methods");
    let table = Table { rows: methods.iter().map(row).collect(), ..show::table(language, caption, &METHODS) };
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
    Ok(Page::new("merchants", str_of(&merchant, "name"))
        .status(str_of(&merchant, "status"))
        .with(show::facts(language, &merchant, &FACTS))
        .with(Block::Heading(visit.say("Saldo", "Balance").to_owned()))
        .with(show::facts(language, &balance, &BALANCE))
        .with(Block::Heading(caption.to_owned()))
        .with(table)
        .with(links))
}
