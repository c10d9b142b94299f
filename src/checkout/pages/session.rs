//! The choice of the page that a session shows.

mod choices;
#[cfg(test)]
mod escaping;
mod receipt;

use super::figures::{Drawing, bolivares, dollars, drawing, in_bogota, in_caracas, pesos, rate, usdt};
use super::{ANEW, Manner, PageOptions, Shell, Typed, page};
use crate::checkout::key_help::key_help;
use crate::checkout::visit::{Tried, Visit, secret_of};
use crate::checkout::words::{Language, Words};
use crate::gateway::services::Services;
use crate::http::respond::Reply;
use crate::pages::form::Form;
use api::checkout::sessions::client_secret;
use api::checkout::{Offer, page_status};
use api::cop_payments::qr::picture_address;
use api::problem::Problem;
use askama::Template;
use choices::{Choosable, UsdtPanel, bank_options, document_options, network_name, usdt_panel};
use domain::platform::is_live;
use domain::resources::banks::{BankCode, Catalogue, Service, sends_otp};
use domain::resources::checkout::{Session, Status, Way};
use domain::resources::cop_payments::live::NextStep;
use domain::resources::cop_payments::{Channel, CopPayment, Failure};
use domain::resources::crypto::address::Network;
use domain::resources::crypto::deposits::{Asset, DepositAddress};
use domain::resources::payments::{Debtor, Means, Payment, Phase, Status as PaymentStatus};
use domain::values::buyer::{ColombianPhone, DocumentType};
use domain::values::ids::Id;
use domain::values::money::{Usd, Usdt};
use receipt::{failure, receipt};

/// The amount and the purpose of a payment, as pages show them.
struct Bill {
    amount: String,
    description: Option<String>,
    reference: Option<String>,
}

/// The data of a session that the script and every form need.
struct Handle {
    session: Id,
    secret: String,
    status: &'static str,
    /// The address that the forms send to.
    base: String,
    embedded: bool,
    parent: String,
    /// The attempt that the page waits for.
    attempt: Option<Id>,
    /// The amount in USDT that had come when the page was made.
    received: String,
}

/// A way to pay, as a button.
pub(super) struct Choice {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    pub(super) hint: &'static str,
    /// The reason why it cannot be used.
    pub(super) why: Option<&'static str>,
    pub(super) total: Option<String>,
    /// The least quantity with which it can be used, where the buyer chooses the quantity.
    pub(super) least: Option<u16>,
    chosen: bool,
}

/// The panel of a bank.
struct C2pPanel {
    ves: Option<String>,
    banks: Vec<Choosable>,
}

