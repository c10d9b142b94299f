//! R4 Conecta: what the gateway asks of the bank, and what the bank sends
//! (docs/contract.md, 18.2, 18.6, 21.3).
//!
//! What only this bank has belongs here: fields, signatures, codes, notices. What any bank has does
//! not, such as faults and connections. It must not know how Pasarela speaks to R4.

mod answers;
mod books;
mod calls;
mod fate;
mod fields;
mod notices;
mod options;
mod orders;
mod signature;

pub use options::Options;

use crate::bank::{Bank, Reaction};
use crate::books::Books;
use crate::common_options::{say_configuration, shown};
use crate::http::{Answer, Request, serve};
use crate::site::{Site, say};
use answers::{Answers, rejection};
use books::R4Ledger;
use calls::Call;
use hyper::Method;
use notices::Notices;
use options::{DEFAULT_TOKEN, DEFAULT_UUID, PathFamily, rate_of};
use serde_json::{Map, Value, json};
use signature::{Signatures, Stranger};
use std::sync::{Arc, Mutex, PoisonError};

/// The address that R4 listens on unless another is given.
const ADDRESS: &str = "127.0.0.1:9170";

/// The bank.
pub struct R4 {
    signatures: Signatures,
    family: PathFamily,
    answers: Answers,
    rate: Mutex<Value>,
    books: Books<R4Ledger>,
    notices: Notices,
}

/// Runs the bank until it is stopped.
///
/// # Errors
/// Why it does not start.
pub async fn run(options: Options) -> Result<(), String> {
    let listener = options.common.listener(ADDRESS).await?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let books = Books::open(&options.common.data, "r4")?;
    let bank = R4 {
        family: options.path_family,
        answers: Answers { id_key: options.id_key.name(), refusal_status: options.refusal_status },
        rate: Mutex::new(rate_of(&options.rate).map_err(|why| format!("--rate {why}"))?),
        notices: Notices::new(&options)?,
        books,
        signatures: Signatures {
            token: options.commerce_token.clone(),
            case: options.signature_case,
            leading_space: options.c2p_leading_space,
        },
    };
    let site = Arc::new(Site::new(bank, options.common.faults.as_deref()).await?);
    say(&format!("pasarela-sandbox r4 listens on http://{address}; config.toml of Pasarela:"));
    let keys = [
        ("base_url", format!("http://{address}")),
        ("commerce_token", shown(&options.commerce_token, DEFAULT_TOKEN)),
        ("callback_uuid", shown(&options.callback_uuid, DEFAULT_UUID)),
        ("commerce_phone", options.commerce_phone),
    ];
    say_configuration("rails.r4", &keys);
    serve(listener, move |request| {
        let site = Arc::clone(&site);
        async move { site.handle(request).await }
    })
    .await;
    Ok(())
}

/// A call whose caller and fields are right.
struct Checked {
    call: &'static Call,
    fields: Map<String, Value>,
}

impl R4 {
    /// Checks caller, signature and fields, in that order.
    fn check(&self, operation: &str, request: &Request) -> Result<Checked, Answer> {
        let unknown = |Stranger { code, text }: Stranger| rejection(401, code, &text);
        let malformed = |text: String| rejection(400, "30", &text);
        let call = calls::find(operation).ok_or_else(|| self.unknown())?;
        self.signatures.check_commerce(request).map_err(unknown)?;
        if !request.says_json() {
            return Err(malformed("Content-Type has to be application/json".to_owned()));
        }
        let fields = fields::texts(&request.json().map_err(malformed)?).map_err(malformed)?;
        if let Some(name) = call.signed.iter().find(|name| !fields.contains_key(**name)) {
            return Err(malformed(format!("{name} is missing")));
        }
        let given = request.header("authorization").unwrap_or_default();
        self.signatures.check(call, given, &fields).map_err(unknown)?;
        fields::check(call, &fields).map_err(malformed)?;
        Ok(Checked { call, fields })
    }
}

impl Bank for R4 {
    const OPERATIONS: &'static [&'static str] = &[
        "MBbcv",
        "MBc2p",
        "MBanulacionC2P",
        "MBvuelto",
        "GenerarOtp",
        "DebitoInmediato",
        "CreditoInmediato",
        "CICuentas",
        "ConsultarOperaciones",
    ];
    const SENT: &'static [&'static str] = &["R4consulta", "R4notifica", "MBconsulta"];

    fn operation(&self, request: &Request) -> Option<&'static str> {
        let name = request.path.strip_prefix('/')?;
        let call = calls::find(name).filter(|_| request.method == Method::POST)?;
        let fits = match self.family {
            PathFamily::Any => true,
            PathFamily::Mb => name == call.name,
            PathFamily::R4 => name == call.other.unwrap_or(call.name),
        };
        fits.then_some(call.name)
    }

    async fn act(&self, operation: &'static str, request: &Request) -> Reaction {
        match self.check(operation, request) {
            Ok(checked) => self.perform(checked).await,
            Err(answer) => {
                let (code, text) = (&answer.body["code"], &answer.body["message"]);
                let note =
                    format!("{}: {}", code.as_str().unwrap_or_default(), text.as_str().unwrap_or_default());
                Reaction::new(answer, note)
            }
        }
    }

    fn unknown(&self) -> Answer {
        rejection(404, "30", "there is no such call; every call is POST below the base address")
    }

    fn unauthorized(&self) -> Answer {
        rejection(401, "08", "Token invalido")
    }

    fn contrary(&self, operation: &str, answer: &Answer) -> Answer {
        self.answers.contrary(operation, answer)
    }

    async fn books(&self) -> Value {
        self.books.with(|books| books.ledger().shown()).await
    }

    async fn control(&self, site: &Site<R4>, request: &Request) -> Option<Answer> {
        if request.method != Method::POST {
            return None;
        }
        match request.path.as_str() {
            "/sandbox/transfer" => Some(self.notices.transfer(site, &self.books, request).await),
            "/sandbox/rate" => Some(self.set_rate(request)),
            _ => None,
        }
    }
}

impl R4 {
    fn rate(&self) -> Value {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `POST /sandbox/rate`: the BCV rate jumps.
    fn set_rate(&self, request: &Request) -> Answer {
        let read = request.json().and_then(|body| match &body["rate"] {
            Value::String(text) => rate_of(text),
            other => rate_of(&other.to_string()),
        });
        match read {
            Ok(rate) => {
                *self.rate.lock().unwrap_or_else(PoisonError::into_inner) = rate.clone();
                Answer::new(200, json!({ "rate": rate }))
            }
            Err(why) => rejection(400, "30", &format!("rate {why}")),
        }
    }
}
