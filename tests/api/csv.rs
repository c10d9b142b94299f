//! Lists as CSV: the whole list with the columns that are described, in cells that no spreadsheet
//! runs.

use crate::harness::check::list;
use crate::harness::client::{Answer, Api};
use crate::harness::conformance::documents;
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A caller who wants CSV.
fn csv(api: &Api) -> Api {
    api.with("accept", "text/csv")
}

/// The rows of an answer by the headings of their cells.
#[track_caller]
fn rows(answer: &Answer, separator: char) -> Vec<BTreeMap<String, String>> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    let mut lines = lines(answer.text(), separator).into_iter();
    let headings = lines.next().expect("a line of headings");
    lines
        .map(|cells| {
            assert_eq!(cells.len(), headings.len(), "{cells:?}");
            headings.iter().cloned().zip(cells).collect()
        })
        .collect()
}

/// The cells of each line, by the grammar of RFC 4180.
fn lines(text: &str, separator: char) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            '\r' if !quoted => {
                assert_eq!(letters.next(), Some('\n'), "lines end with CRLF");
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            letter if letter == separator && !quoted => line.push(std::mem::take(&mut cell)),
            letter => cell.push(letter),
        }
    }
    assert!(line.is_empty() && cell.is_empty(), "the last line ends");
    lines
}

/// Panics if a row does not say what the item says.
#[track_caller]
fn assert_says(row: &BTreeMap<String, String>, prefix: &str, item: &Value) {
    for (name, value) in item.as_object().expect("an object") {
        let name = format!("{prefix}{name}");
        let cell = row.get(&name);
        match (cell, value) {
            (Some(cell), Value::Null) => assert_eq!(cell, "", "{name}"),
            // Apostrophes are put before what a spreadsheet would run.
            (Some(cell), Value::String(text)) => {
                assert_eq!(cell.replace('\'', ""), text.replace('\'', ""), "{name}");
            }
            (Some(cell), value) => assert_eq!(*cell, value.to_string(), "{name}"),
            (None, Value::Object(_)) => assert_says(row, &format!("{name}."), value),
            (None, _) => assert!(value.is_null(), "{name} is in no cell"),
        }
    }
}

#[test]
fn a_list_of_several_pages_is_one_table() {
    let server = Server::shared();
    let tenant = server.tenant();
    for _ in 0..130 {
        tenant.test.create_merchant(json!({"externalRef": fresh("seller")})).expect(201);
    }
    let items = tenant.test.walk("/v1/merchants", &[], 100);
    let answer = csv(&tenant.test).get("/v1/merchants");
    let rows = rows(&answer, ',');
    assert_eq!(rows.len(), 130);
    for (row, item) in rows.iter().zip(&items) {
        assert_says(row, "", item);
    }
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"merchants.csv\""));
    assert_eq!(
        (answer.header("transfer-encoding"), answer.header("content-length")),
        (Some("chunked"), None)
    );
}

#[test]
fn amounts_stay_numbers_and_filters_hold() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    api.fund("500.00");
    let merchant = api.merchant();
    api.payout(&merchant, "100.00", json!({}));
    let movements = api.movements();
    let table = rows(&csv(api).get("/v1/balance/transactions"), ',');
    assert_eq!(table.len(), movements.len());
    for (row, item) in table.iter().zip(&movements) {
        assert_says(row, "", item);
    }
    let negative = |row: &BTreeMap<String, String>| row.values().any(|cell| cell.starts_with("-100.00"));
    assert!(table.iter().any(negative), "{table:?}");
    assert!(!table[0].contains_key("amountCop"), "what no movement in bolívares has is no column");
    let payouts = rows(&csv(api).get("/v1/balance/transactions?type=payout&separator=semicolon"), ';');
    assert_eq!(payouts.len(), api.walk("/v1/balance/transactions", &[("type", "payout")], 100).len());
    assert_eq!(rows(&csv(api).get("/v1/payouts?status=failed"), ',').len(), 0);
}

