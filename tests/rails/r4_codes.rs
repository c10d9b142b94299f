//! The meaning of each code of R4 in each call (`docs/contract.md, 18.2, 21.4, 21.5`), as a table
//! beside the tables of the code: it is written from the contract, row by row.

use pasarela::rails::http::HttpAnswer;
use pasarela::rails::live::{BankWord, OrderOutcome, RailId, Report};
use pasarela::rails::r4::mapping::read;
use pasarela::rails::r4::wire::{Operation, Reply};
use proptest::prelude::*;

const ID: &str = "d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a11";

/// The calls that move money.
const MONEY: [Operation; 6] = [
    Operation::C2p,
    Operation::AnulacionC2p,
    Operation::Vuelto,
    Operation::DebitoInmediato,
    Operation::CreditoInmediato,
    Operation::CiCuentas,
];

fn answer(operation: Operation, status: u16, body: &str) -> Report {
    read(operation, &HttpAnswer { status, body: body.as_bytes().to_vec() })
}

fn of(operation: Operation, code: &str) -> OrderOutcome {
    answer(operation, 200, &format!(r#"{{"code":"{code}","message":"x","reference":"1","id":"{ID}"}}"#))
        .outcome
}

/// The open outcome, under the bank's id where such a call has one.
fn open(operation: Operation) -> OrderOutcome {
    let has_id =
        matches!(operation, Operation::DebitoInmediato | Operation::CreditoInmediato | Operation::CiCuentas);
    OrderOutcome::Open { id: RailId::parse(ID).filter(|_| has_id) }
}

fn refused(code: &str) -> OrderOutcome {
    OrderOutcome::Refused { code: code.to_owned() }
}

#[test]
fn numeric_codes_that_refuse() {
    let rows = [
        ("01", "R4_01"),
        ("07", "R4_07"),
        ("08", "R4_08"),
        ("11", "R4_11"),
        ("12", "R4_12"),
        ("13", "AM02"),
        ("14", "BE01"),
        ("15", "TKCM"),
        ("30", "R4_30"),
        ("41", "AB07"),
        ("43", "AB07"),
        ("51", "AM04"),
        ("56", "BE01"),
        ("57", "R4_57"),
        ("62", "AG01"),
        ("80", "BE01"),
        ("90", "R4_90"),
        ("91", "AB07"),
        ("92", "R4_92"),
        ("99", "R4_99"),
    ];
    for (theirs, ours) in rows {
        for operation in MONEY {
            assert_eq!(of(operation, theirs), refused(ours), "{operation:?} {theirs}");
        }
        assert_eq!(of(Operation::GenerarOtp, theirs), refused(ours));
        // The answer says that the question was refused, and nothing of the operation.
        assert_eq!(of(Operation::ConsultarOperaciones, theirs), OrderOutcome::Open { id: None }, "{theirs}");
    }
    assert_eq!(of(Operation::C2p, "55"), refused("TKCM"));
    assert_eq!(of(Operation::Vuelto, "55"), refused("R4_55"));
}

#[test]
fn what_decides_nothing() {
    for code in ["05", "68", "87", "SMF001", "02", "100", "XX", "accp", "AC00", "WAIT", "PEND", "PROC"] {
        for operation in MONEY {
            assert_eq!(of(operation, code), open(operation), "{operation:?} {code}");
        }
        for operation in [Operation::GenerarOtp, Operation::ConsultarOperaciones] {
            assert_eq!(of(operation, code), OrderOutcome::Open { id: None }, "{operation:?} {code}");
        }
    }
    // A message that was merely taken is no payment.
    for operation in MONEY {
        assert_eq!(of(operation, "202"), open(operation), "{operation:?}");
    }
    for code in ["TE28", "TE29", "VE02", "00", "202"] {
        assert_eq!(of(Operation::ConsultarOperaciones, code), OrderOutcome::Open { id: None }, "{code}");
    }
}

#[test]
fn each_call_has_its_own_word_for_success() {
    let done = OrderOutcome::Done { reference: Some("1".to_owned()) };
    for (operation, numeric, clearing) in [
        (Operation::C2p, true, false),
        (Operation::AnulacionC2p, true, false),
        (Operation::Vuelto, true, true),
        (Operation::CreditoInmediato, true, true),
        (Operation::DebitoInmediato, false, true),
        (Operation::CiCuentas, false, true),
        (Operation::ConsultarOperaciones, false, true),
        (Operation::GenerarOtp, false, false),
    ] {
        assert_eq!(of(operation, "00") == done, numeric, "{operation:?}");
        assert_eq!(of(operation, "ACCP") == done, clearing, "{operation:?}");
    }
    assert_eq!(of(Operation::GenerarOtp, "202"), done);
}

#[test]
fn clearing_codes_pass_as_they_are() {
    let codes = "AB01 AB07 AC01 AC04 AC06 AC09 AG01 AG09 AG10 AM02 AM03 AM04 AM05 BE01 BE20 CH20 CUST DS02 CANC EX01 \
                 DT03 DU01 ED05 TECH FF05 FF07 MD01 MD09 MD15 MD21 MD22 MBE01 RC08 RJCT TKCM TM01 VE01 TE11 US03";
    for code in codes.split_whitespace() {
        for operation in MONEY.into_iter().chain([Operation::ConsultarOperaciones]) {
            assert_eq!(of(operation, code), refused(code), "{operation:?} {code}");
        }
    }
    for code in ["TE28", "TE29", "VE02"] {
        assert_eq!(of(Operation::DebitoInmediato, code), refused(code));
    }
}

#[test]
fn the_status_decides_only_where_there_is_no_code() {
    let refusal = r#"{"code":"51","message":"FONDOS"}"#;
    for (status, body, outcome, is_answered) in [
        (200, refusal, refused("AM04"), true),
        (400, refusal, refused("AM04"), true),
        (401, r#"{"code":"08"}"#, refused("R4_08"), true),
        (499, refusal, refused("AM04"), true),
        (500, refusal, OrderOutcome::Open { id: None }, false),
        (503, r#"{"code":"00","reference":"1"}"#, OrderOutcome::Open { id: None }, false),
        (302, r#"{"code":"00","reference":"1"}"#, OrderOutcome::Open { id: None }, false),
        (404, "{}", OrderOutcome::Open { id: None }, false),
        (403, "Forbidden", OrderOutcome::Open { id: None }, false),
        (200, "", OrderOutcome::Open { id: None }, false),
        (200, "[]", OrderOutcome::Open { id: None }, false),
        (200, r#"{"code":null}"#, OrderOutcome::Open { id: None }, false),
        (200, r#"{"code":["00"]}"#, OrderOutcome::Open { id: None }, false),
        (200, r#"{"code":""}"#, OrderOutcome::Open { id: None }, false),
        (200, r#"{"codigo":"00"}"#, OrderOutcome::Open { id: None }, false),
        (200, r#"{"code":"00"} {}"#, OrderOutcome::Open { id: None }, false),
        (200, r#"{"code":"00","#, OrderOutcome::Open { id: None }, false),
        (200, r#"{"code":51}"#, refused("AM04"), true),
        (200, r#"{"code":"00"}"#, OrderOutcome::Done { reference: None }, true),
        (200, r#"{"code":"00","reference":""}"#, OrderOutcome::Done { reference: None }, true),
        (
            200,
            r#"{"code":"00","reference":123}"#,
            OrderOutcome::Done { reference: Some("123".to_owned()) },
            true,
        ),
    ] {
        let report = answer(Operation::C2p, status, body);
        assert_eq!((report.outcome, report.is_answered), (outcome, is_answered), "{status} {body}");
    }
}

#[test]
fn the_banks_id_has_two_names_and_may_be_any_visible_text() {
    for (members, id) in [
        (format!(r#""id":"{ID}""#), Some(ID)),
        (format!(r#""Id":"{ID}""#), Some(ID)),
        (format!(r#""id":"","Id":"{ID}""#), Some(ID)),
        (format!(r#""id":"{}""#, ID.to_uppercase()), Some("D3B07384-D9A7-4F3B-8C0E-3F0B6F5F7A11")),
        (r#""id":"7""#.to_owned(), Some("7")),
        (r#""id":"two words""#.to_owned(), None),
        (format!(r#""id":"{}""#, "7".repeat(65)), None),
        (r#""id":null"#.to_owned(), None),
    ] {
        let report = answer(Operation::DebitoInmediato, 200, &format!(r#"{{"code":"AC00",{members}}}"#));
        assert_eq!(report.outcome, OrderOutcome::Open { id: id.and_then(RailId::parse) }, "{members}");
    }
}

#[test]
fn the_banks_own_words_are_kept() {
    let report = answer(Operation::C2p, 200, r#"{"code":"41","message":"SERVICIO NO ACTIVO\r\n"}"#);
    let word = report.word.expect("words");
    assert_eq!((word.code.as_str(), word.text.as_str()), ("41", "SERVICIO NO ACTIVO"));
}

proptest! {
    #[test]
    fn no_answer_of_a_bank_panics(status in 100..1000_u16, body in prop::collection::vec(any::<u8>(), 0..200)) {
        for operation in Operation::ALL {
            let report = read(operation, &HttpAnswer { status, body: body.clone() });
            let decides_nothing = report.outcome == OrderOutcome::Open { id: None };
            prop_assert!(report.is_answered || decides_nothing);
        }
    }

    #[test]
    fn only_success_is_done(status in 200..600_u16, code in "[A-Z0-9]{0,6}|00|ACCP|202|51", reference in any::<String>()) {
        let body = serde_json::json!({"code": code, "reference": reference}).to_string();
        for operation in Operation::ALL {
            if let OrderOutcome::Done { reference } = answer(operation, status, &body).outcome {
                prop_assert!(["00", "ACCP", "202"].contains(&code.as_str()) && status < 500);
                prop_assert!(reference.is_none_or(|text| (1..=64).contains(&text.len())));
            }
        }
        if let Some(reply) = Reply::read(body.as_bytes()) {
            prop_assert!(BankWord::new(&reply.code, &reply.message).code.chars().count() <= 32);
        }
    }
}
