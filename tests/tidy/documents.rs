//! Documents: their links, the files that they name, the length of their lines and of the map.

use crate::{files_with, root};
use regex::Regex;
use std::fs;
use std::path::{Path, PathBuf};

/// The number of words after which the map is none.
const MAP_WORDS_MAX: usize = 2_200;

/// The documents: what stands in the root and in these folders.
fn documents() -> Vec<PathBuf> {
    let at_root = fs::read_dir(root()).expect("the root").flatten().map(|entry| entry.path());
    let at_root = at_root.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    at_root
        .chain(["docs", "benches", "sdks"].into_iter().flat_map(|folder| files_with(folder, "md")))
        .collect()
}

/// The number of characters after which a line of a document is broken.
const COLUMNS_MAX: usize = 120;

/// The text of a document without its blocks of code.
fn prose(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a readable file");
    text.split("\n```").step_by(2).collect::<Vec<_>>().join("\n")
}

/// The anchor that GitHub gives to a heading.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_of_documents_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").expect("a pattern");
    let heading = Regex::new(r"(?m)^#+ (.+)$").expect("a pattern");
    let mut links = 0;
    for path in documents() {
        for link in link.captures_iter(&prose(&path)) {
            let target = &link[1];
            // An address of a server, such as the reference's, is none of the repository.
            if target.contains("://") || target.starts_with("mailto:") || target.starts_with('/') {
                continue;
            }
            links += 1;
            let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
            let file = match file {
                "" => path.clone(),
                file => path.parent().expect("a folder").join(file),
            };
            assert!(file.exists(), "{} links to {target}, which is not there", path.display());
            let is_known =
                |text: &str| heading.captures_iter(text).any(|found| anchor(&found[1]) == fragment);
            assert!(
                fragment.is_empty() || is_known(&prose(&file)),
                "{} links to {target}, and there is no such heading",
                path.display()
            );
        }
    }
    assert!(links > 50, "only {links} links: are these the documents?");
}

#[test]
fn files_that_documents_name_exist() {
    let folders = "src|actors|wal|sandbox|sdks|tests|benches|docs|pgo|deploy|\\.cargo|\\.ci";
    let named = Regex::new(&format!("`((?:{folders})/[A-Za-z0-9_./-]*)`")).expect("a pattern");
    for path in documents() {
        // Documents about the past, and quotations, name files that are not here.
        let below = path.strip_prefix(root()).expect("a path below the root");
        if ["CHANGELOG.md", "benches", "docs/experiments"].iter().any(|history| below.starts_with(history)) {
            continue;
        }
        for named in named.captures_iter(&prose(&path)) {
            let file = &named[1];
            assert!(root().join(file).exists(), "{} names {file}, which is not there", path.display());
        }
    }
}

/// Rows of tables and headings cannot be broken; blocks of code are as they came.
#[test]
fn lines_of_documents_fit_a_screen() {
    let own = |path: &PathBuf| {
        let below = path.strip_prefix(root()).expect("a path below the root");
        below.starts_with("docs")
            || ["README.md", "ARCHITECTURE.md"].iter().any(|name| below == Path::new(name))
    };
    let mut lines = 0;
    for path in documents().into_iter().filter(own) {
        for line in prose(&path).lines().filter(|line| !line.trim_start().starts_with(['|', '#'])) {
            assert!(line.chars().count() <= COLUMNS_MAX, "{} has a long line: {line}", path.display());
            lines += 1;
        }
    }
    assert!(lines > 5_000, "only {lines} lines: are these the documents?");
}

#[test]
fn the_map_is_short() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let words = map.split_whitespace().count();
    assert!(words < MAP_WORDS_MAX, "ARCHITECTURE.md has {words} words: decisions and experiments have pages");
}

#[test]
fn the_walk_of_a_payout_names_what_is_there() {
    let walk = fs::read_to_string(root().join("docs/one-payout.md")).expect("docs/one-payout.md");
    let causes = fs::read_to_string(root().join("src/domain/cause.rs")).expect("the causes");
    let step = Regex::new(r"(?m)^\d+\. .*(?:\n {3,}.*)*").expect("a pattern");
    let quoted = Regex::new(r"`([^`]+)`").expect("a pattern");
    let mut named = 0;
    for step in step.find_iter(&walk).map(|step| step.as_str()) {
        let words = quoted.captures_iter(step).map(|word| word.extract::<1>().1[0]);
        let (files, names): (Vec<&str>, Vec<&str>) = words.partition(|word| word.contains('/'));
        let code =
            files.iter().map(|file| fs::read_to_string(root().join(file)).expect("a file of the walk"));
        let code: String = code.collect();
        for name in names {
            // The cause of a record; what goes through the engine again is in no file of the step.
            let is_there = if name.contains('.') {
                causes.contains(&format!("\"{name}\""))
            } else {
                let last = name.rsplit("::").next().expect("a name");
                let is_function = last.chars().all(|c| c.is_ascii_lowercase() || c == '_');
                let sought = format!(r"{}\b{last}\b", if is_function { "fn " } else { "" });
                files.is_empty() || Regex::new(&sought).expect("a pattern").is_match(&code)
            };
            assert!(is_there, "{name} is in no file that its step names: {step}");
            named += 1;
        }
    }
    assert!(named > 50, "only {named} names: is this the walk?");
}

/// The folder of the tests that a document calls by the first word of their path.
fn tests_of(word: &str) -> PathBuf {
    match word {
        "wal" => root().join("wal/tests/wal"),
        "host" => root().join("actors/tests/host"),
        "books" => root().join("src/rails/simulator/books"),
        binary => root().join("tests").join(binary),
    }
}

#[test]
fn every_test_that_the_list_of_promises_names_is_there() {
    let named = named_tests("docs/crash-matrix.md");
    assert!(named >= 50, "docs/crash-matrix.md names {named} tests");
}

/// The number of tests that a document's cases name, each of which is there.
fn named_tests(document: &str) -> usize {
    let text = fs::read_to_string(root().join(document)).expect("the document");
    let case = Regex::new(r"(?m)^- \*\*.*(?:\n  .*)*").expect("a pattern");
    let mut named = 0;
    for case in case.find_iter(&text).map(|case| case.as_str().to_lowercase()) {
        let tests: Vec<&str> = case.split('`').filter(|word| word.contains("::")).collect();
        let is_shown = !tests.is_empty() || case.contains(".rs`") || case.contains("`tests/");
        assert!(is_shown || case.contains("no test: "), "nothing shows this: {case}");
        for test in tests {
            let (file, name) = test.rsplit_once("::").expect("a path");
            let (first, inside) = file.split_once("::").unwrap_or((file, "main"));
            let folder = tests_of(first);
            // A binary of one file has no folder.
            let file = if folder.is_dir() { folder.join(inside.replace("::", "/")) } else { folder };
            let file = file.with_extension("rs");
            let code = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{test}: {error}"));
            assert!(code.contains(&format!("fn {name}(")), "{} has no {name}", file.display());
            named += 1;
        }
    }
    named
}
