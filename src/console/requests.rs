//! The log of requests: what programs asked with the keys of an account, for thirty days.

use super::Here;
use crate::pages::inside::with_query;
use crate::pages::logs::{self, requests};
use crate::pages::show::str_of;
use crate::pages::site::Shown;
use crate::pages::view::{Block, Form, Input, Page};
use api::problem::Problem;
use domain::values::ids::{Id, Mode, PLATFORM, tenant_key};

const HERE: &str = "/console/requests";

/// Of one account, as they are kept.
pub async fn answer(visit: &Here<'_>) -> Result<Shown, Problem> {
    let (services, now) = (visit.services, visit.services.now());
    let id = &*visit.tenant_id(visit.query.text("tenantId"));
    let Some(tenant) = Id::parse(id).and_then(|id| services.callers.directory.tenant(id)) else {
        let page = Page::new("requests", visit.say("Solicitudes", "Requests"));
        let text = visit.say(
            "Elige un comercio para ver lo que pidieron sus programas en los últimos 30 días.",
            "Choose a tenant to see what its programs asked in the last 30 days.",
        );
        return Ok(Shown::Page(page.text(text).with(whose(visit))));
    };
    if services.callers.elsewhere(&tenant).is_some() {
        // By its id it leads to its partition.
        let mode = visit.query.text("mode");
        return Ok(Shown::See(with_query(HERE, &[("tenantId", &tenant.id.to_string()), ("mode", mode)])));
    }
    let mode = if visit.query.get("mode") == Some("test") { Mode::Test } else { Mode::Live };
    let key = tenant_key(tenant.number, mode);
    let mut log = requests::log(visit, HERE, now);
    log.kept = vec![("tenantId", id.to_owned()), ("mode", visit.query.text("mode").to_owned())];
    let row = |item: &serde_json::Value| {
        let mut row = requests::row(visit, item, None, None);
        let key = format!("/console/keys/{}", str_of(item, "keyId"));
        row.cells[6].href = Some(with_query(&key, &[("tenantId", id)]));
        row
    };
    // The operator's read takes no place among the tenant's own.
    let shown = logs::answer(visit, (log, PLATFORM), requests::read(visit, key, now), row).await?;
    Ok(match shown {
        Shown::Page(mut page) => {
            page.blocks.insert(0, Block::Form(whose(visit)));
            Shown::Page(page)
        }
        file => file,
    })
}

fn whose(visit: &Here<'_>) -> Form {
    let modes = [("", visit.say("Real", "Live")), ("test", visit.say("Prueba", "Test"))];
    Form::query(HERE, "whose", visit.say("Ver", "Show"))
        .input(visit.sought("tenantId", visit.say("Comercio", "Tenant")).options(visit.tenants()).needed(""))
        .input(Input::choice("mode", visit.say("Modo", "Mode"), modes, visit.query.text("mode")).needed(""))
        .inline()
}
