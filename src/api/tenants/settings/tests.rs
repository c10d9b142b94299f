//! Tests of how settings are shown, and of what a partial change makes of them.

use super::*;
use crate::problem::Problem;
use serde_json::{Value as Json, json};

fn shown(settings: &Settings) -> Json {
    serde_json::from_slice(&show(settings)).expect("JSON")
}

fn merged(base: &Settings, patch: &Json) -> Result<Settings, Problem> {
    let body = patch.to_string();
    Ok(read(base, Fields::parse(body.as_bytes())?)?)
}

fn bad(patch: &Json) -> Vec<String> {
    match merged(&Settings::default(), patch) {
        Ok(_) => panic!("{patch} was accepted"),
        Err(problem) => problem.fields.into_iter().map(|bad| bad.field).collect(),
    }
}

#[test]
fn the_defaults_are_those_of_the_contract() {
    let fee = json!({ "percent": "1.5000", "fixedVes": "0.00" });
    let expected = json!({
        "reserveVes": "0.00",
        "fees": { "c2p": fee, "vpos": fee, "debit": fee, "pagoMovil": fee, "linkPercent": "0.5000", "chargebackVes": "0.00", "payoutVes": "0.00" },
        "sellerHoldBusinessDays": 0,
        "conversions": {
            "enabled": ["VES", "COP"],
            "spreadPercent": { "VES": "1.5000", "COP": "2.0000" },
            "minimumUsdt": "1.00",
            "dailyLimit": { "VES": null, "COP": null },
        },
        "usdt": { "enabled": true, "payoutAutoLimitUsdt": "500.00" },
        "cop": { "enabled": true },
        "withdrawFeePolicy": "tiered_v2",
        "checkout": { "allowedOrigins": [] },
        "shop": { "name": null, "rif": null, "logo": null, "email": null, "phone": null, "pagoMovil": null },
        "chargebackFeeMax": null,
        "microDepositsDailyMax": 50,
    });
    assert_eq!(shown(&Settings::default()), expected);
}

#[test]
fn what_is_shown_can_be_sent_back() {
    let patch = json!({
        "reserveVes": "12.34",
        "fees": { "c2p": { "percent": "2", "fixedVes": "0.50" }, "payoutVes": "1.00", "linkPercent": "0.25" },
        "sellerHoldBusinessDays": 3,
        "conversions": { "enabled": ["COP"], "dailyLimit": { "VES": "100.00", "COP": "20000" }, "minimumUsdt": "5.00" },
        "usdt": { "enabled": false },
        "cop": { "enabled": false },
        "checkout": { "allowedOrigins": ["https://shop.example"] },
        "shop": {
            "name": " Panadería Ñ ", "rif": "j-12345678-9", "logo": "data:image/png;base64,iVBORw0KGgo=",
            "email": "ventas@tienda.example", "phone": "+58 212 555-0101",
            "pagoMovil": { "bankCode": "0134", "phone": "+584141234567", "identification": "j-123456789" },
        },
    });
    let changed = merged(&Settings::default(), &patch).expect("sound");
    let json = shown(&changed);
    assert_eq!(json["fees"]["c2p"], json!({ "percent": "2.0000", "fixedVes": "0.50" }));
    assert_eq!(json["conversions"]["dailyLimit"], json!({ "VES": "100.00", "COP": "20000" }));
    assert_eq!(json["conversions"]["enabled"], json!(["COP"]));
    assert_eq!(merged(&Settings::default(), &json).expect("sound"), changed);
    assert_eq!(merged(&changed, &shown(&Settings::default())).expect("sound"), Settings::default());
}

#[test]
fn what_is_not_named_stays_and_null_lifts_a_limit_alone() {
    let base = merged(
        &Settings::default(),
        &json!({ "reserveVes": "5.00", "conversions": { "dailyLimit": { "VES": "9.00", "COP": "7" } } }),
    )
    .expect("sound");
    let next = merged(&base, &json!({ "reserveVes": null, "fees": {}, "conversions": { "enabled": [], "dailyLimit": { "VES": null } } })).expect("sound");
    assert_eq!(next.reserve, base.reserve);
    assert_eq!(next.fees, base.fees);
    assert_eq!(next.conversions.enabled, PerSource { ves: false, cop: false });
    assert_eq!(next.conversions.daily_limit, PerSource { ves: None, cop: Some(7) });
}

