//! The layers of `actors`: which module may import which.

use crate::{code, root, rust_files};
use regex::Regex;

/// The modules of `actors` in layers, the lowest first. A module imports from itself and from lower
/// layers, and from no other of its own layer.
const LAYERS: &[&[&str]] = &[
    &["machine", "clock", "admission"],
    &["protocol"],
    &["host"],
    &["alarm"],
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

/// A completion waits in the log's queue, so it must not keep the engine, which keeps the log.
#[test]
fn a_completion_carries_senders_and_no_engine() {
    for file in files().iter().filter(|file| file.module == "protocol") {
        for word in ["Engine", "Host<", "Context", "Shared"] {
            assert!(!file.code.contains(word), "protocol/{} has `{word}`", file.part);
        }
    }
}
