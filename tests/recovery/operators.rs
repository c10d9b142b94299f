//! The operators' command line: each verb is the call of the API, its answer the API's.

use crate::harness::check::{assert_texts, list, text};
use crate::harness::flows::UNKNOWN;
use crate::harness::server::Server;
use crate::{errors, fails, objects, succeeds};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

fn answer(server: &Server, arguments: &[&str]) -> Value {
    serde_json::from_str(&succeeds(server, arguments)).expect("JSON")
}

#[test]
fn tenants_and_keys_are_kept_from_the_command_line() {
    let server = Server::start();
    let created = answer(
        &server,
        &["admin", "tenant", "create", "--name", "Tienda Sol", "--settings", r#"{"reserveVes":"1.00"}"#],
    );
    let id = text(&created, "tenantId");
    assert_eq!(created["settings"]["reserveVes"], "1.00");
    let api = server.api(text(&created["testKey"], "key"));
    assert_eq!(
        answer(&server, &["admin", "tenant", "get", id]),
        server.admin().get(&format!("/admin/tenants/{id}")).expect(200)
    );
    assert_eq!(
        answer(&server, &["admin", "tenant", "list", "--json"]),
        server.admin().get("/admin/tenants").expect(200)
    );
    assert_eq!(
        answer(&server, &["admin", "tenant", "settings", id, r#"{"reserveVes":"2.00"}"#])["reserveVes"],
        "2.00"
    );
    assert_texts(
        &answer(&server, &["admin", "tenant", "live-status", id, "active", "--reason", "signed"]),
        &[("liveStatus", "active")],
    );
    let key = answer(&server, &["admin", "key", "create", id, "--mode", "test", "--scopes", "read,payout"]);
    assert_eq!(key["scopes"], json!(["read", "payout"]));
    assert_eq!(list(&answer(&server, &["admin", "key", "list", id]), "items").len(), 3);
    let rotated = answer(&server, &["admin", "key", "rotate", text(&key, "keyId"), "--overlap-seconds", "0"]);
    answer(&server, &["admin", "key", "revoke", text(&rotated, "keyId")]);
    server.api(text(&rotated, "key")).get("/v1/balance").refused(401, "unauthorized");
    answer(
        &server,
        &[
            "admin",
            "adjustment",
            "create",
            id,
            "--mode",
            "test",
            "--currency",
            "VES",
            "--amount=500.00",
            "--description",
            "start",
        ],
    );
    answer(
        &server,
        &[
            "admin",
            "adjustment",
            "create",
            id,
            "--mode",
            "test",
            "--currency",
            "VES",
            "--amount=-5.00",
            "--description",
            "fee",
        ],
    );
    assert_texts(&api.balance(), &[("ledgerNetVes", "495.00")]);
    let sale = api.vpos_pay(1);
    let chargeback = answer(
        &server,
        &[
            "admin",
            "chargeback",
            "create",
            id,
            "--payment-id",
            text(&sale, "paymentId"),
            "--amount-ves",
            "10.00",
            "--reason",
            "fraud",
        ],
    );
    assert_texts(
        &answer(
            &server,
            &["admin", "chargeback", "close", text(&chargeback, "chargebackId"), "--outcome", "won"],
        ),
        &[("status", "won")],
    );
    answer(
        &server,
        &[
            "admin", "rate", "add", "--pair", "USD/VES", "--source", "bcv", "--side", "OFFICIAL", "--price",
            "210",
        ],
    );
    assert!(answer(&server, &["admin", "status"])["walSeq"].is_number());
    assert!(!list(&json!({ "items": answer(&server, &["admin", "bank", "list"]) }), "items").is_empty());
}

#[test]
fn every_act_says_who_did_what() {
    let server = Server::start();
    answer(&server, &["admin", "snapshot"]);
    let recorded = server.admin().post(
        "/admin/rates",
        &json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "210" }),
    );
    recorded.expect(201);
    let lines = objects(&succeeds(&server, &["wal", "inspect", "--json"]));
    let acts: Vec<&str> = lines
        .iter()
        .filter(|line| line["type"] == "operator.acted")
        .map(|line| text(line, "operator"))
        .collect();
    assert_eq!(acts, ["root from 127.0.0.1: snapshot", "root from 127.0.0.1: rate.add"]);
    assert_eq!(recorded.wal_seq(), lines.last().and_then(|line| line["seq"].as_u64()).expect("a sequence"));
}

/// A proxy between the command line and the server, which cuts the first answer off.
fn cut_first(server: &Server) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let (address, to) = (listener.local_addr().expect("its address"), server.admin_address());
    std::thread::spawn(move || {
        for (nth, client) in listener.incoming().flatten().enumerate() {
            let Ok(server) = TcpStream::connect(to) else { continue };
            let (mut asking, mut asked) =
                (client.try_clone().expect("a socket"), server.try_clone().expect("a socket"));
            // The client that asked and has its answer goes away; then so does the server.
            std::thread::spawn(move || {
                std::io::copy(&mut asking, &mut asked).and_then(|_| asked.shutdown(Shutdown::Write))
            });
            let mut first = [0; 1];
            // The first byte of the answer is here: what was asked for is done.
            (&server).read_exact(&mut first).expect("an answer");
            if nth > 0 {
                let _ = (&client).write_all(&first).and_then(|()| std::io::copy(&mut &server, &mut &client));
            }
            let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
        }
    });
    address
}

