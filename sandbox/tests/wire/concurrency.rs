//! Callers at the same time, and calls one after the other on one connection.

use crate::program::{Sandbox, reply};
use crate::r4_client::{annulment, c2p, call, signed_request};
use crate::wompi_client::{keyed_request, nequi, transaction};
use serde_json::{Value, json};
use std::io::{Read, Write};

/// The answers to the same request, sent by so many at once.
fn at_once(sandbox: &Sandbox, request: &[u8], callers: usize) -> Vec<(u16, Value)> {
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..callers).map(|_| scope.spawn(|| reply(sandbox.exchange(request)))).collect();
        let answer = |call: std::thread::ScopedJoinHandle<'_, crate::program::Reply>| {
            let reply = call.join().expect("an answer");
            (reply.status, reply.body)
        };
        calls.into_iter().map(answer).collect()
    })
}

#[test]
fn a_charge_is_annulled_by_one_of_many() {
    let data = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start("r4", data.path(), &[]);
    call(&sandbox, "MBc2p", &c2p("10.00", "12345678"));
    let answers = at_once(&sandbox, &signed_request("MBanulacionC2P", &annulment("00000001")), 8);
    assert_eq!(answers.iter().filter(|(_, body)| body["code"] == "00").count(), 1, "{answers:?}");
    assert_eq!(sandbox.books()["totals"]["annulled"], "10.00");
    assert_eq!(sandbox.books()["orders"].as_array().map(Vec::len), Some(9), "the others were refused");
}

#[test]
fn a_reference_is_taken_by_one_of_many() {
    let data = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start("wompi", data.path(), &["--settle-ms", "0"]);
    let body = transaction(&sandbox, "ref-1", 100_000, nequi("3991111111")).to_string();
    let request = keyed_request("POST", "/v1/transactions", crate::wompi_client::PRIVATE, &body);
    let statuses: Vec<u16> = at_once(&sandbox, &request, 8).into_iter().map(|(status, _)| status).collect();
    let count = |status: u16| statuses.iter().filter(|seen| **seen == status).count();
    assert_eq!((count(201), count(422)), (1, 7));
    assert_eq!(sandbox.books()["totals"]["approved_in_cents"], 100_000);
}

#[test]
fn a_connection_takes_call_after_call_until_a_fault_ends_it() {
    let data = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start("r4", data.path(), &[]);
    sandbox.faults(json!([{"fault": "drop_after", "operation": "MBc2p", "skip": 2}]));
    let request = String::from_utf8(signed_request("MBc2p", &c2p("10.00", "12345678"))).expect("text");
    let kept_open = request.replace("connection: close\r\n", "").into_bytes();
    let mut stream = sandbox.send(&kept_open);
    for _ in 0..2 {
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("an answer");
            answer.extend(byte);
        }
        assert_eq!(reply(answer).body["code"], "00");
        stream.write_all(&kept_open).expect("the connection is open");
    }
    assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0, "the third call met the fault");
    assert_eq!(sandbox.books()["totals"]["charged"], "30.00");
}
