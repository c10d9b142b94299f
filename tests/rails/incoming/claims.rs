//! Which notice verifies which payment.

use super::{again, day, live, notice, notices, notify, r4, server, settled, verification, verify};
use crate::harness::check::{assert_texts, race};
use crate::harness::client::Answer;
use crate::harness::flows::{fresh, merged};
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const NOT_FOUND: [(&str, &str); 2] = [("status", "FAILED"), ("failureCode", "reference_not_found")];

#[test]
fn a_notice_verifies_one_payment() {
    let server = server(&[]);
    let (tenant, other) = (live(&server), live(&server));
    let body = verification("123456");
    assert_texts(&verify(&tenant.live, &body).expect(201), &NOT_FOUND);
    notify(&server, &notice("0099123456"));
    // It is looked for again, as a new attempt.
    let paid = verify(&tenant.live, &body).expect(201);
    assert_eq!(paid["attempt"], json!(2), "{paid}");
    assert_texts(&paid, &[("status", "COMPLETED"), ("bankReference", "0099123456")]);
    tenant.live.assert_books("1970.00", "1970.00", "0.00");
    assert_eq!(notices(&server, "?unmatched=true"), Vec::<Value>::new());
    let claimed = notices(&server, "");
    assert_eq!(claimed[0]["paymentId"], paid["paymentId"]);
    assert_eq!(claimed[0]["tenantId"], json!(tenant.id));
    // By fewer digits of it, by the same, by all of them, and by another tenant.
    for typed in ["3456", "123456", "99123456"] {
        verify(&tenant.live, &again(&body, json!({ "reference": typed })))
            .refused(409, "reference_already_used");
    }
    assert_texts(&verify(&other.live, &again(&body, json!({}))).expect(201), &NOT_FOUND);
    other.live.assert_books("0.00", "0.00", "0.00");
    // Sent again it is the same, and still claimed.
    notify(&server, &notice("0099123456"));
    assert_eq!(notices(&server, "?unmatched=true"), Vec::<Value>::new());
    // Test mode has nothing to do with it.
    assert_eq!(verify(&tenant.test, &again(&body, json!({}))).expect(201)["status"], "COMPLETED");
}

#[test]
fn everything_has_to_match() {
    let server = server(&[]);
    let tenant = live(&server);
    notify(&server, &notice("00556677"));
    let with = |over: Value| verify(&tenant.live, &again(&verification("556677"), over)).expect(201);
    for over in [
        json!({ "reference": "556678" }),
        json!({ "reference": "9556677" }),
        json!({ "reference": "5566" }),
        json!({ "phone": "04141234568" }),
        json!({ "bankCode": "0102" }),
        json!({ "usdAmount": 10.01 }),
        json!({ "date": day(1).to_string() }),
    ] {
        assert_texts(&with(over.clone()), &NOT_FOUND);
    }
    assert_eq!(with(json!({ "reference": "6677", "phone": "584141234567" }))["status"], "COMPLETED");
}

#[test]
fn zeros_that_a_payer_typed_are_digits_of_the_reference() {
    let server = server(&[]);
    let tenant = live(&server);
    for reference in ["91234560", "55558881", "81234567", "77770001"] {
        notify(&server, &notice(reference));
    }
    let with = |typed: &str| verify(&tenant.live, &verification(typed)).expect(201);
    for typed in ["0000", "0567", "00008881"] {
        assert_texts(&with(typed), &NOT_FOUND);
    }
    assert_texts(&with("0001"), &[("status", "COMPLETED"), ("bankReference", "77770001")]);
    // Zeros before the whole reference are the bank's.
    assert_texts(&with("000081234567"), &[("status", "COMPLETED"), ("bankReference", "81234567")]);
}

