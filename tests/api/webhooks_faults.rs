//! Webhooks when receivers misbehave, when addresses are not what they seem, and when much waits
//! (`docs/contract.md, 13.2, 13.3`).

use crate::harness::check::{list, text};
use crate::harness::client::Api;
use crate::harness::flows::{fresh, payout_body};
use crate::harness::receiver::{Arrived, Manner, Receiver};
use crate::harness::server::Server;
use crate::webhooks::{assert_signed, listen, outcomes, path};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An address where nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    format!("http://{}/hook", listener.local_addr().expect("its address"))
}

/// The one outcome of an endpoint that was sent one event.
#[track_caller]
fn outcome(api: &Api, webhook: &Value) -> Value {
    let all = outcomes(api, webhook, 1);
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

#[test]
fn every_way_to_fail_is_an_outcome() {
    let server = Server::shared();
    let api = server.tenant().test;
    let elsewhere = Receiver::good();
    let target = elsewhere.url();
    let receivers = [
        (Receiver::start(|_| Manner::Status(500)), json!(500), "it answered 500"),
        (Receiver::start(move |_| Manner::Redirect(target.clone())), json!(302), "it answered 302"),
        (Receiver::start(|_| Manner::Status(101)), json!(null), ""),
        (Receiver::start(|_| Manner::Reset), json!(null), "the connection broke before an answer"),
        (Receiver::start(|_| Manner::Never), json!(null), "no answer within 10 seconds"),
        (Receiver::start(|_| Manner::Huge), json!(200), ""),
        (Receiver::start(|_| Manner::Close), json!(null), "the connection broke before an answer"),
    ];
    let webhooks: Vec<Value> = receivers
        .iter()
        .map(|(receiver, _, _)| listen(&api, &receiver.url(), &["payment.completed"]))
        .collect();
    let refusing = listen(&api, &nobody(), &["payment.completed"]);
    let nameless = listen(&api, "http://nothing-is-here.invalid/hook", &["payment.completed"]);
    let began = Instant::now();
    api.pay(1);
    for (n, ((receiver, status, error), webhook)) in receivers.iter().zip(&webhooks).enumerate() {
        let outcome = outcome(&api, webhook);
        if n == 2 {
            assert_eq!(outcome["status"], "failed", "{outcome}");
            continue;
        }
        assert_eq!(outcome["httpStatus"], *status, "{outcome}");
        assert_eq!(outcome["error"].as_str().unwrap_or_default(), *error, "{outcome}");
        assert_eq!(outcome["status"], if error.is_empty() { "delivered" } else { "failed" });
        assert_eq!(receiver.count(), 1, "sent once: {outcome}");
    }
    let waited = outcome(&api, &webhooks[4])["latencyMs"].as_u64().expect("a number");
    assert!((9_900..15_000).contains(&waited) && began.elapsed() < Duration::from_secs(60), "{waited} ms");
    assert_eq!(outcome(&api, &refusing)["error"], "the connection was refused");
    assert_eq!(outcome(&api, &nameless)["error"], "the name was not found");
    assert_eq!(elsewhere.count(), 0, "a redirect is not followed");
}

#[test]
fn a_slow_or_dead_endpoint_delays_nobody_and_eight_go_at_once() {
    let server = Server::shared();
    let (one, two) = (server.tenant().test, server.tenant().test);
    let dead = Receiver::start(|_| Manner::Never);
    let slow = Receiver::start(|_| Manner::After(Duration::from_millis(300)));
    let (good, neighbour) = (Receiver::good(), Receiver::good());
    for _ in 0..4 {
        listen(&one, &dead.url(), &["payment.completed"]);
    }
    // Eighty more endpoints of other tenants have more to be sent than they get places.
    for _ in 0..4 {
        let other = server.tenant().test;
        for _ in 0..20 {
            listen(&other, &dead.url(), &["payment.completed"]);
        }
        for _ in 0..10 {
            other.pay(1);
        }
    }
    dead.wait_for(100);
    let slowly = listen(&one, &slow.url(), &["payment.completed"]);
    listen(&one, &good.url(), &["payment.completed"]);
    listen(&two, &neighbour.url(), &["payment.completed"]);
    for _ in 0..40 {
        one.pay(1);
    }
    two.pay(1);
    let began = Instant::now();
    good.wait_for(40);
    neighbour.wait_for(1);
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "the good one waited for the dead: {:?}",
        began.elapsed()
    );
    slow.wait_for(40);
    outcomes(&one, &slowly, 40);
    assert!((2..=8).contains(&slow.most_at_once()), "{} at once", slow.most_at_once());
    let sequences: Vec<u64> = slow.arrived().iter().map(Arrived::sequence).collect();
    for (at, sequence) in sequences.iter().enumerate() {
        assert!(sequence.abs_diff(at as u64 + 1) <= 8, "started far out of order: {sequences:?}");
    }
}

