//! A delivery: a POST to a checked address, ten seconds in all, no redirect, and a look at the
//! status. Its result is an outcome in every case. What meets a kept-alive connection that the
//! receiver was closing, or a stream that it did not process, goes out once more, on a connection
//! of its own: the receiver has not answered it, and this is one delivery.

use super::connection::{Connector, History, may_go_again, within_delivery};
use super::names::{CheckedNames, Lookups, NoAddress};
use super::secret::Signing;
use actors::Clock;
use api::webhooks::targets::{self, Allowed};
use bytes::Bytes;
use domain::values::ids::Id;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, Uri, Version};
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Connecting included (`docs/contract.md, 13.3`).
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Shorter than receivers keep unused connections, so that nothing is sent into one that is being closed.
const IDLE: Duration = Duration::from_secs(1);
/// So that the connection can be used again; of a longer answer nothing more is wanted.
const ANSWER_BYTES_MAX: usize = 16 * 1024;
const ANSWER_PATIENCE: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderNames {
    pub signature: HeaderName,
    pub event_id: HeaderName,
}

impl Default for HeaderNames {
    fn default() -> HeaderNames {
        HeaderNames {
            signature: HeaderName::from_static("svc-signature"),
            event_id: HeaderName::from_static("svc-event-id"),
        }
    }
}

pub struct Message {
    pub url: String,
    /// Live goes by https alone.
    pub livemode: bool,
    pub event: Id,
    pub sequence: Option<u64>,
    pub attempt: u32,
    pub older_signature: bool,
    pub body: Vec<u8>,
    pub signing: Signing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub http_status: Option<u16>,
    pub latency_ms: u32,
    /// `None` for a 2xx in time.
    pub error: Option<String>,
}

