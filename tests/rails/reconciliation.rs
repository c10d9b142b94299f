//! A bank's statement beside our books, through a real server whose bank is the test's own: what is on both
//! sides, what answers an order without an outcome, and what stays after a restart
//! (`docs/contract.md, 20.7`).

use crate::harness::check::{list, text};
use crate::harness::client::Answer;
use crate::harness::flows::UNKNOWN;
use crate::harness::server::{Server, Tenant};
use crate::harness::source::{Behaviour, Source};
use chrono::{Days, FixedOffset, NaiveDate, Utc};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);
pub const ACCOUNT: &str = "01690001001234567890";
pub const HEADER: &str = "date,reference,amount,kind,phone,bank";

pub const CALLBACK_UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// A server with a bank, and a tenant that may use live mode.
pub struct World {
    pub bank: Source,
    pub server: Server,
    pub tenant: Tenant,
}

pub fn says(body: &Value) -> Behaviour {
    Behaviour::Says(200, body.to_string())
}

impl World {
    pub fn start() -> World {
        let bank = Source::start();
        bank.set("/MBbcv", says(&json!({ "code": "01", "message": "COTIZACION NO ENCONTRADA" })));
        let server = Server::start_with(&[
            ("PASARELA__RAILS__R4__BASE_URL", &bank.url("")),
            ("PASARELA__RAILS__R4__COMMERCE_TOKEN", "commerce-token-that-is-secret"),
            ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "1"),
            ("PASARELA__RAILS__R4__CALLBACK_UUID", CALLBACK_UUID),
            ("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "1"),
        ]);
        let tenant = server.tenant();
        let path = format!("/admin/tenants/{}/live-status", tenant.id);
        server.admin().post(&path, &json!({ "status": "active" })).expect(200);
        server.price_live();
        World { bank, server, tenant }
    }

    /// A charge that the bank did under this reference.
    #[track_caller]
    pub fn charged(&self, usd: i64, reference: &str) -> Value {
        let done = json!({ "code": "00", "message": "TRANSACCION EXITOSA", "reference": reference });
        self.bank.set("/MBc2p", says(&done));
        let payment = self.tenant.live.pay_with(usd, "12345678");
        assert_eq!(payment["status"], "COMPLETED", "{payment}");
        payment
    }

    /// A charge about which the bank says nothing certain.
    #[track_caller]
    fn open(&self, usd: i64) -> Value {
        self.bank.set("/MBc2p", says(&json!({ "code": "68", "message": "RESPUESTA TARDIA" })));
        let payment = self.tenant.live.pay_with(usd, "12345678");
        assert_eq!(payment["status"], "PENDING", "{payment}");
        let unresolved = || {
            let listed = self.server.admin().get("/admin/operations?status=unresolved").expect(200);
            list(&listed, "items").iter().any(|item| item["operationId"] == payment["operationId"])
        };
        until("it is unresolved", unresolved);
        payment
    }

    pub fn upload(&self, file: &str, (from, to): (NaiveDate, NaiveDate)) -> Answer {
        let path = format!("/admin/reconciliations?rail=r4&account={ACCOUNT}&from={from}&to={to}");
        self.server.admin().post_as(&path, "text/csv", file.to_owned())
    }

    pub fn read(&self, id: &str) -> Value {
        self.server.admin().get(&format!("/admin/reconciliations/{id}")).expect(200)
    }

    /// What came of an uploaded statement.
    #[track_caller]
    pub fn ended(&self, file: &str, days: (NaiveDate, NaiveDate)) -> Value {
        let begun = self.upload(file, days).expect(202);
        let id = text(&begun, "id");
        until("it ends", || self.read(id)["status"] != "running");
        self.read(id)
    }

    pub fn items(&self, id: &str, query: &str) -> Vec<Value> {
        let page = self.server.admin().get(&format!("/admin/reconciliations/{id}/items?{query}")).expect(200);
        list(&page, "items").to_vec()
    }

