//! The calls that the page of a hosted checkout makes, with the session's client secret as their
//! only key (`docs/contract.md, 12.6`): bodies in, answers out.
//!
//! The page itself does not belong here (`src/checkout/`), nor do the rules for sessions
//! (`src/domain/resources/checkout/`).

pub mod bolivares;
pub mod sessions;

use crate::checkout::bolivares::Quote;
use crate::checkout::sessions::WAYS;
use crate::cop_payments::{below_minimum, buyer, buyer_for, channel};
use crate::crypto::{asset, network};
use crate::endpoint::{chapter, shown};
use crate::fields::Kind as _;
use crate::fields::{Fields, Invalid, body, read};
use crate::openapi::{schema, values};
use crate::problem::Problem;
use crate::products::links::quantity;
use crate::refusals::problem;
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
use domain::values::colombia::{Buyer, Channel};
use domain::values::ids::Id;
use domain::values::money::{Cop, Rate, Usd, Usdt, Ves};
use std::sync::Arc;

pub const CHAPTER: &str = "Checkout page";

chapter! { CHAPTER, "The calls of a buyer's page, for those who build their own. `Authorization: Bearer \
    <clientSecret>` opens one session and nothing else. One attempt at a time: a new one supersedes what \
    is pending. A body has at most 16 KiB.", {
        let banks = Catalogue::embedded();
        "CheckoutState" = state_schema();
        "CheckoutDebtor" = body(|fields| bolivares::read_request(fields, &banks));
        "CheckoutC2p" = body(|fields| bolivares::read_execution(fields, &banks));
        "CheckoutPagoMovil" = body(|fields| bolivares::read_transfer(fields, &banks));
        "CheckoutCard" = body(bolivares::read_card_call);
        "MadeCardToken" = bolivares::token_schema();
        "CheckoutCop" = body(|fields| read_pesos(fields, false));
        "CheckoutUsdt" = body(read_network);
        "CheckoutAddress" = address_schema();
        "LinkQuantity" = body(read_quantity);
    }
}

/// The rates and ways of payment that hold when a session is shown.
pub struct Market {
    pub bcv: Option<Arc<Sample>>,
    pub cop_rate: Option<Rate>,
    /// Whether there is a rail for C2P.
    pub has_c2p: bool,
    pub has_card: bool,
    pub has_transfers: bool,
    pub receiver: Option<Receiver>,
    pub has_cop: bool,
    pub has_usdt: bool,
    pub cop_enabled: bool,
    pub usdt_enabled: bool,
}

impl Market {
    pub fn bcv_rate(&self) -> Option<Rate> {
        self.bcv.as_ref().map(|sample| sample.price)
    }

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
    NoRate,
    TooLittle,
}

impl NoPesos {
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
    pub way: Way,
    /// The reason why the way cannot be used, if it cannot.
    pub reason: Option<&'static str>,
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
    Ok(read!(fields {
        required channel = "channel", channel();
        got buyer = buyer_for(&mut fields, buyer(), channel.peek().copied(), livemode);
    } => (channel, buyer)))
}

/// POST /checkout/:id/usdt
pub fn read_network(mut fields: Fields<'_>) -> Result<(Network, Asset), Invalid> {
    Ok(read!(fields {
        required network = "network", network();
        required asset = "asset", asset();
    } => (network, asset)))
}

shown! {
    /// The address at which a session is paid in USDT, as JSON.
    pub fn address(session: &Session, till: &Till, network: Network, asset: Asset, address: &str), address_schema, 512 {
        plain "address" = address, schema::text();
        plain "amountUsdt" = session.amount, values::ves().about("What is to come.");
        plain "receivedUsdt" = till.received, values::ves().about("What has come, to all addresses of the session.");
        plain "network" = network.name(), network().schema();
        plain "asset" = asset.name(), asset().schema();
        plain "expiresAt" = session.expires_at, values::instant();
    }
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
    Ok(read!(fields { optional quantity = "quantity", quantity(); } => quantity.unwrap_or(1)))
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

    pub fn in_pesos(payment: &'a CopPayment) -> Attempt<'a> {
        Attempt { status: payment.status, failure_code: payment.failure_code() }
    }
}

/// The facts of a session that a page has to know besides where it stands.
pub struct Besides {
    pub newest: Option<Id>,
    pub quote: Option<Quote>,
    pub pago_movil: Option<Vec<u8>>,
}

shown! {
    fn show_offer(offer: &Offer), offer_schema, 128 {
        plain "method" = offer.way.name(), schema::one_of(WAYS);
        boolean "enabled" = offer.reason.is_none(), schema::boolean();
        maybe plain "reason" = offer.reason, schema::text();
        maybe number "amountCop" = offer.cop, schema::integer().about("The total in pesos that a start now would fix.");
    }
}

shown! {
    /// The answer to GET /checkout/:id/state, with the outcome of an attempt if there is one.
    pub fn state(session: &Session, status: Status, received: Usdt, offers: &[Offer], besides: &Besides, attempt: Option<Attempt<'_>>), state_schema, 512 {
        plain "status" = page_status(status), schema::one_of(["open", "processing", "paid", "expired"]);
        plain "amountUsd" = session.amount, values::ves();
        list "methods" = offers.iter().map(show_offer), schema::list(offer_schema());
        maybe plain "paymentId" = status.payment(), values::uuid();
        plain "receivedUsdt" = received, values::ves().about("What has come to the session's addresses.");
        maybe plain "amountVes" = offers.iter().find_map(|offer| offer.ves),
            values::ves().about("The total in bolívares at the rate of now.");
        maybe plain "quote" = besides.quote.as_ref().map(Quote::text),
            schema::text().about("That total, for the calls that take it: `payCheckoutCard` charges no more, `payCheckoutPagoMovil` looks for it.");
        maybe json "pagoMovil" = besides.pago_movil.as_deref(),
            bolivares::receiver_schema().about("Where a Pago Móvil is sent to; null where none is offered.");
        maybe plain "newestAttempt" = besides.newest,
            values::uuid().about("The payment in bolívares or pesos that began last. Who lost the answer to a call sees by it whether the call arrived.");
        optional plain "attemptStatus" = attempt.map(|attempt| attempt.status.name()),
            schema::one_of(PaymentStatus::ALL.map(PaymentStatus::name)).about("With `failureCode`, of an attempt.");
        optional maybe text "failureCode" = attempt.map(|attempt| attempt.failure_code), schema::text();
    }
}
