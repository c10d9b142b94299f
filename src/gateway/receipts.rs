//! Receipts of payments, as tenants ask for them.

use super::services::Services;
use crate::http::respond::{HTML, Reply};
use crate::language::Language;
use crate::receipts::{Receipt, Shop, page, pdf};
use crate::store::history::Stored;
use api::endpoint::Caller;
use api::payments::receipt::{PDF, not_completed, payment};
use api::problem::Problem;
use domain::entities::Entity;
use domain::platform::Tenant;
use domain::values::ids::Id;
use domain::values::money::Usdt;
use hyper::header::{
    CONTENT_DISPOSITION, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, HeaderValue, VARY, X_CONTENT_TYPE_OPTIONS,
};

/// The page has its style inside, and needs nothing else.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

pub fn read(
    services: &Services,
    caller: &Caller,
    id: Id,
    lang: Option<&str>,
    form: &str,
) -> Result<Reply, Problem> {
    let records = Stored::of(services.engine.reader(), caller.tenant_key);
    let entity = payment(&records, id)?;
    let tenant = services.callers.directory.tenant(caller.tenant.id).unwrap_or_else(|| caller.tenant.clone());
    made(services, &tenant, (id, &entity), None, Language::from_code(lang), form)
}

pub fn made(
    services: &Services,
    tenant: &Tenant,
    (id, entity): (Id, &Entity),
    beside: Option<Usdt>,
    language: Language,
    form: &str,
) -> Result<Reply, Problem> {
    let shop = &tenant.tenant_settings.settings.shop;
    let name = shop.name.as_deref().unwrap_or(&tenant.name).to_owned();
    let shop = Shop { name, rif: shop.rif.clone() };
    let receipt = Receipt::of(entity, shop, &services.banks.now(), language).ok_or_else(not_completed)?;
    let receipt = match beside {
        Some(usdt) => receipt.beside(usdt),
        None => receipt,
    };
    let reply = if form == PDF {
        let name = HeaderValue::from_str(&format!("inline; filename=\"receipt-{id}.pdf\""));
        let reply = Reply::new(200, PDF, pdf(&receipt));
        name.into_iter().fold(reply, |reply, name| reply.header(CONTENT_DISPOSITION, name))
    } else {
        Reply::new(200, HTML, page(&receipt)).header(CONTENT_SECURITY_POLICY, POLICY)
    };
    Ok(reply
        .header(CONTENT_LANGUAGE, HeaderValue::from_static(language.code()))
        .header(VARY, HeaderValue::from_static("accept"))
        .header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .no_store())
}