    pub fn accept(&self, id: &str, body: &Value) -> Answer {
        self.server.admin().post(&format!("/admin/reconciliations/{id}/accept"), body)
    }
}

#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: never");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Today in Caracas.
pub fn today() -> NaiveDate {
    let caracas = FixedOffset::west_opt(4 * 3600).expect("an offset");
    Utc::now().with_timezone(&caracas).date_naive()
}

#[track_caller]
pub fn assert_counts(found: &Value, expected: &[(&str, u64)]) {
    for (name, count) in expected {
        assert_eq!(found[name], *count, "{name} of {found}");
    }
    let of = |name: &str| found[name].as_u64().expect("a count");
    let sum: u64 = ["matched", "missingHere", "amountDiffers", "proposals", "bad"].into_iter().map(of).sum();
    assert_eq!(of("lines"), sum, "{found}");
}

#[test]
fn a_statement_is_matched_and_what_it_answers_is_accepted_once() {
    let mut world = World::start();
    let (matched, differs, absent) =
        (world.charged(1, "00081230001"), world.charged(2, "81230002"), world.charged(3, "81230003"));
    let open = world.open(10);
    let day = today();
    let file = format!(
        "{HEADER}\n{day},81230001,200.00,credit,,\n{day},0002,1.00,credit,,\n{day},81230002,399.99,credit,,\n\
         {day},90311223,2000.00,credit,04141234567,0134\nno,1,1.00,credit,,\n"
    );
    let days = (day, day);
    let found = world.ended(&file, days);
    let id = text(&found, "id");
    assert_eq!(found["status"], "done", "{found}");
    // Zeros in front are no digits of an end.
    let expected = [("lines", 5), ("matched", 1), ("missingHere", 1), ("missingThere", 1)];
    assert_counts(&found, &expected);
    assert_counts(&found, &[("amountDiffers", 1), ("proposals", 1), ("bad", 1)]);
    assert_eq!(found["badLines"][0]["line"], 6, "{found}");

    let items = world.items(id, "limit=100");
    let results: Vec<&str> = items.iter().map(|item| text(item, "result")).collect();
    assert_eq!(results, ["matched", "missingHere", "amountDiffers", "proposal", "bad", "missingThere"]);
    assert_eq!(items[0]["ours"]["id"], matched["paymentId"], "{}", items[0]);
    assert_eq!(
        (&items[0]["ours"]["amount"], &items[0]["ours"]["kind"]),
        (&json!("200.00"), &json!("payment"))
    );
    assert_eq!(items[2]["ours"]["id"], differs["paymentId"], "{}", items[2]);
    assert_eq!(items[3]["ours"]["id"], open["operationId"], "{}", items[3]);
    assert_eq!(items[5]["ours"]["id"], absent["paymentId"], "{}", items[5]);
    assert_eq!(world.items(id, "result=proposal"), items[3..4]);
    let first = world.server.admin().get(&format!("/admin/reconciliations/{id}/items?limit=4")).expect(200);
    assert_eq!(list(&first, "items"), &items[..4]);
    let cursor = text(&first, "nextCursor");
    assert_eq!(world.items(id, &format!("limit=4&cursor={cursor}")), items[4..]);
    let csv =
        world.server.admin().with("accept", "text/csv").get(&format!("/admin/reconciliations/{id}/items"));
    assert_eq!(csv.text().lines().count(), 7, "{}", csv.text());
    assert_eq!(items[3]["line"]["phone"], "0414***4567", "payers are masked for everybody");
    assert!(csv.text().contains("0414***4567") && !csv.text().contains("04141234567"), "{}", csv.text());

    world.accept(id, &json!({})).names(&["items"]);
    world.accept(id, &json!({ "all": true, "items": [UNKNOWN] })).names(&["items"]);
    world.accept(id, &json!({ "all": false })).names(&["all"]);
    let refused = world.accept(id, &json!({ "items": [items[0]["id"]] })).expect(200);
    assert_eq!(
        (&refused["accepted"], &refused["refused"][0]["id"]),
        (&json!(0), &items[0]["id"]),
        "{refused}"
    );
    assert_eq!(
        world.accept(id, &json!({ "all": true })).expect(200),
        json!({ "accepted": 1, "refused": [] })
    );
    let paid = world.tenant.live.payment(&open);
    assert_eq!(
        (&paid["status"], &paid["bankReference"]),
        (&json!("COMPLETED"), &json!("90311223")),
        "{paid}"
    );
    let again = world.accept(id, &json!({ "all": true })).expect(200);
    let refused = json!([{ "id": items[3]["id"], "error": "operation_resolved" }]);
    assert_eq!(again, json!({ "accepted": 0, "refused": refused }));
    let audit = world.server.admin().get("/admin/audit?action=reconciliation.accept").expect(200);
    assert_eq!(list(&audit, "items").len(), 1, "what changed nothing leaves no row: {audit}");
    assert_eq!(list(&audit, "items")[0]["after"]["accepted"], 1, "{audit}");
    assert_eq!(list(&audit, "items")[0]["target"], id, "{audit}");
    let audit = world.server.admin().get("/admin/audit?action=operation.resolve").expect(200);
    assert_eq!(list(&audit, "items")[0]["target"], open["operationId"], "{audit}");

    assert_eq!(world.upload(&file, days).expect(200)["id"], id);
    world.server.kill();
    world.server.restart();
    assert_eq!(world.read(id), found);
    assert_eq!(world.upload(&file, days).expect(200)["id"], id);
    let other = world.ended(&format!("{file}\n"), days);
    assert_counts(&other, &[("matched", 2), ("proposals", 0), ("missingThere", 1)]);
    assert_counts(&world.ended(&file, (day, day + Days::new(9))), &[("matched", 2)]);
}