#[test]
fn what_a_deaf_endpoint_was_sent_is_pending() {
    let server = Server::shared();
    let api = server.tenant().test;
    let dead = Receiver::start(|_| Manner::Never);
    let webhook = listen(&api, &dead.url(), &["payment.completed"]);
    for _ in 0..5 {
        api.pay(1);
    }
    dead.wait_for(2);
    let deliveries = api.walk(&format!("{}/deliveries", path(&webhook)), &[], 2);
    let seen: Vec<(u64, &str)> = deliveries
        .iter()
        .map(|delivery| (delivery["sequence"].as_u64().unwrap_or(0), text(delivery, "status")))
        .collect();
    assert_eq!(seen, [(5, "pending"), (4, "pending"), (3, "pending"), (2, "pending"), (1, "pending")]);
    for member in ["httpStatus", "latencyMs", "error", "completedAt"] {
        assert_eq!(deliveries[0][member], Value::Null);
    }
    // An endpoint that is disabled gets no more; enabled again, it gets what was due while it was
    // enabled.
    api.patch(&path(&webhook), &json!({ "status": "disabled" })).expect(200);
    api.pay(1);
    let deliveries = api.walk(&format!("{}/deliveries", path(&webhook)), &[], 2);
    assert_eq!(deliveries.len(), 5, "{deliveries:?}");
}

fn certificate(names: &[&str], issuer: &CertifiedIssuer<'_, KeyPair>) -> Arc<ServerConfig> {
    let key = KeyPair::generate().expect("a key");
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let certificate =
        CertificateParams::new(names).expect("names").signed_by(&key, issuer).expect("a certificate");
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth();
    Arc::new(config.with_single_cert(vec![certificate.der().clone()], key).expect("a certificate"))
}

#[test]
fn certificates_are_checked_and_others_can_be_trusted() {
    let authority = || {
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("no names");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority")
    };
    let (known, unknown) = (authority(), authority());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, known.pem()).expect("a file");
    let server = Server::start_with(&[("PASARELA__WEBHOOKS__EXTRA_CA_FILE", &file.display().to_string())]);
    let tenant = server.tenant();
    server
        .admin()
        .post(&format!("/admin/tenants/{}/live-status", tenant.id), &json!({ "status": "active" }))
        .expect(200);
    let right = Receiver::start_with(Some(certificate(&["127.0.0.1"], &known)), |_| Manner::Status(200));
    let stranger = Receiver::start_with(Some(certificate(&["127.0.0.1"], &unknown)), |_| Manner::Status(200));
    let other_name =
        Receiver::start_with(Some(certificate(&["shop.example.com"], &known)), |_| Manner::Status(200));
    let plain = Receiver::good();
    let trusted = listen(&tenant.test, &right.url(), &["payment.completed"]);
    let bad = [
        listen(&tenant.test, &stranger.url(), &["payment.completed"]),
        listen(&tenant.test, &other_name.url(), &["payment.completed"]),
    ];
    let no_tls = listen(&tenant.test, &plain.url().replace("http:", "https:"), &["payment.completed"]);
    let live = listen(&tenant.live, &right.url(), &["tenant.live_status_changed"]);
    tenant.test.pay(1);
    assert_eq!(outcome(&tenant.test, &trusted)["status"], "delivered");
    for webhook in &bad {
        assert_eq!(outcome(&tenant.test, webhook)["error"], "its certificate is not trusted");
    }
    assert_eq!(outcome(&tenant.test, &no_tls)["error"], "the connection broke");
    assert_eq!((stranger.count(), other_name.count(), plain.count()), (0, 0, 0));
    assert_signed(&right.wait_for(1)[0], text(&trusted, "secret"));
    let answer = tenant.live.act("/v1/notifications/test").expect(202);
    assert_eq!(
        answer["deliveries"],
        json!([{ "webhookId": live["id"], "status": "delivered", "httpStatus": 200, "error": null }])
    );
    assert_eq!(right.wait_for(2)[1].json()["data"]["livemode"], true);
}