#[test]
fn the_day_is_that_of_caracas() {
    let server = server(&[]);
    let tenant = live(&server);
    let (today, yesterday) = (day(0), day(1));
    for (reference, instant, date) in [
        ("100001", format!("{today}T03:59:59Z"), yesterday),
        ("100002", format!("{today}T04:00:00.000Z"), today),
        ("100003", format!("{yesterday}T23:59:59-04:00"), yesterday),
        ("100004", format!("{today}T00:00:00"), today),
        ("100005", format!("{yesterday}T23:59:59.999"), yesterday),
        ("100006", format!("{today}T05:59:59+02:00"), yesterday),
    ] {
        notify(&server, &merged(notice(reference), json!({ "FechaHora": instant })));
        let other = if date == today { yesterday } else { today };
        let of =
            |date: chrono::NaiveDate| again(&verification(reference), json!({ "date": date.to_string() }));
        assert_texts(&verify(&tenant.live, &of(other)).expect(201), &NOT_FOUND);
        assert_eq!(verify(&tenant.live, &of(date)).expect(201)["status"], "COMPLETED", "{instant}");
    }
}

#[test]
fn of_two_the_oldest() {
    let server = server(&[]);
    let (tenant, other) = (live(&server), live(&server));
    for reference in ["90001234", "10001234", "50001234"] {
        notify(&server, &notice(reference));
    }
    let paid = |of: &Tenant| verify(&of.live, &verification("1234")).expect(201)["bankReference"].clone();
    assert_eq!(paid(&tenant), "90001234");
    assert_eq!(paid(&other), "10001234");
    assert_eq!(paid(&tenant), "50001234");
    assert_texts(&verify(&live(&server).live, &verification("1234")).expect(201), &NOT_FOUND);
    verify(&other.live, &verification("1234")).refused(409, "reference_already_used");
}

#[test]
fn of_many_who_race_as_many_win_as_there_are_notices() {
    let server = server(&[]);
    let tenants: Vec<_> = (0..3).map(|_| live(&server)).collect();
    for reference in ["70014321", "80014321"] {
        notify(&server, &notice(reference));
    }
    // Some know all digits of one, some the end of both; each tenant asks several times.
    let answers = race(24, |n| {
        let typed = ["4321", "14321", "70014321", "80014321", "014321"][n % 5];
        verify(&tenants[n % 3].live, &verification(typed))
    });
    let paid: Vec<String> = answers
        .iter()
        .map(Answer::json)
        .filter(|payment| payment["status"] == "COMPLETED")
        .map(|payment| payment["bankReference"].as_str().expect("a reference").to_owned())
        .collect();
    assert_eq!(paid.iter().collect::<BTreeSet<_>>().len(), 2, "{paid:?}");
    assert_eq!(paid.len(), 2, "each once");
    assert!(answers.iter().all(|answer| matches!(answer.status, 201 | 409)), "nobody waits for another");
    assert_eq!(notices(&server, "?unmatched=true"), Vec::<Value>::new());
}

#[test]
fn a_notice_that_comes_in_time_completes_the_payment() {
    let server = server(&[("PASARELA__RAILS__R4__NOTICE_WAIT_SECONDS", "60")]);
    let (tenant, other) = (live(&server), live(&server));
    let began = Instant::now();
    let body = verification("445566");
    let waiting = verify(&tenant.live, &body).expect(202);
    assert_eq!(waiting["status"], "PENDING");
    assert!(began.elapsed() < Duration::from_secs(5), "it is answered at once");
    verify(&tenant.live, &again(&body, json!({}))).refused(409, "reference_already_used");
    let beside = verify(&other.live, &again(&body, json!({}))).expect(202);
    notify(&server, &merged(notice("445566"), json!({ "Monto": "2000.01" })));
    assert_eq!(tenant.live.payment(&waiting)["status"], "PENDING", "another amount");
    notify(&server, &notice("00445566"));
    let paid =
        |of: &crate::harness::client::Api, payment: &Value| of.payment(payment)["status"] == "COMPLETED";
    let deadline = Instant::now() + Duration::from_secs(20);
    while !(paid(&tenant.live, &waiting) || paid(&other.live, &beside)) {
        assert!(Instant::now() < deadline, "nobody has heard of the notice");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs(2));
    assert_ne!(paid(&tenant.live, &waiting), paid(&other.live, &beside), "one of two tenants");
    let (winner, payment) =
        if paid(&tenant.live, &waiting) { (&tenant, &waiting) } else { (&other, &beside) };
    winner.live.assert_books("1970.00", "1970.00", "0.00");
    let events = winner.live.get("/v1/events").expect(200);
    let completed = events["items"].as_array().expect("events").iter().filter(|event| {
        event["event"] == "payment.completed" && event["data"]["paymentId"] == payment["paymentId"]
    });
    assert_eq!(completed.count(), 1, "{events}");
    assert!(began.elapsed() < Duration::from_secs(60), "by the notice, not by the end of the wait");
}

