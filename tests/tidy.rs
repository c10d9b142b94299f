//! What the compiler does not keep: who may import whom, how long files get, that nothing is left
//! unfinished, that every citation leads somewhere, and that every dependency may be used.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines after which a file should have become a folder.
const LINES_MAX: usize = 700;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    assert!(folders[0].is_dir(), "there is no {folder}");
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// Lines of code, without comments: what may be imported is said in code.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a readable file");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn assert_absent(folder: &str, words: &[&str], why: &str) {
    for path in rust_files(folder) {
        let code = code(&path);
        for word in words {
            assert!(!code.contains(word), "{} has `{word}`: {why}", path.display());
        }
    }
}

#[test]
fn the_domain_is_pure() {
    let words =
        ["tokio::", "std::fs", "std::net", "std::time::", "SystemTime", "Instant::now", "async fn", "now_v7"];
    assert_absent("src/domain", &words, "the domain knows no clock, randomness, socket, disk or async");
}

#[test]
fn the_api_is_pure() {
    let words = ["tokio::", "std::fs", "TcpStream", "UdpSocket", "SystemTime", "Instant::now", "async fn"];
    assert_absent("src/api", &words, "the api translates; it does not wait and knows nothing that does");
}

#[test]
fn the_crates_below_do_not_know_money() {
    let words = ["payment", "payout", "merchant", "pasarela::", "hyper::"];
    assert_absent("wal/src", &words, "the log knows bytes, not money");
    assert_absent("actors/src", &["pasarela::", "hyper::", "rust_decimal"], "the engine hosts any machine");
}

#[test]
fn files_have_one_subject() {
    for folder in ["src", "actors/src", "wal/src"] {
        for path in rust_files(folder) {
            let lines = fs::read_to_string(&path).expect("a readable file").lines().count();
            assert!(lines <= LINES_MAX, "{} has {lines} lines", path.display());
        }
    }
}

#[test]
fn files_say_what_they_are_for_and_nothing_is_left_unfinished() {
    let unfinished =
        [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("unimplemented", "!("), concat!("todo", "!(")];
    for folder in ["src", "actors/src", "wal/src", "tests", "benches"] {
        if !root().join(folder).exists() {
            continue;
        }
        for path in rust_files(folder) {
            let text = fs::read_to_string(&path).expect("a readable file");
            assert!(text.starts_with("//!"), "{} does not say what it is for", path.display());
            for word in unfinished {
                assert!(!text.contains(word), "{} has `{word}`", path.display());
            }
        }
    }
}

#[test]
fn modules_have_names_of_the_domain() {
    for path in rust_files("src") {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        assert!(
            !["utils", "util", "helpers", "helper", "manager", "common", "misc"].contains(&name.as_str()),
            "{}",
            path.display()
        );
    }
}

/// The document whose sections code, tests and documents cite.
const CONTRACT: &str = "docs/contract.md";

/// Texts of other projects, which name documents of their own.
const QUOTATIONS: [&str; 2] = ["benches/peers/", "benches/report/"];

/// Text files of the repository with their paths from its root, without what is built or fetched.
fn texts() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name =
                path.strip_prefix(root()).expect("a path below the root").to_string_lossy().into_owned();
            let is_foreign = ["target", "data", ".git", "Cargo.lock"].contains(&name.as_str())
                || name.contains("node_modules");
            match (is_foreign, path.is_dir()) {
                (true, _) => {}
                (false, true) => folders.push(path),
                (false, false) => found.extend(fs::read_to_string(&path).ok().map(|text| (name, text))),
            }
        }
    }
    found
}

/// Sections of the contract by their numbers: those of chapters, `7`, and those in them, `7.3`.
fn sections() -> Vec<String> {
    let text = fs::read_to_string(root().join(CONTRACT)).expect("the contract");
    let number = |heading: &str| heading.split_once(' ').map_or("", |(number, _)| number).to_owned();
    let of = |line: &str| match (line.strip_prefix("## "), line.strip_prefix("### ")) {
        (Some(chapter), _) => Some(number(chapter).trim_end_matches('.').to_owned()),
        (None, Some(section)) => Some(number(section)),
        (None, None) => None,
    };
    text.lines().filter_map(of).collect()
}

/// Numbers that stand behind a citation of the contract: `, 7.3` or `, 7.3, 7.4`.
fn cited(mut behind: &str) -> Vec<&str> {
    let mut numbers = Vec::new();
    while let Some(next) =
        behind.strip_prefix(", ").filter(|next| next.starts_with(|c: char| c.is_ascii_digit()))
    {
        let end = next.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(next.len());
        numbers.push(next[..end].trim_end_matches('.'));
        behind = &next[end..];
    }
    numbers
}

