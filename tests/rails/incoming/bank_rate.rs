//! The BCV rate as R4 says it (`docs/contract.md, 18.3`), beside the central bank's in quotes.

use super::{day, server};
use crate::scripted::{Scripted, Step, json};
use serde_json::{Value, json as value};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// A bank that follows a script, and the runtime that it lives in.
fn bank(steps: Vec<Step>) -> (Runtime, Scripted) {
    let runtime = Runtime::new().expect("a runtime");
    let bank = runtime.block_on(Scripted::start(steps));
    (runtime, bank)
}

fn of_bank(server: &crate::harness::server::Server) -> Value {
    let quote = server.tenant().test.query("/v1/quote", &[("usdAmount", "10")]);
    quote.expect(200)["sources"]["bank"].clone()
}

#[test]
fn the_newest_rate_is_that_of_the_last_day_that_has_one() {
    let unpublished = || json(r#"{"code":"01","message":"COTIZACION NO ENCONTRADA"}"#);
    let said = json(&format!(r#"{{"code":"00","fechavalor":"{}","tipocambio":231.0912}}"#, day(2)));
    let (_runtime, bank) = bank(vec![unpublished(), unpublished(), said]);
    let server = server(&[("PASARELA__RAILS__R4__BASE_URL", &bank.base())]);
    let deadline = Instant::now() + Duration::from_secs(20);
    let rate = loop {
        let rate = of_bank(&server);
        if rate["error"].is_null() {
            break rate;
        }
        assert_eq!(rate, value!({ "error": "BANK_UNAVAILABLE" }));
        assert!(Instant::now() < deadline, "{:?}", bank.requests());
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(
        (rate["bcvRate"].to_string().as_str(), &rate["fechavalor"]),
        ("231.0912", &value!(day(2).to_string()))
    );
    let asked = bank.requests();
    assert_eq!(asked.len(), 3);
    for (days_ago, request) in asked.iter().enumerate() {
        let of = day(days_ago as i64).to_string();
        assert!(request.starts_with("POST /MBbcv ") && request.contains(&of), "{request}");
    }
    // It is no public rate, and payments are priced by the central bank's alone.
    assert_eq!(server.nobody().get("/api/v1/fx/latest?pair=USD/VES&source=bank").status, 404);
}

#[test]
fn a_quote_does_not_wait_for_the_bank() {
    let (_runtime, bank) = bank(vec![Step::Silence]);
    let server = server(&[("PASARELA__RAILS__R4__BASE_URL", &bank.base())]);
    let began = Instant::now();
    assert_eq!(of_bank(&server), value!({ "error": "BANK_UNAVAILABLE" }));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}
