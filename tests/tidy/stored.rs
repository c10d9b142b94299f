//! Every stored type has a golden, and every golden a type.

use crate::files_with;
use std::fs;

/// The types that a file defines by `stored!`.
fn stored(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_inside = false;
    for line in source.lines() {
        is_inside = line == "stored! {" || is_inside && line != "}";
        let item = line.strip_prefix("    ").filter(|_| is_inside).unwrap_or_default();
        let item = item.strip_prefix("pub(crate) ").or(item.strip_prefix("pub ")).unwrap_or(item);
        let name = ["struct ", "enum "].iter().find_map(|kind| item.strip_prefix(kind));
        names.extend(name.map(|rest| rest.split([' ', '(', '<', ';']).next().unwrap_or_default().to_owned()));
    }
    names
}

/// Stored types that are written by hand, by a macro of their own, or for two types at once.
const BY_HAND: [&str; 10] =
    ["Ves", "Usd", "Usdt", "Cop", "Rate", "Timestamp", "Release", "Kind", "Entity", "Cause"];
/// Types that have others in them, and goldens as the types that they are used as.
const GENERIC: [(&str, &str); 2] = [("PerSource", ""), ("Marketplace", "Marketplace")];

#[test]
fn every_stored_type_has_a_golden() {
    let mut declared: Vec<String> = BY_HAND.map(str::to_owned).to_vec();
    for path in files_with("src/domain", "rs") {
        declared.extend(stored(&fs::read_to_string(&path).expect("a readable file")));
    }
    declared.retain(|name| !GENERIC.iter().any(|(generic, _)| name == generic));
    let mut shown = Vec::new();
    for path in files_with("tests/golden/stored", "txt") {
        let text = fs::read_to_string(&path).expect("a readable file");
        let mut names: Vec<String> =
            text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
        names.dedup();
        shown.extend(names);
    }
    shown.retain(|name| !GENERIC.iter().any(|(_, golden)| name == golden));
    declared.sort();
    shown.sort();
    assert_eq!(declared, shown, "the stored types, and those that have goldens");
    assert!(declared.len() > 100, "{} types were found", declared.len());
}
