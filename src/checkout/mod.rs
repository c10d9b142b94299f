//! The hosted checkout: the pages that buyers see, and the calls that a page may make
//! (`docs/contract.md, 12.6, 12.9`).
//!
//! In reading order: `visit.rs` finds a session, `steps.rs` takes the steps of a payment,
//! `calls.rs` answers what a page's script asks in JSON, `forms.rs` what a page's forms send
//! without one, `ways_back.rs` what is loaded at the address of a form, and receipts,
//! `pages.rs` fills the templates, `words.rs` and `key_help.rs` are what they say,
//! `assets.rs` what they load, `limits.rs` how often buyers may do what costs others something. No
//! page asks anything of another host, and none carries a script or a style of its own, so the
//! policy that browsers get is strict.
//!
//! Pages of buyers, and the calls that those make, belong here. Rules about money do not, nor does
//! anything that a tenant asks with a key.

mod assets;
mod calls;
mod forms;
mod key_help;
mod limits;
mod pages;
mod steps;
mod visit;
mod ways_back;
mod words;

pub use limits::Limits;

use crate::checkout::forms::Sent;
use crate::checkout::pages::Manner;
use crate::checkout::visit::Visit;
use crate::gateway::request::Request;
use crate::gateway::services::Services;
use crate::http::listen::Arrival;
use crate::http::respond::{self, Reply};
use api::problem::Problem;
use domain::resources::checkout::Way;
use domain::values::ids::Id;
use hyper::Method;
use hyper::header::{self, HeaderMap, HeaderValue};
use std::sync::Arc;

/// The longest body of a buyer: some names, numbers and a secret.
const BODY_BYTES_MAX: usize = 16 << 10;

/// The kind of a path: each is answered by a function of its own.
#[derive(Clone, Copy)]
pub enum PathKind {
    /// The page of a session.
    Session,
    /// The page of a session in a frame of the shop's page.
    Embedded,
    /// The state of a session, for a script.
    State,
    /// An intent of C2P, for which the payer's bank sends a key.
    RequestKey,
    /// The payment of that intent, with the key.
    Pay,
    /// A Pago Móvil that the buyer made.
    Transfer,
    /// A charge of a card, or a token of one.
    Card,
    /// An attempt in pesos.
    Pesos,
    /// The code of an attempt by SMS.
    PesosCode,
    /// The address for an attempt in USDT.
    Usdt,
    /// The page of a payment link.
    Link,
    /// A new session of a payment link.
    LinkSession,
    /// An address that a form of a session sends to, loaded as a page.
    Back(Way),
    /// An address that a form of a payment link sends to, loaded as a page.
    BackToLink,
    /// The answer to a shop's page that asks whether it may have the frame of a session.
    Embeddable,
    /// The receipt of a session that was paid.
    Receipt,
    /// A file that pages load.
    Asset,
    /// The script that shops embed.
    EmbedScript,
}

impl PathKind {
    /// Whether what is there is looked up in what is written.
    pub fn looks_up(self) -> bool {
        !matches!(self, PathKind::Asset | PathKind::EmbedScript | PathKind::Back(_) | PathKind::BackToLink)
    }
}

/// The table of the checkout.
pub const ROWS: [(Method, &str, PathKind); 24] = [
    (Method::GET, "/checkout/:id", PathKind::Session),
    (Method::GET, "/checkout/:id/embed", PathKind::Embedded),
    (Method::GET, "/checkout/:id/embed/check", PathKind::Embeddable),
    (Method::GET, "/checkout/:id/receipt", PathKind::Receipt),
    (Method::GET, "/checkout/:id/state", PathKind::State),
    (Method::POST, "/checkout/:id/c2p/request", PathKind::RequestKey),
    (Method::POST, "/checkout/:id/c2p", PathKind::Pay),
    (Method::POST, "/checkout/:id/pago-movil", PathKind::Transfer),
    (Method::POST, "/checkout/:id/card", PathKind::Card),
    (Method::POST, "/checkout/:id/cop", PathKind::Pesos),
    (Method::POST, "/checkout/:id/cop/otp", PathKind::PesosCode),
    (Method::POST, "/checkout/:id/usdt", PathKind::Usdt),
    (Method::GET, "/pay/:slug", PathKind::Link),
    (Method::POST, "/pay/:slug/sessions", PathKind::LinkSession),
    // A buyer who loads anew what a form has answered comes back to its page.
    (Method::GET, "/checkout/:id/c2p/request", PathKind::Back(Way::C2p)),
    (Method::GET, "/checkout/:id/c2p", PathKind::Back(Way::C2p)),
    (Method::GET, "/checkout/:id/pago-movil", PathKind::Back(Way::PagoMovil)),
    (Method::GET, "/checkout/:id/card", PathKind::Back(Way::Card)),
    (Method::GET, "/checkout/:id/cop", PathKind::Back(Way::Cop)),
    (Method::GET, "/checkout/:id/cop/otp", PathKind::Back(Way::Cop)),
    (Method::GET, "/checkout/:id/usdt", PathKind::Back(Way::Usdt)),
    (Method::GET, "/pay/:slug/sessions", PathKind::BackToLink),
    (Method::GET, "/checkout-assets/:file", PathKind::Asset),
    (Method::GET, "/checkout.js", PathKind::EmbedScript),
];

/// Answers buyers.
pub struct Checkout {
    services: Arc<Services>,
    limits: Limits,
}

impl Checkout {
    pub fn new(services: Arc<Services>, limits: Limits) -> Checkout {
        Checkout { services, limits }
    }

