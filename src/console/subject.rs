//! The subject of a call that waits for a second person, in words: whose it is, how much, and what was
//! asked (`docs/contract.md, 20.2`).

use super::Here;
use crate::admin;
use crate::gateway::services::Services;
use crate::pages::show::{self, str_of};
use crate::pages::view::{Cell, Fact};
use crate::pages::words::words;
use crate::store::history;
use api::problem::Problem;
use domain::entities::Entity;
use domain::resources::operations::{Operation, Subject};
use domain::values::ids::{EntityId, Id, Mode, tenant_key};
use domain::values::money::write_minor;
use serde_json::Value;
use std::sync::Arc;

pub async fn of(visit: &Here<'_>, item: &Value) -> Result<Vec<Fact>, Problem> {
    let mut facts = Vec::new();
    let tenant = Id::parse(str_of(item, "tenantId"));
    let known = tenant.and_then(|id| visit.services.callers.directory.tenant(id));
    if let Some(tenant) = &known {
        let cell = Cell::text(tenant.name.to_string()).to(format!("/console/tenants/{}", tenant.id));
        facts.push(Fact::new("tenantName", words(visit.language, "tenantId"), cell));
    }
    let target = Id::parse(str_of(item, "target"));
    match (str_of(item, "action"), target) {
        ("operations", Some(target)) => {
            if let Some((_, operation)) = operation(visit.services, target).await? {
                facts.extend(of_operation(visit, &operation));
            }
        }
        ("crypto-payouts", Some(target)) => {
            let tenants =
                known.iter().flat_map(|tenant| Mode::ALL.map(|mode| tenant_key(tenant.number, mode)));
            for key in tenants {
                let id = EntityId::crypto_payout(target);
                let found = history::entity(visit.services.engine.reader(), key, id)?;
                if let Some(Entity::CryptoPayout(payout)) = found.as_deref() {
                    let amount = (payout.amount.minor(), domain::values::money::Currency::Usdt);
                    facts.push(amount_fact(visit, amount));
                    facts.push(fact(visit, "network", payout.network.name().to_owned()));
                    facts.push(fact(visit, "address", payout.address.to_string()));
                }
            }
        }
        _ => {}
    }
    facts.extend(asked(visit, &item["request"]));
    Ok(facts)
}

/// With the account that it is of.
pub async fn operation(services: &Arc<Services>, id: Id) -> Result<Option<(u64, Operation)>, Problem> {
    let Some((tenant, entity)) = admin::due::find(services, id).await? else {
        return Ok(None);
    };
    let found = history::entity(services.engine.reader(), tenant, entity)?;
    let open = found.map(|entity| entity.rules().unanswered()).unwrap_or_default();
    Ok(open.into_iter().find(|operation| operation.id == id).map(|operation| (tenant, operation)))
}

pub fn of_operation(visit: &Here<'_>, operation: &Operation) -> Vec<Fact> {
    let kind = words(visit.language, operation.kind.name()).to_owned();
    let page = match operation.subject {
        Subject::Payment(id) => Some(format!("/console/payments/{id}")),
        Subject::Payout(id) | Subject::CryptoPayout(id) => Some(format!("/console/payouts/{id}")),
        Subject::PayoutMethod(_) | Subject::PayoutAccount => None,
    };
    let kind = Cell { href: page, ..Cell::text(kind) };
    vec![
        Fact::new("kind", words(visit.language, "kind"), kind),
        amount_fact(visit, (operation.minor, operation.currency)),
    ]
}

fn amount_fact(visit: &Here<'_>, (minor, currency): (i64, domain::values::money::Currency)) -> Fact {
    let mut plain = String::new();
    let _ = write_minor(&mut plain, minor, currency.decimals());
    fact(visit, "amount", format!("{} {}", visit.language.figure(&plain), currency.code()))
}

fn fact(visit: &Here<'_>, name: &'static str, text: String) -> Fact {
    Fact::new(name, words(visit.language, name), Cell::text(text))
}

fn asked(visit: &Here<'_>, request: &Value) -> Vec<Fact> {
    let members = request.as_object().into_iter().flatten();
    let shown = |(name, value): (&String, &Value)| {
        let mut cell = show::cell(visit.language, name, value);
        cell.is_figure = false;
        match (name.as_str(), value.as_str()) {
            ("outcome", Some("done")) => cell.text = visit.say("Se hizo", "It was done").to_owned(),
            ("outcome", Some("refused")) => cell.text = visit.say("No se hizo", "It was not done").to_owned(),
            _ => {}
        }
        Fact::new(name.clone(), words(visit.language, name), cell)
    };
    members.map(shown).collect()
}
