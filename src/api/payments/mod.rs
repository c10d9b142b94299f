//! Payments: C2P request, execute and reverse; reading payments of every method
//! (`docs/contract.md, 5.4, 5.5, 5.10`).
//!
//! The forms of calls and answers belong here, for payments in bolívares of every method; the rules
//! are in `src/domain/resources/payments/`.

pub mod attempts;
pub mod card_tokens;
pub mod cards;
pub mod debits;
pub mod description;
pub mod list;
pub mod methods;
pub mod operations;
pub mod receipt;
pub mod show;
pub mod transfers;

pub use list::LIST;
pub use show::{reversal_type, show, show_entity};

use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Endpoint, Target, endpoint, run};
use crate::entities::OfKind;
use crate::fields::{Bad, Fields, Got, Invalid, Sound};
use crate::kind::{Kind, kind};
use crate::openapi::operation::summary;
use crate::openapi::{kinds, schema, values};
use crate::payments::card_tokens::Mark;
use crate::problem::Problem;
use crate::records::{Answered, Records, Stopped, Unread, first_known};
use crate::refusals::problem;
use crate::respond::Reply;
use crate::value::Value;
use crate::writer::Object;
use domain::index::Space;
use domain::record::Entity;
use domain::refusal::{PaymentRefusal, Refusal};
use domain::resources::banks::{Catalogue, Service, sends_otp};
use domain::resources::payments::charge::{Price, USD_MAX};
use domain::resources::payments::{self, Debtor, Means, Payment, Status, c2p};
use domain::values::bank::BankCode;
use domain::values::external_ref::ExternalRef;
use domain::values::identity::IdentityDocument;
use domain::values::ids::{EntityId, Id};
use domain::values::money::{Rate, Usd, Ves};
use domain::values::phone::MobilePhone;
use domain::values::token::Token;
use rust_decimal::Decimal;
use uuid::Uuid;

/// Characters of a description.
pub const DESCRIPTION_MAX: usize = 255;

/// The details that the request and the charge share.
struct Details {
    price: GotPrice,
    debtor: Got<IdentityDocument>,
    phone: Got<MobilePhone>,
    bank: Got<BankCode>,
    external_ref: Got<ExternalRef>,
}

fn details(fields: &mut Fields<'_>, banks: &Catalogue) -> Details {
    Details {
        price: price(fields),
        debtor: fields.required("debtorId", kinds::identity()),
        phone: fields.required("debtorCellPhone", kinds::phone()),
        bank: fields.required("debtorBankCode", c2p_bank(banks)),
        external_ref: fields.required("externalRef", kinds::external_ref()),
    }
}

impl Details {
    fn get(self, sound: &Sound) -> (Price, Debtor, ExternalRef) {
        let debtor =
            Debtor { bank: self.bank.get(sound), id: self.debtor.get(sound), phone: self.phone.get(sound) };
        (self.price.get(sound), debtor, self.external_ref.get(sound))
    }
}

/// The message about a bad price in dollars.
pub const PRICE_EXPECTED: &str = "must be from 0.01 to 100000 with at most 2 decimals";

/// A price: 0.01 to 100000 with at most two decimals, as a number.
pub fn usd_amount<'a>() -> impl Kind<'a, Usd> {
    kind(
        |value: Value<'a>| {
            Usd::exact(value.number()?).and_then(in_price_range).ok_or(Bad::from(PRICE_EXPECTED))
        },
        values::usd_price,
    )
}

/// The message about a price that is said twice, or not at all.
const ONE_PRICE: &str = "must be given as usdAmount or as vesAmount, one of the two";

/// The price of a payment in one of two currencies, as it is read.
struct GotPrice {
    usd: Got<Option<Usd>>,
    ves: Got<Option<Ves>>,
}

/// The price of a payment, in dollars or in bolívares.
fn price(fields: &mut Fields<'_>) -> GotPrice {
    let usd = usd_amount().about("US dollars, at most 2 decimals. Either this or `vesAmount`.");
    let ves = ves_amount().about(
        "Bolívares, at most 2 decimals: what the payer pays, to the cent. Either this or `usdAmount`, which \
         is then what it is at the BCV rate.",
    );
    let (usd, ves) = (fields.optional("usdAmount", usd), fields.optional("vesAmount", ves));
    let names = ["usdAmount", "vesAmount"];
    if fields.has(names[0]) == fields.has(names[1]) {
        // A null alone is the one that is wrong.
        let nulls = names.map(|name| fields.is_sent(name) && !fields.has(name));
        let is_one = nulls[0] != nulls[1];
        for (name, _) in names.into_iter().zip(nulls).filter(|(_, is_null)| !is_one || *is_null) {
            fields.bad(name, ONE_PRICE);
        }
    }
    GotPrice { usd, ves }
}

