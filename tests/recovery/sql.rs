//! SQL over the log: at any sequence what the server answered then, of what is there, in every form; and nothing that stays.

use crate::harness::buyers::{self, Page};
use crate::harness::check::{list, stamp, text};
use crate::harness::client::Api;
use crate::harness::faults::left_out;
use crate::harness::flows::{UNKNOWN, fresh};
use crate::harness::server::{Server, Tenant};
use crate::time_machine::{cannot, last};
use crate::{errors, objects, shown, succeeds};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Each table with the list that its rows are the items of, and the member that names one.
const LISTS: [(&str, &str, &str); 14] = [
    ("payments", "/v1/payments", "id"),
    ("payouts", "/v1/payouts", "payoutId"),
    ("payouts", "/v1/cop/payouts", "payoutId"),
    ("merchants", "/v1/merchants", "merchantId"),
    ("conversions", "/v1/conversions", "id"),
    ("crypto_payouts", "/v1/crypto/payouts", "id"),
    ("chargebacks", "/v1/chargebacks", "chargebackId"),
    ("products", "/v1/products", "id"),
    ("sessions", "/v1/checkout/sessions", "id"),
    ("webhooks", "/v1/webhooks", "id"),
    ("events", "/v1/events", "id"),
    ("movements", "/v1/balance/transactions", "id"),
    ("movements", "/v1/cop/balance/transactions", "id"),
    ("movements", "/v1/crypto/balance/transactions", "id"),
];

/// What the server answers at a moment: items by table.
struct Answered {
    seq: u64,
    items: Vec<(&'static str, &'static str, Value)>,
    balances: [Value; 3],
}

fn answered(server: &Server, api: &Api) -> Answered {
    let mut items = Vec::new();
    for (table, path, id) in LISTS {
        let found = match table {
            "webhooks" => list(&api.get(path).expect(200), "items").to_vec(),
            _ => api.walk(path, &[], 100),
        };
        for item in &found {
            if table == "products" {
                items.extend(list(item, "links").iter().map(|link| ("links", "id", link.clone())));
            }
            if table == "merchants" {
                let methods = list(item, "payoutMethods").iter();
                items.extend(methods.map(|method| ("payout_methods", "payoutMethodId", method.clone())));
                let rows = api.walk(
                    &format!("/v1/merchants/{}/balance/transactions", text(item, "merchantId")),
                    &[],
                    100,
                );
                items.extend(rows.into_iter().map(|row| ("movements", "id", row)));
            }
            if table == "payments" && item["method"] == "COP" {
                let payment = api.get(&format!("/v1/cop/payments/{}", text(item, "id"))).expect(200);
                items.push(("cop_payments", "id", payment));
            }
            if table == "events" && item["event"] == "crypto_deposit.completed" {
                items.push(("deposits", "id", item["data"].clone()));
            }
        }
        items.extend(found.into_iter().map(|item| (table, id, item)));
    }
    let balances =
        ["/v1/balance", "/v1/cop/balance", "/v1/crypto/balance"].map(|path| api.get(path).expect(200));
    Answered { seq: last(server), items, balances }
}

fn sql(server: &Server, query: &str, more: &[&str]) -> Vec<Value> {
    objects(&succeeds(server, &[&["wal", "sql", "--json", query], more].concat()))
}

