//! Lists of all tenants, live ones unless the address says otherwise.

use super::{Here, Made};
use crate::admin;
use crate::pages::lists::{self, Described, Whose};
use crate::pages::site::Shown;
use crate::pages::view::{Note, Tone};
use api::problem::Problem;
use domain::values::ids::{Id, Mode, PLATFORM, tenant_key};
use std::sync::LazyLock;

static LISTS: LazyLock<Vec<Described>> = LazyLock::new(|| lists::described(&admin::document(), 1));

fn described(visit: &Here<'_>) -> Result<&'static Described, Problem> {
    lists::find(&LISTS, visit.part(0)).ok_or_else(Problem::not_found)
}

/// The file of the list that the first part of the path names, or its page.
pub async fn answer(visit: &Here<'_>) -> Result<Shown, Problem> {
    let mut shop = visit.tenant_name(visit.query.text("tenantId"));
    if visit.query.get("mode") == Some("test") {
        shop = format!("{} {shop}", visit.say("prueba", "test"));
    }
    match lists::file(visit, described(visit)?, &shop).await {
        Some(file) => file,
        None => visit.shown(page(visit).await),
    }
}

async fn page(visit: &Here<'_>) -> Made {
    let tenants = visit.services.callers.own_tenants();
    let mode = if visit.query.get("mode") == Some("test") { Mode::Test } else { Mode::Live };
    let asked = visit.query.filled("tenantId").map(|text| Id::parse(&visit.tenant_id(text)));
    let is_asked = |id: Id| asked.is_none_or(|asked| asked == Some(id));
    let whose = tenants.iter().filter(|tenant| is_asked(tenant.id));
    let whose = Whose {
        lists: lists::links(visit, &LISTS, visit.part(0)),
        now: visit.services.now(),
        keys: whose.map(|tenant| tenant_key(tenant.number, mode)).collect(),
        reader: PLATFORM,
        named: vec![("tenantId", visit.tenants())],
        sub: None,
    };
    let mut page = lists::page(visit, described(visit)?, whose).await?;
    if mode == Mode::Test {
        let text =
            visit.say("Órdenes de prueba: no mueven dinero real.", "Test orders: no real money moves.");
        page.blocks.insert(0, Note::new(Tone::Warning, text).into());
    }
    Ok(page)
}