#[test]
fn a_mistyped_phone_takes_no_transfer_from_who_made_it() {
    let server = server(&[("PASARELA__RAILS__R4__NOTICE_WAIT_SECONDS", "2")]);
    let tenant = live(&server);
    let body = verification("767676");
    let mistyped = verify(&tenant.live, &merged(body.clone(), json!({ "phone": "04149999999" }))).expect(202);
    notify(&server, &notice("00767676"));
    // The same transfer is claimed once; that of another payer is nobody's yet.
    let again_mistyped = again(&body, json!({ "phone": "04149999999" }));
    verify(&tenant.live, &again_mistyped).refused(409, "reference_already_used");
    verify(&tenant.live, &again(&body, json!({}))).refused(409, "charge_in_progress");
    assert_texts(&settled(&tenant.live, &mistyped), &NOT_FOUND);
    assert_eq!(verify(&tenant.live, &again(&body, json!({}))).expect(201)["status"], "COMPLETED");
}

#[test]
fn a_mistyped_verification_that_waits_under_the_name_takes_no_transfer_from_who_made_it() {
    let server = server(&[("PASARELA__RAILS__R4__NOTICE_WAIT_SECONDS", "6")]);
    let mistakes = [json!({ "phone": "04149999999" }), json!({ "usdAmount": 11 })];
    for (at, mistake) in mistakes.into_iter().enumerate() {
        let tenant = live(&server);
        // By some of the digits, then by all of them with a mistake, then the notice.
        let (full, few) = (format!("4455660{at}"), format!("55660{at}"));
        let right = verify(&tenant.live, &verification(&few)).expect(202);
        let mistyped = verify(&tenant.live, &merged(verification(&full), mistake.clone())).expect(202);
        notify(&server, &notice(&full));
        assert_texts(&settled(&tenant.live, &right), &[("status", "COMPLETED"), ("bankReference", &full)]);
        assert_eq!(tenant.live.payment(&mistyped)["status"], "PENDING");
        verify(&tenant.live, &verification(&full)).refused(409, "reference_already_used");
        // And with the notice there before.
        let (full, few) = (format!("7788990{at}"), format!("88990{at}"));
        notify(&server, &notice(&full));
        let late = verify(&tenant.live, &merged(verification(&full), mistake)).expect(202);
        let at_once = verify(&tenant.live, &verification(&few)).expect(201);
        assert_texts(&at_once, &[("status", "COMPLETED"), ("bankReference", &full)]);
        for failed in [&mistyped, &late] {
            assert_texts(&settled(&tenant.live, failed), &NOT_FOUND);
        }
        // The name that the mistyped one gives up is not free: its transfer has paid.
        verify(&tenant.live, &verification(&full)).refused(409, "reference_already_used");
        verify(&tenant.live, &verification(&few)).refused(409, "reference_already_used");
        tenant.live.assert_books("3940.00", "3940.00", "0.00");
        assert_eq!(notices(&server, "?unmatched=true"), Vec::<Value>::new());
    }
}

