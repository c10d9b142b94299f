//! Webhooks that are tried again, kept-alive connections that end, and the forms of the signature
//! (`docs/contract.md, 13.1, 13.3, 13.4`).

use crate::harness::check::{instant, text};
use crate::harness::client::Api;
use crate::harness::receiver::{Arrived, Manner, Receiver};
use crate::harness::server::Server;
use crate::webhooks::{assert_signed, assert_signed_by, listen, outcomes, path};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread::sleep;
use std::time::Duration;

/// The waits between the tries, in seconds.
const WAITS: [i64; 7] = [70, 210, 630, 1_890, 5_670, 17_010, 51_030];
/// The time in which something would arrive if it were sent.
const SOON: Duration = Duration::from_millis(300);

/// An endpoint that is tried again.
#[track_caller]
fn listen_again(api: &Api, url: &str) -> Value {
    let body = json!({ "url": url, "events": ["payment.completed"], "retry": "backoff" });
    let made = api.post("/v1/webhooks", &body).expect(201);
    assert_eq!(made["retry"], "backoff");
    made
}

/// Asserts that these are tries of one delivery, numbered from 1.
#[track_caller]
fn assert_tries(arrived: &[Arrived], secret: &str) {
    for (n, each) in (1..).zip(arrived) {
        assert_eq!(each.header("svc-attempt"), n.to_string());
        assert_eq!(
            (each.header("svc-event-id"), &each.body),
            (arrived[0].header("svc-event-id"), &arrived[0].body)
        );
        assert_signed(each, secret);
    }
}

