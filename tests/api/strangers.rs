//! The limits of people without a key, who guess at addresses, send bodies, have codes sent and try
//! them.

use crate::checkout::send;
use crate::harness::buyers::{Page, session};
use crate::harness::check::{list, race, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{UNKNOWN, fresh, merged};
use crate::harness::pesos::buyer;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const WRONG: &str = "000000";

/// A server that believes a proxy on this machine when it names the sender.
fn behind_a_proxy() -> Server {
    Server::start_with(&[("PASARELA__SERVER__TRUSTED_PROXIES", "127.0.0.1")])
}

/// A client at this address, as the proxy says.
fn from(server: &Server, address: &str) -> Api {
    server.nobody().with("x-forwarded-for", address)
}

/// Makes a payment link, and returns the path on which it opens sessions.
fn link(api: &Api) -> String {
    let product =
        api.post("/v1/products", &json!({ "name": fresh("Camisa"), "priceUsd": "10.00" })).expect(201);
    let link = api.post(&format!("/v1/products/{}/links", text(&product, "id")), &json!({})).expect(201);
    format!("/pay/{}/sessions", text(&link, "slug"))
}

/// Opens a session at a link, and returns the calls of its page, with the headers of `api`.
fn opened(api: &Api, path: &str) -> Page {
    let session = api.post(path, &json!({})).expect(201);
    Page {
        api: api.with("authorization", &format!("Bearer {}", text(&session, "clientSecret"))),
        base: format!("/checkout/{}", text(&session, "id")),
    }
}

fn uuid(text: &str) -> uuid::Uuid {
    text.parse().expect("a UUID")
}

/// The bits of an id that are neither its time nor the sixteen that number its operations.
fn random_part(id: &str) -> u128 {
    let bits = uuid(id).as_u128() >> 16;
    (bits >> 48 & 0xFFF) << 30 | bits & 0x3FFF_FFFF
}

#[track_caller]
fn told_to_wait(answer: &Answer) -> u32 {
    assert_eq!(answer.status, 429, "{}", answer.text());
    answer.header("retry-after").and_then(|seconds| seconds.parse().ok()).expect("Retry-After")
}

#[test]
fn a_session_has_an_id_that_cannot_be_guessed() {
    let server = Server::shared();
    let tenant = server.tenant();
    let path = link(&tenant.test);
    let made = race(20, |n| {
        if n % 2 == 0 {
            session(&tenant, json!({}))
        } else {
            server.nobody().post(&path, &json!({})).expect(201)
        }
    });
    let ids: BTreeSet<&str> = made.iter().map(|session| text(session, "id")).collect();
    assert_eq!(ids.len(), 20);
    for session in &made {
        let id = text(session, "id");
        assert_eq!((uuid(id).get_version_num(), uuid(id).get_variant()), (4, uuid::Variant::RFC4122), "{id}");
        assert!(text(session, "url").ends_with(&format!("/checkout/{id}")));
    }
    let places = send(&server, &path, &[], &[]);
    let location = places.header("location").expect("an address").to_owned();
    assert_eq!(uuid(&location["/checkout/".len()..]).get_version_num(), 4, "{location}");
    server.nobody().get(&location);
}

#[test]
fn ids_do_not_say_how_many_others_were_made() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("1000.00");
    let item = |n: usize| json!({ "banco": "0134", "telefono": "04147654321", "cedula": "V87654321", "monto": "1.00", "concepto": "x", "externalRef": fresh(&n.to_string()) });
    let items: Vec<Value> = (0..50).map(item).collect();
    let batch = api
        .post("/v1/payments/credit/disburse", &json!({ "externalRef": fresh("b"), "items": items }))
        .expect(201);
    let ids: Vec<&str> = list(&batch, "items").iter().map(|item| text(item, "payoutId")).collect();
    assert!(ids.is_sorted_by(|one, next| one < next), "lists are in the order of ids");
    let counted =
        ids.windows(2).filter(|pair| random_part(pair[1]).abs_diff(random_part(pair[0])) < 1 << 16).count();
    assert!(counted < 5, "{counted} of 50 follow upon their neighbour: {ids:?}");
}

