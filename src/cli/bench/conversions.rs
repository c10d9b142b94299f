//! The requests of the conversion case: quotes are made beforehand, as many as one can in a while, and each is accepted once.

use super::Outcome;
use super::connection::Connection;
use super::prepare::Tenant;
use super::requests::Workload;
use super::server::Server;
use serde::Deserialize;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What one conversion converts, in bolívares.
const AMOUNT: &str = "250.00";

/// Connections that make quotes.
const QUOTERS: usize = 256;

/// Half times the time of a case in which quotes are made for it, at the first attempt and at the next ones.
const HALVES: [u32; 3] = [3, 6, 10];

/// Every so many answers of a connection the body is read.
const BODY_EVERY: usize = 64;

/// Letters of an id.
const ID_LETTERS: usize = 36;

/// Quotes of one tenant, and how many of them were used.
pub struct Conversions {
    template: Vec<u8>,
    id_at: usize,
    quotes: Vec<String>,
    next: AtomicUsize,
}

/// How many quotes are enough.
#[derive(Clone, Copy, Debug)]
pub enum Enough {
    /// What can be made in this time: a quote costs less than accepting it.
    For(Duration),
    /// So many.
    Count(usize),
}

/// What is looked at in an answer.
#[derive(Deserialize)]
struct Converted<'a> {
    id: &'a str,
    #[serde(default)]
    status: &'a str,
}

impl Conversions {
    /// Runs `with` on as many quotes as can be made in one and a half times the `time` that it takes, and again on more if they ran out: making them may have been held up by something else.
    pub fn while_they_last<T>(server: &Server, tenant: &Tenant, time: Duration, with: impl Fn(&Arc<dyn Workload>) -> Outcome<T>) -> Outcome<T> {
        let mut last = Err("no quotes".to_owned());
        for halves in HALVES {
            let conversions = Arc::new(Conversions::prepare(server, tenant, Enough::For(time * halves / 2))?);
            let workload: Arc<dyn Workload> = conversions.clone();
            last = with(&workload);
            if last.is_ok() || conversions.next.load(Ordering::Relaxed) <= conversions.quotes.len() {
                break;
            }
        }
        last
    }

    /// Makes quotes of this tenant.
    pub fn prepare(server: &Server, tenant: &Tenant, enough: Enough) -> Outcome<Conversions> {
        let request = Arc::new(post(server.api, tenant, "/v1/conversions/quotes", &format!(r#"{{"sourceAmountVes":"{AMOUNT}"}}"#)));
        let (until, each) = match enough {
            Enough::For(time) => (Some(Instant::now() + time), usize::MAX),
            Enough::Count(count) => (None, count.div_ceil(QUOTERS)),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let address = server.api;
        let quotes = runtime.block_on(async {
            let lanes: Vec<_> = (0..QUOTERS).map(|_| tokio::spawn(quotes(address, Arc::clone(&request), until, each))).collect();
            let mut quotes = Vec::new();
            for lane in lanes {
                quotes.extend(lane.await.map_err(|error| error.to_string())??);
            }
            Ok::<_, String>(quotes)
        });
        let quotes = quotes.map_err(|why| format!("making quotes: {why}: {}", server.last_words()))?;
        let body = format!(r#"{{"quoteId":"{}"}}"#, "0".repeat(ID_LETTERS));
        let template = post(address, tenant, "/v1/conversions", &body);
        // What follows the id is a quotation mark and a brace.
        let id_at = template.len() - ID_LETTERS - 2;
        Ok(Conversions { template, id_at, quotes, next: AtomicUsize::new(0) })
    }
}

/// Quotes over one connection, at most so many and, if there is an end, until then.
async fn quotes(address: SocketAddr, request: Arc<Vec<u8>>, until: Option<Instant>, most: usize) -> Outcome<Vec<String>> {
    let mut connection = Connection::open(address).await?;
    let mut quotes = Vec::new();
    while quotes.len() < most && until.is_none_or(|until| Instant::now() < until) {
        let answer = connection.exchange(&request).await?;
        let fail = |why: &str| format!("{why}: {} {}", answer.status, String::from_utf8_lossy(answer.body));
        let quote: Converted<'_> = serde_json::from_slice(answer.body).map_err(|error| fail(&error.to_string()))?;
        if answer.status != 201 || quote.id.len() != ID_LETTERS {
            return Err(fail("no quote"));
        }
        quotes.push(quote.id.to_owned());
    }
    Ok(quotes)
}

fn post(address: SocketAddr, tenant: &Tenant, path: &str, body: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    write!(
        bytes,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nx-api-key: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        tenant.key,
        body.len()
    )
    .expect("a Vec takes everything");
    bytes
}

impl Workload for Conversions {
    fn choices(&self) -> usize {
        1
    }

    fn write(&self, _nth: usize, into: &mut Vec<u8>) -> Outcome<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let quote = self.quotes.get(number).ok_or("the quotes ran out; the case is too long for them")?;
        into.clear();
        into.extend_from_slice(&self.template);
        into[self.id_at..self.id_at + ID_LETTERS].copy_from_slice(quote.as_bytes());
        Ok(number as u64)
    }

    fn body_every(&self) -> usize {
        BODY_EVERY
    }

    fn check(&self, number: u64, body: &[u8]) -> Outcome<()> {
        let fail = |why: &str| format!("{why}: {}", String::from_utf8_lossy(body));
        let converted: Converted<'_> = serde_json::from_slice(body).map_err(|error| fail(&error.to_string()))?;
        let quote = usize::try_from(number).ok().and_then(|number| self.quotes.get(number)).map_or("", String::as_str);
        if converted.id == quote && converted.status == "COMPLETED" { Ok(()) } else { Err(fail(&format!("not what was asked with {quote}"))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quote_is_accepted_once() {
        let tenant = Tenant { key: "k".to_owned(), merchant: String::new() };
        let quotes = vec!["01930000-0000-7000-8000-000000000001".to_owned(), "01930000-0000-7000-8000-000000000002".to_owned()];
        let template = post("127.0.0.1:80".parse().expect("an address"), &tenant, "/v1/conversions", &format!(r#"{{"quoteId":"{}"}}"#, "0".repeat(ID_LETTERS)));
        let conversions = Conversions { id_at: template.len() - ID_LETTERS - 2, template, quotes, next: AtomicUsize::new(0) };
        let mut bytes = Vec::new();
        assert_eq!(conversions.write(7, &mut bytes), Ok(0));
        assert!(bytes.ends_with(br#"{"quoteId":"01930000-0000-7000-8000-000000000001"}"#), "{}", String::from_utf8_lossy(&bytes));
        assert_eq!(conversions.check(0, br#"{"id":"01930000-0000-7000-8000-000000000001","object":"conversion","status":"COMPLETED"}"#), Ok(()));
        assert!(conversions.check(0, br#"{"id":"01930000-0000-7000-8000-000000000002","status":"COMPLETED"}"#).is_err());
        assert!(conversions.check(0, br#"{"id":"01930000-0000-7000-8000-000000000001","status":"PENDING"}"#).is_err());
        assert_eq!(conversions.write(7, &mut bytes), Ok(1));
        assert!(conversions.write(7, &mut bytes).is_err(), "there is no third");
    }
}
