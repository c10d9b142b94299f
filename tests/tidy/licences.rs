//! Licences of what is built: those that deny.toml allows.

use crate::root;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

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
    // Only packages that are built for this platform count: those of others need not be here.
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
