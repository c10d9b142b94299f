//! Rooms of the root package: which top-level folder or file of `src` imports which other. Each imports from lower
//! levels of the list in ARCHITECTURE.md alone. The compiler keeps the walls between crates; inside this one only
//! this test does.

use crate::{code, root, rust_files};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Crates of their own that lie below `src`, and what puts the rooms together.
const NO_ROOMS: [&str; 4] = ["api", "domain", "lib", "main"];

/// Rooms that may import so much and no more.
const WALLS: [(&str, &[&str]); 6] = [
    ("http", &[]),
    ("store", &[]),
    ("rails", &["bank_text", "disk", "outbound"]),
    ("config", &["json_pointer", "network", "rails", "rates"]),
    ("rates", &["bank_text", "disk", "fetch", "json_pointer"]),
    ("webhooks", &["outbound", "store"]),
];

/// The imports of each room, each with a file that has it.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

/// The modules of its own crate that a file names.
fn named(code: &str) -> BTreeSet<String> {
    let one = Regex::new(r"\bcrate::([a-z_]+)").expect("a pattern");
    let many = Regex::new(r"\bcrate::\{([^;]*)\}").expect("a pattern");
    let first = Regex::new(r"(?:^|,)\s*([a-z_]+)").expect("a pattern");
    let in_braces = many.captures_iter(code).flat_map(|found| {
        let list = found.get(1).map_or("", |list| list.as_str());
        first.captures_iter(list).map(|name| name[1].to_owned()).collect::<Vec<_>>()
    });
    one.captures_iter(code).map(|found| found[1].to_owned()).chain(in_braces).collect()
}

fn imports() -> Imports {
    let mut imports = Imports::new();
    for path in rust_files("src") {
        let file = path.strip_prefix(root().join("src")).expect("a path below src").to_string_lossy();
        let room = file.split('/').next().unwrap_or(&file).trim_end_matches(".rs").to_owned();
        if NO_ROOMS.contains(&room.as_str()) {
            continue;
        }
        let of_room = imports.entry(room.clone()).or_default();
        for other in named(&code(&path)).into_iter().filter(|other| *other != room) {
            of_room.entry(other).or_insert_with(|| file.to_string());
        }
    }
    imports
}

#[test]
fn rooms_import_what_they_may() {
    let imports = imports();
    for (room, allowed) in WALLS {
        for (other, file) in &imports[room] {
            assert!(allowed.contains(&other.as_str()), "{room} imports {other}, in {file}");
        }
    }
}

/// The levels of the rooms, the highest first, as `ARCHITECTURE.md` has them: `a, b → c`. What is below
/// the rooms (`api` and so on) are crates, whose walls the compiler keeps.
fn levels() -> Vec<Vec<String>> {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let list = map.split('`').find(|text| text.starts_with("cli →")).expect("the order of imports");
    let level = |level: &str| level.split(',').map(|room| room.trim().to_owned()).collect();
    list.split('→').map(level).take_while(|level: &Vec<String>| level[0] != NO_ROOMS[0]).collect()
}

#[test]
fn rooms_import_in_the_order_of_the_map() {
    let levels = levels();
    let level = |room: &str| {
        let is_in = |level: &Vec<String>| level.iter().any(|name| name == room);
        levels.iter().position(is_in).unwrap_or_else(|| panic!("{room} has no level in ARCHITECTURE.md"))
    };
    let imports = imports();
    assert!(imports.len() > 15 && imports["gateway"].len() > 5, "are these the rooms? {imports:?}");
    for (room, named) in &imports {
        for (other, file) in named {
            assert!(level(room) < level(other), "{room} imports {other}, which is not below it, in {file}");
        }
    }
    for room in levels.iter().flatten() {
        assert!(imports.contains_key(room), "ARCHITECTURE.md has a level for {room}, which is no room");
    }
}
