//! R4's calls: who may make them, what they must say, what is answered.

use super::{OURS, UUID, live, notice, notices, notify, r4, server, verification, verify};
use crate::harness::check::race;
use crate::harness::flows::{fresh, merged};
use crate::harness::server::Server;
use serde_json::{Value, json};

#[test]
fn without_a_bank_there_is_no_such_path() {
    let server = Server::shared();
    for path in
        ["/rails/r4/R4notifica", "/rails/r4/R4consulta", "/rails/r4/MBconsulta", "/rails/wompi/events"]
    {
        r4(&server).post(path, &notice("1")).refused(404, "not_found");
    }
}

#[test]
fn only_the_bank_is_heard() {
    let server = server(&[]);
    let refused = |authorization: Option<&str>| {
        let nobody = server.nobody();
        let caller = authorization.map_or_else(|| server.nobody(), |text| nobody.with("authorization", text));
        for path in ["/rails/r4/R4notifica", "/rails/r4/MBconsulta"] {
            assert_eq!(caller.post(path, &notice("1")).expect(401), json!({ "abono": false }));
        }
        let question = json!({ "IdCliente": "12345678" });
        assert_eq!(caller.post("/rails/r4/R4consulta", &question).expect(401), json!({ "status": false }));
    };
    refused(None);
    refused(Some(""));
    refused(Some(&format!("Bearer {UUID}")));
    refused(Some(&UUID.replace('4', "5")));
    refused(Some(&UUID[..35]));
    assert_eq!(notices(&server, ""), Vec::<Value>::new());
    // In either case.
    let upper = server.nobody().with("authorization", &UUID.to_uppercase());
    assert_eq!(upper.post("/rails/r4/MBconsulta", &notice("1")).expect(200), json!({ "abono": true }));
    assert_eq!(r4(&server).get("/rails/r4/R4notifica").status, 405);
    r4(&server).post("/rails/r4/other", &notice("1")).refused(404, "not_found");
}

#[test]
fn only_from_where_the_bank_calls() {
    let elsewhere = [("PASARELA__RAILS__R4__CALLBACK_SOURCES", "45.175.213.98,200.74.203.0/24")];
    let server = server(&elsewhere);
    let forwarded = r4(&server).with("x-forwarded-for", "45.175.213.98");
    for caller in [r4(&server), forwarded] {
        assert_eq!(caller.post("/rails/r4/R4notifica", &notice("1")).expect(401), json!({ "abono": false }));
    }
    assert_eq!(notices(&server, ""), Vec::<Value>::new());
    drop(server);
    let server = super::server(&[("PASARELA__RAILS__R4__CALLBACK_SOURCES", "127.0.0.1")]);
    notify(&server, &notice("1"));
}

#[test]
fn without_a_uuid_nobody_is_the_bank() {
    let server = server(&[("PASARELA__RAILS__R4__CALLBACK_UUID", "")]);
    assert_eq!(r4(&server).post("/rails/r4/R4notifica", &notice("1")).expect(401), json!({ "abono": false }));
}

#[test]
fn what_is_malformed_is_not_kept() {
    let server = server(&[]);
    let bank = r4(&server);
    let abono = |taken: bool| json!({ "abono": taken });
    let mut bare = notice("1");
    bare.as_object_mut().expect("an object").remove("Referencia");
    for body in [
        bare,
        json!([]),
        merged(notice("1"), json!({ "Monto": "0.00" })),
        merged(notice("1"), json!({ "Monto": "12,50" })),
        merged(notice("1"), json!({ "FechaHora": "ayer" })),
        merged(notice("1"), json!({ "BancoEmisor": "13" })),
        merged(notice("1"), json!({ "TelefonoEmisor": "0212" })),
    ] {
        assert_eq!(bank.post("/rails/r4/R4notifica", &body).expect(400), abono(false), "{body}");
    }
    for raw in ["", "{", "null"] {
        assert_eq!(bank.post_raw("/rails/r4/R4notifica", raw).expect(400), abono(false), "{raw}");
    }
    let long = merged(notice("1"), json!({ "Concepto": "x".repeat(64 << 10) }));
    assert_eq!(bank.post("/rails/r4/R4notifica", &long).expect(413), abono(false));
    let fits = merged(notice("1"), json!({ "Concepto": "x".repeat(60 << 10), "Otro": 7 }));
    let refused = merged(notice("2"), json!({ "CodigoRed": "51" }));
    assert_eq!(bank.post("/rails/r4/R4notifica", &refused).expect(200), abono(false));
    assert_eq!(notices(&server, ""), Vec::<Value>::new());
    notify(&server, &fits);
    assert_eq!(notices(&server, "").len(), 1);
}