fn snake(member: &str) -> String {
    let mut name = String::new();
    for character in member.chars() {
        if character.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}

/// Minor units of an amount as the API writes it.
fn minor(shown: &Value, decimals: usize) -> i64 {
    let shown = shown.as_str().map_or_else(|| shown.to_string(), str::to_owned);
    let (whole, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
    assert!(fraction.trim_end_matches('0').len() <= decimals, "{shown}");
    format!("{whole}{:0<decimals$.decimals$}", fraction).parse().expect("a number")
}

/// Every member of an item stands in its row, as itself or as money, and the view writes the money as the API does.
#[track_caller]
fn assert_row(row: &Value, view: &Value, item: &Value) {
    for (name, value) in item.as_object().expect("an object") {
        let column = snake(name);
        if let Some(cell) = row.get(&column) {
            let expected = match value {
                Value::Bool(is) => json!(i64::from(*is)),
                Value::Number(number) if cell.is_string() => json!(number.to_string()),
                Value::Array(_) | Value::Object(_) => {
                    let cell = cell.as_str().expect("JSON as text");
                    assert_eq!(&serde_json::from_str::<Value>(cell).expect("JSON"), value, "{name}");
                    continue;
                }
                value => value.clone(),
            };
            assert_eq!(cell, &expected, "{name}: {row}");
            continue;
        }
        let is_movement = row.get("amount_minor").is_some();
        let money = if is_movement { "amount".to_owned() } else { column };
        let cell = row.get(format!("{money}_minor")).unwrap_or_else(|| panic!("{name} is no column: {row}"));
        let is_pesos = name.contains("Cop") || name == "sourceAmount" && row["currency"] == "COP";
        let expected =
            if value.is_null() { Value::Null } else { json!(minor(value, if is_pesos { 0 } else { 2 })) };
        assert_eq!(cell, &expected, "{name}: {row}");
        let decimal = &view[&money];
        match (decimal.as_str(), is_pesos) {
            (None, false) => assert!(value.is_null() && decimal.is_null(), "{name}: {view}"),
            (Some(written), _) => {
                let units = if is_pesos { 0 } else { 2 };
                assert_eq!(minor(decimal, units), minor(value, units));
                assert_eq!(
                    written.split_once('.').map_or(0, |(_, part)| part.len()),
                    units,
                    "{name}: {view}"
                );
            }
            (None, true) => assert_eq!(decimal, &expected),
        }
    }
}

fn assert_as_answered(server: &Server, tenant: &str, then: &Answered) {
    let seq = then.seq.to_string();
    let asked = ["--at", &seq, "--tenant", tenant];
    let mut tables: Vec<&str> = then.items.iter().map(|(table, ..)| *table).collect();
    tables.sort_unstable();
    tables.dedup();
    for table in tables {
        let items: Vec<_> = then.items.iter().filter(|(of, ..)| *of == table).collect();
        let [rows, views] = ["", "_decimal"]
            .map(|view| sql(server, &format!("SELECT * FROM {table}{view} WHERE mode = 'test'"), &asked));
        assert_eq!(rows.len(), items.len(), "{table} at {seq}: {rows:?}");
        for (_, id, item) in items {
            let is = |row: &&Value| row[snake(id)] == item[*id];
            let row = rows.iter().find(is).unwrap_or_else(|| panic!("{table} at {seq} lacks {item}"));
            assert_eq!((&row["tenant_id"], &row["mode"]), (&json!(tenant), &json!("test")), "{table}");
            assert_row(row, views.iter().find(is).expect("in the view"), item);
        }
    }
    let sums = "SELECT currency, \
        (SELECT sum(amount_minor) FROM movements m WHERE m.currency = c.currency AND merchant_id IS NULL \
            AND mode = 'test') AS net, \
        (SELECT sum(amount_minor) FROM holds h WHERE h.currency = c.currency AND merchant_id IS NULL \
            AND mode = 'test') AS held, \
        (SELECT min(available_at) FROM holds h WHERE h.currency = c.currency AND merchant_id IS NULL \
            AND mode = 'test') AS next \
        FROM (SELECT 'VES' AS currency UNION ALL SELECT 'COP' UNION ALL SELECT 'USDT') AS c";
    let sums = sql(server, sums, &asked);
    let names =
        [("VES", "ledgerNetVes", "heldVes"), ("COP", "ledgerNetCop", "heldCop"), ("USDT", "", "heldUsdt")];
    for ((row, balance), (currency, net, held)) in sums.iter().zip(&then.balances).zip(names) {
        let decimals = if currency == "COP" { 0 } else { 2 };
        let sum = |name: &str| row[name].as_i64().unwrap_or(0);
        if !net.is_empty() {
            assert_eq!(sum("net"), minor(&balance[net], decimals), "{currency} at {seq}");
        }
        assert_eq!(sum("held"), minor(&balance[held], decimals), "{currency} at {seq}");
        assert_eq!(row["next"], balance["nextReleaseAt"], "{currency} at {seq}");
    }
}

/// Things of every kind, and what the server says of them at some moments.
fn history(server: &Server, tenant: &Tenant) -> Vec<Answered> {
    let api = &tenant.test;
    let mut seen = vec![answered(server, api)];
    let hook = json!({ "url": "http://127.0.0.1:9/hooks", "events": ["payment.completed"] });
    api.post("/v1/webhooks", &hook).expect(201);
    let merchant = api.merchant();
    api.fund("5000.00");
    let sale = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 2.5 });
    let paid = api.pay(5);
    api.vpos(30, sale).expect(201);
    let card = api.vpos_pay(7);
    api.intent(3);
    api.payout(&merchant, "20.06", json!({})).expect(202);
    api.cop_paid(50_000);
    api.cop(30_000, "push");
    api.cop_fund("900000", false);
    server.cop_payout(tenant, 25_000, json!({})).expect(201);
    let product =
        api.post("/v1/products", &json!({ "name": fresh("camisa"), "priceUsd": "25.50" })).expect(201);
    api.post(&format!("/v1/products/{}/links", text(&product, "id")), &json!({})).expect(201);
    buyers::session(tenant, json!({ "reference": "r-1", "metadata": { "a": [1, "\"b\""] } }));
    let session = buyers::session(tenant, json!({}));
    Page::of(server, &session).pay("12345678");
    seen.push(answered(server, api));
    let quote = api.post("/v1/conversions/quotes", &json!({ "sourceAmountVes": "1000.00" })).expect(201);
    api.post("/v1/conversions", &json!({ "quoteId": quote["id"] })).expect(201);
    let pesos = json!({ "sourceCurrency": "COP", "sourceAmount": "80000" });
    let quote = api.post("/v1/conversions/quotes", &pesos).expect(201);
    api.post("/v1/conversions/quotes", &pesos).expect(201);
    api.post("/v1/conversions", &json!({ "quoteId": quote["id"], "reference": "test_pending 1" }))
        .expect(201);
    let address = json!({ "customerRef": "c-1", "network": "TRC20", "asset": "USDT" });
    let address = api.post("/v1/crypto/deposit-addresses", &address).expect(201);
    let deposit =
        json!({ "amount": "40.00", "network": "TRC20", "asset": "USDT", "address": address["address"] });
    api.post("/v1/test/crypto/deposits", &deposit).expect(201);
    let back = json!({ "paymentId": card["paymentId"], "amountVes": "10.00", "reason": "fraud" });
    api.post("/v1/test/chargebacks", &back).expect(201);
    api.reverse(&paid).expect(200);
    api.create_merchant(json!({})).expect(201);
    seen.push(answered(server, api));
    // Another tenant's record; what time alone ends on the test clock: holds, intents, sessions, the payment in pesos.
    let other = server.tenant();
    other.test.fund("1.00");
    api.advance(25 * 3_600);
    seen.push(answered(server, api));
    other.test.fund("1.00");
    seen.push(answered(server, api));
    seen
}

