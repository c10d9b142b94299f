//! What the page of a hosted checkout calls, with the session's client secret as its only key (`contract.md`, section 18, "Checkout"): bodies in, answers out. The page itself is
//! `checkout/`.

use crate::api::fields::{Bad, Fields, Got, Sound};
use crate::api::payments::c2p_bank;
use crate::api::problem::Problem;
use crate::api::value::Value;
use crate::api::writer::Object;
use crate::domain::banks::Catalogue;
use crate::domain::checkout::{Session, Status, Way};
use crate::domain::ids::Id;
use crate::domain::money::{Cop, Rate, Ves};
use crate::domain::payments::Debtor;
use crate::domain::payments::charge::{Price, USD_MAX};
use crate::domain::payments::{Payment, Status as PaymentStatus};
use crate::domain::products::{Link, Product};
use crate::domain::{identity::IdentityDocument, money::Usd, phone::MobilePhone, token::Token};

/// What is known of the world when a session is shown.
pub struct Market {
    /// Bolívares a dollar.
    pub bcv_rate: Option<Rate>,
    /// Whether there is a bank to call.
    pub has_rail: bool,
}

/// A way to pay, as it can be offered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Which.
    pub way: Way,
    /// Why not, if it cannot be used.
    pub reason: Option<&'static str>,
    /// The total in bolívares, at the rate in force.
    pub ves: Option<Ves>,
    /// The total in pesos, at the rate in force.
    pub cop: Option<Cop>,
}

/// The ways to pay so much that are shown.
pub fn offers(amount: Usd, includes: impl Fn(Way) -> bool, market: &Market, banks: &Catalogue) -> Vec<Offer> {
    let mut offers = Vec::new();
    if includes(Way::C2p) {
        let has_bank = banks.shown().any(|bank| banks.offers(bank.code, crate::domain::banks::Service::C2p));
        let ves = market.bcv_rate.and_then(|rate| Price::Usd(amount).at(rate).ok()).map(|figured| figured.ves);
        let reason = match (market.has_rail, has_bank, ves) {
            (false, _, _) => Some("rail_not_configured"),
            (true, false, _) => Some("no_bank_offers_it"),
            (true, true, None) => Some("rate_unavailable"),
            (true, true, Some(_)) => None,
        };
        offers.push(Offer { way: Way::C2p, reason, ves, cop: None });
    }
    offers
}

/// The payer, as the page sends them.
pub struct GotDebtor {
    id: Got<IdentityDocument>,
    phone: Got<MobilePhone>,
    bank: Got<crate::domain::banks::BankCode>,
}

impl GotDebtor {
    /// The payer.
    pub fn get(self, sound: &Sound) -> Debtor {
        Debtor { bank: self.bank.get(sound), id: self.id.get(sound), phone: self.phone.get(sound) }
    }
}

fn debtor<'a>(fields: &mut Fields<'a>, banks: &'a Catalogue) -> GotDebtor {
    GotDebtor {
        id: fields.required("debtorId", |value| value.text_as(IdentityDocument::parse)),
        phone: fields.required("debtorCellPhone", |value| value.text_as(MobilePhone::parse)),
        bank: fields.required("debtorBankCode", |value| c2p_bank(value, banks)),
    }
}

/// POST /checkout/:id/c2p/request
pub fn read_request(body: &[u8], banks: &Catalogue) -> Result<Debtor, Problem> {
    let mut fields = Fields::parse(body)?;
    let debtor = debtor(&mut fields, banks);
    let sound = fields.finish()?;
    Ok(debtor.get(&sound))
}

/// POST /checkout/:id/c2p
pub fn read_execution(body: &[u8], banks: &Catalogue) -> Result<(Id, Debtor, Token), Problem> {
    let mut fields = Fields::parse(body)?;
    let intent = fields.required("intentId", Value::uuid);
    let debtor = debtor(&mut fields, banks);
    let token = fields.required("token", |value| value.text_as(Token::parse_c2p));
    let sound = fields.finish()?;
    Ok((Id::from(intent.get(&sound)), debtor.get(&sound), token.get(&sound)))
}

/// How many of a link's product are bought, and what that costs.
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
pub fn read_quantity(body: &[u8]) -> Result<u16, Problem> {
    let mut fields = Fields::parse_optional(body)?;
    let quantity = fields.optional("quantity", |value| {
        let quantity = value.integer(1..=i64::from(crate::domain::products::QUANTITY_MAX))?;
        u16::try_from(quantity).map_err(|_| Bad::from("is too large"))
    });
    let sound = fields.finish()?;
    Ok(quantity.get(&sound).unwrap_or(1))
}

/// The word for where a session stands, as its page says it.
pub const fn page_status(status: Status) -> &'static str {
    match status {
        Status::Processing => "processing",
        Status::Open | Status::Paid(_) | Status::Expired => status.name(),
    }
}

/// GET /checkout/:id/state; after a charge with how that ended.
pub fn state(session: &Session, status: Status, offers: &[Offer], charged: Option<&Payment>) -> Vec<u8> {
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
        .plain("receivedUsdt", "0.00");
    match charged {
        None => body.end(),
        Some(payment) => {
            let failed = matches!(payment.status, PaymentStatus::Failed);
            body.maybe_text("failureCode", payment.failure_code.as_deref().filter(|_| failed)).end()
        }
    }
}
