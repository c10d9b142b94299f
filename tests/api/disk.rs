//! A disk that is nearly full, or full: writes are refused before anything is done, reads go on,
//! and a start is possible (`config.toml`, `[storage] reserve_bytes`).

use crate::checkout::send;
use crate::harness::check::text;
use crate::harness::client::Answer;
use crate::harness::faults::left_out;
use crate::harness::flows::{fresh, merchant_body};
use crate::harness::receiver::{Manner, Receiver};
use crate::harness::server::Server;
use serde_json::json;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The bytes of a reserve that no disk has.
const EVERYTHING: &str = "1125899906842624";
const RESERVE: &str = "PASARELA__STORAGE__RESERVE_BYTES";

fn says(answer: &Answer, words: &str) -> bool {
    answer.status == 503 && answer.json()["reason"].as_str().is_some_and(|reason| reason.contains(words))
}

#[test]
fn below_the_reserve_writes_are_refused_and_reads_go_on() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let fund = json!({ "currency": "VES", "amount": "10.00" });
    api.post("/v1/test/fund", &fund).expect(201);
    let session = api.post("/v1/checkout/sessions", &json!({ "amountUsd": 10 })).expect(201);
    assert_eq!(server.terminate().code(), Some(0));
    server.set(RESERVE, EVERYTHING);
    server.restart_until(&|answer| says(answer, "the disk is nearly full"));

    let keyed = api.keyed("while-it-is-full");
    for _ in 0..2 {
        let refused = keyed.post("/v1/test/fund", &fund);
        let body = refused.refused(503, "storage_unavailable");
        assert!(
            body["message"].as_str().is_some_and(|message| message.contains("nothing was done")),
            "{body}"
        );
        assert!(refused.header("retry-after").is_some());
    }
    server.admin().post("/admin/tenants", &json!({ "name": "x" })).refused(503, "storage_unavailable");
    let secret = session["clientSecret"].as_str().expect("a secret");
    let path = format!("/checkout/{}/usdt", session["id"].as_str().expect("an id"));
    let page = server.nobody().with("authorization", &format!("Bearer {secret}"));
    page.post(&path, &json!({ "network": "TRC20", "asset": "USDT" })).refused(503, "storage_unavailable");

    assert_eq!(api.movements().len(), 1);
    assert_eq!(server.nobody().get("/healthz").status, 200);
    server.admin().get("/admin/status").expect(200);
    let page = server.admin().get("/metrics");
    let figures = page.text();
    let figure = |name: &str| {
        figures.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok())
    };
    assert_eq!(
        (figure("pasarela_ready"), figure("pasarela_disk_reserve_bytes")),
        (Some(0), EVERYTHING.parse().ok())
    );
    assert!(figure("pasarela_disk_free_bytes").is_some_and(|free| free > 0));

    assert_eq!(server.terminate().code(), Some(0));
    server.set(RESERVE, "0");
    server.restart();
    // The refusal was not kept for the key.
    assert_eq!(keyed.post("/v1/test/fund", &fund).expect(201)["type"], "adjustment");
    assert_eq!(api.movements().len(), 2);
}

