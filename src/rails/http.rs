//! The HTTP client of a live rail: one call, bounded in time and size. A call of which no
//! connection took a byte left nothing behind and says so; whatever fails afterwards may have been
//! carried out. Nothing is sent again, no redirect is followed, no proxy of the environment is
//! asked. What stands in headers and bodies is in no log line: whoever logs a failure has only the
//! words of [`Failure`].

mod connection;
mod connector;
mod pool;

use chrono::DateTime;
use connection::{Answered, Connection, Unanswered};
use connector::{Connector, Unconnected};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri};
use pool::Pool;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use url::{Host, Position, Url};
use zeroize::Zeroizing;

pub const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// A connection is used again within this, unless a client is told otherwise.
pub const IDLE: Duration = Duration::from_secs(1);
/// Sooner than callers are answered that the bank is silent, as an order without a connection was not sent.
const CONNECT: Duration = Duration::from_secs(5);
const USER_AGENT: &[u8] =
    concat!("accept: */*\r\nuser-agent: pasarela/", env!("CARGO_PKG_VERSION"), "\r\n").as_bytes();
const HEAD_BYTES: usize = 160 + USER_AGENT.len();

pub type Fingerprint = [u8; 32];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    text: Box<str>,
    origin: Url,
    /// Certificates that may be shown; none: any that the system trusts.
    pins: Box<[Fingerprint]>,
}

impl BaseUrl {
    /// Paths follow it directly, whether it ends in a slash or not.
    pub fn parse(text: &str) -> Result<BaseUrl, &'static str> {
        const EXPECTED: &str =
            "must be an https address without user, query and fragment; http goes to loopback only";
        let origin = Url::parse(text).map_err(|_| EXPECTED)?;
        let bare = origin.query().is_none()
            && origin.fragment().is_none()
            && origin.username().is_empty()
            && origin.password().is_none();
        if !bare || !is_safe(&origin) {
            return Err(EXPECTED);
        }
        Ok(BaseUrl { text: Box::from(origin.as_str().trim_end_matches('/')), origin, pins: Box::default() })
    }

    /// Called only where the server's own certificate has one of these fingerprints; none: where
    /// the system trusts it. It is for every address that the rail names, too.
    pub fn pinned(self, pins: &[Fingerprint]) -> BaseUrl {
        BaseUrl { pins: pins.into(), ..self }
    }

    pub fn path(&self, path: &str) -> String {
        format!("{}/{path}", self.text)
    }

    /// An address that the rail itself named, if secrets may be sent there: by https, or by http on
    /// this machine where the base itself is. One without a host is on the rail's own.
    pub fn named(&self, address: &str) -> Option<String> {
        let url = self.origin.join(address).ok()?;
        let fits = match url.scheme() {
            "https" => true,
            _ => self.origin.scheme() == "http" && is_safe(&url),
        };
        (fits && url.username().is_empty() && url.password().is_none()).then(|| url.into())
    }

    pub fn host(&self) -> &str {
        &self.origin[Position::BeforeHost..Position::AfterPort]
    }

    pub fn is_https(&self) -> bool {
        self.origin.scheme() == "https"
    }
}

fn is_safe(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => return false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    NoConnection(Unconnected),
    Late,
    Cut,
    TooLong,
    NotMade,
}

impl Failure {
    pub const fn key(self) -> &'static str {
        match self {
            Failure::NoConnection(Unconnected::Unpinned) => "certificate_sha256",
            _ => "base_url",
        }
    }

    pub const fn text(self) -> &'static str {
        match self {
            Failure::NoConnection(why) => match why {
                Unconnected::Name => "no connection came about: DNS does not know the name",
                Unconnected::Refused => "no connection came about: it was refused",
                Unconnected::Late => "no connection came about in time",
                Unconnected::Insecure => "no connection came about: TLS was not agreed on",
                Unconnected::Untrusted => {
                    "no connection came about: the system does not trust the certificate"
                }
                Unconnected::Unpinned => "no connection came about: the certificate is not a pinned one",
                Unconnected::Other => "no connection came about",
            },
            Failure::Late => "no whole answer came in time",
            Failure::Cut => "the connection ended before the answer did",
            Failure::TooLong => "the answer was too long",
            Failure::NotMade => "the request could not be made",
        }
    }
}

#[derive(Debug)]
pub enum Exchange {
    /// Nothing of it has left this machine.
    NotSent(Failure),
    /// The call was sent, or may have been; there is no readable answer.
    NoAnswer(Failure),
    Answer(HttpAnswer),
}

impl Exchange {
    pub fn answer(self) -> Result<HttpAnswer, Failure> {
        match self {
            Exchange::Answer(answer) => Ok(answer),
            Exchange::NotSent(failure) | Exchange::NoAnswer(failure) => Err(failure),
        }
    }
}

