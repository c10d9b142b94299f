//! Contracts that must not change by accident: the list of routes, the descriptions in OpenAPI, and
//! the bytes of records. Set `GOLDEN=write` to write them anew, and look at the difference.

use api::codes;
use api::interface;
use api::openapi::spanish;
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
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
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

/// Rows of the Spanish table that descriptions lack, that are left over, or that name other words of the API.
fn faults_in_spanish(
    table: &BTreeMap<String, String>,
    documents: impl IntoIterator<Item = Value>,
) -> Vec<String> {
    let in_code = |text: &str| -> Vec<String> {
        let mut words: Vec<String> = text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        words.sort();
        words
    };
    let (mut said, mut faults) = (BTreeSet::new(), BTreeSet::new());
    for mut document in documents {
        spanish::translate(&mut document, &mut |line| {
            said.insert(line.to_owned());
            match table.get(line) {
                None if !line.is_empty() => faults.insert(format!("no row: {line:?}")),
                Some(spanish) if in_code(line) != in_code(spanish) => {
                    faults.insert(format!("other words in `code`: {line:?} = {spanish:?}"))
                }
                _ => false,
            };
            None
        });
    }
    let unsaid = table.keys().filter(|line| !said.contains(*line));
    faults.extend(unsaid.map(|line| format!("left over: {line:?}")));
    faults.into_iter().collect()
}

/// What who adds an endpoint has to say in Spanish: one list, of rows of docs/es/reference.toml.
#[test]
fn the_reference_is_in_spanish() {
    let documents = [interface::public(checkout::described()).to_json(), admin::document().to_json()]
        .map(|json| serde_json::from_slice(&json).expect("a description is JSON"));
    let (table, faults) = (spanish::table(), faults_in_spanish(&spanish::table(), documents));
    assert!(table.len() > 1_000 && faults.is_empty(), "docs/es/reference.toml:\n{}", faults.join("\n"));
}

#[test]
fn what_is_wrong_in_spanish_is_listed() {
    let document = json!({ "tags": [{ "name": "Keys", "description": "Of `a` and `b`." }],
        "paths": { "/keys": { "get": { "summary": "List keys", "description": "One\n\nTwo" } } } });
    let rows = [("Keys", "Llaves"), ("Of `a` and `b`.", "De `a` y `c`."), ("One", "Uno"), ("Three", "Tres")];
    let table = rows.map(|(english, spanish)| (english.to_owned(), spanish.to_owned())).into();
    assert_eq!(
        faults_in_spanish(&table, [document]),
        [
            "left over: \"Three\"",
            "no row: \"List keys\"",
            "no row: \"Two\"",
            "other words in `code`: \"Of `a` and `b`.\" = \"De `a` y `c`.\"",
        ]
    );
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
