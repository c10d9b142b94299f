//! A bank over https, as a live rail's client meets it: what the system trusts is called, and nothing is
//! sent to a bank that nobody vouches for, under another name, whose certificate is not good today, or is
//! another one than the one that was pinned.

use pasarela::rails::http::{BaseUrl, Client, Exchange, Failure, Fingerprint, Request};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// A time longer than a call may take on this machine.
const SOON: Duration = Duration::from_secs(20);
/// The variable that names the file with the authorities that the system trusts.
const TRUSTED: &str = "SSL_CERT_FILE";
/// The same file, in the process alone that the test starts for itself.
const OWN: &str = "PASARELA_TEST_AUTHORITY";
/// The test, as a filter.
const ITSELF: &str = "https::a_bank_is_called_over_https_if_its_certificate_is_good";

type Authority = Issuer<'static, KeyPair>;

/// A new authority of this name, and its certificate.
fn authority(name: &str) -> (Authority, String) {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).expect("a certificate");
    (Issuer::new(params, key), certificate.pem())
}

/// A bank that shows a certificate, and answers each request with its number.
struct Bank {
    address: SocketAddr,
    fingerprint: Fingerprint,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Bank {
    /// One whose certificate says what `params` say, in the name of an authority.
    async fn start(authority: &Authority, params: CertificateParams) -> Bank {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, authority).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate and its key");
        let fingerprint = Fingerprint::from(Sha256::digest(certificate.der()));
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (connections, requests) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (counted, kept) = (Arc::clone(&connections), Arc::clone(&requests));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(acceptor.clone(), stream, Arc::clone(&kept)));
            }
        });
        Bank { address, fingerprint, connections, requests }
    }

    /// The outcome of a call by a client of its own, under this name, with these certificates pinned.
    async fn called(&self, name: &str, pins: &[Fingerprint]) -> Exchange {
        let base = BaseUrl::parse(&format!("https://{name}:{}", self.address.port())).expect("an address");
        let base = base.pinned(pins);
        let client = Client::new(&base, SOON).expect("a client");
        client.exchange(Request::get(base.path("x")).bearer("secret")).await
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream, kept: Arc<Mutex<Vec<String>>>) {
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    let (mut read, mut piece) = (Vec::new(), [0; 1024]);
    while let Ok(bytes @ 1..) = stream.read(&mut piece).await {
        read.extend_from_slice(&piece[..bytes]);
        if !read.ends_with(b"\r\n\r\n") {
            continue;
        }
        let number = {
            let mut kept = kept.lock().expect("no panic");
            kept.push(String::from_utf8(std::mem::take(&mut read)).expect("text"));
            kept.len()
        };
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{number}");
        stream.write_all(answer.as_bytes()).await.expect("it is read");
        stream.flush().await.expect("it is read");
    }
}

fn named(name: &str) -> CertificateParams {
    CertificateParams::new(vec![name.to_owned()]).expect("a name")
}

fn valid(from: i32, to: i32) -> CertificateParams {
    let mut params = named("localhost");
    (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
    params
}

/// The authorities of the system are those of a whole process: the test runs in one of its own.
#[tokio::test]
async fn a_bank_is_called_over_https_if_its_certificate_is_good() {
    if let Some(file) = std::env::var_os(OWN) {
        return calls(Path::new(&file)).await;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("authority.pem");
    let ran = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", ITSELF, "--nocapture"])
        .envs([(TRUSTED, &file), (OWN, &file)])
        .env_remove("SSL_CERT_DIR")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

/// Calls banks with good and with bad certificates; `trusted` is the file that the system's authorities are
/// read from.
async fn calls(trusted: &Path) {
    let ((ours, certificate), (other, _)) = (authority("ours"), authority("another"));
    std::fs::write(trusted, certificate).expect("it is written");

    for name in ["localhost", "127.0.0.1"] {
        let bank = Bank::start(&ours, named(name)).await;
        let base = BaseUrl::parse(&format!("https://{name}:{}", bank.address.port())).expect("an address");
        let client = Client::new(&base, SOON).expect("a client");
        for number in ["1", "2"] {
            match client.exchange(Request::get(base.path("x")).bearer("secret")).await {
                Exchange::Answer(answer) => {
                    assert_eq!((answer.status, &*answer.body), (200, number.as_bytes()), "{name}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        assert!(bank.requests()[0].starts_with("GET /x HTTP/1.1\r\n"), "{:?}", bank.requests());
        // A connection is used again once the bank has shown that it keeps them, which took a second (A6).
        assert!(bank.connections.load(Ordering::SeqCst) <= 2, "a handshake each at most");
        // Its own address under a name that the certificate does not have.
        let elsewhere = if name == "localhost" { "127.0.0.1" } else { "localhost" };
        refused(&bank, elsewhere, &[], "another name", 2).await;
    }
    for (authority, params, why) in [
        (&other, named("localhost"), "nobody vouches for it"),
        (&ours, named("bank.example"), "it is another one's"),
        (&ours, valid(2001, 2002), "it is over"),
        (&ours, valid(3001, 3002), "it has not begun"),
    ] {
        refused(&Bank::start(authority, params).await, "localhost", &[], why, 0).await;
    }
    pins(&ours, &other).await;
}

/// Calls banks of which certificates are pinned, with authorities that the system trusts and does not.
async fn pins(ours: &Authority, other: &Authority) {
    let bank = Bank::start(ours, named("localhost")).await;
    let newer = Bank::start(ours, named("localhost")).await;
    for (number, pins) in
        [vec![bank.fingerprint], vec![newer.fingerprint, bank.fingerprint]].iter().enumerate()
    {
        let outcome = bank.called("localhost", pins).await;
        assert!(
            matches!(&outcome, Exchange::Answer(answer) if answer.status == 200),
            "{number}: {outcome:?}"
        );
        assert_eq!(bank.requests().len(), number + 1);
    }
    refused(&bank, "localhost", &[newer.fingerprint], "another one is pinned", 2).await;
    let stranger = Bank::start(other, named("localhost")).await;
    refused(&stranger, "localhost", &[stranger.fingerprint], "a pin alone is no trust", 0).await;
}

/// A bank that has got `before` requests gets a connection, and no other request.
async fn refused(bank: &Bank, name: &str, pins: &[Fingerprint], why: &str, before: usize) {
    let connections = bank.connections.load(Ordering::SeqCst);
    let outcome = bank.called(name, pins).await;
    assert!(matches!(outcome, Exchange::NotSent(Failure::NoConnection(_))), "{why}: {outcome:?}");
    assert_eq!(bank.connections.load(Ordering::SeqCst), connections + 1, "{why}: it was not asked");
    assert_eq!(bank.requests().len(), before, "{why}: something was sent");
}
