//! Every layout of the stored format has a golden, and every golden a layout.

use crate::files_with;
use std::collections::BTreeSet;
use std::fs;

/// The layouts that a file of `src/domain/stored/` declares.
fn layouts(source: &str) -> Vec<String> {
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
            by_name.or(by_fields).map(str::to_owned)
        })
        .collect()
}

/// The names in the files of a folder, by resource and layout.
fn by_resource(folder: &str, ending: &str, names: fn(&str) -> Vec<String>) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for path in files_with(folder, ending) {
        let resource = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let source = fs::read_to_string(&path).expect("a readable file");
        if !["layout", "parts"].contains(&resource.as_str()) {
            found.extend(names(&source).into_iter().map(|name| (resource.clone(), name)));
        }
    }
    found
}

#[test]
fn every_stored_type_has_a_golden() {
    let declared = by_resource("src/domain/stored", "rs", layouts);
    let shown = by_resource("tests/golden/stored", "txt", |lines| {
        lines.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    });
    assert_eq!(
        declared.difference(&shown).collect::<Vec<_>>(),
        [] as [&(String, String); 0],
        "without a golden"
    );
    assert_eq!(
        shown.difference(&declared).collect::<Vec<_>>(),
        [] as [&(String, String); 0],
        "without a layout"
    );
    assert!(declared.len() > 100, "{} layouts were found", declared.len());
}
