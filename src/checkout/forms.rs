//! The forms of the pages: the way to pay without a script. A form carries the session's client
//! secret, which no other site knows; and a form is refused if the browser says that another site
//! sent it.

mod bolivares;

pub use bolivares::{card, transfer};
use domain::entities::deposit_address::Asset;
use domain::entities::means::Debtor;
use domain::entities::session::Way;
use domain::values::address::Network;
use domain::values::channel::Channel;
use domain::values::mode::is_live;

use crate::checkout::calls::{is_secret, may_collect, messaged, on_sale, session_of, sought};
use crate::checkout::limits::Phone;
use crate::checkout::pages::{Manner, PageOptions, Typed, problem_page, show, show_link};
use crate::checkout::steps;
use crate::checkout::visit::{Call, Visit, shop_of};
use crate::checkout::ways_back::see;
use crate::checkout::words::Language;
use crate::gateway::ask;
use crate::gateway::ask::failure;
use crate::http::body;
use crate::http::respond::{self, Reply};
use crate::pages::form::Form;
use api::checkout::bolivares::TOTAL_CHANGED;
use api::openapi::kinds::is_email;
use api::problem::Problem;
use api::refusals::problem;
use domain::resources::banks::Service;
use domain::values::bank::BankCode;
use domain::values::buyer::{Buyer, ColombianPhone, DocumentNumber};
use domain::values::identity::IdentityDocument;
use domain::values::ids::Id;
use domain::values::money::Cop;
use domain::values::phone::MobilePhone;
use domain::values::token::Token;
use hyper::header::{self, HeaderName};
use zeroize::Zeroizing;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FOREIGN: &str = "the form was sent from another site's page; open the checkout itself";

impl Call<'_> {
    /// A browser says that the form came from another site.
    fn is_foreign(&self) -> bool {
        self.arrival
            .head
            .headers
            .get(SEC_FETCH_SITE)
            .is_some_and(|site| site != "same-origin" && site != "none")
    }

    async fn read(&mut self) -> Result<Form, Problem> {
        body::is_plain(&self.arrival.head.headers)?;
        Ok(Form::read(&self.body.bytes().await?))
    }

    /// The form and the session that it is about, if it carries the session's secret. The body is
    /// read only if the session exists.
    async fn admitted(&mut self) -> Result<(Form, Visit), Problem> {
        if self.is_foreign() {
            return Err(Problem::unauthorized(FOREIGN));
        }
        let (client, known) = (self.client(), Id::parse(self.named));
        let found = known.map_or(Ok(None), |id| shop_of(self.services, id));
        self.limits.looked(client, found)?;
        let form = self.read().await?;
        let id =
            known.filter(|id| is_secret(&self.services.keys, *id, form.text("secret"))).ok_or_else(|| {
                Problem::unauthorized("the form's secret is not that of this session; open its page again")
            })?;
        let visit = Visit::begin(self.services, id).await?.ok_or_else(Problem::not_found)?;
        Ok((form, visit))
    }

    /// The way to the page that tells what came of a form.
    fn lead(&self, visit: &Visit, options: &PageOptions, what: &str) -> Reply {
        see(&options.address(visit.session.id, what))
    }
}

fn options(form: &Form, way: Way) -> PageOptions {
    let manner = if form.get("view") == Some("embed") { Manner::Embedded } else { Manner::Whole };
    PageOptions { way: Some(way), ..PageOptions::read(form, manner) }
}

/// A text without spaces, dots, hyphens and brackets, which people put between digits. It may be a
/// card's number or a key: there is this one copy, and it is zeroed.
fn compact(text: &str) -> Zeroizing<String> {
    let mut kept = Zeroizing::new(String::with_capacity(text.len()));
    kept.extend(text.chars().filter(|part| ![' ', '.', '\u{a0}', '-', '(', ')'].contains(part)));
    kept
}

/// A text without spaces and dots; dashes stay, as they may belong to it.
fn bare(text: &str) -> String {
    text.replace([' ', '.', '\u{a0}'], "")
}

