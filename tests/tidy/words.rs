//! Words of names: those of docs/glossary.md.

use crate::{root, rust_files};
use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Names that still use a private word of docs/glossary.md. The list only gets shorter: a
/// new name is given another word, one that is gone is struck out.
const STILL_THERE: &[&str] = &[];

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

/// The name of each file that is no test, with its lines up to the tests in it.
fn sources_in(folders: &[&str]) -> Vec<(String, Vec<String>)> {
    let named = |path: &Path| path.strip_prefix(root()).expect("a path below the root").display().to_string();
    let for_tests = Regex::new(r"#\[cfg\(test\)\]\n\s*(?:pub(?:\([^)]*\))? )?mod (\w+);").expect("a pattern");
    let (mut sources, mut tests) = (Vec::new(), BTreeSet::new());
    for path in folders.iter().copied().flat_map(rust_files) {
        let (name, text) = (named(&path), fs::read_to_string(&path).expect("a readable file"));
        let folder = name.strip_suffix("mod.rs").map_or(name.replace(".rs", "/"), str::to_owned);
        tests.extend(for_tests.captures_iter(&text).map(|module| format!("{folder}{}.rs", &module[1])));
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        sources.push((name, code.lines().map(str::to_owned).collect()));
    }
    sources.retain(|(name, _)| !tests.contains(name) && !name.contains("/tests/"));
    sources
}

#[test]
fn names_use_the_words_of_the_glossary() {
    let private = private_words();
    assert!(private.len() > 20, "only {} private words: is this the glossary's table?", private.len());
    let named = Regex::new(concat!(
        r"^\s*(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe) )*",
        r"(?:fn|struct|enum|mod|const|static|trait|type) ([A-Za-z_][A-Za-z0-9_]*)",
    ))
    .expect("a pattern");
    let mut found = BTreeSet::new();
    // The name of a test is a sentence, whose words need not be those of a thing.
    for (file, lines) in sources_in(&["src", "actors/src", "wal/src", "sandbox/src", "benches/load/src"]) {
        for name in lines.iter().filter_map(|line| named.captures(line)) {
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
