//! The calls that the page of a hosted checkout makes, with the session's client secret as their
//! only key (`docs/contract.md, 12.6`): bodies in, answers out.
//!
//! The page itself does not belong here (`src/checkout/`), nor do the rules for sessions
//! (`src/domain/resources/checkout/`).

pub mod bolivares;
pub mod description;
pub mod sale;
pub mod sessions;

use crate::checkout::bolivares::Quote;
use crate::cop_payments::{GotBuyer, below_minimum, buyer, channel};
use crate::crypto::{asset, network};
use crate::fields::{Fields, Invalid};
use crate::problem::Problem;
use crate::products::links::quantity;
use crate::refusals::problem;
use crate::writer::Object;
use domain::entities::cop_payment::CopPayment;
use domain::entities::deposit_address::{Asset, Till};
use domain::entities::payment::{Payment, Status as PaymentStatus};
use domain::entities::product::{Link, Product};
use domain::entities::session::{Session, Way};
use domain::platform::settings::Receiver;
use domain::refusal::ConversionRefusal;
use domain::resources::banks::{Catalogue, Service};
use domain::resources::checkout::{InPesos, Status};
use domain::resources::payments::charge::{Price, USD_MAX};
use domain::resources::rates::samples::Sample;
use domain::values::address::Network;
use domain::values::buyer::Buyer;
use domain::values::channel::Channel;
use domain::values::ids::Id;
use domain::values::money::{Cop, Rate, Usd, Usdt, Ves};
use hyper::Method;
use std::sync::Arc;

/// The call that needs no secret: it makes one.
pub const OPEN_LINK_SESSION: &str = "openLinkSession";

/// The calls of a page, as the description tells of them: method, path, name.
pub fn calls() -> [(Method, &'static str, &'static str); 9] {
    [
        (Method::GET, "/checkout/:id/state", "getCheckoutState"),
        (Method::POST, "/checkout/:id/c2p/request", "requestCheckoutC2p"),
        (Method::POST, "/checkout/:id/c2p", "payCheckoutC2p"),
        (Method::POST, "/checkout/:id/pago-movil", "payCheckoutPagoMovil"),
        (Method::POST, "/checkout/:id/card", "payCheckoutCard"),
        (Method::POST, "/checkout/:id/cop", "payCheckoutCop"),
        (Method::POST, "/checkout/:id/cop/otp", "submitCheckoutOtp"),
        (Method::POST, "/checkout/:id/usdt", "payCheckoutUsdt"),
        (Method::POST, "/pay/:slug/sessions", OPEN_LINK_SESSION),
    ]
}

/// The rates and ways of payment that hold when a session is shown.
pub struct Market {
    /// Bolívares a dollar, with the day of the rate.
    pub bcv: Option<Arc<Sample>>,
    /// Pesos a dollar, on the market.
    pub cop_rate: Option<Rate>,
    /// Whether there is a rail for C2P.
    pub has_c2p: bool,
    /// Whether there is one for cards.
    pub has_card: bool,
    /// Whether transfers can be searched for.
    pub has_transfers: bool,
    /// The account to which buyers send a Pago Móvil.
    pub receiver: Option<Receiver>,
    /// Whether there is one for pesos.
    pub has_cop: bool,
    /// Whether there is one for USDT.
    pub has_usdt: bool,
    /// Whether the tenant takes pesos.
    pub cop_enabled: bool,
    /// Whether the tenant takes USDT.
    pub usdt_enabled: bool,
}

impl Market {
    /// Bolívares a dollar.
    pub fn bcv_rate(&self) -> Option<Rate> {
        self.bcv.as_ref().map(|sample| sample.price)
    }

    /// The price in bolívares.
    pub fn bolivares(&self, amount: Usd) -> Option<Ves> {
        Some(Price::Usd(amount).at(self.bcv_rate()?).ok()?.ves)
    }

