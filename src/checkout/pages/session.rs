//! The choice of the page that a session shows.

mod choices;
mod panels;
mod receipt;
#[cfg(test)]
mod tests;
mod waiting;

use super::figures::{Drawing, bolivares, dollars, drawing, in_bogota, in_caracas, pesos, rate, usdt};
use super::{ANEW, Bill, Handle, Manner, PageOptions, Shell, Typed, page};
use crate::checkout::key_help::key_help;
use crate::checkout::visit::{Tried, Visit, secret_of};
use crate::checkout::words::{Language, Words};
use crate::http::respond::Reply;
use crate::pages::form::Form;
use api::checkout::sessions::client_secret;
use api::checkout::{Offer, page_status};
use api::cop_payments::qr::picture_address;
use api::problem::Problem;
use askama::Template;
use choices::{Choosable, UsdtPanel, bank_options, document_options, network_name, usdt_panel};
use domain::entities::cop_payment::{CopPayment, Failure};
use domain::entities::deposit_address::{Asset, DepositAddress};
use domain::entities::means::{Debtor, Means};
use domain::entities::payment::{Payment, Phase, Status as PaymentStatus};
use domain::entities::session::{Session, Way};
use domain::resources::banks::{Catalogue, Service, sends_otp};
use domain::resources::checkout::Status;
use domain::resources::cop_payments::live::NextStep;
use domain::values::address::Network;
use domain::values::colombia::{Channel, ColombianPhone, DocumentType};
use domain::values::ids::{Id, is_live};
use domain::values::money::{Usd, Usdt};
use domain::values::venezuela::BankCode;
use panels::{C2pPanel, CardPanel, Making, PesosPanel, TransferPanel, value_day};
use receipt::{Failed, paid_page};
use waiting::{key_page, pesos_page, usdt_page, waits_for_key};

pub(super) struct Choice {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    pub(super) hint: &'static str,
    pub(super) why: Option<&'static str>,
    pub(super) total: Option<String>,
    /// The least quantity with which it can be used, where the buyer chooses the quantity.
    pub(super) least: Option<u16>,
    chosen: bool,
}

impl Choice {
    pub(super) fn hook(&self) -> String {
        self.code.replace('_', "-")
    }
}

#[derive(Template)]
#[template(path = "details.html", config = "src/checkout/askama.toml")]
struct DetailsPage {
    shell: Shell,
    choices: Vec<Choice>,
    quote: String,
    c2p: Option<C2pPanel>,
    transfer: Option<TransferPanel>,
    card: Option<CardPanel>,
    pesos: Option<PesosPanel>,
    usdt: Option<UsdtPanel>,
    usdt_network: &'static str,
    typed: Typed,
    failure: Option<Failed>,
    notice: Option<String>,
    valid_until: String,
    cancel_url: Option<String>,
}

#[derive(Template)]
#[template(path = "fields.html", config = "src/checkout/askama.toml")]
struct FieldsPage {
    shell: Shell,
    typed: Typed,
    unscripted: bool,
}

#[derive(Template)]
#[template(path = "processing.html", config = "src/checkout/askama.toml")]
struct ProcessingPage {
    shell: Shell,
}

#[derive(Template)]
#[template(path = "expired.html", config = "src/checkout/askama.toml")]
struct ExpiredPage {
    shell: Shell,
    cancel_url: Option<String>,
}

pub fn session(visit: &Visit<'_>, query: Option<&str>, manner: Manner) -> Result<Reply, Problem> {
    let form = Form::query(query);
    let options = PageOptions::read(&form, manner);
    if manner == Manner::Embedded && form.get("fields") == Some("card") {
        return fields(visit, &options, false);
    }
    show(visit, options, 200)
}

/// The fields of a card alone, for a shop that charges it by its token. A form that was `unscripted`
/// comes back empty: only the page's script makes a token.
pub fn fields(visit: &Visit<'_>, options: &PageOptions, unscripted: bool) -> Result<Reply, Problem> {
    if !visit.takes_token() {
        return Err(Problem::not_found());
    }
    let shell = frame(visit, options, None);
    let html = FieldsPage { shell, typed: Typed::default(), unscripted }.render();
    let status = if unscripted { 400 } else { 200 };
    page(status, html, Some(&visit.shop.tenant.tenant_settings.settings.checkout_allowed_origins))
}

pub fn show(visit: &Visit<'_>, options: PageOptions, status: u16) -> Result<Reply, Problem> {
    let w = options.language.words();
    let attempt = options.attempt.and_then(|attempt| visit.attempt(attempt).ok().flatten());
    let failure = attempt.as_ref().and_then(|attempt| Failed::of(attempt, w));
    let shell = frame(visit, &options, failure);
    let (session, embedded) = (&visit.session, shell.embedded);
    let settings = &visit.shop.tenant.tenant_settings.settings;
    let html = match visit.status {
        Status::Paid(payment) => {
            let paid = visit.attempt(payment).ok().flatten();
            paid_page(visit, paid.as_ref(), &options, shell)
        }
        Status::Processing => ProcessingPage { shell }.render(),
        Status::Expired => ExpiredPage { shell, cancel_url: session.cancel_url.clone() }.render(),
        Status::Open => open(visit, options, shell, failure),
    };
    let ancestors = embedded.then_some(settings.checkout_allowed_origins.as_slice());
    page(status, html, ancestors)
}