#[test]
fn eight_tries_at_their_waits_and_then_none() {
    let server = Server::start();
    let api = server.tenant().test;
    let receiver = Receiver::start(|_| Manner::Status(503));
    let webhook = listen_again(&api, &receiver.url());
    api.pay(1);
    receiver.wait_for(1);
    outcomes(&api, &webhook, 1);
    for (tries, wait) in (1..).zip(WAITS) {
        api.advance(wait / 2);
        sleep(SOON);
        assert_eq!(receiver.count(), tries, "before its time");
        api.advance(wait * 11 / 10 - wait / 2 + 1);
        receiver.wait_for(tries + 1);
        outcomes(&api, &webhook, tries + 1);
    }
    assert_tries(&receiver.arrived(), text(&webhook, "secret"));
    let rows = outcomes(&api, &webhook, 8);
    let attempts: Vec<u64> = rows.iter().rev().filter_map(|row| row["attempt"].as_u64()).collect();
    assert_eq!(attempts, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(rows.iter().all(|row| row["status"] == "failed" && row["eventId"] == rows[0]["eventId"]));
    let at: Vec<_> = rows.iter().rev().map(|row| instant(&row["createdAt"])).collect();
    for (pair, wait) in at.windows(2).zip(WAITS) {
        let waited = (pair[1] - pair[0]).num_milliseconds();
        assert!((wait * 900..=wait * 1_100).contains(&waited), "{waited} ms instead of {wait} s");
    }
    api.advance(30 * 86_400);
    sleep(SOON);
    assert_eq!(receiver.count(), 8, "there is no ninth");
    assert!(server.log_tail().contains("webhook.exhausted"));
}

#[test]
fn what_a_clock_leaps_over_comes_at_its_own_instant() {
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::start(|arrived| match arrived.header("svc-attempt") {
        "6" => Manner::Status(204),
        _ => Manner::Status(302),
    });
    let webhook = listen_again(&api, &receiver.url());
    api.pay(1);
    outcomes(&api, &webhook, 1);
    api.advance(86_400);
    receiver.wait_for(6);
    let rows = outcomes(&api, &webhook, 6);
    assert_eq!(rows.len(), 6, "what arrived is not tried again: {rows:?}");
    assert_eq!((&rows[0]["status"], &rows[0]["attempt"]), (&json!("delivered"), &json!(6)));
    let waited = (instant(&rows[0]["createdAt"]) - instant(&rows[5]["createdAt"])).num_seconds();
    assert!((7_623..=9_318).contains(&waited), "{waited} s");
}

#[test]
fn what_is_asked_for_by_hand_and_fails_fills_no_endpoint() {
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::start(|_| Manner::Status(500));
    let webhook = listen_again(&api, &receiver.url());
    api.pay(1);
    let rows = outcomes(&api, &webhook, 1);
    let path = format!("/v1/events/{}/resend", text(&rows[0], "eventId"));
    // Five seconds of refusals are enough for everything that is under way to end.
    let (mut taken, mut refused) = (0, 0);
    while taken < 700 && refused < 100 {
        let answer = api.act(&path);
        match answer.status {
            202 => (taken, refused) = (taken + 1, 0),
            503 => {
                refused += 1;
                sleep(Duration::from_millis(50));
            }
            _ => panic!("{}", answer.text()),
        }
    }
    assert!((499..=650).contains(&taken), "{taken} were taken while each of them waits for another try");
}

#[test]
fn tries_outlive_a_kill_and_end_with_their_endpoint() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let receiver = Receiver::start(|_| Manner::Status(500));
    let names = ["goes on", "is disabled", "is deleted", "wants none", "never wanted any"];
    let webhooks: Vec<Value> = names
        .iter()
        .map(|name| {
            let url = format!("{}?{}", receiver.url(), name.replace(' ', "-"));
            match *name {
                "never wanted any" => listen(&api, &url, &["payment.completed"]),
                _ => listen_again(&api, &url),
            }
        })
        .collect();
    api.pay(1);
    for webhook in &webhooks {
        outcomes(&api, webhook, 1);
    }
    server.kill();
    server.restart();
    api.patch(&path(&webhooks[1]), &json!({ "status": "disabled" })).expect(200);
    api.delete(&path(&webhooks[2])).expect(200);
    api.patch(&path(&webhooks[3]), &json!({ "retry": "none" })).expect(200);
    api.advance(78);
    receiver.wait_for(6);
    sleep(SOON);
    let again = |receiver: &Receiver| -> Vec<String> {
        let arrived = receiver.arrived();
        arrived[5..].iter().map(|each| each.target.clone()).collect()
    };
    assert_eq!(again(&receiver), ["POST /hook?goes-on"]);
    // What waited while the endpoint was disabled comes when it is enabled again.
    api.patch(&path(&webhooks[1]), &json!({ "status": "enabled" })).expect(200);
    receiver.wait_for(7);
    sleep(SOON);
    assert_eq!(again(&receiver), ["POST /hook?goes-on", "POST /hook?is-disabled"]);
}

#[test]
fn a_kept_connection_that_ends_before_an_answer_costs_no_delivery() {
    let server = Server::shared();
    let api = server.tenant().test;
    // The second request of a connection is read and not answered.
    let receiver = Receiver::start(|arrived| match arrived.nth {
        1 => Manner::Status(200),
        _ => Manner::Close,
    });
    let webhook = listen(&api, &receiver.url(), &["payment.completed"]);
    for paid in 1..=6 {
        api.pay(1);
        outcomes(&api, &webhook, paid);
    }
    let rows = outcomes(&api, &webhook, 6);
    assert!(rows.len() == 6 && rows.iter().all(|row| row["status"] == "delivered"), "{rows:?}");
    let mut came: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for arrived in receiver.arrived() {
        assert_eq!(arrived.header("svc-attempt"), "1", "it is the same delivery");
        came.entry(arrived.sequence()).or_default().push(arrived.nth);
    }
    assert!(
        came.values().all(|nths| matches!(nths[..], [1] | [2, 1])),
        "once more, on a fresh one: {came:?}"
    );
    assert!(came.values().any(|nths| nths.len() == 2), "no connection was used twice: {came:?}");
}

