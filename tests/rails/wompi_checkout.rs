//! The page of a checkout in live mode: the next step of each channel, and a payment of which nobody knows
//! yet what its buyer does.

use crate::fake_wompi::{CODE, FakeWompi, Fault, PICTURE};
use crate::harness::buyers::Page;
use crate::harness::check::text;
use crate::wompi_world::{World, next};
use serde_json::json;
use std::thread::sleep;
use std::time::{Duration, Instant};

impl World {
    /// The page of a new session, and what it shows of pesos now.
    fn page(&self) -> (Page, impl Fn() -> String) {
        let session = self.live.post("/v1/checkout/sessions", &json!({ "amountUsd": 20 })).expect(201);
        let (path, nobody) = (format!("/checkout/{}?method=cop", text(&session, "id")), self.server.nobody());
        (Page::of(&self.server, &session), move || nobody.get(&path).text().to_owned())
    }
}

#[test]
fn each_channel_shows_its_next_step() {
    let world = World::start();
    let (page, shown) = world.page();
    assert_eq!(next(&page.pesos("qr").expect(201)), "show_qr");
    assert!(shown().contains(&format!("data:image/png;base64,{PICTURE}")) && !shown().contains("@PSR"));
    let (page, shown) = world.page();
    page.pesos("push").expect(201);
    assert!(shown().contains("300***4567") && shown().contains("data-status=\"open\""));
    let (page, shown) = world.page();
    page.pesos("sms").expect(201);
    assert!(shown().contains("name=\"otp\""));
    page.code("111111").refused(400, "invalid_otp");
    assert_eq!(page.code(CODE).expect(200)["status"], "paid");
}

#[test]
fn an_unknown_state_is_waited_for_and_no_connection_leaves_the_session_open() {
    let world = World::start();
    let (page, shown) = world.page();
    world.wompi.next("create", Fault::DropAfter);
    page.pesos("push").expect(202);
    assert!(shown().contains("data-status=\"processing\"") && !shown().contains("300***4567"));
    world.wompi.settle("APPROVED");
    let deadline = Instant::now() + Duration::from_secs(20);
    while page.state()["status"] != "paid" {
        assert!(Instant::now() < deadline, "it stays {}", page.state());
        sleep(Duration::from_millis(50));
    }
    let nobody = FakeWompi::start().base();
    let world = World::with(&[("PASARELA__RAILS__WOMPI__BASE_URL", &nobody)]);
    let (page, shown) = world.page();
    for _ in 0..2 {
        page.pesos("push").refused(503, "rail_unavailable");
    }
    assert_eq!(page.state()["status"], "open");
    assert!(shown().contains("channel-push"));
}
