//! `pasarela trigger`: makes an event happen in test mode, through the public API as a tenant
//! would.

use super::client::{Api, Caller};
use super::{Failure, runtime};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use domain::entities::webhook::EVENT_NAMES;
use domain::values::time::{Timestamp, Zone};
use serde_json::{Value, json};

const ALL: &str = "all";
/// `pasarela admin tenant live-status` makes it, so it is not among those listed.
const OF_OPERATORS: &str = "tenant.live_status_changed";
/// The event that takes away all that the others made, so it is not among `all` of them.
const RESET: &str = "test.reset";

/// The first way is what happens unless another is asked for.
const WAYS: [(&str, &[&str]); 5] = [
    ("payment.completed", &["c2p", "card", "debit", "pago-movil", "cop", "link"]),
    ("payment.failed", &["c2p", "card", "cop"]),
    ("payment.canceled", &["c2p", "cop"]),
    ("payment.reversed", &["c2p", "cop", "chargeback"]),
    ("payment.chargeback_closed", &["won", "lost"]),
];

/// Make an event happen in test mode
///
/// Prints each event that happened: its number, name and id.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pasarela trigger payment.completed --key pk_test_demo
  pasarela trigger payment.completed --by link
  pasarela trigger payment.reversed --by cop
  pasarela trigger all
  pasarela trigger --list")]
pub struct Trigger {
    /// The event, or `all`
    #[arg(value_name = "EVENT", required_unless_present = "list", value_parser = events())]
    event: Option<String>,
    /// The cause of the event; --list shows the causes of each
    #[arg(long, value_name = "WAY", requires = "event")]
    by: Option<String>,
    /// Print the events and the causes of each
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    api: Api,
}

fn events() -> PossibleValuesParser {
    let names = EVENT_NAMES.map(|event| PossibleValue::new(event).hide(event == OF_OPERATORS));
    PossibleValuesParser::new(names.into_iter().chain([PossibleValue::new(ALL)]))
}

/// Empty if there is one alone.
fn ways(event: &str) -> &'static [&'static str] {
    WAYS.iter().find(|(known, _)| *known == event).map_or(&[], |(_, ways)| ways)
}

impl Trigger {
    pub fn run(self) -> Result<(), Failure> {
        let Some(event) = self.event.filter(|_| !self.list) else {
            return super::print(listed().as_bytes());
        };
        let asked = asked(&event, self.by.as_deref())?;
        runtime()?.block_on(async {
            let caller = self.api.caller()?;
            for (event, way) in asked {
                make(&caller, event, way).await?;
            }
            Ok(())
        })
    }
}

fn asked<'a>(event: &'a str, by: Option<&'a str>) -> Result<Vec<(&'a str, &'a str)>, Failure> {
    if event == ALL {
        if by.is_some() {
            return Err(Failure::Other("--by goes with one event".to_owned()));
        }
        let made = EVENT_NAMES.into_iter().filter(|event| ![OF_OPERATORS, RESET].contains(event));
        return Ok(made.map(|event| (event, ways(event).first().copied().unwrap_or_default())).collect());
    }
    let ways = ways(event);
    match by {
        None => Ok(vec![(event, ways.first().copied().unwrap_or_default())]),
        Some(way) if ways.contains(&way) => Ok(vec![(event, way)]),
        Some(_) if ways.is_empty() => {
            Err(Failure::Other(format!("{event} comes in one way: leave --by out")))
        }
        Some(way) => Err(Failure::Other(format!("{event} does not come by {way}; by {}", ways.join(", ")))),
    }
}

async fn make(caller: &Caller, event: &str, way: &str) -> Result<(), Failure> {
    let before = caller.newest_event().await?;
    cause(caller, event, way).await?;
    let happened = caller.events_after(before).await?;
    for event in &happened {
        println!("{} {} {}", event.sequence, event.event, event.id);
    }
    if happened.iter().any(|made| made.event == event) {
        Ok(())
    } else {
        Err(Failure::Other(format!("{event} did not happen")))
    }
}

fn listed() -> String {
    let mut lines = String::new();
    for event in EVENT_NAMES {
        let line = match (event, ways(event)) {
            (OF_OPERATORS, _) => format!("{event:<28} by operators: pasarela admin tenant live-status\n"),
            (RESET, _) => format!("{event:<28} by itself alone: all test data begins anew\n"),
            (_, []) => format!("{event}\n"),
            (_, ways) => format!("{event:<28} --by {}\n", ways.join(" | ")),
        };
        lines.push_str(&line);
    }
    lines
}

