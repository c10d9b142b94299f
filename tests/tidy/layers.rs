//! The layers of `actors`: which module may import which, and that none is part of a circle.

use crate::{code, root, rust_files};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// The modules of `actors` in layers, the lowest first. A module imports from itself and from lower
/// layers, and from no other of its own layer.
const LAYERS: &[&[&str]] = &[
    &["machine", "clock", "admission", "entity_cache"],
    &["alarm"],
    &["protocol"],
    &["host"],
    &["entity"],
    &["book"],
    &["clock_advance"],
    &["engine"],
];

/// A file of `actors`, by its place among the modules.
struct File {
    /// The module in [`LAYERS`], and the file in its folder; `mod` for the folder's own.
    module: String,
    part: String,
    code: String,
}

fn files() -> Vec<File> {
    let below = root().join("actors/src");
    let file = |path: std::path::PathBuf| {
        let name = path.strip_prefix(&below).expect("a path below the folder").with_extension("");
        let mut names = name.iter().map(|name| name.to_string_lossy().into_owned());
        let module = names.next().expect("a name");
        let part = names.next().unwrap_or_else(|| "mod".to_owned());
        assert!(names.next().is_none(), "{} is in a folder of a folder", path.display());
        File { module, part, code: code(&path) }
    };
    rust_files("actors/src").into_iter().map(file).filter(|file| file.module != "lib").collect()
}

fn layer(module: &str) -> usize {
    let is_there = |layer: &&[&str]| layer.contains(&module);
    LAYERS.iter().position(is_there).unwrap_or_else(|| panic!("{module} has no place among the layers"))
}

#[test]
fn modules_of_actors_import_downward_only() {
    let named = Regex::new(r"\bcrate::(\{|[a-zA-Z_]+)").expect("a pattern");
    let mut imports = 0;
    for file in files() {
        for import in named.captures_iter(&file.code) {
            let (from, to) = (&file.module, &import[1]);
            assert!(
                to == from || layer(to) < layer(from),
                "{from}/{} imports crate::{to}, which is not in a lower layer",
                file.part
            );
            imports += 1;
        }
    }
    assert!(imports > 50, "only {imports} imports: are these the modules of actors?");
}

/// The files of a folder that a file of it names. A folder's own file is left out: its children
/// know what it declares, and it lists them.
fn siblings(file: &File, of_folder: &BTreeSet<String>) -> BTreeSet<String> {
    let from_super = Regex::new(r"\bsuper::(?:\{([^;]*)\}|([a-z_]+))").expect("a pattern");
    let from_crate = Regex::new(&format!(r"\bcrate::{}::([a-z_]+)", file.module)).expect("a pattern");
    let word = Regex::new("[a-z_]+").expect("a pattern");
    let mut named: BTreeSet<String> = BTreeSet::new();
    for found in from_super.captures_iter(&file.code) {
        let names = found.get(1).or(found.get(2)).map_or("", |names| names.as_str());
        named.extend(word.find_iter(names).map(|name| name.as_str().to_owned()));
    }
    named.extend(from_crate.captures_iter(&file.code).map(|found| found[1].to_owned()));
    named.into_iter().filter(|name| *name != file.part && of_folder.contains(name)).collect()
}

#[test]
fn files_of_a_module_of_actors_do_not_import_each_other_in_a_circle() {
    let files = files();
    let mut folders: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.part != "mod") {
        folders.entry(&file.module).or_default().insert(file.part.clone());
    }
    let mut imports = 0;
    for (folder, parts) in &folders {
        let mut left: BTreeMap<String, BTreeSet<String>> = files
            .iter()
            .filter(|file| file.module == *folder && file.part != "mod")
            .map(|file| (file.part.clone(), siblings(file, parts)))
            .collect();
        imports += left.values().map(BTreeSet::len).sum::<usize>();
        // Files that import nothing that is left are not part of a circle.
        while let Some(done) = left.iter().find(|(_, named)| named.is_empty()).map(|(part, _)| part.clone()) {
            left.remove(&done);
            left.values_mut().for_each(|named| {
                named.remove(&done);
            });
        }
        assert!(left.is_empty(), "in {folder} these import each other in a circle: {left:#?}");
    }
    assert!(imports > 3, "only {imports} imports: are these the files of actors?");
}

/// A completion waits in the log's queue, so it must not keep the engine, which keeps the log.
#[test]
fn a_completion_carries_senders_and_no_engine() {
    for file in files().iter().filter(|file| file.module == "protocol") {
        for word in ["Engine", "Host<", "Context", "Shared"] {
            assert!(!file.code.contains(word), "protocol/{} has `{word}`", file.part);
        }
    }
}
