//! Wompi: transactions in pesos, Daviplata's codes, events (docs/contract.md, 18.4, 18.6, 21.10).
//!
//! What only this processor has belongs here. What any bank has does not, such as faults and
//! connections. It must not know how Pasarela speaks to Wompi.

mod answers;
mod asked;
mod books;
mod daviplata;
mod developers;
mod events;
mod options;
mod transactions;

pub use options::Options;

use crate::bank::{Bank, Reaction};
use crate::books::Books;
use crate::common_options::{say_configuration, shown};
use crate::http::{Answer, Request, serve};
use crate::signing::hmac_hex;
use crate::site::{Site, say};
use answers::{Steps, bad_token, not_found};
use books::{Transaction, WompiLedger};
use chrono::Utc;
use events::Events;
use hyper::Method;
use serde_json::Value;
use std::sync::{Arc, OnceLock, Weak};

/// The address that Wompi listens on unless another is given.
const ADDRESS: &str = "127.0.0.1:9171";

/// The prefix of every path.
const PREFIX: &str = "/v1";

/// The processor.
pub struct Wompi {
    options: Options,
    base: String,
    books: Books<WompiLedger>,
    events: Events,
    /// The site of this bank, under whose faults events go out.
    site: OnceLock<Weak<Site<Wompi>>>,
}

/// Runs the processor until it is stopped.
///
/// # Errors
/// Why it does not start.
pub async fn run(options: Options) -> Result<(), String> {
    let listener = options.common.listener(ADDRESS).await?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let origin = options.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
    let base = format!("{}{PREFIX}", origin.trim_end_matches('/'));
    let books = Books::open(&options.common.data, "wompi")?;
    let events = Events::new(&options)?;
    let keys = [
        ("base_url", base.clone()),
        ("public_key", shown(&options.public_key, options::DEFAULT_PUBLIC_KEY)),
        ("private_key", shown(&options.private_key, options::DEFAULT_PRIVATE_KEY)),
        ("events_secret", shown(&options.events_secret, options::DEFAULT_EVENTS_SECRET)),
        ("integrity_secret", shown(&options.integrity_secret, options::DEFAULT_INTEGRITY_SECRET)),
    ];
    let faults = options.common.faults.clone();
    let bank = Wompi { base, books, events, options, site: OnceLock::new() };
    let site = Arc::new(Site::new(bank, faults.as_deref()).await?);
    let _ = site.bank.site.set(Arc::downgrade(&site));
    say(&format!("pasarela-sandbox wompi listens on http://{address}; config.toml of Pasarela:"));
    say_configuration("rails.wompi", &keys);
    site.bank.resume_events().await;
    serve(listener, move |request| {
        let site = Arc::clone(&site);
        async move { site.handle(request).await }
    })
    .await;
    Ok(())
}

/// The present instant, in ms since 1970.
fn now_ms() -> i64 {
    Utc::now().timestamp_millis()
}

impl Wompi {
    /// The acceptance token of a kind in force.
    fn acceptance(&self, kind: &str, generation: u64) -> String {
        let secret = hmac_hex(&self.options.private_key, &format!("acceptance|{kind}|{generation}"));
        format!("acc_test_{secret}")
    }

    /// The token of Daviplata's steps: it derives, so that it is in no file, and changes with each
    /// code sent.
    fn token(&self, transaction: &Transaction) -> String {
        let of = format!("daviplata|{}|{}", transaction.created.id, transaction.sent);
        format!("dvp_test_{}", hmac_hex(&self.options.private_key, &of))
    }

    fn steps(&self, transaction: &Transaction) -> Steps {
        Steps { base: self.base.clone(), token: self.token(transaction) }
    }

    /// A transaction as it is shown now.
    fn shown(&self, transaction: &Transaction) -> Value {
        answers::transaction(transaction, now_ms(), &self.steps(transaction))
    }

    /// Whether a caller has one of the keys.
    fn knows(&self, request: &Request, may_be_public: bool) -> Result<(), Answer> {
        let given =
            request.bearer().ok_or_else(|| bad_token("the header Authorization: Bearer is missing"))?;
        let is_private = crate::signing::same(given, &self.options.private_key);
        let is_public = crate::signing::same(given, &self.options.public_key);
        match is_private || (may_be_public && is_public) {
            true => Ok(()),
            false if is_public => Err(bad_token("this call needs the private key")),
            false => Err(bad_token("the key is not that of the merchant")),
        }
    }
}

impl Bank for Wompi {
    const OPERATIONS: &'static [&'static str] = &["merchants", "create", "get", "list", "send", "validate"];
    const SENT: &'static [&'static str] = &["event"];

    fn operation(&self, request: &Request) -> Option<&'static str> {
        let path: Vec<&str> = request.path.strip_prefix(PREFIX)?.strip_prefix('/')?.split('/').collect();
        match (request.method.as_str(), path.as_slice()) {
            ("GET", ["merchants", _]) => Some("merchants"),
            ("POST", ["transactions"]) => Some("create"),
            ("GET", ["transactions"]) => Some("list"),
            ("GET", ["transactions", _]) => Some("get"),
            ("POST", ["daviplata", _, "send"]) => Some("send"),
            ("POST", ["daviplata", _, "validate"]) => Some("validate"),
            _ => None,
        }
    }

    async fn act(&self, operation: &'static str, request: &Request) -> Reaction {
        let name = request.path.split('/').nth(3).unwrap_or_default();
        let outcome = match operation {
            "merchants" => self.merchant(name).await,
            "create" => self.create(request).await,
            "list" => self.list(request).await,
            "get" => self.get(request, name).await,
            "send" => self.send_code(request, name).await,
            _ => self.validate_code(request, name).await,
        };
        match outcome {
            Ok((answer, note)) => Reaction::new(answer, note),
            Err(answer) => {
                let note = answer.body["error"].to_string();
                Reaction::new(answer, note)
            }
        }
    }

    fn unknown(&self) -> Answer {
        not_found("there is no such call; every path begins with /v1")
    }

    fn unauthorized(&self) -> Answer {
        bad_token("the key is not that of the merchant")
    }

    fn contrary(&self, _operation: &str, answer: &Answer) -> Answer {
        answers::contrary(answer)
    }

    async fn books(&self) -> Value {
        self.books.with(|books| books.ledger().shown(now_ms())).await
    }

    async fn control(&self, _site: &Site<Wompi>, request: &Request) -> Option<Answer> {
        match (request.method == Method::POST, request.path.as_str()) {
            (true, "/sandbox/settle") => Some(self.settle(request).await),
            (true, "/sandbox/acceptance/renew") => Some(self.renew_tokens().await),
            (true, "/sandbox/events") => Some(self.send_event_again(request).await),
            _ => None,
        }
    }
}
