//! `pasarela trigger`: makes an event happen in test mode, through the public API as a tenant
//! would.

use super::client::{Api, Caller, PAGE};
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

/// Empty if there is one alone. The first is what happens unless another is asked for.
fn ways(event: &str) -> Vec<&'static str> {
    let ways = RECIPES.iter().filter(|recipe| recipe.0 == event).map(|recipe| recipe.1);
    ways.filter(|way| !way.is_empty()).collect()
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
    let happened = caller.events(before, PAGE).await?;
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
        let line = match (event, &*ways(event)) {
            (OF_OPERATORS, _) => format!("{event:<28} by operators: pasarela admin tenant live-status\n"),
            (RESET, _) => format!("{event:<28} by itself alone: all test data begins anew\n"),
            (_, []) => format!("{event}\n"),
            (_, ways) => format!("{event:<28} --by {}\n", ways.join(" | ")),
        };
        lines.push_str(&line);
    }
    lines
}

/// Enough test money, whatever chargebacks and earlier events took.
const FUNDS: &str = "1000000000.00";

const INTENT: &str = r#"POST /v1/payments/c2p/request {"usdAmount":1,$thePayer,"externalRef":"$ref"}"#;
const CHARGE: &str = r#"POST /v1/payments/c2p {"usdAmount":1,$thePayer,"externalRef":"$ref","intentId":"$intentId","token":"12345678"}"#;
const CARD: &str = r#"POST /v1/payments/vpos {"usdAmount":1,"card":{"number":"4111111111111111",$theHolder},"externalRef":"$ref","description":"trigger"}"#;
const CHARGEBACK: &str = r#"POST /v1/test/chargebacks {"paymentId":"$paymentId","reason":"fraud"}"#;
const PESOS: &str = r#"POST /v1/cop/payments {"amountCop":50000,"channel":"qr","reference":"$ref"}"#;
const PAY_PESOS: &str = "POST /v1/test/cop/payments/$id/pay {}";
const REGISTER: &str = r#"POST /v1/merchants {"externalRef":"$ref",$theShop,"phone":"04147654321"}"#;
const START: &str = "POST /v1/merchants/$merchantId/payout-methods/$payoutMethodId/verify/start {}";
const VERIFY: &str = r#"POST /v1/merchants/$merchantId/payout-methods/$payoutMethodId/verify {"amount1":"0.32","amount2":"0.45"}"#;
const DEACTIVATE: &str = r#"PATCH /v1/merchants/$merchantId {"isActive":false}"#;
const QUOTE: &str = r#"POST /v1/conversions/quotes {"sourceAmountVes":"5000.00"}"#;
const ACCEPT: &str = r#"POST /v1/conversions {"quoteId":"$id","reference":"trigger"}"#;

/// Members that several calls have.
const THE_PAYER: &str = r#""debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134"#;
const THE_HOLDER: &str =
    r#""expMonth":12,"expYear":2035,"cvv":"123","holderName":"Ana Pérez","holderId":"V12345678""#;
const THE_SHOP: &str = r#""name":"Bodega La Esquina","identification":"V87654321","contactEmail":"bodega@example.com","contactPhone":"04147654321","bankCode":"0134""#;

