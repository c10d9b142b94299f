//! The requests of a case: bytes that are ready to be sent but for the reference, which every
//! payout has its own.

use crate::Outcome;
use crate::prepare::Tenant;
use serde::Deserialize;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Payouts in a batch: as many as there may be.
pub const BATCH: usize = 1_000;

/// The number of answers of a connection of which one body is read: of single payouts, and of
/// batches.
const BODY_EVERY: (usize, usize) = (64, 4);

/// The amount of one payout, in bolívares.
pub const AMOUNT: &str = "1.00";

/// Hexadecimal digits of the number in a reference.
const DIGITS: usize = 12;

/// A workload: the requests that a generator sends, and how it checks the answers.
pub trait Workload: Send + Sync {
    /// The number of tenants, among which a connection chooses its first.
    fn choices(&self) -> usize;

    /// Puts the next request of the `nth` tenant into `into`; returns its number. There may be none
    /// left.
    fn write(&self, nth: usize, into: &mut Vec<u8>) -> Outcome<u64>;

    /// The status of a right answer.
    fn status(&self) -> u16 {
        201
    }

    /// The number of answers of a connection of which one body is read.
    fn body_every(&self) -> usize;

    /// Reads the body of the answer to the request with this number.
    fn check(&self, number: u64, body: &[u8]) -> Outcome<()>;
}

/// A payout, or a batch of them, per tenant, in turn.
pub struct Requests {
    templates: Vec<Template>,
    /// Whether they are batches.
    batches: bool,
    numbered: Numbered,
}

/// Numbers for references, and what stands before them, which no other run has.
pub struct Numbered {
    prefix: String,
    next: AtomicU64,
}

/// A request but for what its number makes of it.
pub struct Template {
    bytes: Vec<u8>,
    body_at: usize,
    /// The places of the request's number: in every reference.
    numbers_at: Vec<usize>,
}

/// The members of an answer that are checked.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paid<'a> {
    status: &'a str,
    monto: &'a str,
    external_ref: &'a str,
}

#[derive(Deserialize)]
struct PaidBatch<'a> {
    #[serde(borrow)]
    items: Vec<Paid<'a>>,
}

impl Requests {
    /// Payouts of these tenants to their merchants.
    pub fn payouts(address: SocketAddr, tenants: &[Tenant]) -> Requests {
        Requests::new(
            tenants,
            |tenant, numbered| Template::new(address, tenant, "/v1/payouts", &payout(tenant, numbered, "")),
            false,
        )
    }

    /// Credits to a phone: payouts by tenants that need not have a merchant.
    pub fn credits(address: SocketAddr, tenants: &[Tenant]) -> Requests {
        let credit = |numbered: &Numbered| {
            let reference = numbered.reference(MARK);
            format!(
                r#"{{"banco":"0134","telefono":"04147654321","cedula":"V87654321","monto":"{AMOUNT}","concepto":"pago de prueba","externalRef":"{reference}"}}"#
            )
        };
        Requests::new(
            tenants,
            |tenant, numbered| Template::new(address, tenant, "/v1/payments/credit", &credit(numbered)),
            false,
        )
    }

    /// Batches of [`BATCH`] payouts of these tenants to their merchants.
    pub fn batches(address: SocketAddr, tenants: &[Tenant]) -> Requests {
        let batch = |tenant: &Tenant, numbered: &Numbered| {
            let items: Vec<String> =
                (0..BATCH).map(|nth| payout(tenant, numbered, &format!("-{nth}"))).collect();
            format!(r#"{{"externalRef":"{}","items":[{}]}}"#, numbered.reference(MARK), items.join(","))
        };
        Requests::new(
            tenants,
            |tenant, numbered| Template::new(address, tenant, "/v1/payouts/batch", &batch(tenant, numbered)),
            true,
        )
    }

    fn new(tenants: &[Tenant], template: impl Fn(&Tenant, &Numbered) -> Template, batches: bool) -> Requests {
        let numbered = Numbered::new();
        let templates = tenants.iter().map(|tenant| template(tenant, &numbered)).collect();
        Requests { templates, batches, numbered }
    }

    /// The number of requests that were made.
    pub fn sent(&self) -> u64 {
        self.numbered.next.load(Ordering::Relaxed)
    }
}

impl Numbered {
    /// Numbers from zero on, under a prefix of this run.
    pub fn new() -> Numbered {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        Numbered { prefix: format!("bench-{started:x}-"), next: AtomicU64::new(0) }
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The reference with this number, or with [`MARK`] where a template has it.
    pub fn reference(&self, number: &str) -> String {
        format!("{}{number}", self.prefix)
    }
}

impl Workload for Requests {
    fn choices(&self) -> usize {
        self.templates.len()
    }

    /// Every request has a reference of its own, with its number.
    fn write(&self, nth: usize, into: &mut Vec<u8>) -> Outcome<u64> {
        let number = self.numbered.next();
        self.templates[nth % self.templates.len()].fill(number, into);
        Ok(number)
    }

