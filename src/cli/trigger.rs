//! `pasarela trigger`: makes an event happen in test mode, through the public API as a tenant
//! would.

use super::caller::{Api, Caller};
use super::{Failure, runtime};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use domain::resources::webhooks::EVENT_NAMES;
use serde_json::{Value, json};

/// A code that the simulated bank takes, and one that it does not.
const RIGHT_CODE: &str = "12345678";
const NO_FUNDS: &str = "99999999";
/// The amount in bolívares that is enough, whatever chargebacks took before.
const FUNDS: &str = "1000000.00";
/// The event that `pasarela admin tenant live-status` makes, so it is not among those listed.
const OF_OPERATORS: &str = "tenant.live_status_changed";
/// Addresses that the simulated network takes, and refuses.
const WALLET: &str = "0x1111111111111111111111111111111111111111";
const REFUSED_WALLET: &str = "0x1111111111111111111111111111111111111110";

/// Make an event happen in test mode
#[derive(Args, Debug)]
pub struct Trigger {
    /// Which
    #[arg(value_name = "EVENT", value_parser = PossibleValuesParser::new(EVENT_NAMES.map(|event| PossibleValue::new(event).hide(event == OF_OPERATORS))))]
    event: String,
    #[command(flatten)]
    api: Api,
}

impl Trigger {
    /// Makes it happen, and prints what did.
    pub fn run(self) -> Result<(), Failure> {
        runtime()?.block_on(async {
            let caller = self.api.caller()?;
            let before = caller.newest_event().await?;
            cause(&caller, &self.event).await?;
            let happened = caller.events_after(before).await?;
            for event in &happened {
                println!("{} {} {}", event.sequence, event.event, event.id);
            }
            if happened.iter().any(|event| event.event == self.event) {
                Ok(())
            } else {
                Err(Failure::Other(format!("{} did not happen", self.event)))
            }
        })
    }
}

async fn cause(caller: &Caller, event: &str) -> Result<Value, Failure> {
    match event {
        "payment.completed" => collect(caller, RIGHT_CODE).await,
        "payment.failed" => collect(caller, NO_FUNDS).await,
        "payment.canceled" => {
            let request = intent();
            caller.post("/v1/payments/c2p/request", &request).await?;
            caller.post("/v1/payments/c2p/request", &request).await
        }
        "payment.reversed" => {
            let payment = collect(caller, RIGHT_CODE).await?;
            caller.post(&format!("/v1/payments/{}/reverse", text(&payment, "paymentId")?), &json!({})).await
        }
        "payment.chargeback" => chargeback(caller).await,
        "payment.chargeback_closed" => {
            let chargeback = chargeback(caller).await?;
            caller
                .post(
                    &format!("/v1/test/chargebacks/{}/close", text(&chargeback, "chargebackId")?),
                    &json!({ "outcome": "won" }),
                )
                .await
        }
        "payout.completed" => pay(caller, "1.00").await,
        "payout.failed" => pay(caller, "1.04").await,
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
            charge_card(caller, json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 }))
                .await
        }
        "conversion.created" | "conversion.completed" => convert(caller, "trigger").await,
        "conversion.canceled" => {
            let conversion = convert(caller, "test_pending").await?;
            caller.post(&format!("/v1/conversions/{}/cancel", text(&conversion, "id")?), &json!({})).await
        }
        "crypto_payout.completed" => send_usdt(caller, WALLET).await,
        "crypto_payout.failed" => send_usdt(caller, REFUSED_WALLET).await,
        "crypto_deposit.completed" => {
            let address = json!({ "customerRef": fresh(), "network": "TRC20", "asset": "USDT" });
            let address = caller.post("/v1/crypto/deposit-addresses", &address).await?;
            let deposit = json!({ "address": address["address"], "amount": "10.00", "network": "TRC20", "asset": "USDT" });
            caller.post("/v1/test/crypto/deposits", &deposit).await
        }
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

async fn charge_card(caller: &Caller, more: Value) -> Result<Value, Failure> {
    let card = json!({ "number": "4111111111111111", "expMonth": 12, "expYear": 2035, "cvv": "123", "holderName": "Ana Pérez", "holderId": "V12345678" });
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
    let payment = charge_card(caller, json!({})).await?;
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

async fn fund(caller: &Caller, currency: &str, amount: &str) -> Result<Value, Failure> {
    caller.post("/v1/test/fund", &json!({ "currency": currency, "amount": amount })).await
}

async fn pay(caller: &Caller, monto: &str) -> Result<Value, Failure> {
    let merchant = merchant(caller).await?;
    fund(caller, "VES", FUNDS).await?;
    caller.post("/v1/payouts", &json!({ "merchantId": merchant["merchantId"], "monto": monto, "concepto": "trigger", "externalRef": fresh() })).await
}

async fn convert(caller: &Caller, reference: &str) -> Result<Value, Failure> {
    fund(caller, "VES", FUNDS).await?;
    let quote = caller.post("/v1/conversions/quotes", &json!({ "sourceAmountVes": "5000.00" })).await?;
    caller.post("/v1/conversions", &json!({ "quoteId": quote["id"], "reference": reference })).await
}

async fn send_usdt(caller: &Caller, address: &str) -> Result<Value, Failure> {
    fund(caller, "USDT", "50.00").await?;
    caller
        .post(
            "/v1/crypto/payouts",
            &json!({ "amountUsdt": "10.00", "address": address, "network": "ERC20", "externalRef": fresh() }),
        )
        .await
}
