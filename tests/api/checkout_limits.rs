//! The limits on how often buyers may open sessions and have codes sent: whoever has a link or a
//! session needs no key for it. The limits that several clients share are in `strangers.rs`.

use crate::checkout::send;
use crate::harness::buyers::{Page, session};
use crate::harness::check::text;
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, merchant_body};
use crate::harness::server::Server;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Makes a payment link, and returns the path on which it opens sessions.
fn link(api: &Api) -> String {
    let product =
        api.post("/v1/products", &json!({ "name": fresh("Camisa"), "priceUsd": "10.00" })).expect(201);
    let link = api.post(&format!("/v1/products/{}/links", text(&product, "id")), &json!({})).expect(201);
    format!("/pay/{}/sessions", text(&link, "slug"))
}

#[track_caller]
fn told_to_wait(answer: &Answer, words: &str) {
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert!(
        answer
            .header("retry-after")
            .and_then(|seconds| seconds.parse().ok())
            .is_some_and(|seconds: u32| (1..=60).contains(&seconds))
    );
    assert!(answer.text().contains(words), "{}", answer.text());
}

#[test]
fn a_session_has_so_many_codes_sent_and_no_more() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    let intents: Vec<_> = (0..10).map(|_| page.request(json!({})).expect(201)).collect();
    let refused = page.request(json!({}));
    refused.refused(429, "rate_limited");
    told_to_wait(&refused, "too many codes");
    for (lang, words) in [("es", "Espera un momento"), ("en", "Wait a moment")] {
        let details = [
            ("secret", text(&made, "clientSecret")),
            ("lang", lang),
            ("debtorBankCode", "0134"),
            ("debtorId", "V12345678"),
            ("debtorCellPhone", "04141234567"),
        ];
        told_to_wait(&send(&server, &format!("{}/c2p/request", page.base), &details, &[]), words);
    }
    Page::of(&server, &session(&tenant, json!({}))).request(json!({})).expect(201);
    // An intent that was begun is paid all the same.
    page.execute(&intents[9], "12345678").expect(200);
}

#[test]
fn a_payer_is_sent_so_many_codes_of_a_link_whatever_the_session() {
    let server = Server::shared();
    let path = link(&server.tenant().test);
    let open = || Page::of(&server, &server.nobody().post(&path, &json!({})).expect(201));
    for _ in 0..10 {
        open().request(json!({})).expect(201);
    }
    told_to_wait(&open().request(json!({})), "too many codes");
    open().request(json!({ "debtorCellPhone": "04241234567" })).expect(201);
}

#[test]
fn a_client_opens_so_many_sessions_of_a_link_at_once_and_no_more() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (busy, quiet) = (link(&api), link(&api));
    let opened = (0..5_000)
        .map(|_| server.nobody().post(&busy, &json!({})))
        .take_while(|answer| answer.status == 201)
        .count();
    assert!((50..4_000).contains(&opened), "{opened}");
    // A link allows one session a second again: these are sent faster than that.
    let refused = (0..100)
        .map(|_| server.nobody().post(&busy, &json!({})))
        .find(|answer| answer.status != 201)
        .expect("a refusal");
    told_to_wait(&refused, "too many sessions");
    for (lang, words) in [("es", "Demasiados intentos"), ("en", "Too many tries")] {
        let page = (0..100)
            .map(|_| send(&server, &busy, &[("lang", lang)], &[]))
            .find(|answer| answer.status != 303)
            .expect("a refusal");
        told_to_wait(&page, words);
    }
    server.nobody().post(&quiet, &json!({})).expect(201);
}

/// Sends a body in two pieces, so that it has to be gathered; returns the status line of the answer.
fn in_two_pieces(server: &Server, path: &str, headers: &str, body: &str) -> String {
    let (first, second) = body.split_at(body.len() / 2);
    let mut stream = TcpStream::connect(server.address()).expect("connects");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n{headers}Transfer-Encoding: chunked\r\n\r\n"
    );
    let pieces = format!("{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n", first.len(), second.len());
    stream.write_all((head + &pieces).as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn bodies_of_buyers_that_never_end_leave_tenants_their_room() {
    let server = Server::start_with(&[("PASARELA__SERVER__BODIES_BYTES_MAX", "4194304")]);
    let tenant = server.tenant();
    let path = link(&tenant.test);
    let activation = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&activation, &json!({ "status": "active" })).expect(200);
    // As much as there is room for: each body lacks its last byte.
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 16384\r\n\r\n"
    );
    let unfinished = [head.into_bytes(), vec![b' '; 16_383]].concat();
    let held: Vec<TcpStream> = (0..256)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address()).expect("connects");
            stream.write_all(&unfinished).expect("sent");
            stream
        })
        .collect();
    let deadline = Instant::now() + Duration::from_secs(25);
    let another = format!("{}{{\"quantity\":0}}", " ".repeat(16_000));
    while in_two_pieces(&server, &path, "", &another).contains(" 400 ") {
        assert!(Instant::now() < deadline, "they are given all of it");
    }
    let key = format!("X-API-Key: {}\r\n", text(&tenant.created["liveKey"], "key"));
    for _ in 0..3 {
        let answer = in_two_pieces(
            &server,
            "/v1/merchants",
            &key,
            &format!("{}{}", " ".repeat(16_000), merchant_body()),
        );
        assert!(answer.contains(" 201 "), "{answer}");
    }
    drop(held);
}

#[test]
fn who_misses_too_often_stops_nobody_behind_the_same_address() {
    let server = Server::start_with(&[("PASARELA__LIMITS__MISSES_BURST", "3")]);
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let slug = link(&tenant.test);
    let nobody = server.nobody();
    let miss = || nobody.get("/checkout/01930000-0000-7000-8000-000000000000").status;
    let missed: Vec<u16> = (0..6).map(|_| miss()).collect();
    assert_eq!(missed, [404, 404, 404, 429, 429, 429]);
    assert_eq!(nobody.get("/pay/no-such-slug-at-all").status, 429);
    for path in [format!("/checkout/{}", text(&made, "id")), slug.trim_end_matches("/sessions").to_owned()] {
        let page = nobody.get(&path);
        assert_eq!(page.status, 200, "{path}: {}", page.text());
    }
}

#[test]
fn a_buyers_payment_says_how_long_it_took() {
    let server = Server::shared();
    let made = session(&server.tenant(), json!({}));
    let page = Page::of(&server, &made);
    let intent = page.request(json!({})).expect(201);
    let paid = page.execute(&intent, "12345678");
    assert_eq!(paid.status, 200, "{}", paid.text());
    assert!(paid.header("wal-seq").is_some() && paid.header("server-timing").is_some());
}
