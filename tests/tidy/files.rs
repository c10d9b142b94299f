//! The rules for files: what they may import, what they are called, and that
//! nothing is left unfinished.

use crate::{code, root, rust_files};
use std::fs;

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
    let words = [
        "tokio::spawn",
        "tokio::time",
        "tokio::net",
        "std::fs",
        "TcpStream",
        "UdpSocket",
        "SystemTime",
        "Instant::now",
    ];
    assert_absent(
        "src/api",
        &words,
        "endpoints wait for their server alone; they know no socket, disk or clock",
    );
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
    assert_absent("persistent/src", &words, "collections know nothing of what is in them");
    assert_absent("actors/src", &["pasarela::", "hyper::", "rust_decimal"], "the engine hosts any machine");
}

/// The sandbox judges the connectors: one that shared their code would agree also where both are
/// wrong.
#[test]
fn the_sandbox_is_independent() {
    let manifest = fs::read_to_string(root().join("sandbox/Cargo.toml")).expect("its manifest");
    for own in ["pasarela", "domain", "api", "actors", "wal"] {
        let names = |line: &str| line.starts_with(&format!("{own}.")) || line.starts_with(&format!("{own} "));
        assert!(!manifest.lines().any(names), "the sandbox depends on {own}");
    }
    assert!(!manifest.contains("path = \".."), "the sandbox depends on another crate here");
}

/// A switch in the environment that a test needed once would let whoever starts the process choose
/// which checks it makes.
#[test]
fn no_rule_asks_the_environment() {
    let words = ["env::var", "env::var_os", "option_env!"];
    for folder in [
        "src/api",
        "src/domain",
        "src/rails",
        "src/recovery",
        "src/gateway",
        "src/http",
        "src/store",
        "wal/src",
    ] {
        assert_absent(folder, &words, "configuration comes from `src/config`");
    }
    for path in rust_files("actors/src") {
        let code = code(&path);
        let others = code.replace("env::var_os(\"PASARELA_TEST_CLOCK_STEP\")", "");
        assert!(!others.contains("env::var"), "{} asks the environment", path.display());
    }
}

#[test]
fn files_say_what_they_are_for_and_nothing_is_left_unfinished() {
    let unfinished =
        [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("unimplemented", "!("), concat!("todo", "!(")];
    for folder in ["src", "actors/src", "fuzz", "handoff/src", "sandbox", "wal/src", "tests", "benches"] {
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
