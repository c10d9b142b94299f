//! The forms of the pages: the way to pay without a script. A form carries the session's client
//! secret, which no other site knows; and a form is refused if the browser says that another site
//! sent it.

use crate::checkout::calls::{is_secret, may_collect, messaged, on_sale, session_of, sought};
use crate::checkout::limits::Phone;
use crate::checkout::pages::{Manner, PageOptions, Typed, fields, problem_page, show, show_link};
use crate::checkout::steps;
use crate::checkout::visit::{Call, Visit, shop_of};
use crate::checkout::ways_back::see;
use crate::checkout::words::Language;
use crate::gateway::ask::{self, failure};
use crate::gateway::transfers;
use crate::http::body;
use crate::http::respond::{self, Reply};
use crate::pages::form::Form;
use actors::Settled;
use api::checkout::bolivares::{GotTransfer, Quote, TOTAL_CHANGED, reference, transfer_days};
use api::openapi::kinds::is_email;
use api::problem::Problem;
use api::refusals::problem;
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
use hyper::header::{self, HeaderName};
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
        let visit = Visit::begin(self.services, id).await?.ok_or_else(Problem::not_found)?;
        Ok((form, visit))
    }

    fn lead(&self, visit: &Visit<'_>, options: &PageOptions, what: &str) -> Reply {
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

fn bank(typed: &Typed, banks: &Catalogue, service: Service) -> Option<BankCode> {
    let code = BankCode::from_number(typed.get("debtorBankCode").parse().ok()?).ok()?;
    banks.offers(code, service).then_some(code)
}

/// A text without spaces and dots; dashes stay, as they may belong to it.
fn bare(text: &str) -> String {
    text.replace([' ', '.', '\u{a0}'], "")
}

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
    let mut wrong = Wrong::default();
    let Some(debtor) = wrong.debtor(&typed, &services.banks.now(), Service::C2p) else {
        typed.wrong = wrong.0;
        return show(&visit, PageOptions { typed, ..options }, 400);
    };
    options.typed = typed;
    request_key(&sent, &visit, debtor, options).await
}

async fn request_key(
    sent: &Call<'_>,
    visit: &Visit<'_>,
    debtor: Debtor,
    options: PageOptions,
) -> Result<Reply, Problem> {
    let allowed = sent.limits.message(sent.client(), &visit.session, Phone::Venezuelan(debtor.phone));
    let settled = match allowed {
        Ok(()) => visit.request(debtor).await,
        Err(problem) => Err(problem),
    };
    match begun(settled) {
        Ok(intent) => Ok(sent.lead(visit, &options, &format!("intent={intent}"))),
        Err(refused) => refuse(sent, visit, options, &refused),
    }
}

fn begun(settled: Result<Box<Settled<Domain>>, Problem>) -> Result<Id, Problem> {
    let settled = settled?;
    if let Some(refusal) = &settled.refusal {
        return Err(problem(refusal));
    }
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
        Ok(_) | Err(_) => Ok(sent.lead(&visit, &options, &format!("attempt={intent}"))),
    }
}

pub async fn collect(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let options = options(&form, Way::Cop);
    let Some(channel) = options.channel else { return show(&visit, options, 400) };
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
            return show(&visit, PageOptions { typed, anew: true, ..options }, 400);
        }
    };
    let seen = form.get("amountCop").and_then(|text| text.parse().ok()).map(Cop::from_minor);
    let settled = match visit.in_pesos(seen).and_then(|price| {
        may_collect(sent.limits, sent.client(), &visit, messaged(channel, buyer.as_ref())).map(|()| price)
    }) {
        Ok(price) => visit.collect(channel, buyer, price).await,
        Err(problem) => Err(problem),
    };
    match begun(settled) {
        Ok(attempt) => {
            let options = PageOptions { channel: None, ..options };
            Ok(sent.lead(&visit, &options, &format!("attempt={attempt}")))
        }
        Err(refused) => refuse(&sent, &visit, PageOptions { typed, anew: true, ..options }, &refused),
    }
}

