//! A delivery: a POST to a checked address, ten seconds in all, no redirect, and a look at the
//! status. Its result is an outcome in every case.

use super::names::{CheckedNames, Lookups, NoAddress};
use super::secret::Secret;
use actors::Clock;
use api::webhooks::targets::{self, Allowed};
use bytes::Bytes;
use domain::values::ids::Id;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, Response, redirect, retry};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time that an endpoint has to answer, connecting included (`docs/contract.md, 13.3`).
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The time for which an unused connection is kept: shorter than receivers keep theirs, so that
/// nothing is sent into one that is being closed.
const IDLE: Duration = Duration::from_secs(1);
/// The bytes of an answer that are read, so that the connection can be used again; of a longer one
/// nothing more is wanted.
const ANSWER_BYTES_MAX: usize = 16 * 1024;
/// The time for which an answer's body is read: the status is all that counts.
const ANSWER_PATIENCE: Duration = Duration::from_millis(500);

const SVC_EVENT_ID: HeaderName = HeaderName::from_static("svc-event-id");
const SVC_EVENT_SEQUENCE: HeaderName = HeaderName::from_static("svc-event-sequence");
const SVC_SIGNATURE: HeaderName = HeaderName::from_static("svc-signature");
const X_WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("x-webhook-signature");
const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// A message and the address that it is sent to.
pub struct Message {
    /// The endpoint's address.
    pub url: String,
    /// The mode: live goes by https alone.
    pub livemode: bool,
    /// The event's id.
    pub event: Id,
    /// The event's number, of those that have one.
    pub sequence: Option<u64>,
    /// Whether X-Webhook-Signature goes with it.
    pub older_signature: bool,
    /// The body, byte by byte.
    pub body: Vec<u8>,
    /// The secret that signs it.
    pub secret: Secret,
}

/// The outcome of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The status that the endpoint answered, if it did.
    pub http_status: Option<u16>,
    /// The time, in ms, until the status was there, or the failure.
    pub latency_ms: u32,
    /// The reason of the failure; `None` for a 2xx in time.
    pub error: Option<String>,
}

impl Sent {
    /// A delivery that failed before anything was sent.
    pub fn failed(why: &str) -> Sent {
        Sent { http_status: None, latency_ms: 0, error: Some(why.to_owned()) }
    }
}

/// The reason why the file that `webhooks.extra_ca_file` names is of no use.
#[derive(Debug, thiserror::Error)]
pub enum ExtraCaError {
    /// The system does not read it.
    #[error("webhooks.extra_ca_file: {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not PEM.
    #[error("webhooks.extra_ca_file: {}: {source}", path.display())]
    NotPem {
        /// The file.
        path: PathBuf,
        /// The error of reading it as PEM.
        source: reqwest::Error,
    },
    /// The file holds no certificate.
    #[error("webhooks.extra_ca_file: {}: holds no certificate", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// The reason why nothing can be posted.
#[derive(Debug, thiserror::Error)]
pub enum PosterError {
    /// The certificates to trust cannot be had.
    #[error(transparent)]
    ExtraCa(#[from] ExtraCaError),
    /// The client does not start.
    #[error("webhooks: the client did not start: {0}")]
    Client(reqwest::Error),
}

/// The client that sends messages, and the addresses that it may send them to.
pub struct Poster {
    client: Client,
    allow_private: bool,
    /// The clock that is believed: a receiver refuses a message that seems to come from another
    /// day.
    clock: Clock,
}

impl Poster {
    /// Trusts the certificates of the system and those of `extra_ca_file`.
    pub fn new(
        allow_private: bool,
        extra_ca_file: Option<&Path>,
        lookups: &Arc<Lookups>,
        clock: Clock,
    ) -> Result<Poster, PosterError> {
        // The first caller has installed the same provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let extra = extra_ca_file.map(certificates).transpose()?.unwrap_or_default();
        let builder = || {
            Client::builder()
                .user_agent(concat!("pasarela/", env!("CARGO_PKG_VERSION")))
                .redirect(redirect::Policy::none())
                .retry(retry::never())
                .no_proxy()
                .referer(false)
                .pool_idle_timeout(IDLE)
                .dns_resolver(CheckedNames { allow_private, lookups: Arc::clone(lookups) })
        };
        let client = builder().tls_certs_merge(extra.clone()).build().or_else(|error| {
            // A machine without certificates can still speak to endpoints of test mode.
            tracing::warn!(%error, "the system's certificates cannot be read: webhooks by https reach only \
                what webhooks.extra_ca_file vouches for");
            builder().tls_certs_only(extra).build()
        });
        Ok(Poster { client: client.map_err(PosterError::Client)?, allow_private, clock })
    }

