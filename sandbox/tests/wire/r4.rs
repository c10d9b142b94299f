//! R4's calls: signatures, fields, done and refused and unknown of each, books that survive.

use crate::program::{Sandbox, command, through_shell};
use crate::r4_client::*;
use serde_json::{Value, json};
use std::io::Read;
use std::time::Duration;

fn start() -> (tempfile::TempDir, Sandbox) {
    let data = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start("r4", data.path(), &[]);
    (data, sandbox)
}

fn totals(charged: &str, annulled: &str, paid: &str) -> Value {
    json!({"charged": charged, "annulled": annulled, "paid": paid, "received": "0.00"})
}

/// Sends a call that the bank does not answer, and hangs up once the books have it.
fn unanswered(sandbox: &Sandbox, call: &str, fields: &Value) {
    let orders = |sandbox: &Sandbox| sandbox.books()["orders"].as_array().expect("orders").len();
    let before = orders(sandbox);
    let mut stream = sandbox.send(&signed_request(call, fields));
    sandbox.until(|sandbox| (orders(sandbox) > before).then_some(()));
    stream.set_read_timeout(Some(Duration::from_millis(100))).expect("a time limit");
    let silence = stream.read(&mut [0; 1]).expect_err("silence");
    assert!(
        matches!(silence.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut),
        "{silence}"
    );
}

#[test]
fn signatures_that_are_right_in_any_variant_are_taken() {
    let (_data, sandbox) = start();
    let fields = c2p("10.00", "12345678");
    let plain = message("MBc2p", &fields);
    let signatures =
        [hmac(TOKEN, &plain), hmac(TOKEN, &plain).to_uppercase(), hmac(TOKEN, &format!(" {plain}"))];
    for signature in signatures {
        let reply = call_with(&sandbox, "MBc2p", &fields, TOKEN, &signature);
        assert_eq!(reply.body["code"], "00", "{reply:?}");
    }
    assert_eq!(call(&sandbox, "R4c2p", &fields).body["code"], "00");
    assert_eq!(sandbox.books()["totals"], totals("40.00", "0.00", "0.00"));
}

#[test]
fn strangers_are_401_and_hear_what_is_wrong() {
    let (_data, sandbox) = start();
    let fields = c2p("10.00", "12345678");
    let right = hmac(TOKEN, &message("MBc2p", &fields));
    let all: String = fields.as_object().expect("fields").values().filter_map(Value::as_str).collect();
    let cases = [
        (TOKEN, hmac(TOKEN, "something else"), "08", "TelefonoDestino+Monto+Banco+Cedula"),
        (TOKEN, hmac("another token", &message("MBc2p", &fields)), "08", "commerce token"),
        (TOKEN, hmac(TOKEN, &all), "08", "signs every field"),
        ("another token", right.clone(), "08", "Commerce"),
    ];
    for (commerce, signature, code, text) in cases {
        let reply = call_with(&sandbox, "MBc2p", &fields, commerce, &signature);
        assert_eq!((reply.status, &reply.body["code"]), (401, &json!(code)), "{reply:?}");
        assert!(reply.body["message"].as_str().expect("a text").contains(text), "{reply:?}");
    }
    let json_only = ("content-type", "application/json");
    let without = sandbox.call("POST", "/MBc2p", &[json_only, ("commerce", TOKEN)], &fields.to_string());
    assert_eq!((without.status, &without.body["code"]), (401, &json!("08")));
    let without =
        sandbox.call("POST", "/MBc2p", &[json_only, ("authorization", &right)], &fields.to_string());
    assert_eq!((without.status, &without.body["code"]), (401, &json!("15")));
    // A space before the message is C2P's alone.
    let change = change("10.00");
    let spaced = hmac(TOKEN, &format!(" {}", message("MBvuelto", &change)));
    assert_eq!(call_with(&sandbox, "MBvuelto", &change, TOKEN, &spaced).status, 401);
    assert_eq!(sandbox.books()["orders"], json!([]));
    let printed = sandbox.kill();
    let calls = printed.lines().skip_while(|line| !line.starts_with("commerce_phone")).collect::<String>();
    assert!(!calls.contains(TOKEN) && !calls.contains(&right) && !calls.contains("12345678"), "{printed}");
    assert!(calls.contains("MBc2p 401 08: "), "{printed}");
}