#[test]
fn hostile_cells_come_back_as_they_were_sent_and_none_is_a_formula() {
    let server = Server::shared();
    let tenant = server.tenant();
    let hostile = [
        "=HYPERLINK(\"http://x\")",
        "+1",
        "-1",
        "@SUM(A1)",
        "a\"b",
        "line\r\nline",
        "a;b,c",
        "x;=cmd|' /C calc'!A0",
        "x,@SUM(A1)",
        "\"=1+1",
        "x;\"=1+1",
        "\u{202e}nimda",
        "'=1",
    ];
    for name in hostile {
        tenant.test.create_merchant(json!({"externalRef": fresh("hostile"), "name": name}));
    }
    let product = json!({ "name": "x", "priceUsd": "1.00", "description": "x\n=1+1\n;-1+cmd" });
    tenant.test.post("/v1/products", &product).expect(201);
    tenant
        .test
        .post(
            "/v1/checkout/sessions",
            &json!({ "amountUsd": 10, "metadata": { "a": ["=1+1", "x;=cmd", -1] } }),
        )
        .expect(201);
    let items = tenant.test.walk("/v1/merchants", &[], 100);
    for (query, separator) in [("", ','), ("?separator=comma", ','), ("?separator=semicolon", ';')] {
        let rows = rows(&csv(&tenant.test).get(&format!("/v1/merchants{query}")), separator);
        assert_eq!(rows.len(), items.len());
        for (row, item) in rows.iter().zip(&items) {
            assert_says(row, "", item);
            assert!(!row["name"].starts_with(['=', '+', '-', '@']), "{row:?}");
        }
    }
    // Whatever separator a spreadsheet expects, and whether or not it heeds quotes.
    for list in ["merchants", "products", "checkout/sessions"] {
        for query in ["", "?separator=semicolon"] {
            let file = csv(&tenant.test).get(&format!("/v1/{list}{query}"));
            let cells = file.text().split([',', ';', '\t', '\r', '\n']);
            let formula = |cell: &&str| {
                let cell = cell.trim_start_matches('"');
                cell.starts_with(['=', '+', '@'])
                    || cell.starts_with('-') && cell.contains(char::is_alphabetic)
            };
            assert_eq!(cells.clone().find(formula), None, "{list}{query}");
            assert!(cells.count() > 10, "{list}{query}");
        }
    }
}

#[test]
fn what_is_bad_is_named_in_json() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (api, wants) = (&tenant.test, csv(&tenant.test));
    wants.get("/v1/payments?limit=5&cursor=x&status=NO&separator=tab").names(&[
        "limit",
        "cursor",
        "status",
        "separator",
    ]);
    wants.get("/v1/payments?separator=comma&separator=comma").names(&["separator"]);
    api.get("/v1/payments?separator=comma").names(&["separator"]);
    api.with("accept", "application/json").get("/v1/payments?separator=semicolon").names(&["separator"]);
    wants.get("/v1/payouts/01975a2e-7c00-7000-8000-000000000000").refused(404, "not_found");
    csv(&server.nobody()).get("/v1/payments").refused(401, "unauthorized");
    let admin = csv(&server.admin());
    admin.get("/admin/operations?limit=5").names(&["limit"]);
    admin.get("/admin/banks?x=1&separator=comma").names(&["x"]);
}

#[test]
fn the_heavier_form_is_sent() {
    let server = Server::shared();
    let tenant = server.tenant();
    for (accept, is_csv) in [
        ("text/csv;q=0.9, application/json;q=0.8", true),
        ("text/csv;q=0.7, application/json;q=0.8", false),
        ("*/*", false),
        ("text/csv;q=0, */*;q=0.1", false),
        ("text/csv, */*;q=0.1", true),
    ] {
        let answer = tenant.test.with("accept", accept).get("/v1/payments");
        assert_eq!(answer.header("content-type") == Some("text/csv; charset=utf-8"), is_csv, "{accept}");
    }
    // What is no list has one form.
    let balance = csv(&tenant.test).get("/v1/balance");
    assert_eq!(balance.header("content-type"), Some("application/json"));
}

/// The harness holds every answer against the description, headings included.
#[test]
fn every_list_that_is_described_is_a_table_also_when_it_is_empty() {
    let server = Server::shared();
    let tenant = server.tenant();
    let [public, admin] = documents();
    let mut seen = 0;
    for (document, api) in [(public, csv(&tenant.test)), (admin, csv(&server.admin()))] {
        for (path, item) in document["paths"].as_object().expect("paths") {
            let described = &item["get"]["responses"]["200"]["content"];
            let needs = |parameter: &Value| parameter["required"] == true;
            let parameters = item["get"]["parameters"].as_array();
            if described["text/csv"].is_null() || parameters.into_iter().flatten().any(needs) {
                continue;
            }
            let answer = api.get(path);
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            assert!(answer.text().ends_with("\r\n"), "{path}");
            seen += 1;
        }
    }
    assert!(seen > 15, "{seen} lists");
    let tenants = rows(&csv(&server.admin()).get("/admin/tenants"), ',');
    assert!(tenants.iter().any(|row| row["tenantId"] == tenant.id));
    let merchant = tenant.test.merchant();
    let named = format!("/v1/merchants?externalRef={}", merchant["externalRef"].as_str().expect("a text"));
    assert_says(&rows(&csv(&tenant.test).get(&named), ',')[0], "", &tenant.test.get(&named).json());
    let keys = csv(&server.admin()).get(&format!("/admin/tenants/{}/keys?separator=semicolon", tenant.id));
    assert_eq!(
        rows(&keys, ';').len(),
        list(&server.admin().get(&format!("/admin/tenants/{}/keys", tenant.id)).json(), "items").len()
    );
}
