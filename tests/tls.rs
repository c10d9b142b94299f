//! TLS over real sockets, with a toy service behind it: protocols, what is not TLS, who dawdles,
//! and the stop.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pasarela::http::body::Inbound;
use pasarela::http::listen::{Answer, Arrival, Drained, Limits, Listener};
use pasarela::http::respond::Reply;
use pasarela::http::tls::{Certificates, Files};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A toy service that answers how long the body was.
struct Toy;

impl Answer for Toy {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let length = body.json(&arrival.head.headers).await.map_or(0, |bytes| bytes.len());
        Reply::json(200, length.to_string())
    }
}

struct Server {
    address: SocketAddr,
    directory: tempfile::TempDir,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Drained>,
}

impl Server {
    async fn start(limits: Limits) -> Server {
        let directory = tempfile::tempdir().expect("a directory");
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let files =
            Files { certificate: directory.path().join("c.pem"), key: directory.path().join("k.pem") };
        std::fs::write(&files.certificate, made.cert.pem()).expect("written");
        std::fs::write(&files.key, made.signing_key.serialize_pem()).expect("written");
        let certificates = Certificates::load("toy", files).expect("good files");
        let listener = Listener::bind(([127, 0, 0, 1], 0).into())
            .await
            .expect("a free port")
            .secured(Some(certificates));
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let stop = async { stopped.await.unwrap_or_default() };
            listener.serve(Arc::new(Toy), limits, stop).await
        });
        Server { address, directory, stop, serving }
    }

    async fn connect(&self, protocols: &[&str]) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        let certificate =
            CertificateDer::from_pem_file(self.directory.path().join("c.pem")).expect("the certificate");
        roots.add(certificate).expect("a root");
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions");
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(self.address).await.expect("a connection");
        TlsConnector::from(Arc::new(config))
            .connect(ServerName::try_from("localhost").expect("a name"), stream)
            .await
            .expect("a handshake")
    }
}

fn request(version: Version, address: SocketAddr, body: Bytes) -> Request<Full<Bytes>> {
    let request = Request::post(format!("https://localhost:{}/", address.port()))
        .version(version)
        .header("content-type", "application/json");
    request.header("host", "localhost").body(Full::new(body)).expect("a request")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_protocols_are_spoken_as_the_other_side_likes() {
    let server = Server::start(Limits::default()).await;
    let body = Bytes::from(vec![b' '; 300_000]);

    let stream = server.connect(&["h2", "http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .expect("HTTP/2");
    tokio::spawn(connection);
    let answer =
        sender.send_request(request(Version::HTTP_2, server.address, body.clone())).await.expect("an answer");
    assert_eq!(answer.version(), Version::HTTP_2);
    assert_eq!(answer.headers()["strict-transport-security"], "max-age=31536000");
    assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes(), "300000");

    for offered in [&["http/1.1"][..], &[]] {
        let stream = server.connect(offered).await;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("HTTP/1.1");
        tokio::spawn(connection);
        for _ in 0..3 {
            sender.ready().await.expect("the connection stays");
            let answer = sender
                .send_request(request(Version::HTTP_11, server.address, body.clone()))
                .await
                .expect("an answer");
            assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes(), "300000");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_speaks_no_tls_or_nothing_at_all_is_let_go() {
    let server =
        Server::start(Limits { head_timeout: Duration::from_millis(300), ..Limits::default() }).await;
    let mut plain = TcpStream::connect(server.address).await.expect("a connection");
    plain.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("sent");
    let mut said = Vec::new();
    let _ =
        tokio::time::timeout(Duration::from_secs(10), plain.read_to_end(&mut said)).await.expect("an end");
    assert!(!said.starts_with(b"HTTP/"), "{}", String::from_utf8_lossy(&said));

    let began = Instant::now();
    let mut silent = TcpStream::connect(server.address).await.expect("a connection");
    let ended = tokio::time::timeout(Duration::from_secs(10), silent.read(&mut [0])).await.expect("an end");
    assert!(matches!(ended, Ok(0) | Err(_)) && began.elapsed() >= Duration::from_millis(290));

    let mut shaken = server.connect(&["http/1.1"]).await;
    let ended = tokio::time::timeout(Duration::from_secs(10), shaken.read(&mut [0])).await.expect("an end");
    assert!(matches!(ended, Ok(0) | Err(_)), "a head is due after the handshake too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_idle_connections_and_handshakes() {
    let server = Server::start(Limits::default()).await;
    let silent = TcpStream::connect(server.address).await.expect("a connection");
    let mut idle = server.connect(&["http/1.1"]).await;
    idle.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("sent");
    assert!(idle.read(&mut [0; 4_096]).await.expect("an answer") > 0);
    server.stop.send(()).expect("it runs");
    let drained = tokio::time::timeout(Duration::from_secs(5), server.serving)
        .await
        .expect("in time")
        .expect("no panic");
    assert_eq!(drained.cut_off, 0);
    drop(silent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_cannot_be_parsed_is_answered_through_tls_too() {
    let server = Server::start(Limits::default()).await;
    let mut stream = server.connect(&["http/1.1"]).await;
    stream.write_all(b"garbage\r\n\r\n").await.expect("sent");
    let mut said = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut said)).await;
    read.expect("an end").expect("in order");
    let said = String::from_utf8(said).expect("text");
    let (head, body) = said.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 400 ") && head.contains("x-request-id: "), "{head}");
    assert!(head.contains("strict-transport-security: max-age=31536000"), "{head}");
    assert!(body.contains("\"error\":\"invalid_data\""), "{body}");
}
