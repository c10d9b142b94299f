//! Test data that begins anew while the process is killed: it is as before, or begun anew whole.

use crate::harness::check::{list, text};
use crate::harness::client::Api;
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

const RESET: &str = "/v1/test/reset";
/// The times that the server is killed around a reset.
const KILLS: u64 = 12;

/// What there is: the payments, the movements, the clock's lead in days, and the first listed event.
fn seen(api: &Api) -> (usize, usize, i64, Value) {
    let events = api.get("/v1/events").expect(200);
    (
        api.walk("/v1/payments", &[], 100).len(),
        api.movements().len(),
        (api.clock() - chrono::Utc::now() + chrono::TimeDelta::hours(1)).num_days(),
        list(&events, "items")[0]["event"].clone(),
    )
}

#[test]
fn it_is_whole_or_not_at_all_whatever_is_killed_when() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let endpoint = json!({ "url": "https://shop.example/hook", "events": ["payment.completed"] });
    api.post("/v1/webhooks", &endpoint).expect(201);
    let (mut whole, mut none, mut took) = (0, 0, Duration::ZERO);
    for kill in 0..KILLS {
        let began = Instant::now();
        api.act(RESET).expect(200);
        took = took.max(began.elapsed());
        let sale = api.pay_with(10, "77777777");
        api.pay(1);
        api.advance(20 * 86_400);
        if kill % 3 == 0 {
            server.admin().act("/admin/snapshot").expect(200);
        }
        let open = api.pay_with(10, "77777777");
        let before = seen(&api);
        let key = fresh("reset");
        let answered = scope(|scope| {
            let resetting = scope.spawn(|| api.keyed(&key).try_post(RESET, &json!({})));
            // Up to twice as long as it takes on this machine.
            sleep((took * 2 / KILLS as u32).max(Duration::from_micros(400)) * kill as u32);
            server.kill();
            resetting.join().expect("no panic").is_ok_and(|answer| answer.status == 200)
        });
        server.restart();
        let after = seen(&api);
        let begun = (0, 0, 0, json!("test.reset"));
        assert!(after == begun || !answered && after.0 == before.0, "{before:?} {after:?} {answered}");
        if after == begun {
            whole += 1;
            for payment in [&sale, &open] {
                let path = format!("/v1/payments/{}", text(payment, "paymentId"));
                api.get(&path).refused(404, "not_found");
            }
            api.advance(86_400);
            assert_eq!(seen(&api), (0, 0, 1, json!("test.reset")), "nothing of before came back");
        } else {
            none += 1;
            assert_eq!((after.2, &after.3), (before.2, &before.3));
        }
        // The same call again: it is done once, and then stays done.
        let again = api.keyed(&key).act(RESET).expect(200);
        assert_eq!(api.keyed(&key).act(RESET).expect(200), again);
        assert_eq!(list(&api.get("/v1/webhooks").expect(200), "items").len(), 1);
        assert_eq!(list(&api.get("/v1/events").expect(200), "items").len(), 1);
    }
    assert!(whole + none == KILLS as usize && whole > 0, "{whole} {none}");
    server.terminate();
    let verified = server.command(&["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