    fn body_every(&self) -> usize {
        if self.batches { BODY_EVERY.1 } else { BODY_EVERY.0 }
    }

    /// Checks that the answer is about this payout or this whole batch, and that all of it arrived.
    fn check(&self, number: u64, body: &[u8]) -> Outcome<()> {
        let fail = |why: &str| format!("{why}: {}", String::from_utf8_lossy(&body[..body.len().min(2_000)]));
        let reference = self.numbered.reference(&format!("{number:0DIGITS$x}"));
        let arrived = |paid: &Paid<'_>, reference: &str| {
            (paid.status, paid.monto, paid.external_ref) == ("completed", AMOUNT, reference)
        };
        let right = if self.batches {
            let batch: PaidBatch<'_> =
                serde_json::from_slice(body).map_err(|error| fail(&error.to_string()))?;
            batch.items.len() == BATCH
                && batch
                    .items
                    .iter()
                    .enumerate()
                    .all(|(nth, paid)| arrived(paid, &format!("{reference}-{nth}")))
        } else {
            arrived(&serde_json::from_slice(body).map_err(|error| fail(&error.to_string()))?, &reference)
        };
        if right { Ok(()) } else { Err(fail(&format!("not what was asked with {reference}"))) }
    }
}

/// The placeholder of a number: as many characters as it has digits, which nothing else in a
/// request has.
pub const MARK: &str = "~~~~~~~~~~~~";

/// A payout under the reference with the number, which ends with `suffix`.
fn payout(tenant: &Tenant, numbered: &Numbered, suffix: &str) -> String {
    let reference = numbered.reference(MARK);
    format!(
        r#"{{"merchantId":"{}","monto":"{AMOUNT}","concepto":"pago de prueba","externalRef":"{reference}{suffix}"}}"#,
        tenant.merchant
    )
}

impl Template {
    /// A POST of this tenant. Wherever the body has [`MARK`], a number goes.
    pub fn new(address: SocketAddr, tenant: &Tenant, path: &str, body: &str) -> Template {
        const { assert!(MARK.len() == DIGITS) };
        let mut bytes = Vec::with_capacity(512 + body.len());
        write!(
            bytes,
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nx-api-key: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            tenant.key,
            body.len()
        )
        .expect("a Vec takes everything");
        let body_at = bytes.len();
        let numbers_at = body.match_indices(MARK).map(|(at, _)| body_at + at).collect();
        bytes.extend_from_slice(body.as_bytes());
        Template { bytes, body_at, numbers_at }
    }

    /// The offset at which the body begins.
    pub fn body_at(&self) -> usize {
        self.body_at
    }

    /// Puts the request with this number into `into`.
    pub fn fill(&self, number: u64, into: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(&self.bytes);
        for at in &self.numbers_at {
            let mut rest = number;
            for digit in into[*at..*at + DIGITS].iter_mut().rev() {
                *digit = b"0123456789abcdef"[(rest & 15) as usize];
                rest >>= 4;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_has_a_reference_of_its_own() {
        let tenants = [Tenant { key: "k".to_owned(), merchant: "m".to_owned() }];
        let requests = Requests::payouts("127.0.0.1:80".parse().expect("an address"), &tenants);
        let mut bytes = Vec::new();
        let numbers: Vec<u64> =
            (0..20).map(|nth| requests.write(nth, &mut bytes).expect("there is no end of them")).collect();
        assert_eq!(numbers, (0..20).collect::<Vec<_>>());
        let text = String::from_utf8(bytes).expect("UTF-8");
        assert!(text.ends_with(r#"-000000000013"}"#), "{text}");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{text}");
        let answer = body.replace(r#""concepto""#, r#""status":"completed","concepto""#);
        assert_eq!(requests.check(19, answer.as_bytes()), Ok(()));
        assert!(requests.check(18, answer.as_bytes()).is_err());
    }

    #[test]
    fn a_batch_has_its_number_in_every_reference() {
        let tenants = [Tenant { key: "k".to_owned(), merchant: "m".to_owned() }];
        let requests = Requests::batches("127.0.0.1:80".parse().expect("an address"), &tenants);
        let mut bytes = Vec::new();
        let numbers: Vec<u64> =
            (0..18).map(|nth| requests.write(nth, &mut bytes).expect("there is always one")).collect();
        assert_eq!(numbers.last(), Some(&17));
        let text = String::from_utf8(bytes).expect("UTF-8");
        assert!(
            !text.contains('~') && text.ends_with(r#"-000000000011-999"}]}"#),
            "{}",
            &text[text.len() - 100..]
        );
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
        let answer = body.replace(r#""concepto""#, r#""status":"completed","concepto""#);
        assert_eq!(requests.check(17, answer.as_bytes()), Ok(()));
        let part = answer.replacen("completed", "failed", 1);
        assert!(
            requests.check(17, part.as_bytes()).is_err() && requests.check(16, answer.as_bytes()).is_err()
        );
    }
}
