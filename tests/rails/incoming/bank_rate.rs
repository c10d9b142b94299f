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

/// What the BCV's rate is from besides R4, and what live mode is priced by then.
#[test]
fn live_mode_is_priced_by_the_bank_where_nothing_else_is_said() {
    let feed = |kind: &str| {
        format!(
            r#"[{{ pair = "USD/VES", source = "bcv", side = "OFFICIAL", kind = "{kind}", price = "200" }}]"#
        )
    };
    let manual = r#"[{ pair = "USD/VES", source = "bcv", side = "OFFICIAL", kind = "manual" }]"#.to_owned();
    for (feeds, in_live) in [
        ("[]".to_owned(), Some("231.0912")),
        (feed("fixed"), Some("231.0912")),
        (feed("simulated"), Some("231.0912")),
        (manual, None),
    ] {
        let said = json(&format!(r#"{{"code":"00","fechavalor":"{}","tipocambio":231.0912}}"#, day(0)));
        let (_runtime, bank) = bank(vec![said]);
        let server =
            server(&[("PASARELA__RAILS__R4__BASE_URL", &bank.base()), ("PASARELA__RATES__FEEDS", &feeds)]);
        let tenant = server.tenant();
        let path = format!("/admin/tenants/{}/live-status", tenant.id);
        let deadline = Instant::now() + Duration::from_secs(20);
        let is_heard =
            || server.admin().get("/admin/rates").expect(200)["items"].to_string().contains("231.0912");
        while !is_heard() {
            assert!(Instant::now() < deadline, "the bank was not heard: {:?}", bank.requests());
            std::thread::sleep(Duration::from_millis(50));
        }
        let activated = server.admin().post(&path, &value!({ "status": "active" })).expect(200);
        let warned = activated["warnings"].to_string().contains("USD/VES OFFICIAL");
        assert_eq!(warned, in_live.is_none(), "{feeds}: {activated}");
        let live = tenant.live.get("/v1/quote?usdAmount=10");
        match in_live {
            Some(rate) => assert_eq!(live.expect(200)["bcvRate"].to_string(), rate, "{feeds}"),
            None => drop(live.refused(503, "rate_unavailable")),
        }
        if feeds.contains("200") {
            let test = tenant.test.get("/v1/quote?usdAmount=10").expect(200);
            assert_eq!(test["bcvRate"].to_string(), "200", "{feeds}");
        }
    }
}

#[test]
fn a_quote_does_not_wait_for_the_bank() {
    let (_runtime, bank) = bank(vec![Step::Silence]);
    let server = server(&[("PASARELA__RAILS__R4__BASE_URL", &bank.base())]);
    let began = Instant::now();
    assert_eq!(of_bank(&server), value!({ "error": "BANK_UNAVAILABLE" }));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}
