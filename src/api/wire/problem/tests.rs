//! Tests of problems and of the two forms in which they are sent.

use super::*;
use serde_json::json;

fn read(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("an error body is JSON")
}

#[test]
fn the_body_has_the_four_members_first() {
    let text = String::from_utf8(Problem::not_found().to_json("r-1")).expect("text");
    assert_eq!(
        text,
        r#"{"error":"not_found","message":"nothing is here under this key","requestId":"r-1","docs":"/docs/en/errors/not_found"}"#
    );
}

#[test]
fn extra_members_and_fields_follow() {
    let problem =
        Problem::refused(422, "insufficient_balance", "the balance is too low").with("availableVes", "1.00");
    assert_eq!(read(&problem.to_json("r"))["availableVes"], json!("1.00"));
    let problem =
        Problem::invalid_data(vec![BadField::new("a", "is required"), BadField::new("b\"", "must be \"x\"")]);
    let body = read(&problem.to_json("r"));
    assert_eq!(body["error"], "invalid_data");
    assert_eq!(
        body["fields"],
        json!([{"field": "a", "message": "is required"}, {"field": "b\"", "message": "must be \"x\""}])
    );
}

#[test]
fn every_constructor_has_its_status_and_code() {
    let table: Vec<(Problem, u16, &str)> = vec![
        (Problem::invalid_json("x"), 400, "invalid_json"),
        (Problem::invalid_field("f", "x"), 400, "invalid_data"),
        (Problem::unauthorized("x"), 401, "unauthorized"),
        (Problem::live_mode_not_activated(), 403, "live_mode_not_activated"),
        (Problem::test_mode_only(), 403, "test_mode_only"),
        (Problem::scope_missing("read"), 403, "scope_missing"),
        (Problem::not_found(), 404, "not_found"),
        (Problem::method_not_allowed("GET".into()), 405, "method_not_allowed"),
        (Problem::cross_site(), 403, "cross_site"),
        (Problem::misdirected(), 421, "misdirected"),
        (Problem::request_timeout(), 408, "request_timeout"),
        (Problem::idempotency_in_progress(), 409, "idempotency_in_progress"),
        (Problem::conflict("intent_completed", "x"), 409, "intent_completed"),
        (Problem::payload_too_large(1), 413, "payload_too_large"),
        (Problem::record_too_large(), 413, "record_too_large"),
        (Problem::unsupported_media_type(), 415, "unsupported_media_type"),
        (Problem::idempotency_key_reused(&"on a day"), 422, "idempotency_key_reused"),
        (Problem::rate_limited(10, 3), 429, "rate_limited"),
        (Problem::internal_error("x"), 500, "internal_error"),
        (Problem::overloaded(1), 503, "overloaded"),
        (Problem::rail_not_configured("C2P"), 503, "rail_not_configured"),
        (Problem::account_halted(), 503, "account_halted"),
        (Problem::tenant_moved(), 503, "tenant_moved"),
        (Problem::tenant_moving(), 503, "tenant_moving"),
        (Problem::shutting_down(), 503, "shutting_down"),
        (Problem::storage_unavailable(), 503, "storage_unavailable"),
        (Problem::no_leader(), 503, "no_leader"),
        (Problem::window_full(), 503, "storage_unavailable"),
        (Problem::disk_nearly_full(), 503, "storage_unavailable"),
        (Problem::upgrade_under_way(), 503, "storage_unavailable"),
    ];
    for (problem, status, code) in table {
        assert_eq!((problem.status, problem.code), (status, code));
        assert!(!problem.message.is_empty() && !problem.message.ends_with('.'));
    }
    assert_eq!(Problem::rate_limited(10, 0).retry_after, NonZeroU32::new(1));
}

#[test]
fn the_public_shape_has_a_text_or_a_list() {
    let body = read(&Problem::not_found().to_public_json("Not Found"));
    assert_eq!(
        body,
        json!({"statusCode": 404, "error": "Not Found", "message": "nothing is here under this key"})
    );
    let body = read(&Problem::invalid_field("days", "must be from 1 to 3650").to_public_json("Bad Request"));
    assert_eq!(body["message"], json!(["days must be from 1 to 3650"]));
}

#[test]
fn the_private_message_is_for_the_log_alone() {
    let problem = Problem::internal_error("a block of the log is gone");
    for sent in [problem.to_json("r"), problem.to_public_json("Internal Server Error")] {
        assert!(!String::from_utf8(sent).expect("text").contains("block"));
    }
    assert!(!problem.to_string().contains("block"));
    assert_eq!(problem.private_message().as_deref(), Some("a block of the log is gone"));
    assert_ne!(problem, Problem::internal_error("another"));
    assert_eq!(Problem::not_found().private_message(), None);
}

#[test]
fn a_problem_stays_small_enough_to_return() {
    assert!(size_of::<Problem>() < 128);
}
