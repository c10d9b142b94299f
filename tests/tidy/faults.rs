//! Every text by which a reader says what is wrong with a member has its Spanish, which the pages say.

use super::{code, rust_files};
use regex::Regex;
use std::collections::BTreeSet;

/// The folders in which members are read.
const FOLDERS: [&str; 6] =
    ["src/api", "src/admin", "src/domain", "src/gateway", "src/reconciliation", "src/pages"];
/// Texts of the same form that no page shows: of an operator's feed of banks.
const OTHER: [&str; 1] = ["is no list of banks: {}"];

/// The texts of a file that say what a member must be, with `{}` where a value stands.
fn texts(file: &str) -> Vec<String> {
    let file = file.split("#[cfg(test)]").next().unwrap_or_default();
    let said = Regex::new(
        r#""((?:(?:date|reference|amount|kind) must|must|is|does|has|needs|comes) (?:[^"\\]|\\.)*)""#,
    );
    // The end of "must be …".
    let wanted = Regex::new(r#"(?:text_known\(\s*|TIMESTAMP: &str = )"([^"]*)""#);
    let hole = Regex::new(r"\{[^}]*\}").expect("a pattern");
    let said = said.expect("a pattern");
    let said = said.captures_iter(file).map(|found| found[1].to_owned());
    let wanted = wanted.expect("a pattern");
    let wanted = wanted.captures_iter(file).map(|found| format!("must be {}", &found[1]));
    let plain = |text: String| hole.replace_all(&text, "{}").replace("\\\"", "\"");
    said.chain(wanted).map(plain).filter(|text| text != "must be {}").collect()
}

#[test]
fn what_a_reader_refuses_is_said_in_spanish_too() {
    let known: BTreeSet<&str> = api::codes::faults::all().chain(OTHER).collect();
    let files = FOLDERS.iter().flat_map(|folder| rust_files(folder));
    let files = files.filter(|path| !path.ends_with("codes/faults.rs") && !path.ends_with("tests.rs"));
    let texts: BTreeSet<String> = files.flat_map(|path| texts(&code(&path))).collect();
    assert!(texts.len() > 100, "the readers were not found");
    let missing: Vec<&String> = texts
        .iter()
        .filter(|text| !known.contains(text.as_str()) && api::codes::faults::spanish(text).is_none())
        .collect();
    assert!(missing.is_empty(), "src/api/codes/faults.rs has no Spanish of these: {missing:#?}");
}