#[test]
fn tables_at_a_sequence_are_what_the_server_answered_then() {
    let server = Server::start();
    let tenant = server.tenant();
    let (api, id) = (&tenant.test, tenant.id.as_str());
    let seen = history(&server, &tenant);
    let now = seen.last().expect("the newest");
    for table in
        ["payments", "payouts", "conversions", "deposits", "chargebacks", "links", "cop_payments", "sessions"]
    {
        assert!(now.items.iter().any(|(of, ..)| *of == table), "{table}");
    }
    for then in &seen {
        assert_as_answered(&server, id, then);
    }
    // Those of operators.
    let keys = server.admin().get(&format!("/admin/tenants/{id}/keys")).expect(200);
    let found = sql(&server, "SELECT * FROM keys", &["--tenant", id]);
    assert_eq!(found.len(), list(&keys, "items").len());
    for mut key in list(&keys, "items").iter().cloned() {
        // No record says when.
        key["lastUsedAt"] = Value::Null;
        let row = found.iter().find(|row| row["key_id"] == key["keyId"]).expect("the key");
        assert_row(row, row, &key);
    }
    let asked = server.admin().get(&format!("/admin/tenants/{id}")).expect(200);
    let found = sql(&server, "SELECT * FROM tenants", &["--tenant", id]);
    assert_row(&found[0], &found[0], &asked);
    assert_eq!((found.len(), &found[0]["mode"]), (1, &Value::Null));
    let tenants = server.admin().walk("/admin/tenants", &[], 100).len();
    assert_eq!(sql(&server, "SELECT count(*) AS n FROM tenants", &[]), [json!({ "n": tenants })]);
    // Every record, of the platform too; of one tenant only its own.
    let end = last(&server);
    let count = sql(&server, "SELECT count(*) AS n, min(seq) AS a, max(seq) AS b FROM records", &[]);
    assert_eq!(count, [json!({ "n": end, "a": 1, "b": end })]);
    let inspected = objects(&succeeds(&server, &["wal", "inspect", "--json", "--tenant", id]));
    let records = sql(&server, "SELECT seq, time, type, mode FROM records ORDER BY seq", &["--tenant", id]);
    let same = |line: &Value| ["seq", "time", "type", "mode"].map(|name| line[name].clone());
    assert_eq!(records.iter().map(same).collect::<Vec<_>>(), inspected.iter().map(same).collect::<Vec<_>>());
    // Over all tenants; what joins and nests.
    let joined = "SELECT t.name, sum(m.amount_minor) AS net FROM movements m JOIN tenants t USING (tenant_id) \
        WHERE m.currency = 'VES' AND m.merchant_id IS NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 1";
    let joined = sql(&server, joined, &[]);
    assert_eq!(joined[0]["net"], minor(&api.balance()["ledgerNetVes"], 2));
    let nested = "SELECT json_extract(settings, '$.reserveVes') AS r FROM tenants";
    assert_eq!(sql(&server, nested, &["--tenant", id]), [json!({ "r": "0.00" })]);
}

