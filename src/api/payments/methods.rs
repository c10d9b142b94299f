//! GET /v1/payment-methods: the methods by which the account can collect bolívares now
//! (`docs/contract.md, 5.14`).

use super::show::CHAPTER;
use crate::endpoint::{Context, Handler, endpoints, run, shown};
use crate::openapi::schema;
use crate::page::list_json;
use crate::problem::Problem;
use crate::respond::Reply;
use domain::entities::means::{Method, Offer};

endpoints! { CHAPTER;
    LIST = run!(list), "List the ways in which the account can collect" => {
        answers 200, "CollectionMethodList", "Disabled ones say why";
    };
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let offered = |service| cx.banks.shown().any(|bank| cx.banks.offers(bank.code, service));
    let methods = Method::ALL.into_iter().filter_map(|method| {
        Some((
            method,
            match method.offer() {
                Offer::ByBanks(service) => offered(service),
                Offer::Always => true,
                Offer::Never => return None,
            },
        ))
    });
    let settings = &cx.caller.tenant.tenant_settings.settings;
    // In live mode pesos are listed too: whether they can be collected is not the same for all.
    let pesos = cx.caller.livemode().then(|| {
        let reason = match (cx.env.serves(Method::Cop.service()), settings.cop_enabled) {
            (false, _) => Some("rail_not_configured"),
            (true, false) => Some("cop_not_enabled"),
            (true, true) => None,
        };
        show_method(Method::Cop, "COP", reason)
    });
    let items = methods.map(|(method, has_bank)| {
        let reason = match (cx.env.serves(method.service()), has_bank, cx.env.bcv_rate()) {
            (false, _, _) => Some("rail_not_configured"),
            (true, false, _) => Some("no_bank_offers_it"),
            (true, true, None) => Some("rate_unavailable"),
            (true, true, Some(_)) => None,
        };
        show_method(method, "VES", reason)
    });
    Ok(Reply::json(200, list_json(items.chain(pesos))))
}

shown! {
    fn show_method(method: Method, currency: &'static str, reason: Option<&'static str>), schema, 128 {
        plain "method" = method.name(), schema::one_of(Method::ALL.map(Method::name));
        boolean "enabled" = reason.is_none(), schema::boolean();
        plain "currency" = currency, schema::one_of(["VES", "COP", "USDT"]);
        maybe plain "reason" = reason,
            schema::text().about("Why it is not enabled: `rail_not_configured`, `no_bank_offers_it`, `rate_unavailable`, `cop_not_enabled`.");
    }
}