/// POST /checkout/:id/c2p/request
pub async fn request(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let services = sent.services;
    let mut options = options(&form, Way::C2p);
    if let Some(again) = form.get("again") {
        // The same payer once more; who they are is not in the page.
        let waiting = Id::parse(again).and_then(|id| visit.waiting_intent(id));
        return match waiting.and_then(|payment| payment.debtor().copied()) {
            Some(debtor) => request_key(&sent, &visit, debtor, options).await,
            None => Ok(sent.lead(&visit, &options, "")),
        };
    }
    let mut typed = Typed::read(&form, &["debtorBankCode", "debtorId", "debtorCellPhone"]);
    let bank = typed
        .get("debtorBankCode")
        .parse()
        .ok()
        .and_then(|number| BankCode::from_number(number).ok())
        .filter(|bank| services.banks.now().offers(*bank, Service::C2p));
    let identity = IdentityDocument::parse(&compact(typed.get("debtorId"))).ok();
    let phone = MobilePhone::parse(&compact(typed.get("debtorCellPhone"))).ok();
    let (Some(bank), Some(identity), Some(phone)) = (bank, identity, phone) else {
        let found = [
            ("debtorBankCode", bank.is_some()),
            ("debtorId", identity.is_some()),
            ("debtorCellPhone", phone.is_some()),
        ];
        typed.wrong = found.into_iter().filter_map(|(name, fine)| (!fine).then_some(name)).collect();
        return show(services, &visit, PageOptions { typed, ..options }, 400);
    };
    options.typed = typed;
    request_key(&sent, &visit, Debtor { bank, id: identity, phone }, options).await
}

/// Asks for an intent of a payer, and leads to the page that waits for its key.
async fn request_key(
    sent: &Call<'_>,
    visit: &Visit,
    debtor: Debtor,
    options: PageOptions,
) -> Result<Reply, Problem> {
    let allowed = sent.limits.message(sent.client(), &visit.session, Phone::Venezuelan(debtor.phone));
    let settled = match allowed {
        Ok(()) => visit.request(sent.services, debtor).await,
        Err(problem) => Err(problem),
    };
    let refused = match settled {
        Ok(settled) => {
            match (settled.refusal, settled.record.as_ref().and_then(|record| record.entities.first())) {
                (None, Some(intent)) => {
                    let intent = format!("intent={}", intent.state.id().id);
                    return Ok(sent.lead(visit, &options, &intent));
                }
                (Some(refusal), _) => problem(&refusal),
                (None, None) => ask::defect("an attempt was decided and is not in its record"),
            }
        }
        Err(problem) => problem,
    };
    refuse(sent, visit, options, &refused)
}

/// POST /checkout/:id/c2p
pub async fn pay(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let services = sent.services;
    let options = options(&form, Way::C2p);
    let intent = form.get("intentId").and_then(Id::parse).ok_or_else(Problem::not_found)?;
    let Ok(token) = Token::parse_c2p(&compact(form.text("token"))) else {
        let typed = Typed::wrong("token");
        return show(services, &visit, PageOptions { typed, intent: Some(intent), ..options }, 400);
    };
    match visit.pay(services, intent, None, token).await {
        // The session's page shows the outcome: superseded, failed, at the bank, paid.
        Err(problem) if !matches!(problem.status, 404 | 409) => refuse(&sent, &visit, options, &problem),
        Ok(_) | Err(_) => Ok(sent.lead(&visit, &options, &format!("attempt={intent}"))),
    }
}