#[test]
fn what_operators_need_in_an_emergency_is_taken_out_of_the_reserve() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let id = &tenant.id;
    let made =
        server.admin().post(&format!("/admin/tenants/{id}/keys"), &json!({ "mode": "test" })).expect(201);
    let key = made["keyId"].as_str().expect("an id");
    let payment = tenant.test.pay(10);
    assert_eq!(server.terminate().code(), Some(0));
    server.set(RESERVE, EVERYTHING);
    server.restart_until(&|answer| says(answer, "the disk is nearly full"));
    let admin = server.admin();
    let of = |rest: &str| format!("/admin/tenants/{id}/{rest}");
    let adjustment = json!({ "mode": "test", "currency": "VES", "amount": "1.00", "description": "x", "externalRef": "x" });
    for (path, body) in [
        ("/admin/tenants".to_owned(), json!({ "name": "x" })),
        (of("keys"), json!({ "mode": "test" })),
        (of("adjustments"), adjustment),
        ("/admin/snapshot".to_owned(), json!({})),
        (format!("/admin/keys/{key}/rotate"), json!({})),
    ] {
        admin.post(&path, &body).refused(503, "storage_unavailable");
    }
    admin.patch(&of("settings"), &json!({ "reserveVes": "1.00" })).refused(503, "storage_unavailable");
    // Operators may still stop a tenant, trust the clock again and resume a book.
    let stopped =
        admin.post(&of("live-status"), &json!({ "status": "suspended", "reason": "theft" })).expect(200);
    assert_eq!(stopped["liveStatus"], "suspended");
    let keyed = server.api(made["key"].as_str().expect("a key"));
    keyed.get("/v1/balance").expect(200);
    // A look at a person is written down before it is shown.
    admin
        .get(&format!("/admin/payments/{}?unmask=true", text(&payment, "paymentId")))
        .refused(503, "storage_unavailable");
    admin.get(&format!("/admin/payments/{}", text(&payment, "paymentId"))).expect(200);
    assert!(matches!(admin.delete(&format!("/admin/keys/{key}")).status, 200 | 204));
    keyed.get("/v1/balance").refused(401, "unauthorized");
    admin.post("/admin/clock/confirm", &json!({})).expect(200);
    admin.post(&of("resume"), &json!({})).refused(409, "tenant_not_halted");
}

