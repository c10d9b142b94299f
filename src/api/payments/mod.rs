//! Payments: what the endpoints of several methods share.
//!
//! The forms of calls and answers belong here, for payments in bolívares of every method; the rules
//! are in `src/domain/resources/payments/`.

pub mod attempts;
pub mod c2p;
pub mod card_tokens;
pub mod cards;
pub mod debits;
pub mod list;
pub mod methods;
pub mod operations;
pub mod receipt;
pub mod show;
pub mod transfers;

pub use show::{find, of_name, show, show_entity};

use crate::answer::{Facts, Rendered};
use crate::endpoint::chapter;
use crate::fields::{Fields, Got, Kind, body, gather, kind};
use crate::openapi::{kinds, schema, values};
use crate::value::{Bad, Value};
use domain::entities::means::Debtor;
use domain::entities::payment::Payment;
use domain::resources::banks::{Catalogue, Service};
use domain::resources::payments::charge::{Price, USD_MAX};
use domain::values::ids::Id;
use domain::values::money::{Rate, Usd, Ves};
use domain::values::venezuela::BankCode;
use rust_decimal::Decimal;

pub(crate) static CREATES: [&str; 3] = ["external_ref_conflict", "payment_in_progress", "merchant_inactive"];

/// What is answered to a call that makes no attempt.
pub(super) const REPEATED: &str = "The newest payment under this reference, of which the call is a repeat";

pub const DESCRIPTION_MAX: usize = 255;

pub const PRICE_EXPECTED: &str = "must be from 0.01 to 100000 with at most 2 decimals";

chapter! { show::CHAPTER, "Collecting from a payer in Venezuela: C2P (a one-time code of the payer's bank), \
    card, immediate debit, and transfers that the payer made by Pago Móvil. What is collected is held for \
    24 hours, then available.", {
        let banks = Catalogue::embedded();
        let id = Id::from_bytes([0; 16]);
        "C2pRequest" = body(|fields| c2p::read_request(fields, &banks));
        "C2pCharge" = body(|fields| c2p::read_execution(fields, &banks, &|_| [0; 16]));
        "C2pIntent" = c2p::intent_schema()
            .example(r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","otpRequested":false,
                "status":"PENDING","usdAmount":10.00,"vesAmount":2100.00,"bcvRate":210,
                "expiresAt":"2026-11-21T02:28:00.000Z","externalRef":"order-1","livemode":false}"#);
        "C2pPayment" = c2p_payment();
        "CardCharge" = body(|fields| cards::read_charge(fields, &|_| None));
        "Card" = body(cards::read_card);
        "CardToken" = body(|fields| cards::read_token(fields, &|_| None));
        "DebitOtpRequest" = body(|fields| debits::read_request(fields, &banks));
        "DebitOtp" = debits::otp_schema()
            .example(r#"{"requested":true,"operationId":"01975a2e-7c00-7000-8000-000000000001",
                "expiresAt":"2026-11-21T02:18:00.000Z","failureCode":null,"livemode":false}"#);
        "DebitCharge" = body(|fields| debits::read_charge(fields, &banks, id, &|_| [0; 16]));
        "PagoMovilAccount" = transfers::account_schema()
            .example(r#"{"bankCode":"0134","phone":"04141234567","identification":"J123456789"}"#);
        "PagoMovilVerification" = body(|fields| transfers::read(fields, &banks));
        "Payment" = payment();
        "PaymentChargeback" = show::chargeback_schema();
        "PaymentPage" = page("Payment");
        "Operation" = operations::schema()
            .example(r#"{"operationId":"01975a2e-7c00-7000-8000-000000000001","kind":"charge",
                "status":"completed","code":null,"reference":"903144721","contradicted":false,
                "paymentId":"01975a2e-7c00-7000-8000-000000000000","payoutId":null,
                "createdAt":"2026-11-21T02:13:00.000Z","updatedAt":"2026-11-21T02:13:04.120Z"}"#);
        "CollectionMethod" = methods::schema()
            .example(r#"{"method":"C2P","enabled":true,"currency":"VES","reason":null}"#);
        "CollectionMethodList" = items("CollectionMethod");
    }
}

/// A price: 0.01 to 100000 with at most two decimals, as a number.
pub fn usd_amount<'a>() -> impl Kind<'a, Usd> {
    kind(
        |value: Value<'a>| {
            Usd::exact(value.number()?).and_then(in_price_range).ok_or(Bad::from(PRICE_EXPECTED))
        },
        values::usd_price,
    )
}

/// The price of a payment, in dollars or in bolívares.
fn price(fields: &mut Fields<'_>) -> Got<Price> {
    gather!(fields {
        optional usd = "usdAmount", usd_amount().about("US dollars, at most 2 decimals. Either this or `vesAmount`.");
        optional ves = "vesAmount", ves_amount().about(
            "Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this or `usdAmount`, which \
             is then what it is at the BCV rate.",
        );
    } check {
        let names = ["usdAmount", "vesAmount"];
        if fields.has(names[0]) == fields.has(names[1]) {
            // A null alone is the one that is wrong.
            let nulls = names.map(|name| fields.is_sent(name) && !fields.has(name));
            let is_one = nulls[0] != nulls[1];
            for (name, _) in names.into_iter().zip(nulls).filter(|(_, is_null)| !is_one || *is_null) {
                fields.bad(name, "must be given as usdAmount or as vesAmount, one of the two");
            }
        }
    } => match ves {
        Some(amount) => Price::Ves { amount, field: "vesAmount" },
        None => Price::Usd(usd.unwrap_or_default()),
    })
}

/// An amount in bolívares: more than nothing, with at most two decimals, as a number.
fn ves_amount<'a>() -> impl Kind<'a, Ves> {
    let read = |value: Value<'a>| {
        let amount = Ves::exact(value.number()?).filter(|amount| *amount > Ves::ZERO);
        amount
            .ok_or_else(|| Bad::from("must be a number from 0.01 to 999999999999.99 with at most 2 decimals"))
    };
    kind(read, || schema::number().range("0.01", "999999999999.99").about("Bolívares, at most 2 decimals."))
}