#[test]
fn who_guesses_at_addresses_is_stopped() {
    let server = Server::start();
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({})));
    let nobody = server.nobody();
    nobody.get(&page.base);
    let guess = |n: usize| match n % 3 {
        0 => nobody.get(&format!("/checkout/{}", uuid::Uuid::from_u128(n as u128))),
        1 => nobody.get(&format!("/pay/{}", fresh("slug"))),
        _ => nobody.get("/checkout/no-id/embed"),
    };
    let answers: Vec<Answer> = (0..2_000).map(guess).take_while(|answer| answer.status != 429).collect();
    assert!(
        (60..1_999).contains(&answers.len()) && answers.iter().all(|answer| answer.status == 404),
        "{}",
        answers.len()
    );
    let stopped = (0..500).map(guess).find(|answer| answer.status == 429).expect("an end");
    assert!((1..=120).contains(&told_to_wait(&stopped)));
    // A session that is there is shown to all: whoever guesses shares the address with buyers.
    assert_eq!(nobody.get(&page.base).status, 200);
    page.state();
    page.request(json!({})).expect(201);
}

#[test]
fn whoever_else_comes_through_a_proxy_may_look() {
    let server = behind_a_proxy();
    let page = session(&server.tenant(), json!({}));
    let path = format!("/checkout/{}", text(&page, "id"));
    let (guesser, buyer) =
        (from(&server, "203.0.113.7, 198.51.100.9"), from(&server, "198.51.100.9, 203.0.113.7"));
    let end = (0..2_000)
        .map(|_| guesser.get(&format!("/checkout/{UNKNOWN}")))
        .find(|answer| answer.status != 404)
        .expect("an end");
    told_to_wait(&end);
    assert_eq!(buyer.get(&path).status, 200, "{}", server.log_tail());
    // Addresses that a client writes before the one that the proxy adds count for nothing.
    let liar = from(&server, "192.0.2.77, 198.51.100.9");
    let unknown = format!("/checkout/{UNKNOWN}");
    let looks = |_: usize| (guesser.get(&unknown), liar.get(&unknown)).1;
    told_to_wait(&(0..500).map(looks).find(|answer| answer.status != 404).expect("an end"));
}

#[test]
fn no_session_sends_more_than_so_many_messages_in_pesos() {
    let server = Server::shared();
    let page = Page::of(&server, &session(&server.tenant(), json!({})));
    for n in 0..10 {
        page.pesos(if n % 2 == 0 { "push" } else { "sms" }).expect(201);
    }
    let refused = page.pesos("sms");
    refused.refused(429, "rate_limited");
    assert!((1..=60).contains(&told_to_wait(&refused)));
    page.request(json!({})).refused(429, "rate_limited");
}

#[test]
fn attempts_in_pesos_are_counted_whatever_their_channel() {
    let server = Server::shared();
    let (mine, other) = (server.tenant(), server.tenant());
    let page = Page::of(&server, &session(&mine, json!({})));
    for _ in 0..10 {
        page.pesos("qr").expect(201);
    }
    let refused = page.pesos("qr");
    refused.refused(429, "rate_limited");
    assert!((1..=60).contains(&told_to_wait(&refused)));
    // What was begun stays, and many sessions of the same shop do not help for long; a key does not cost it.
    let waiting = mine.test.query("/v1/payments", &[("method", "COP"), ("status", "PENDING")]).expect(200);
    assert_eq!(list(&waiting, "items").len(), 1);
    let begins = |_| Page::of(&server, &session(&mine, json!({}))).pesos("qr");
    Page::of(&server, &session(&mine, json!({}))).pesos("qr").expect(201);
    let stopped = (0..80).map(begins).find(|answer| answer.status != 201).expect("an end");
    stopped.refused(429, "rate_limited");
    let made = session(&mine, json!({}));
    let form = [("secret", text(&made, "clientSecret")), ("channel", "qr")];
    let path = format!("/checkout/{}/cop", text(&made, "id"));
    told_to_wait(&send(&server, &path, &form, &[]));
    page.request(json!({})).expect(201);
    Page::of(&server, &session(&other, json!({}))).pesos("qr").expect(201);
}