#[test]
fn a_kept_connection_that_ends_within_an_answer_is_an_outcome() {
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::start(|arrived| match arrived.nth {
        1 => Manner::Status(200),
        _ => Manner::Reset,
    });
    let webhook = listen(&api, &receiver.url(), &["payment.completed"]);
    // A connection that is unused for a second is not used again: on a busy machine it takes a few.
    for paid in 1..=20 {
        api.pay(1);
        let newest = outcomes(&api, &webhook, paid)[0]["status"].clone();
        let arrived = receiver.arrived();
        assert_eq!(arrived.len(), paid, "each was sent once");
        let is_used_again = arrived[paid - 1].nth == 2;
        assert_eq!(newest, if is_used_again { "failed" } else { "delivered" });
        if is_used_again {
            return;
        }
    }
    panic!("no connection was used twice");
}

#[test]
fn receivers_that_close_after_their_answer_lose_nothing() {
    let server = Server::shared();
    let api = server.tenant().test;
    for close_ms in [0, 1, 10, 50] {
        let receiver = Receiver::start(move |_| Manner::ThenClose(Duration::from_millis(close_ms)));
        let webhook = listen(&api, &receiver.url(), &["payment.completed"]);
        for _ in 0..60 {
            api.pay(1);
        }
        let rows = outcomes(&api, &webhook, 60);
        let lost: Vec<&Value> = rows.iter().filter(|row| row["status"] != "delivered").collect();
        assert!(lost.is_empty(), "after {close_ms} ms: {} of 60: {}", lost.len(), lost[0]);
        api.delete(&path(&webhook)).expect(200);
    }
}

/// A receiver over HTTP/2 that says GOAWAY after so many streams of each connection. Returns its address.
fn goes_away(
    runtime: &tokio::runtime::Runtime,
    tls: ServerConfig,
    streams: usize,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let ids = Arc::new(Mutex::new(Vec::new()));
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let url = format!("https://{}/hook", listener.local_addr().expect("its address"));
    let (acceptor, noted) = (tokio_rustls::TlsAcceptor::from(Arc::new(tls)), Arc::clone(&ids));
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, noted) = (acceptor.clone(), Arc::clone(&noted));
            tokio::spawn(async move {
                let stream = acceptor.accept(stream).await.ok()?;
                assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
                let mut connection = h2::server::handshake(stream).await.ok()?;
                for _ in 0..streams {
                    let (request, mut respond) = connection.accept().await?.ok()?;
                    let id = request.headers().get("svc-event-id")?.to_str().ok()?.to_owned();
                    noted.lock().expect("the ids").push(id);
                    respond.send_response(hyper::Response::new(()), true).ok()?;
                }
                // What was answered goes out first: a connection that never brought an answer is not tried again.
                let _ = poll_fn(|context| Poll::Ready(connection.poll_closed(context))).await;
                // Later streams are not processed.
                connection.abrupt_shutdown(h2::Reason::NO_ERROR);
                while connection.accept().await.is_some() {}
                // A socket that is closed while bytes are unread is reset, and what was sent may never be read: so it
                // stays for longer than a delivery lasts.
                tokio::time::sleep(Duration::from_secs(30)).await;
                Some(())
            });
        }
    });
    (url, ids)
}

#[test]
fn streams_that_goaway_did_not_process_go_out_again() {
    let mut params = CertificateParams::new(Vec::<String>::new()).expect("no names");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority.pem()).expect("a file");
    let key = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()])
        .expect("a name")
        .signed_by(&key, &authority)
        .expect("a certificate");
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut tls = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("a certificate");
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let (url, ids) = goes_away(&runtime, tls, 5);
    let server = Server::start_with(&[("PASARELA__WEBHOOKS__EXTRA_CA_FILE", &file.display().to_string())]);
    let api = server.tenant().test;
    let webhook = listen(&api, &url, &["payment.completed"]);
    for _ in 0..100 {
        api.pay(1);
    }
    let rows = outcomes(&api, &webhook, 100);
    let lost: Vec<&Value> = rows.iter().filter(|row| row["status"] != "delivered").collect();
    assert!(lost.is_empty(), "{} of 100: {}", lost.len(), lost[0]);
    let mut ids = ids.lock().expect("the ids").clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 100);
}

