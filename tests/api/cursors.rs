//! Cursors: each continues its own list, and nobody but the server can make one.

use crate::harness::check::{list, text};
use crate::harness::client::Api;
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

const MOVEMENTS: &str = "/v1/balance/transactions";

/// The cursor after the first item.
#[track_caller]
fn cursor(api: &Api, path: &str) -> String {
    text(&api.query(path, &[("limit", "1")]).expect(200), "nextCursor").to_owned()
}

/// A checksum that anybody can compute: FNV-1a of 64 bits, folded.
fn fnv(bytes: &[u8]) -> [u8; 2] {
    let hash = bytes
        .iter()
        .chain(&(bytes.len() as u64).to_be_bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let folded = (hash >> 32) as u32 ^ hash as u32;
    [(folded >> 8) as u8 ^ (folded >> 24) as u8, folded as u8 ^ (folded >> 16) as u8]
}

/// Cursors with other positions than that of a genuine one, made by somebody who knows how cursors
/// looked before they were authenticated.
fn forged(genuine: &str) -> Vec<String> {
    let bytes = URL_SAFE_NO_PAD.decode(genuine).expect("base64");
    [
        vec![0xFF; 18],
        vec![0; 18],
        vec![0xFF; 3],
        Vec::new(),
        [[0x01; 8].as_slice(), &[0xFF; 8], &[0, 0]].concat(),
    ]
    .into_iter()
    .map(|position| {
        let framed = [&bytes[..5], &position].concat();
        URL_SAFE_NO_PAD.encode([framed.as_slice(), &fnv(&framed)].concat())
    })
    .collect()
}

#[test]
fn a_forged_cursor_is_a_bad_field() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    for _ in 0..3 {
        api.fund("1.00");
        api.merchant();
        server.tenant();
    }
    let admin = server.admin();
    for (api, path) in
        [(api, MOVEMENTS), (api, "/v1/merchants"), (api, "/v1/events"), (&admin, "/admin/tenants")]
    {
        let genuine = cursor(api, path);
        for bad in forged(&genuine) {
            api.query(path, &[("cursor", &bad)]).names(&["cursor"]);
        }
        for at in 0..genuine.len() {
            let mut changed = genuine.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            api.query(path, &[("cursor", &changed)]).names(&["cursor"]);
        }
        assert_eq!(list(&api.query(path, &[("cursor", &genuine)]).expect(200), "items").len().min(2), 2);
    }
    let log = server.log_tail();
    assert!(!log.contains("panicked") && !log.contains("cannot be read"), "{log}");
}

#[test]
fn a_cursor_is_of_one_list_of_one_tenant_in_one_mode() {
    let mut server = Server::start();
    let (tenant, other) = (server.tenant(), server.tenant());
    for tenant in [&tenant, &other] {
        for _ in 0..3 {
            tenant.test.fund("1.00");
            tenant.test.post("/v1/products", &json!({ "name": fresh("p"), "priceUsd": "10.00" })).expect(201);
        }
    }
    let api = &tenant.test;
    let of_movements = cursor(api, MOVEMENTS);
    other.test.query(MOVEMENTS, &[("cursor", &of_movements)]).names(&["cursor"]);
    api.query("/v1/products", &[("cursor", &of_movements)]).names(&["cursor"]);
    api.query(MOVEMENTS, &[("cursor", &of_movements), ("type", "payment")]).names(&["cursor"]);
    api.query(MOVEMENTS, &[("cursor", &cursor(api, "/v1/products"))]).names(&["cursor"]);
    server.admin().query("/admin/tenants", &[("cursor", &of_movements)]).names(&["cursor"]);
    // Live mode is open to nobody here before an operator says so.
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&path, &json!({ "status": "active", "reason": "approved" })).expect(200);
    tenant.live.query(MOVEMENTS, &[("cursor", &of_movements)]).names(&["cursor"]);
    // Cursors outlive the process.
    server.kill();
    server.restart();
    assert_eq!(list(&api.query(MOVEMENTS, &[("cursor", &of_movements)]).expect(200), "items").len(), 2);
}