#[test]
fn the_numbers_of_the_contract_are_unique_and_in_order() {
    let sections = sections();
    assert!(sections.len() > 150, "the contract has {} sections", sections.len());
    let mut before = (0, 0);
    for number in &sections {
        let (chapter, section) = number.split_once('.').unwrap_or((number, "0"));
        let (chapter, section): (u32, u32) =
            (chapter.parse().expect("a chapter's number"), section.parse().expect("a section's number"));
        let follows =
            (chapter, section) == (before.0, before.1 + 1) || (chapter, section) == (before.0 + 1, 0);
        assert!(follows, "{number} stands behind {}.{}", before.0, before.1);
        before = (chapter, section);
    }
}

#[test]
fn every_cited_section_is_in_the_contract() {
    let sections: BTreeSet<String> = sections().into_iter().collect();
    let mut found = 0;
    for (name, text) in texts().into_iter().filter(|(name, _)| name != CONTRACT && name != "tests/tidy.rs") {
        for (at, line) in text.lines().enumerate() {
            for (start, _) in line.match_indices(CONTRACT) {
                let numbers = cited(&line[start + CONTRACT.len()..]);
                // Documents for people may name the whole of it.
                assert!(!numbers.is_empty() || name.ends_with(".md"), "{name}:{} names no section", at + 1);
                found += numbers.len();
                for number in numbers {
                    assert!(sections.contains(number), "{name}:{}: there is no section {number}", at + 1);
                }
            }
        }
    }
    assert!(found > 150, "only {found} citations were found: has their form changed?");
}

#[test]
fn no_document_outside_the_repository_is_cited() {
    let texts = texts();
    let own: BTreeSet<&str> = texts
        .iter()
        .filter(|(name, _)| name.ends_with(".md"))
        .map(|(name, _)| name.rsplit('/').next().unwrap_or(name))
        .collect();
    let is_quoted = |name: &str| QUOTATIONS.iter().any(|folder| name.starts_with(folder));
    for (name, text) in texts.iter().filter(|(name, _)| !is_quoted(name) && name != "tests/tidy.rs") {
        for (at, line) in text.lines().enumerate() {
            for (end, _) in line.match_indices(".md") {
                let behind = line[end + 3..].chars().next();
                let document = line[..end]
                    .rfind(|c: char| !c.is_ascii_alphanumeric() && !"._-/:".contains(c))
                    .map_or(&line[..end], |before| &line[before..end])
                    .trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
                // A source of a fact is a document of another project, at one of its commits.
                let is_source = behind == Some('@') || document.contains(':');
                if document.is_empty() || is_source || behind.is_some_and(|c| c.is_ascii_alphanumeric()) {
                    continue;
                }
                let file = document.rsplit('/').next().unwrap_or(document);
                assert!(
                    own.contains(format!("{file}.md").as_str()),
                    "{name}:{}: {document}.md is not here",
                    at + 1
                );
                let whole = file != "contract" || document.ends_with("docs/contract");
                assert!(whole, "{name}:{}: cite {CONTRACT} by its whole path", at + 1);
            }
        }
    }
}

#[test]
fn every_dependency_has_a_licence_that_the_policy_allows() {
    let policy: toml::Table =
        fs::read_to_string(root().join("deny.toml")).expect("deny.toml").parse().expect("TOML");
    let allowed: BTreeSet<&str> = policy["licenses"]["allow"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(toml::Value::as_str)
        .collect();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    // What is built for this platform: the packages of others need not be here.
    let version = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()))
        .arg("-vV")
        .output()
        .expect("rustc runs");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host").to_owned();
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", &host])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50, "only {} packages: is this the workspace?", packages.len());
    for package in packages {
        let (name, licence) =
            (package["name"].as_str().unwrap_or_default(), package["license"].as_str().unwrap_or_default());
        assert!(
            is_allowed(licence, &allowed),
            "{name} has the licence `{licence}`, which deny.toml does not allow"
        );
    }
}

/// An expression without parentheses inside parentheses is all that occurs: `A OR B`, `A AND B`,
/// `(A OR B) AND C`, `A/B`.
fn is_allowed(licence: &str, allowed: &BTreeSet<&str>) -> bool {
    let licence = licence.replace('/', " OR ").replace(" or ", " OR ");
    let any =
        |part: &str| part.split(" OR ").any(|one| allowed.contains(one.trim().trim_matches(['(', ')'])));
    match licence.contains('(') {
        true => licence.split(" AND ").all(any),
        false => {
            licence.split(" OR ").any(|choice| choice.split(" AND ").all(|one| allowed.contains(one.trim())))
        }
    }
}
