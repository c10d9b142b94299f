//! The fate of an order when the wire fails: sent or not, answered or not, and never twice.

use crate::r4_orders::{call, charge, rail, settings};
use crate::scripted::{Scripted, Step, json};
use domain::values::money::Ves;
use pasarela::rails::http::{ANSWER_BYTES_MAX, BaseUrl, Client, Exchange, Failure, Request};
use pasarela::rails::live::{LiveRail, NotSent, OrderOutcome};
use pasarela::rails::r4::{R4, Settings};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A time longer than the calls may take, and far below a bank that never answers.
const SOON: Duration = Duration::from_secs(5);
/// A bank that has kept a connection for so long keeps them.
const KNOWN: Duration = Duration::from_millis(1_200);
const AMOUNT: Ves = Ves::from_minor(100);

#[tokio::test]
async fn whatever_the_wire_does_an_order_is_sent_once_and_its_outcome_unknown() {
    for step in [
        Step::Silence,
        Step::Close,
        Step::Cut,
        Step::Garbage,
        Step::Drip,
        Step::Redirect,
        Step::Long(ANSWER_BYTES_MAX + 1),
        Step::Answer(500, r#"{"code":"00","reference":"1"}"#.to_owned()),
        Step::Answer(502, "<html>".to_owned()),
        json("<html>"),
    ] {
        let bank = Scripted::start(vec![step.clone()]).await;
        let began = Instant::now();
        let report = rail(&bank.base()).execute(&call(charge(AMOUNT))).await.expect("it was sent");
        assert!(began.elapsed() < SOON, "{step:?} took {:?}", began.elapsed());
        assert_eq!(
            (report.outcome, report.is_answered),
            (OrderOutcome::Open { id: None }, false),
            "{step:?}"
        );
        assert_eq!(bank.requests().len(), 1, "{step:?}: it was sent again, or elsewhere");
    }
}

#[tokio::test]
async fn failures_have_names() {
    for (step, failure) in [
        (Step::Silence, Failure::Late),
        (Step::Drip, Failure::Late),
        (Step::Close, Failure::Cut),
        (Step::Cut, Failure::Cut),
        (Step::Garbage, Failure::Cut),
        (Step::Long(ANSWER_BYTES_MAX + 1), Failure::TooLong),
    ] {
        let bank = Scripted::start(vec![step.clone()]).await;
        let base = BaseUrl::parse(&bank.base()).expect("an address");
        let client = Client::new(&base, Duration::from_millis(300)).expect("a client");
        match client.exchange(Request::get(base.path("x"))).await {
            Exchange::NoAnswer(found) => assert_eq!(found, failure, "{step:?}"),
            other => panic!("{step:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_longest_answer_is_read() {
    let bank = Scripted::start(vec![Step::Long(ANSWER_BYTES_MAX)]).await;
    let base = BaseUrl::parse(&bank.base()).expect("an address");
    let client = Client::new(&base, SOON).expect("a client");
    match client.exchange(Request::get(base.path("x"))).await {
        Exchange::Answer(answer) => assert_eq!((answer.status, answer.body.len()), (200, ANSWER_BYTES_MAX)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn connections_are_kept_and_one_that_died_is_replaced_without_sending_twice() {
    let bank = Scripted::start(vec![json(r#"{"code":"51"}"#), json(r#"{"code":"51"}"#), Step::Close]).await;
    let r4 = R4::new(Settings { idle: SOON, ..settings(&bank.base()) }).expect("a client");
    for _ in 0..3 {
        r4.execute(&call(charge(AMOUNT))).await.expect("it was sent");
        tokio::time::sleep(KNOWN).await;
    }
    assert_eq!((bank.requests().len(), bank.connections()), (3, 1));
    r4.execute(&call(charge(AMOUNT))).await.expect("it was sent");
    assert_eq!((bank.requests().len(), bank.connections()), (4, 2));
}

#[tokio::test]
async fn an_order_is_not_written_into_a_connection_that_the_bank_has_closed() {
    let refused = r#"{"code":"51"}"#;
    let bank = Scripted::start(vec![Step::Farewell(refused), Step::Farewell(refused), json(refused)]).await;
    let r4 = rail(&bank.base());
    for sent in 1..=3 {
        let report = r4.execute(&call(charge(AMOUNT))).await.expect("it was sent");
        assert!(report.is_answered, "the order {sent} was answered");
        assert_eq!((bank.requests().len(), bank.connections()), (sent, sent));
        bank.until_closed(sent.min(2)).await;
        // The runtime hears of the end once all of its tasks wait.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn an_answer_in_pieces_is_read_and_its_connection_kept() {
    let pieces = &[
        "H",
        "TTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chu",
        "nked\r\n\r\n4\r\n{\"co",
        "\r\n9\r\nde\":\"51\"}\r",
        "\n0\r\n\r\n",
    ];
    let bank = Scripted::start(vec![Step::Pieces(pieces), Step::Pieces(pieces)]).await;
    let base = BaseUrl::parse(&bank.base()).expect("an address");
    let client = Client::new(&base, SOON).expect("a client").idle_for(SOON);
    for _ in 0..2 {
        match client.exchange(Request::get(base.path("x"))).await {
            Exchange::Answer(answer) => {
                assert_eq!((answer.status, &*answer.body), (200, &br#"{"code":"51"}"#[..]));
            }
            other => panic!("{other:?}"),
        }
        tokio::time::sleep(KNOWN).await;
    }
    assert_eq!((bank.requests().len(), bank.connections()), (2, 1));
}

/// Two answers to one request: the second must not be taken for that to the next.
#[tokio::test]
async fn what_comes_behind_an_answer_is_no_answer_to_the_next() {
    const TWICE: &str =
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n2";
    let bank = Scripted::start(vec![Step::Pieces(&[TWICE]), json("3")]).await;
    let base = BaseUrl::parse(&bank.base()).expect("an address");
    let client = Client::new(&base, SOON).expect("a client");
    for expected in [&b"1"[..], b"3"] {
        match client.exchange(Request::get(base.path("x"))).await {
            Exchange::Answer(answer) => assert_eq!(&*answer.body, expected),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((bank.requests().len(), bank.connections()), (2, 2));
}

#[tokio::test]
async fn what_a_request_carries_beside_its_own() {
    let bank = Scripted::start(vec![json("{}"), json("{}")]).await;
    let base = BaseUrl::parse(&format!("{}/v1/", bank.base())).expect("an address");
    let client = Client::new(&base, SOON).expect("a client");
    let post = Request::post(base.path("orders?a=b c#d")).json(b"[1]".to_vec().into());
    for request in [Request::get(base.path("x")), post] {
        assert!(matches!(client.exchange(request).await, Exchange::Answer(_)));
    }
    let requests = bank.requests();
    let sent = |request: &str, line: &str| request.lines().any(|sent| sent.eq_ignore_ascii_case(line));
    assert!(requests[0].starts_with("GET /v1/x HTTP/1.1\r\n"), "{}", requests[0]);
    assert!(requests[1].starts_with("POST /v1/orders?a=b%20c HTTP/1.1\r\n"), "{}", requests[1]);
    assert!(requests[1].ends_with("\r\n\r\n[1]"), "{}", requests[1]);
    for request in &requests {
        assert!(sent(request, &format!("host: {}", bank.address)), "{request}");
        assert!(sent(request, "accept: */*"), "{request}");
        assert!(sent(request, concat!("user-agent: pasarela/", env!("CARGO_PKG_VERSION"))), "{request}");
    }
    let post = &requests[1];
    assert!(sent(post, "content-length: 3") && sent(post, "content-type: application/json"), "{post}");
    assert!(!requests[0].to_ascii_lowercase().contains("content-length"), "{}", requests[0]);
}

#[tokio::test]
async fn connections_are_kept_for_as_many_calls_as_there_are_at_once() {
    let bank = Scripted::start(vec![json("{}"); 60]).await;
    let base = BaseUrl::parse(&bank.base()).expect("an address");
    let client = Arc::new(Client::new(&base, SOON).expect("a client").idle_for(SOON));
    for _ in 0..3 {
        let calls: Vec<_> = (0..20)
            .map(|_| {
                let (client, url) = (Arc::clone(&client), base.path("x"));
                tokio::spawn(async move { client.exchange(Request::get(url)).await })
            })
            .collect();
        for call in calls {
            assert!(matches!(call.await.expect("no panic"), Exchange::Answer(_)));
        }
        tokio::time::sleep(KNOWN).await;
    }
    assert_eq!(bank.requests().len(), 60);
    assert!(bank.connections() <= 20, "{} connections", bank.connections());
}

/// The bank takes the connection and never speaks TLS, or shows a certificate of its own making.
#[tokio::test]
async fn without_a_secure_connection_nothing_is_sent() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let mut base = settings(&format!("https://{}", silent.local_addr().expect("an address")));
    base.timeout = Duration::from_millis(400);
    let report = R4::new(base).expect("a client").execute(&call(charge(AMOUNT))).await;
    assert_eq!(report, Err(NotSent::NoConnection), "nobody spoke TLS");

    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("a certificate and its key");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        acceptor.accept(stream).await.is_ok()
    });
    let r4 = rail(&format!("https://localhost:{}", address.port()));
    assert_eq!(r4.execute(&call(charge(AMOUNT))).await, Err(NotSent::NoConnection), "nobody vouches for it");
    assert!(!serving.await.expect("no panic"), "the handshake was finished");
}