#[test]
fn a_notice_that_comes_too_late_is_unmatched() {
    let server = server(&[("PASARELA__RAILS__R4__NOTICE_WAIT_SECONDS", "2")]);
    let tenant = live(&server);
    let began = Instant::now();
    let waiting = verify(&tenant.live, &verification("778899")).expect(202);
    let failed = settled(&tenant.live, &waiting);
    assert_texts(&failed, &NOT_FOUND);
    let took = began.elapsed();
    assert!((Duration::from_secs(2)..Duration::from_secs(15)).contains(&took), "{took:?}");
    notify(&server, &notice("778899"));
    assert_eq!(notices(&server, "?unmatched=true").len(), 1);
    assert_eq!(settled(&tenant.live, &waiting), failed, "what failed stays failed");
    let paid = verify(&tenant.live, &merged(verification("778899"), json!({ "externalRef": fresh("pm") })));
    assert_eq!(paid.expect(201)["status"], "COMPLETED");
    assert_eq!(r4(&server).post("/rails/r4/R4notifica", &notice("778899")).expect(200)["abono"], true);
}

#[test]
fn while_the_bank_cannot_be_called_its_notices_count() {
    let server = server(&[]);
    let tenant = live(&server);
    // Nobody listens at the bank's address: each charge fails, and then none is tried.
    let charge = || {
        let payer = json!({
            "banco": "0134", "telefono": "04141234567", "cedula": "V12345678", "monto": 20, "otp": "12345678",
            "nombre": "Ana Perez", "concepto": "cobro", "externalRef": fresh("deb"),
        });
        tenant.live.post("/v1/payments/debit", &payer)
    };
    for _ in 0..7 {
        charge().refused(503, "rail_unavailable");
    }
    notify(&server, &notice("0088990011"));
    assert_eq!(verify(&tenant.live, &verification("990011")).expect(201)["status"], "COMPLETED");
    assert_texts(&verify(&tenant.live, &verification("990012")).expect(201), &NOT_FOUND);
}

/// A wrong reference, of which no two are alike.
fn wrong(n: usize) -> String {
    format!("{}", 1_000 + n)
}

fn guesses_counted(server: &Server) -> Option<u64> {
    let metrics = server.admin().get("/metrics");
    let line = metrics.text().lines().find(|line| line.starts_with("pasarela_transfer_guesses "))?;
    line.split(' ').nth(1)?.parse().ok()
}

