//! Three mistakes of operators, made through the server's own calls, and found by what the log answers: the commands
//! are those of docs/finding-faults.md, which `cargo test --test recovery three_faults -- --nocapture` prints with what
//! they say.

use crate::harness::check::text;
use crate::harness::client::Api;
use crate::harness::server::Server;
use crate::{objects, succeeds};
use serde_json::{Value, json};

const HOUR: i64 = 3_600;

struct World {
    server: Server,
    api: Api,
    tenant: String,
    eva: Api,
    luis: Api,
    page: String,
}

impl World {
    fn new() -> World {
        let server = Server::start();
        let settings = json!({ "fees": { "c2p": { "percent": "1.5000" } }, "sellerHoldBusinessDays": 2 });
        let tenant = server.tenant_with(settings);
        let hire = |name: &str, email: &str| {
            let body = json!({ "name": name, "email": email, "role": "admin" });
            let made = server.admin().post("/admin/operators", &body).expect(201);
            server.admin_with(text(&made, "token"))
        };
        let (eva, luis) = (hire("Eva", "eva@example.com"), hire("Luis", "luis@example.com"));
        let page = std::fs::read_to_string("docs/finding-faults.md").expect("the page");
        World { api: tenant.test, tenant: tenant.id, eva, luis, server, page }
    }

    fn set(&self, by: &Api, settings: &Value) {
        by.patch(&format!("/admin/tenants/{}/settings", self.tenant), settings).expect(200);
    }

    fn adjust(&self, by: &Api, amount: &str, reference: &str) {
        let body = json!({
            "mode": "test", "currency": "VES", "amount": amount, "externalRef": reference,
            "description": "Reclamo 4711",
        });
        by.post(&format!("/admin/tenants/{}/adjustments", self.tenant), &body).expect(201);
    }

    fn sale(&self, merchant: &Value) {
        let sale = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
        self.api.vpos(20, sale).expect(201);
    }

    /// Runs a command of the page; a word with blanks is in quotes there, and `ID` is the tenant's.
    #[track_caller]
    fn asks(&self, command: &[&str], expected: &[&str]) -> String {
        let with_id = |part: &&str| part.replace("'ID'", &format!("'{}'", self.tenant));
        let arguments: Vec<String> = command.iter().map(with_id).collect();
        let known = |part| if part == "ID" { self.tenant.as_str() } else { part };
        let arguments: Vec<&str> = arguments.iter().map(|part| known(part.as_str())).collect();
        let said = succeeds(&self.server, &[&["wal"], &arguments[..]].concat());
        let quoted = command.iter().map(|part| match part.contains([' ', '>']) {
            true => format!("\"{part}\""),
            false => (*part).to_owned(),
        });
        let command = format!("pasarela wal {}", quoted.collect::<Vec<_>>().join(" "));
        println!("$ {command}\n{}", said.replace(&self.tenant, "ID"));
        assert!(numbered(&self.page).contains(&numbered(&command)), "the page lacks {command}");
        for words in expected {
            assert!(said.contains(words), "{command} does not say {words}: {said}");
        }
        said
    }
}

impl World {
    fn seqs(&self, query: &str) -> Vec<String> {
        let rows = objects(&succeeds(&self.server, &["wal", "sql", "--json", query]));
        rows.iter().map(|row| row["seq"].to_string()).collect()
    }
}

#[test]
fn three_planted_faults_are_found_with_the_manual() {
    let world = World::new();
    let api = &world.api;
    let merchant = api.merchant();
    for _ in 0..2 {
        api.pay(20);
        api.advance(HOUR);
    }
    world.sale(&merchant);
    // 15 in the place of 1.5, for an hour.
    world.set(&world.eva, &json!({ "fees": { "c2p": { "percent": "15.0000" } } }));
    for _ in 0..3 {
        api.pay(20);
        api.advance(HOUR / 3);
    }
    world.set(&world.eva, &json!({ "fees": { "c2p": { "percent": "1.5000" } } }));
    api.pay(20);
    api.advance(24 * HOUR);
    // The answer was slow, and somebody did it again under another reference.
    world.adjust(&world.luis, "250.00", "reclamo-4711");
    world.adjust(&world.luis, "250.00", "reclamo-4711-b");
    api.advance(96 * HOUR);
    world.set(&world.luis, &json!({ "sellerHoldBusinessDays": 1 }));
    world.sale(&merchant);
    world.set(&world.luis, &json!({ "sellerHoldBusinessDays": 2 }));
    world.sale(&merchant);
    api.advance(200 * HOUR);

    // The fee.
    let percent = "SELECT created_at, round(100.0 * fee_ves_minor / ves_amount_minor, 2) AS percent FROM payments \
        WHERE method = 'C2P' ORDER BY created_at";
    world.asks(&["sql", "--tenant", "ID", percent], &["15.0", "1.5"]);
    world.asks(&["bisect", "--tenant", "ID", "payment.feeVes > 60"], &["payment.completed"]);
    let settings = "SELECT seq, operator FROM records WHERE operator LIKE '%tenant.settings%'";
    world.asks(&["sql", settings], &["Eva from", "Luis from"]);
    let changes = world.seqs(settings);
    let before = (changes[0].parse::<u64>().expect("a number") - 1).to_string();
    let fee =
        "SELECT json_extract(settings, '$.fees.c2p.percent') AS percent FROM tenants WHERE tenant_id = 'ID'";
    for (seq, percent) in [(&before, "1.5000"), (&changes[0], "15.0000"), (&changes[1], "1.5000")] {
        world.asks(&["sql", "--at", seq, fee], &[percent]);
    }

    // The adjustment.
    let twice = "SELECT amount, description, external_ref, created_at FROM movements_decimal WHERE type = 'adjustment'";
    world.asks(&["sql", "--tenant", "ID", twice], &["reclamo-4711 ", "reclamo-4711-b"]);
    let adjusted = "SELECT seq, operator FROM records WHERE type = 'balance.adjusted'";
    world.asks(&["sql", "--tenant", "ID", adjusted], &["Luis from"]);
    let adjusted = world.seqs(adjusted);
    let before = (adjusted[0].parse::<u64>().expect("a number") - 1).to_string();
    world.asks(&["diff", &before, &adjusted[1]], &["(500.00)"]);

    // The release.
    let released =
        world.asks(&["bisect", "--tenant", "ID", "seller.availableVes > 3540"], &["merchant.released"]);
    let released: u64 =
        released.split_whitespace().next().and_then(|seq| seq.parse().ok()).expect("a sequence");
    let holds =
        "SELECT amount, available_at FROM holds_decimal WHERE merchant_id IS NOT NULL ORDER BY available_at";
    world.asks(&["sql", "--at", &(released - 1).to_string(), "--tenant", "ID", holds], &["3540.00"]);
    let days = "SELECT json_extract(settings, '$.sellerHoldBusinessDays') AS days FROM tenants WHERE tenant_id = 'ID'";
    for (seq, days_then) in [(&changes[2], "1"), (&changes[3], "2")] {
        world.asks(&["sql", "--at", seq, days], &[days_then]);
    }
}

/// With a sign for each number: sequences depend on what a release writes.
fn numbered(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let sign = if character.is_ascii_digit() { '#' } else { character };
        if sign != '#' || !out.ends_with('#') {
            out.push(sign);
        }
    }
    out
}
