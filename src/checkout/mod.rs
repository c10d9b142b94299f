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

use domain::entities::session::Way;
pub use limits::Limits;

use crate::checkout::pages::Manner;
use crate::checkout::visit::{Call, Handler, run};
use crate::checkout::ways_back::is_script;
use crate::gateway::dispatch::Request;
use crate::gateway::services::Services;
use crate::http::listen::Arrival;
use crate::http::respond::{self, Reply};
use crate::pages::form::is_form;
use api::endpoint::{Endpoint, endpoint};
use api::openapi::document::{Access, Row};
use api::openapi::operation::summary;
use api::problem::Problem;
use domain::values::ids::Id;
use hyper::Method;
use hyper::header::{self, HeaderValue};
use std::sync::Arc;

/// The longest body of a buyer: some names, numbers and a secret.
const BODY_BYTES_MAX: usize = 16 << 10;

pub struct BuyerRow {
    pub method: Method,
    pub path: &'static str,
    /// A page for which something is looked up in what is written.
    pub looks_up: bool,
    pub has_card: bool,
    /// Its name in the description of the API; pages and files are in none.
    operation: Option<&'static str>,
    endpoint: Endpoint<Handler>,
    /// What answers a form that was sent without a script.
    form: Option<Handler>,
}

fn page(path: &'static str, handler: Handler) -> BuyerRow {
    let endpoint = endpoint("", handler, || summary(""));
    BuyerRow {
        method: Method::GET,
        path,
        looks_up: true,
        has_card: false,
        operation: None,
        endpoint,
        form: None,
    }
}

fn file(path: &'static str, handler: Handler) -> BuyerRow {
    BuyerRow { looks_up: false, ..page(path, handler) }
}

fn act(path: &'static str, operation: &'static str, endpoint: Endpoint<Handler>, form: Handler) -> BuyerRow {
    let (method, operation, form) = (Method::POST, Some(operation), Some(form));
    BuyerRow { method, path, looks_up: false, has_card: false, operation, endpoint, form }
}

#[rustfmt::skip] // A row is read across.
pub fn rows() -> [BuyerRow; 24] {
    [
        page("/checkout/:id", run!(call => session(call, Manner::Whole).await)),
        page("/checkout/:id/embed", run!(call => session(call, Manner::Embedded).await)),
        page("/checkout/:id/embed/check", run!(call => ways_back::embeddable(call.visit().await, call.query()))),
        page("/checkout/:id/receipt", run!(call => ways_back::receipt(&call.visit().await?, call.query()))),
        BuyerRow { operation: Some("getCheckoutState"), endpoint: calls::STATE, ..page("/checkout/:id/state", calls::STATE.handler) },
        act("/checkout/:id/c2p/request", "requestCheckoutC2p", calls::REQUEST, run!(forms::request)),
        act("/checkout/:id/c2p", "payCheckoutC2p", calls::PAY, run!(forms::pay)),
        act("/checkout/:id/pago-movil", "payCheckoutPagoMovil", calls::TRANSFER, run!(forms::transfer)),
        BuyerRow { has_card: true, ..act("/checkout/:id/card", "payCheckoutCard", calls::CARD, run!(forms::card)) },
        act("/checkout/:id/cop", "payCheckoutCop", calls::COLLECT, run!(forms::collect)),
        act("/checkout/:id/cop/otp", "submitCheckoutOtp", calls::SUBMIT_CODE, run!(forms::submit_code)),
        act("/checkout/:id/usdt", "payCheckoutUsdt", calls::DEPOSIT_ADDRESS, run!(forms::deposit_address)),
        page("/pay/:slug", run!(call => pages::link(call.services, &calls::sought(&call)?, call.query()))),
        act("/pay/:slug/sessions", "openLinkSession", calls::OPEN, run!(forms::open)),
        // A buyer who loads anew what a form has answered comes back to its page.
        file("/checkout/:id/c2p/request", run!(call => ways_back::session(&call, Way::C2p))),
        file("/checkout/:id/c2p", run!(call => ways_back::session(&call, Way::C2p))),
        file("/checkout/:id/pago-movil", run!(call => ways_back::session(&call, Way::PagoMovil))),
        file("/checkout/:id/card", run!(call => ways_back::session(&call, Way::Card))),
        file("/checkout/:id/cop", run!(call => ways_back::session(&call, Way::Cop))),
        file("/checkout/:id/cop/otp", run!(call => ways_back::session(&call, Way::Cop))),
        file("/checkout/:id/usdt", run!(call => ways_back::session(&call, Way::Usdt))),
        file("/pay/:slug/sessions", run!(call => ways_back::link(&call))),
        file("/checkout-assets/:file", run!(call => assets::find(call.named).ok_or_else(Problem::not_found))),
        file("/checkout.js", run!(_call => Ok(assets::embed_script()))),
    ]
}

/// The calls that a page's script makes, for the description of the API. Opening a session of a link takes no
/// secret: it makes one.
pub fn described() -> Vec<Row> {
    let described = |row: BuyerRow| {
        let access = if row.path.starts_with("/pay/") { Access::Open } else { Access::Buyer };
        Some(row.endpoint.described(row.method, row.path, row.operation?, access))
    };
    rows().into_iter().filter_map(described).collect()
}

async fn session(call: Call<'_>, manner: Manner) -> Result<Reply, Problem> {
    pages::session(&call.visit().await?, call.query(), manner)
}

pub struct Checkout {
    services: Arc<Services>,
    limits: Limits,
}

impl Checkout {
    pub fn new(services: Arc<Services>, limits: Limits) -> Checkout {
        Checkout { services, limits }
    }

    pub async fn answer(&self, row: &BuyerRow, request: &mut Request<'_>) -> Result<Reply, Problem> {
        let Request { parameters, arrival, inbound: body, .. } = request;
        body.cap(BODY_BYTES_MAX);
        let named = parameters.first().map_or("", |(_, text)| text);
        let call = Call { services: &self.services, limits: &self.limits, arrival, named, body };
        let form = row.form.filter(|_| is_form(&arrival.head.headers));
        form.unwrap_or(row.endpoint.handler)(call).await
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
