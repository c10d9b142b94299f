//! Rooms of the root package: which top-level folder or file of `src` imports which other, and that
//! no two import each other, not even by way of others. The compiler keeps the walls between
//! crates; inside this one only this test does. The folders of `api` and `domain` have circles,
//! which are listed here and may only become fewer.

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
    ("config", &["json_pointer", "network"]),
    ("rates", &["bank_text", "disk", "fetch", "json_pointer"]),
    ("webhooks", &["outbound", "store"]),
];

/// Folders of a crate that import each other, one by one or by way of others, and pairs that do so
/// at once.
struct Circles {
    below: &'static str,
    folders: &'static [&'static [&'static str]],
    pairs: &'static [(&'static str, &'static str)],
}

/// The circles that are known. One that is mended is taken out; none is added.
const KNOWN: [Circles; 2] = [
    Circles {
        below: "src/api",
        folders: &[&["balance", "cop_payments", "payments"], &["openapi", "wire"]],
        pairs: &[("openapi", "wire")],
    },
    Circles {
        below: "src/domain",
        folders: &[&["entities", "index", "ledger", "platform", "resources"]],
        pairs: &[
            ("entities", "ledger"),
            ("entities", "resources"),
            ("ledger", "resources"),
            ("platform", "resources"),
        ],
    },
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

/// The imports of each folder of a crate below `src`, without its tests.
fn imports_of_folders(below: &str) -> Imports {
    let mut found: Vec<(String, String, String)> = Vec::new();
    for path in rust_files(below) {
        let file = path.strip_prefix(root().join(below)).expect("a path below it").to_string_lossy();
        let is_test = file.split('/').any(|name| name == "tests" || name == "tests.rs");
        let Some((folder, _)) = file.split_once('/').filter(|_| !is_test) else { continue };
        let code = code(&path);
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        found.push((folder.to_owned(), file.to_string(), code.to_owned()));
    }
    let folders: BTreeSet<String> = found.iter().map(|(folder, ..)| folder.clone()).collect();
    // Formats are named without their folder (`src/api/mod.rs`).
    let formats = root().join(below).join("wire");
    let folder_of = |name: String| match formats.join(&name).with_extension("rs").is_file()
        || formats.join(&name).is_dir()
    {
        true => "wire".to_owned(),
        false => name,
    };
    let mut imports = Imports::new();
    for (folder, file, code) in found {
        let of_folder = imports.entry(folder.clone()).or_default();
        let others = named(&code).into_iter().map(folder_of);
        for other in others.filter(|other| *other != folder && folders.contains(other)) {
            of_folder.entry(other).or_insert_with(|| file.clone());
        }
    }
    imports
}

/// The rooms that a room imports, at once or by way of others.
fn reached(imports: &Imports, from: &str) -> BTreeSet<String> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(room) = next.pop() {
        for other in imports.get(&room).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(other.clone()) {
                next.push(other.clone());
            }
        }
    }
    reached
}

/// The groups of rooms that import each other, at once or by way of others.
fn groups(imports: &Imports) -> BTreeSet<Vec<String>> {
    let of = |room: &String| {
        let reached = reached(imports, room);
        let group: Vec<String> =
            reached.iter().filter(|other| self::reached(imports, other).contains(room)).cloned().collect();
        (group.len() > 1).then_some(group)
    };
    imports.keys().filter_map(of).collect()
}

/// A way from a room back to itself, if there is one.
fn circle(imports: &Imports, way: &mut Vec<String>, done: &mut BTreeSet<String>) -> Option<Vec<String>> {
    let here = way.last().cloned()?;
    if let Some(began) = way[..way.len() - 1].iter().position(|room| *room == here) {
        return Some(way[began..].to_vec());
    }
    if done.contains(&here) {
        return None;
    }
    for next in imports.get(&here).into_iter().flat_map(BTreeMap::keys) {
        way.push(next.clone());
        if let Some(circle) = circle(imports, way, done) {
            return Some(circle);
        }
        way.pop();
    }
    done.insert(here);
    None
}

#[test]
fn no_two_rooms_import_each_other() {
    let imports = imports();
    assert!(imports.len() > 15 && imports["gateway"].len() > 5, "are these the rooms? {imports:?}");
    let mut done = BTreeSet::new();
    for room in imports.keys() {
        if let Some(circle) = circle(&imports, &mut vec![room.clone()], &mut done) {
            let files: Vec<&str> =
                circle.windows(2).map(|step| imports[&step[0]][&step[1]].as_str()).collect();
            panic!("a circle: {}, by {}", circle.join(" → "), files.join(", "));
        }
    }
}

#[test]
fn circles_of_folders_in_the_crates_only_become_fewer() {
    for Circles { below, folders, pairs } in KNOWN {
        let imports = imports_of_folders(below);
        assert!(imports.len() > 5, "are these the folders of {below}? {imports:?}");
        let known: BTreeSet<Vec<String>> =
            folders.iter().map(|group| group.iter().map(|room| (*room).to_owned()).collect()).collect();
        assert_eq!(groups(&imports), known, "circles of folders in {below}, found and known: {imports:#?}");
        let both =
            |one: &str, other: &str| imports[one].contains_key(other) && imports[other].contains_key(one);
        let found: Vec<(&str, &str)> = imports
            .iter()
            .flat_map(|(one, others)| others.keys().map(move |other| (one.as_str(), other.as_str())))
            .filter(|(one, other)| one < other && both(one, other))
            .collect();
        assert_eq!(found, pairs, "pairs of folders in {below} that import each other, found and known");
    }
}

#[test]
fn a_circle_is_found() {
    let to = |rooms: &[&str]| rooms.iter().map(|room| ((*room).to_owned(), String::new())).collect();
    let of = |rows: &[(&str, &[&str])]| -> Imports {
        rows.iter().map(|(room, rooms)| ((*room).to_owned(), to(rooms))).collect()
    };
    let found = |imports: &Imports| {
        let (way, mut done) = (vec!["a".to_owned()], BTreeSet::new());
        circle(imports, &mut way.clone(), &mut done)
    };
    assert_eq!(found(&of(&[("a", &["b", "c"]), ("b", &["c"])])), None);
    let circle = found(&of(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]));
    assert_eq!(circle.map(|rooms| rooms.join(" ")), Some("b c b".to_owned()));
    let groups = groups(&of(&[("a", &["b"]), ("b", &["c"]), ("c", &["d"]), ("d", &["b"])]));
    assert_eq!(groups.into_iter().map(|group| group.join(" ")).collect::<Vec<_>>(), ["b c d"]);
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
    for (room, named) in &imports {
        for (other, file) in named {
            assert!(level(room) < level(other), "{room} imports {other}, which is not below it, in {file}");
        }
    }
    for room in levels.iter().flatten() {
        assert!(imports.contains_key(room), "ARCHITECTURE.md has a level for {room}, which is no room");
    }
}