#[test]
fn a_reference_is_guessed_at_five_times_in_part_and_twenty_times_in_all() {
    let mut server = server(&[]);
    let (mine, theirs) = (live(&server), live(&server));
    for reference in ["88887001", "88887002", "88887003"] {
        notify(&server, &notice(reference));
    }
    let try_it = |tenant: &Tenant, typed: &str| verify(&tenant.live, &verification(typed)).expect(201);
    // Whoever guesses, and with whatever key.
    for n in 0..4 {
        assert_texts(&try_it(&theirs, &wrong(n)), &NOT_FOUND);
    }
    // The same one again is no other guess.
    for _ in 0..3 {
        assert_texts(&try_it(&mine, &wrong(0)), &NOT_FOUND);
    }
    assert_eq!(try_it(&mine, "7001")["status"], "COMPLETED", "four were wrong");
    assert_texts(&try_it(&theirs, &wrong(4)), &NOT_FOUND);
    assert_texts(&try_it(&mine, "7002"), &NOT_FOUND);
    server.kill();
    server.restart();
    assert_texts(&try_it(&mine, "8887002"), &NOT_FOUND);
    assert_eq!(try_it(&mine, "088887002")["status"], "COMPLETED", "the whole reference");
    // Another phone, bank and day have guesses of their own.
    let other = merged(notice("88889001"), json!({ "TelefonoEmisor": "04141234568" }));
    notify(&server, &other);
    let by_other = merged(verification("9001"), json!({ "phone": "04141234568" }));
    assert_eq!(verify(&mine.live, &by_other).expect(201)["status"], "COMPLETED");
    for n in 5..19 {
        assert_texts(&try_it(&theirs, &wrong(n)), &NOT_FOUND);
    }
    assert_texts(&try_it(&mine, "88887003"), &NOT_FOUND);
    assert!(guesses_counted(&server).is_some_and(|count| count >= 14), "{:?}", guesses_counted(&server));
    // An operator says whose it is, and nobody else gets it.
    let unmatched = notices(&server, "?unmatched=true");
    assert_eq!(unmatched.len(), 1, "{unmatched:?}");
    let give = format!("/admin/notices/{}/give", unmatched[0]["noticeId"].as_str().expect("an id"));
    let gift = json!({ "tenantId": mine.id, "note": "comprobante visto" });
    let given = server.admin().post(&give, &gift).expect(200);
    assert_eq!((&given["givenTo"], &given["paymentId"]), (&json!(mine.id), &Value::Null));
    assert_texts(&try_it(&theirs, "88887003"), &NOT_FOUND);
    assert_texts(&try_it(&mine, "7003"), &NOT_FOUND);
    assert_eq!(try_it(&mine, "88887003")["status"], "COMPLETED");
    server.admin().post(&give, &gift).refused(409, "notice_claimed");
    server.admin().post(&give, &json!({ "tenantId": mine.id, "x": 1 })).names(&["note", "x"]);
    let audit = server.admin().get("/admin/audit?action=notice.give").expect(200);
    assert_eq!(audit["items"].as_array().map(Vec::len), Some(1), "{audit}");
    mine.live.books();
    theirs.live.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn many_who_guess_at_once_are_as_many_as_one_after_the_other() {
    let server = server(&[]);
    let tenants = [live(&server), live(&server)];
    notify(&server, &notice("88880031"));
    // One of these is right, and is looked for when forty others are.
    let answers = race(40, |n| {
        let typed = format!("{:04}", if n == 39 { 31 } else { 4_000 + n });
        if n == 39 {
            std::thread::sleep(Duration::from_millis(300));
        }
        verify(&tenants[n % 2].live, &verification(&typed)).expect(201)
    });
    assert!(answers.iter().all(|answer| answer["status"] == "FAILED"), "{answers:?}");
}

#[test]
fn those_who_wait_for_a_notice_are_guesses_too() {
    let server = server(&[("PASARELA__RAILS__R4__NOTICE_WAIT_SECONDS", "6")]);
    let (thief, buyer) = (live(&server), live(&server));
    let tries: Vec<Value> =
        (0..8).map(|n| verify(&thief.live, &verification(&format!("700{n}"))).expect(202)).collect();
    notify(&server, &notice("88887003"));
    let paid = verify(&buyer.live, &verification("88887003")).expect(201);
    assert_eq!(paid["status"], "COMPLETED");
    for waiting in &tries {
        assert_texts(&settled(&thief.live, waiting), &NOT_FOUND);
    }
}

#[test]
fn the_payers_document_is_compared_where_a_notice_has_it() {
    let server = server(&[]);
    let tenant = live(&server);
    for (reference, member, document, is_payer) in [
        ("88886001", "IdCliente", json!("12345678"), true),
        ("88886002", "IdCliente", json!("V12345678"), true),
        ("88886003", "Cedula", json!("V87654321"), false),
        ("88886004", "IdCliente", json!(87654321), false),
        ("88886005", "IdCliente", json!("E12345678"), false),
    ] {
        notify(&server, &merged(notice(reference), json!({ member: document })));
        let found = verify(&tenant.live, &verification(reference)).expect(201);
        assert_eq!(found["status"] == "COMPLETED", is_payer, "{member} {document}: {found}");
    }
}