#[test]
fn what_falls_due_waits_for_room_and_happens_when_there_is_some() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    // An endpoint that has not answered is sent the event again by the next start.
    let receiver = Receiver::start(|_| Manner::Never);
    let hook = json!({ "url": receiver.url(), "events": ["payment.canceled", "payment.completed"] });
    api.post("/v1/webhooks", &hook).expect(201);
    api.pay(1);
    receiver.wait_for(1);
    let intents: Vec<_> = (0..100).map(|_| api.intent(1)).collect();
    api.post("/v1/test/clock", &json!({ "advanceSeconds": 15 * 60 - 5 })).expect(200);
    server.kill();
    let delivered = receiver.count();
    server.set(RESERVE, EVERYTHING);
    server.restart_until(&|answer| says(answer, "the disk is nearly full"));
    let seq = || server.admin().get("/admin/status").expect(200)["walSeq"].clone();
    let before = seq();
    std::thread::sleep(Duration::from_secs(8));
    assert_eq!(seq(), before, "intents that expired would have taken the rest of the disk");
    assert_eq!(receiver.count(), delivered, "so would the outcomes of deliveries");
    assert_eq!(server.terminate().code(), Some(0));
    server.set(RESERVE, "0");
    server.restart();
    receiver.wait_for(delivered + 1);
    let deadline = Instant::now() + Duration::from_secs(20);
    for intent in intents {
        let path = format!("/v1/payments/{}", text(&intent, "intentId"));
        while api.get(&path).expect(200)["status"] != "CANCELED" {
            assert!(Instant::now() < deadline, "it does not expire");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn forms_of_the_checkout_are_refused_before_anything_is_done() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let product = api.post("/v1/products", &json!({ "name": "Camisa", "priceUsd": "10.00" })).expect(201);
    let links = format!("/v1/products/{}/links", product["id"].as_str().expect("an id"));
    let link = api.post(&links, &json!({})).expect(201);
    let session = api.post("/v1/checkout/sessions", &json!({ "amountUsd": 10 })).expect(201);
    let (id, secret) =
        (session["id"].as_str().expect("an id"), session["clientSecret"].as_str().expect("a secret"));
    assert_eq!(server.terminate().code(), Some(0));
    server.set(RESERVE, EVERYTHING);
    server.restart_until(&|answer| says(answer, "the disk is nearly full"));
    let payer = [("debtorBankCode", "0134"), ("debtorId", "V12345678"), ("debtorCellPhone", "04141234567")];
    let forms: [(String, Vec<(&str, &str)>); 4] = [
        (format!("/checkout/{id}/c2p/request"), payer.to_vec()),
        (format!("/checkout/{id}/cop"), vec![("channel", "qr"), ("amountCop", "41000")]),
        (format!("/checkout/{id}/usdt"), vec![("network", "TRC20"), ("asset", "USDT")]),
        (format!("/pay/{}/sessions", link["slug"].as_str().expect("a slug")), vec![("quantity", "1")]),
    ];
    for (path, mut pairs) in forms {
        pairs.push(("secret", secret));
        let page = send(&server, &path, &pairs, &[]);
        assert_eq!(page.status, 503, "{path}: {}", page.text());
    }
    assert_eq!(server.terminate().code(), Some(0));
    server.set(RESERVE, "0");
    server.restart();
    assert!(api.walk("/v1/payments", &[], 100).is_empty(), "nothing was begun");
    // The very same form is done when there is room again.
    let page = send(
        &server,
        &format!("/checkout/{id}/c2p/request"),
        &[&payer[..], &[("secret", secret)]].concat(),
        &[],
    );
    assert_eq!(page.status, 303, "{}", page.text());
}

/// A form of the portal, sent by who logged in with a key: what the page's own form would send.
fn portal_form(server: &Server, key: &str, path: &str) -> Answer {
    let hidden = |page: &Answer| {
        let text = page.text();
        let value = text.split("name=\"csrf\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
        value.expect("a token").to_owned()
    };
    let form = "application/x-www-form-urlencoded";
    let token = hidden(&server.nobody().get("/portal/login"));
    let login = server.nobody().post_as("/portal/login", form, format!("csrf={token}&key={key}"));
    let cookie = login.header("set-cookie").and_then(|set| set.split(';').next()).expect("a session");
    let visitor = server.nobody().with("cookie", cookie);
    let token = hidden(&visitor.get("/portal/home"));
    visitor.post_as(path, form, format!("csrf={token}"))
}

#[test]
fn pages_write_nothing_below_the_reserve_that_the_api_would_not() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let key = text(&tenant.created["testKey"], "key");
    assert_eq!(server.terminate().code(), Some(0));
    server.set(RESERVE, EVERYTHING);
    server.restart_until(&|answer| says(answer, "the disk is nearly full"));
    let seq = || server.admin().get("/admin/status").expect(200)["walSeq"].clone();
    let before = seq();
    for path in ["/portal/live", "/portal/keys/rotate", "/portal/webhooks/test"] {
        let answer = portal_form(&server, key, path);
        assert_eq!(answer.status, 503, "{path}: {}", answer.text());
    }
    assert_eq!(seq(), before, "nothing was written");
    // Nor is it noted who asked: the log of requests lies on the same disk.
    let asked = tenant.test.with("x-request-id", "on-a-full-disk").get("/v1/balance");
    asked.expect(200);
    tenant.test.get("/v1/requests/on-a-full-disk").refused(404, "not_found");
    assert_eq!(server.terminate().code(), Some(0));
    server.set(RESERVE, "0");
    server.restart();
    assert_eq!(portal_form(&server, key, "/portal/live").status, 303);
}

#[test]
fn test_mode_is_refused_first() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let status = server.admin().get("/admin/status").expect(200);
    let free = status["disk"]["freeBytes"].as_u64().expect("a number");
    assert_eq!(server.terminate().code(), Some(0));
    server.set(RESERVE, &(free / 3 * 2).to_string());
    server.restart();
    let fund = json!({ "currency": "VES", "amount": "10.00" });
    tenant.test.post("/v1/test/fund", &fund).refused(503, "storage_unavailable");
    tenant.test.get("/v1/balance").expect(200);
    let key = text(&tenant.created["testKey"], "key");
    assert_eq!(portal_form(&server, key, "/portal/live").status, 503, "with a test key");
    server.admin().post("/admin/tenants", &json!({ "name": "x" })).expect(201);
    let allowed = json!({ "status": "active" });
    server.admin().post(&format!("/admin/tenants/{}/live-status", tenant.id), &allowed).expect(200);
    let live = server.api(text(&tenant.created["liveKey"], "key"));
    live.post("/v1/merchants", &merchant_body()).expect(201);
}