#[test]
fn options_ask_for_one_variant() {
    let data = tempfile::tempdir().expect("a folder");
    let options = [
        "--path-family",
        "R4",
        "--signature-case",
        "upper",
        "--c2p-leading-space",
        "yes",
        "--id-key",
        "Id",
        "--refusal-status",
        "400",
    ];
    let sandbox = Sandbox::start("r4", data.path(), &options);
    let fields = c2p("10.00", "12345678");
    let (plain, spaced) = (message("MBc2p", &fields), format!(" {}", message("MBc2p", &fields)));
    let status = |call: &str, signature: String| call_with(&sandbox, call, &fields, TOKEN, &signature).status;
    assert_eq!(status("R4c2p", hmac(TOKEN, &spaced).to_uppercase()), 200);
    assert_eq!(status("R4c2p", hmac(TOKEN, &spaced)), 401);
    assert_eq!(status("R4c2p", hmac(TOKEN, &plain).to_uppercase()), 401);
    assert_eq!(status("MBc2p", hmac(TOKEN, &spaced).to_uppercase()), 404);
    let debit = debit("5.00", "77777777");
    let signature = hmac(TOKEN, &message("DebitoInmediato", &debit)).to_uppercase();
    let pending = call_with(&sandbox, "DebitoInmediato", &debit, TOKEN, &signature);
    assert_eq!((pending.status, &pending.body["code"]), (400, &json!("AC00")));
    assert!(pending.body["Id"].is_string() && pending.body["id"].is_null(), "{pending:?}");
}

#[test]
fn fields_are_checked_exactly_and_named() {
    let (_data, sandbox) = start();
    let cases = [
        ("MBc2p", "Monto", json!("10")),
        ("MBc2p", "Monto", json!("10.0")),
        ("MBc2p", "Monto", json!("123456789.00")),
        ("MBc2p", "Monto", json!(10.00)),
        ("MBc2p", "Cedula", json!("12345678")),
        ("MBc2p", "TelefonoDestino", json!("584141234567")),
        ("MBc2p", "Banco", json!("134")),
        ("MBc2p", "Otp", json!("123456789")),
        ("MBc2p", "Concepto", json!("café")),
        ("MBc2p", "Extra", json!("1")),
        ("DebitoInmediato", "Nombre", json!("A name that has more than twenty")),
        ("DebitoInmediato", "Concepto", Value::Null),
        ("CICuentas", "Cuenta", json!("0134000163")),
        ("ConsultarOperaciones", "Id", json!("17")),
        ("MBbcv", "Fechavalor", json!("23/11/2026")),
    ];
    for (name, field, value) in cases {
        let mut fields = match name {
            "MBc2p" => c2p("10.00", "12345678"),
            "DebitoInmediato" => debit("10.00", "12345678"),
            "CICuentas" => to_account("10.00"),
            "ConsultarOperaciones" => json!({"Id": ""}),
            _ => json!({"Moneda": "USD", "Fechavalor": ""}),
        };
        match value.is_null() {
            true => drop(fields.as_object_mut().expect("fields").shift_remove(field)),
            false => fields[field] = value,
        }
        let reply = call(&sandbox, name, &fields);
        assert_eq!((reply.status, &reply.body["code"]), (400, &json!("30")), "{name} {field}: {reply:?}");
        assert!(reply.body["message"].as_str().expect("a text").contains(field), "{name} {field}: {reply:?}");
    }
    assert_eq!(sandbox.call("GET", "/MBc2p", &[], "").status, 404);
    assert_eq!(sandbox.call("POST", "/MBpagos", &[], "{}").status, 404);
    assert_eq!(sandbox.books()["orders"], json!([]));
}

