//! The forms of the pages: the way to pay without a script. A form carries the session's client
//! secret, which no other site knows; and a form is refused if the browser says that another site
//! sent it.

use crate::checkout::calls::{is_secret, on_sale, session_of, sought};
use crate::checkout::pages::{Manner, PageOptions, Typed, fields, problem_page, show, show_link};
use crate::checkout::steps;
use crate::checkout::visit::{Call, Visit, shop_of};
use crate::checkout::ways_back::see;
use crate::checkout::words::Language;
use crate::gateway::ask::{self, accepted, failure};
use crate::gateway::transfers;
use crate::http::body;
use crate::http::respond::{self, Reply};
use crate::pages::form::Form;
use actors::Settled;
use api::checkout::bolivares::{GotTransfer, Quote, TOTAL_CHANGED, reference, transfer_days};
use api::openapi::kinds::is_email;
use api::problem::Problem;
use domain::entities::deposit_address::Asset;
use domain::entities::means::Debtor;
use domain::entities::session::Way;
use domain::machine::Domain;
use domain::resources::banks::{Catalogue, Service};
use domain::values::address::Network;
use domain::values::card::{Card, Cvv, Expiry, Number};
use domain::values::colombia::{Buyer, Channel, ColombianPhone, DocumentNumber};
use domain::values::ids::{Id, is_live};
use domain::values::money::Cop;
use domain::values::time::{Date, Timestamp};
use domain::values::token::Token;
use domain::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
use hyper::header::HeaderName;
use std::sync::Arc;
use zeroize::Zeroizing;

const REFERENCE_USED: &str = "reference_already_used";
const HOLDER_NAME_MAX: usize = 100;
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FOREIGN: &str = "the form was sent from another site's page; open the checkout itself";

impl<'a> Call<'a> {
    fn is_foreign(&self) -> bool {
        let site = self.arrival.head.headers.get(SEC_FETCH_SITE);
        site.is_some_and(|site| site != "same-origin" && site != "none")
    }

    async fn read(&mut self) -> Result<Form, Problem> {
        body::is_plain(&self.arrival.head.headers)?;
        Ok(Form::read(&self.body.bytes().await?))
    }

    /// The form and the session that it is about, if it carries the session's secret. The body is
    /// read only if the session exists.
    async fn admitted(&mut self) -> Result<(Form, Visit<'a>), Problem> {
        if self.is_foreign() {
            return Err(Problem::unauthorized(FOREIGN));
        }
        let (client, known) = (self.client(), Id::parse(self.named));
        let found = known.map_or(Ok(None), |id| shop_of(self.services, id));
        self.limits.looked(client, found)?;
        let form = self.read().await?;
        let why = "the form's secret is not that of this session; open its page again";
        let id = known.filter(|id| is_secret(&self.services.keys, *id, form.text("secret")));
        let id = id.ok_or_else(|| Problem::unauthorized(why))?;
        Ok((form, self.begin(id).await?))
    }
}