    /// The price in pesos, if they can be collected.
    pub fn pesos(&self, amount: Usd) -> Result<InPesos, NoPesos> {
        let price = self.cop_rate.and_then(|rate| InPesos::of(amount, rate)).ok_or(NoPesos::NoRate)?;
        if price.is_too_little() { Err(NoPesos::TooLittle) } else { Ok(price) }
    }
}

/// The reason why a price cannot be paid in pesos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPesos {
    /// No rate is known for the price.
    NoRate,
    /// The amount is less than can be collected.
    TooLittle,
}

impl NoPesos {
    /// The reason as the page's state gives it.
    const fn reason(self) -> &'static str {
        match self {
            NoPesos::NoRate => "rate_unavailable",
            NoPesos::TooLittle => "amount_below_minimum",
        }
    }

    /// The problem of a call that is refused for this reason.
    pub fn problem(self) -> Problem {
        match self {
            NoPesos::NoRate => problem(&ConversionRefusal::MarketRateUnavailable.into()),
            NoPesos::TooLittle => below_minimum(),
        }
    }
}

/// A way to pay, as it can be offered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The way of payment.
    pub way: Way,
    /// The reason why the way cannot be used, if it cannot.
    pub reason: Option<&'static str>,
    /// The total in bolívares, at the rate in force.
    pub ves: Option<Ves>,
    /// The total in pesos: at the rate in force, or as the buyer began to pay it.
    pub cop: Option<Cop>,
}

/// The ways to pay so much that are shown. Where the buyer `chooses` the quantity, pesos are shown
/// also when they cannot be used (`docs/contract.md, 12.7`).
pub fn offers(
    amount: Usd,
    chooses: bool,
    includes: impl Fn(Way) -> bool,
    market: &Market,
    banks: &Catalogue,
) -> Vec<Offer> {
    let rail = |is_there: bool| (!is_there).then_some("rail_not_configured");
    let ves = market.bolivares(amount);
    let in_bolivares = |way: &Way, is_there, service: Option<Service>| {
        let has_bank =
            service.is_none_or(|service| banks.shown().any(|bank| banks.offers(bank.code, service)));
        let reason = rail(is_there)
            .or((!has_bank).then_some("no_bank_offers_it"))
            .or(ves.is_none().then_some("rate_unavailable"));
        Offer { way: *way, reason, ves, cop: None }
    };
    let offer = |way: &Way| match way {
        Way::C2p => Some(in_bolivares(way, market.has_c2p, Some(Service::C2p))),
        // Nothing that a shop does brings a rail for cards, nor an account for transfers.
        Way::Card => market.has_card.then(|| in_bolivares(way, true, None)),
        Way::PagoMovil => {
            let there = market.receiver.is_some();
            there.then(|| in_bolivares(way, market.has_transfers, Some(Service::PagoMovil)))
        }
        Way::Cop if !market.cop_enabled => None,
        Way::Cop => match market.pesos(amount) {
            Ok(price) => {
                Some(Offer { way: *way, reason: rail(market.has_cop), ves: None, cop: Some(price.total) })
            }
            Err(why) => {
                chooses.then(|| Offer { way: *way, reason: Some(why.reason()), ves: None, cop: None })
            }
        },
        Way::Usdt => market.usdt_enabled.then(|| Offer {
            way: *way,
            reason: rail(market.has_usdt),
            ves: None,
            cop: None,
        }),
    };
    Way::ALL.iter().filter(|way| includes(**way)).filter_map(offer).collect()
}

/// POST /checkout/:id/cop
pub fn read_pesos(mut fields: Fields<'_>, livemode: bool) -> Result<(Channel, Option<Buyer>), Invalid> {
    let channel = fields.required("channel", channel());
    let buyer = GotBuyer::read(&mut fields, buyer(), channel.peek().copied(), livemode);
    let sound = fields.finish()?;
    Ok((channel.get(&sound), buyer.get(&sound)))
}

/// POST /checkout/:id/usdt
pub fn read_network(mut fields: Fields<'_>) -> Result<(Network, Asset), Invalid> {
    let network = fields.required("network", network());
    let asset = fields.required("asset", asset());
    let sound = fields.finish()?;
    Ok((network.get(&sound), asset.get(&sound)))
}