/// POST /checkout/:id/cop
pub async fn collect(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let services = sent.services;
    let options = options(&form, Way::Cop);
    let Some(channel) = options.channel else { return show(services, &visit, options, 400) };
    let mut typed = Typed::read(&form, &["email", "phone", "documentType", "documentNumber"]);
    let livemode = is_live(visit.shop.tenant_key);
    // The same buyer once more; who they are is not in the page.
    let again = form.get("again").and_then(Id::parse);
    let again = again.and_then(|id| visit.attempts.pending_cop().filter(|payment| payment.id == id));
    let known = again.and_then(|payment| payment.buyer.as_deref().cloned());
    if form.get("again").is_some() && known.is_none() {
        return Ok(sent.lead(&visit, &PageOptions { channel: None, ..options }, ""));
    }
    let buyer = match (channel, known.map_or_else(|| read_buyer(&typed, channel, livemode), Ok)) {
        (Channel::Qr, _) => None,
        (Channel::Push | Channel::Sms, Ok(buyer)) => Some(buyer),
        (Channel::Push | Channel::Sms, Err(wrong)) => {
            typed.wrong = wrong;
            return show(services, &visit, PageOptions { typed, anew: true, ..options }, 400);
        }
    };
    let seen = form.get("amountCop").and_then(|text| text.parse().ok()).map(Cop::from_minor);
    let begun = match visit.in_pesos(services, seen).and_then(|price| {
        may_collect(sent.limits, sent.client(), &visit, messaged(channel, buyer.as_ref())).map(|()| price)
    }) {
        Ok(price) => visit.collect(services, channel, buyer, price).await,
        Err(problem) => Err(problem),
    };
    let refused = match begun {
        Ok(settled) => {
            match (settled.refusal, settled.record.as_ref().and_then(|record| record.entities.first())) {
                (None, Some(begun)) => {
                    let begun = format!("attempt={}", begun.state.id().id);
                    return Ok(sent.lead(&visit, &PageOptions { channel: None, ..options }, &begun));
                }
                (Some(refusal), _) => problem(&refusal),
                (None, None) => ask::defect("an attempt was decided and is not in its record"),
            }
        }
        Err(problem) => problem,
    };
    refuse(&sent, &visit, PageOptions { typed, anew: true, ..options }, &refused)
}

/// The fields of a buyer in Colombia, or the names of those that cannot be.
fn read_buyer(typed: &Typed, channel: Channel, livemode: bool) -> Result<Buyer, Vec<&'static str>> {
    let documents = channel.documents(livemode);
    let email = Some(typed.get("email")).filter(|text| is_email(text)).map(str::to_owned);
    let phone = ColombianPhone::parse(&compact(typed.get("phone"))).ok();
    let document_type =
        documents.iter().copied().find(|document| document.name() == typed.get("documentType"));
    let document_number = DocumentNumber::parse(&bare(typed.get("documentNumber"))).ok();
    let found = [
        ("email", email.is_some()),
        ("phone", phone.is_some()),
        ("documentType", document_type.is_some()),
        ("documentNumber", document_number.is_some()),
    ];
    let wrong: Vec<&'static str> =
        found.into_iter().filter_map(|(name, fine)| (!fine).then_some(name)).collect();
    if wrong.is_empty() { Ok(Buyer { email, phone, document_type, document_number }) } else { Err(wrong) }
}

/// POST /checkout/:id/cop/otp
pub async fn submit_code(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let services = sent.services;
    let options = options(&form, Way::Cop);
    let attempt =
        visit.attempts.cop.as_ref().map(|payment| format!("attempt={}", payment.id)).unwrap_or_default();
    match visit.submit_code(services, Token::parse_debit(&compact(form.text("otp"))).ok()).await {
        // A wrong code may be tried again, except the last one: then the page says that the attempt
        // is over.
        Err(problem) if problem.code == "invalid_otp" && !visit.is_over(services)? => {
            let typed = Typed::wrong("otp");
            show(services, &visit, PageOptions { typed, ..options }, 400)
        }
        Err(problem) if problem.code != "invalid_otp" && problem.status != 409 => {
            refuse(&sent, &visit, options, &problem)
        }
        // The session's page shows the outcome: paid, over, or still waiting for the code.
        Ok(_) | Err(_) => Ok(sent.lead(&visit, &options, &attempt)),
    }
}

