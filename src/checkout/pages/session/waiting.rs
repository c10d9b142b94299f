//! The pages of an attempt that waits for its buyer: for a key, for pesos, for USDT.

use super::*;
use crate::checkout::pages::figures::bcv_rate;
use domain::values::time::{SECOND_MS, Timestamp};

const RESEND_SECONDS: i64 = 60;

pub(super) struct Again {
    pub(super) to: &'static str,
    pub(super) of: Id,
    /// The channel in pesos, and the total that the buyer has seen.
    pub(super) cop: Option<(&'static str, i64)>,
    pub(super) wait: i64,
}

impl Again {
    fn new(to: &'static str, of: Id, sent_at: Timestamp, now: Timestamp) -> Again {
        let since = now.since_ms(sent_at) / SECOND_MS;
        Again { to, of, cop: None, wait: (RESEND_SECONDS - since).clamp(0, RESEND_SECONDS) }
    }
}

#[derive(Template)]
#[template(path = "key.html", config = "src/checkout/askama.toml")]
pub(super) struct KeyPage {
    pub(super) shell: Shell,
    pub(super) intent: Id,
    pub(super) ves: String,
    pub(super) rate: String,
    pub(super) of: Option<String>,
    pub(super) bank: String,
    pub(super) payer: String,
    pub(super) help: &'static str,
    pub(super) sent_sms: bool,
    pub(super) again: Again,
    pub(super) wrong: bool,
    pub(super) back: String,
}

#[derive(Template)]
#[template(path = "pesos.html", config = "src/checkout/askama.toml")]
pub(super) struct PesosPage {
    pub(super) shell: Shell,
    pub(super) channel: Channel,
    pub(super) waits: bool,
    pub(super) picture: Option<String>,
    pub(super) total: String,
    pub(super) rate: Option<String>,
    pub(super) key: String,
    pub(super) qr: Drawing,
    pub(super) phone: String,
    pub(super) wrong: bool,
    pub(super) until: String,
    pub(super) again: Again,
    pub(super) other: String,
    pub(super) home: String,
}

#[derive(Template)]
#[template(path = "usdt.html", config = "src/checkout/askama.toml")]
pub(super) struct UsdtPage {
    pub(super) shell: Shell,
    pub(super) amount: String,
    pub(super) address: String,
    pub(super) qr: Drawing,
    pub(super) network: &'static str,
    pub(super) asset: &'static str,
    pub(super) panel: UsdtPanel,
    pub(super) received: Option<String>,
    pub(super) left: String,
    /// The price, in cents.
    pub(super) of: i64,
    pub(super) came: i64,
    pub(super) until: String,
    pub(super) home: String,
}

pub(super) fn waits_for_key(payment: &Payment, visit: &Visit<'_>) -> bool {
    payment.status == PaymentStatus::Pending
        && payment.phase == Phase::Idle
        && payment.expires_at.is_none_or(|at| at > visit.now)
}

pub(super) fn key_page(
    visit: &Visit<'_>,
    options: &PageOptions,
    (payment, debtor, of): (&Payment, &Debtor, Option<String>),
    banks: &Catalogue,
    shell: Shell,
) -> askama::Result<String> {
    let language = options.language;
    KeyPage {
        intent: payment.id,
        ves: bolivares(payment.ves, language),
        rate: bcv_rate(payment.bcv_rate, language),
        of,
        bank: banks.get(debtor.bank).map(|bank| bank.name.clone()).unwrap_or_default(),
        payer: format!("{} · {}", debtor.id.masked(), debtor.phone.masked()),
        help: key_help(debtor.bank, language),
        sent_sms: payment.means.otp_requested(),
        again: Again::new("c2p/request", payment.id, payment.created_at, visit.now),
        wrong: options.typed.is_wrong("token"),
        back: options.towards(visit.session.id, Some(Way::C2p), ""),
        shell,
    }
    .render()
}

pub(super) fn pesos_page(
    visit: &Visit<'_>,
    options: &PageOptions,
    payment: &CopPayment,
    home: String,
    mut shell: Shell,
) -> askama::Result<String> {
    let (session, language) = (&visit.session, options.language);
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
    shell.refreshes |= waits;
    shell.handle.attempt = Some(payment.id);
    if waits {
        shell.handle.status = page_status(Status::Processing);
    }
    PesosPage {
        channel: payment.channel,
        waits,
        picture,
        total: pesos(payment.amount, language),
        rate: payment.checkout.as_ref().map(|checkout| rate(checkout.rate, language)),
        qr: drawing(&key),
        key,
        phone: phone.unwrap_or_default(),
        wrong: options.typed.is_wrong("otp"),
        until: in_bogota(payment.expires_at),
        again: Again {
            cop: Some((payment.channel.name(), payment.amount.minor())),
            ..Again::new("cop", payment.id, payment.created_at, visit.now)
        },
        other: options.towards(session.id, Some(Way::Cop), &format!("channel={ANEW}")),
        home,
        shell,
    }
    .render()
}

pub(super) fn usdt_page(
    session: &Session,
    to: &DepositAddress,
    wanted: Option<(Network, Asset)>,
    panel: impl FnOnce((Network, Asset)) -> UsdtPanel,
    language: Language,
    home: String,
    shell: Shell,
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
    }
    .render()
}