#[test]
fn what_was_not_answered_is_repeated_under_its_key() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = tenant.test.clone();
    let sale = api.vpos_pay(1);
    let debits = || api.movements().iter().filter(|row| row["type"] == "chargeback").count();
    let between = cut_first(&server).to_string();
    server.set("PASARELA__ADMIN__LISTEN", &between);
    let call = [
        "admin",
        "chargeback",
        "create",
        &tenant.id,
        "--payment-id",
        text(&sale, "paymentId"),
        "--amount-ves",
        "10.00",
        "--reason",
        "fraud",
    ];
    let said = fails(&server, &call);
    assert!(said.contains("did not answer") && said.contains("It may have been done"), "{said}");
    assert_eq!(debits(), 1, "it was done, and nobody was told");
    let key = said.split("--idempotency-key ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a key");
    let again = answer(&server, &[&call[..], &["--idempotency-key", key]].concat());
    assert_texts(&again, &[("amountVes", "10.00")]);
    assert_eq!(debits(), 1, "a repeat under its key is no second one");
    answer(&server, &call);
    assert_eq!(debits(), 2, "one without is");
    server.kill();
    let said = fails(&server, &call);
    // The proxy took it, and has nobody to give it to.
    assert!(said.contains("It may have been done"), "{said}");
    server.set("PASARELA__ADMIN__LISTEN", "127.0.0.1:1");
    let said = fails(&server, &call);
    assert!(
        said.contains("did not answer") && !said.contains("may have been done"),
        "nobody took it: {said}"
    );
}

#[test]
fn what_goes_wrong_is_said_on_stderr() {
    let mut server = Server::start();
    assert!(fails(&server, &["admin", "tenant", "get", UNKNOWN]).contains("404 not_found"));
    let refused = fails(&server, &["admin", "tenant", "create", "--name", ""]);
    assert!(refused.contains("400 invalid_data") && refused.contains("name"), "{refused}");
    assert_eq!(
        server.command(&["admin", "key", "create", UNKNOWN]).status.code(),
        Some(2),
        "the command line itself is wrong"
    );
    let help = server.command(&["admin", "tenant", "create", "--help"]);
    assert!(
        String::from_utf8_lossy(&help.stdout).contains("Example: pasarela admin tenant create"),
        "{}",
        errors(&help)
    );
    server.kill();
    assert!(fails(&server, &["admin", "status"]).contains("did not answer"));
}