#[test]
fn c2p_is_done_refused_or_unknown_and_is_annulled_once() {
    let (_data, sandbox) = start();
    let done = call(&sandbox, "MBc2p", &c2p("120.50", "12345678"));
    assert_eq!((done.status, &done.body["code"]), (200, &json!("00")));
    let reference = done.body["reference"].as_str().expect("a reference").to_owned();
    assert_eq!(reference.len(), 8);
    assert_eq!(call(&sandbox, "MBc2p", &c2p("7.00", "99999999")).body["code"], "51");
    assert_eq!(call(&sandbox, "MBc2p", &c2p("7.00", "88888888")).body["code"], "15");
    unanswered(&sandbox, "MBc2p", &c2p("30.00", "77777777"));
    unanswered(&sandbox, "MBc2p", &c2p("40.00", "66666666"));
    assert_eq!(sandbox.books()["totals"], totals("150.50", "0.00", "0.00"));

    let mut elsewhere = annulment(&reference);
    elsewhere["Banco"] = json!("0102");
    assert_eq!(call(&sandbox, "MBanulacionC2P", &elsewhere).body["code"], "12");
    let annulled = call(&sandbox, "MBanulacionC2P", &annulment(&reference));
    assert_eq!(annulled.body["code"], "00");
    assert_ne!(annulled.body["reference"], json!(reference));
    assert_eq!(call(&sandbox, "R4anulacionC2P", &annulment(&reference)).body["code"], "12");
    let kept = call(&sandbox, "MBc2p", &c2p("9.00", "55555555")).body["reference"].clone();
    assert_eq!(call(&sandbox, "MBanulacionC2P", &annulment(kept.as_str().expect("text"))).body["code"], "41");
    assert_eq!(sandbox.books()["totals"], totals("159.50", "120.50", "0.00"));
}

#[test]
fn the_same_charge_sent_twice_is_charged_twice() {
    let (_data, sandbox) = start();
    let first = call(&sandbox, "MBc2p", &c2p("10.00", "12345678"));
    let second = call(&sandbox, "MBc2p", &c2p("10.00", "12345678"));
    assert_ne!(first.body["reference"], second.body["reference"]);
    assert_eq!(sandbox.books()["totals"]["charged"], "20.00");
}

#[test]
fn change_is_done_refused_unknown_or_lost() {
    let (_data, sandbox) = start();
    assert_eq!(call(&sandbox, "MBvuelto", &change("100.00")).body["code"], "00");
    assert_eq!(call(&sandbox, "R4vuelto", &change("1.04")).body["code"], "51");
    assert_eq!(call(&sandbox, "MBvuelto", &change("2.05")).body["code"], "87");
    assert_eq!(call(&sandbox, "MBvuelto", &change("3.06")).body["code"], "05");
    assert_eq!(call(&sandbox, "MBvuelto", &change("0.06")).body["code"], "00", "no magic below one bolívar");
    let mut stranger = change("5.00");
    stranger["TelefonoDestino"] = json!("04141230001");
    assert_eq!(call(&sandbox, "MBvuelto", &stranger).body["code"], "56");
    let mut nowhere = change("5.00");
    nowhere["Banco"] = json!("0999");
    assert_eq!(call(&sandbox, "MBvuelto", &nowhere).body["code"], "92");
    let orders = |sandbox: &Sandbox| sandbox.books()["orders"].as_array().expect("orders").len();
    let before = orders(&sandbox);
    let lost = sandbox.send(&signed_request("MBvuelto", &change("4.07")));
    let is_noted = |call: &Value| call["note"].as_str().is_some_and(|note| note.starts_with("lost"));
    sandbox.until(|sandbox| {
        sandbox.get("/sandbox/calls")["calls"].as_array()?.iter().any(is_noted).then_some(())
    });
    drop(lost);
    assert_eq!(orders(&sandbox), before, "what is lost is in no books");
    assert_eq!(sandbox.books()["totals"], totals("0.00", "0.00", "102.11"));
}

