//! No file of a crate imports another that imports it, at once or by way of others. What a file names by `crate::`,
//! `super::` or in a `use` counts; what a folder's own file names of its children by their bare names does not, nor what
//! goes by a re-export.

use crate::{code, root, rust_files};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// The folders of the crates' root files.
const ROOTS: [&str; 4] = ["actors/src", "src", "src/api", "src/domain"];

/// A module by its path; a folder's own file has the folder's.
type Module = Vec<String>;

/// The code of each module of a crate, without its tests.
fn modules(below: &str) -> BTreeMap<Module, String> {
    let mut modules = BTreeMap::new();
    for path in rust_files(below) {
        let file = path.strip_prefix(root().join(below)).expect("a path below the root").with_extension("");
        let mut names: Module = file.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        let is_other_crate = below == "src" && ["api", "domain"].contains(&names[0].as_str());
        if is_other_crate || names.iter().any(|name| name == "tests") {
            continue;
        }
        if names.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
            names.pop();
        }
        let code = code(&path);
        let code = code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        modules.insert(names, code.to_owned());
    }
    modules
}

/// The paths that a use tree names.
fn named(prefix: &[String], tree: &str, found: &mut Vec<Module>) {
    let (head, group) = tree.split_once('{').map_or((tree, None), |(head, rest)| (head, Some(rest)));
    let steps = head.split("::").map(|step| step.split(" as ").next().unwrap_or_default().trim());
    let mut path = prefix.to_vec();
    path.extend(steps.filter(|step| !step.is_empty()).map(str::to_owned));
    let Some(group) = group.map(|rest| rest.rsplit_once('}').map_or(rest, |(group, _)| group)) else {
        found.push(path);
        return;
    };
    let (mut depth, mut from) = (0, 0);
    for (at, letter) in group.char_indices().chain([(group.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                named(&path, &group[from..at], found);
                from = at + 1;
            }
            _ => {}
        }
    }
}

/// The modules of its crate that a module imports.
fn imports(module: &Module, code: &str, modules: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let tree = Regex::new(r"\buse\s+(crate|super|self)((?:::super)*)::([^;]+);").expect("a pattern");
    let path = Regex::new(r"\b(crate|super)::((?:[a-z_0-9]+::)+[A-Za-z_0-9]+)").expect("a pattern");
    let mut found = Vec::new();
    for import in tree.captures_iter(code) {
        let above = import[2].matches("super").count();
        let from = match &import[1] {
            "crate" => 0,
            "self" => module.len(),
            _ => module.len().saturating_sub(1 + above),
        };
        named(&module[..from], &import[3], &mut found);
    }
    for import in path.captures_iter(code) {
        let from = if &import[1] == "crate" { 0 } else { module.len().saturating_sub(1) };
        named(&module[..from], &import[2], &mut found);
    }
    let of_module = |path: Module| {
        let known = (1..=path.len()).rev().map(|steps| path[..steps].to_vec());
        known.into_iter().find(|path| modules.contains_key(path))
    };
    found.into_iter().filter_map(of_module).filter(|other| other != module).collect()
}

/// The modules that are part of a circle or stand between two, with what they import of those.
fn circles(mut imports: BTreeMap<Module, BTreeSet<Module>>) -> BTreeMap<Module, BTreeSet<Module>> {
    loop {
        let named: BTreeSet<Module> = imports.values().flatten().cloned().collect();
        let before = imports.len();
        // What imports nothing that is left, and what nothing that is left imports, is in no circle.
        imports.retain(|module, others| !others.is_empty() && named.contains(module));
        let left: BTreeSet<Module> = imports.keys().cloned().collect();
        imports.values_mut().for_each(|others| others.retain(|other| left.contains(other)));
        if imports.len() == before {
            return imports;
        }
    }
}

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() {
    let mut wrong = Vec::new();
    for below in ROOTS {
        let modules = modules(below);
        let imports: BTreeMap<Module, BTreeSet<Module>> =
            modules.iter().map(|(module, code)| (module.clone(), imports(module, code, &modules))).collect();
        assert!(imports.values().flatten().count() > 15, "are these the files of {below}? {imports:#?}");
        for (module, others) in circles(imports) {
            let others: Vec<String> = others.iter().map(|other| other.join("::")).collect();
            wrong.push(format!("{below}: {} imports {}", module.join("::"), others.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "files in circles:\n{}", wrong.join("\n"));
}

#[test]
fn a_circle_is_found() {
    let module = |name: &str| vec![name.to_owned()];
    let code = [
        ("a", "use crate::{b, c::Thing};"),
        ("b", "fn it() { crate::c::do_it(); }"),
        ("c", "use super::b::{One, Other};"),
        ("d", "use super::a;"),
    ];
    let modules = code.iter().map(|(name, code)| (module(name), (*code).to_owned())).collect();
    let found = circles(
        code.iter().map(|(name, code)| (module(name), imports(&module(name), code, &modules))).collect(),
    );
    let names: Vec<&String> = found.keys().flatten().collect();
    assert_eq!(names, ["b", "c"]);
}
