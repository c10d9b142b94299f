//! A release has one version: whatever repeats that of Cargo.toml says the same.

use crate::{python, root};
use std::fs;
use std::path::Path;

#[test]
fn whatever_has_the_version_has_that_of_cargo() {
    let Some(output) = python(root(), &["deploy/versions"]) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every place is looked at: one that a release forgot is named.
#[test]
fn a_version_that_was_forgotten_is_found() {
    const REPEATED: [&str; 10] = [
        "Cargo.lock",
        "deploy/cluster-compose.yml",
        "deploy/compose.yml",
        "sdks/php/composer.json",
        "sdks/php/src/Version.php",
        "sdks/python/src/pasarela/generated/version.py",
        "sdks/typescript/package.json",
        "sdks/typescript/src/generated/version.ts",
        "tests/golden/openapi-admin.json",
        "tests/golden/openapi.json",
    ];
    const READ: [&str; 5] = [
        "Cargo.toml",
        "CHANGELOG.md",
        "deploy/versions",
        "sdks/generator/__init__.py",
        "sdks/generator/shared.py",
    ];
    let copy = tempfile::tempdir().expect("a folder");
    let place = |name: &str| copy.path().join(name);
    for name in REPEATED.into_iter().chain(READ) {
        fs::create_dir_all(place(name).parent().expect("a folder")).expect("a folder");
        fs::copy(root().join(name), place(name)).expect("a copy");
    }
    let write = |name: &str, text: &str| fs::write(place(name), text).expect("a writable copy");
    let version = env!("CARGO_PKG_VERSION");
    for name in REPEATED.into_iter().chain(["CHANGELOG.md"]) {
        let text = fs::read_to_string(place(name)).expect("a readable file");
        let other = match name {
            "CHANGELOG.md" => format!("## [9.9.9] - 2026-01-01\n\n{text}"),
            _ => text.replacen(&needle(name, version), &needle(name, "9.9.9"), 1),
        };
        assert_ne!(text, other, "{name} has no version");
        write(name, &other);
        let Some(output) = python(copy.path(), &["deploy/versions"]) else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(name) && said.contains("9.9.9"), "{name}: {said}");
        write(name, &text);
    }
    let right = python(copy.path(), &["deploy/versions"]).expect("it ran before");
    assert!(right.status.success(), "{}", String::from_utf8_lossy(&right.stderr));
}

/// How a version stands in a file, where others of the kind stand too.
fn needle(name: &str, version: &str) -> String {
    match Path::new(name).extension().and_then(|ending| ending.to_str()) {
        Some("lock") => format!("name = \"pasarela\"\nversion = \"{version}\""),
        Some("json") => format!("\"version\": \"{version}\""),
        Some("yml") => format!("pasarela:{version}"),
        _ => version.to_owned(),
    }
}
