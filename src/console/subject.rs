//! The subject of a call that waits for a second person, in words: whose it is, how much, and what was
//! asked (`docs/contract.md, 20.2`).

use super::{Here, money};
use crate::admin;
use crate::gateway::services::Services;
use crate::pages::show::{self, str_of};
use crate::pages::timeline;
use crate::pages::view::{Cell, Fact};
use crate::pages::words::words;
use crate::store::history;
use api::problem::Problem;
use domain::entities::Entity;
use domain::resources::operations::{Operation, Subject};
use domain::values::ids::{EntityId, Id, Mode, is_live, tenant_key};
use domain::values::money::Currency;
use serde_json::{Value, json};
use std::sync::Arc;

pub async fn of(visit: &Here<'_>, item: &Value) -> Result<Vec<Fact>, Problem> {
    let mut facts = Vec::new();
    let tenant = Id::parse(str_of(item, "tenantId"));
    if let Some(tenant) = tenant.and_then(|id| visit.services.callers.directory.tenant(id)) {
        let cell = Cell::text(tenant.name.to_string()).to(format!("/console/tenants/{}", tenant.id));
        facts.push(Fact::new("tenantName", words(visit.language, "tenantId"), cell));
    }
    if let Some((tenant, entity)) = entity(visit.services, item)? {
        let mode = if is_live(tenant) { Mode::Live } else { Mode::Test };
        facts.push(show::fact(visit.language, &json!({ "mode": mode.name() }), "mode"));
        let shown = money::shown(visit.services, tenant, &entity);
        // What a bank has is told by its operation.
        let names: &[&str] = match str_of(item, "action") {
            "operations" => &["externalRef"],
            _ => &["amountUsdt", "amountCop", "network", "address", "bank", "accountNumber", "externalRef"],
        };
        facts.extend(visit.facts(&shown, names));
    }
    if let Some(target) = Id::parse(str_of(item, "target")).filter(|_| str_of(item, "action") == "operations")
        && let Some((_, operation, _)) = operation(visit.services, target).await?
    {
        facts.extend(of_operation(visit, &operation));
    }
    facts.extend(asked(visit, &item["request"]));
    Ok(facts)
}

/// What a call is about, with the account that it is of; nothing of one about rates, operators or a balance.
fn entity(services: &Services, item: &Value) -> Result<Option<(u64, Arc<Entity>)>, Problem> {
    let tenant = Id::parse(str_of(item, "tenantId"));
    let Some(tenant) = tenant.and_then(|id| services.callers.directory.tenant(id)) else { return Ok(None) };
    let target = Id::parse(str_of(item, "target"));
    let of = match (str_of(item, "action"), target, Id::parse(str_of(&item["request"], "paymentId"))) {
        ("operations", Some(target), _) => timeline::ids(target.entity_and_operation().0).to_vec(),
        ("crypto-payouts", Some(target), _) => vec![EntityId::crypto_payout(target)],
        ("cop_payouts", Some(target), _) => vec![EntityId::cop_payout(target)],
        ("adjustments", _, Some(payment)) => vec![EntityId::payment(payment)],
        _ => Vec::new(),
    };
    for key in Mode::ALL.map(|mode| tenant_key(tenant.number, mode)) {
        for id in &of {
            if let Some(found) = history::entity(services.engine.reader(), key, *id)? {
                return Ok(Some((key, found)));
            }
        }
    }
    Ok(None)
}

/// The mode of what a call is about; nothing of one that holds for both.
pub fn mode(services: &Services, item: &Value) -> Result<Option<Mode>, Problem> {
    if let Some(named) = item["request"]["mode"].as_str() {
        return Ok(Mode::ALL.into_iter().find(|mode| mode.name() == named));
    }
    let of = |(tenant, _)| if is_live(tenant) { Mode::Live } else { Mode::Test };
    Ok(entity(services, item)?.map(of))
}

/// With the account that it is of, and what it moves.
pub async fn operation(
    services: &Arc<Services>,
    id: Id,
) -> Result<Option<(u64, Operation, Arc<Entity>)>, Problem> {
    let Some((tenant, entity)) = admin::due::find(services, id).await? else {
        return Ok(None);
    };
    let Some(found) = history::entity(services.engine.reader(), tenant, entity)? else { return Ok(None) };
    let mut open = found.rules().unanswered().into_iter();
    Ok(open.find(|operation| operation.id == id).map(|operation| (tenant, operation, found)))
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
        fact(visit, "amount", amount(visit, (operation.minor, operation.currency))),
    ]
}

pub fn amount(visit: &Here<'_>, (minor, currency): (i64, Currency)) -> String {
    format!("{} {}", visit.language.amount(minor, currency.decimals()), currency.code())
}

fn fact(visit: &Here<'_>, name: &'static str, text: String) -> Fact {
    Fact::new(name, words(visit.language, name), Cell::text(text))
}

pub fn asked(visit: &Here<'_>, request: &Value) -> Vec<Fact> {
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