#[test]
fn deleted_things_are_gone_and_stand_where_they_were() {
    let server = Server::start();
    let tenant = server.tenant();
    let (api, id) = (&tenant.test, tenant.id.as_str());
    let hook = json!({ "url": "http://127.0.0.1:9/hooks", "events": ["payment.completed"] });
    api.post("/v1/webhooks", &hook).expect(201);
    let merchant = api.create_merchant(json!({})).expect(201);
    api.pay(5);
    let before = answered(&server, api);
    api.delete(&format!("/v1/merchants/{}", text(&merchant, "merchantId"))).expect(200);
    let after = answered(&server, api);
    api.act("/v1/test/reset").expect(200);
    api.fund("3.00");
    let anew = answered(&server, api);
    for then in [&before, &after, &anew] {
        assert_as_answered(&server, id, then);
    }
    let count = "SELECT (SELECT count(*) FROM merchants) AS m, (SELECT count(*) FROM payments) AS p, \
        (SELECT count(*) FROM webhooks) AS w, (SELECT count(*) FROM events) AS e, (SELECT count(*) FROM movements) AS v";
    let count = |when: u64| sql(&server, count, &["--tenant", id, "--at", &when.to_string()]).remove(0);
    assert_eq!((&count(before.seq)["m"], &count(after.seq)["m"]), (&json!(1), &json!(0)));
    let now = count(anew.seq);
    assert_eq!(
        [&now["m"], &now["p"], &now["w"], &now["e"], &now["v"]],
        [0, 0, 1, 1, 1].map(|n| json!(n)).each_ref()
    );
}