fn read_buyer(typed: &Typed, channel: Channel, livemode: bool) -> Result<Buyer, Vec<&'static str>> {
    let documents = channel.documents(livemode);
    let mut wrong = Wrong::default();
    let email = Some(typed.get("email")).filter(|text| is_email(text)).map(str::to_owned);
    let email = wrong.read("email", email);
    let phone = wrong.read("phone", ColombianPhone::parse(&compact(typed.get("phone"))).ok());
    let document_type =
        documents.iter().copied().find(|document| document.name() == typed.get("documentType"));
    let document_type = wrong.read("documentType", document_type);
    let document_number = DocumentNumber::parse(&bare(typed.get("documentNumber"))).ok();
    let document_number = wrong.read("documentNumber", document_number);
    if wrong.0.is_empty() { Ok(Buyer { email, phone, document_type, document_number }) } else { Err(wrong.0) }
}

/// The names of the fields that could not be read.
#[derive(Default)]
struct Wrong(Vec<&'static str>);

impl Wrong {
    fn read<T>(&mut self, name: &'static str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.0.push(name);
        }
        value
    }

    /// Of whoever pays by a bank of this service.
    fn debtor(&mut self, typed: &Typed, banks: &Catalogue, service: Service) -> Option<Debtor> {
        let bank = self.read("debtorBankCode", bank(typed, banks, service));
        let id = self.read("debtorId", IdentityDocument::parse(&compact(typed.get("debtorId"))).ok());
        let phone = MobilePhone::parse(&compact(typed.get("debtorCellPhone"))).ok();
        let phone = self.read("debtorCellPhone", phone);
        Some(Debtor { bank: bank?, id: id?, phone: phone? })
    }
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
        Ok(_) | Err(_) => Ok(sent.lead(&visit, &options, &attempt)),
    }
}

pub async fn deposit_address(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let options = options(&form, Way::Usdt);
    let Some((network, asset)) = options.place else { return show(&visit, options, 400) };
    let settled = visit.address(network, asset).await;
    match settled.and_then(|settled| settled.refusal.as_ref().map_or(Ok(()), |refusal| Err(problem(refusal))))
    {
        Ok(()) => {
            let place = format!("network={}&asset={}", network.name(), asset.name());
            Ok(sent.lead(&visit, &options, &place))
        }
        Err(refused) => refuse(&sent, &visit, options, &refused),
    }
}

fn refuse(
    sent: &Call<'_>,
    visit: &Visit<'_>,
    mut options: PageOptions,
    refused: &Problem,
) -> Result<Reply, Problem> {
    respond::log(refused, &sent.arrival.request_id);
    if is_said_by_the_page(refused) {
        return Ok(sent.lead(visit, &options, ""));
    }
    options.notice = Some(notice(refused, options.language, options.way));
    let reply = show(visit, options, refused.status)?;
    Ok(match refused.retry_after {
        Some(seconds) => reply.header(header::RETRY_AFTER, seconds.get().into()),
        None => reply,
    })
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
        visit.address(Network::Trc20, Asset::Usdt).await?;
    }
    Ok(see(&options.address(id, "")))
}

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

pub async fn card(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let options = PageOptions { quote: None, ..options(&form, Way::Card) };
    if form.filled("tokenize").is_some() {
        // The fields of a token: its script takes the card, and this form charges nothing.
        return fields(&visit, &options, true);
    }
    // Number and code are not shown again.
    let mut typed = Typed::read(&form, &["cardName", "holderId", "cardExpiry"]);
    let card = match read_card(&form, visit.now) {
        Ok(card) => card,
        Err(wrong) => {
            typed.wrong = wrong;
            return show(&visit, PageOptions { typed, ..options }, 400);
        }
    };
    let quote = form.filled("quote").map(Quote::sent);
    let begun = match sent.limits.guess(sent.client(), visit.shop.tenant_key, visit.session.id) {
        Ok(()) => visit.charge_card(card, quote.as_ref()).await,
        Err(problem) => Err(problem),
    };
    settled(&sent, &visit, PageOptions { typed, ..options }, begun.map(|(attempt, _)| attempt)).await
}

