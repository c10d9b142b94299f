//! The bounds of volume: somebody with a test key makes as many of everything as they can, and
//! moves their clock as far as it goes. Each thing has a cap or a price in disk alone, and others
//! see nothing of it.

use crate::connections::{GROWTH_MIB_MAX, assert_grew_little, others_are_served};
use crate::estate::{Estate, of_nothing};
use crate::harness::check::{instant, text};
use crate::harness::client::Answer;
use crate::harness::flows::{fresh, merchant_body, merged};
use crate::harness::server::Server;
use domain::values::time::DAY_MS;
use serde_json::json;

/// The number of things of each kind that the ordinary run makes.
const MANY: usize = 1_500;
/// The most that a test clock moves at once.
const YEAR_SECONDS: i64 = 365 * DAY_MS / 1000;

#[test]
fn what_lives_in_memory_has_a_cap() {
    let server = Server::start();
    let api = server.tenant().test;
    let hook = json!({ "url": "https://shop.example.com/hook", "events": ["payment.completed"] });
    let made = (0..200).filter(|_| api.post("/v1/webhooks", &hook).status == 201).count();
    assert_eq!(made, 20, "endpoints of one tenant");
    let product = api.post("/v1/products", &json!({ "name": "Camisa", "priceUsd": "1.00" })).expect(201);
    let links = format!("/v1/products/{}/links", text(&product, "id"));
    let made = (0..150).filter(|_| api.post(&links, &json!({})).status == 201).count();
    assert_eq!(made, 100, "links of one product");
    let merchant = api.merchant();
    let methods = format!("/v1/merchants/{}/payout-methods", text(&merchant, "merchantId"));
    let method = |n: usize| json!({ "bankCode": "0134", "phone": format!("0414{n:07}") });
    let made = (0..150).filter(|n| api.post(&methods, &method(*n)).status == 201).count();
    assert!(made < 100, "{made} payout methods of one merchant");
}

#[test]
fn many_of_everything_cost_others_nothing() {
    let server = Server::start();
    let (tenant, other) = (server.tenant(), server.tenant());
    others_are_served(&other);
    let api = &tenant.test;
    let before = server.memory_kib();
    let (session, product) =
        (json!({ "amountUsd": 1 }), || json!({ "name": fresh("p"), "priceUsd": "1.00" }));
    let fund = json!({ "currency": "VES", "amount": "0.01" });
    let kinds: [&(dyn Fn() -> Answer + Sync); 4] = [
        &|| api.post("/v1/merchants", &merchant_body()),
        &|| api.post("/v1/products", &product()),
        &|| api.post("/v1/checkout/sessions", &session),
        &|| api.keyed(&fresh("key")).post("/v1/test/fund", &fund),
    ];
    std::thread::scope(|scope| {
        for makes in kinds {
            scope.spawn(move || (0..MANY).for_each(|_| drop(makes().expect(201))));
        }
        for _ in 0..20 {
            others_are_served(&other);
        }
    });
    assert_grew_little(&server, before, GROWTH_MIB_MAX);
    let page = api.query("/v1/merchants", &[("limit", "100")]).expect(200);
    assert!(page["nextCursor"].is_string());
    others_are_served(&other);
    api.books();
}

#[test]
fn a_clock_goes_to_its_end_and_no_further() {
    let mut server = Server::start();
    let (tenant, other) = (server.tenant(), server.tenant());
    let api = &tenant.test;
    let merchant = api.merchant();
    api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "50.00", "held": true })).expect(201);
    api.fund("50.00");
    // The payout is at the bank, and not decided, whatever the clock says.
    api.payout(&merchant, "1.05", json!({})).expect(202);
    api.pay_with(1, "55555555");
    for bad in ["0", "-1", "1.5", "1e3", "31536001", "9223372036854775807", "1e400", "\"1\"", "null", "\"١\""]
    {
        let body = format!("{{\"advanceSeconds\":{bad}}}");
        let answer = api.post_raw("/v1/test/clock", body);
        assert!(answer.status == 400 || bad == "1e3", "{bad}: {} {}", answer.status, answer.text());
    }
    let begun = api.clock();
    for year in 1..=60 {
        let moved = api.advance(YEAR_SECONDS);
        let now = instant(&moved["now"]);
        assert!((now - begun).num_days() >= year * 365, "{moved}");
        if year % 20 == 0 {
            server.kill();
            server.restart();
        }
        others_are_served(&other);
    }
    api.books();
    api.pay(1);
    api.books();
}

#[test]
fn what_does_not_exist_is_not_there_however_it_is_asked_for() {
    let server = Server::start();
    let estate = Estate::furnished(&server);
    let api = &estate.tenant.test;
    let own = text(&estate.payment, "paymentId").to_owned();
    let neighbour = own.parse::<uuid::Uuid>().expect("a UUID").as_u128();
    let guesses = (1..=64).flat_map(|n| [neighbour + n, neighbour - n, neighbour ^ (1 << (n + 30))]);
    for guess in guesses.map(uuid::Uuid::from_u128) {
        let answer = api.get(&format!("/v1/payments/{guess}"));
        // The tenant's own intent was made right after it, and the tenant may see that one.
        let known = answer.status == 200 && answer.json()["externalRef"] == estate.intent["externalRef"];
        assert!(answer.status == 404 || known, "{guess}: {} {}", answer.status, answer.text());
    }
    for odd in
        ["%00", "..%2f..%2fadmin%2fstatus", "%2e%2e", "%ff%fe", "'%20or%201=1", "*", "%25", "null", "0"]
    {
        let answer = api.get(&format!("/v1/payments/{odd}"));
        assert!(matches!(answer.status, 400 | 404), "{odd}: {} {}", answer.status, answer.text());
        let answer = server.nobody().get(&format!("/pay/{odd}"));
        assert!(matches!(answer.status, 400 | 404 | 429), "{odd}: {}", answer.status);
    }
    let upper = api.get(&format!("/v1/payments/{}", own.to_uppercase()));
    assert!(matches!(upper.status, 200 | 404), "{}", upper.text());
    assert_eq!(of_nothing("/v1/x/:id/y"), format!("/v1/x/{}/y", crate::harness::flows::UNKNOWN));
    let names = merged(json!({}), json!({ "externalRef": "x".repeat(10_000) }));
    api.post("/v1/payments/c2p/request", &names).refused(400, "invalid_data");
}
