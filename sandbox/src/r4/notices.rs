//! The calls that R4 makes: the question before a customer's transfer, and the notice of it
//! (docs/contract.md, 18.6).
//!
//! Promises: a transfer is in the books before the merchant hears of it; the same transfer posted
//! again is the same transfer noticed again, since no source says how often the bank repeats
//! itself.

use super::R4;
use super::books::{Entry, Notice, R4Ledger, Transfer};
use super::options::Options;
use super::orders::now;
use crate::amount;
use crate::books::Books;
use crate::calls::Call;
use crate::faults::{Fault, Kind};
use crate::http::{Answer, Request, post};
use crate::site::Site;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

/// Transfers whose reference ends so are never noticed (docs/contract.md, 4.5).
const UNNOTICED: &str = "0000";

/// The bytes sent in place of JSON.
const GARBAGE: &[u8] = b"{\"IdComercio\": ";

/// The receiver of notices, and the header that authenticates them.
pub struct Notices {
    gateway: Option<String>,
    uuid: String,
    phone: String,
    id: String,
}

/// `POST /sandbox/transfer`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    phone: String,
    bank: String,
    amount: String,
    reference: Option<String>,
    /// The payer's document: with it the bank asks the merchant first.
    document: Option<String>,
    #[serde(default)]
    concept: String,
    at: Option<String>,
    code: Option<String>,
    call: Option<String>,
}

impl Asked {
    fn problem(&self) -> Option<&'static str> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let reference = self.reference.as_deref().unwrap_or("1");
        let at = self.at.as_deref().map(DateTime::parse_from_rfc3339);
        let document = self.document.as_deref().unwrap_or("V1");
        let calls = ["R4notifica", "MBconsulta"];
        match () {
            () if self.phone.len() != 11 || !digits(&self.phone) => Some("phone: 11 digits"),
            () if self.bank.len() != 4 || !digits(&self.bank) => Some("bank: 4 digits"),
            () if amount::cents(&self.amount).is_none() => Some("amount: text with two decimals"),
            () if reference.is_empty() || reference.len() > 12 || !digits(reference) => {
                Some("reference: 1 to 12 digits")
            }
            () if document.len() < 2
                || document.len() > 10
                || !document.is_ascii()
                || !digits(&document[1..]) =>
            {
                Some("document: a letter and digits")
            }
            () if self.concept.chars().count() > 30 => Some("concept: at most 30 letters"),
            () if at.is_some_and(|at| at.is_err()) => Some("at: an instant as 2026-01-31T12:00:00Z"),
            () if self.call.as_deref().is_some_and(|call| !calls.contains(&call)) => {
                Some("call: R4notifica or MBconsulta")
            }
            () => None,
        }
    }

    fn transfer(&self, reference: String) -> Transfer {
        let now = || Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
        Transfer {
            reference,
            at: self.at.clone().unwrap_or_else(now),
            phone: self.phone.clone(),
            bank: self.bank.clone(),
            cents: amount::cents(&self.amount).expect("an amount that was checked"),
            concept: self.concept.clone(),
            code: self.code.clone().unwrap_or_else(|| "00".to_owned()),
        }
    }
}

impl Notices {
    /// Notices as the options have them.
    ///
    /// # Errors
    /// When the address of the gateway is none.
    pub fn new(options: &Options) -> Result<Notices, String> {
        Ok(Notices {
            gateway: options.common.gateway()?,
            uuid: options.callback_uuid.clone(),
            phone: options.commerce_phone.clone(),
            id: options.commerce_id.clone(),
        })
    }

