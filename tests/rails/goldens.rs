//! The bytes of one call each, as the bank sees them, and one answer each (`tests/golden/rails/`).
//! Set `GOLDEN=write` to write them anew, and look at the difference.

use crate::r4_orders as r4;
use crate::scripted::{Scripted, json};
use domain::rail::Order;
use domain::values::money::Ves;
use domain::values::time::Date;
use pasarela::rails::live::{LiveRail, RailId};
use pasarela::rails::r4::{CreditBy, PathFamily, R4, Settings, SignatureCase, quotation};
use std::fs;
use std::path::Path;

/// Compares what happened with the file of this name.
pub fn assert_golden(name: &str, now: &str) {
    let path = Path::new("tests/golden/rails").join(name);
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "write") {
        fs::write(&path, now).expect("a writable golden file");
        return;
    }
    let then = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(then, now, "{} changed; run with GOLDEN=write and look at the difference", path.display());
}

/// Requests without the port, which is another one each time, and without the version, which each release changes.
pub fn shown(bank: &Scripted) -> String {
    let requests = bank.requests().join("\n\n").replace("\r\n", "\n");
    requests
        .replace(&bank.address.to_string(), "bank.example")
        .replace(concat!("pasarela/", env!("CARGO_PKG_VERSION")), "pasarela/VERSION")
}

fn check(name: &str, bank: &Scripted, answer: &str, meant: impl std::fmt::Debug) {
    let text = format!("{}\n\n--- the answer\n{answer}\n\n--- what it means\n{meant:?}\n", shown(bank));
    assert_golden(name, &text);
}

#[tokio::test]
async fn calls_to_r4() {
    let id = "d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a11";
    let changed = r#"{"code":"00","message":"TRANSACCION EXITOSA","reference":"80012345"}"#;
    let accepted =
        format!(r#"{{"code":"ACCP","message":"Operacion Aceptada","reference":"80012345","id":"{id}"}}"#);
    let rows: [(&str, Order, &str, CreditBy); 7] = [
        ("r4-c2p.txt", r4::charge(Ves::from_minor(12_345)), changed, CreditBy::Vuelto),
        ("r4-anulacion.txt", r4::reversal("80012345"), changed, CreditBy::Vuelto),
        ("r4-vuelto.txt", r4::credit(r4::paid()), changed, CreditBy::Vuelto),
        (
            "r4-otp.txt",
            r4::otp(),
            r#"{"code":"202","message":"Se ha recibido el mensaje de forma satisfactoria","success":true}"#,
            CreditBy::Vuelto,
        ),
        ("r4-debito.txt", r4::debit(), &accepted, CreditBy::Vuelto),
        ("r4-credito.txt", r4::credit(r4::paid()), &accepted, CreditBy::CreditoInmediato),
        ("r4-cuentas.txt", r4::credit_account(), &accepted, CreditBy::Vuelto),
    ];
    for (name, order, answer, credit_by) in rows {
        let bank = Scripted::start(vec![json(answer)]).await;
        let rail = R4::new(Settings { credit_by, ..r4::settings(&bank.base()) }).expect("a client");
        let report = rail.execute(&r4::call(order)).await;
        check(name, &bank, answer, report);
    }
    let answer = r#"{"code":"AC00","reference":"","success":true,"message":"En espera"}"#;
    let bank = Scripted::start(vec![json(answer)]).await;
    let look = r4::rail(&bank.base()).look(&r4::call(r4::debit()), RailId::parse(id).as_ref()).await;
    check("r4-consultar.txt", &bank, answer, look);
    let answer = r#"{"code":"00","fechavalor":"2026-11-20","tipocambio":247.3051}"#;
    let bank = Scripted::start(vec![json(answer)]).await;
    let date = Date::parse("2026-11-20").expect("a day");
    let quoted = r4::rail(&bank.base()).quoted("USD", date).await.expect("an answer");
    check("r4-bcv.txt", &bank, answer, quotation::read(&quoted, date));
}

/// The calls use the other family of paths, capitals, and the space before what C2P signs.
#[tokio::test]
async fn calls_to_r4_as_other_sources_have_them() {
    let answer = r#"{"code":"15","message":"LLAVE ERRONEA"}"#;
    let bank = Scripted::start(vec![json(answer); 4]).await;
    let rail = R4::new(Settings {
        path_family: PathFamily::R4,
        signature_case: SignatureCase::Upper,
        c2p_leading_space: true,
        ..r4::settings(&bank.base())
    });
    let rail = rail.expect("a client");
    let report = rail.execute(&r4::call(r4::charge(Ves::from_minor(12_345)))).await;
    for order in [r4::reversal("80012345"), r4::credit(r4::paid())] {
        let _ = rail.execute(&r4::call(order)).await;
    }
    let _ = rail.quoted("USD", Date::parse("2026-11-20").expect("a day")).await;
    check("r4-other-family.txt", &bank, answer, report);
}