/// The amount if it can be a price.
pub fn in_price_range(usd: Usd) -> Option<Usd> {
    (usd > Usd::ZERO && usd <= USD_MAX).then_some(usd)
}

/// A bank code of four digits whose bank offers `service`.
pub fn offering<'a>(banks: &Catalogue, service: Service, otherwise: &'static str) -> impl Kind<'a, BankCode> {
    let read = move |value: Value<'a>| {
        let bank = value.text_as(BankCode::parse)?;
        if banks.offers(bank, service) { Ok(bank) } else { Err(Bad::from(otherwise)) }
    };
    kind(read, values::bank_code)
}

/// A bank that offers `service`, by its number or by its code of four digits.
pub fn bank_number<'a>(
    banks: &Catalogue,
    service: Service,
    otherwise: &'static str,
) -> impl Kind<'a, BankCode> {
    let read = move |value: Value<'a>| {
        let bank = match value.string() {
            Ok(code) => BankCode::parse(&code),
            Err(_) => BankCode::from_number(value.integer(1..=9999)?),
        };
        let bank = bank.map_err(Bad::from)?;
        if banks.offers(bank, service) { Ok(bank) } else { Err(Bad::from(otherwise)) }
    };
    kind(read, || schema::any_of([values::bank_number(), values::bank_code()]))
}

/// The seller of a marketplace sale, and the tenant's commission.
fn marketplace(fields: &mut Fields<'_>) -> Got<Option<(Id, Rate)>> {
    let merchant = kinds::id().about("The seller of a marketplace sale.");
    let percent = commission_percent()
        .about("What you keep of the sale, in percent, at most 4 decimals; needs `merchantId`.");
    marketplace_of(fields, merchant, percent)
}

/// The seller and the commission, each of a kind that a body describes in its own words.
pub fn marketplace_of<'a>(
    fields: &mut Fields<'a>,
    merchant: impl Kind<'a, Id>,
    percent: impl Kind<'a, Rate>,
) -> Got<Option<(Id, Rate)>> {
    gather!(fields {
        optional merchant = "merchantId", merchant;
        optional percent = "applicationFeePercent", percent;
    } check {
        if percent.peek_some().is_some() && merchant.peek().is_some_and(Option::is_none) {
            fields.bad("applicationFeePercent", "needs a merchantId");
        }
    } => merchant.map(|merchant| (merchant, percent.unwrap_or(Rate(Decimal::ZERO)))))
}

