//! Every layout of the stored format has a golden, and every golden a layout.

use crate::{root, rust_files};
use std::collections::BTreeSet;
use std::fs;

/// The layouts that a file of `src/domain/stored/v…/` declares.
fn layouts(source: &str) -> BTreeSet<&str> {
    source
        .lines()
        .filter_map(|line| {
            let line = line.trim().trim_start_matches("past ");
            let by_name = line.strip_prefix("pub enum ").and_then(|rest| rest.strip_suffix(" {}"));
            let by_fields = ["struct ", "enum ", "value "]
                .iter()
                .find_map(|kind| line.strip_prefix(kind))
                .filter(|rest| rest.contains(" of "))
                .map(|rest| rest.split([' ', '(']).next().unwrap_or_default());
            by_name.or(by_fields)
        })
        .collect()
}

#[test]
fn every_stored_type_has_a_golden() {
    let mut count = 0;
    for path in rust_files("src/domain/stored") {
        let inside = path.strip_prefix(root().join("src/domain/stored")).expect("a file in it");
        let is_versioned = inside.starts_with("v1") || inside.starts_with("v2");
        assert_eq!(is_versioned, inside.components().count() > 1, "{} is of no version", path.display());
        let source = fs::read_to_string(&path).expect("a readable file");
        let declared = layouts(&source);
        if !is_versioned || inside.ends_with("mod.rs") {
            continue;
        }
        let golden = root().join("tests/golden/stored").join(inside).with_extension("txt");
        let lines = fs::read_to_string(&golden).unwrap_or_default();
        let shown: BTreeSet<&str> = lines.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(declared, shown, "{} against {}", path.display(), golden.display());
        count += declared.len();
    }
    assert!(count > 100, "{count} layouts were found");
}