    /// Records a customer's transfer to the merchant, and sends its notice.
    pub async fn transfer(&self, site: &Site<R4>, books: &Books<R4Ledger>, request: &Request) -> Answer {
        let asked =
            request.json().and_then(|body| serde_json::from_value(body).map_err(|error| error.to_string()));
        let asked: Asked = match asked {
            Ok(asked) => asked,
            Err(problem) => return Answer::problem(400, problem),
        };
        if let Some(problem) = asked.problem() {
            return Answer::problem(400, problem);
        }
        let Some(gateway) = &self.gateway else {
            return Answer::problem(409, "there is nobody to notify: start with --gateway");
        };
        let call = asked.call.clone().unwrap_or_else(|| "R4notifica".to_owned());
        let mut sent = Vec::new();
        if let Some(document) = &asked.document {
            let question = json!({
                "IdCliente": document[1..], "Monto": asked.amount, "TelefonoComercio": self.phone,
            });
            let replies = self.send(site, gateway, "R4consulta", question).await;
            let is_welcome = replies.iter().all(|reply| reply["answer"]["status"] == json!(true));
            sent.extend(replies);
            if !is_welcome {
                return Answer::new(200, json!({"reference": null, "accepted": false, "sent": sent}));
            }
        }
        let transfer = match made(books, &asked).await {
            Ok(transfer) => transfer,
            Err(problem) => return Answer::problem(409, problem),
        };
        if !transfer.reference.ends_with(UNNOTICED) {
            let replies = self.send(site, gateway, &call, self.notice(&transfer)).await;
            for reply in &replies {
                let notice = Notice {
                    reference: transfer.reference.clone(),
                    call: call.clone(),
                    at: now(),
                    status: reply["status"].as_u64().and_then(|status| u16::try_from(status).ok()),
                    accepted: reply["answer"]["abono"].as_bool(),
                };
                books.with(move |books| books.enter(Entry::Notice(notice))).await;
            }
            sent.extend(replies);
        }
        Answer::new(200, json!({"reference": transfer.reference, "accepted": true, "sent": sent}))
    }

    /// The nine fields of a notice.
    fn notice(&self, transfer: &Transfer) -> Value {
        json!({
            "IdComercio": self.id,
            "TelefonoComercio": self.phone,
            "TelefonoEmisor": transfer.phone,
            "Concepto": transfer.concept,
            "BancoEmisor": transfer.bank[1..],
            "Monto": amount::text(transfer.cents),
            "FechaHora": transfer.at,
            "Referencia": transfer.reference,
            "CodigoRed": transfer.code,
        })
    }

    /// Sends a call to the gateway, under the fault that applies to it; returns the answers, one
    /// for each time.
    async fn send(&self, site: &Site<R4>, gateway: &str, call: &str, mut body: Value) -> Vec<Value> {
        let path = format!("/rails/r4/{call}");
        let fault = site.faults.draw(call, &path, &body).await;
        let kind = fault.as_ref().map(|fault| fault.kind);
        if let Some(fault) = fault.as_ref().filter(|fault| fault.kind == Kind::Alter) {
            fault.alter(&mut body);
        }
        if let (Some(Kind::Late), Some(fault)) = (kind, &fault) {
            tokio::time::sleep(fault.pause).await;
        }
        let authorization = match kind {
            Some(Kind::Unauthorized) => uuid::Uuid::new_v4().to_string(),
            _ => self.uuid.clone(),
        };
        let bytes = match kind {
            Some(Kind::Garbage) => GARBAGE.to_vec(),
            _ => body.to_string().into_bytes(),
        };
        let times = match kind {
            Some(Kind::SilentBefore) => 0,
            Some(Kind::Twice) => 2,
            _ => 1,
        };
        let mut replies = Vec::new();
        for _ in 0..times {
            let reply =
                post(&format!("{gateway}{path}"), &[("authorization", authorization.clone())], bytes.clone())
                    .await;
            let (status, answer, note) = match reply {
                Ok(reply) => (Some(reply.status), reply.body, "sent".to_owned()),
                Err(problem) => (None, Value::Null, problem),
            };
            let fault = fault.as_ref().map(Fault::name);
            site.record(&Call {
                operation: call,
                path: &path,
                fields: &body,
                fault,
                status,
                answer: &answer,
                note: &note,
            })
            .await;
            replies.push(json!({"call": call, "status": status, "answer": answer, "note": note}));
        }
        replies
    }
}

/// The transfer in the books: a new one, or the one that has this reference already.
async fn made(books: &Books<R4Ledger>, asked: &Asked) -> Result<Transfer, String> {
    let (reference, template) = (asked.reference.clone(), asked.transfer(String::new()));
    let has_instant = asked.at.is_some();
    books
        .with(move |books| {
            let reference = reference.unwrap_or_else(|| books.ledger().next_transfer_reference());
            if let Some(known) = books.ledger().transfer(&reference) {
                let is_same = (known.phone == template.phone)
                    && (&known.bank, known.cents) == (&template.bank, template.cents)
                    && (!has_instant || known.at == template.at);
                return is_same
                    .then(|| known.clone())
                    .ok_or_else(|| "another transfer has this reference".to_owned());
            }
            let transfer = Transfer { reference, ..template };
            books.enter(Entry::Transfer(transfer.clone()));
            Ok(transfer)
        })
        .await
}