/// The simulated bank takes this one, and not the next.
const RIGHT_CODE: &str = "12345678";
const NO_FUNDS: &str = "99999999";
/// The simulated processor approves this one, and declines the next.
const CARD: &str = "4111111111111111";
const DECLINED_CARD: &str = "4000000000000002";
/// Enough test money, whatever chargebacks and earlier events took.
const FUNDS: &str = "1000000000.00";
/// The simulated network takes this one, and refuses the next.
const WALLET: &str = "0x1111111111111111111111111111111111111111";
const REFUSED_WALLET: &str = "0x1111111111111111111111111111111111111110";

pub async fn cause(caller: &Caller, event: &str, way: &str) -> Result<Value, Failure> {
    match (event, way) {
        ("payment.completed", "card") => charge_card(caller, CARD, json!({})).await,
        ("payment.completed", "debit") => debit(caller).await,
        ("payment.completed", "pago-movil") => verify_transfer(caller).await,
        ("payment.completed", "cop") => pesos(caller, "pay").await,
        ("payment.completed", "link") => buy(caller).await,
        ("payment.completed", _) => collect(caller, RIGHT_CODE).await,
        ("payment.failed", "card") => charge_card(caller, DECLINED_CARD, json!({})).await,
        ("payment.failed", "cop") => pesos(caller, "decline").await,
        ("payment.failed", _) => collect(caller, NO_FUNDS).await,
        ("payment.canceled", "cop") => {
            let payment = collect_pesos(caller).await?;
            act(caller, "/v1/cop/payments", &payment, "id", "cancel", json!({})).await
        }
        ("payment.canceled", _) => {
            let request = intent();
            caller.post("/v1/payments/c2p/request", &request).await?;
            caller.post("/v1/payments/c2p/request", &request).await
        }
        ("payment.reversed", "cop") => {
            let payment = pesos(caller, "pay").await?;
            act(caller, "/v1/cop/payments", &payment, "id", "refund", json!({})).await
        }
        ("payment.reversed", "chargeback") | ("payment.chargeback", _) => chargeback(caller).await,
        ("payment.reversed", _) => {
            let payment = collect(caller, RIGHT_CODE).await?;
            act(caller, "/v1/payments", &payment, "paymentId", "reverse", json!({})).await
        }
        ("payment.chargeback_closed", outcome) => {
            let chargeback = chargeback(caller).await?;
            let closed = json!({ "outcome": outcome });
            act(caller, "/v1/test/chargebacks", &chargeback, "chargebackId", "close", closed).await
        }
        ("payout.completed", _) => pay(caller, "1.00").await,
        ("payout.failed", _) => pay(caller, "1.04").await,
        (other, _) => others(caller, other).await,
    }
}

async fn others(caller: &Caller, event: &str) -> Result<Value, Failure> {
    match event {
        "merchant.verified" => merchant(caller).await,
        "merchant.rejected" => {
            let merchant = register(caller, "04140000001").await?;
            caller.post(&format!("{}/verify/start", method_path(&merchant)?), &json!({})).await
        }
        "merchant.deactivated" => set_active(caller, &register(caller, "04147654321").await?, false).await,
        "merchant.reactivated" => {
            let merchant = register(caller, "04147654321").await?;
            set_active(caller, &merchant, false).await?;
            set_active(caller, &merchant, true).await
        }
        "merchant.balance.updated" => {
            let merchant = merchant(caller).await?;
            let sold = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
            charge_card(caller, CARD, sold).await
        }
        "conversion.created" | "conversion.completed" => convert(caller, "trigger", false).await,
        "conversion.canceled" => convert(caller, "test_pending", true).await,
        "crypto_payout.completed" => send_usdt(caller, WALLET).await,
        "crypto_payout.failed" => send_usdt(caller, REFUSED_WALLET).await,
        "crypto_deposit.completed" => {
            let address = json!({ "customerRef": fresh(), "network": "TRC20", "asset": "USDT" });
            let address = caller.post("/v1/crypto/deposit-addresses", &address).await?;
            let deposit = json!({ "address": address["address"], "amount": "10.00", "network": "TRC20", "asset": "USDT" });
            caller.post("/v1/test/crypto/deposits", &deposit).await
        }
        RESET => caller.post("/v1/test/reset", &json!({})).await,
        OF_OPERATORS => Err(Failure::Other(
            "this event is the operator's to make: pasarela admin tenant live-status TENANT STATUS"
                .to_owned(),
        )),
        other => Err(Failure::Other(format!("there is no way to make {other} happen"))),
    }
}

fn fresh() -> String {
    format!("trigger-{}", uuid::Uuid::now_v7().simple())
}

