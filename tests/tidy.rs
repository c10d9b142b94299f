//! What the compiler does not keep: who may import whom, how long files get, which words names use,
//! that documents point at what exists, that nothing is left unfinished, and that every dependency
//! may be used.

use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines after which a file should have become a folder.
const LINES_MAX: usize = 700;

/// Words after which the map is none.
const MAP_WORDS_MAX: usize = 2_000;

/// Public names that still use a private word of docs/glossary.md. The list only gets shorter: a
/// new name is given another word, one that is gone is struck out.
const STILL_THERE: &[&str] = &[
    "actors/src/alarm.rs Rings",
    "actors/src/asker.rs Asker",
    "actors/src/asker.rs told",
    "actors/src/at_hand.rs AtHand",
    "actors/src/entity.rs EntitySlot",
    "actors/src/errands.rs Errands",
    "actors/src/image.rs Image",
    "actors/src/jump.rs Leg",
    "actors/src/rider.rs Rider",
    "actors/src/slot.rs BookSlot",
    "actors/src/slot.rs Ring",
    "actors/src/slot.rs ring",
    "actors/src/teller.rs teller",
    "benches/load/src/open_loop.rs Told",
    "src/app/door.rs Door",
    "src/domain/bank.rs Heard",
    "src/domain/bank.rs Told",
    "src/domain/conversions/auto.rs heard",
    "src/domain/cop_payments/collect.rs heard",
    "src/domain/cop_payments/refund.rs heard",
    "src/domain/crypto/payouts.rs heard",
    "src/domain/merchants.rs heard",
    "src/domain/own_account.rs heard",
    "src/domain/payments/charge.rs heard",
    "src/domain/payments/otp.rs heard",
    "src/domain/payments/reversal.rs heard",
    "src/domain/payouts.rs heard",
    "src/domain/record.rs Was",
    "src/domain/settings.rs Sheet",
    "src/domain/verification.rs told",
    "src/recovery/mod.rs past",
    "src/recovery/past.rs Past",
    "src/server/desk.rs Desk",
    "src/server/listen/seldom.rs Seldom",
    "src/server/mod.rs desk",
    "src/server/mod.rs newest",
    "src/server/mod.rs sheets",
    "src/server/mod.rs strays",
    "src/server/newest.rs Newest",
    "src/server/sheets.rs push_sheet",
    "src/server/sheets.rs set_sheet",
    "src/server/strays.rs stray_parameters",
    "src/server/strays.rs without_strays",
    "src/telemetry/spans.rs Told",
    "src/webhooks/line.rs Line",
    "wal/src/log.rs open_told_by",
    "wal/src/sorter.rs Sorter",
    "wal/src/told.rs Finished",
    "wal/src/told.rs Teller",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    files(folder, "rs")
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    assert!(folders[0].is_dir(), "there is no {folder}");
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
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

/// A word that the glossary calls private: a picture that nobody outside could search for.
struct PrivateWord {
    words: Vec<String>,
    /// The folder in which it has the private meaning; empty for everywhere.
    folder: String,
    /// Whether a name has to be the word alone to be refused.
    whole: bool,
}

impl PrivateWord {
    fn is_in(&self, file: &str, name: &[String]) -> bool {
        file.starts_with(&self.folder)
            && match self.whole {
                true => name == self.words,
                false => name.windows(self.words.len()).any(|part| part == self.words),
            }
    }
}

/// The table "Private words" of docs/glossary.md, so that the document and the check are one list.
fn private_words() -> Vec<PrivateWord> {
    let glossary = fs::read_to_string(root().join("docs/glossary.md")).expect("docs/glossary.md");
    let row =
        Regex::new(r"(?m)^\| `([a-z ]+)` \| `([a-z/*]+)` \| (part|whole) \| \S.* \|$").expect("a pattern");
    let of = |row: regex::Captures<'_>| PrivateWord {
        words: row[1].split(' ').map(singular).collect(),
        folder: row[2].replace('*', ""),
        whole: &row[3] == "whole",
    };
    row.captures_iter(&glossary).map(of).collect()
}

/// The words of a name in camel case or with underscores.
fn words_of(name: &str) -> Vec<String> {
    let word = Regex::new("[A-Z]+[a-z0-9]*|[a-z0-9]+").expect("a pattern");
    word.find_iter(name).map(|word| singular(&word.as_str().to_lowercase())).collect()
}

fn singular(word: &str) -> String {
    word.trim_end_matches('s').to_owned()
}

#[test]
fn public_names_use_the_words_of_the_glossary() {
    let private = private_words();
    assert!(private.len() > 20, "only {} private words: is this the glossary's table?", private.len());
    let named = Regex::new(concat!(
        r"(?m)^\s*pub(?:\([^)]*\))? (?:(?:const|async|unsafe) )*",
        r"(?:fn|struct|enum|mod|const|static|trait|type) ([A-Za-z_][A-Za-z0-9_]*)",
    ))
    .expect("a pattern");
    let mut found = BTreeSet::new();
    for path in ["src", "actors/src", "wal/src", "benches/load/src"].into_iter().flat_map(rust_files) {
        let file = path.strip_prefix(root()).expect("a path below the root").display().to_string();
        for name in named.captures_iter(&code(&path)) {
            let words = words_of(&name[1]);
            if private.iter().any(|word| word.is_in(&file, &words)) {
                found.insert(format!("{file} {}", &name[1]));
            }
        }
    }
    let still_there: BTreeSet<String> = STILL_THERE.iter().map(|entry| (*entry).to_owned()).collect();
    let new: Vec<&String> = found.difference(&still_there).collect();
    assert!(
        new.is_empty(),
        "these names use a private word; docs/glossary.md has the standard one: {new:#?}"
    );
    let gone: Vec<&String> = still_there.difference(&found).collect();
    assert!(gone.is_empty(), "these names are gone; strike them from STILL_THERE: {gone:#?}");
}

/// The documents: what stands in the root and in these folders.
fn documents() -> Vec<PathBuf> {
    let at_root = fs::read_dir(root()).expect("the root").flatten().map(|entry| entry.path());
    let at_root = at_root.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    at_root.chain(["docs", "benches"].into_iter().flat_map(|folder| files(folder, "md"))).collect()
}

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
            if target.contains("://") || target.starts_with("mailto:") {
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
    let folders = "src|actors|wal|tests|benches|docs|pgo|deploy|\\.cargo|\\.ci";
    let named = Regex::new(&format!("`((?:{folders})/[A-Za-z0-9_./-]*)`")).expect("a pattern");
    for path in documents() {
        // What was true once, and what is quoted from elsewhere, names files that are not here.
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

#[test]
fn the_map_is_short() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let words = map.split_whitespace().count();
    assert!(words < MAP_WORDS_MAX, "ARCHITECTURE.md has {words} words: decisions and experiments have pages");
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