#[test]
fn what_is_no_statement_is_refused() {
    let world = World::start();
    let admin = world.server.admin();
    let day = today();
    let sound = format!("{HEADER}\n{day},1,1.00,credit,,\n");
    admin
        .post_as("/admin/reconciliations?rail=x&account=1&from=a", "text/csv", sound.clone())
        .names(&["rail", "account", "from", "to"]);
    world.upload(&sound, (day, day - Days::new(1))).names(&["from"]);
    world.upload("date,date,reference,kind\n", (day, day)).names(&["date", "amount"]);
    world.upload("", (day, day)).names(&["file"]);
    let path = format!("/admin/reconciliations?rail=r4&account={ACCOUNT}&from={day}&to={day}");
    admin.post_as(&path, "application/json", "{}").refused(415, "unsupported_media_type");
    let large = format!("{HEADER}\n{}", "x".repeat(3 << 20));
    assert_eq!(admin.post_as(&path, "text/csv", large).expect(202)["status"], "running");
    admin.post_as(&path, "text/csv", "x".repeat((32 << 20) + 1)).refused(413, "payload_too_large");
    for path in ["", "/items"] {
        admin.get(&format!("/admin/reconciliations/{UNKNOWN}{path}")).refused(404, "not_found");
    }
    world.accept(UNKNOWN, &json!({ "all": true })).refused(404, "not_found");
}

/// Another reading of a line that a payer wrote: with a reader by lines it is a credit of the bank.
const INJECTED: &str = "regalo\n2026-11-26,99990001,7400.00,credit,x";