pub struct HttpAnswer {
    pub status: u16,
    pub body: Vec<u8>,
}

/// The status and the size: bodies have tokens and people's data in them.
impl fmt::Debug for HttpAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {} bytes", self.status, self.body.len())
    }
}

pub struct Request {
    method: Method,
    url: String,
    headers: Option<HeaderMap>,
    body: Option<Zeroizing<Vec<u8>>>,
}

impl Request {
    pub fn get(url: String) -> Request {
        Request { method: Method::GET, url, headers: Some(HeaderMap::new()), body: None }
    }

    pub fn post(url: String) -> Request {
        Request { method: Method::POST, ..Request::get(url) }
    }

    /// The body is zeroed once it was sent.
    pub fn json(self, body: Zeroizing<Vec<u8>>) -> Request {
        Request { body: Some(body), ..self }.header(CONTENT_TYPE, "application/json")
    }

    pub fn header(mut self, name: HeaderName, value: &str) -> Request {
        self.headers = self.headers.and_then(|mut headers| {
            let mut value = HeaderValue::from_str(value).ok()?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Some(headers)
        });
        self
    }

    pub fn bearer(self, token: &str) -> Request {
        let value = Zeroizing::new(format!("Bearer {token}"));
        self.header(AUTHORIZATION, &value)
    }

    fn made(self) -> Option<Made> {
        let Request { method, url, headers, body } = self;
        let url = Url::parse(&url).ok()?;
        let address = Uri::try_from(&url[..Position::AfterQuery]).ok()?;
        let origin = url.origin().ascii_serialization();
        let headers = headers?;
        let has_length = body.is_some();
        let body: &[u8] = body.as_ref().map_or(&[], |body| body);
        let named: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        // A vector that grows leaves a copy behind that nobody zeroes.
        let room = HEAD_BYTES + 2 * url.as_str().len() + named + body.len();
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        let mut write = |parts: &[&[u8]]| parts.iter().for_each(|part| bytes.extend_from_slice(part));
        let path = &url[Position::BeforePath..Position::AfterQuery];
        let host = &url[Position::BeforeHost..Position::AfterPort];
        write(&[method.as_str().as_bytes(), b" ", path.as_bytes(), b" HTTP/1.1\r\n"]);
        for (name, value) in &headers {
            write(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"]);
        }
        write(&[USER_AGENT, b"host: ", host.as_bytes(), b"\r\n"]);
        if has_length {
            write(&[b"content-length: ", body.len().to_string().as_bytes(), b"\r\n"]);
        }
        write(&[b"\r\n", body]);
        assert!(bytes.len() <= room, "the room of a request is too small");
        Some(Made { method, address, origin, bytes })
    }
}

struct Made {
    method: Method,
    address: Uri,
    origin: String,
    bytes: Zeroizing<Vec<u8>>,
}

#[derive(Debug, thiserror::Error)]
#[error("the client did not start: {0}")]
pub struct NoClient(rustls::Error);

pub struct Client {
    connector: Connector,
    pool: Arc<Pool>,
    pub timeout: Duration,
    answer_bytes_max: usize,
    /// Seconds by which the other side's clock was ahead of ours when it last told the time.
    ahead: Mutex<Option<i64>>,
}

impl Client {
    pub fn new(base: &BaseUrl, timeout: Duration) -> Result<Client, NoClient> {
        // Well before the time of the call: one that ends while a connection is made is known not to
        // have been sent.
        let time = (timeout / 2).min(CONNECT);
        let connector = Connector::new(base.is_https(), base.pins.clone(), time).map_err(NoClient)?;
        Ok(Client {
            connector,
            pool: Arc::new(Pool::new(IDLE)),
            timeout,
            answer_bytes_max: ANSWER_BYTES_MAX,
            ahead: Mutex::default(),
        })
    }

    pub fn answers_up_to(self, answer_bytes_max: usize) -> Client {
        Client { answer_bytes_max, ..self }
    }

    pub fn idle_for(self, idle: Duration) -> Client {
        Client { pool: Arc::new(Pool::new(idle)), ..self }
    }

