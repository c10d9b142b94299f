//! Contracts that must not change by accident: the list of routes, the descriptions in OpenAPI, and
//! the bytes of records. Set `GOLDEN=write` to write them anew, and look at the difference.

use api::codes;
use api::interface;
use api::routes::{Modes, routes};
use domain::cause::Cause;
use domain::codec;
use domain::decision::Turn;
use domain::ledger::book::Book;
use domain::record::Record;
use domain::resources::adjustments::{Adjustment, adjust};
use domain::values::money::Currency;
use domain::values::text::ExternalRef;
use domain::values::time::Timestamp;
use pasarela::{admin, checkout};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new("tests/golden").join(name)
}

fn assert_golden(name: &str, now: &str) {
    let path = golden(name);
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "write") {
        fs::write(&path, now).expect("a writable golden file");
        return;
    }
    let then = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(then, now, "{} changed; run with GOLDEN=write and look at the difference", path.display());
}

#[test]
fn the_page_of_the_tables_of_wal_sql() {
    assert_golden("../../docs/wal-sql.md", &pasarela::recovery::sql::page());
}

#[test]
fn the_routes() {
    let mut lines: Vec<String> = routes()
        .iter()
        .map(|route| {
            let modes = if route.needs.modes == Modes::TestOnly { " (test mode only)" } else { "" };
            format!(
                "{} {} · {} · {}{modes}\n",
                route.path,
                route.method,
                route.needs.scope.name(),
                route.operation
            )
        })
        .collect();
    lines.sort();
    assert_golden("routes.txt", &lines.concat());
    let mut operations: Vec<&str> = routes().iter().map(|route| route.operation).collect();
    operations.sort_unstable();
    let all = operations.len();
    operations.dedup();
    assert_eq!(operations.len(), all, "two routes share a name");
}

#[test]
fn the_descriptions() {
    for (name, json) in [
        ("openapi.json", interface::public(checkout::described()).to_json()),
        ("openapi-admin.json", admin::document().to_json()),
    ] {
        let tree: Value = serde_json::from_slice(&json).expect("a description is JSON");
        assert_golden(name, &format!("{tree:#}\n"));
    }
}

/// A code that no call is described with would be explained for nobody: these come of the path, and where a
/// description has the parameter's values.
#[test]
fn the_codes_are_those_of_the_descriptions() {
    let mut described = BTreeSet::new();
    for json in [interface::public(checkout::described()).to_json(), admin::document().to_json()] {
        let document: Value = serde_json::from_slice(&json).expect("a description is JSON");
        let operations = document["paths"].as_object().expect("paths").values().filter_map(Value::as_object);
        for answers in
            operations.flat_map(|path| path.values()).filter_map(|call| call["responses"].as_object())
        {
            for (status, answer) in answers {
                let lines = answer["description"].as_str().unwrap_or_default().lines();
                let codes = lines
                    .filter_map(|line| line.strip_prefix("- `")?.split_once("`: "))
                    .map(|(code, _)| code);
                described
                    .extend(codes.map(|code| (code.to_owned(), status.parse::<u16>().expect("a status"))));
            }
        }
    }
    let known: BTreeSet<(String, u16)> = codes::all()
        .flat_map(|code| code.statuses.iter().map(|status| (code.name.to_owned(), *status)))
        .collect();
    let elsewhere = [("method_not_allowed", 405), ("head_too_large", 431)];
    let elsewhere: BTreeSet<(String, u16)> =
        elsewhere.map(|(code, status)| (code.to_owned(), status)).into_iter().collect();
    assert_eq!(known.difference(&described).cloned().collect::<BTreeSet<_>>(), elsewhere);
}

fn sample() -> Record {
    let turn = Turn { seed: 7, ..Turn::at(Timestamp::from_unix_ms(1_795_226_000_123)) };
    let ask = Adjustment {
        cause: Cause::Adjusted,
        currency: Currency::Ves,
        minor: 123_456,
        merchant: None,
        held: true,
        description: "apertura ñ".to_owned(),
        external_ref: ExternalRef::parse("ref-1").ok(),
    };
    let draft = adjust(&Book::default(), ask, &turn).record.expect("it fits");
    Record { seed: turn.seed, first_event: 1, ..draft.record }
}

fn stored(name: &str) -> Vec<u8> {
    let text = fs::read_to_string(golden(name)).expect("the golden record");
    hex::decode(text.trim()).expect("hex")
}

#[test]
fn the_bytes_of_a_record() {
    let record = sample();
    assert_golden("record-adjusted.hex", &format!("{}\n", hex::encode(codec::encode(&record))));
    assert_eq!(codec::decode::<Record>(&stored("record-adjusted.hex")).expect("readable"), record);
}

#[test]
fn what_is_not_a_record_is_refused() {
    let bytes = codec::encode(&sample());
    assert!(codec::decode::<Record>(&bytes[..bytes.len() - 1]).is_err(), "one byte short");
    assert!(codec::decode::<Record>(&[bytes.as_slice(), b"x"].concat()).is_err(), "one byte more");
    let unknown =
        codec::decode::<Record>(&[&[9], &bytes[1..]].concat()).expect_err("another version").to_string();
    assert!(
        unknown.contains("version 9 of the stored format") && unknown.contains("reads 7 and 8;"),
        "{unknown}"
    );
    assert!(unknown.contains("the release that wrote it can read it"), "{unknown}");
    let older =
        codec::decode::<Record>(&[&[5], &bytes[1..]].concat()).expect_err("a version before").to_string();
    assert!(older.contains("a build that was never released wrote it"), "{older}");
    assert!(codec::decode::<Record>(&[]).is_err());
}