#[test]
fn a_time_a_backup_and_a_directory_at_rest_say_the_same() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    api.fund("5.00");
    let seq = last(&server).to_string();
    let lines = objects(&succeeds(&server, &["wal", "inspect", "--json"]));
    let moment = text(lines.last().expect("records"), "time").to_owned();
    std::thread::sleep(Duration::from_millis(5));
    api.fund("7.00");
    let query = "SELECT * FROM movements_decimal ORDER BY id";
    let at = |when: &str| succeeds(&server, &["wal", "sql", "--at", when, query]);
    assert_eq!(at(&moment), at(&seq));
    let running = succeeds(&server, &["wal", "sql", query]);
    assert_eq!(at(&stamp(chrono::Utc::now())), running);
    assert!(running.contains("7.00") && !at(&moment).contains("7.00"), "{running}");
    let parent = tempfile::tempdir().expect("a directory");
    let backup = parent.path().join("backup");
    succeeds(&server, &["backup", shown(&backup)]);
    let made = std::fs::read_dir(&backup).expect("a directory").flatten().map(|entry| entry.path());
    let copy = if backup.join("log").exists() { backup.clone() } else { made.max().expect("a copy") };
    assert_eq!(succeeds(&server, &["wal", "sql", query, "--data-dir", shown(&copy)]), running);
    server.kill();
    assert_eq!(succeeds(&server, &["wal", "sql", query]), running);
    let current = copy.join("log/CURRENT");
    std::fs::remove_file(&current).expect("removed");
    let output = server.command(&["wal", "sql", "SELECT 1", "--data-dir", shown(&copy)]);
    assert_eq!(output.status.code(), Some(74), "{}", errors(&output));
}

#[test]
fn answers_are_tables_json_or_csv_and_shorten_nothing() {
    let server = Server::start();
    let long = "x".repeat(300);
    let query = format!(
        "SELECT 1 AS n, NULL AS nix, 'NULL' AS said, '' AS empty, '{long}' AS long, 1.5 AS r, x'00ff' AS b \
         UNION ALL SELECT -2, 'a', 'b\"c', 'd,e', 'line' || char(10) || char(27) || 'two', 3.0, x'' ORDER BY n DESC"
    );
    let table = succeeds(&server, &["wal", "sql", &query]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[0].starts_with("n   nix   said    empty  long"), "{table}");
    assert!(lines[2].starts_with("1   NULL  'NULL'") && lines[2].contains(&long), "{table}");
    assert!(lines[3].contains("line\\n\\u{1b}two"), "{table}");
    let rows = sql(&server, &query, &[]);
    assert_eq!(
        rows[0],
        json!({ "n": 1, "nix": null, "said": "NULL", "empty": "", "long": long, "r": 1.5, "b": "00ff" })
    );
    assert_eq!(rows[1]["long"], "line\n\u{1b}two");
    let csv = succeeds(&server, &["wal", "sql", "--csv", &query]);
    let expected = format!(
        "n,nix,said,empty,long,r,b\r\n1,,NULL,,{long},1.5,00ff\r\n-2,a,\"b\"\"c\",\"d,e\",\"line\n\u{1b}two\",3.0,\r\n"
    );
    assert_eq!(csv, expected);
    // No spreadsheet runs what somebody typed; numbers and JSON stay what they are.
    let cells = "SELECT '=1+1' AS a, '-1.00' AS b, '[1,-2]' AS c, '@x' AS d";
    assert_eq!(
        succeeds(&server, &["wal", "sql", "--csv", cells]),
        "a,b,c,d\r\n'=1+1,-1.00,\"[1,-2]\",'@x\r\n"
    );
    // Names that are there twice are told apart.
    assert_eq!(
        sql(&server, "SELECT 1 AS a, 2 AS a, 3 AS \"q\"\"q\"", &[]),
        [json!({ "a": 1, "a_2": 2, "q\"q": 3 })]
    );
    assert_eq!(succeeds(&server, &["wal", "sql", "--csv", "SELECT id FROM payments"]), "id\r\n");
    assert_eq!(succeeds(&server, &["wal", "sql", "--json", "SELECT id FROM payments"]), "");
    let many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300000) \
        SELECT x, printf('%050d', x) AS y FROM n";
    assert_eq!(succeeds(&server, &["wal", "sql", many]).lines().count(), 300_002);
}