/// An event, the way, the currency that is lent for it, and the calls that lead to it, each with its body. `$ref` is
/// a reference that nobody has used, and any other `$name` what the newest answer that has this member says there.
/// What the simulated bank, processor and network take, and what they refuse, is in the contract.
type Recipe = (&'static str, &'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const RECIPES: &[Recipe] = &[
    ("payment.completed", "c2p", "", &[INTENT, CHARGE]),
    ("payment.completed", "card", "", &[CARD]),
    ("payment.completed", "debit", "", &[
        r#"POST /v1/payments/debit/otp {"banco":"0134","cedula":"V12345678","telefono":"04141234567","monto":100}"#,
        r#"POST /v1/payments/debit {"banco":"0134","cedula":"V12345678","telefono":"04141234567","monto":100,"nombre":"Ana Perez","otp":"12345678","concepto":"trigger","externalRef":"$ref"}"#,
    ]),
    ("payment.completed", "pago-movil", "", &[
        "GET /v1/test/clock",
        r#"POST /v1/payments/pago-movil/verify {"usdAmount":1,"reference":"$digits","phone":"04141234567","bankCode":"0134","date":"$today","debtorId":"V12345678","externalRef":"$ref"}"#,
    ]),
    ("payment.completed", "cop", "", &[PESOS, PAY_PESOS]),
    ("payment.completed", "link", "", &[
        r#"POST /v1/products {"name":"$ref","priceUsd":"1.00"}"#,
        "POST /v1/products/$id/links {}",
        r#"POST /pay/$slug/sessions {"quantity":1}"#,
        "POST /checkout/$id/c2p/request {$thePayer}",
        r#"POST /checkout/$id/c2p {$thePayer,"intentId":"$intentId","token":"12345678"}"#,
    ]),
    ("payment.failed", "c2p", "", &[INTENT, r#"POST /v1/payments/c2p {"usdAmount":1,$thePayer,"externalRef":"$ref","intentId":"$intentId","token":"99999999"}"#]),
    ("payment.failed", "card", "", &[r#"POST /v1/payments/vpos {"usdAmount":1,"card":{"number":"4000000000000002",$theHolder},"externalRef":"$ref"}"#]),
    ("payment.failed", "cop", "", &[PESOS, "POST /v1/test/cop/payments/$id/decline {}"]),
    ("payment.canceled", "c2p", "", &[INTENT, INTENT]),
    ("payment.canceled", "cop", "", &[PESOS, "POST /v1/cop/payments/$id/cancel {}"]),
    ("payment.reversed", "c2p", "", &[INTENT, CHARGE, "POST /v1/payments/$paymentId/reverse {}"]),
    ("payment.reversed", "cop", "", &[PESOS, PAY_PESOS, "POST /v1/cop/payments/$id/refund {}"]),
    ("payment.reversed", "chargeback", "", &[CARD, CHARGEBACK]),
    ("payment.chargeback", "", "", &[CARD, CHARGEBACK]),
    ("payment.chargeback_closed", "won", "", &[CARD, CHARGEBACK, r#"POST /v1/test/chargebacks/$chargebackId/close {"outcome":"won"}"#]),
    ("payment.chargeback_closed", "lost", "", &[CARD, CHARGEBACK, r#"POST /v1/test/chargebacks/$chargebackId/close {"outcome":"lost"}"#]),
    ("payout.completed", "", "VES", &[REGISTER, START, VERIFY, r#"POST /v1/payouts {"merchantId":"$merchantId","monto":"1.00","concepto":"trigger","externalRef":"$ref"}"#]),
    ("payout.failed", "", "VES", &[REGISTER, START, VERIFY, r#"POST /v1/payouts {"merchantId":"$merchantId","monto":"1.04","concepto":"trigger","externalRef":"$ref"}"#]),
    ("merchant.verified", "", "", &[REGISTER, START, VERIFY]),
    ("merchant.rejected", "", "", &[r#"POST /v1/merchants {"externalRef":"$ref",$theShop,"phone":"04140000001"}"#, START]),
    ("merchant.deactivated", "", "", &[REGISTER, DEACTIVATE]),
    ("merchant.reactivated", "", "", &[REGISTER, DEACTIVATE, r#"PATCH /v1/merchants/$merchantId {"isActive":true}"#]),
    ("merchant.balance.updated", "", "", &[REGISTER, START, VERIFY, r#"POST /v1/payments/vpos {"usdAmount":1,"card":{"number":"4111111111111111",$theHolder},"externalRef":"$ref","merchantId":"$merchantId","applicationFeePercent":10}"#]),
    ("conversion.created", "", "VES", &[QUOTE, ACCEPT]),
    ("conversion.completed", "", "VES", &[QUOTE, ACCEPT]),
    ("conversion.canceled", "", "VES", &[QUOTE, r#"POST /v1/conversions {"quoteId":"$id","reference":"test_pending"}"#, "POST /v1/conversions/$id/cancel {}"]),
    ("crypto_payout.completed", "", "USDT", &[r#"POST /v1/crypto/payouts {"amountUsdt":"10.00","address":"0x1111111111111111111111111111111111111111","network":"ERC20","externalRef":"$ref"}"#]),
    ("crypto_payout.failed", "", "USDT", &[r#"POST /v1/crypto/payouts {"amountUsdt":"10.00","address":"0x1111111111111111111111111111111111111110","network":"ERC20","externalRef":"$ref"}"#]),
    ("crypto_deposit.completed", "", "", &[
        r#"POST /v1/crypto/deposit-addresses {"customerRef":"$ref","network":"TRC20","asset":"USDT"}"#,
        r#"POST /v1/test/crypto/deposits {"address":"$address","amount":"10.00","network":"TRC20","asset":"USDT"}"#,
    ]),
    (RESET, "", "", &["POST /v1/test/reset {}"]),
];

async fn cause(caller: &Caller, event: &str, way: &str) -> Result<(), Failure> {
    let Some((_, _, lent, calls)) = RECIPES.iter().find(|recipe| (recipe.0, recipe.1) == (event, way)) else {
        let why = match event {
            OF_OPERATORS => {
                "this event is the operator's to make: pasarela admin tenant live-status TENANT STATUS"
            }
            _ => "there is no way to make this event happen",
        };
        return Err(Failure::Other(why.to_owned()));
    };
    // An account that cannot bear the event is lent the test money for it, which is taken back whether it happened or
    // not: balances are what the event itself made of them.
    let fund = async |back: bool| {
        let body = json!({ "currency": lent, "amount": FUNDS, "takeBack": back });
        caller.call::<Value>("POST", "/v1/test/fund", None, Some(&body.to_string())).await
    };
    let (mut known, mut is_funded) = (Known::new(), false);
    let mut made = Ok(());
    for call in *calls {
        let mut answer = known.call(caller, call).await;
        if matches!(&answer, Err(why) if !lent.is_empty() && why.to_string().contains("insufficient_balance"))
        {
            fund(false).await?;
            is_funded = true;
            answer = known.call(caller, call).await;
        }
        match answer {
            Ok(answer) => known.0.push(answer),
            Err(why) if why.to_string().contains("insufficient_balance") => {
                made = Err(Failure::Other(format!(
                    "{why}; the test balance was spent, or PATCH /v1/conversions/settings has it converted: POST \
                     /v1/test/fund puts money into it"
                )));
                break;
            }
            Err(why) => {
                made = Err(why);
                break;
            }
        }
    }
    if is_funded && let Err(why) = fund(true).await {
        let before = made.err().map(|error| format!("{error}; ")).unwrap_or_default();
        return Err(Failure::Other(format!(
            "{before}{FUNDS} {lent} of test money were not taken back: {why}"
        )));
    }
    made
}

/// The answers of the calls before, the newest last, after what every call may name.
struct Known(Vec<Value>);

impl Known {
    fn new() -> Known {
        // Eight digits that no transfer had before, and that do not end with 0000, which the simulated bank knows no
        // transfer by.
        let digits = format!("{:07}7", uuid::Uuid::now_v7().as_u128() % 10_000_000);
        let reference = format!("trigger-{}", uuid::Uuid::now_v7().simple());
        Known(vec![json!({
            "ref": reference, "digits": digits, "thePayer": THE_PAYER, "theHolder": THE_HOLDER, "theShop": THE_SHOP,
        })])
    }

    async fn call(&self, caller: &Caller, call: &str) -> Result<Value, Failure> {
        let mut filled = String::new();
        let mut parts = call.split('$');
        filled.extend(parts.next());
        for part in parts {
            let end = part.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(part.len());
            filled.push_str(&self.text(&part[..end])?);
            filled.push_str(&part[end..]);
        }
        let mut words = filled.splitn(3, ' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let secret = if path.starts_with("/checkout/") { Some(self.text("clientSecret")?) } else { None };
        caller.call(method, path, secret.as_deref(), words.next()).await
    }

    /// What an answer says, or its first payout method; `today` is the day in Caracas by the test clock.
    fn text(&self, name: &str) -> Result<String, Failure> {
        if name == "today" {
            let now = Timestamp::parse(&self.text("now")?);
            let now = now.map_err(|why| Failure::Other(format!("the test clock: {why}")))?;
            return Ok(now.date_in(Zone::Caracas).to_string());
        }
        let of = |answer: &Value| {
            let own = answer[name].as_str().or_else(|| answer["payoutMethods"][0][name].as_str());
            own.map(str::to_owned)
        };
        self.0.iter().rev().find_map(of).ok_or_else(|| Failure::Other(format!("no answer has {name}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_belong_to_events_that_are() {
        assert!(RECIPES.iter().all(|(event, ..)| EVENT_NAMES.contains(event)));
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