#[test]
fn what_would_be_refused_anyway_is_not_counted() {
    let server = Server::shared();
    let tenant = server.tenant();
    let offered = session(&tenant, json!({ "methods": ["c2p"] }));
    for _ in 0..12 {
        Page::of(&server, &offered).pesos("qr").refused(409, "method_not_offered");
    }
    Page::of(&server, &session(&tenant, json!({}))).pesos("qr").expect(201);
}

/// A client asks for what is not there until it is stopped.
fn miss(nobody: &Api) {
    let end =
        (0..2_000).map(|_| nobody.get(&format!("/checkout/{UNKNOWN}"))).find(|answer| answer.status != 404);
    told_to_wait(&end.expect("an end"));
}

#[test]
fn who_pays_by_a_form_sees_the_payment_whatever_others_behind_the_address_did() {
    let server = Server::start_with(&[("PASARELA__LIMITS__MISSES_PER_MINUTE", "1")]);
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    miss(&server.nobody());
    let typed = [
        ("secret", text(&made, "clientSecret")),
        ("cardNumber", "4111111111111111"),
        ("cardExpiry", "12/30"),
        ("cardCvv", "123"),
        ("cardName", "Ana Perez"),
        ("holderId", "V12345678"),
    ];
    let answer = send(&server, &format!("{}/card", page.base), &typed, &[]);
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(page.state()["status"], "paid");
    for path in [answer.header("location").expect("its page"), &page.base] {
        let shown = server.nobody().get(path);
        assert_eq!(shown.status, 200, "{}", shown.text());
        assert!(shown.text().contains("data-status=\"paid\""), "{}", shown.text());
    }
}

#[test]
fn a_page_that_cannot_be_shown_says_nothing_of_a_charge() {
    let mut server = Server::start();
    let made = session(&server.tenant(), json!({}));
    let path = format!("/checkout/{}", text(&made, "id"));
    assert_eq!(server.nobody().get(&path).status, 200);
    server.kill();
    // The book of the first tenant in test mode.
    server.arguments = vec!["--set-aside", "3"];
    server.restart();
    let shown = server.nobody().get(&format!("{path}?lang=en"));
    assert_eq!(shown.status, 503, "{}", shown.text());
    assert!(
        !shown.text().contains("Nothing new") && !shown.text().contains("You were not"),
        "{}",
        shown.text()
    );
    assert!(shown.text().contains(&format!("href=\"{path}?lang=en\"")), "{}", shown.text());
    assert!(shown.text().contains("check before you repeat it"), "{}", shown.text());
}

#[test]
fn one_client_cannot_lock_a_link_for_the_others() {
    let server = behind_a_proxy();
    let path = link(&server.tenant().test);
    let (greedy, other) = (from(&server, "203.0.113.7"), from(&server, "203.0.113.8"));
    let opened =
        (0..5_000).map(|_| greedy.post(&path, &json!({}))).take_while(|answer| answer.status == 201).count();
    assert!((50..4_999).contains(&opened), "{opened}");
    // The other client has room whatever the one does: one client cannot use up what they share.
    for _ in 0..40 {
        greedy.post(&path, &json!({}));
        other.post(&path, &json!({})).expect(201);
    }
}

#[test]
fn one_client_cannot_lock_a_payers_phone_for_the_others() {
    let server = behind_a_proxy();
    let path = link(&server.tenant().test);
    let (greedy, other) = (from(&server, "203.0.113.7"), from(&server, "203.0.113.8"));
    let asks = |who: &Api, pesos: bool| {
        let page = opened(who, &path);
        if pesos { page.pesos("push") } else { page.request(json!({})) }
    };
    for pesos in [false, true] {
        for _ in 0..10 {
            asks(&greedy, pesos).expect(201);
        }
        asks(&greedy, pesos).refused(429, "rate_limited");
        for _ in 0..5 {
            asks(&other, pesos).expect(201);
        }
    }
}