    /// Sends a message once.
    pub async fn post(&self, message: Message) -> Sent {
        let allowed = Allowed { livemode: message.livemode, private: self.allow_private };
        let url = match targets::check(&message.url, allowed) {
            Ok(url) => url,
            Err(why) => return Sent::failed(&format!("the url {why}")),
        };
        let Some(headers) = headers(&message, self.clock.wall_ms()) else {
            return Sent::failed("the headers could not be made");
        };
        let began = Instant::now();
        let sending = self.client.post(url).headers(headers).body(Bytes::from(message.body)).send();
        let answer = tokio::time::timeout(PATIENCE, sending).await;
        let latency_ms = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
        let (http_status, error) = match answer {
            Err(_) => (None, Some(format!("no answer within {} seconds", PATIENCE.as_secs()))),
            Ok(Err(error)) => (None, Some(why(&error))),
            Ok(Ok(answer)) => {
                let status = answer.status();
                let _ = tokio::time::timeout(ANSWER_PATIENCE, read_some(answer)).await;
                (
                    Some(status.as_u16()),
                    (!status.is_success()).then(|| format!("it answered {}", status.as_u16())),
                )
            }
        };
        Sent { http_status, latency_ms, error }
    }
}

/// The certificates in the file that `webhooks.extra_ca_file` names.
pub fn certificates(path: &Path) -> Result<Vec<Certificate>, ExtraCaError> {
    let file = || path.to_owned();
    let pem = std::fs::read(path).map_err(|source| ExtraCaError::Unreadable { path: file(), source })?;
    let certificates =
        Certificate::from_pem_bundle(&pem).map_err(|source| ExtraCaError::NotPem { path: file(), source })?;
    if certificates.is_empty() { Err(ExtraCaError::Empty { path: file() }) } else { Ok(certificates) }
}

/// The headers of a message, signed at `now_ms`.
pub fn headers(message: &Message, now_ms: i64) -> Option<HeaderMap> {
    let value = |text: &str| HeaderValue::from_str(text).ok();
    let id = message.event.to_string();
    let seconds = now_ms.div_euclid(1_000).to_string();
    let signature = value(&message.secret.sign_body(&message.body))?;
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(SVC_EVENT_ID, value(&id)?);
    if let Some(sequence) = message.sequence {
        headers.insert(SVC_EVENT_SEQUENCE, HeaderValue::from(sequence));
    }
    if message.older_signature {
        headers.insert(X_WEBHOOK_SIGNATURE, signature.clone());
    }
    headers.insert(SVC_SIGNATURE, signature);
    headers.insert(WEBHOOK_SIGNATURE, value(&message.secret.sign_message(&id, &seconds, &message.body))?);
    headers.insert(WEBHOOK_ID, value(&id)?);
    headers.insert(WEBHOOK_TIMESTAMP, value(&seconds)?);
    Some(headers)
}

/// Reads an answer to its end if that is near.
async fn read_some(mut answer: Response) {
    let mut read = 0;
    while let Ok(Some(chunk)) = answer.chunk().await {
        read += chunk.len();
        if read > ANSWER_BYTES_MAX {
            return;
        }
    }
}

/// The reason in a few words. What a peer says is not repeated: it is of no use and may be
/// anything.
fn why(error: &reqwest::Error) -> String {
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
            if let Some(inner) =
                io.get_ref().filter(|inner| inner.is::<rustls::Error>() || inner.is::<io::Error>())
            {
                cause = Some(inner);
                continue;
            }
            match io.kind() {
                ErrorKind::ConnectionRefused => return "the connection was refused".to_owned(),
                ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof => {
                    return "the connection broke".to_owned();
                }
                ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
                    return "it cannot be reached".to_owned();
                }
                _ => {}
            }
        }
        cause = found.source();
    }
    if error.is_connect() {
        "no connection came about".to_owned()
    } else {
        "the connection broke before an answer".to_owned()
    }
}