#[test]
fn every_bad_member_is_named_with_its_dots() {
    let patch = json!({
        "reserveVes": 1,
        "fees": { "c2p": { "percent": "100.0001", "fixedVse": "1.00" }, "vpos": 7, "payoutVes": "-1.00" },
        "conversions": { "enabled": ["VES", "USD"], "spreadPercent": { "EUR": "1" }, "dailyLimit": { "COP": "1.00" }, "minimumUsdt": "-1.00" },
        "sellerHoldBusinessDays": 366,
        "usdt": { "enabled": "true" },
        "withdrawFeePolicy": "free",
        "checkout": { "allowedOrigins": ["https://a.example", "https://b.example/"] },
        "shop": {
            "name": "", "rif": "12345678", "logo": "https://shop.example/logo.png", "email": "a@b", "phone": "call",
            "pagoMovil": { "bankCode": "1", "phone": "04141234567" },
        },
        "typo": 1,
    });
    let mut named = bad(&patch);
    named.sort_unstable();
    let expected = [
        "checkout.allowedOrigins[1]",
        "conversions.dailyLimit.COP",
        "conversions.enabled[1]",
        "conversions.minimumUsdt",
        "conversions.spreadPercent.EUR",
        "fees.c2p.fixedVse",
        "fees.c2p.percent",
        "fees.payoutVes",
        "fees.vpos",
        "reserveVes",
        "sellerHoldBusinessDays",
        "shop.email",
        "shop.logo",
        "shop.name",
        "shop.pagoMovil.bankCode",
        "shop.pagoMovil.identification",
        "shop.phone",
        "shop.rif",
        "typo",
        "usdt.enabled",
        "withdrawFeePolicy",
    ];
    assert_eq!(named, expected);
}

#[test]
fn percentages() {
    let read = |text: &str| {
        merged(&Settings::default(), &json!({ "fees": { "linkPercent": text } }))
            .map(|settings| settings.fees.link_percent)
    };
    for (given, shown) in [
        ("0", "0.0000"),
        ("1.5", "1.5000"),
        ("100", "100.0000"),
        ("100.0000", "100.0000"),
        ("0.0001", "0.0001"),
    ] {
        assert_eq!(read(given).map(percentage), Ok(shown.to_owned()), "{given}");
    }
    for given in [
        "",
        "-1",
        "+1",
        "1.",
        ".5",
        "1.00000",
        "01",
        "100.0001",
        "1e1",
        "1,5",
        " 1",
        "1.5%",
        "99999999999999999999999999999999",
    ] {
        assert!(read(given).is_err(), "{given}");
    }
}

#[test]
fn origins() {
    let read =
        |text: &str| merged(&Settings::default(), &json!({ "checkout": { "allowedOrigins": [text] } }));
    for fine in [
        "https://shop.example",
        "https://shop.example:8443",
        "https://xn--tienda-8za.example",
        "https://[2001:db8::1]",
        "http://localhost:3000",
        "http://127.0.0.1",
        "http://[::1]:3000",
    ] {
        assert_eq!(
            read(fine).map(|settings| settings.checkout_allowed_origins),
            Ok(vec![fine.to_owned()]),
            "{fine}"
        );
    }
    for bad in [
        "",
        "*",
        "null",
        "shop.example",
        "http://shop.example",
        "https://Shop.example",
        "https://shop.example/",
        "https://shop.example:443",
        "https://shop.example:",
        "https://shop.example:0",
        "https://shop.example:65536",
        "https://shop.example?x",
        "https://user@shop.example",
        "https://",
        "https://.example",
        "https://a..b",
        "https://[::1",
        "https://[::0001]",
        "http://127.0.0.1.example",
        "ftp://localhost",
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
    assert_eq!(bad_twice(), ["checkout.allowedOrigins"]);
}

fn bad_twice() -> Vec<String> {
    bad(&json!({ "checkout": { "allowedOrigins": ["https://a.example", "https://a.example"] } }))
}

#[test]
fn a_rif_is_kept_as_it_is_written() {
    let rif = |text: &str| {
        let patch = json!({ "shop": { "rif": text } });
        merged(&Settings::default(), &patch).ok().and_then(|settings| settings.shop.rif)
    };
    for (text, kept) in [
        ("J-12345678-9", "J-12345678-9"),
        ("j123456789", "J123456789"),
        (" V-1234567 ", "V-1234567"),
        ("G-20000000-1", "G-20000000-1"),
    ] {
        assert_eq!(rif(text), Some(kept.to_owned()), "{text}");
    }
    for text in
        ["", "J-", "X-12345678-9", "J-12345678-", "J-12345678-90", "J--12345678", "J-1234 5678", "<J>"]
    {
        assert_eq!(rif(text), None, "{text}");
    }
}