fn frame(visit: &Visit<'_>, options: &PageOptions, failure: Option<Failed>) -> Shell {
    let language = options.language;
    let w = language.words();
    let session = &visit.session;
    let settings = &visit.shop.tenant.tenant_settings.settings;
    let parent = options.parent.clone().filter(|parent| {
        options.manner == Manner::Embedded && settings.checkout_allowed_origins.contains(parent)
    });
    let embedded = options.manner == Manner::Embedded;
    let bill = Bill {
        amount: dollars(session.amount, language),
        description: session.description.clone(),
        reference: session.reference.clone(),
        came: Some(visit.received()).filter(|came| *came > Usdt::ZERO).map(|came| usdt(came, language)),
    };
    let handle = Handle {
        session: session.id.to_string(),
        secret: client_secret(session.id, secret_of(&visit.services.keys, session.id)),
        status: if failure.is_some() && visit.status == Status::Open {
            "failed"
        } else {
            page_status(visit.status)
        },
        base: format!("/checkout/{}", session.id),
        parent: parent.unwrap_or_default(),
        cause: failure.map(|failed| failed.cause).unwrap_or_default(),
        attempt: None,
        newest: visit.attempts.newest(),
        received: visit.received().to_string(),
    };
    Shell {
        refreshes: visit.status == Status::Processing,
        embedded,
        other_language: options.other_language(),
        bill,
        handle,
        ..Shell::of(&visit.shop, language, format!("{} {}", w.title, visit.shop.name()))
    }
}

/// The page of a session that can be paid: what waits for the buyer by the way that was chosen, or
/// the ways.
fn open(
    visit: &Visit<'_>,
    options: PageOptions,
    shell: Shell,
    failure: Option<Failed>,
) -> askama::Result<String> {
    let services = visit.services;
    let (language, session, banks) = (options.language, &visit.session, services.banks.now());
    let is_sent = options.is_sent || failure.is_some_and(|failed| failed.is_sent);
    let market = visit.market();
    let livemode = is_live(visit.shop.tenant_key);
    let (networks, offered) = (services.rails.usdt_networks(visit.shop.tenant_key), visit.offers());
    let usable = |way: Way| offered.iter().any(|offer| offer.way == way && offer.reason.is_none());
    // With only one way to pay, the buyer is not asked.
    let only = if let [offer] = &*offered { Some(offer.way) } else { None };
    let chosen = options.way.or(only).filter(|way| usable(*way));
    let home = options.towards(session.id, None, "");
    let waiting = visit
        .attempts
        .bolivares
        .as_ref()
        .filter(|payment| options.intent == Some(payment.id) && waits_for_key(payment, visit));
    if let Some((payment, debtor)) = waiting.and_then(|payment| Some((payment, payment.debtor()?))) {
        let of = value_day(&market, payment.bcv_rate);
        return key_page(visit, &options, (payment, debtor, of), &banks, shell);
    }
    if let Some(payment) = visit
        .attempts
        .pending_cop()
        .filter(|_| chosen == Some(Way::Cop) && !options.anew && options.channel.is_none())
    {
        return pesos_page(visit, &options, payment, home, shell);
    }
    if let Some(till) = visit.attempts.usdt.as_ref().filter(|_| chosen == Some(Way::Usdt)) {
        let panel = |place| usdt_panel(Some(place), &networks, livemode, language);
        return usdt_page(session, till, options.place, panel, language, home, shell);
    }
    let making = Making { visit, options: &options, banks: &banks, market: &market, is_sent };
    DetailsPage {
        choices: choices(&offered, session.amount, chosen, language),
        quote: making.transfer().map(|panel| panel.quote).unwrap_or_default(),
        c2p: (chosen == Some(Way::C2p)).then(|| making.c2p()),
        transfer: making.transfer().filter(|_| chosen == Some(Way::PagoMovil)),
        card: (chosen == Some(Way::Card)).then(|| making.card()),
        pesos: making.pesos(&offered).filter(|_| chosen == Some(Way::Cop)),
        usdt: (chosen == Some(Way::Usdt)).then(|| usdt_panel(options.place, &networks, livemode, language)),
        usdt_network: networks.first().map_or("", |network| network.name()),
        typed: options.typed,
        failure,
        notice: options.notice,
        valid_until: in_caracas(session.expires_at),
        cancel_url: session.cancel_url.clone(),
        shell,
    }
    .render()
}

pub(super) fn choices(offers: &[Offer], amount: Usd, chosen: Option<Way>, language: Language) -> Vec<Choice> {
    let w = language.words();
    let choice = |offer: &Offer| {
        let (name, hint) = match offer.way {
            Way::C2p => (w.c2p, w.c2p_hint),
            Way::Card => (w.card, w.card_hint),
            Way::PagoMovil => (w.pago_movil, w.pago_movil_hint),
            Way::Cop => (w.cop, w.cop_hint),
            Way::Usdt => (w.usdt, w.usdt_hint),
        };
        let total = match offer.way {
            Way::C2p | Way::Card | Way::PagoMovil => offer.ves.map(|ves| bolivares(ves, language)),
            Way::Cop => offer.cop.map(|cop| pesos(cop, language)),
            // A USDT is a dollar.
            Way::Usdt => Some(usdt(Usdt::from_minor(amount.minor()), language)),
        };
        let why = offer
            .reason
            .map(|reason| if reason == "amount_below_minimum" { w.cop_minimum } else { w.unavailable });
        Choice {
            code: offer.way.name(),
            name,
            hint,
            why,
            total,
            least: None,
            chosen: chosen == Some(offer.way),
        }
    };
    offers.iter().map(choice).collect()
}