#[test]
fn what_cannot_be_asked_is_said_in_one_line_and_leaves_nothing() {
    let mut server = Server::start();
    let tenant = server.tenant();
    tenant.test.fund("5.00");
    let place = tempfile::tempdir().expect("a directory");
    let out = place.path().join("out.sqlite");
    for (query, words) in [
        ("", "the SQL is empty"),
        ("/* nothing */", "the SQL is empty"),
        ("SELECT 1; SELEC 2", "syntax error, at position 11"),
        ("SELEC 1", "near \"SELEC\": syntax error, at position 1"),
        ("SELECT niño FROM payments", "no such column: niño, at position 8"),
        ("SELECT 'ñ', nope FROM payments", "no such column: nope, at position 13"),
        ("SELECT * FROM nowhere", "no such table: nowhere, at position 15"),
        ("SELECT \"x\" FROM payments", "no such column: \"x\""),
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("SELECT 1; DROP TABLE payments", "no SELECT"),
        ("DELETE FROM payments", "no SELECT"),
        ("INSERT INTO payments (id) VALUES (1)", "no SELECT"),
        ("UPDATE payments SET id = 1", "no SELECT"),
        ("CREATE TABLE t (a)", "no SELECT"),
        ("CREATE TEMP TABLE t AS SELECT 1", "no SELECT"),
        ("DROP VIEW payments_decimal", "no SELECT"),
        ("PRAGMA table_info(payments)", "no SELECT"),
        ("PRAGMA writable_schema = ON", "no SELECT"),
        ("BEGIN", "no SELECT"),
        ("VACUUM INTO '/tmp/sql-vacuum.sqlite'", "no SELECT"),
        ("ATTACH '/tmp/sql-attach.sqlite' AS a", "no SELECT"),
        ("WITH a AS (SELECT 1) INSERT INTO payments (id) SELECT * FROM a", "no SELECT"),
        ("SELECT load_extension('libc.so.6')", "load_extension is not allowed"),
        ("SELECT 1 UNION ALL SELECT abs(-9223372036854775807 - 1)", "integer overflow"),
        ("SELECT sum(x) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1)", "integer overflow"),
        ("SELECT length(zeroblob(1000000000))", "too big"),
    ] {
        cannot(&server, &["wal", "sql", query], words);
        cannot(&server, &["wal", "sql", query, "--out", shown(&out)], words);
    }
    for made in ["/tmp/sql-vacuum.sqlite", "/tmp/sql-attach.sqlite"] {
        assert!(!Path::new(made).exists(), "{made}");
    }
    let end = last(&server);
    let (beyond, ends) = ((end + 1).to_string(), format!("the log ends at sequence {end}"));
    let file = place.path().join("file");
    std::fs::write(&file, "kept").expect("written");
    let inside = file.join("x.sqlite");
    let missing = place.path().join("missing/x.sqlite");
    let nowhere = place.path().join("nowhere");
    for (more, words) in [
        (["--at", &beyond], ends.as_str()),
        (["--at", "2999-01-01T00:00:00Z"], &ends),
        (["--at", "2001-01-01T00:00:00Z"], "no record as early"),
        (["--at", "0"], "must be a sequence from 1"),
        (["--at", "yesterday"], "must be a sequence from 1"),
        (["--tenant", UNKNOWN], UNKNOWN),
        (["--tenant", "nonsense"], "nonsense"),
        (["--json", "--csv"], "--csv"),
        (["--out", shown(&file)], "exists; name a new file"),
        (["--out", shown(&inside)], "Not a directory"),
        (["--out", shown(&missing)], "No such file or directory"),
        (["--out", "/proc/sql.sqlite"], "/proc/sql.sqlite"),
        (["--data-dir", shown(&nowhere)], "there is no log"),
    ] {
        cannot(&server, &["wal", "sql", "SELECT 1 AS a", more[0], more[1]], words);
        if more[0] != "--out" {
            cannot(&server, &["wal", "sql", "SELECT 1 AS a", more[0], more[1], "--out", shown(&out)], words);
        }
    }
    cannot(&server, &["wal", "sql"], "SELECT");
    cannot(&server, &["wal", "sql", "--out", shown(&out)], "SELECT");
    // What cannot be said is not kept.
    let full = std::fs::File::create("/dev/full").expect("a device");
    let query = ["wal", "sql", "SELECT 1 AS a", "--out", shown(&out)];
    let output = server.program().args(query).stdout(full).output().expect("it runs");
    assert_eq!((output.status.code(), errors(&output).lines().count()), (Some(2), 1), "{}", errors(&output));
    let left: Vec<_> = std::fs::read_dir(place.path()).expect("a directory").flatten().collect();
    assert_eq!(
        (left.len(), std::fs::read_to_string(&file).expect("text")),
        (1, "kept".to_owned()),
        "{left:?}"
    );

    // A server keeps the room that it needs.
    server.set("SQLITE_TMPDIR", shown(place.path()));
    server.set("PASARELA__STORAGE__RESERVE_BYTES", &(1_u64 << 50).to_string());
    cannot(&server, &["wal", "sql", "SELECT 1"], "nearly full");
    server.set("PASARELA__STORAGE__RESERVE_BYTES", "0");

    // No room: neither for the file, nor for what is temporary.
    if !Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success()) {
        return left_out("PASARELA_MOUNTS", "no file system may be mounted here");
    }
    server.kill();
    let full = tempfile::tempdir().expect("a directory");
    let out = full.path().join("out.sqlite");
    let small = r#"mount -t tmpfs -o size=128k none "$SQLITE_TMPDIR" || exit 1
        "$@"; code=$?; ls -A "$SQLITE_TMPDIR" >&2; exit $code"#;
    let sorted = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300000) \
        SELECT printf('%0500d', x) AS y FROM n ORDER BY y DESC LIMIT 10 OFFSET 200000";
    for arguments in [&["wal", "sql", "SELECT 1", "--out", shown(&out)][..], &["wal", "sql", sorted]] {
        let program = server.program();
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", small, "sh"]).arg(program.get_program()).args(arguments);
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("SQLITE_TMPDIR", full.path());
        let output = command.output().expect("it runs");
        let said = errors(&output);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}: {said}");
        let is_named = said.contains("full") || said.contains("No space left");
        assert!(is_named && said.lines().count() == 1, "{arguments:?}: {said}");
    }
}

