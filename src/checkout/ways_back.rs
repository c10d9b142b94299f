//! Addresses that lead somewhere although they are no pages: those that forms send to, when somebody
//! loads them anew, and the receipt of a session. Also what a shop's page may know of a frame before
//! the browser shows it.

use crate::checkout::visit::Visit;
use crate::checkout::words::Language;
use crate::gateway::receipts;
use crate::gateway::services::Services;
use crate::http::respond::{HTML, Reply};
use crate::pages::form::Form;
use api::payments::receipt::PDF;
use api::problem::Problem;
use api::writer::Object;
use domain::record::Entity;
use domain::resources::checkout::Way;
use domain::values::ids::Id;
use domain::values::money::Usdt;
use hyper::header::{self, HeaderValue};

/// Characters of the longest slug of a payment link.
const SLUG_MAX: usize = 64;

/// A redirect with 303 to a page.
pub fn see(address: &str) -> Reply {
    let location = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
    Reply::new(303, HTML, Vec::new())
        .header(header::LOCATION, location)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// GET of an address that a session's form sends to: its page, by the same way to pay.
pub fn session(id: &str, way: Way, query: Option<&str>) -> Result<Reply, Problem> {
    let id = Id::parse(id).ok_or_else(Problem::not_found)?;
    let form = Form::query(query);
    let frame = if form.filled("origin").is_some() { "/embed" } else { "" };
    let mut address = format!("/checkout/{id}{frame}?");
    if form.get("method").is_none() {
        address.push_str(&format!("method={}&", way.name()));
    }
    address.push_str(query.unwrap_or_default());
    Ok(see(address.trim_end_matches(['?', '&'])))
}

/// GET /pay/:slug/sessions: the page of the link.
pub fn link(slug: &str, query: Option<&str>) -> Result<Reply, Problem> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if slug.len() > SLUG_MAX || !slug.bytes().all(plain) {
        return Err(Problem::not_found());
    }
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Ok(see(&format!("/pay/{slug}{query}")))
}

/// GET /checkout/:id/receipt: of a session that was paid; any other shows its page.
pub fn receipt(services: &Services, visit: &Visit, query: Option<&str>) -> Result<Reply, Problem> {
    let form = Form::query(query);
    let language = Language::from_code(form.get("lang"));
    let Some((id, paid)) = visit.paid(services)? else {
        return Ok(see(&language.link(&format!("/checkout/{}", visit.session.id))));
    };
    let wanted = if form.get("format") == Some("pdf") { PDF } else { "text/html" };
    let in_usdt = match &*paid {
        Entity::Payment(payment) => payment.means.in_usdt(),
        _ => Usdt::ZERO,
    };
    let beside = visit.beside(in_usdt);
    let reply = receipts::made(services, &visit.shop.tenant, (id, &paid), beside, language, wanted)?;
    Ok(reply
        .header(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
        .header(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")))
}

/// GET /checkout/:id/embed/check: why a frame of this session would not be shown in a page of
/// `origin`. A browser tells the page nothing of that.
pub fn embeddable(
    services: &Services,
    found: Result<Visit, Problem>,
    query: Option<&str>,
) -> Result<Reply, Problem> {
    let form = Form::query(query);
    let cause = match found {
        Ok(visit) => {
            let origins = &visit.shop.tenant.tenant_settings.settings.checkout_allowed_origins;
            let allowed =
                form.get("origin").is_some_and(|origin| origins.iter().any(|known| known == origin));
            match form.get("fields") == Some("card") && !visit.takes_token(services) {
                true => Some("session_not_found"),
                false => (!allowed).then_some("origin_not_allowed"),
            }
        }
        Err(problem) if problem.status == 404 => Some("session_not_found"),
        Err(problem) if problem.status == 429 => Some("too_many_requests"),
        Err(problem) => return Err(problem),
    };
    // Whoever asks learns no more than from the page itself, so any page may.
    Ok(Reply::json(200, Object::new().maybe_plain("cause", cause).end())
        .header(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"))
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
}
