//! A key that ends, or that may do less, while its call waits for another one that has its reference: no bank is asked
//! for a code any more, and no intent makes way for a charge.

use super::bank::{Act, Bank};
use super::{debit, live, server, until, with};
use crate::harness::check::text;
use crate::harness::client::{Answer, Api};
use crate::harness::flows::fresh;
use serde_json::{Value, json};
use std::thread::{scope, sleep};
use std::time::Duration;

#[test]
fn a_key_that_ends_while_its_call_waits_asks_no_bank_and_cancels_nothing() {
    type Call<'a> = &'a (dyn Fn(&Api, &str) -> Answer + Sync);
    let charge: Call<'_> =
        &|api, name| api.post("/v1/payments/debit", &with(debit(5.0), json!({ "externalRef": name })));
    let request: Call<'_> = &|api, name| api.request_c2p(10, venezuela(name));
    for (what, call, status, code) in [
        ("revoked", charge, 401, "unauthorized"),
        ("revoked", request, 401, "unauthorized"),
        ("narrowed", charge, 403, "scope_missing"),
        ("suspended", charge, 403, "live_mode_not_activated"),
        ("suspended", request, 403, "live_mode_not_activated"),
    ] {
        let bank = Bank::start();
        bank.next("GenerarOtp", Act::Held(r#"{"code":"202"}"#.to_owned()));
        let settings = [
            ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "20"),
            ("PASARELA__RAILS__POLL_SECONDS", "60"),
            ("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "600"),
        ];
        let server = server(&bank, &settings);
        let tenant = live(&server, "0.00");
        let (owner, name) = (&tenant.live, fresh("order"));
        let made = owner.post("/v1/keys", &json!({})).expect(201);
        let (other, path) = (server.api(text(&made, "key")), format!("/v1/keys/{}", text(&made, "keyId")));
        let set_live = |status: &str| {
            let path = format!("/admin/tenants/{}/live-status", tenant.id);
            server.admin().post(&path, &json!({ "status": status })).expect(200);
        };
        let (first, second) = scope(|scope| {
            let first = scope.spawn(|| owner.request_c2p(10, venezuela(&name)));
            until("the bank is asked", || (bank.of("GenerarOtp").len() == 1).then_some(()));
            let second = scope.spawn(|| call(&other, &name));
            sleep(Duration::from_millis(500));
            match what {
                "revoked" => drop(owner.delete(&path).expect(200)),
                "narrowed" => drop(owner.patch(&path, &json!({ "scopes": ["read"] })).expect(200)),
                _ => set_live("suspended"),
            }
            bank.let_go();
            (first.join().expect("no panic"), second.join().expect("no panic"))
        });
        second.refused(status, code);
        set_live("active");
        let found = owner.get(&format!("/v1/payments/by-ref/{name}"));
        if what == "suspended" {
            // Of its account: the first may not go on either.
            first.refused(status, code);
            found.refused(404, "not_found");
        } else {
            assert_eq!(first.expect(201)["otpRequested"], true, "{what}");
            assert_eq!(found.expect(200)["status"], "PENDING", "{what}");
        }
        assert_eq!(bank.calls().len(), 1, "{what}: {:?}", bank.calls());
    }
}

fn venezuela(name: &str) -> Value {
    json!({ "debtorBankCode": 102, "externalRef": name })
}