#[test]
fn a_start_on_a_full_disk_comes_up_however_much_was_written_before_it_and_goes_on_when_there_is_room() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    // What opening the log would write to files: several times what is kept for a start.
    let mut state = 88_172_645_463_325_252_u64;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[state as usize % 64])
    };
    for _ in 0..2_000 {
        let noise: String = (0..3_900).map(|_| letter()).collect();
        let session = json!({ "amountUsd": 10, "metadata": { "noise": noise } });
        api.keyed(&fresh("noise")).post("/v1/checkout/sessions", &session).expect(201);
    }
    server.kill();
    let Some(disk) = on_a_full_disk(&mut server, "4194304") else { return };
    server.set(RESERVE, "16777216");
    server.restart_until(&|answer| says(answer, "the disk is nearly full"));
    assert_eq!(api.walk("/v1/checkout/sessions", &[], 100).len(), 2_000);
    let fund = json!({ "currency": "VES", "amount": "10.00" });
    api.post("/v1/test/fund", &fund).refused(503, "storage_unavailable");
    // So does the next one: nothing that it needs was used up.
    server.kill();
    server.restart_until(&|answer| says(answer, "the disk is nearly full"));
    api.get("/v1/balance").expect(200);
    disk.make_room();
    let deadline = Instant::now() + Duration::from_secs(20);
    while api.post("/v1/test/fund", &fund).status != 201 {
        assert!(Instant::now() < deadline, "there is room, and nothing is taken: {}", server.log_tail());
        std::thread::sleep(Duration::from_millis(200));
    }
    // The simulated bank has its books, too.
    api.pay(10);
    assert_eq!(server.terminate().code(), Some(0));
}

/// A small disk that is full to the last byte, for as long as this is there.
struct FullDisk {
    place: tempfile::TempDir,
    holder: Child,
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

impl FullDisk {
    /// Removes what others have on it.
    fn make_room(&self) {
        let others = format!("/proc/{}/root{}/others", self.holder.id(), self.place.path().display());
        std::fs::remove_file(others).expect("removed");
    }
}

/// Runs the server on a small disk of its own, filled to the last byte, with this much kept as its
/// ballast.
fn on_a_full_disk(server: &mut Server, ballast: &str) -> Option<FullDisk> {
    let may = Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success());
    if !may {
        left_out("PASARELA_MOUNTS", "no file system may be mounted here");
        return None;
    }
    let place = tempfile::tempdir().expect("a directory");
    let script = r#"
        mount -t tmpfs -o size=192m none "$PLACE" && cp -a "$FROM/." "$PLACE/" || exit 1
        rm -f "$PLACE/ballast" "$PLACE/log/LOCK"
        [ "$BALLAST" = 0 ] || head -c "$BALLAST" /dev/zero >"$PLACE/ballast"
        dd if=/dev/zero of="$PLACE/others" bs=4k 2>/dev/null
        echo full; exec sleep 1000
    "#;
    let mut holder = Command::new("unshare")
        .args(["-rm", "sh", "-c", script])
        .env("FROM", server.data())
        .env("PLACE", place.path())
        .env("BALLAST", ballast)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut said = [0; 4];
    holder.stdout.as_mut().expect("piped").read_exact(&mut said).expect("the disk is full");
    let pid = holder.id().to_string();
    server.set("PASARELA__STORAGE__PATH", place.path().to_str().expect("UTF-8"));
    server.wrap(&["nsenter", "--preserve-credentials", "-U", "-m", "-t", &pid]);
    Some(FullDisk { place, holder })
}

#[test]
fn a_start_on_a_full_disk_reads_in_the_room_that_was_kept_for_it() {
    let mut server = Server::start();
    let tenant = server.tenant();
    tenant.test.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00" })).expect(201);
    server.kill();
    let Some(_disk) = on_a_full_disk(&mut server, "33554432") else { return };
    server.restart_until(&|answer| says(answer, "the disk is nearly full"));
    assert_eq!(tenant.test.movements().len(), 1);
    tenant
        .test
        .post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" }))
        .refused(503, "storage_unavailable");
    assert!(
        server.log_tail().contains("the room that was kept for this start is used"),
        "{}",
        server.log_tail()
    );
    assert_eq!(server.terminate().code(), Some(0));
}

#[test]
fn a_start_on_a_full_disk_without_room_waits_and_says_why() {
    let mut server = Server::start();
    server.kill();
    let Some(_disk) = on_a_full_disk(&mut server, "0") else { return };
    server.restart_until(&|answer| says(answer, "the disk is full"));
    assert_eq!(server.nobody().get("/healthz").status, 200);
    assert_eq!(server.terminate().code(), Some(0));
}
