//! The log of requests: what programs asked with the account's keys, for thirty days, and what one of them did.

use super::{Here, Made, may, own_keys};
use crate::pages::inside::{segment, with_query};
use crate::pages::logs::{self, requests};
use crate::pages::show::{self, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{Block, Cell, Form, Input, Link, Page};
use api::endpoint::KnownKey;
use api::problem::Problem;
use domain::platform::Scope;
use serde_json::Value;

const HERE: &str = "/portal/requests";
const FACTS: [&str; 9] = ["requestId", "at", "method", "route", "status", "error", "keyId", "ms", "entityId"];

pub async fn answer(visit: &Here<'_>) -> Result<Shown, Problem> {
    let asked = visit.query.text("requestId");
    if !asked.is_empty() {
        return visit.shown(one(visit, asked).await);
    }
    if !may(visit, Scope::Read) {
        return visit.shown(Err(Problem::scope_missing(Scope::Read.name()).into()));
    }
    let keys = match own_keys(visit).await {
        Ok(keys) => keys,
        Err(refused) => return visit.shown(Err(refused)),
    };
    let key_of = |item: &Value| name_of(&keys, str_of(item, "keyId"));
    let (tenant, now) = (visit.who.tenant_key, visit.services.now());
    let log = requests::log(visit, HERE, now);
    let row = |item: &Value| {
        let to = with_query(HERE, &[("requestId", str_of(item, "requestId"))]);
        requests::row(visit, item, key_of(item), Some(to))
    };
    let shown = logs::answer(visit, (log, tenant), requests::read(visit, tenant, now), row).await?;
    Ok(match shown {
        Shown::Page(mut page) => {
            page.blocks.insert(0, Block::Form(form(visit)));
            Shown::Page(page)
        }
        file => file,
    })
}

fn name_of(keys: &[KnownKey], id: &str) -> Option<String> {
    let (key, _) = keys.iter().find(|(key, _)| key.id.to_string() == id)?;
    Some(key.details.name.as_deref().map_or_else(|| format!("{}…", key.prefix), str::to_owned))
}

fn form(visit: &Here<'_>) -> Form {
    Form::query(HERE, "find-request", visit.say("Buscar", "Find"))
        .about(visit.say(
            "Cada respuesta de la API trae X-Request-Id. Durante 30 días puedes buscarlo aquí para ver qué \
             pidió tu programa y qué se le respondió.",
            "Every answer of the API carries X-Request-Id. For 30 days you can look it up here to see what \
             your program asked and what it was answered.",
        ))
        .input(Input::new("requestId", "X-Request-Id").value(visit.query.text("requestId")))
}

async fn one(visit: &Here<'_>, asked: &str) -> Made {
    let title = visit.say("Solicitud", "Request");
    let all = vec![Link::new(visit.say("Todas las solicitudes", "All requests"), HERE)];
    let page = Page::new("requests", title).with(form(visit)).with(all);
    match visit.inside.get(&format!("/v1/requests/{}", segment(asked))).await {
        Ok(found) => {
            let keys = own_keys(visit).await?;
            let mut facts = show::facts(visit.language, &found, &FACTS);
            for fact in &mut facts {
                match &*fact.field {
                    "error" => {
                        fact.cell =
                            fact.cell.clone().with_sub(show::reason(visit.language, &fact.cell.text, ""))
                    }
                    "status" => fact.cell.status = None,
                    "keyId" => {
                        let id = fact.cell.text.clone();
                        fact.cell = match name_of(&keys, &id) {
                            Some(name) => Cell::text(name).copying(id),
                            None => Cell::id(id),
                        };
                    }
                    _ => {}
                }
            }
            Ok(page.with(facts))
        }
        Err(refused) if refused.status == 404 => {
            let none = visit.say(
                "Ninguna llave de tu cuenta hizo esta solicitud en este modo, o fue hace más de 30 días.",
                "No key of your account made this request in this mode, or it was made more than 30 days ago.",
            );
            Ok(page.text(none))
        }
        Err(refused) => Err(refused),
    }
}
