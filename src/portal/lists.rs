//! Lists of the tenant's, in the key's mode.

use super::{Here, Made, agent_of, own_keys};
use crate::pages::inside::Refused;
use crate::pages::lists::{self, Books, Described, Sub, Whose};
use crate::pages::show::{items, str_of};
use crate::pages::site::Shown;
use crate::pages::statement;
use crate::pages::view::Link;
use api::problem::Problem;
use std::sync::{Arc, LazyLock};

static LISTS: LazyLock<Vec<Described>> =
    LazyLock::new(|| lists::described(&api::interface::public(Vec::new()), 0));

fn described(visit: &Here<'_>) -> Result<&'static Described, Problem> {
    lists::find(&LISTS, visit.part(0)).ok_or_else(Problem::not_found)
}

/// The file of the list that the first part of the path names, or its page.
pub async fn answer(visit: &Here<'_>) -> Result<Shown, Problem> {
    let (shop, is_live) = (&visit.who.tenant.name, visit.who.livemode());
    let shop = if is_live { shop.to_string() } else { format!("{} {shop}", visit.say("prueba", "test")) };
    match lists::file(visit, described(visit)?, &shop).await {
        Some(file) => file,
        None => visit.shown(page(visit).await),
    }
}

pub async fn page(visit: &Here<'_>) -> Made {
    let (tenant, described) = (visit.who.tenant_key, described(visit)?);
    let sellers = if described.takes("merchantId") { sellers(visit).await? } else { Vec::new() };
    let agents = match visit.part(0) {
        "payouts" | "crypto-payouts" => agents(visit).await?,
        _ => None,
    };
    let whose = Whose {
        lists: links(visit, visit.part(0)),
        now: statement::present(visit.services, tenant).await,
        books: Books::These(vec![tenant], tenant),
        named: vec![("merchantId", sellers)],
        sub: agents,
    };
    lists::page(visit, described, whose).await
}

/// Who holds the key that a payout was made with.
async fn agents(visit: &Here<'_>) -> Result<Option<Sub>, Refused> {
    let (services, tenant, mut keys) =
        (Arc::clone(visit.services), visit.who.tenant_key, own_keys(visit).await?);
    keys.retain(|(key, _)| key.details.mandate.is_some());
    if keys.is_empty() {
        return Ok(None);
    }
    Ok(Some(Box::new(move |id: &str| agent_of(&services, tenant, &keys, id))))
}

/// The lists of the portal, of which one is shown.
pub fn links(visit: &Here<'_>, current: &str) -> Vec<Link> {
    let mut links = lists::links(visit, &LISTS, current);
    let events = Link::new(visit.say("Eventos", "Events"), "/portal/events");
    links.push(Link { is_current: current == "events", ..events });
    links
}

/// The newest sellers, to choose from.
async fn sellers(visit: &Here<'_>) -> Result<Vec<(String, String)>, Refused> {
    let found = visit.inside.get("/v1/merchants?limit=100").await?;
    let of = |seller| (str_of(seller, "merchantId").to_owned(), str_of(seller, "name").to_owned());
    Ok(items(&found).iter().map(of).collect())
}