fn text<'a>(value: &'a Value, member: &str) -> Result<&'a str, Failure> {
    value[member].as_str().ok_or_else(|| Failure::Other(format!("the answer has no {member}: {value}")))
}

/// `base` with the members of `more`.
fn with(mut base: Value, more: Value) -> Value {
    if let (Some(base), Value::Object(more)) = (base.as_object_mut(), more) {
        base.extend(more);
    }
    base
}

/// POSTs to `collection/ID/verb`, where the id is a member of what was made.
async fn act(
    caller: &Caller,
    collection: &str,
    made: &Value,
    id: &str,
    verb: &str,
    body: Value,
) -> Result<Value, Failure> {
    caller.post(&format!("{collection}/{}/{verb}", text(made, id)?), &body).await
}

fn intent() -> Value {
    json!({ "usdAmount": 1, "debtorId": "V12345678", "debtorCellPhone": "04141234567", "debtorBankCode": 134, "externalRef": fresh() })
}

async fn collect(caller: &Caller, token: &str) -> Result<Value, Failure> {
    let request = intent();
    let made = caller.post("/v1/payments/c2p/request", &request).await?;
    caller
        .post("/v1/payments/c2p", &with(request, json!({ "intentId": made["intentId"], "token": token })))
        .await
}

async fn charge_card(caller: &Caller, number: &str, more: Value) -> Result<Value, Failure> {
    let card = json!({ "number": number, "expMonth": 12, "expYear": 2035, "cvv": "123", "holderName": "Ana Pérez", "holderId": "V12345678" });
    caller
        .post(
            "/v1/payments/vpos",
            &with(
                json!({ "usdAmount": 1, "card": card, "externalRef": fresh(), "description": "trigger" }),
                more,
            ),
        )
        .await
}

async fn chargeback(caller: &Caller) -> Result<Value, Failure> {
    let payment = charge_card(caller, CARD, json!({})).await?;
    caller
        .post("/v1/test/chargebacks", &json!({ "paymentId": payment["paymentId"], "reason": "fraud" }))
        .await
}

async fn register(caller: &Caller, phone: &str) -> Result<Value, Failure> {
    let merchant = json!({
        "externalRef": fresh(), "name": "Bodega La Esquina", "identification": "V87654321", "contactEmail": "bodega@example.com", "contactPhone": "04147654321",
        "bankCode": "0134", "phone": phone,
    });
    caller.post("/v1/merchants", &merchant).await
}

fn method_path(merchant: &Value) -> Result<String, Failure> {
    let method = text(&merchant["payoutMethods"][0], "payoutMethodId")?;
    Ok(format!("/v1/merchants/{}/payout-methods/{method}", text(merchant, "merchantId")?))
}

async fn merchant(caller: &Caller) -> Result<Value, Failure> {
    let merchant = register(caller, "04147654321").await?;
    let path = method_path(&merchant)?;
    caller.post(&format!("{path}/verify/start"), &json!({})).await?;
    caller.post(&format!("{path}/verify"), &json!({ "amount1": "0.32", "amount2": "0.45" })).await?;
    Ok(merchant)
}

async fn set_active(caller: &Caller, merchant: &Value, active: bool) -> Result<Value, Failure> {
    caller
        .patch(&format!("/v1/merchants/{}", text(merchant, "merchantId")?), &json!({ "isActive": active }))
        .await
}

/// An account that cannot bear an event is lent the test money for it, which is taken back whether
/// it happened or not: balances are what the event itself made of them.
async fn lent(
    caller: &Caller,
    currency: &str,
    event: impl AsyncFn() -> Result<Value, Failure>,
) -> Result<Value, Failure> {
    match event().await {
        Err(refused) if refused.to_string().contains("insufficient_balance") => {}
        made => return made,
    }
    let fund = async |back: bool| {
        let body = json!({ "currency": currency, "amount": FUNDS, "takeBack": back });
        caller.post("/v1/test/fund", &body).await
    };
    fund(false).await?;
    let made = event().await;
    let Err(why) = fund(true).await else { return made };
    let before = made.err().map(|error| format!("{error}; ")).unwrap_or_default();
    Err(Failure::Other(format!("{before}{FUNDS} {currency} of test money were not taken back: {why}")))
}

async fn pay(caller: &Caller, monto: &str) -> Result<Value, Failure> {
    let merchant = merchant(caller).await?;
    let payout = json!({ "merchantId": merchant["merchantId"], "monto": monto, "concepto": "trigger", "externalRef": fresh() });
    lent(caller, "VES", async || caller.post("/v1/payouts", &payout).await).await
}

