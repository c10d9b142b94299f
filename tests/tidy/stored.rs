//! Every layout of the stored format has a golden, and every golden a layout.

use crate::{files_with, root};
use std::collections::BTreeSet;
use std::fs;

/// The layouts that a file of `src/domain/stored/v…/` declares.
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

/// The version that a folder's name says.
fn version(folder: &str) -> Option<u8> {
    folder.strip_prefix('v').and_then(|number| number.parse().ok())
}

/// The names in the folders of all versions below `folder`: by resource and layout.
fn by_resource(folder: &str, ending: &str, names: fn(&str) -> Vec<String>) -> BTreeSet<(String, String)> {
    let base = root().join(folder);
    let mut found = BTreeSet::new();
    for path in files_with(folder, ending) {
        let inside = path.strip_prefix(&base).expect("a file in it").to_string_lossy().into_owned();
        let Some((_, file)) = inside.split_once('/').filter(|(of, _)| version(of).is_some()) else {
            continue;
        };
        let resource = file.trim_end_matches(ending).trim_end_matches('.').to_owned();
        let source = fs::read_to_string(&path).expect("a readable file");
        found.extend(names(&source).into_iter().map(|name| (resource.clone(), name)));
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