/// The database fits, but not a second time, as which it is kept: then nothing is written there, and a server beside it
/// keeps its room.
#[test]
fn a_database_is_kept_only_where_the_copy_leaves_the_room_of_the_server() {
    if !Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success()) {
        return left_out("PASARELA_MOUNTS", "no file system may be mounted here");
    }
    let mut server = Server::start();
    let api = server.tenant().test;
    for _ in 0..300 {
        api.fund("1.00");
    }
    let place = tempfile::tempdir().expect("a directory");
    let (copy, whole) = (place.path().join("copy"), place.path().join("whole.sqlite"));
    succeeds(&server, &["wal", "replay", "--into", shown(&copy)]);
    let kept = ["wal", "sql", "SELECT 1", "--out", shown(&whole)];
    succeeds(&server, &kept);
    let bytes = std::fs::metadata(&whole).expect("the file").len();
    server.kill();
    let disk = tempfile::tempdir().expect("a directory");
    // What there is beside the reserve: room for the database and half of it, or for three.
    let small = r#"mount -t tmpfs -o size=64m none "$DISK" && cp -r "$COPY" "$DISK/data" || exit 1
        free=$(df --output=avail -B1 "$DISK" | tail -n 1)
        export PASARELA__STORAGE__RESERVE_BYTES=$((free - ROOM)) PASARELA__STORAGE__PATH="$DISK/data"
        "$@"; code=$?; ls -A "$DISK" >&2; exit $code"#;
    for (room, code) in [(bytes * 3 / 2, 2), (bytes * 3, 0)] {
        let program = server.program();
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", small, "sh"]).arg(program.get_program());
        command.args(["wal", "sql", "SELECT 1", "--out"]).arg(disk.path().join("out.sqlite"));
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("DISK", disk.path()).env("COPY", &copy).env("ROOM", room.to_string());
        let output = command.output().expect("it runs");
        let said = errors(&output);
        assert_eq!(output.status.code(), Some(code), "room for {room} of {bytes} bytes: {said}");
        assert_eq!(output.stdout.is_empty(), code == 2, "{said}");
        match code {
            0 => assert!(said.lines().any(|line| line == "out.sqlite"), "{said}"),
            _ => {
                let lines: Vec<&str> = said.lines().collect();
                assert!(lines.len() == 2 && lines[0].contains("nearly full") && lines[1] == "data", "{said}");
            }
        }
    }
}