/// A payer at a bank of this kind.
pub(crate) fn debtor_at<'a>(fields: &mut Fields<'a>, bank: impl Kind<'a, BankCode>) -> Got<Debtor> {
    gather!(fields {
        required id = "debtorId", kinds::identity();
        required phone = "debtorCellPhone", kinds::phone();
        required bank = "debtorBankCode", bank;
    } => Debtor { bank, id, phone })
}

/// The tenant's commission on a marketplace sale: 0 to 100 percent, up to four decimals.
pub fn commission_percent<'a>() -> impl Kind<'a, Rate> {
    let read = |value: Value<'a>| {
        let percent = value.number()?.normalize();
        let fits = percent >= Decimal::ZERO && percent <= Decimal::ONE_HUNDRED && percent.scale() <= 4;
        if fits { Ok(Rate(percent)) } else { Err(Bad::from("must be from 0 to 100 with at most 4 decimals")) }
    };
    kind(read, || schema::number().range("0", "100"))
}

/// The answer to a charge: 202 while the bank is silent.
pub fn settled(facts: &Facts<'_>) -> Option<Rendered> {
    let payment: &Payment = facts.the()?;
    let status = if payment.phase.is_deciding() { 202 } else { 200 };
    Some((status, show(payment)))
}

/// The answer to a charge without an intent, or to a repeat of one (`docs/contract.md, 1.10`).
fn charged(facts: &Facts<'_>) -> Option<Rendered> {
    let payment: &Payment = facts.the()?;
    let status = match (facts.record.is_some(), payment.phase.is_deciding()) {
        (false, _) => 200,
        (true, false) => 201,
        (true, true) => 202,
    };
    Some((status, show(payment)))
}

const PAYMENT: &str = r#"{"id":"01975a2e-7c00-7000-8000-000000000000",
    "paymentId":"01975a2e-7c00-7000-8000-000000000000","object":"payment",
    "externalRef":"order-1","attempt":1,"status":"COMPLETED","method":"C2P","failureCode":null,
    "cancelReason":null,"usdAmount":10.00,"vesAmount":2100.00,"bcvRate":210,"feeVes":31.50,
    "netVes":2068.50,"merchantId":null,"applicationFeePercent":null,"applicationFeeVes":null,
    "sellerNetVes":null,"debtorBankCode":"0134","debtorId":"V***678",
    "debtorCellPhone":"0414***4567","cardLast4":null,"cardBrand":null,
    "bankReference":"903144721","operationId":null,"description":null,"checkoutSessionId":null,
    "reference":null,"checkoutSession":null,"reversedAt":null,"reversalRef":null,
    "reversalType":null,"chargebacks":[],"livemode":false,
    "createdAt":"2026-11-21T02:13:00.000Z","expiresAt":"2026-11-21T02:28:00.000Z",
    "completedAt":"2026-11-21T02:13:04.120Z","availableAt":"2026-11-22T02:13:04.120Z"}"#;

/// A payment of any kind.
pub fn payment() -> schema::Schema {
    payment_members().example(PAYMENT)
}

/// A payment by C2P, with the members by which whoever asked for an intent goes on.
fn c2p_payment() -> schema::Schema {
    let example = PAYMENT.replacen(
        '{',
        r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","otpRequested":false,"#,
        1,
    );
    payment_members()
        .member("intentId", values::uuid().about("Equal to `id`."))
        .member("otpRequested", schema::boolean())
        .example(&example)
}

fn payment_members() -> schema::Schema {
    show::schema()
        .optional("channel", schema::text())
        .optional("amountCop", schema::integer())
        .optional("feeCop", schema::integer().or_null())
        .optional("netCop", schema::integer().or_null())
        .optional("applicationFeeCop", schema::integer().or_null())
        .optional("sellerNetCop", schema::integer().or_null())
        .optional("metadata", schema::object().or_null())
        .optional(
            "amountUsd",
            values::ves().about("With `copRate`, of what was paid through a checkout session."),
        )
        .optional("copRate", schema::text().or_null())
        .optional("copMarketRate", schema::text().or_null())
}