/// The panel of pesos: the channels, or who pays by the one that was chosen.
struct PesosPanel {
    total: String,
    minor: i64,
    rate: Option<String>,
    channel: Option<Channel>,
    /// The channels whose buyer must be known: code, name, hint.
    channels: [(&'static str, &'static str, &'static str); 2],
    documents: Vec<Choosable>,
    other: String,
}

#[derive(Template)]
#[template(path = "details.html", config = "src/checkout/askama.toml")]
struct DetailsPage {
    shell: Shell,
    bill: Bill,
    handle: Handle,
    choices: Vec<Choice>,
    c2p: Option<C2pPanel>,
    pesos: Option<PesosPanel>,
    usdt: Option<UsdtPanel>,
    /// The network that the button of USDT asks for.
    usdt_network: &'static str,
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
#[template(path = "pesos.html", config = "src/checkout/askama.toml")]
struct PesosPage {
    shell: Shell,
    bill: Bill,
    handle: Handle,
    channel: Channel,
    /// Nothing for the buyer to do is known.
    waits: bool,
    /// The picture that a live processor gave, as an address.
    picture: Option<String>,
    total: String,
    key: String,
    qr: Drawing,
    phone: String,
    wrong: bool,
    until: String,
    again: String,
    home: String,
}

#[derive(Template)]
#[template(path = "usdt.html", config = "src/checkout/askama.toml")]
struct UsdtPage {
    shell: Shell,
    bill: Bill,
    handle: Handle,
    amount: String,
    address: String,
    qr: Drawing,
    network: &'static str,
    asset: &'static str,
    panel: UsdtPanel,
    received: Option<String>,
    left: String,
    /// The price, in cents.
    of: i64,
    came: i64,
    until: String,
    home: String,
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
    received: Option<String>,
    cancel_url: Option<String>,
}

/// GET /checkout/:id and /checkout/:id/embed
pub fn session(
    services: &Services,
    visit: &Visit,
    query: Option<&str>,
    manner: Manner,
) -> Result<Reply, Problem> {
    show(services, visit, PageOptions::read(&Form::query(query), manner), 200)
}

/// The page that a session shows now.
pub fn show(services: &Services, visit: &Visit, options: PageOptions, status: u16) -> Result<Reply, Problem> {
    let language = options.language;
    let w = language.words();
    let session = &visit.session;
    let settings = &visit.shop.tenant.tenant_settings.settings;
    let parent = options.parent.clone().filter(|parent| {
        options.manner == Manner::Embedded && settings.checkout_allowed_origins.contains(parent)
    });
    let attempt = options.attempt.and_then(|attempt| visit.attempt(services, attempt).ok().flatten());
    let failure = attempt.as_ref().and_then(|attempt| failure(attempt, w));
    let embedded = options.manner == Manner::Embedded;
    let shell = Shell {
        shop: visit.shop.tenant.name.to_string(),
        test_mode: !is_live(visit.shop.tenant_key),
        refreshes: visit.status == Status::Processing,
        embedded,
        other_language: options.other_language(),
        ..Shell::new(language, format!("{} {}", w.title, visit.shop.tenant.name))
    };
    let bill = Bill {
        amount: dollars(session.amount, language),
        description: session.description.clone(),
        reference: session.reference.clone(),
    };
    let handle = Handle {
        session: session.id,
        secret: client_secret(session.id, secret_of(&services.keys, session.id)),
        status: if failure.is_some() && visit.status == Status::Open {
            "failed"
        } else {
            page_status(visit.status)
        },
        base: format!("/checkout/{}", session.id),
        embedded,
        parent: parent.unwrap_or_default(),
        attempt: None,
        received: visit.received().to_string(),
    };
    let html = match visit.status {
        Status::Paid(payment) => {
            let lines = visit
                .attempt(services, payment)
                .ok()
                .flatten()
                .map(|paid| receipt(&paid, language))
                .unwrap_or_default();
            PaidPage { shell, bill, handle, lines, success_url: session.success_url.clone() }.render()
        }
        Status::Processing => ProcessingPage { shell, bill, handle }.render(),
        Status::Expired => {
            let received = Some(visit.received())
                .filter(|received| *received > Usdt::ZERO)
                .map(|received| usdt(received, language));
            ExpiredPage { shell, bill, handle, received, cancel_url: session.cancel_url.clone() }.render()
        }
        Status::Open => open(services, visit, options, shell, bill, handle, failure),
    };
    let ancestors = embedded.then_some(settings.checkout_allowed_origins.as_slice());
    page(status, html, ancestors)
}

/// The page of a session that can be paid: what waits for the buyer by the way that was chosen, or
/// the ways.
fn open(
    services: &Services,
    visit: &Visit,
    options: PageOptions,
    shell: Shell,
    bill: Bill,
    handle: Handle,
    failure: Option<&'static str>,
) -> askama::Result<String> {
    let (language, session, banks) = (options.language, &visit.session, services.banks.now());
    let livemode = is_live(visit.shop.tenant_key);
    let networks = services.rails.usdt_networks(visit.shop.tenant_key);
    let offered = visit.offers(services);
    let usable = |way: Way| offered.iter().any(|offer| offer.way == way && offer.reason.is_none());
    // With only one way to pay, the buyer is not asked.
    let only = if let [offer] = &*offered { Some(offer.way) } else { None };
    let chosen = options.way.or(only).filter(|way| usable(*way));
    let home = options.towards(session.id, None, "");
    let waiting = visit
        .attempts
        .c2p
        .as_ref()
        .filter(|payment| options.intent == Some(payment.id) && waits_for_key(payment, visit));
    if let Some((payment, debtor)) = waiting.and_then(|payment| Some((payment, payment.debtor()?))) {
        let back = options.towards(session.id, Some(Way::C2p), "");
        return key_page(
            payment,
            debtor,
            &banks,
            options.typed.is_wrong("token"),
            back,
            language,
            (shell, bill, handle),
        );
    }
    if let Some(payment) = visit
        .attempts
        .pending_cop()
        .filter(|_| chosen == Some(Way::Cop) && !options.anew && options.channel.is_none())
    {
        let key = payment.transfer_key();
        let phone = payment
            .buyer
            .as_ref()
            .and_then(|buyer| buyer.phone)
            .map(|phone| ColombianPhone::masked(phone).to_string());
        let next = payment.next_step();
        let waits = next.is_none();
        let picture = match next {
            Some(NextStep::Scan(Some(picture))) => Some(picture_address(picture)),
            _ => None,
        };
        // The script, and the browser without it, look again soon.
        let status = if waits { page_status(Status::Processing) } else { handle.status };
        let shell = Shell { refreshes: shell.refreshes || waits, ..shell };
        return PesosPage {
            channel: payment.channel,
            waits,
            picture,
            total: pesos(payment.amount, language),
            qr: drawing(&key),
            key,
            phone: phone.unwrap_or_default(),
            wrong: options.typed.is_wrong("otp"),
            until: in_bogota(payment.expires_at),
            again: options.towards(session.id, Some(Way::Cop), &format!("channel={ANEW}")),
            home,
            shell,
            bill,
            handle: Handle { attempt: Some(payment.id), status, ..handle },
        }
        .render();
    }
    if let Some(till) = visit.attempts.usdt.as_ref().filter(|_| chosen == Some(Way::Usdt)) {
        let panel = |place| usdt_panel(Some(place), &networks, livemode, language);
        return usdt_page(session, till, options.place, panel, language, home, (shell, bill, handle));
    }
    DetailsPage {
        choices: choices(&offered, session.amount, chosen, language),
        c2p: (chosen == Some(Way::C2p)).then(|| C2pPanel {
            ves: offered.iter().find_map(|offer| offer.ves).map(|ves| bolivares(ves, language)),
            banks: bank_options(&banks, options.typed.get("debtorBankCode"), language),
        }),
        pesos: offered
            .iter()
            .find(|offer| offer.way == Way::Cop && chosen == Some(Way::Cop))
            .and_then(|offer| offer.cop)
            .map(|begun| {
                // An attempt that waits already has the rate of its start; a new one gets the rate
                // of now.
                let price = visit.shop.market(services).pesos(session.amount).ok();
                let total = price.map_or(begun, |price| price.total);
                PesosPanel {
                    total: pesos(total, language),
                    minor: total.minor(),
                    rate: price.map(|price| rate(price.rate, language)),
                    channel: options.channel.filter(|channel| *channel != Channel::Qr),
                    channels: {
                        let w = language.words();
                        [
                            ("push", w.channel_push, w.channel_push_hint),
                            ("sms", w.channel_sms, w.channel_sms_hint),
                        ]
                    },
                    documents: document_options(
                        options.channel,
                        livemode,
                        options.typed.get("documentType"),
                        language,
                    ),
                    other: options.towards(session.id, Some(Way::Cop), &format!("channel={ANEW}")),
                }
            }),
        usdt: (chosen == Some(Way::Usdt)).then(|| usdt_panel(options.place, &networks, livemode, language)),
        usdt_network: networks.first().map_or("", |network| network.name()),
        typed: options.typed,
        failure,
        notice: options.notice,
        valid_until: in_caracas(session.expires_at),
        cancel_url: session.cancel_url.clone(),
        shell,
        bill,
        handle,
    }
    .render()
}

fn waits_for_key(payment: &Payment, visit: &Visit) -> bool {
    payment.status == PaymentStatus::Pending
        && payment.phase == Phase::Idle
        && payment.expires_at.is_none_or(|at| at > visit.now)
}

fn key_page(
    payment: &Payment,
    debtor: &Debtor,
    banks: &Catalogue,
    wrong: bool,
    back: String,
    language: Language,
    (shell, bill, handle): (Shell, Bill, Handle),
) -> askama::Result<String> {
    KeyPage {
        intent: payment.id,
        ves: bolivares(payment.ves, language),
        bank: banks.get(debtor.bank).map(|bank| bank.name.clone()).unwrap_or_default(),
        payer: format!("{} · {}", debtor.id.masked(), debtor.phone.masked()),
        help: key_help(debtor.bank, language),
        sent_sms: sends_otp(debtor.bank),
        wrong,
        back,
        shell,
        bill,
        handle,
    }
    .render()
}

fn usdt_page(
    session: &Session,
    to: &DepositAddress,
    wanted: Option<(Network, Asset)>,
    panel: impl FnOnce((Network, Asset)) -> UsdtPanel,
    language: Language,
    home: String,
    (shell, bill, handle): (Shell, Bill, Handle),
) -> askama::Result<String> {
    let shown = to.places().find(|place| wanted == Some((place.0, place.1))).or_else(|| to.places().next());
    let (network, asset, address) = shown.unwrap_or((to.network, to.asset, &to.address));
    let came = to.till.as_ref().map_or(Usdt::ZERO, |till| till.received);
    let all = Usdt::from_minor(session.amount.minor());
    UsdtPage {
        amount: usdt(all, language),
        address: address.to_owned(),
        qr: drawing(address),
        network: network_name(network),
        asset: asset.name(),
        panel: panel((network, asset)),
        received: (came > Usdt::ZERO).then(|| usdt(came, language)),
        left: usdt(all.minus(came).unwrap_or(all), language),
        of: all.minor(),
        came: came.minor(),
        until: in_caracas(session.expires_at),
        home,
        shell,
        bill,
        handle,
    }
    .render()
}

pub(super) fn choices(offers: &[Offer], amount: Usd, chosen: Option<Way>, language: Language) -> Vec<Choice> {
    let w = language.words();
    let choice = |offer: &Offer| {
        let (name, hint) = match offer.way {
            Way::C2p => (w.c2p, w.c2p_hint),
            Way::Cop => (w.cop, w.cop_hint),
            Way::Usdt => (w.usdt, w.usdt_hint),
        };
        let total = match offer.way {
            Way::C2p => offer.ves.map(|ves| bolivares(ves, language)),
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