#[test]
fn five_wrong_codes_end_an_attempt() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let pending = api.cop(50_000, "sms");
    let page = Page::of(&server, &session(&tenant, json!({})));
    let attempt = page.pesos("sms").expect(201);
    for n in 0..5 {
        if n == 3 {
            server.kill();
            server.restart();
        }
        assert_eq!(api.cop_now(&pending)["status"], "pending");
        assert_eq!(page.state()["status"], "open");
        api.cop_otp(&pending, WRONG).refused(400, "invalid_otp");
        page.code(WRONG).refused(400, "invalid_otp");
    }
    for code in [WRONG, "123456", "x"] {
        api.cop_otp(&pending, code).refused(409, "otp_attempts_exhausted");
        page.code(code).refused(409, "otp_attempts_exhausted");
    }
    for over in [&pending, &attempt] {
        let failed = api.cop_now(over);
        assert_eq!(
            (text(&failed, "status"), text(&failed, "failureCode")),
            ("failed", "otp_attempts_exhausted")
        );
    }
    let told: Vec<_> =
        api.told().into_iter().map(|(event, data)| (event, data["failureCode"].clone())).collect();
    let failed = ("payment.failed".to_owned(), json!("otp_attempts_exhausted"));
    assert_eq!(told, [failed.clone(), failed]);
    server.kill();
    server.restart();
    api.cop_otp(&pending, "123456").refused(409, "otp_attempts_exhausted");
    // The session is open still: another attempt has a code of its own.
    page.pesos("sms").expect(201);
    assert_eq!(page.code("123456").expect(200)["status"], "paid");
}

#[test]
fn codes_that_come_at_once_are_counted_too() {
    let server = Server::shared();
    let api = server.tenant().test;
    let pending = api.cop(50_000, "sms");
    let mut wrong = 0;
    for _ in 0..10 {
        for answer in race(8, |_| api.cop_otp(&pending, WRONG)) {
            match answer.status {
                400 => wrong += usize::from(answer.refused(400, "invalid_otp")["error"] == "invalid_otp"),
                _ => assert!(
                    matches!(
                        text(&answer.expect(409), "error"),
                        "charge_in_progress" | "otp_attempts_exhausted"
                    ),
                    "{}",
                    answer.text()
                ),
            }
        }
    }
    assert_eq!(wrong, 5);
    api.cop_otp(&pending, "123456").refused(409, "otp_attempts_exhausted");
}

#[test]
fn a_page_says_that_its_codes_are_used_up() {
    let server = Server::shared();
    let made = session(&server.tenant(), json!({}));
    let page = Page::of(&server, &made);
    page.pesos("sms").expect(201);
    let typed = [("secret", text(&made, "clientSecret")), ("method", "cop"), ("otp", WRONG)];
    let answers: Vec<Answer> =
        (0..6).map(|_| send(&server, &format!("{}/cop/otp", page.base), &typed, &[])).collect();
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [400, 400, 400, 400, 303, 303]);
    let next = answers[4].header("location").expect("an address");
    let shown = server.nobody().get(next);
    assert!(shown.text().contains("data-status=\"failed\""), "{}", shown.text());
}

/// A connection on which a head was sent and nothing of the body, and what comes back.
fn only_a_head(server: &Server, path: &str, content_type: &str, length: usize) -> String {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n"
    )
    .expect("it is sent");
    let mut head = vec![0; 4096];
    let read = stream.read(&mut head).expect("an answer without the body");
    String::from_utf8_lossy(&head[..read]).into_owned()
}

#[test]
fn nobody_reads_a_form_for_what_is_not_there() {
    let server = Server::shared();
    let form = "application/x-www-form-urlencoded";
    for place in ["c2p/request", "c2p", "cop", "cop/otp", "usdt"] {
        let answer = only_a_head(&server, &format!("/checkout/{UNKNOWN}/{place}"), form, 1_000_000);
        assert!(answer.starts_with("HTTP/1.1 404"), "{place}: {answer}");
        let answer =
            only_a_head(&server, &format!("/checkout/{UNKNOWN}/{place}"), "application/json", 1_000_000);
        assert!(answer.starts_with("HTTP/1.1 401"), "{place}: {answer}");
    }
    for kind in [form, "application/json"] {
        let answer = only_a_head(&server, &format!("/pay/{}/sessions", fresh("none")), kind, 1_000_000);
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    }
}