/// POST /checkout/:id/usdt
pub async fn deposit_address(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let services = sent.services;
    let options = options(&form, Way::Usdt);
    let Some((network, asset)) = options.place else { return show(services, &visit, options, 400) };
    let refused = match visit.address(services, network, asset).await {
        Ok(settled) => match settled.refusal {
            None => {
                let place = format!("network={}&asset={}", network.name(), asset.name());
                return Ok(sent.lead(&visit, &options, &place));
            }
            Some(refusal) => problem(&refusal),
        },
        Err(problem) => problem,
    };
    refuse(&sent, &visit, options, &refused)
}

/// Answers an attempt that cannot begin: with the session's own page when that tells why, else with
/// a note above the form.
fn refuse(
    sent: &Call<'_>,
    visit: &Visit,
    mut options: PageOptions,
    refused: &Problem,
) -> Result<Reply, Problem> {
    respond::log(refused, &sent.arrival.request_id);
    if is_said_by_the_page(refused) {
        return Ok(sent.lead(visit, &options, ""));
    }
    options.notice = Some(notice(refused, options.language, options.way));
    let reply = show(sent.services, visit, options, refused.status)?;
    Ok(match refused.retry_after {
        Some(seconds) => reply.header(header::RETRY_AFTER, seconds.get().into()),
        None => reply,
    })
}

/// POST /pay/:slug/sessions
pub async fn open(mut sent: Call<'_>) -> Result<Reply, Problem> {
    if sent.is_foreign() {
        return Err(Problem::unauthorized(FOREIGN));
    }
    let (services, limits, client, slug) = (sent.services, sent.limits, sent.client(), sent.named);
    let sale = sought(&sent)?;
    let form = sent.read().await?;
    let _pass = services.names.test_gates.pass(sale.shop.tenant_key).await;
    let sale = on_sale(services, slug)?.ok_or_else(Problem::not_found)?;
    let language = Language::from_code(form.get("lang"));
    let typed = form.get("quantity").unwrap_or("1");
    let new = match typed.parse().ok().and_then(|quantity| session_of(services, &sale, quantity).ok()) {
        Some(new) => new,
        None => return show_link(services, &sale, language, Some(typed), 400),
    };
    let admitted = services.admit(Some(sale.shop.tenant_key), true);
    if let Err(refused) = admitted.and_then(|()| limits.open(client, sale.link.id)) {
        return problem_page(&refused, language);
    }
    let id = new.id;
    let outcome = steps::open(services, sale.shop.tenant_key, new).await;
    let settled = outcome.map_err(failure)?;
    if let Some(refusal) = &settled.refusal {
        return Err(problem(refusal));
    }
    let options = PageOptions::read(&form, Manner::Whole);
    // The buyer has chosen USDT, so the page with the address comes at once.
    if options.way == Some(Way::Usdt)
        && let Some(visit) = Visit::begin(services, id).await?
    {
        visit.address(services, Network::Trc20, Asset::Usdt).await?;
    }
    Ok(see(&options.address(id, "")))
}

/// Whether the session's own page tells the reason: it is paid, expired, or being paid.
fn is_said_by_the_page(problem: &Problem) -> bool {
    matches!(problem.code, "session_paid" | "session_expired" | "charge_in_progress")
}

fn notice(problem: &Problem, language: Language, way: Option<Way>) -> String {
    let w = language.words();
    if let ("rate_limited", Some(seconds)) = (problem.code, problem.retry_after) {
        return format!("{} {seconds} {}", w.too_often_before, w.too_often_after);
    }
    let words = match problem.code {
        "merchant_inactive"
        | "cop_not_enabled"
        | "usdt_not_enabled"
        | "rail_not_configured"
        | "rail_unavailable"
        | "rate_unavailable"
        | "not_found"
        | "method_not_offered" => w.cannot_now,
        "charge_in_progress" => w.in_progress_elsewhere,
        TOTAL_CHANGED if way == Some(Way::Card) => w.total_changed_bs,
        TOTAL_CHANGED => w.total_changed,
        "amount_below_minimum" => w.cop_minimum,
        "rate_limited" => w.too_often_hint,
        "reference_already_used" => w.failed_used,
        // Nobody knows what became of it.
        "storage_unavailable" | "internal_error" => w.unsure,
        _ => w.trouble,
    };
    words.to_owned()
}
