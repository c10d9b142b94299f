//! What the pages' forms send: the way to pay without a script. A form carries the session's client secret, which no other site knows; and a browser that says that the form came from
//! another site is believed.

use crate::api::problem::Problem;
use crate::checkout::calls::{is_secret, on_sale, session_of};
use crate::checkout::form::Form;
use crate::checkout::pages::{Manner, Typed, Wish, show, show_link};
use crate::checkout::visit::Visit;
use crate::checkout::words::Language;
use crate::domain::banks::{BankCode, Service};
use crate::domain::checkout::Way;
use crate::domain::identity::IdentityDocument;
use crate::domain::ids::{EntityId, Id};
use crate::domain::machine::Ask;
use crate::domain::payments::Debtor;
use crate::domain::phone::MobilePhone;
use crate::domain::token::Token;
use crate::server::dispatch::failure;
use crate::server::respond::{HTML, Reply};
use crate::server::services::Services;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The session that a form is about, if the form carries its secret and did not come from another site.
async fn admitted(services: &Services, id: &str, headers: &HeaderMap, form: &Form) -> Result<Visit, Problem> {
    let id = Id::parse(id).ok_or_else(Problem::not_found)?;
    let foreign = headers.get(SEC_FETCH_SITE).is_some_and(|site| site != "same-origin" && site != "none");
    if foreign || !is_secret(services, id, form.text("secret")) {
        return Err(Problem::unauthorized());
    }
    Visit::begin(services, id).await?.ok_or_else(Problem::not_found)
}

fn wish(form: &Form) -> Wish {
    let manner = if form.get("view") == Some("embed") { Manner::Embedded } else { Manner::Whole };
    Wish { way: Some(Way::C2p), ..Wish::read(form, manner) }
}

/// What people put between digits is not meant.
fn compact(text: &str) -> String {
    text.chars().filter(|character| !matches!(character, ' ' | '-' | '.' | '(' | ')' | '\u{a0}')).collect()
}

/// POST /checkout/:id/c2p/request
pub async fn request(services: &Services, id: &str, headers: &HeaderMap, body: &[u8]) -> Result<Reply, Problem> {
    let form = Form::read(body);
    let visit = admitted(services, id, headers, &form).await?;
    let mut wish = wish(&form);
    let mut typed = Typed {
        bank: form.text("debtorBankCode").to_owned(),
        identity: form.text("debtorId").to_owned(),
        phone: form.text("debtorCellPhone").to_owned(),
        wrong: Vec::new(),
    };
    let bank = typed.bank.parse().ok().and_then(|number| BankCode::from_number(number).ok()).filter(|bank| services.banks.now().offers(*bank, Service::C2p));
    let identity = IdentityDocument::parse(&compact(&typed.identity)).ok();
    let phone = MobilePhone::parse(&compact(&typed.phone)).ok();
    let (Some(bank), Some(identity), Some(phone)) = (bank, identity, phone) else {
        let found = [("debtorBankCode", bank.is_some()), ("debtorId", identity.is_some()), ("debtorCellPhone", phone.is_some())];
        typed.wrong = found.into_iter().filter_map(|(name, fine)| (!fine).then_some(name)).collect();
        return Ok(show(services, &visit, Wish { typed, ..wish }, 400));
    };
    let settled = visit.request(services, Debtor { bank, id: identity, phone }).await;
    let refused = match settled {
        Ok(settled) => match (settled.refusal, settled.record.as_ref().and_then(|record| record.entities.first())) {
            (None, Some(intent)) => return Ok(see(&wish.address(visit.session.id, &format!("intent={}", intent.state.id().id)))),
            (Some(refusal), _) => crate::api::refusals::problem(&refusal),
            (None, None) => Problem::internal_error(),
        },
        Err(problem) => problem,
    };
    if is_told_by_the_page(&refused) {
        return Ok(see(&wish.address(visit.session.id, "")));
    }
    wish.notice = Some(notice(&refused, wish.language));
    Ok(show(services, &visit, Wish { typed, ..wish }, refused.status))
}

/// POST /checkout/:id/c2p
pub async fn pay(services: &Services, id: &str, headers: &HeaderMap, body: &[u8]) -> Result<Reply, Problem> {
    let form = Form::read(body);
    let visit = admitted(services, id, headers, &form).await?;
    let mut wish = wish(&form);
    let intent = form.get("intentId").and_then(Id::parse).ok_or_else(Problem::not_found)?;
    let Ok(token) = Token::parse_c2p(&compact(form.text("token"))) else {
        let typed = Typed { wrong: vec!["token"], ..Typed::default() };
        return Ok(show(services, &visit, Wish { typed, intent: Some(intent), ..wish }, 400));
    };
    match visit.pay(services, intent, None, token).await {
        Ok(_) => Ok(see(&wish.address(visit.session.id, &format!("attempt={intent}")))),
        // The page says how the attempt stands: superseded, failed, at the bank, paid.
        Err(problem) if problem.status == 409 || problem.status == 404 => Ok(see(&wish.address(visit.session.id, &format!("attempt={intent}")))),
        Err(problem) => {
            wish.notice = Some(notice(&problem, wish.language));
            Ok(show(services, &visit, wish, problem.status))
        }
    }
}

/// POST /pay/:slug/sessions
pub async fn open(services: &Services, slug: &str, headers: &HeaderMap, body: &[u8]) -> Result<Reply, Problem> {
    let form = Form::read(body);
    let language = Language::from_code(form.get("lang"));
    if headers.get(SEC_FETCH_SITE).is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(Problem::unauthorized());
    }
    let sale = on_sale(services, slug)?.ok_or_else(Problem::not_found)?;
    let typed = form.get("quantity").unwrap_or("1");
    let new = match typed.parse().ok().and_then(|quantity| session_of(services, &sale, quantity).ok()) {
        Some(new) => new,
        None => return Ok(show_link(services, &sale, language, Some(typed), 400)),
    };
    let id = new.id;
    let outcome = services.engine.ask_entity(sale.shop.tenant_key, EntityId::session(id), true, Ask::OpenSession(Box::new(new)).into(), None, None).await;
    let settled = outcome.map_err(failure)?;
    if let Some(refusal) = &settled.refusal {
        return Err(crate::api::refusals::problem(refusal));
    }
    Ok(see(&wish(&form).with_way(form.get("method")).address(id, "")))
}

impl Wish {
    /// With the way to pay that was named.
    fn with_way(self, name: Option<&str>) -> Wish {
        Wish { way: Way::ALL.into_iter().find(|way| Some(way.name()) == name), ..self }
    }
}

/// The session's own page says these: it is paid, expired, or being paid.
fn is_told_by_the_page(problem: &Problem) -> bool {
    matches!(problem.code, "session_paid" | "session_expired" | "charge_in_progress")
}

fn notice(problem: &Problem, language: Language) -> &'static str {
    let w = language.words();
    match problem.code {
        "merchant_inactive" | "rail_not_configured" | "rate_unavailable" | "not_found" | "method_not_offered" => w.cannot_now,
        "charge_in_progress" => w.in_progress_elsewhere,
        _ => w.trouble,
    }
}

/// Go and see.
fn see(address: &str) -> Reply {
    let location = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
    Reply::new(303, HTML, Vec::new()).header(header::LOCATION, location).header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
}