    /// The session that a page is asked for. Whoever knows its id may see it, so nobody may guess
    /// for ever.
    async fn visit(&self, arrival: &Arrival, id: &str) -> Result<Visit, Problem> {
        let client = self.limits.client(arrival);
        let found = match Id::parse(id) {
            Some(id) => Visit::begin(&self.services, id).await,
            None => Ok(None),
        };
        self.limits.looked(client, found)
    }

    /// The origins of the shop whose session an address is of: their frames show the page of a problem
    /// too. It is a look like any other, so nobody learns by problems which sessions there are.
    fn framing(&self, problem: &Problem, arrival: &Arrival) -> Option<Vec<String>> {
        if problem.status == 404 {
            return None;
        }
        let id = arrival.head.uri.path().strip_prefix("/checkout/")?.split('/').next().and_then(Id::parse)?;
        let client = self.limits.client(arrival);
        let shop = self.limits.looked(client, visit::shop_of(&self.services, id)).ok()?;
        let origins = &shop.tenant.tenant_settings.settings.checkout_allowed_origins;
        (!origins.is_empty()).then(|| origins.clone())
    }
}

/// Whether a body is a form's.
fn is_form(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|text| {
        text.split(';')
            .next()
            .is_some_and(|media| media.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
    })
}

impl Checkout {
    pub async fn answer(&self, place: PathKind, asked: &mut Request<'_>) -> Result<Reply, Problem> {
        let Request { parameters, arrival, inbound: body, .. } = asked;
        let head = &arrival.head;
        let (services, limits, query) = (&*self.services, &self.limits, head.uri.query());
        let (is_form, id, slug) =
            (is_form(&head.headers), || parameters.get("id"), || parameters.get("slug"));
        body.cap(BODY_BYTES_MAX);
        let sent = Sent { services, limits, arrival, body };
        match place {
            PathKind::Session => {
                pages::session(services, &self.visit(arrival, id()).await?, query, Manner::Whole)
            }
            PathKind::Embedded => {
                pages::session(services, &self.visit(arrival, id()).await?, query, Manner::Embedded)
            }
            PathKind::Embeddable => ways_back::embeddable(services, self.visit(arrival, id()).await, query),
            PathKind::Receipt => ways_back::receipt(services, &self.visit(arrival, id()).await?, query),
            PathKind::Back(_) | PathKind::BackToLink if is_script(arrival) => {
                Err(Problem::method_not_allowed(Arc::from("POST")))
            }
            PathKind::Back(way) => ways_back::session(id(), way, query),
            PathKind::BackToLink => ways_back::link(slug(), query),
            PathKind::State => calls::state(services, id(), &head.headers, query).await,
            PathKind::RequestKey if is_form => forms::request(sent, id()).await,
            PathKind::RequestKey => calls::request((services, limits), id(), arrival, sent.body).await,
            PathKind::Pay if is_form => forms::pay(sent, id()).await,
            PathKind::Pay => calls::pay(services, id(), arrival, sent.body).await,
            PathKind::Transfer if is_form => forms::transfer(sent, id()).await,
            PathKind::Transfer => calls::transfer((services, limits), id(), arrival, sent.body).await,
            PathKind::Card if is_form => forms::card(sent, id()).await,
            PathKind::Card => calls::card((services, limits), id(), arrival, sent.body).await,
            PathKind::Pesos if is_form => forms::collect(sent, id()).await,
            PathKind::Pesos => calls::collect((services, limits), id(), arrival, sent.body).await,
            PathKind::PesosCode if is_form => forms::submit_code(sent, id()).await,
            PathKind::PesosCode => calls::submit_code(services, id(), arrival, sent.body).await,
            PathKind::Usdt if is_form => forms::deposit_address(sent, id()).await,
            PathKind::Usdt => calls::deposit_address(services, id(), arrival, sent.body).await,
            PathKind::Link => pages::link(
                services,
                &calls::sought(services, limits, limits.client(arrival), slug())?,
                query,
            ),
            PathKind::LinkSession if is_form => forms::open(sent, slug()).await,
            PathKind::LinkSession => calls::open((services, limits), slug(), arrival, sent.body).await,
            PathKind::Asset => assets::find(parameters.get("file")).ok_or_else(Problem::not_found),
            PathKind::EmbedScript => Ok(assets::embed_script()),
        }
    }

    /// Refuses in JSON when a script called; anybody else gets a page.
    pub fn refused(&self, problem: &Problem, arrival: &Arrival) -> Reply {
        if is_script(arrival) {
            Reply::problem(problem, &arrival.request_id)
                .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        } else {
            respond::log(problem, &arrival.request_id);
            let origins = self.framing(problem, arrival);
            pages::problem(problem, &arrival.head, origins.as_deref())
                .unwrap_or_else(|unrendered| Reply::problem(&unrendered, &arrival.request_id))
        }
    }
}

/// Whether a script called, which sends a secret or JSON, and no person who loads a page.
fn is_script(arrival: &Arrival) -> bool {
    arrival.head.headers.contains_key(header::AUTHORIZATION) || wants_json(arrival)
}

/// Whether whoever asks reads JSON rather than pages.
fn wants_json(arrival: &Arrival) -> bool {
    let head = &arrival.head;
    let path = head.uri.path();
    path.ends_with("/state")
        || path.ends_with("/embed/check")
        || (head.method == Method::POST && !is_form(&head.headers))
        || path.starts_with(assets::PREFIX)
}