#[test]
fn a_notice_is_kept_once() {
    let server = server(&[]);
    for body in [
        notice("00123456"),
        notice("00123456"),
        merged(notice("00123456"), json!({ "BancoEmisor": "0134", "Concepto": "otra vez" })),
        notice("123456"),
    ] {
        notify(&server, &body);
    }
    let kept = notices(&server, "?unmatched=true");
    assert_eq!(kept.len(), 1, "{kept:?}");
    let item = &kept[0];
    assert_eq!(
        (&item["rail"], &item["reference"], &item["bankCode"], &item["phone"], &item["amountVes"]),
        (&json!("r4"), &json!("00123456"), &json!("0134"), &json!("0414***4567"), &json!("2000.00"))
    );
    assert_eq!(item["paidAt"], json!(format!("{}T16:00:00.000Z", super::day(0))));
    assert!(item["receivedAt"].is_string() && item["noticeId"].is_string());
    assert_eq!((&item["paymentId"], &item["tenantId"]), (&Value::Null, &Value::Null));
    for other in [
        json!({ "Monto": "2000.01" }),
        json!({ "TelefonoEmisor": "04141234568" }),
        json!({ "BancoEmisor": "102" }),
        json!({ "FechaHora": format!("{}T12:00:00", super::day(1)) }),
        json!({ "Referencia": "00123457" }),
    ] {
        notify(&server, &merged(notice("00123456"), other));
    }
    assert_eq!(notices(&server, "?unmatched=true").len(), 6);
}

#[test]
fn of_many_at_once_one_is_kept() {
    let server = server(&[]);
    let taken = race(12, |_| r4(&server).post("/rails/r4/R4notifica", &notice("31337")).expect(200));
    assert!(taken.iter().all(|answer| *answer == json!({ "abono": true })), "{taken:?}");
    assert_eq!(notices(&server, "").len(), 1);
}