#[test]
fn a_signature_can_say_when_it_was_made_and_bear_the_older_secret_for_a_while() {
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::good();
    let (plain, timed) = (format!("{}?hex", receiver.url()), format!("{}?timestamped", receiver.url()));
    let hex = listen(&api, &plain, &["payment.completed"]);
    let body = json!({ "url": timed, "events": ["payment.completed"], "signature": "timestamped" });
    let timestamped = api.post("/v1/webhooks", &body).expect(201);
    assert_eq!((&hex["signature"], &timestamped["signature"]), (&json!("hex"), &json!("timestamped")));
    let rotate = |webhook: &Value, body: Value| -> String {
        let rotated = api.post(&format!("{}/rotate-secret", path(webhook)), &body).expect(200);
        text(&rotated, "secret").to_owned()
    };
    let arrived = AtomicUsize::new(0);
    let sent = |secrets: [&[&String]; 2]| {
        api.pay(1);
        let so_far = arrived.fetch_add(2, Ordering::SeqCst);
        for each in &receiver.wait_for(so_far + 2)[so_far..] {
            let is_timestamped = each.target.ends_with("timestamped");
            let by: Vec<&str> =
                secrets[usize::from(is_timestamped)].iter().map(|secret| secret.as_str()).collect();
            assert_signed_by(each, &by, "svc-signature", is_timestamped);
        }
    };
    let first = [&hex, &timestamped].map(|webhook| text(webhook, "secret").to_owned());
    sent([&[&first[0]], &[&first[1]]]);
    let second = [
        rotate(&hex, json!({ "overlapSeconds": 600 })),
        rotate(&timestamped, json!({ "overlapSeconds": 600 })),
    ];
    sent([&[&second[0], &first[0]], &[&second[1], &first[1]]]);
    // Without a word the older one signs for a day.
    let third = [rotate(&hex, json!({})), rotate(&timestamped, json!({}))];
    sent([&[&third[0], &second[0], &first[0]], &[&third[1], &second[1], &first[1]]]);
    api.advance(601);
    sent([&[&third[0], &second[0]], &[&third[1], &second[1]]]);
    api.advance(85_800);
    sent([&[&third[0]], &[&third[1]]]);
    let fourth = [
        rotate(&hex, json!({ "overlapSeconds": 604_800 })),
        rotate(&timestamped, json!({ "overlapSeconds": 604_800 })),
    ];
    let fifth =
        [rotate(&hex, json!({ "overlapSeconds": 0 })), rotate(&timestamped, json!({ "overlapSeconds": 0 }))];
    assert_ne!(fourth, fifth);
    sent([&[&fifth[0]], &[&fifth[1]]]);
    // The same endpoint, in the other form.
    assert_eq!(
        api.patch(&path(&hex), &json!({ "signature": "timestamped" })).expect(200)["signature"],
        "timestamped"
    );
    api.act("/v1/notifications/test").expect(202);
    let (so_far, test) = (arrived.load(Ordering::SeqCst), "notification.test");
    for each in &receiver.wait_for(so_far + 2)[so_far..] {
        let own = usize::from(each.target.ends_with("timestamped"));
        assert_eq!((each.json()["event"].as_str(), each.header("svc-attempt")), (Some(test), "1"));
        assert_signed_by(each, &[&fifth[own]], "svc-signature", true);
    }
}

#[test]
fn two_headers_have_the_names_that_the_operator_gives_them() {
    let server = Server::start_with(&[
        ("PASARELA__WEBHOOKS__SIGNATURE_HEADER", "X-Firma"),
        ("PASARELA__WEBHOOKS__EVENT_ID_HEADER", "X-Evento"),
    ]);
    let api = server.tenant().test;
    let receiver = Receiver::good();
    let webhook = listen(&api, &receiver.url(), &["payment.completed"]);
    api.pay(1);
    let arrived = &receiver.wait_for(1)[0];
    assert_signed_by(arrived, &[text(&webhook, "secret")], "x-firma", false);
    assert_eq!(arrived.header("x-evento"), arrived.header("webhook-id"));
    assert!(["svc-signature", "svc-event-id"].iter().all(|name| arrived.header(name).is_empty()));
}