async fn convert(caller: &Caller, reference: &str, is_canceled: bool) -> Result<Value, Failure> {
    let quote = caller.post("/v1/conversions/quotes", &json!({ "sourceAmountVes": "5000.00" })).await?;
    let accepted = json!({ "quoteId": quote["id"], "reference": reference });
    lent(caller, "VES", async || {
        let conversion = caller.post("/v1/conversions", &accepted).await?;
        match is_canceled {
            true => act(caller, "/v1/conversions", &conversion, "id", "cancel", json!({})).await,
            false => Ok(conversion),
        }
    })
    .await
}

async fn send_usdt(caller: &Caller, address: &str) -> Result<Value, Failure> {
    let payout =
        json!({ "amountUsdt": "10.00", "address": address, "network": "ERC20", "externalRef": fresh() });
    lent(caller, "USDT", async || caller.post("/v1/crypto/payouts", &payout).await).await
}

async fn debit(caller: &Caller) -> Result<Value, Failure> {
    let payer = json!({ "banco": "0134", "cedula": "V12345678", "telefono": "04141234567", "monto": 100 });
    caller.post("/v1/payments/debit/otp", &payer).await?;
    let more =
        json!({ "nombre": "Ana Perez", "otp": RIGHT_CODE, "concepto": "trigger", "externalRef": fresh() });
    caller.post("/v1/payments/debit", &with(payer, more)).await
}

async fn verify_transfer(caller: &Caller) -> Result<Value, Failure> {
    let clock = caller.get("/v1/test/clock").await?;
    let now = Timestamp::parse(text(&clock, "now")?);
    let now = now.map_err(|why| Failure::Other(format!("the test clock: {why}")))?;
    // Eight digits that no transfer had before, and that do not end with 0000, which the simulated bank
    // knows no transfer by.
    let reference = format!("{:07}7", uuid::Uuid::now_v7().as_u128() % 10_000_000);
    let transfer = json!({
        "usdAmount": 1, "reference": reference, "phone": "04141234567", "bankCode": "0134", "date": now.date_in(Zone::Caracas).to_string(),
        "debtorId": "V12345678", "externalRef": fresh(),
    });
    caller.post("/v1/payments/pago-movil/verify", &transfer).await
}

async fn collect_pesos(caller: &Caller) -> Result<Value, Failure> {
    let order = json!({ "amountCop": 50_000, "channel": "qr", "reference": fresh() });
    caller.post("/v1/cop/payments", &order).await
}

async fn pesos(caller: &Caller, verb: &str) -> Result<Value, Failure> {
    let payment = collect_pesos(caller).await?;
    act(caller, "/v1/test/cop/payments", &payment, "id", verb, json!({})).await
}

async fn buy(caller: &Caller) -> Result<Value, Failure> {
    let product = caller.post("/v1/products", &json!({ "name": fresh(), "priceUsd": "1.00" })).await?;
    let link = act(caller, "/v1/products", &product, "id", "links", json!({})).await?;
    let path = format!("/pay/{}/sessions", text(&link, "slug")?);
    let session = caller.post(&path, &json!({ "quantity": 1 })).await?;
    let (id, secret) = (text(&session, "id")?, text(&session, "clientSecret")?);
    let payer = json!({ "debtorId": "V12345678", "debtorCellPhone": "04141234567", "debtorBankCode": 134 });
    let made = caller.post_as_buyer(&format!("/checkout/{id}/c2p/request"), secret, &payer).await?;
    let charge = with(payer, json!({ "intentId": made["intentId"], "token": RIGHT_CODE }));
    caller.post_as_buyer(&format!("/checkout/{id}/c2p"), secret, &charge).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_belong_to_events_that_are() {
        assert!(WAYS.iter().all(|(event, ways)| EVENT_NAMES.contains(event) && ways.len() > 1));
        assert!(EVENT_NAMES.iter().all(|event| listed().contains(event)));
    }

    #[test]
    fn a_way_has_to_be_one_of_the_event() {
        assert_eq!(asked("payment.failed", None).expect("sound"), [("payment.failed", "c2p")]);
        assert_eq!(asked("payment.failed", Some("cop")).expect("sound"), [("payment.failed", "cop")]);
        assert_eq!(asked(ALL, None).expect("sound").len(), EVENT_NAMES.len() - 2);
        for (event, way, why) in [
            ("payment.failed", "link", "c2p, card, cop"),
            ("payout.failed", "cop", "one way"),
            (ALL, "cop", "one event"),
        ] {
            assert!(asked(event, Some(way)).expect_err("refused").to_string().contains(why), "{event} {way}");
        }
    }
}
