//! Addresses that lead somewhere although they are no pages: those that forms send to, when somebody
//! loads them anew, and the receipt of a session. Also what a shop's page may know of a frame before
//! the browser shows it.

use crate::checkout::assets;
use crate::checkout::visit::{Call, Visit};
use crate::checkout::words::Language;
use crate::gateway::receipts;
use crate::http::listen::Arrival;
use crate::http::respond::{HTML, Reply};
use crate::pages::form::{Form, is_form};
use api::payments::receipt::PDF;
use api::problem::Problem;
use api::writer::Object;
use domain::entities::Entity;
use domain::entities::session::Way;
use domain::values::ids::Id;
use domain::values::money::Usdt;
use hyper::Method;
use hyper::header::{self, HeaderValue};
use std::sync::Arc;

const SLUG_MAX: usize = 64;

pub fn see(address: &str) -> Reply {
    let location = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
    Reply::new(303, HTML, Vec::new())
        .header(header::LOCATION, location)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// A script has no business at an address that only takes forms.
fn only_for_people(arrival: &Arrival) -> Result<(), Problem> {
    if is_script(arrival) { Err(Problem::method_not_allowed(Arc::from("POST"))) } else { Ok(()) }
}

/// Whether a script called, which sends a secret or JSON or loads a file, and no person who loads a page.
pub fn is_script(arrival: &Arrival) -> bool {
    let (head, path) = (&arrival.head, arrival.head.uri.path());
    head.headers.contains_key(header::AUTHORIZATION)
        || path.ends_with("/state")
        || path.ends_with("/embed/check")
        || (head.method == Method::POST && !is_form(&head.headers))
        || path.starts_with(assets::PREFIX)
}

/// GET of an address that a session's form sends to: its page, by the same way to pay.
pub fn session(call: &Call<'_>, way: Way) -> Result<Reply, Problem> {
    only_for_people(call.arrival)?;
    let id = Id::parse(call.named).ok_or_else(Problem::not_found)?;
    let query = call.query();
    let form = Form::query(query);
    let frame = if form.filled("origin").is_some() { "/embed" } else { "" };
    let mut address = format!("/checkout/{id}{frame}?");
    if form.get("method").is_none() {
        address.push_str(&format!("method={}&", way.name()));
    }
    address.push_str(query.unwrap_or_default());
    Ok(see(address.trim_end_matches(['?', '&'])))
}

pub fn link(call: &Call<'_>) -> Result<Reply, Problem> {
    only_for_people(call.arrival)?;
    let (slug, query) = (call.named, call.query());
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if slug.len() > SLUG_MAX || !slug.bytes().all(plain) {
        return Err(Problem::not_found());
    }
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Ok(see(&format!("/pay/{slug}{query}")))
}

/// GET /checkout/:id/receipt: of a session that was paid; any other shows its page.
pub fn receipt(visit: &Visit<'_>, query: Option<&str>) -> Result<Reply, Problem> {
    let form = Form::query(query);
    let language = Language::from_code(form.get("lang"));
    let Some((id, paid)) = visit.paid()? else {
        return Ok(see(&language.link(&format!("/checkout/{}", visit.session.id))));
    };
    let wanted = if form.get("format") == Some("pdf") { PDF } else { "text/html" };
    let in_usdt = match &*paid {
        Entity::Payment(payment) => payment.means.in_usdt(),
        _ => Usdt::ZERO,
    };
    let beside = visit.beside(in_usdt);
    let reply = receipts::made(visit.services, &visit.shop.tenant, (id, &paid), beside, language, wanted)?;
    Ok(reply
        .header(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
        .header(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")))
}

/// GET /checkout/:id/embed/check: why a frame of this session would not be shown in a page of
/// `origin`. A browser tells the page nothing of that.
pub fn embeddable(found: Result<Visit<'_>, Problem>, query: Option<&str>) -> Result<Reply, Problem> {
    let form = Form::query(query);
    let cause = match found {
        Ok(visit) => {
            let origins = &visit.shop.tenant.tenant_settings.settings.checkout_allowed_origins;
            let allowed =
                form.get("origin").is_some_and(|origin| origins.iter().any(|known| known == origin));
            match form.get("fields") == Some("card") && !visit.takes_token() {
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