impl Sent {
    pub fn failed(why: &str) -> Sent {
        Sent { http_status: None, latency_ms: 0, error: Some(why.to_owned()) }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum WebhooksError {
    #[error("webhooks.extra_ca_file: {}: {why}", path.display())]
    ExtraCa { path: PathBuf, why: String },
    #[error("webhooks: the client did not start: {0}")]
    Client(#[from] rustls::Error),
    #[error("the threads of webhooks did not start: {0}")]
    Threads(io::Error),
}

pub struct Poster {
    client: Client<Connector, Full<Bytes>>,
    fresh: Client<Connector, Full<Bytes>>,
    names: HeaderNames,
    allow_private: bool,
    /// The believed one: a receiver refuses a message that seems to come from another day.
    clock: Clock,
}

impl Poster {
    pub fn new(
        allow_private: bool,
        extra_ca_file: Option<&Path>,
        names: HeaderNames,
        lookups: &Arc<Lookups>,
        clock: Clock,
    ) -> Result<Poster, WebhooksError> {
        let extra = extra_ca_file.map(certificates).transpose()?.unwrap_or_default();
        let checked = CheckedNames { allow_private, lookups: Arc::clone(lookups) };
        let connector = Connector::new(checked, extra)?;
        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
        let client = builder.build(connector.clone());
        let fresh = builder.pool_max_idle_per_host(0).build(connector);
        Ok(Poster { client, fresh, names, allow_private, clock })
    }

    pub async fn post(&self, message: Message) -> Sent {
        let allowed = Allowed { livemode: message.livemode, private: self.allow_private };
        let url = match targets::check(&message.url, allowed) {
            Ok(url) => url,
            Err(why) => return Sent::failed(&format!("the url {why}")),
        };
        let Ok(uri) = url.as_str().parse::<Uri>() else {
            return Sent::failed("the url cannot be called");
        };
        let Some(headers) = headers(&message, &self.names, self.clock.wall_ms()) else {
            return Sent::failed("the headers could not be made");
        };
        let body = Bytes::from(message.body);
        let request = || {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = Method::POST;
            *request.uri_mut() = uri.clone();
            *request.headers_mut() = headers.clone();
            request
        };
        let began = Instant::now();
        let sending = async {
            match self.client.request(request()).await {
                Err(error) if may_go_again(&error) => self.fresh.request(request()).await,
                answer => answer,
            }
        };
        let answer = within_delivery(tokio::time::timeout(PATIENCE, sending)).await;
        let latency_ms = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
        let (http_status, error) = match answer {
            Err(_) => (None, Some(format!("no answer within {} seconds", PATIENCE.as_secs()))),
            Ok(Err(error)) => (None, Some(why(&error))),
            Ok(Ok(answer)) => {
                let (status, code) = (answer.status(), answer.status().as_u16());
                let _ = tokio::time::timeout(ANSWER_PATIENCE, read_some(answer)).await;
                (Some(code), (!status.is_success()).then(|| format!("it answered {code}")))
            }
        };
        Sent { http_status, latency_ms, error }
    }
}

pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, WebhooksError> {
    let bad = |why: String| WebhooksError::ExtraCa { path: path.to_owned(), why };
    let pem = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    let certificates = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| bad(error.to_string()))?;
    if certificates.is_empty() { Err(bad("holds no certificate".to_owned())) } else { Ok(certificates) }
}

fn headers(message: &Message, names: &HeaderNames, now_ms: i64) -> Option<HeaderMap> {
    let value = |text: &str| HeaderValue::from_str(text).ok();
    let id = message.event.to_string();
    let seconds = now_ms.div_euclid(1_000).to_string();
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let agent = concat!("pasarela/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    headers.insert(&names.event_id, value(&id)?);
    headers.insert("svc-attempt", HeaderValue::from(message.attempt));
    if let Some(sequence) = message.sequence {
        headers.insert("svc-event-sequence", HeaderValue::from(sequence));
    }
    if message.older_signature {
        headers.insert("x-webhook-signature", value(&message.signing.newest.sign_body(&message.body))?);
    }
    headers.insert(&names.signature, value(&message.signing.sign(&seconds, &message.body))?);
    let standard = message.signing.sign_standard(&id, &seconds, &message.body);
    headers.insert("webhook-signature", value(&standard)?);
    headers.insert("webhook-id", value(&id)?);
    headers.insert("webhook-timestamp", value(&seconds)?);
    Some(headers)
}

async fn read_some(mut answer: Response<Incoming>) {
    if answer.version() == Version::HTTP_2
        && let Some(history) = answer.extensions().get::<History>()
    {
        history.answered();
    }
    let mut read = 0;
    while let Some(Ok(frame)) = answer.body_mut().frame().await {
        read += frame.data_ref().map_or(0, Bytes::len);
        if read > ANSWER_BYTES_MAX {
            return;
        }
    }
}

/// What a peer says is not repeated: it is of no use and may be anything.
fn why(error: &ClientError) -> String {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(found) = cause {
        if let Some(no_address) = found.downcast_ref::<NoAddress>() {
            return no_address.to_string();
        }
        if let Some(tls) = found.downcast_ref::<rustls::Error>() {
            return match tls {
                rustls::Error::InvalidCertificate(_) => "its certificate is not trusted".to_owned(),
                _ => "no secure connection came about".to_owned(),
            };
        }
        if let Some(io) = found.downcast_ref::<io::Error>() {
            // An error of TLS comes inside one of input and output, or two of them.
            let inner = io.get_ref().filter(|inner| inner.is::<rustls::Error>() || inner.is::<io::Error>());
            if let Some(inner) = inner {
                cause = Some(inner);
                continue;
            }
            let why = match io.kind() {
                ErrorKind::ConnectionRefused => "the connection was refused",
                ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof => "the connection broke",
                ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "it cannot be reached",
                _ => "",
            };
            if !why.is_empty() {
                return why.to_owned();
            }
        }
        cause = found.source();
    }
    match error.is_connect() {
        true => "no connection came about".to_owned(),
        false => "the connection broke before an answer".to_owned(),
    }
}
