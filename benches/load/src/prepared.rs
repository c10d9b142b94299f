//! Requests that need something made beforehand, as many as one can in a while, and each used once:
//! quotes that are accepted, intents that are executed.

use crate::Outcome;
use crate::connection::Connection;
use crate::prepare::Tenant;
use crate::requests::{MARK, Numbered, Template, Workload};
use crate::server::Server;
use serde::Deserialize;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Connections over which things are made beforehand.
const MAKERS: usize = 256;

/// Half times the time of a case in which things are made for it, at the first attempt and at the
/// next ones.
const HALVES: [u32; 3] = [3, 6, 10];

/// The number of answers of a connection of which one body is read.
const BODY_EVERY: usize = 64;

/// The placeholder of the id of what was made: as many characters as it has, which nothing else in
/// a request has.
const ID_MARK: &str = "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^";

/// The things that are made first and used in the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Quotes, which become conversions of bolívares.
    Conversions,
    /// Intents of C2P, which become collections.
    Collections,
}

impl Kind {
    /// The path and the body that make one.
    fn made(self, numbered: &Numbered) -> (&'static str, String) {
        match self {
            Kind::Conversions => ("/v1/conversions/quotes", r#"{"sourceAmountVes":"250.00"}"#.to_owned()),
            Kind::Collections => ("/v1/payments/c2p/request", format!("{{{}}}", payer(numbered))),
        }
    }

    /// The path and the body that use one, and the status of success.
    fn used(self, numbered: &Numbered) -> (&'static str, String, u16) {
        match self {
            Kind::Conversions => ("/v1/conversions", format!(r#"{{"quoteId":"{ID_MARK}"}}"#), 201),
            Kind::Collections => (
                "/v1/payments/c2p",
                format!(r#"{{"intentId":"{ID_MARK}","token":"12345678",{}}}"#, payer(numbered)),
                200,
            ),
        }
    }
}

/// The members that an intent and its execution have in common.
fn payer(numbered: &Numbered) -> String {
    let reference = numbered.reference(MARK);
    format!(
        r#""usdAmount":10,"debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,"externalRef":"{reference}""#
    )
}

/// The things that one tenant has made, and how many of them were used.
pub struct Prepared {
    template: Template,
    id_at: usize,
    status: u16,
    made: Vec<Made>,
    next: AtomicUsize,
}

/// The id of a thing, and the number in its reference.
struct Made {
    id: String,
    number: u64,
}

/// The rule by which enough are made.
#[derive(Clone, Copy, Debug)]
pub enum Enough {
    /// As many as can be made in this time: to make one costs less than to use it.
    For(Duration),
    /// A fixed number.
    Count(usize),
}

/// The members of an answer that are checked.
#[derive(Deserialize)]
struct Answered<'a> {
    #[serde(alias = "intentId")]
    id: &'a str,
    #[serde(default)]
    status: &'a str,
}

impl Prepared {
    /// Runs `with` on as many as can be made in one and a half times the `time` that it takes, and
    /// again on more if they ran out: making them may have been held up by something else.
    pub fn while_they_last<T>(
        server: &Server,
        tenant: &Tenant,
        kind: Kind,
        time: Duration,
        with: impl Fn(&Arc<dyn Workload>) -> Outcome<T>,
    ) -> Outcome<T> {
        let mut last = Err("nothing was made".to_owned());
        for halves in HALVES {
            let prepared = Arc::new(Prepared::new(server, tenant, kind, Enough::For(time * halves / 2))?);
            let workload: Arc<dyn Workload> = prepared.clone();
            last = with(&workload);
            if last.is_ok() || prepared.next.load(Ordering::Relaxed) <= prepared.made.len() {
                break;
            }
        }
        last
    }

    /// Makes them for this tenant.
    pub fn new(server: &Server, tenant: &Tenant, kind: Kind, enough: Enough) -> Outcome<Prepared> {
        let numbered = Arc::new(Numbered::new());
        let (path, body) = kind.made(&numbered);
        let template = Arc::new(Template::new(server.api, tenant, path, &body));
        let (until, each) = match enough {
            Enough::For(time) => (Some(Instant::now() + time), usize::MAX),
            Enough::Count(count) => (None, count.div_ceil(MAKERS)),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let address = server.api;
        let made = runtime.block_on(async {
            let lanes: Vec<_> = (0..MAKERS)
                .map(|_| {
                    tokio::spawn(make(address, Arc::clone(&template), Arc::clone(&numbered), until, each))
                })
                .collect();
            let mut made = Vec::new();
            for lane in lanes {
                made.extend(lane.await.map_err(|error| error.to_string())??);
            }
            Ok::<_, String>(made)
        });
        let made = made.map_err(|why| format!("{path}: {why}: {}", server.last_words()))?;
        Ok(Prepared::of(server.api, tenant, kind, &numbered, made))
    }

    fn of(
        address: SocketAddr,
        tenant: &Tenant,
        kind: Kind,
        numbered: &Numbered,
        made: Vec<Made>,
    ) -> Prepared {
        const { assert!(ID_MARK.len() == 36, "the letters of an id") };
        let (path, body, status) = kind.used(numbered);
        let template = Template::new(address, tenant, path, &body);
        let id_at = template.body_at() + body.find(ID_MARK).expect("it is used by its id");
        Prepared { template, id_at, status, made, next: AtomicUsize::new(0) }
    }
}

/// Makes them over one connection, at most so many and, if there is an end, until then.
async fn make(
    address: SocketAddr,
    template: Arc<Template>,
    numbered: Arc<Numbered>,
    until: Option<Instant>,
    most: usize,
) -> Outcome<Vec<Made>> {
    let mut connection = Connection::open(address).await?;
    let (mut made, mut request) = (Vec::new(), Vec::new());
    while made.len() < most && until.is_none_or(|until| Instant::now() < until) {
        let number = numbered.next();
        template.fill(number, &mut request);
        let answer = connection.exchange(&request).await?;
        let fail = |why: &str| format!("{why}: {} {}", answer.status, String::from_utf8_lossy(answer.body));
        let answered: Answered<'_> =
            serde_json::from_slice(answer.body).map_err(|error| fail(&error.to_string()))?;
        if answer.status != 201 || answered.id.len() != ID_MARK.len() {
            return Err(fail("not made"));
        }
        made.push(Made { id: answered.id.to_owned(), number });
    }
    Ok(made)
}

impl Workload for Prepared {
    fn choices(&self) -> usize {
        1
    }

    fn write(&self, _nth: usize, into: &mut Vec<u8>) -> Outcome<u64> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        let made =
            self.made.get(place).ok_or("what was made beforehand ran out; the case is too long for it")?;
        self.template.fill(made.number, into);
        into[self.id_at..self.id_at + ID_MARK.len()].copy_from_slice(made.id.as_bytes());
        Ok(place as u64)
    }

    fn status(&self) -> u16 {
        self.status
    }

    fn body_every(&self) -> usize {
        BODY_EVERY
    }

    fn check(&self, number: u64, body: &[u8]) -> Outcome<()> {
        let fail = |why: &str| format!("{why}: {}", String::from_utf8_lossy(body));
        let answered: Answered<'_> =
            serde_json::from_slice(body).map_err(|error| fail(&error.to_string()))?;
        let id = usize::try_from(number)
            .ok()
            .and_then(|number| self.made.get(number))
            .map_or("", |made| made.id.as_str());
        if answered.id == id && answered.status == "COMPLETED" {
            Ok(())
        } else {
            Err(fail(&format!("not what was asked with {id}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 2] = ["01930000-0000-7000-8000-000000000001", "01930000-0000-7000-8000-000000000002"];

    fn prepared(kind: Kind) -> Prepared {
        let tenant = Tenant { key: "k".to_owned(), merchant: String::new() };
        let numbered = Numbered::new();
        let made = IDS.map(|id| Made { id: id.to_owned(), number: numbered.next() });
        Prepared::of("127.0.0.1:80".parse().expect("an address"), &tenant, kind, &numbered, made.into())
    }

    #[test]
    fn every_quote_is_accepted_once() {
        let conversions = prepared(Kind::Conversions);
        let mut bytes = Vec::new();
        assert_eq!(conversions.write(7, &mut bytes), Ok(0));
        assert!(
            bytes.ends_with(br#"{"quoteId":"01930000-0000-7000-8000-000000000001"}"#),
            "{}",
            String::from_utf8_lossy(&bytes)
        );
        assert_eq!(conversions.check(0, br#"{"id":"01930000-0000-7000-8000-000000000001","object":"conversion","status":"COMPLETED"}"#), Ok(()));
        assert!(
            conversions
                .check(0, br#"{"id":"01930000-0000-7000-8000-000000000002","status":"COMPLETED"}"#)
                .is_err()
        );
        assert!(
            conversions
                .check(0, br#"{"id":"01930000-0000-7000-8000-000000000001","status":"PENDING"}"#)
                .is_err()
        );
        assert_eq!(conversions.write(7, &mut bytes), Ok(1));
        assert!(conversions.write(7, &mut bytes).is_err(), "there is no third");
    }

    #[test]
    fn an_intent_is_executed_under_its_own_reference() {
        let collections = prepared(Kind::Collections);
        let mut bytes = Vec::new();
        assert_eq!((collections.write(0, &mut bytes), collections.write(0, &mut bytes)), (Ok(0), Ok(1)));
        let text = String::from_utf8(bytes).expect("UTF-8");
        let body: serde_json::Value =
            serde_json::from_str(text.split_once("\r\n\r\n").expect("a head and a body").1).expect("JSON");
        assert_eq!(body["intentId"], IDS[1]);
        assert!(
            body["externalRef"].as_str().is_some_and(
                |reference| reference.starts_with("bench-") && reference.ends_with("-000000000001")
            ),
            "{body}"
        );
    }
}
