//! Words of names: those of docs/glossary.md, each with one meaning.

use crate::house::sources_in;
use crate::root;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Names that still use a private word of docs/glossary.md. The list only gets shorter: a
/// new name is given another word, one that is gone is struck out.
const STILL_THERE: &[&str] = &[];

/// Names of types that once had many meanings: each may have one.
const ONE_MEANING: [&str; 4] = ["Place", "Outcome", "Answer", "Held"];

/// The names that several types have all the same. A name such as `Command` or `Status`, which each
/// resource gives to a thing of its own, is right; a word for anything is not.
const SHARED_NAMES_MAX: usize = 235;

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

/// The files that declare a type of each name, the frozen types of the stored format aside: those are
/// named as they were when they were frozen.
fn declared() -> BTreeMap<String, Vec<String>> {
    let type_of = Regex::new(concat!(
        r"^(?:pub(?:\([^)]*\))? )?(?:unsafe )?",
        r"(?:struct|enum|trait|type) ([A-Z][A-Za-z0-9]*)",
    ))
    .expect("a pattern");
    let mut declared: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, lines) in sources_in(&["src", "actors/src", "wal/src", "handoff/src", "persistent/src"]) {
        if file.starts_with("src/domain/stored/") {
            continue;
        }
        for name in lines.iter().filter_map(|line| type_of.captures(line)) {
            declared.entry(name[1].to_owned()).or_default().push(file.clone());
        }
    }
    declared
}

#[test]
fn names_of_types_have_one_meaning() {
    let declared = declared();
    assert!(declared.len() > 1_000, "only {} names: are these the types?", declared.len());
    for name in ONE_MEANING {
        let files = declared.get(name).map_or(&[][..], Vec::as_slice);
        assert!(files.len() <= 1, "`{name}` has several meanings: {files:?}");
    }
    let shared: Vec<_> = declared.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(
        shared.len() <= SHARED_NAMES_MAX,
        "{} names have several types, more than {SHARED_NAMES_MAX}; name the new one otherwise: {shared:#?}",
        shared.len()
    );
}