#[test]
fn a_payers_text_is_no_line_of_the_statement() {
    let world = World::start();
    let open = world.open(37);
    let day = today();
    let injected = INJECTED.replace("2026-11-26", &day.to_string());
    let cell = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    for separator in [",", ";", "\t"] {
        for end in ["\n", "\r\n", "\r"] {
            let injected = injected.replace(',', separator).replace('\n', end);
            for (head, text) in [
                ("descripcion".to_owned(), injected.clone()),
                ("descripcion".to_owned(), "PAGO\nMOVIL".replace('\n', end)),
                ("descripcion".to_owned(), format!("dijo \"ya\"{end}\"{separator}")),
                (cell(&injected), "x".to_owned()),
                (cell(&format!("dos{end}renglones")), "x".to_owned()),
            ] {
                let header = ["date", "reference", "amount", "kind", &head].join(separator);
                let line = [&*day.to_string(), "55550001", "10.00", "credit", &cell(&text)].join(separator);
                let found = world.ended(&format!("{header}{end}{line}{end}"), (day, day));
                let expected =
                    [("lines", 1), ("missingHere", 1), ("proposals", 0), ("bad", 0), ("missingThere", 0)];
                assert_counts(&found, &expected);
                let accepted = world.accept(text_of(&found), &json!({ "all": true })).expect(200);
                assert_eq!(accepted, json!({ "accepted": 0, "refused": [] }));
            }
        }
    }
    assert_eq!(world.tenant.live.payment(&open)["status"], "PENDING");
    // What nobody quoted is no line either, and says where it is.
    let torn = format!("{HEADER}\n{day},1,1.00,credit,\"regalo\n{day},99990001,7400.00,credit,\"x\",0134\n");
    let found = world.ended(&torn, (day, day));
    assert_counts(&found, &[("lines", 1), ("bad", 1), ("proposals", 0)]);
    assert_eq!(found["badLines"][0]["line"], 2, "{found}");
    let unclosed = format!("{HEADER}\n{day},1,1.00,credit,,\n{day},2,1.00,credit,\"regalo,\n");
    world.upload(&unclosed, (day, day)).names(&["file"]);
}

fn text_of(found: &Value) -> &str {
    text(found, "id")
}

#[test]
fn a_statement_may_be_a_header_alone() {
    let world = World::start();
    let day = today();
    world.charged(1, "81230001");
    for header in [HEADER.to_owned(), format!("\u{feff}{HEADER}\r\n"), HEADER.replace(',', "\t")] {
        let found = world.ended(&header, (day, day));
        assert_counts(&found, &[("lines", 0), ("bad", 0), ("missingThere", 1)]);
    }
}

#[test]
fn the_file_says_what_it_is_written_in_and_how_its_columns_are_called() {
    let world = World::start();
    let day = today();
    world.charged(1, "81230001");
    let path = format!("/admin/reconciliations?rail=r4&account={ACCOUNT}&from={day}&to={day}");
    let row = format!("{day};81230001;200.00;credit;Se\u{f1}or;0134");
    let text_1252: Vec<u8> =
        format!("DATE;Reference;Amount;Kind;descripci\u{f3}n;Bank\r\n{row}\r\n{day};x;1.00;credit;;\r\n")
            .chars()
            .map(|letter| u8::try_from(u32::from(letter)).expect("a letter of Windows-1252"))
            .collect();
    let utf_16: Vec<u8> = format!("\u{feff}{}\n{}\n", HEADER.replace(',', "\t"), row.replace(';', "\t"))
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (name, file, bad) in [("Windows-1252", text_1252, 1), ("UTF-16", utf_16, 0)] {
        let begun = world.server.admin().post_as(&path, "text/csv", file).expect(202);
        let id = text(&begun, "id");
        until("it ends", || world.read(id)["status"] != "running");
        let found = world.read(id);
        assert_counts(&found, &[("matched", 1), ("bad", bad)]);
        if bad > 0 {
            let expected =
                json!([{ "line": 3, "message": "Reference must have 1 to 64 digits and nothing else" }]);
            assert_eq!(found["badLines"], expected, "{name}");
        }
    }
    let mark = [&b"\xef\xbb\xbf"[..], HEADER.as_bytes(), b"\n\xff\n"].concat();
    world.server.admin().post_as(&path, "text/csv", mark).names(&["file"]);
}
