//! Fills the templates: which page a session shows, from where it stands and what its address asks for.

use crate::api::checkout::{Offer, offers, page_status};
use crate::api::problem::Problem;
use crate::api::sessions::client_secret;
use crate::checkout::assets;
use crate::checkout::calls::{OnSale, on_sale};
use crate::checkout::form::Form;
use crate::checkout::key_help::key_help;
use crate::checkout::visit::{Tried, Visit, secret_of};
use crate::checkout::words::{Language, Words};
use crate::domain::banks::{BankCode, Catalogue, Service, sends_otp};
use crate::domain::checkout::{Status, Way};
use crate::domain::ids::Id;
use crate::domain::money::{Usd, Ves};
use crate::domain::payments::{Payment, Phase, Status as PaymentStatus};
use crate::domain::platform::is_live;
use crate::domain::time::{HOUR_MS, Timestamp};
use crate::server::respond::{HTML, Reply};
use crate::server::services::Services;
use askama::Template;
use chrono::DateTime;
use hyper::header::{self, HeaderName, HeaderValue};

/// Caracas has had one offset since 2016, and no summer time.
const CARACAS_MS: i64 = -4 * HOUR_MS;

/// How a page is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// By itself; nobody may frame it.
    Whole,
    /// In a frame of a shop's own page.
    Embedded,
}

/// What is asked of a session's page.
pub struct Wish {
    /// In which language.
    pub language: Language,
    /// How it is shown.
    pub manner: Manner,
    /// The way to pay that was chosen.
    pub way: Option<Way>,
    /// The intent that waits for its key.
    pub intent: Option<Id>,
    /// The attempt whose end is to be told.
    pub attempt: Option<Id>,
    /// The page that embeds it.
    pub parent: Option<String>,
    /// What was typed, when it comes back with errors.
    pub typed: Typed,
    /// What to say above the form.
    pub notice: Option<&'static str>,
}

/// What a buyer typed, and which of it cannot be.
#[derive(Default)]
pub struct Typed {
    /// The bank's code.
    pub bank: String,
    /// The identity document.
    pub identity: String,
    /// The phone.
    pub phone: String,
    /// The names of the fields that are wrong.
    pub wrong: Vec<&'static str>,
}

impl Typed {
    fn is_wrong(&self, field: &str) -> bool {
        self.wrong.contains(&field)
    }
}

impl Wish {
    /// From an address.
    pub fn read(query: &Form, manner: Manner) -> Wish {
        let id = |name| query.get(name).and_then(Id::parse);
        Wish {
            language: Language::from_code(query.get("lang")),
            manner,
            way: query.get("method").and_then(|name| Way::ALL.into_iter().find(|way| way.name() == name)),
            intent: id("intent"),
            attempt: id("attempt"),
            parent: query.get("origin").map(str::to_owned),
            typed: Typed::default(),
            notice: None,
        }
    }

    /// The address of the same page with another intent or attempt.
    pub fn address(&self, session: Id, what: &str) -> String {
        let embed = if self.manner == Manner::Embedded { "/embed" } else { "" };
        let mut address = format!("/checkout/{session}{embed}?method={}", self.way.unwrap_or(Way::C2p).name());
        if !what.is_empty() {
            address.push('&');
            address.push_str(what);
        }
        if self.language == Language::English {
            address.push_str("&lang=en");
        }
        if let Some(parent) = &self.parent {
            address.push_str("&origin=");
            address.extend(url::form_urlencoded::byte_serialize(parent.as_bytes()));
        }
        address
    }
}

/// What every page has around its subject.
struct Shell {
    w: &'static Words,
    lang: &'static str,
    style: String,
    script: String,
    icon: String,
    title: String,
    shop: String,
    test_mode: bool,
    other_language: String,
    /// A page that changes by itself.
    refreshes: bool,
    embedded: bool,
}

impl Shell {
    fn new(language: Language, title: String) -> Shell {
        let [style, script, icon] = assets::paths();
        let w = language.words();
        let other_language = format!("?lang={}", w.other_language_code);
        Shell { w, lang: language.code(), style, script, icon, title, shop: String::new(), test_mode: false, other_language, refreshes: false, embedded: false }
    }
}

/// What is being paid.
struct Bill {
    amount: String,
    description: Option<String>,
    reference: Option<String>,
}

/// What the script needs to know of a session.
struct Handle {
    session: Id,
    secret: String,
    status: &'static str,
    /// The address that the forms send to.
    base: String,
    embedded: bool,
    parent: String,
}

/// A way to pay, as a button.
struct Choice {
    code: &'static str,
    name: &'static str,
    hint: &'static str,
    total: Option<String>,
    enabled: bool,
    chosen: bool,
}