#[test]
fn forms_are_short() {
    let server = Server::shared();
    let tenant = server.tenant();
    let path = link(&tenant.test);
    let page = Page::of(&server, &session(&tenant, json!({})));
    let long = "x".repeat(17 << 10);
    for place in ["c2p/request", "c2p", "cop", "cop/otp", "usdt"] {
        let place = format!("{}/{place}", page.base);
        assert_eq!(send(&server, &place, &[("x", &long)], &[]).status, 413);
        page.api
            .post(&place, &merged(json!({ "x": long }), json!({ "buyer": buyer() })))
            .refused(413, "payload_too_large");
    }
    assert_eq!(send(&server, &path, &[("x", &long)], &[]).status, 413);
    server.nobody().post(&path, &json!({ "x": long })).refused(413, "payload_too_large");
    assert_eq!(send(&server, &path, &[("x", &long[..10 << 10])], &[]).status, 303);
}

/// A request of a tenant's whose body has begun and does not end.
fn begun(server: &Server, key: &str, bytes: usize) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
    let head = format!(
        "POST /v1/merchants HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("it is sent");
    stream.write_all(&vec![b' '; bytes]).expect("it is sent");
    stream
}

#[test]
fn bodies_that_are_not_finished_yet_have_a_bound_together_and_each_tenant_a_part_of_it() {
    let server = Server::start_with(&[("PASARELA__SERVER__BODIES_BYTES_MAX", "4194304")]);
    let (tenant, other) = (server.tenant(), server.tenant());
    let key = text(&tenant.created["testKey"], "key").to_owned();
    // Test mode leaves one of 4 MiB, and one tenant has three quarters of the others.
    let mut held: Vec<TcpStream> = (0..3).map(|_| begun(&server, &key, 900_000)).collect();
    // One of the three bodies has no room; it may be any of them.
    let refused = (0..400).find_map(|n| {
        let mut answer = vec![0; 4096];
        let read = held[n % 3].read(&mut answer).unwrap_or(0);
        (read > 0).then(|| String::from_utf8_lossy(&answer[..read]).to_lowercase())
    });
    let refused = refused.expect("one of them has no room");
    assert!(
        refused.starts_with("http/1.1 429")
            && refused.contains("retry-after: ")
            && refused.contains("\"rate_limited\""),
        "{refused}"
    );
    // Another tenant has room, a body that comes whole is not kept waiting, and when those that
    // were held have gone there is room again.
    let long = json!({ "externalRef": fresh("m"), "name": "x".repeat(700_000) });
    other.test.post("/v1/merchants", &long).names(&["name"]);
    tenant.test.fund("1.00");
    drop(held);
    let answer =
        (0..200).map(|_| tenant.test.post("/v1/merchants", &long)).find(|answer| answer.status != 429);
    answer.expect("room").names(&["name"]);
}

#[test]
fn tenants_that_fill_the_room_for_bodies_do_not_lock_operators_out() {
    let server = Server::start_with(&[("PASARELA__SERVER__BODIES_BYTES_MAX", "4194304")]);
    let _held: Vec<_> =
        (0..4).map(|_| begun(&server, text(&server.tenant().created["testKey"], "key"), 900_000)).collect();
    let tenant = server.tenant();
    let long = json!({ "externalRef": fresh("m"), "name": "x".repeat(700_000) });
    let full = (0..400)
        .map(|_| tenant.test.post("/v1/merchants", &long))
        .find(|answer| [429, 503].contains(&answer.status));
    assert!(full.is_some(), "there is room for another tenant's body");
    for _ in 0..5 {
        server.admin().post("/admin/tenants", &json!({ "name": "x".repeat(700_000) })).names(&["name"]);
    }
}

#[test]
fn one_connection_has_a_hundred_streams_at_the_most() {
    let server = Server::shared();
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        .expect("it is sent");
    let mut head = [0; 9];
    stream.read_exact(&mut head).expect("a frame");
    assert_eq!(head[3], 4, "the settings come first");
    let mut settings = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
    stream.read_exact(&mut settings).expect("the settings");
    let streams = settings
        .chunks(6)
        .find(|setting| setting[..2] == [0, 3])
        .map(|setting| u32::from_be_bytes([setting[2], setting[3], setting[4], setting[5]]));
    assert!(streams.is_some_and(|streams| streams <= 100), "{streams:?}");
}
