//! What the compiler does not keep: who may import whom, how long files get, that nothing is left
//! unfinished, and that every dependency may be used.

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
    let words = [
        "crate::api",
        "crate::server",
        "crate::rails",
        "crate::rates",
        "crate::admin",
        "tokio::",
        "std::fs",
        "std::net",
        "std::time::",
        "SystemTime",
        "Instant::now",
        "async fn",
        "now_v7",
    ];
    assert_absent(
        "src/domain",
        &words,
        "the domain knows no clock, randomness, socket, disk or async, and nothing above it",
    );
}

#[test]
fn the_api_is_pure() {
    let words = [
        "crate::server",
        "crate::admin",
        "crate::rails",
        "tokio::",
        "std::fs",
        "TcpStream",
        "UdpSocket",
        "SystemTime",
        "Instant::now",
        "async fn",
    ];
    assert_absent("src/api", &words, "the api translates; it does not wait and knows nothing that does");
}

#[test]
fn the_crates_below_do_not_know_money() {
    let words = ["payment", "payout", "merchant", "pasarela::", "hyper::"];
    assert_absent("wal/src", &words, "the log knows bytes, not money");
    assert_absent(
        "handoff/src",
        &["wal::", "actors::", "tokio", "pasarela::"],
        "what is handed over is not its business",
    );
    assert_absent("actors/src", &["pasarela::", "hyper::", "rust_decimal"], "the engine hosts any machine");
}

#[test]
fn files_have_one_subject() {
    for folder in ["src", "actors/src", "fuzz", "handoff/src", "wal/src"] {
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
    for folder in ["src", "actors/src", "fuzz", "handoff/src", "wal/src", "tests", "benches"] {
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
