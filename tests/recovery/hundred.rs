//! A history of random calls, and random moments of it: what `wal at`, `wal sql` and a replay say of each is what the
//! server answered then.

use crate::harness::check::text;
use crate::harness::client::Api;
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use crate::time_machine::last;
use crate::{objects, shown, succeeds};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MOMENTS: usize = 100;
const CALLS: usize = 130;
const BALANCES: [(&str, &str); 3] =
    [("balance", "/v1/balance"), ("copBalance", "/v1/cop/balance"), ("cryptoBalance", "/v1/crypto/balance")];

/// What is there, each thing as a table, its id and its state; of sums their currency and minor units.
type Rows = BTreeSet<(String, String, String)>;

const QUERY: &str = "
    SELECT 'payments' AS t, id AS a, status AS b FROM payments WHERE mode = 'test'
    UNION ALL SELECT 'payouts', payout_id, status FROM payouts WHERE mode = 'test'
    UNION ALL SELECT 'conversions', id, status FROM conversions WHERE mode = 'test'
    UNION ALL SELECT 'net', currency, CAST(sum(amount_minor) AS TEXT) FROM movements
        WHERE mode = 'test' AND merchant_id IS NULL AND currency <> 'USDT' GROUP BY currency
    UNION ALL SELECT 'held', currency, CAST(sum(amount_minor) AS TEXT) FROM holds
        WHERE mode = 'test' AND merchant_id IS NULL GROUP BY currency";

struct Answered {
    seq: u64,
    balances: [Value; 3],
    rows: Rows,
}

fn minor(amount: &Value) -> String {
    let amount = amount.as_str().map_or_else(|| amount.to_string(), |amount| amount.replace('.', ""));
    let digits = amount.trim_start_matches('-').trim_start_matches('0');
    if digits.is_empty() { String::new() } else { amount.replace(|c: char| c != '-', "") + digits }
}

/// Between two records: what falls due by itself may come in between.
fn answered(server: &Server, api: &Api) -> Answered {
    loop {
        let seq = last(server);
        let balances = BALANCES.map(|(_, path)| api.get(path).expect(200));
        let mut rows = Rows::new();
        for (table, id) in [("payments", "id"), ("payouts", "payoutId"), ("conversions", "id")] {
            for item in api.walk(&format!("/v1/{table}"), &[], 100) {
                rows.insert((table.to_owned(), text(&item, id).to_owned(), text(&item, "status").to_owned()));
            }
        }
        let [ves, cop, usdt] = &balances;
        for (what, currency, amount) in [
            ("net", "VES", &ves["ledgerNetVes"]),
            ("net", "COP", &cop["ledgerNetCop"]),
            ("held", "VES", &ves["heldVes"]),
            ("held", "COP", &cop["heldCop"]),
            ("held", "USDT", &usdt["heldUsdt"]),
        ] {
            rows.insert((what.to_owned(), currency.to_owned(), minor(amount)));
        }
        // What is nothing has no row.
        rows.retain(|(.., state)| !state.is_empty());
        if last(server) == seq {
            return Answered { seq, balances, rows };
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Whatever the call is answered with: refusals are part of a history.
fn call(server: &Server, api: &Api, merchant: &Value, sales: &mut Vec<Value>, random: &mut Random) {
    let amount = |random: &mut Random| format!("{}.{:02}", 1 + random.below(90), random.below(100));
    match random.below(12) {
        0 => {
            let held = random.below(2) == 0;
            drop(api.post(
                "/v1/test/fund",
                &json!({ "currency": "VES", "amount": amount(random), "held": held }),
            ));
        }
        1 => drop(api.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": amount(random) }))),
        2 => drop(api.cop_fund(&(20_000 + random.below(90_000)).to_string(), random.below(2) == 0)),
        3 => sales.push(api.pay(1 + random.below(20))),
        4 => drop(api.request_c2p(1 + random.below(9), json!({}))),
        5 => {
            let sale = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 2.5 });
            api.vpos(5 + random.below(30), sale);
        }
        6 => drop(api.payout(merchant, &amount(random), json!({}))),
        7 if !sales.is_empty() => {
            let at = usize::try_from(random.below(sales.len() as u64)).expect("an index");
            api.reverse(&sales.swap_remove(at));
        }
        8 => {
            let quote = json!({ "sourceAmountVes": amount(random) });
            let quote = api.post("/v1/conversions/quotes", &quote);
            if quote.status == 201 {
                api.post(
                    "/v1/conversions",
                    &json!({ "quoteId": quote.json()["id"], "reference": fresh("c") }),
                );
            }
        }
        9 => drop(api.cop_paid(20_000 + random.below(50_000) as i64)),
        10 => drop(server.admin().act("/admin/snapshot")),
        _ => drop(api.advance(1 + random.below(30_000) as i64)),
    }
}

#[test]
fn a_hundred_random_moments_are_what_the_server_answered_then() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x9E37_79B9_7F4A_7C15);
    let mut random = Random(seed);
    let mut server = Server::start();
    let tenant = server.tenant();
    let (api, id) = (&tenant.test, tenant.id.as_str());
    let merchant = api.merchant();
    api.fund("5000.00");
    let (mut seen, mut sales) = (vec![answered(&server, api)], Vec::new());
    for _ in 0..CALLS {
        call(&server, api, &merchant, &mut sales, &mut random);
        let now = answered(&server, api);
        if seen.last().is_none_or(|before| before.seq < now.seq) {
            seen.push(now);
        }
    }
    while seen.len() > MOMENTS {
        let at = usize::try_from(random.below(seen.len() as u64)).expect("an index");
        seen.swap_remove(at);
    }
    assert_eq!(seen.len(), MOMENTS, "seed {seed}");
    server.kill();
    let parent = tempfile::tempdir().expect("a directory");
    let (server, parent) = (&server, parent.path());
    std::thread::scope(|scope| {
        for part in seen.chunks(MOMENTS.div_ceil(4)) {
            scope.spawn(move || part.iter().for_each(|then| compare(server, id, then, parent)));
        }
    });
}

fn compare(server: &Server, tenant: &str, then: &Answered, parent: &std::path::Path) {
    let seq = then.seq.to_string();
    let query =
        objects(&succeeds(server, &["wal", "sql", "--json", "--at", &seq, "--tenant", tenant, QUERY]));
    let rows = query.iter().map(|row| ["t", "a", "b"].map(|name| text(row, name).to_owned()));
    let rows: Rows = rows.map(|[t, a, b]| (t, a, b)).filter(|(.., state)| state != "0").collect();
    assert_eq!(rows, then.rows, "at {seq}");
    let copy = parent.join(&seq);
    succeeds(server, &["wal", "replay", "--into", shown(&copy), "--until-seq", &seq]);
    let data = server.data();
    for directory in [data.as_path(), &copy] {
        let asked = ["wal", "at", &seq, "--tenant", tenant, "--json", "--data-dir", shown(directory)];
        let lines = objects(&succeeds(server, &asked));
        let test = lines.iter().find(|line| line["mode"] == "test").expect("the mode");
        for ((name, _), balance) in BALANCES.iter().zip(&then.balances) {
            assert_eq!(&test[name], balance, "{name} at {seq} in {}", directory.display());
        }
    }
    std::fs::remove_dir_all(copy).expect("removed");
}
