//! The widths of what stands in comments, so that nobody has a reason to fold them.

use crate::{root, rust_files};
use std::fs;

/// The number of columns for a drawing of a format: one that is folded cannot be read.
const DRAWING_COLUMNS_MAX: usize = 100;

/// The folders with Rust of our own.
const FOLDERS: [&str; 9] =
    ["src", "actors", "benches", "fuzz", "handoff", "persistent", "sandbox", "tests", "wal"];

/// The lines of the Rust files with their places, those of each file apart.
fn files() -> Vec<Vec<(String, String)>> {
    let lines = |path: std::path::PathBuf| {
        let name = path.strip_prefix(root()).expect("a path below the root").display().to_string();
        let text = fs::read_to_string(&path).expect("a readable file");
        text.lines().enumerate().map(|(at, line)| (format!("{name}:{}", at + 1), line.to_owned())).collect()
    };
    FOLDERS.into_iter().flat_map(rust_files).map(lines).collect()
}

/// The text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']))
}

#[test]
fn drawings_fit() {
    let mut drawings = 0;
    for file in files() {
        let mut is_drawing = false;
        for (place, line) in file {
            let Some(text) = comment(&line) else {
                is_drawing = false;
                continue;
            };
            if let Some(language) = text.trim().strip_prefix("```") {
                is_drawing = !is_drawing && language == "text";
                drawings += usize::from(is_drawing);
            } else if is_drawing {
                assert!(line.chars().count() <= DRAWING_COLUMNS_MAX, "{place} leaves the drawing: {line}");
            }
        }
    }
    assert!(drawings >= 10, "only {drawings} drawings: has their form changed?");
}

/// The number of columns for a comment. The rows of a table cannot be broken.
const COMMENT_COLUMNS_MAX: usize = 110;

#[test]
fn comments_fit() {
    for (place, line) in files().into_iter().flatten() {
        let is_row = comment(&line).is_some_and(|text| text.trim_start().starts_with('|'));
        assert!(
            comment(&line).is_none() || is_row || line.chars().count() <= COMMENT_COLUMNS_MAX,
            "{place} is a comment of more than {COMMENT_COLUMNS_MAX} columns: {line}"
        );
    }
}