#[test]
fn private_targets_are_refused_when_registered_and_when_sent_to() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let receiver = Receiver::good();
    let url = receiver.url();
    let by_number = listen(api, &url, &["payment.completed"]);
    let by_name = listen(api, &url.replace("127.0.0.1", "localhost"), &["payment.completed"]);
    server.terminate();
    server.set("PASARELA__WEBHOOKS__ALLOW_PRIVATE_TARGETS", "false");
    server.restart();
    api.pay(1);
    for webhook in [&by_number, &by_name] {
        let outcome = outcome(api, webhook);
        assert_eq!((&outcome["status"], &outcome["httpStatus"]), (&json!("failed"), &Value::Null));
        assert_eq!(
            outcome["error"],
            "the url must not lead to a loopback, private or otherwise special address"
        );
    }
    assert_eq!(receiver.count(), 0);
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "localhost",
        "a.localhost",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "240.0.0.1",
        "[fe80::1]",
        "[fc00::1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
    ] {
        for scheme in ["http", "https"] {
            let body = json!({ "url": format!("{scheme}://{host}/x"), "events": ["payment.completed"] });
            api.post("/v1/webhooks", &body).names(&["url"]);
        }
        api.patch(&path(&by_number), &json!({ "url": format!("https://{host}/x") })).names(&["url"]);
    }
    listen(api, "https://does-not-resolve.invalid/hook", &["payment.failed"]);
}

#[test]
fn what_waits_outlives_a_restart_and_what_ended_is_not_sent_again() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let receiver = Receiver::start(|arrived| {
        if arrived.json()["event"] == "payment.failed" { Manner::Never } else { Manner::Status(500) }
    });
    let webhook = listen(&api, &receiver.url(), &["payment.completed", "payment.failed"]);
    api.pay(1);
    outcomes(&api, &webhook, 1);
    api.pay_with(1, "99999999");
    receiver.wait_for(2);
    api.pay(1);
    let all = outcomes(&api, &webhook, 2);
    assert_eq!(
        all.iter().map(|delivery| text(delivery, "status")).collect::<Vec<_>>(),
        ["failed", "pending", "failed"]
    );
    server.kill();
    server.restart();
    let arrived = receiver.wait_for(4);
    let sequences: Vec<u64> = arrived.iter().map(Arrived::sequence).collect();
    assert_eq!(sequences, [1, 2, 3, 2], "only what had no outcome");
    assert_eq!(
        (arrived[1].header("svc-event-id"), &arrived[1].body),
        (arrived[3].header("svc-event-id"), &arrived[3].body)
    );
    assert_signed(&arrived[3], text(&webhook, "secret"));
    outcomes(&api, &webhook, 3);
    assert_eq!(server.terminate().code(), Some(0));
    server.restart();
    api.pay(1);
    assert_eq!(receiver.wait_for(5).iter().map(Arrived::sequence).collect::<Vec<_>>()[4], 4);
}

