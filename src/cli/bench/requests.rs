//! The requests of a case: bytes that are ready to be sent but for the reference, which every payout has its own.

use super::Outcome;
use super::prepare::Tenant;
use serde::Deserialize;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What one payout pays.
pub const AMOUNT: &str = "1.00";

/// Hexadecimal digits of the number in a reference.
const DIGITS: usize = 12;

/// What a generator sends, and what it looks for in the answers.
pub trait Traffic: Send + Sync + 'static {
    /// Among how many a connection chooses its first.
    fn choices(&self) -> usize;

    /// Puts a request into `into`, which is emptied before; returns its number.
    fn write(&self, nth: usize, into: &mut Vec<u8>) -> u64;

    /// The status of a right answer.
    fn status(&self) -> u16;

    /// Reads the body of an answer to the request with this number.
    fn check(&self, number: u64, body: &[u8]) -> Outcome<()>;
}

/// The same GET again and again; the body of an answer has to end so.
pub struct Reads {
    bytes: Vec<u8>,
    ending: &'static str,
}

impl Reads {
    /// GET of a path.
    pub fn new(address: SocketAddr, path: &str, ending: &'static str) -> Reads {
        Reads { bytes: format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").into_bytes(), ending }
    }
}

impl Traffic for Reads {
    fn choices(&self) -> usize {
        1
    }

    fn write(&self, nth: usize, into: &mut Vec<u8>) -> u64 {
        into.clear();
        into.extend_from_slice(&self.bytes);
        nth as u64
    }

    fn status(&self) -> u16 {
        200
    }

    fn check(&self, _number: u64, body: &[u8]) -> Outcome<()> {
        if body.ends_with(self.ending.as_bytes()) { Ok(()) } else { Err(format!("does not end with {}: {}", self.ending, String::from_utf8_lossy(body))) }
    }
}

/// A payout per tenant, in turn.
pub struct Requests {
    templates: Vec<Template>,
    /// The reference before its number; no other run has it.
    prefix: String,
    next: AtomicU64,
}

struct Template {
    bytes: Vec<u8>,
    number_at: usize,
}

/// What is looked at in an answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paid<'a> {
    status: &'a str,
    monto: &'a str,
    external_ref: &'a str,
}

impl Requests {
    /// Payouts of these tenants to their merchants.
    pub fn new(address: SocketAddr, tenants: &[Tenant]) -> Requests {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let prefix = format!("bench-{started:x}-");
        let templates = tenants.iter().map(|tenant| template(address, tenant, &prefix)).collect();
        Requests { templates, prefix, next: AtomicU64::new(0) }
    }

    /// How many were made.
    pub fn sent(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }
}

impl Traffic for Requests {
    /// How many tenants there are.
    fn choices(&self) -> usize {
        self.templates.len()
    }

    fn status(&self) -> u16 {
        201
    }

    /// Puts the request of the `nth` tenant into `into`, with a reference of its own; returns the number in it.
    fn write(&self, nth: usize, into: &mut Vec<u8>) -> u64 {
        let template = &self.templates[nth % self.templates.len()];
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        into.clear();
        into.extend_from_slice(&template.bytes);
        let mut rest = number;
        for digit in into[template.number_at..template.number_at + DIGITS].iter_mut().rev() {
            *digit = b"0123456789abcdef"[(rest & 15) as usize];
            rest >>= 4;
        }
        number
    }

    /// Reads the body of an answer: it must be this payout, and it must have arrived.
    fn check(&self, number: u64, body: &[u8]) -> Outcome<()> {
        let fail = |why: &str| format!("{why}: {}", String::from_utf8_lossy(body));
        let paid: Paid<'_> = serde_json::from_slice(body).map_err(|error| fail(&error.to_string()))?;
        let reference = format!("{}{number:0DIGITS$x}", self.prefix);
        match (paid.status, paid.monto, paid.external_ref == reference) {
            ("completed", AMOUNT, true) => Ok(()),
            _ => Err(fail(&format!("not what was asked with {reference}"))),
        }
    }
}

fn template(address: SocketAddr, tenant: &Tenant, prefix: &str) -> Template {
    let zeroes = "0".repeat(DIGITS);
    let before = format!(r#"{{"merchantId":"{}","monto":"{AMOUNT}","concepto":"pago de prueba","externalRef":"{prefix}"#, tenant.merchant);
    let body = format!(r#"{before}{zeroes}"}}"#);
    let mut bytes = Vec::with_capacity(512);
    write!(
        bytes,
        "POST /v1/payouts HTTP/1.1\r\nhost: {address}\r\nx-api-key: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        tenant.key,
        body.len()
    )
    .expect("a Vec takes everything");
    let number_at = bytes.len() + before.len();
    bytes.extend_from_slice(body.as_bytes());
    Template { bytes, number_at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_has_a_reference_of_its_own() {
        let tenants = [Tenant { key: "k".to_owned(), merchant: "m".to_owned() }];
        let requests = Requests::new("127.0.0.1:80".parse().expect("an address"), &tenants);
        let mut bytes = Vec::new();
        let numbers: Vec<u64> = (0..20).map(|nth| requests.write(nth, &mut bytes)).collect();
        assert_eq!(numbers, (0..20).collect::<Vec<_>>());
        let text = String::from_utf8(bytes).expect("UTF-8");
        assert!(text.ends_with(r#"-000000000013"}"#), "{text}");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{text}");
        let answer = body.replace(r#""concepto""#, r#""status":"completed","concepto""#);
        assert_eq!(requests.check(19, answer.as_bytes()), Ok(()));
        assert!(requests.check(18, answer.as_bytes()).is_err());
    }
}
