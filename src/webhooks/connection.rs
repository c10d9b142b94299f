//! Connections to endpoints: to checked addresses alone, with TLS where the address says so. Each
//! counts what came over it, which tells a receiver that closed a connection while a request was on
//! its way from one that took the request and said nothing.

use super::names::CheckedNames;
use hyper::Uri;
use hyper::http::uri::Scheme;
use hyper_util::client::legacy::Error;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ClientConfig, WebPkiServerVerifier};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{RootCertStore, version};
use rustls_platform_verifier::Verifier;
use std::error::Error as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::task_local;
use tokio_rustls::TlsConnector;
use tower_service::Service;

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone, Default)]
pub struct History(Arc<Marks>);

#[derive(Default)]
struct Marks {
    read: AtomicBool,
    /// Something was written after something had been read: an answer came before this request.
    carried: AtomicBool,
    stream_answered: AtomicBool,
}

impl History {
    pub fn answered(&self) {
        self.0.stream_answered.store(true, Ordering::Relaxed);
    }

    /// An answer came, and the connection ended before one to the last request began.
    fn ended_between(&self) -> bool {
        self.0.carried.load(Ordering::Relaxed) && !self.0.read.load(Ordering::Relaxed)
    }
}

/// The request met a kept-alive connection that ended before an answer began, or a stream that the
/// other side says it did not process.
pub fn may_go_again(error: &Error) -> bool {
    let Some(connected) = error.connect_info() else { return false };
    let mut extras = hyper::http::Extensions::new();
    connected.get_extras(&mut extras);
    let Some(history) = extras.get::<History>() else { return false };
    if !connected.is_negotiated_h2() {
        return history.ended_between();
    }
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(cause) = cause.downcast_ref::<h2::Error>() {
            let refused = cause.is_reset() && cause.reason() == Some(h2::Reason::REFUSED_STREAM);
            let unprocessed = cause.is_remote() && (cause.is_go_away() || refused);
            return unprocessed || cause.is_io() && history.0.stream_answered.load(Ordering::Relaxed);
        }
        source = cause.source();
    }
    // The connection ended under a stream that was waiting for its turn.
    history.0.stream_answered.load(Ordering::Relaxed)
}

task_local! {
    /// Ends with the delivery that connects. The client lets a connection go on that it has begun and needs no more,
    /// as another came back; one whose receiver says nothing would hold its socket for ever.
    static DELIVERY: watch::Receiver<()>;
}

pub async fn within_delivery<T>(work: impl Future<Output = T>) -> T {
    let (_lasts, over) = watch::channel(());
    DELIVERY.scope(over, work).await
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

pub struct Counted {
    stream: Box<dyn Stream>,
    history: History,
    is_h2: bool,
}

impl Connection for Counted {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(self.history.clone());
        if self.is_h2 { connected.negotiated_h2() } else { connected }
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, into);
        if into.filled().len() > before {
            self.history.0.read.store(true, Ordering::Relaxed);
        }
        polled
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.history.0.read.swap(false, Ordering::Relaxed) {
            self.history.0.carried.store(true, Ordering::Relaxed);
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[derive(Clone)]
pub struct Connector {
    tcp: HttpConnector<CheckedNames>,
    tls: TlsConnector,
}

impl Connector {
    pub fn new(names: CheckedNames, extra: Vec<CertificateDer<'static>>) -> Result<Connector, rustls::Error> {
        let mut tcp = HttpConnector::new_with_resolver(names);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        for certificate in &extra {
            roots.add(certificate.clone())?;
        }
        let verifier: Arc<dyn ServerCertVerifier> = match Verifier::new_with_extra_roots(
            extra,
            Arc::clone(&provider),
        ) {
            Ok(verifier) => Arc::new(verifier),
            Err(error) => {
                // A machine without certificates can still speak to endpoints of test mode.
                tracing::warn!(%error, "the system's certificates cannot be read: webhooks by https reach \
                        only what webhooks.extra_ca_file vouches for");
                let built =
                    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
                built.build().map_err(|error| rustls::Error::General(error.to_string()))?
            }
        };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13, &version::TLS12])?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Connector { tcp, tls: TlsConnector::from(Arc::new(config)) })
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Counted>;
    type Error = BoxedError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxedError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxedError>> {
        self.tcp.poll_ready(cx).map_err(BoxedError::from)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, tls) = (self.tcp.call(uri.clone()), self.tls.clone());
        let delivery = DELIVERY.try_with(watch::Receiver::clone);
        let connecting = async move {
            let plain = connecting.await?.into_inner();
            let (stream, is_h2): (Box<dyn Stream>, bool) = if uri.scheme() == Some(&Scheme::HTTPS) {
                let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
                let secure = tls.connect(ServerName::try_from(host.to_owned())?, plain).await?;
                let is_h2 = secure.get_ref().1.alpn_protocol() == Some(b"h2");
                (Box::new(secure), is_h2)
            } else {
                (Box::new(plain), false)
            };
            Ok(TokioIo::new(Counted { stream, history: History::default(), is_h2 }))
        };
        Box::pin(async move {
            let mut delivery = delivery?;
            tokio::select! {
                connected = connecting => connected,
                _ = delivery.changed() => Err("the delivery is over".into()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhooks::names::Lookups;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::net::TcpListener;
    use tokio::runtime::Handle;

    #[tokio::test]
    async fn no_connection_is_begun_longer_than_its_delivery_lasts() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let uri: Uri =
            format!("https://{}", listener.local_addr().expect("its own")).parse().expect("an address");
        let lookups = Lookups::new(Handle::current());
        let mut connector =
            Connector::new(CheckedNames { allow_private: true, lookups }, Vec::new()).expect("a connector");
        let (connecting, mut silent) = within_delivery(async {
            // As the client does with a connection that it needs no more.
            let connecting = tokio::spawn(connector.call(uri));
            (connecting, listener.accept().await.expect("a connection").0)
        })
        .await;
        let ended = tokio::time::timeout(Duration::from_secs(5), connecting).await.expect("it ends");
        assert!(ended.expect("no panic").is_err());
        let mut greeting = Vec::new();
        let _ = silent.read_to_end(&mut greeting).await;
    }

    /// And whether a request that then fails may go out again.
    const CASES: [(&str, bool); 6] =
        [("", false), ("w", false), ("wr", false), ("wrw", true), ("wrwr", false), ("wrwrww", true)];

    #[tokio::test]
    async fn only_a_connection_that_carried_an_answer_and_began_no_other_ended_between() {
        for (steps, expected) in CASES {
            let (own, mut other) = duplex(64);
            let history = History::default();
            let mut counted = Counted { stream: Box::new(own), history: history.clone(), is_h2: false };
            for step in steps.chars() {
                match step {
                    'w' => counted.write_all(b"request").await.expect("room"),
                    _ => {
                        other.write_all(b"a").await.expect("room");
                        counted.read_u8().await.expect("a byte");
                    }
                }
            }
            drop(other);
            assert_eq!(counted.read(&mut [0]).await.expect("an end"), 0);
            assert_eq!(history.ended_between(), expected, "{steps}");
        }
    }
}