/// The files of a process that have no name any more.
fn nameless(pid: u32) -> usize {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let names = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    names.filter(|name| name.to_string_lossy().ends_with(" (deleted)")).count()
}

#[test]
fn what_is_kept_is_whole_and_private_and_nothing_stays_of_what_is_killed() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let hook = json!({ "url": "http://127.0.0.1:9/hooks", "events": ["payment.completed"] });
    let hook = api.post("/v1/webhooks", &hook).expect(201);
    api.vpos_pay(7);
    let session = buyers::session(&tenant, json!({}));
    let place = tempfile::tempdir().expect("a directory");
    let out = place.path().join("out.sqlite");
    let query = "SELECT count(*) AS n FROM payments";
    assert_eq!(sql(&server, query, &["--out", shown(&out)]), [json!({ "n": 1 })]);
    let mode = std::fs::metadata(&out).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let bytes = std::fs::read(&out).expect("readable");
    let secrets = [
        text(&tenant.created["testKey"], "key"),
        text(&tenant.created["liveKey"], "key"),
        text(&hook, "secret"),
        text(&session, "clientSecret"),
        "4111111111111111",
    ];
    for secret in secrets {
        assert!(secret.len() >= 16 && memchr::memmem::find(&bytes, secret.as_bytes()).is_none(), "{secret}");
    }
    let database = Connection::open(&out).expect("a database");
    let text_of = |query: &str| database.query_row(query, [], |row| row.get::<_, String>(0)).expect(query);
    assert_eq!(text_of("PRAGMA integrity_check"), "ok");
    // All tables, whatever the query was about, each with its view.
    let names = |kind: &str| {
        let query = format!("SELECT count(*) || '' FROM sqlite_schema WHERE type = '{kind}'");
        text_of(&query)
    };
    assert_eq!((names("table"), names("view")), ("20".to_owned(), "20".to_owned()));
    assert_eq!(text_of("SELECT count(*) || '' FROM records"), last(&server).to_string());
    assert_eq!(text_of("SELECT status FROM payments_decimal"), "COMPLETED");
    drop(database);
    cannot(&server, &["wal", "sql", query, "--out", shown(&out)], "exists; name a new file");
    std::fs::remove_file(&out).expect("removed");

    // While it is filled it has no name, so nothing is left of a program that is killed.
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    server.set("SQLITE_TMPDIR", shown(place.path()));
    for more in [&["--out", shown(&out)][..], &[]] {
        let mut child = server.begin(&[&["wal", "sql", endless], more].concat());
        let patience = Instant::now() + Duration::from_secs(60);
        while nameless(child.id()) == 0 && !more.is_empty() {
            assert!(Instant::now() < patience, "no database was made");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        let left = || std::fs::read_dir(place.path()).expect("a directory").flatten().count();
        assert_eq!(left(), 0, "while it runs");
        child.kill().expect("killed");
        child.wait().expect("it ended");
        assert_eq!(left(), 0, "after it");
    }
}