#[test]
fn lists_have_pages() {
    let server = server(&[]);
    for n in 0..7 {
        notify(&server, &notice(&format!("77000{n}")));
    }
    let all = server.admin().walk("/admin/notices", &[], 3);
    let references: Vec<&str> = all.iter().filter_map(|item| item["reference"].as_str()).collect();
    assert_eq!(references, ["770006", "770005", "770004", "770003", "770002", "770001", "770000"]);
    assert_eq!(server.admin().walk("/admin/notices", &[("unmatched", "true")], 2), all);
    server.admin().get("/admin/notices?unmatched=maybe").names(&["unmatched"]);
    server.admin().get("/admin/notices?rail=r4").names(&["rail"]);
    let listed = server.command(&["admin", "notice", "list", "--unmatched", "true", "--json"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("770003"), "{listed:?}");
}

#[test]
fn the_bank_asks_whether_a_transfer_is_welcome() {
    let server = server(&[]);
    let ask =
        |question: Value| r4(&server).post("/rails/r4/R4consulta", &question).expect(200)["status"].clone();
    let tenant = live(&server);
    assert_eq!(ask(json!({ "IdCliente": "12345678" })), json!(false));
    assert_eq!(
        ask(json!({ "IdCliente": "87654321", "TelefonoComercio": OURS, "Monto": "1.00" })),
        json!(true)
    );
    assert_eq!(ask(json!({ "IdCliente": "87654321", "TelefonoComercio": "04149999999" })), json!(false));
    let known = merged(verification("1234"), json!({ "debtorId": "V02345678" }));
    // Test mode knows nobody.
    verify(&tenant.test, &known).expect(201);
    assert_eq!(ask(json!({ "IdCliente": "02345678" })), json!(false));
    verify(&tenant.live, &merged(known, json!({ "externalRef": fresh("pm") }))).expect(201);
    assert_eq!(ask(json!({ "IdCliente": "02345678" })), json!(true));
    assert_eq!(ask(json!({ "IdCliente": "2345678", "Otro": [] })), json!(true));
    for bad in [json!({}), json!({ "IdCliente": "" }), json!({ "IdCliente": "x y" }), json!([])] {
        let refused = r4(&server).post("/rails/r4/R4consulta", &bad).expect(400);
        assert_eq!(refused, json!({ "status": false }), "{bad}");
    }
}

#[test]
fn a_notice_is_ours_by_the_phone_and_the_day_that_it_names() {
    let server = server(&[]);
    let bank = r4(&server);
    let tell = |body: &Value| bank.post("/rails/r4/R4notifica", body).expect(200)["abono"].clone();
    for (n, over, taken) in [
        (1, json!({ "TelefonoComercio": "04249999999" }), false),
        (2, json!({ "TelefonoComercio": "584240000001" }), true),
        (3, json!({ "FechaHora": format!("{}T12:00:00", super::day(31)) }), false),
        (4, json!({ "FechaHora": format!("{}T00:00:00", super::day(30)) }), true),
        (5, json!({ "FechaHora": format!("{}T23:59:59", super::day(-1)) }), true),
        (6, json!({ "FechaHora": format!("{}T00:00:00", super::day(-2)) }), false),
        (7, json!({ "FechaHora": "2099-01-01T00:00:00" }), false),
    ] {
        let body = merged(notice(&format!("66000{n}")), over);
        assert_eq!(tell(&body), json!(taken), "{body}");
    }
    assert_eq!(notices(&server, "").len(), 3);
    drop(server);
    // Where nobody said which phone is ours, any is, and every payer is welcome.
    let server = self::server(&[("PASARELA__RAILS__R4__COMMERCE_PHONE", "")]);
    notify(&server, &merged(notice("1"), json!({ "TelefonoComercio": "04249999999" })));
    for question in
        [json!({ "IdCliente": "12345678" }), json!({ "IdCliente": 87_654_321, "TelefonoComercio": "" })]
    {
        assert_eq!(
            r4(&server).post("/rails/r4/R4consulta", &question).expect(200),
            json!({ "status": true })
        );
    }
}

#[test]
fn numbers_and_texts_of_other_encodings_are_read() {
    let server = server(&[]);
    let tenant = live(&server);
    let numbers = json!({
        "IdComercio": 12_345_678, "TelefonoComercio": 4_240_000_001_u64, "TelefonoEmisor": 4_141_234_567_u64,
        "BancoEmisor": 134, "Monto": 2000, "FechaHora": format!("{}T12:00:00", super::day(0)), "Referencia": 770_011,
        "CodigoRed": 0,
    });
    notify(&server, &numbers);
    assert_eq!(verify(&tenant.live, &verification("770011")).expect(201)["status"], "COMPLETED");
    let latin_1: Vec<u8> = merged(notice("770022"), json!({ "Concepto": "caf@" }))
        .to_string()
        .bytes()
        .flat_map(|byte| if byte == b'@' { vec![0xE9, b'\n'] } else { vec![byte] })
        .collect();
    assert_eq!(r4(&server).post_raw("/rails/r4/R4notifica", latin_1).expect(200), json!({ "abono": true }));
    assert_eq!(verify(&tenant.live, &verification("770022")).expect(201)["status"], "COMPLETED");
    assert_eq!(
        r4(&server).post("/rails/r4/R4consulta", &json!({ "IdCliente": 12_345_678 })).expect(200)["status"],
        true
    );
}

#[test]
fn a_call_that_is_refused_has_a_line_that_says_why() {
    let server = server(&[("PASARELA__RAILS__R4__COMMERCE_PHONE", OURS)]);
    let bank = r4(&server);
    let ours = |over: Value| merged(merged(notice("1"), json!({ "TelefonoComercio": OURS })), over);
    for (over, status, line) in [
        (json!({ "Monto": "12,50" }), 400, "what the bank's documents say: Monto"),
        (json!({ "TelefonoEmisor": "04120000" }), 400, "what the bank's documents say: TelefonoEmisor"),
        (json!({ "TelefonoComercio": "04129999999" }), 200, "another phone than rails.r4.commerce_phone"),
        (json!({ "FechaHora": "2099-01-01T12:00:00" }), 200, "its day is further ahead or back"),
    ] {
        let body = ours(over);
        assert_eq!(bank.post("/rails/r4/R4notifica", &body).expect(status), json!({ "abono": false }));
        let log = server.log_tail();
        assert!(log.contains(line) && !log.contains("04120000"), "{line}: {log}");
    }
    // Anybody may be nobody: one line tells of many.
    for _ in 0..20 {
        let stranger = server.nobody().with("authorization", "secret-of-somebody");
        stranger.post("/rails/r4/R4notifica", &notice("1")).expect(401);
    }
    let log = server.log_tail();
    let lines = log.lines().filter(|line| line.contains("401") && line.contains("is not the bank")).count();
    assert!((1..=2).contains(&lines) && !log.contains("secret-of-somebody"), "{log}");
}

#[test]
fn a_call_is_read_whatever_its_type_is_called() {
    let server = server(&[]);
    let bank = r4(&server);
    for (n, kind) in ["text/plain", "application/x-www-form-urlencoded", "text/json; charset=ISO-8859-1", ""]
        .into_iter()
        .enumerate()
    {
        let body = notice(&format!("4400{n}")).to_string();
        assert_eq!(
            bank.post_as("/rails/r4/R4notifica", kind, body).expect(200),
            json!({ "abono": true }),
            "{kind}"
        );
    }
    assert_eq!(notices(&server, "").len(), 4);
    let dashed = json!({ "IdCliente": "V-12.345.678" });
    assert_eq!(
        bank.post_as("/rails/r4/R4consulta", "text/plain", dashed.to_string()).expect(200),
        json!({ "status": false })
    );
}
