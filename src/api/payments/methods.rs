//! GET /v1/payment-methods: the methods by which the account can collect bolívares and pesos now
//! (`docs/contract.md, 5.14`).

use crate::openapi::operation::summary;
use crate::page::list_json;
use crate::plan::{Call, Plan};
use crate::problem::Problem;
use crate::query::Query;
use crate::routes::{Endpoint, endpoint};
use crate::writer::Object;
use domain::resources::payments::{Method, Offer};
use domain::values::money::Currency;

/// GET /v1/payment-methods
pub const LIST: Endpoint = endpoint(crate::payments::description::TAG, list, || {
    summary("List what the account can collect by now").answers(
        200,
        "CollectionMethodList",
        "Disabled ones say why",
    )
});

fn list(call: &Call<'_>) -> Result<Plan, Problem> {
    Query::parse(call.query).finish()?;
    let items = Method::ALL.into_iter().filter_map(|method| {
        let currency = match method.offer() {
            Offer::ByBanks(_) | Offer::Always => Currency::Ves,
            Offer::ForPesos => Currency::Cop,
            Offer::Never => return None,
        };
        let reason = why_not(call, method);
        let item = Object::new()
            .plain("method", method.name())
            .boolean("enabled", reason.is_none())
            .plain("currency", currency.code());
        Some(item.maybe_plain("reason", reason).end())
    });
    Ok(Plan::Answer(200, list_json(items)))
}

/// The reason why nothing can be collected by a method now; that no rail serves it comes first.
fn why_not(call: &Call<'_>, method: Method) -> Option<&'static str> {
    if !(call.serves)(method.service()) {
        return Some("rail_not_configured");
    }
    let has_bank = match method.offer() {
        Offer::ByBanks(service) => call.banks.shown().any(|bank| call.banks.offers(bank.code, service)),
        Offer::Always | Offer::Never => true,
        Offer::ForPesos => {
            let is_on = call.caller.tenant.tenant_settings.settings.cop_enabled;
            return (!is_on).then_some("cop_not_enabled");
        }
    };
    match (has_bank, call.bcv_rate) {
        (false, _) => Some("no_bank_offers_it"),
        (true, None) => Some("rate_unavailable"),
        (true, Some(_)) => None,
    }
}