fn lead(visit: &Visit<'_>, options: &PageOptions, what: &str) -> Reply {
    see(&options.address(visit.session.id, what))
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

pub async fn request(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let mut options = options(&form, Way::C2p);
    let debtor = if let Some(again) = form.get("again") {
        // The same payer once more; who they are is not in the page.
        let waiting = Id::parse(again).and_then(|id| visit.waiting_intent(id));
        let Some(debtor) = waiting.and_then(|payment| payment.debtor().copied()) else {
            return Ok(lead(&visit, &options, ""));
        };
        debtor
    } else {
        options.typed = Typed::read(&form, &["debtorBankCode", "debtorId", "debtorCellPhone"]);
        let Some(debtor) = read_debtor(&mut options.typed, &sent.services.banks.now(), Service::C2p) else {
            return show(&visit, options, 400);
        };
        debtor
    };
    let begun = begun(visit.request(debtor).await);
    answer(&sent, &visit, options, begun.map(|intent| format!("intent={intent}")))
}

fn answer(
    sent: &Call<'_>,
    visit: &Visit<'_>,
    options: PageOptions,
    begun: Result<String, Problem>,
) -> Result<Reply, Problem> {
    match begun {
        Ok(what) => Ok(lead(visit, &options, &what)),
        Err(refused) => refuse(sent, visit, options, &refused),
    }
}

fn begun(settled: Result<Box<Settled<Domain>>, Problem>) -> Result<Id, Problem> {
    let settled = accepted(settled?)?;
    let written = settled.record.as_ref().and_then(|record| record.entities.first());
    let lost = || ask::defect("an attempt was decided and is not in its record");
    written.map(|attempt| attempt.state.id().id).ok_or_else(lost)
}

pub async fn pay(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let options = options(&form, Way::C2p);
    let intent = form.get("intentId").and_then(Id::parse).ok_or_else(Problem::not_found)?;
    let Ok(token) = Token::parse_c2p(&compact(form.text("token"))) else {
        let typed = Typed::wrong("token");
        return show(&visit, PageOptions { typed, intent: Some(intent), ..options }, 400);
    };
    match visit.pay(intent, None, token).await {
        // The session's page shows the outcome: superseded, failed, at the bank, paid.
        Err(problem) if !matches!(problem.status, 404 | 409) => refuse(&sent, &visit, options, &problem),
        Ok(_) | Err(_) => Ok(lead(&visit, &options, &format!("attempt={intent}"))),
    }
}

pub async fn collect(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let mut options = options(&form, Way::Cop);
    let Some(channel) = options.channel else { return show(&visit, options, 400) };
    options.typed = Typed::read(&form, &["email", "phone", "documentType", "documentNumber"]);
    let livemode = is_live(visit.shop.tenant_key);
    // The same buyer once more; who they are is not in the page.
    let again = form.get("again").and_then(Id::parse);
    let again = again.and_then(|id| visit.attempts.pending_cop().filter(|payment| payment.id == id));
    let known = again.and_then(|payment| payment.buyer.as_deref().cloned());
    if form.get("again").is_some() && known.is_none() {
        return Ok(lead(&visit, &options, ""));
    }
    let mut buyer = None;
    if channel != Channel::Qr {
        buyer = known.or_else(|| read_buyer(&mut options.typed, channel, livemode));
        if buyer.is_none() {
            return show(&visit, PageOptions { anew: true, ..options }, 400);
        }
    }
    let seen = form.get("amountCop").and_then(|text| text.parse().ok()).map(Cop::from_minor);
    let begun = begun(visit.collect(channel, buyer, seen).await);
    let options = PageOptions { anew: true, ..options };
    answer(&sent, &visit, options, begun.map(|attempt| format!("attempt={attempt}")))
}

fn read_buyer(typed: &mut Typed, channel: Channel, livemode: bool) -> Option<Buyer> {
    let email = Some(typed.get("email")).filter(|text| is_email(text)).map(str::to_owned);
    let email = typed.need("email", email);
    let phone = typed.need("phone", ColombianPhone::parse(&compact(typed.get("phone"))).ok());
    let documents = channel.documents(livemode);
    let document_type =
        documents.iter().copied().find(|document| document.name() == typed.get("documentType"));
    let document_type = typed.need("documentType", document_type);
    let document_number = DocumentNumber::parse(&bare(typed.get("documentNumber"))).ok();
    let document_number = typed.need("documentNumber", document_number);
    typed.wrong.is_empty().then_some(Buyer { email, phone, document_type, document_number })
}

fn read_debtor(typed: &mut Typed, banks: &Catalogue, service: Service) -> Option<Debtor> {
    let number = typed.get("debtorBankCode").parse().ok();
    let bank = number.and_then(|number| BankCode::from_number(number).ok());
    let bank = typed.need("debtorBankCode", bank.filter(|bank| banks.offers(*bank, service)));
    let id = typed.need("debtorId", IdentityDocument::parse(&compact(typed.get("debtorId"))).ok());
    let phone = MobilePhone::parse(&compact(typed.get("debtorCellPhone"))).ok();
    let phone = typed.need("debtorCellPhone", phone);
    Some(Debtor { bank: bank?, id: id?, phone: phone? })
}

pub async fn submit_code(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let options = options(&form, Way::Cop);
    let attempt =
        visit.attempts.cop.as_ref().map(|payment| format!("attempt={}", payment.id)).unwrap_or_default();
    match visit.submit_code(Token::parse_debit(&compact(form.text("otp"))).ok()).await {
        // A wrong code may be tried again, except the last one: then the page says that the attempt
        // is over.
        Err(problem) if problem.code == "invalid_otp" && !visit.is_over()? => {
            let typed = Typed::wrong("otp");
            show(&visit, PageOptions { typed, ..options }, 400)
        }
        Err(problem) if problem.code != "invalid_otp" && problem.status != 409 => {
            refuse(&sent, &visit, options, &problem)
        }
        // The session's page shows the outcome: paid, over, or still waiting for the code.
        Ok(_) | Err(_) => Ok(lead(&visit, &options, &attempt)),
    }
}

pub async fn deposit_address(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let options = options(&form, Way::Usdt);
    let Some((network, asset)) = options.place else { return show(&visit, options, 400) };
    let begun = visit.address(network, asset).await.and_then(accepted);
    let place = |_| format!("network={}&asset={}", network.name(), asset.name());
    answer(&sent, &visit, options, begun.map(place))
}

fn refuse(
    sent: &Call<'_>,
    visit: &Visit<'_>,
    mut options: PageOptions,
    refused: &Problem,
) -> Result<Reply, Problem> {
    respond::log(refused, &sent.arrival.request_id);
    // Its own page says it.
    if matches!(refused.code, "session_paid" | "session_expired" | "charge_in_progress") {
        return Ok(lead(visit, &options, ""));
    }
    options.notice = Some(notice(refused, options.language, options.way));
    Ok(show(visit, options, refused.status)?.with_problem_headers(refused))
}

pub async fn open(mut sent: Call<'_>) -> Result<Reply, Problem> {
    if sent.is_foreign() {
        return Err(Problem::unauthorized(FOREIGN));
    }
    let (services, limits, client, slug) = (sent.services, sent.limits, sent.client(), sent.named);
    let sale = sought(&sent)?;
    let form = sent.read().await?;
    let _pass = services.names.pass(sale.shop.tenant_key).await;
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
    accepted(steps::open(services, sale.shop.tenant_key, new).await.map_err(failure)?)?;
    let options = PageOptions::read(&form, Manner::Whole);
    // The buyer has chosen USDT, so the page with the address comes at once.
    if options.way == Some(Way::Usdt)
        && let Some(visit) = sent.find(id).await?
    {
        visit.address(Network::Trc20, Asset::Usdt).await?;
    }
    Ok(see(&options.address(id, "")))
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

pub async fn card(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    // Number and code are not shown again.
    let typed = Typed::read(&form, &["cardName", "holderId", "cardExpiry"]);
    let mut options = PageOptions { quote: None, typed, ..options(&form, Way::Card) };
    if form.filled("tokenize").is_some() {
        // The fields of a token: its script takes the card, and this form charges nothing.
        return fields(&visit, &options, true);
    }
    let Some(card) = read_card(&mut options.typed, &form, visit.now) else {
        return show(&visit, options, 400);
    };
    let quote = form.filled("quote").map(Quote::sent);
    let begun = visit.charge_card(card, quote.as_ref()).await;
    answer(&sent, &visit, options, begun.map(|(attempt, _)| format!("attempt={attempt}")))
}

pub async fn transfer(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let services = sent.services;
    let typed = Typed::read(&form, &["debtorBankCode", "debtorId", "debtorCellPhone", "reference", "date"]);
    let mut options = PageOptions { typed, ..options(&form, Way::PagoMovil) };
    let Some(transfer) = read_transfer(&mut options.typed, &form, &services.banks.now(), visit.now) else {
        return show(&visit, options, 400);
    };
    let means = transfer.means();
    let begun = visit.verify_transfer(transfer).await;
    if matches!(&begun, Err(problem) if problem.code == REFERENCE_USED) {
        let w = options.language.words();
        let (words, ending) = match transfers::is_sought(services, visit.shop.tenant_key, &means).await? {
            true => (w.failed_waits, w.sent_waits),
            false => (w.failed_used, w.sent_used),
        };
        let notice = Some(format!("{words} {ending}"));
        return show(&visit, PageOptions { is_sent: true, notice, ..options }, 409);
    }
    answer(&sent, &visit, options, begun.map(|(attempt, _)| format!("attempt={attempt}")))
}

fn read_card(typed: &mut Typed, form: &Form, now: Timestamp) -> Option<Arc<Card>> {
    let number = typed.need("cardNumber", Number::parse(&compact(form.text("cardNumber"))).ok());
    let expiry = expiry(form.text("cardExpiry")).filter(|expiry| expiry.expired_at(now).is_none());
    let expiry = typed.need("cardExpiry", expiry);
    let cvv = typed.need("cardCvv", Cvv::parse(&compact(form.text("cardCvv"))).ok());
    let name =
        Some(form.text("cardName")).filter(|name| (1..=HOLDER_NAME_MAX).contains(&name.chars().count()));
    let name = typed.need("cardName", name);
    let holder = typed.need("holderId", IdentityDocument::parse(&compact(form.text("holderId"))).ok());
    let (number, expiry, cvv, holder_name) = (number?, expiry?, cvv?, name?.to_owned());
    Some(Arc::new(Card { number, expiry, cvv, holder_name, holder_id: holder? }))
}

/// The month and year on a card, as people write them: 12/30, 12/2030, 1230.
fn expiry(text: &str) -> Option<Expiry> {
    let text = bare(text).replace('-', "/");
    let (month, year) = match text.split_once('/') {
        Some(parts) => parts,
        None => text.split_at_checked(2)?,
    };
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    let (month, short): (i32, i32) = (number(month)?, number(year)?);
    let year = match year.len() {
        2 => short + 2000,
        4 => short,
        _ => return None,
    };
    (1..=12).contains(&month).then_some(Expiry { year, month })
}

fn read_transfer(typed: &mut Typed, form: &Form, banks: &Catalogue, now: Timestamp) -> Option<GotTransfer> {
    let debtor = read_debtor(typed, banks, Service::PagoMovil);
    let reference = typed.need("reference", reference(&compact(typed.get("reference"))).ok());
    let (oldest, today) = transfer_days(now);
    let date = day(typed.get("date")).filter(|date| (oldest..=today).contains(date));
    let date = typed.need("date", date);
    let quote = form.filled("quote").map(Quote::sent);
    Some(GotTransfer { debtor: debtor?, reference: reference?, date: date?, quote })
}

/// A day as browsers send it, or as people write it: 2026-11-21, 21/11/2026.
fn day(text: &str) -> Option<Date> {
    if let Ok(date) = Date::parse(text) {
        return Some(date);
    }
    let mut parts = text.split('/');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then(|| Date::parse(&format!("{year}-{month:0>2}-{day:0>2}")).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiries_as_people_write_them() {
        for (text, found) in [
            ("12/30", Some((2030, 12))),
            ("1/30", Some((2030, 1))),
            ("12 / 2030", Some((2030, 12))),
            ("1230", Some((2030, 12))),
            ("12-30", Some((2030, 12))),
            ("13/30", None),
            ("0/30", None),
            ("12/3", None),
            ("12", None),
            ("", None),
            ("+1/30", None),
            ("ñ/30", None),
        ] {
            assert_eq!(expiry(text).map(|expiry| (expiry.year, expiry.month)), found, "{text}");
        }
    }

    #[test]
    fn days_as_people_write_them() {
        let date = Date::parse("2026-11-02").ok();
        for text in ["2026-11-02", "02/11/2026", "2/11/2026"] {
            assert_eq!(day(text), date, "{text}");
        }
        for text in ["", "2/11", "31/02/2026", "2/11/2026/1", "11-02-2026"] {
            assert_eq!(day(text), None, "{text}");
        }
    }
}