#[test]
fn ten_thousand_events_for_a_dead_endpoint_wait_in_the_log() {
    let server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("1000000.00");
    let batch = || {
        let items: Vec<Value> = (0..1_000).map(|_| payout_body(&merchant, "0.10")).collect();
        let answer =
            api.post("/v1/payouts/batch", &json!({ "externalRef": fresh("b"), "items": items })).expect(201);
        assert_eq!(list(&answer, "items").len(), 1_000);
    };
    batch();
    let before = server.memory_kib();
    let (dead, good) = (Receiver::start(|_| Manner::Never), Receiver::good());
    let webhook = listen(&api, &dead.url(), &["payout.completed"]);
    for _ in 0..10 {
        batch();
    }
    listen(&api, &good.url(), &["payout.failed"]);
    api.payout(&merchant, "1.04", json!({})).expect(201);
    good.wait_for(1);
    let page = api.query(&format!("{}/deliveries", path(&webhook)), &[("limit", "100")]).expect(200);
    assert_eq!(list(&page, "items").len(), 100);
    let grown = server.memory_kib().saturating_sub(before);
    assert!(grown < 96 * 1024, "{grown} KiB more");
    let waiting = api.walk(&format!("{}/deliveries", path(&webhook)), &[], 100);
    assert!(
        waiting.len() == 10_000
            && waiting.iter().filter(|delivery| delivery["status"] == "pending").count() > 9_500,
        "{}",
        waiting.len()
    );
    // The next eight may come before a busy receiver has seen that the last were given up.
    assert!(dead.most_at_once() <= 16, "{}", dead.most_at_once());
}

#[test]
fn who_has_no_room_for_one_more_costs_the_others_nothing() {
    let server = Server::shared();
    let api = server.tenant().test;
    let hanging = Receiver::start(|_| Manner::Never);
    let full = listen(&api, &hanging.url(), &["payment.completed"]);
    api.pay(1);
    let event = api.walk("/v1/events", &[], 10).remove(0);
    let resend = format!("/v1/events/{}/resend", text(&event, "id"));
    let refused = (0..1_000)
        .map(|_| api.act(&resend))
        .find(|answer| answer.status != 202)
        .expect("a hundred wait at most");
    refused.refused(503, "overloaded");
    let good = Receiver::good();
    let webhook = listen(&api, &good.url(), &["payment.completed"]);
    // Deliveries that wait end after ten seconds, and leave room for as many more.
    let left_out = (0..1_000)
        .map(|_| api.act(&resend).expect(202))
        .find(|body| list(body, "deliveries").len() == 1)
        .expect("the first is full");
    assert_eq!(list(&left_out, "deliveries")[0]["webhookId"], webhook["id"]);
    good.wait_for(1);
    let key = fresh("again");
    let answer = api.keyed(&key).act(&resend);
    answer.expect(202);
    assert_eq!(api.keyed(&key).act(&resend).body, answer.body, "and it is kept");
    api.delete(&path(&full)).expect(200);
}

#[test]
fn tests_of_endpoints_that_hang_are_bounded_and_keep_no_other_tenant_waiting() {
    let server = Server::start();
    let hanging = Receiver::start(|_| Manner::Never);
    let (bad, fine) = (server.tenant().test, server.tenant().test);
    for _ in 0..20 {
        listen(&bad, &hanging.url(), &["payment.completed"]);
    }
    let good = Receiver::good();
    let endpoint = listen(&fine, &good.url(), &["payment.completed"]);
    let error = |error: &str, bodies: &[Value]| {
        bodies.iter().flat_map(|body| list(body, "deliveries")).filter(|one| one["error"] == error).count()
    };
    let bodies: Vec<Value> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            (0..4).map(|_| scope.spawn(|| bad.act("/v1/notifications/test").expect(202))).collect();
        hanging.wait_for(20);
        let tested = fine.act("/v1/notifications/test").expect(202);
        assert_eq!(
            tested["deliveries"],
            json!([{ "webhookId": endpoint["id"], "status": "delivered", "httpStatus": 200, "error": null }])
        );
        asked.into_iter().map(|body| body.join().expect("an answer")).collect()
    });
    assert_eq!(error("too many tests are under way; try again later", &bodies), 60);
    assert_eq!(error("no answer within 10 seconds", &bodies), 20);
    assert_eq!(hanging.count(), 20);
}
