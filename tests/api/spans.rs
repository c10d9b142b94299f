//! Traces for a collector (`config.toml`, `[telemetry]`): a span per request, in the caller's
//! trace, without anything secret.

use crate::harness::receiver::Receiver;
use crate::harness::server::Server;
use serde_json::json;
use std::time::{Duration, Instant};

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Waits until all of these texts are in what the collector was sent, and returns that.
#[track_caller]
fn sent(collector: &Receiver, texts: &[&[u8]]) -> Vec<u8> {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let all: Vec<u8> = collector.arrived().into_iter().flat_map(|arrived| arrived.body).collect();
        match texts.iter().find(|text| !contains(&all, text)) {
            None => return all,
            Some(missing) => {
                assert!(Instant::now() < deadline, "not told: {}", String::from_utf8_lossy(missing))
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_request_is_a_span_in_the_trace_of_its_caller() {
    let collector = Receiver::good();
    let endpoint = collector.url().replace("/hook", "");
    let server = Server::start_with(&[("PASARELA__TELEMETRY__OTLP_ENDPOINT", &endpoint)]);
    let tenant = server.tenant();
    let api = tenant
        .test
        .with("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        .with("x-request-id", "traced-request");
    let funded = api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00" }));
    assert_eq!(funded.status, 201);
    let secret = "a-reference-in-a-path";
    api.get(&format!("/v1/payments/by-ref/{secret}")).refused(404, "not_found");
    // The caller of this one decided that it is not recorded.
    let quiet = tenant.test.with("traceparent", "00-5bf92f3577b34da6a3ce929d0e0e4737-00f067aa0ba902b7-00");
    quiet.get("/v1/merchants").expect(200);
    // The caller sends no trace, so the call begins one.
    tenant.test.get("/v1/balance").expect(200);

    let trace =
        [0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36];
    let parent = [0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7];
    let texts: [&[u8]; 10] = [
        &trace,
        &parent,
        b"POST /v1/test/fund",
        b"/v1/payments/by-ref/:externalRef",
        b"GET /v1/balance",
        b"traced-request",
        b"pasarela.wal_seq",
        b"pasarela.wal_us",
        tenant.id.as_bytes(),
        b"http.response.status_code",
    ];
    let all = sent(&collector, &texts);
    assert!(collector.arrived().iter().all(|arrived| arrived.target == "POST /v1/traces"
        && arrived.header("content-type") == "application/x-protobuf"));
    assert!(
        !contains(&all, secret.as_bytes()) && !contains(&all, b"pk_test_"),
        "a reference or a key was told"
    );
    assert!(!contains(&all, b"/v1/merchants"), "what its caller does not record was told");
}

#[test]
fn a_collector_that_is_gone_changes_nothing() {
    let server = Server::start_with(&[("PASARELA__TELEMETRY__OTLP_ENDPOINT", "http://127.0.0.1:9")]);
    let api = server.tenant().test;
    for _ in 0..50 {
        api.get("/v1/balance").expect(200);
    }
}