#[test]
fn debits_and_credits_are_asked_about_by_their_id() {
    let (_data, sandbox) = start();
    let done = call(&sandbox, "DebitoInmediato", &debit("10.00", "12345678"));
    assert_eq!(done.body["code"], "ACCP");
    assert_eq!(done.body["reference"].as_str().map(str::len), Some(8));
    let asked = call(&sandbox, "ConsultarOperaciones", &json!({"Id": done.body["id"]}));
    assert_eq!((&asked.body["code"], &asked.body["reference"]), (&json!("ACCP"), &done.body["reference"]));
    assert_eq!(asked.body["success"], true);
    assert_eq!(call(&sandbox, "DebitoInmediato", &debit("1.00", "99999999")).body["code"], "AM04");
    assert_eq!(call(&sandbox, "DebitoInmediato", &debit("1.00", "88888888")).body["code"], "TKCM");

    for (name, fields, code) in [
        ("DebitoInmediato", debit("20.00", "77777777"), "ACCP"),
        ("DebitoInmediato", debit("30.00", "66666666"), "AB01"),
        ("CreditoInmediato", credit("40.05"), "ACCP"),
        ("CreditoInmediato", credit("50.06"), "AC01"),
        ("CICuentas", to_account("60.05"), "ACCP"),
    ] {
        let pending = call(&sandbox, name, &fields);
        assert_eq!(pending.body["code"], "AC00", "{name} {fields}");
        assert!(pending.body["reference"].is_null());
        for _ in 0..2 {
            let asked = call(&sandbox, "ConsultarOperaciones", &json!({"Id": pending.body["id"]}));
            assert_eq!(asked.body["code"], code, "{name} {fields}");
            assert_eq!(asked.body["success"], json!(code == "ACCP"));
        }
    }
    assert_eq!(call(&sandbox, "CreditoInmediato", &credit("1.04")).body["code"], "AM04");
    assert_eq!(call(&sandbox, "CICuentas", &to_account("2.00")).body["code"], "ACCP");
    let mut mistyped = to_account("3.00");
    mistyped["Cuenta"] = json!("01340001640000000001");
    assert_eq!(call(&sandbox, "CICuentas", &mistyped).body["code"], "AC01");
    let unknown = json!({"Id": "3f2504e0-4f89-41d3-9a0c-0305e82c3301"});
    assert_eq!(call(&sandbox, "ConsultarOperaciones", &unknown).body["code"], "SMF001");
    assert_eq!(sandbox.books()["totals"], totals("30.00", "0.00", "102.10"));
}

#[test]
fn keys_are_sent_and_rates_are_of_working_days() {
    let (_data, sandbox) = start();
    let sent = call(&sandbox, "GenerarOtp", &otp_request());
    assert_eq!((&sent.body["code"], &sent.body["success"]), (&json!("202"), &json!(true)));
    let mut nowhere = otp_request();
    nowhere["Banco"] = json!("0999");
    assert_eq!(call(&sandbox, "GenerarOtp", &nowhere).body["code"], "92");

    let rate = |call_name: &str, day: &str, currency: &str| {
        call(&sandbox, call_name, &json!({"Moneda": currency, "Fechavalor": day}))
    };
    let monday = rate("MBbcv", "2025-01-06", "USD");
    assert_eq!((&monday.body["code"], &monday.body["fechavalor"]), (&json!("00"), &json!("2025-01-06")));
    assert!(String::from_utf8_lossy(&monday.bytes).contains("\"tipocambio\":200.12340000"));
    for (day, currency) in [("2025-01-05", "USD"), ("2999-01-01", "USD"), ("2025-01-06", "EUR")] {
        assert_ne!(rate("R4bcv", day, currency).body["code"], "00", "{day} {currency}");
    }
    assert_eq!(sandbox.books()["orders"], json!([]), "neither moves money");
}

