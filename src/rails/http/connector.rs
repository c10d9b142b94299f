//! Makes connections to banks: looks the name up, connects to one of its addresses and agrees on
//! TLS, with a certificate that the system trusts and that is pinned, if any is, all within one
//! time.

use super::Fingerprint;
use hyper::Uri;
use hyper::http::uri::Scheme;
use hyper::service::Service;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::service::TowerToHyperService;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls_platform_verifier::BuilderVerifierExt;
use sha2::{Digest, Sha256};
use std::error::Error;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_TRIES: u32 = 3;
const ACKNOWLEDGED: Duration = Duration::from_secs(30);

/// Behind a pointer, as a stream with TLS is a thousand bytes larger.
pub type Wire = Box<dyn Stream>;

pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {
    fn has_ended(&self) -> bool;
}

impl Stream for TcpStream {
    fn has_ended(&self) -> bool {
        let Ok(same) = self.as_fd().try_clone_to_owned() else { return true };
        match std::net::TcpStream::from(same).peek(&mut [0]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }
}

impl Stream for TlsStream<TcpStream> {
    fn has_ended(&self) -> bool {
        self.get_ref().0.has_ended()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unconnected {
    Name,
    Refused,
    Late,
    Insecure,
    Untrusted,
    Unpinned,
    Other,
}

pub struct Connector {
    tcp: TowerToHyperService<HttpConnector>,
    /// Absent where plain HTTP is spoken: a machine without certificates can still speak to itself.
    tls: Option<TlsConnector>,
    pins: Box<[Fingerprint]>,
    timeout: Duration,
}

impl Connector {
    pub fn new(
        is_https: bool,
        pins: Box<[Fingerprint]>,
        timeout: Duration,
    ) -> Result<Connector, rustls::Error> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(timeout));
        tcp.set_keepalive(Some(KEEP_ALIVE));
        tcp.set_keepalive_interval(Some(KEEP_ALIVE));
        tcp.set_keepalive_retries(Some(KEEP_ALIVE_TRIES));
        tcp.set_tcp_user_timeout(Some(ACKNOWLEDGED));
        let tls = if is_https { Some(tls()?) } else { None };
        Ok(Connector { tcp: TowerToHyperService::new(tcp), tls, pins, timeout })
    }

    pub fn speaks(&self, uri: &Uri) -> bool {
        self.tls.is_none() || uri.scheme() == Some(&Scheme::HTTPS)
    }

    pub async fn connect(&self, uri: &Uri) -> Result<Wire, Unconnected> {
        tokio::time::timeout(self.timeout, self.secured(uri)).await.unwrap_or(Err(Unconnected::Late))
    }

    async fn secured(&self, uri: &Uri) -> Result<Wire, Unconnected> {
        let plain = self.tcp.call(uri.clone()).await.map_err(|error| of_tcp(&error))?.into_inner();
        if uri.scheme() != Some(&Scheme::HTTPS) {
            return Ok(Box::new(plain));
        }
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned()).map_err(|_| Unconnected::Name)?;
        let tls = self.tls.as_ref().ok_or(Unconnected::Insecure)?;
        let secure = tls.connect(name, plain).await.map_err(|error| of_tls(&error))?;
        match self.expects(secure.get_ref().1.peer_certificates()) {
            true => Ok(Box::new(secure)),
            false => Err(Unconnected::Unpinned),
        }
    }

    /// Only the first certificate is the server's own, and proved to be: the others need not be
    /// part of the path that was checked.
    fn expects(&self, shown: Option<&[CertificateDer<'_>]>) -> bool {
        let own = shown.and_then(<[_]>::first).map(|own| Fingerprint::from(Sha256::digest(own)));
        self.pins.is_empty() || own.is_some_and(|own| self.pins.contains(&own))
    }
}

fn of_tcp(error: &(dyn Error + 'static)) -> Unconnected {
    if error.to_string().starts_with("dns error") {
        return Unconnected::Name;
    }
    let (mut kind, mut next) = (None, Some(error));
    while let Some(error) = next {
        kind = error.downcast_ref::<io::Error>().map(io::Error::kind).or(kind);
        next = error.source();
    }
    match kind {
        Some(io::ErrorKind::ConnectionRefused) => Unconnected::Refused,
        Some(io::ErrorKind::TimedOut) => Unconnected::Late,
        _ => Unconnected::Other,
    }
}

fn of_tls(error: &io::Error) -> Unconnected {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(_)) => Unconnected::Untrusted,
        _ => Unconnected::Insecure,
    }
}

fn tls() -> Result<TlsConnector, rustls::Error> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}