struct BankOption {
    code: String,
    name: String,
    help: &'static str,
    chosen: bool,
}

#[derive(Template)]
#[template(path = "details.html", config = "src/checkout/askama.toml")]
struct DetailsPage {
    shell: Shell,
    bill: Bill,
    handle: Handle,
    choices: Vec<Choice>,
    c2p: bool,
    ves: Option<String>,
    banks: Vec<BankOption>,
    typed: Typed,
    failure: Option<&'static str>,
    notice: Option<&'static str>,
    valid_until: String,
    cancel_url: Option<String>,
}

#[derive(Template)]
#[template(path = "key.html", config = "src/checkout/askama.toml")]
struct KeyPage {
    shell: Shell,
    bill: Bill,
    handle: Handle,
    intent: Id,
    ves: String,
    bank: String,
    payer: String,
    help: &'static str,
    sent_sms: bool,
    wrong: bool,
    back: String,
}

#[derive(Template)]
#[template(path = "processing.html", config = "src/checkout/askama.toml")]
struct ProcessingPage {
    shell: Shell,
    bill: Bill,
    handle: Handle,
}

#[derive(Template)]
#[template(path = "paid.html", config = "src/checkout/askama.toml")]
struct PaidPage {
    shell: Shell,
    bill: Bill,
    handle: Handle,
    lines: Vec<(&'static str, String)>,
    success_url: Option<String>,
}

#[derive(Template)]
#[template(path = "expired.html", config = "src/checkout/askama.toml")]
struct ExpiredPage {
    shell: Shell,
    bill: Bill,
    handle: Handle,
    cancel_url: Option<String>,
}

#[derive(Template)]
#[template(path = "link.html", config = "src/checkout/askama.toml")]
struct LinkPage {
    shell: Shell,
    slug: String,
    name: String,
    description: Option<String>,
    price: String,
    quantity: Option<Quantity>,
    choices: Vec<Choice>,
}

struct Quantity {
    value: String,
    max: u16,
    wrong: bool,
}

#[derive(Template)]
#[template(path = "trouble.html", config = "src/checkout/askama.toml")]
struct TroublePage {
    shell: Shell,
    heading: &'static str,
    hint: &'static str,
}

/// GET /checkout/:id and /checkout/:id/embed
pub async fn session(services: &Services, id: &str, query: Option<&str>, manner: Manner) -> Result<Reply, Problem> {
    let visit = match Id::parse(id) {
        Some(id) => Visit::begin(services, id).await?,
        None => None,
    };
    let visit = visit.ok_or_else(Problem::not_found)?;
    Ok(show(services, &visit, Wish::read(&Form::query(query), manner), 200))
}

/// The page that a session shows now.
pub fn show(services: &Services, visit: &Visit, wish: Wish, status: u16) -> Reply {
    let language = wish.language;
    let w = language.words();
    let session = &visit.session;
    let newest = visit.attempts.c2p.as_ref();
    let settings = &visit.shop.tenant.sheet.settings;
    let parent = wish.parent.clone().filter(|parent| wish.manner == Manner::Embedded && settings.checkout_allowed_origins.contains(parent));
    let attempt = wish.attempt.and_then(|attempt| visit.attempt(services, attempt).ok().flatten());
    let failure = attempt.and_then(|tried| match tried {
        Tried::Payment(payment) => failure(&payment, w),
        Tried::Pesos(_) => None,
    });
    let mut shell = Shell::new(language, format!("{} {}", w.title, visit.shop.tenant.name));
    shell.shop.clone_from(&visit.shop.tenant.name);
    shell.test_mode = !is_live(visit.shop.tenant_key);
    shell.refreshes = visit.status == Status::Processing;
    shell.embedded = wish.manner == Manner::Embedded;
    shell.other_language = other_language(&wish);
    let bill = Bill {
        amount: format!("US$ {}", language.amount(session.amount.minor(), Usd::DECIMALS)),
        description: session.description.clone(),
        reference: session.reference.clone(),
    };
    let handle = Handle {
        session: session.id,
        secret: client_secret(session.id, secret_of(services, session.id)),
        status: if failure.is_some() && visit.status == Status::Open { "failed" } else { page_status(visit.status) },
        base: format!("/checkout/{}", session.id),
        embedded: shell.embedded,
        parent: parent.unwrap_or_default(),
    };
    let html = match visit.status {
        Status::Paid(_) => {
            let lines = newest.map(|payment| receipt(payment, language)).unwrap_or_default();
            PaidPage { shell, bill, handle, lines, success_url: session.success_url.clone() }.render()
        }
        Status::Processing => ProcessingPage { shell, bill, handle }.render(),
        Status::Expired => ExpiredPage { shell, bill, handle, cancel_url: session.cancel_url.clone() }.render(),
        Status::Open => {
            let offered = visit.offers(services);
            let usable = |way: Way| offered.iter().any(|offer| offer.way == way && offer.reason.is_none());
            // One way is no question.
            let only = if offered.len() == 1 { offered.first().map(|offer| offer.way) } else { None };
            let chosen = wish.way.or(only).filter(|way| usable(*way));
            let waiting = newest.filter(|payment| {
                let waits = payment.status == PaymentStatus::Pending && payment.phase == Phase::Idle && payment.expires_at.is_none_or(|at| at > visit.now);
                wish.intent == Some(payment.id) && waits
            });
            match waiting.and_then(|payment| payment.debtor().map(|debtor| (payment, debtor))) {
                Some((payment, debtor)) => KeyPage {
                    intent: payment.id,
                    ves: bolivares(payment.ves, language),
                    bank: services.banks.now().get(debtor.bank).map(|bank| bank.name.clone()).unwrap_or_default(),
                    payer: format!("{} · {}", debtor.id.masked(), debtor.phone.masked()),
                    help: key_help(debtor.bank, language),
                    sent_sms: sends_otp(debtor.bank),
                    wrong: wish.typed.is_wrong("token"),
                    back: Wish { intent: None, attempt: None, typed: Typed::default(), ..wish }.address(session.id, ""),
                    shell,
                    bill,
                    handle,
                }
                .render(),
                None => DetailsPage {
                    choices: choices(&offered, chosen, language),
                    c2p: chosen == Some(Way::C2p),
                    ves: offered.iter().find(|offer| offer.way == Way::C2p).and_then(|offer| offer.ves).map(|ves| bolivares(ves, language)),
                    banks: bank_options(&services.banks.now(), &wish.typed.bank, language),
                    typed: wish.typed,
                    failure,
                    notice: wish.notice,
                    valid_until: moment(session.expires_at),
                    cancel_url: session.cancel_url.clone(),
                    shell,
                    bill,
                    handle,
                }
                .render(),
            }
        }
    };
    let ancestors = match wish.manner {
        Manner::Whole => None,
        Manner::Embedded => Some(settings.checkout_allowed_origins.as_slice()),
    };
    page(status, html, ancestors)
}

/// The same page in the other language: what else its address asks for stays.
fn other_language(wish: &Wish) -> String {
    let mut query = format!("?lang={}", wish.language.words().other_language_code);
    if let Some(way) = wish.way {
        query.push_str("&method=");
        query.push_str(way.name());
    }
    for (name, id) in [("intent", wish.intent), ("attempt", wish.attempt)] {
        if let Some(id) = id {
            query.push_str(&format!("&{name}={id}"));
        }
    }
    if let Some(parent) = &wish.parent {
        query.push_str("&origin=");
        query.extend(url::form_urlencoded::byte_serialize(parent.as_bytes()));
    }
    query
}

fn bolivares(ves: Ves, language: Language) -> String {
    format!("Bs {}", language.amount(ves.minor(), Ves::DECIMALS))
}

/// An instant as a buyer in Venezuela reads it.
fn moment(at: Timestamp) -> String {
    DateTime::from_timestamp_millis(at.plus_ms(CARACAS_MS).unix_ms()).map(|at| at.format("%d/%m/%Y %H:%M").to_string()).unwrap_or_default()
}

/// Why an attempt did not pay; `None` while it still may.
fn failure(payment: &Payment, w: &'static Words) -> Option<&'static str> {
    match payment.status {
        PaymentStatus::Failed => Some(match payment.failure_code.as_deref() {
            Some("AM04" | "51") => w.failed_funds,
            Some("TKCM" | "15" | "55") => w.failed_key,
            Some("AB01" | "05" | "87") => w.failed_time,
            _ => w.failed_other,
        }),
        PaymentStatus::Canceled => Some(w.failed_superseded),
        PaymentStatus::Pending | PaymentStatus::Completed | PaymentStatus::Reversed => None,
    }
}

fn receipt(payment: &Payment, language: Language) -> Vec<(&'static str, String)> {
    let w = language.words();
    let mut lines = vec![(w.paid_amount, bolivares(payment.ves, language))];
    lines.extend(payment.completed_at.map(|at| (w.date, moment(at))));
    lines.extend(payment.bank_reference.clone().map(|reference| (w.bank_reference, reference)));
    lines.push((w.payment_number, payment.id.to_string()));
    lines
}

fn choices(offers: &[Offer], chosen: Option<Way>, language: Language) -> Vec<Choice> {
    let w = language.words();
    let choice = |offer: &Offer| {
        let (name, hint) = match offer.way {
            Way::C2p => (w.c2p, w.c2p_hint),
            Way::Cop => (w.cop, w.cop_hint),
            Way::Usdt => (w.usdt, w.usdt_hint),
        };
        let total = match (offer.ves, offer.cop) {
            (Some(ves), _) => Some(bolivares(ves, language)),
            (None, Some(cop)) => Some(format!("COP {}", language.amount(cop.minor(), 0))),
            (None, None) => None,
        };
        Choice { code: offer.way.name(), name, hint, total, enabled: offer.reason.is_none(), chosen: chosen == Some(offer.way) }
    };
    offers.iter().map(choice).collect()
}

fn bank_options(banks: &Catalogue, typed: &str, language: Language) -> Vec<BankOption> {
    let option = |code: BankCode, name: &str| {
        let code_text = code.to_string();
        BankOption { chosen: code_text == typed, help: key_help(code, language), name: name.to_owned(), code: code_text }
    };
    let mut options: Vec<BankOption> = banks.shown().filter(|bank| banks.offers(bank.code, Service::C2p)).map(|bank| option(bank.code, &bank.name)).collect();
    options.sort_by(|a, b| a.name.cmp(&b.name));
    options
}

/// GET /pay/:slug
pub async fn link(services: &Services, slug: &str, query: Option<&str>) -> Result<Reply, Problem> {
    let sale = on_sale(services, slug)?.ok_or_else(Problem::not_found)?;
    let language = Language::from_code(Form::query(query).get("lang"));
    Ok(show_link(services, &sale, language, None, 200))
}

/// The page of a link; with what was typed as the quantity when that cannot be.
pub fn show_link(services: &Services, sale: &OnSale, language: Language, wrong_quantity: Option<&str>, status: u16) -> Reply {
    let w = language.words();
    let product = &sale.product;
    let mut shell = Shell::new(language, format!("{} · {}", product.name, sale.shop.tenant.name));
    shell.shop.clone_from(&sale.shop.tenant.name);
    shell.test_mode = !is_live(sale.shop.tenant_key);
    let mut choices = choices(&offers(product.price, sale.link.allow_quantity, |_| true, &sale.shop.market(services), &services.banks.now()), None, language);
    if sale.link.allow_quantity {
        // The totals are those of one; how many it will be is not known yet.
        choices.iter_mut().for_each(|choice| choice.total = None);
    }
    let quantity = sale.link.allow_quantity.then(|| Quantity {
        value: wrong_quantity.unwrap_or("1").to_owned(),
        max: sale.link.max_quantity,
        wrong: wrong_quantity.is_some(),
    });
    let price =
        format!("US$ {}{}", language.amount(product.price.minor(), Usd::DECIMALS), if quantity.is_some() { format!(" {}", w.each) } else { String::new() });
    let (slug, name, description) = (sale.link.slug.clone(), product.name.clone(), product.description.clone());
    page(status, LinkPage { shell, slug, name, description, price, quantity, choices }.render(), None)
}

/// The page of a problem.
pub fn problem(problem: &Problem, query: Option<&str>) -> Reply {
    let language = Language::from_code(Form::query(query).get("lang"));
    let w = language.words();
    let (heading, hint) = if problem.status == 404 { (w.not_found, w.not_found_hint) } else { (w.trouble, w.trouble_hint) };
    let reply = page(problem.status, TroublePage { shell: Shell::new(language, heading.to_owned()), heading, hint }.render(), None);
    match (problem.retry_after, problem.allow.as_deref().and_then(|allow| HeaderValue::from_str(allow).ok())) {
        (Some(seconds), _) => reply.header(header::RETRY_AFTER, HeaderValue::from(seconds)),
        (None, Some(allow)) => reply.header(header::ALLOW, allow),
        (None, None) => reply,
    }
}

/// A page with the headers that all of them have. `ancestors` may frame it; nobody when there are none.
fn page(status: u16, html: askama::Result<String>, ancestors: Option<&[String]>) -> Reply {
    let html = match html {
        Ok(html) => html,
        Err(error) => {
            tracing::error!(%error, "a page could not be made");
            return Reply::problem(&Problem::internal_error(), &crate::server::respond::RequestId::generate());
        }
    };
    let framed_by = match ancestors {
        Some(origins) if !origins.is_empty() => origins.join(" "),
        _ => "'none'".to_owned(),
    };
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors {framed_by}"
    );
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    let reply = Reply::new(status, HTML, html)
        .header(header::CONTENT_SECURITY_POLICY, policy)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .header(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
        .header(HeaderName::from_static("permissions-policy"), HeaderValue::from_static("camera=(), microphone=(), geolocation=()"));
    // For browsers that do not know frame-ancestors. It cannot name several origins, so an embedded page goes without.
    if ancestors.is_none() { reply.header(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")) } else { reply }
}