#[test]
fn books_survive_a_kill_with_what_is_pending() {
    let (data, sandbox) = start();
    let charge = call(&sandbox, "MBc2p", &c2p("120.50", "12345678")).body["reference"].clone();
    let pending = call(&sandbox, "CreditoInmediato", &credit("40.05")).body["id"].clone();
    let before = sandbox.books();
    sandbox.kill();
    let sandbox = Sandbox::start("r4", data.path(), &[]);
    assert_eq!(sandbox.books(), before);
    assert_eq!(call(&sandbox, "ConsultarOperaciones", &json!({"Id": pending})).body["code"], "ACCP");
    let reference = charge.as_str().expect("text");
    assert_eq!(call(&sandbox, "MBanulacionC2P", &annulment(reference)).body["code"], "00");
    sandbox.kill();
    let sandbox = Sandbox::start("r4", data.path(), &[]);
    assert_eq!(sandbox.books()["totals"], totals("120.50", "120.50", "40.05"));
    assert_eq!(call(&sandbox, "MBanulacionC2P", &annulment(reference)).body["code"], "12");
    let second = command("r4", data.path(), &[]).output().expect("it ran");
    assert!(!second.status.success(), "two processes share books");
    assert!(String::from_utf8_lossy(&second.stderr).contains("another process"), "{second:?}");
}

/// A limit on the size of files stands for a full disk.
#[test]
fn what_cannot_be_written_is_not_answered() {
    let data = tempfile::tempdir().expect("a folder");
    let limited = "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\"";
    let sandbox = Sandbox::start_by(through_shell(limited, &command("r4", data.path(), &[])));
    let request = signed_request("MBc2p", &c2p("10.00", "12345678"));
    let answered = (0..).take_while(|_| !sandbox.exchange(&request).is_empty()).count();
    assert!((1..20).contains(&answered), "{answered} orders in a kilobyte");
    assert_eq!(sandbox.ended().code(), Some(70));
    let sandbox = Sandbox::start("r4", data.path(), &[]);
    assert_eq!(sandbox.books()["totals"]["charged"], format!("{answered}0.00"));
    assert_eq!(call(&sandbox, "MBc2p", &c2p("10.00", "12345678")).body["code"], "00");
}

#[test]
fn what_it_was_given_is_not_printed_and_other_addresses_need_leave() {
    let data = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start("r4", data.path(), &["--commerce-token", "a-token-of-mine-0123"]);
    let fields = c2p("10.00", "12345678");
    let signature = hmac("a-token-of-mine-0123", &message("MBc2p", &fields));
    let reply = call_with(&sandbox, "MBc2p", &fields, "a-token-of-mine-0123", &signature);
    assert_eq!(reply.body["code"], "00");
    let calls = sandbox.get("/sandbox/calls");
    assert_eq!(calls["calls"][0]["fields"]["Otp"], "***");
    assert_eq!(calls["calls"][0]["fields"]["Monto"], "10.00");
    assert!(!std::fs::read_to_string(data.path().join("r4.jsonl")).expect("books").contains("\"12345678\""));
    let printed = sandbox.kill();
    assert!(!printed.contains("a-token-of-mine-0123") && !printed.contains(&signature), "{printed}");
    let remote = std::process::Command::new(env!("CARGO_BIN_EXE_pasarela-sandbox"))
        .args(["r4", "--listen", "0.0.0.0:0", "--data"])
        .arg(data.path())
        .output()
        .expect("it ran");
    assert!(!remote.status.success());
    assert!(String::from_utf8_lossy(&remote.stderr).contains("--allow-remote"), "{remote:?}");
}
