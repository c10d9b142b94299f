//! Daviplata's codes: the token that rotates, the limits of sending and trying, across restarts.

use crate::program::{Reply, Sandbox};
use crate::wompi_client::*;
use serde_json::{Value, json};

struct Payment {
    data: tempfile::TempDir,
    sandbox: Sandbox,
    id: String,
    services: Value,
}

fn start(options: &[&str]) -> Payment {
    let data = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start("wompi", data.path(), &[&["--settle-ms", "0"], options].concat());
    let id = created(&sandbox, "ref-1", daviplata());
    let services = read(&sandbox, &id)["payment_method"]["extra"]["url_services"].clone();
    Payment { data, sandbox, id, services }
}

impl Payment {
    fn step(&self, service: &str, token: &str, body: Value) -> Reply {
        let url = self.services[service].as_str().expect("an address");
        let path = url.split_once("/v1/").expect("a path").1;
        with_key(&self.sandbox, "POST", &format!("/v1/{path}"), token, &body.to_string())
    }

    fn send(&self, token: &str) -> Reply {
        self.step("code_otp_send", token, json!({}))
    }

    fn validate(&self, token: &str, code: &str) -> Reply {
        self.step("code_otp_validate", token, json!({"code": code}))
    }

    fn first_token(&self) -> &str {
        self.services["token"].as_str().expect("a token")
    }

    fn status(&self) -> Value {
        read(&self.sandbox, &self.id)["status"].clone()
    }
}

fn rotated(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.body["authorization"]["access_token"].as_str().expect("a token").to_owned()
}

#[test]
fn the_token_rotates_and_only_the_new_one_validates() {
    let payment = start(&[]);
    let first = payment.first_token();
    assert_eq!(payment.validate(first, "123456").status, 422, "no code was sent");
    let second = rotated(&payment.send(first));
    assert_ne!(second, first);
    assert_eq!(payment.send(first).status, 401);
    assert_eq!(payment.validate(first, "123456").status, 401);
    assert_eq!(payment.validate(PRIVATE, "123456").status, 401);
    assert_eq!(payment.status(), "PENDING");
    let right = payment.validate(&second, "123456");
    assert_eq!((right.status, &right.body["steps"]["ConfirmIntention"]["estado"]), (200, &json!("Aprobado")));
    assert_eq!(payment.status(), "APPROVED");
    assert_eq!(payment.validate(&second, "123456").status, 422, "a code is taken once");
    assert_eq!(payment.sandbox.books()["totals"]["approved_in_cents"], 4_490_000);
}

#[test]
fn codes_mean_what_the_documents_say() {
    for (code, status) in
        [("574829", "APPROVED"), ("932015", "DECLINED"), ("186743", "DECLINED"), ("999999", "ERROR")]
    {
        let payment = start(&[]);
        let token = rotated(&payment.send(payment.first_token()));
        assert_eq!(payment.validate(&token, code).status, 200, "{code}");
        assert_eq!(payment.status(), status, "{code}");
    }
}

#[test]
fn two_wrong_codes_are_the_last() {
    let payment = start(&[]);
    let token = rotated(&payment.send(payment.first_token()));
    assert_eq!(payment.validate(&token, "12345").status, 422, "no code, no try");
    for _ in 0..2 {
        let wrong = payment.validate(&token, "000000");
        assert_eq!((wrong.status, &wrong.body["error"]["type"]), (422, &json!("INPUT_VALIDATION_ERROR")));
    }
    assert_eq!(payment.validate(&token, "123456").status, 422, "a third try, though it is right");
    assert_eq!(payment.sandbox.books()["transactions"][0]["codes_wrong"], 2);
    assert_eq!(payment.status(), "DECLINED");
    assert_eq!(payment.sandbox.books()["totals"]["approved_in_cents"], 0);
}

#[test]
fn a_code_expires() {
    let payment = start(&["--otp-seconds", "0"]);
    let token = rotated(&payment.send(payment.first_token()));
    assert_eq!(payment.validate(&token, "123456").status, 422);
    assert_eq!(payment.validate(&token, "000000").status, 422);
    assert_eq!(payment.sandbox.books()["transactions"][0]["codes_wrong"], 0);
    assert_eq!(payment.status(), "PENDING");
}

#[test]
fn limits_and_tokens_outlive_the_process() {
    let payment = start(&[]);
    let second = rotated(&payment.send(payment.first_token()));
    assert_eq!(payment.validate(&second, "000000").status, 422);
    let Payment { data, sandbox, id, services } = payment;
    sandbox.kill();
    let sandbox = Sandbox::start("wompi", data.path(), &["--settle-ms", "0"]);
    let payment = Payment { data, sandbox, id, services };
    assert_eq!(payment.send(payment.first_token()).status, 401);
    let third = rotated(&payment.send(&second));
    assert_eq!(payment.send(&third).status, 422, "a third code");
    assert_eq!(payment.validate(&third, "000000").status, 422);
    assert_eq!(payment.validate(&third, "123456").status, 422);
    let books = std::fs::read_to_string(payment.data.path().join("wompi.jsonl")).expect("books");
    assert!(!books.contains(&third) && !books.contains("123456\""), "{books}");
}

#[test]
fn services_are_there_after_a_while_and_the_token_may_stand_in_data() {
    let late = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start("wompi", late.path(), &["--settle-ms", "3600000"]);
    let id = created(&sandbox, "ref-1", daviplata());
    assert_eq!(read(&sandbox, &id)["payment_method"]["extra"], json!({}));
    let payment = start(&["--token-in", "data"]);
    let sent = payment.send(payment.first_token());
    assert!(sent.body["data"]["authorization"]["access_token"].is_string(), "{sent:?}");
    assert!(sent.body["authorization"].is_null());
}

#[test]
fn codes_and_tokens_are_masked_in_the_list_of_calls() {
    let payment = start(&[]);
    let token = rotated(&payment.send(payment.first_token()));
    payment.validate(&token, "123456");
    let calls = payment.sandbox.get("/sandbox/calls").to_string();
    assert!(
        calls.contains("\"validate\"") && !calls.contains(&token) && !calls.contains("\"123456\""),
        "{calls}"
    );
}