impl GotPrice {
    fn get(self, sound: &Sound) -> Price {
        match (self.usd.get(sound), self.ves.get(sound)) {
            (_, Some(amount)) => Price::Ves { amount, field: "vesAmount" },
            (usd, None) => Price::Usd(usd.unwrap_or_default()),
        }
    }
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

/// A bank that a payer may be charged at, by its number.
pub fn c2p_bank<'a>(banks: &Catalogue) -> impl Kind<'a, BankCode> {
    bank_number(banks, Service::C2p, "must be a bank that offers C2P; see GET /v1/banks")
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

/// POST /v1/payments/c2p/request
pub const REQUEST_C2P: Endpoint =
    endpoint(description::TAG, run!(request_c2p), || {
        summary("Request a C2P intent")
        .about("Fixes the price in bolívares at the BCV rate for 15 minutes, and has the payer's bank send a \
            code if it does so (`otpRequested`); otherwise the payer makes the key in the app of the bank. A \
            newer request under the same `externalRef` takes the place of the pending one.")
        .body("C2pRequest")
        .example("10 USD from a payer at \
            Banesco", concat!(
                    r#"{"usdAmount":10,"debtorId":"V12345678","debtorCellPhone":"04141234567","#,
                    r#""debtorBankCode":134,"externalRef":"order-1"}"#,
                ))
        .answers(200, "C2pPayment", "The payment that is at its bank or paid under this reference")
        .answers(201, "C2pIntent", "The intent")
        .refuses(409, &["external_ref_conflict", "payment_in_progress"])
        .refuses(503, &["rate_unavailable", "rail_not_configured", "rail_unavailable"])
    })
    .shows(intent);

async fn request_c2p(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (price, debtor, external_ref) = read_request(Fields::parse(&cx.body)?, cx.banks)?;
    let Some(rate) = cx.env.bcv_rate() else {
        // What no rail serves needs no price.
        let is_served = cx.env.serves(domain::rail::Service::C2p);
        return Err(problem(if is_served { &Refusal::RateUnavailable } else { &Refusal::RailNotConfigured }));
    };
    let figured = price.at(rate).map_err(|refusal| problem(&refusal))?;
    let id = cx.env.new_id();
    let name = external_ref.as_str().to_owned();
    let bank = debtor.bank;
    let mut new = c2p::NewIntent {
        id,
        external_ref,
        price,
        figured,
        debtor,
        bank_sends_otp: sends_otp(bank),
        is_known: false,
        checkout: None,
    };
    let known = cx.reserve(Space::Payment, &name).await?;
    new.is_known = known.is_some();
    if cx.caller.livemode() {
        cx.server.send_c2p_code(&mut new, known).await?;
    }
    let target = match known {
        Some(known) => Target::Entity(EntityId::payment(known)),
        None => Target::New(EntityId::payment(id)),
    };
    cx.server.ask(target, payments::Command::RequestC2p(Box::new(new)).into()).await
}

/// Reads the body of a request for an intent.
fn read_request(mut fields: Fields<'_>, banks: &Catalogue) -> Result<(Price, Debtor, ExternalRef), Invalid> {
    let details = details(&mut fields, banks);
    let sound = fields.finish()?;
    Ok(details.get(&sound))
}

/// POST /v1/payments/c2p
pub const EXECUTE_C2P: Endpoint = endpoint(description::TAG, run!(execute_c2p), || {
    summary("Charge a C2P intent")
        .about(
            "Repeats the details of the request and brings the payer's key. The bank is called once: what \
             it says is in `status` (`COMPLETED` or `FAILED` with `failureCode`). While the bank is silent \
             the answer is 202 and the payment `PENDING`; the server asks the bank until it knows, and never \
             charges twice.",
        )
        .body("C2pCharge")
        .example(
            "the key that the payer \
             typed",
            concat!(
                r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","usdAmount":10,"#,
                r#""debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,"#,
                r#""token":"12345678","externalRef":"order-1"}"#,
            ),
        )
        .example(
            "a marketplace \
             sale",
            concat!(
                r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","usdAmount":10,"#,
                r#""debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,"#,
                r#""token":"12345678","externalRef":"order-1","#,
                r#""merchantId":"01975a2e-7c00-7000-8000-0000000000aa","applicationFeePercent":12.5}"#,
            ),
        )
        .answers(200, "Payment", "The payment, completed or failed")
        .answers(202, "Payment", "The bank has not answered yet")
        .refuses(404, &["not_found"])
        .refuses(
            409,
            &[
                "intent_mismatch",
                "intent_canceled",
                "intent_failed",
                "intent_completed",
                "charge_in_progress",
                "merchant_inactive",
            ],
        )
        .refuses(503, &["rail_not_configured", "rail_unavailable"])
})
.shows(settled);

async fn execute_c2p(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (intent, execute) =
        read_execution(Fields::parse(&cx.body)?, cx.banks, &|parts: &[&[u8]]| cx.env.mark(parts))?;
    cx.ask(EntityId::payment(intent), payments::Command::ExecuteC2p(Box::new(execute))).await
}

/// Reads the body of a charge: the intent, and what is done to it.
fn read_execution(
    mut fields: Fields<'_>,
    banks: &Catalogue,
    mark: Mark<'_>,
) -> Result<(Id, c2p::Execute), Invalid> {
    let intent = fields.required("intentId", kinds::uuid());
    let details = details(&mut fields, banks);
    let key = c2p_token().about("The payer's key, 6 to 8 digits, as a string.");
    let token = fields.required("token", key);
    let marketplace = marketplace(&mut fields);
    let sound = fields.finish()?;
    let intent = Id::from(intent.get(&sound));
    let token = token.get(&sound);
    let token_mark = mark(&[b"c2p token", intent.as_bytes(), token.reveal().as_bytes()]);
    let (price, debtor, external_ref) = details.get(&sound);
    let marketplace = marketplace.get(&sound);
    Ok((intent, c2p::Execute { external_ref, price, debtor, token, token_mark, marketplace }))
}

/// The payer's key.
pub(crate) fn c2p_token<'a>() -> impl Kind<'a, Token> {
    kind(|value: Value<'a>| value.text_as(Token::parse_c2p), || schema::text().pattern("^[0-9]{6,8}$"))
}

/// The seller and the commission of a marketplace sale, as they are read.
pub struct GotMarketplace {
    merchant: Got<Option<Uuid>>,
    percent: Got<Option<Rate>>,
}

impl GotMarketplace {
    /// The seller and what the tenant keeps, in percent.
    pub fn get(self, sound: &Sound) -> Option<(Id, Rate)> {
        let percent = self.percent.get(sound).unwrap_or(Rate(Decimal::ZERO));
        self.merchant.get(sound).map(|merchant| (Id::from(merchant), percent))
    }
}

/// The seller of a marketplace sale, and the tenant's commission.
fn marketplace(fields: &mut Fields<'_>) -> GotMarketplace {
    let merchant = kinds::uuid().about("The seller of a marketplace sale.");
    let percent = commission_percent()
        .about("What you keep of the sale, in percent, at most 4 decimals; needs `merchantId`.");
    marketplace_of(fields, merchant, percent)
}

/// The seller and the commission, each of a kind that a body describes in its own words.
pub fn marketplace_of<'a>(
    fields: &mut Fields<'a>,
    merchant: impl Kind<'a, Uuid>,
    percent: impl Kind<'a, Rate>,
) -> GotMarketplace {
    let merchant = fields.optional("merchantId", merchant);
    let percent = fields.optional("applicationFeePercent", percent);
    if percent.peek_some().is_some() && merchant.peek().is_some_and(Option::is_none) {
        fields.bad("applicationFeePercent", "needs a merchantId");
    }
    GotMarketplace { merchant, percent }
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

/// POST /v1/payments/:id/reverse
pub const REVERSE: Endpoint = endpoint(description::TAG, run!(reverse), || {
    summary("Reverse a C2P payment")
        .about(
            "Within 24 hours of completion. The fee comes back. The money is taken from the hold of this \
             sale, then from what is available; of a marketplace sale the seller's part from the seller.",
        )
        .answers(200, "Payment", "The payment, reversed")
        .answers(202, "Payment", "The bank is deciding; the payment stays `COMPLETED` until it has")
        .refuses(
            409,
            &[
                "not_reversible",
                "payment_not_completed",
                "reversal_window_expired",
                "reversal_in_progress",
                "reversal_refused",
            ],
        )
        .refuses(422, &["insufficient_balance"])
        .refuses(503, &["rail_not_configured", "rail_unavailable"])
})
.shows(reversed);

async fn reverse(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    Fields::parse_optional(&cx.body)?.finish()?;
    let id = cx.find(|records| of_name(records, id))?;
    cx.ask(id, payments::Command::Reverse).await
}

/// GET /v1/payments/:id
pub const READ: Endpoint = endpoint(description::TAG, run!(read), || {
    summary("Read a payment").answers(200, "Payment", "The payment")
});

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.read(move |records| read_any(records, of_name(records, id)?))
}

/// GET /v1/payments/by-ref/:externalRef
pub const READ_BY_REF: Endpoint = endpoint(description::TAG, run!(read_by_ref), || {
    summary("Read the newest payment under a reference").answers(200, "Payment", "The newest attempt")
});

async fn read_by_ref(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let name = ExternalRef::parse(cx.path("externalRef")).map_err(|_| Problem::not_found())?;
    cx.read(|records| {
        let newest = attempts::newest(records, name.as_str())?.ok_or_else(Problem::not_found)?;
        read_any(records, EntityId::payment(newest))
    })
}

/// GET /v1/payments/operations/:id
pub const OPERATION: Endpoint = endpoint(description::TAG, run!(operation), || {
    summary("Read an operation with a bank")
        .about(
            "What became of a call to a bank: the `operationId` of a payment, a payout or a debit code \
             leads here.",
        )
        .answers(200, "Operation", "The operation")
});

async fn operation(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.read(|records| {
        let (whose, n) = id.entity_and_operation();
        for whose in [
            EntityId::payment(whose),
            EntityId::payout(whose),
            EntityId::otp(whose),
            EntityId::cop_payment(whose),
        ] {
            if let Some(found) = records.entity(whose)?
                && let Some(body) = operations::show(id, n, &found)
            {
                return Ok(body);
            }
        }
        Err(Problem::not_found().into())
    })
}

/// The payment of this name, in whatever it was collected.
pub fn find(records: &dyn Records, id: Id) -> Result<Option<EntityId>, Stopped> {
    first_known(records, [EntityId::payment(id), EntityId::cop_payment(id)])
}

/// The payment of this id, or the problem that there is none.
pub fn of_name(records: &dyn Records, id: Id) -> Result<EntityId, Unread> {
    Ok(find(records, id)?.ok_or_else(Problem::not_found)?)
}

fn read_any(records: &dyn Records, id: EntityId) -> Answered {
    let payment = records.entity(id)?.ok_or_else(Problem::not_found)?;
    Ok(shown(&payment)?)
}

/// A payment that was found under its id, for an answer.
fn shown(payment: &Entity) -> Result<Vec<u8>, Problem> {
    show_entity(payment)
        .ok_or_else(|| Problem::internal_error("a defect: a payment is stored as something else"))
}

/// The answer to a request for an intent, or to one for what is at its bank or paid already; `None` of a
/// record without an intent.
pub fn intent(facts: &Facts<'_>) -> Option<Rendered> {
    let Some(record) = facts.record else {
        let known = Payment::of(facts.entity?)?;
        let body = Object::reopened(show(known))
            .plain("intentId", known.id)
            .boolean("otpRequested", known.means.otp_requested());
        return Some((200, body.end()));
    };
    // The intent is the first entity of its record, also when it took the place of the one that was
    // asked.
    let payment = Payment::of(&record.entities.first()?.state)?;
    let otp_requested = matches!(payment.means, Means::C2p { otp_requested: true, .. });
    let body = Object::new()
        .plain("intentId", payment.id)
        .boolean("otpRequested", otp_requested)
        .plain("status", payment.status.name())
        .number("usdAmount", payment.usd)
        .number("vesAmount", payment.ves)
        .number("bcvRate", payment.bcv_rate.0.normalize())
        .maybe_plain("expiresAt", payment.expires_at)
        .text("externalRef", &*payment.external_ref)
        .boolean("livemode", payment.livemode)
        .end();
    Some((201, body))
}

/// The answer to a charge: 202 while the bank is silent.
pub fn settled(facts: &Facts<'_>) -> Option<Rendered> {
    let payment: &Payment = facts.the()?;
    let status = if payment.phase.is_deciding() { 202 } else { 200 };
    Some((status, show(payment)))
}

/// The answer to a reversal; a refusal of a payment that is neither reversed nor about to be, as the bank
/// said no, or an operator for it while the request waited.
fn reversed(facts: &Facts<'_>) -> Option<Rendered> {
    let payment: &Payment = facts.the()?;
    if payment.status == Status::Reversed || payment.phase.is_deciding() {
        settled(facts)
    } else {
        Some(facts.refused(&PaymentRefusal::ReversalRefused.into()))
    }
}

/// The answer to a charge without an intent, or to a repeat of one (`docs/contract.md, 1.10`).
fn charged(facts: &Facts<'_>) -> Option<Rendered> {
    let payment: &Payment = facts.the()?;
    let status = match (facts.is_new(), payment.phase.is_deciding()) {
        (false, _) => 200,
        (true, false) => 201,
        (true, true) => 202,
    };
    Some((status, show(payment)))
}