pub async fn transfer(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let services = sent.services;
    let options = options(&form, Way::PagoMovil);
    let mut typed =
        Typed::read(&form, &["debtorBankCode", "debtorId", "debtorCellPhone", "reference", "date"]);
    let transfer = match read_transfer(&typed, &form, &services.banks.now(), visit.now) {
        Ok(transfer) => transfer,
        Err(wrong) => {
            typed.wrong = wrong;
            return show(&visit, PageOptions { typed, ..options }, 400);
        }
    };
    let means = transfer.means();
    let begun = match sent.limits.guess(sent.client(), visit.shop.tenant_key, visit.session.id) {
        Ok(()) => visit.verify_transfer(transfer).await,
        Err(problem) => Err(problem),
    };
    let is_used = matches!(&begun, Err(problem) if problem.code == REFERENCE_USED);
    if is_used {
        let w = options.language.words();
        let (words, ending) = match transfers::is_sought(services, visit.shop.tenant_key, &means).await? {
            true => (w.failed_waits, w.sent_waits),
            false => (w.failed_used, w.sent_used),
        };
        let options =
            PageOptions { typed, is_sent: true, notice: Some(format!("{words} {ending}")), ..options };
        return show(&visit, options, 409);
    }
    settled(&sent, &visit, PageOptions { typed, ..options }, begun.map(|(attempt, _)| attempt)).await
}

async fn settled(
    sent: &Call<'_>,
    visit: &Visit<'_>,
    options: PageOptions,
    begun: Result<Id, Problem>,
) -> Result<Reply, Problem> {
    match begun {
        Ok(attempt) => Ok(sent.lead(visit, &options, &format!("attempt={attempt}"))),
        Err(problem) => refuse(sent, visit, options, &problem),
    }
}

fn read_card(form: &Form, now: Timestamp) -> Result<Arc<Card>, Vec<&'static str>> {
    let mut wrong = Wrong::default();
    let number = wrong.read("cardNumber", Number::parse(&compact(form.text("cardNumber"))).ok());
    let expiry = expiry(form.text("cardExpiry")).filter(|expiry| expiry.expired_at(now).is_none());
    let expiry = wrong.read("cardExpiry", expiry);
    let cvv = wrong.read("cardCvv", Cvv::parse(&compact(form.text("cardCvv"))).ok());
    let name =
        Some(form.text("cardName")).filter(|name| (1..=HOLDER_NAME_MAX).contains(&name.chars().count()));
    let name = wrong.read("cardName", name);
    let holder = wrong.read("holderId", IdentityDocument::parse(&compact(form.text("holderId"))).ok());
    match (number, expiry, cvv, name, holder) {
        (Some(number), Some(expiry), Some(cvv), Some(name), Some(holder_id)) => {
            Ok(Arc::new(Card { number, expiry, cvv, holder_name: name.to_owned(), holder_id }))
        }
        _ => Err(wrong.0),
    }
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

fn read_transfer(
    typed: &Typed,
    form: &Form,
    banks: &Catalogue,
    now: Timestamp,
) -> Result<GotTransfer, Vec<&'static str>> {
    let mut wrong = Wrong::default();
    let debtor = wrong.debtor(typed, banks, Service::PagoMovil);
    let reference = wrong.read("reference", reference(&compact(typed.get("reference"))).ok());
    let (oldest, today) = transfer_days(now);
    let date = day(typed.get("date")).filter(|date| (oldest..=today).contains(date));
    let date = wrong.read("date", date);
    let quote = form.filled("quote").map(Quote::sent);
    match (debtor, reference, date) {
        (Some(debtor), Some(reference), Some(date)) => Ok(GotTransfer { debtor, reference, date, quote }),
        _ => Err(wrong.0),
    }
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