/// The address at which a session is paid in USDT, as JSON.
pub fn address(session: &Session, till: &Till, network: Network, asset: Asset, address: &str) -> Vec<u8> {
    Object::new()
        .plain("address", address)
        .plain("amountUsdt", session.amount)
        .plain("receivedUsdt", till.received)
        .plain("network", network.name())
        .plain("asset", asset.name())
        .plain("expiresAt", session.expires_at)
        .end()
}

/// The total price of `quantity` pieces of a link's product; the error says why that many cannot be
/// bought.
pub fn priced(product: &Product, link: &Link, quantity: u16) -> Result<Usd, &'static str> {
    if quantity > 1 && !link.allow_quantity {
        return Err("must be 1: this link sells one at a time");
    }
    if quantity == 0 || quantity > link.max_quantity && link.allow_quantity {
        return Err("must be at least 1 and at most the link's maxQuantity");
    }
    let total = product.price.minor().checked_mul(i64::from(quantity)).map(Usd::from_minor);
    total.filter(|total| *total <= USD_MAX).ok_or("comes to more than 100000 USD")
}

/// POST /pay/:slug/sessions
pub fn read_quantity(mut fields: Fields<'_>) -> Result<u16, Invalid> {
    let quantity = fields.optional("quantity", quantity());
    let sound = fields.finish()?;
    Ok(quantity.get(&sound).unwrap_or(1))
}

/// The name of a session's status in the page's state.
pub const fn page_status(status: Status) -> &'static str {
    match status {
        Status::Processing => "processing",
        Status::Open | Status::Paid(_) | Status::Expired => status.name(),
    }
}

/// The outcome so far of an attempt to pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt<'a> {
    status: PaymentStatus,
    /// The bank's code, or the processor's, if it failed.
    pub failure_code: Option<&'a str>,
}

impl<'a> Attempt<'a> {
    /// The state of a payment from a bank or in USDT.
    pub fn of(payment: &'a Payment) -> Attempt<'a> {
        Attempt {
            status: payment.status,
            failure_code: payment.failure_code.as_deref().filter(|_| payment.status == PaymentStatus::Failed),
        }
    }

    /// The state of a payment in pesos.
    pub fn in_pesos(payment: &'a CopPayment) -> Attempt<'a> {
        Attempt { status: payment.status, failure_code: payment.failure_code() }
    }
}

/// The facts of a session that a page has to know besides where it stands.
pub struct Besides {
    /// The attempt that began last.
    pub newest: Option<Id>,
    /// The price in bolívares of now.
    pub quote: Option<Quote>,
    /// The receiver of a Pago Móvil, as JSON.
    pub pago_movil: Option<Vec<u8>>,
}

/// The answer to GET /checkout/:id/state, with the outcome of an attempt if there is one.
pub fn state(
    session: &Session,
    status: Status,
    received: Usdt,
    offers: &[Offer],
    besides: &Besides,
    attempt: Option<Attempt<'_>>,
) -> Vec<u8> {
    let methods = offers.iter().map(|offer| {
        Object::new()
            .plain("method", offer.way.name())
            .boolean("enabled", offer.reason.is_none())
            .maybe_plain("reason", offer.reason)
            .maybe_number("amountCop", offer.cop)
            .end()
    });
    let body = Object::new()
        .plain("status", page_status(status))
        .plain("amountUsd", session.amount)
        .list("methods", methods)
        .maybe_plain("paymentId", status.payment())
        .plain("receivedUsdt", received)
        .maybe_plain("amountVes", offers.iter().find_map(|offer| offer.ves))
        .maybe_plain("quote", besides.quote.as_ref().map(Quote::text))
        .json("pagoMovil", besides.pago_movil.as_deref().unwrap_or(b"null"))
        .maybe_plain("newestAttempt", besides.newest);
    match attempt {
        None => body.end(),
        Some(attempt) => body
            .plain("attemptStatus", attempt.status.name())
            .maybe_text("failureCode", attempt.failure_code)
            .end(),
    }
}