    pub fn clock_ahead(&self) -> Option<i64> {
        *self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_clock(&self, headers: &HeaderMap) {
        let dated = headers.get(DATE).and_then(|date| date.to_str().ok());
        let dated = dated.and_then(|date| DateTime::parse_from_rfc2822(date).ok());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let now = now.and_then(|now| i64::try_from(now.as_secs()).ok());
        if let (Some(dated), Some(now)) = (dated, now) {
            *self.ahead.lock().unwrap_or_else(PoisonError::into_inner) = Some(dated.timestamp() - now);
        }
    }

    pub async fn exchange(&self, request: Request) -> Exchange {
        self.exchange_within(request, self.timeout).await
    }

    pub async fn exchange_within(&self, request: Request, within: Duration) -> Exchange {
        let Some(made) = request.made().filter(|made| self.connector.speaks(&made.address)) else {
            return Exchange::NotSent(Failure::NotMade);
        };
        let exchange = self.once(made);
        let bounded = tokio::time::timeout(within.min(self.timeout), exchange).await;
        bounded.unwrap_or(Exchange::NoAnswer(Failure::Late))
    }

    /// Over a new connection too, if the unused one did not take a byte of the request.
    async fn once(&self, made: Made) -> Exchange {
        let Made { method, address, origin, mut bytes } = made;
        if let Some(unused) = self.pool.take(&origin) {
            match unused.exchange(method.clone(), bytes, self.answer_bytes_max).await {
                Err(Unanswered::NotBegun(unsent)) => bytes = unsent,
                answered => {
                    if matches!(answered, Err(Unanswered::Cut)) {
                        self.pool.note_closed(&origin);
                    }
                    return self.exchanged(origin, answered);
                }
            }
        }
        // Making a connection takes more memory than a call that waits for its answer should keep.
        let connection = match Box::pin(self.connector.connect(&address)).await {
            Ok(wire) => Connection::over(wire),
            Err(why) => return Exchange::NotSent(Failure::NoConnection(why)),
        };
        let answered = connection.exchange(method, bytes, self.answer_bytes_max).await;
        self.exchanged(origin, answered)
    }

    fn exchanged(&self, origin: String, answered: Result<Answered, Unanswered>) -> Exchange {
        match answered {
            Ok(Answered { head, body, connection }) => {
                if let Some(connection) = connection {
                    self.pool.put(origin, connection, &head.headers);
                }
                self.note_clock(&head.headers);
                Exchange::Answer(HttpAnswer { status: head.status.as_u16(), body })
            }
            Err(Unanswered::NotBegun(_)) => Exchange::NotSent(Failure::Cut),
            Err(Unanswered::Cut) => Exchange::NoAnswer(Failure::Cut),
            Err(Unanswered::TooLong) => Exchange::NoAnswer(Failure::TooLong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_secrets_may_be_sent() {
        for (given, path) in [
            ("https://r4conecta.mibanco.com.ve", "https://r4conecta.mibanco.com.ve/MBbcv"),
            ("https://r4conecta.mibanco.com.ve/", "https://r4conecta.mibanco.com.ve/MBbcv"),
            ("https://sandbox.wompi.co/v1", "https://sandbox.wompi.co/v1/MBbcv"),
            ("http://127.0.0.1:9170", "http://127.0.0.1:9170/MBbcv"),
            ("http://127.8.9.1:1", "http://127.8.9.1:1/MBbcv"),
            ("http://[::1]:1", "http://[::1]:1/MBbcv"),
            ("http://LOCALHOST:1/v1", "http://localhost:1/v1/MBbcv"),
        ] {
            assert_eq!(BaseUrl::parse(given).map(|base| base.path("MBbcv")), Ok(path.to_owned()), "{given}");
        }
        for given in [
            "",
            "r4conecta.mibanco.com.ve",
            "http://r4conecta.mibanco.com.ve",
            "http://localhost.example.com",
            "http://128.0.0.1",
            "http://[::2]",
            "ftp://127.0.0.1",
            "https://user@example.com",
            "https://:secret@example.com",
            "https://example.com/?a",
            "https://example.com/#a",
            "https:",
        ] {
            assert!(BaseUrl::parse(given).is_err(), "{given}");
        }
    }

    #[test]
    fn an_address_that_the_rail_names_is_as_safe_as_its_own() {
        let https = BaseUrl::parse("https://sandbox.wompi.co/v1").expect("an address");
        let local = BaseUrl::parse("http://127.0.0.1:9171/v1").expect("an address");
        let named = |base: &BaseUrl, address| base.named(address);
        assert_eq!(named(&https, "https://dvp.example/send").as_deref(), Some("https://dvp.example/send"));
        assert_eq!(named(&https, "/v1/dvp/1").as_deref(), Some("https://sandbox.wompi.co/v1/dvp/1"));
        for address in ["http://dvp.example/send", "http://127.0.0.1/", "https://a@b.example/", "file:///etc"]
        {
            assert_eq!(named(&https, address), None, "{address}");
        }
        assert_eq!(named(&local, "http://127.0.0.1:1/s").as_deref(), Some("http://127.0.0.1:1/s"));
        assert_eq!(named(&local, "http://example.com/s"), None);
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_noticed_before() {
        let request = Request::get("https://example.com".to_owned()).bearer("a\nb");
        assert!(request.headers.is_none());
    }

    #[test]
    fn debug_output_shows_no_body() {
        let answer = HttpAnswer { status: 200, body: b"secret".to_vec() };
        assert_eq!(format!("{:?}", Exchange::Answer(answer)), "Answer(200 with 6 bytes)");
    }
}
