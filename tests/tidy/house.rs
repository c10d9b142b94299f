//! Figures of the house that may only get smaller: long functions, comments that do not begin with a
//! noun, texts for errors. `docs/experiments/0039-figures` prints them, with the places.

use crate::{root, rust_files};
use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The lines after which a function should have become several.
const LINES_MAX: usize = 60;
/// Functions that are longer all the same. Tables are not among them (decision 0157).
const LONG_MAX: usize = 7;

/// Functions that are a table, besides the words of the description.
const TABLES: &[&str] = &[
    "routes in src/api/routes.rs",
    "routes in src/admin/routes.rs",
    "decide in src/domain/dispatch.rs",
    "properties in src/domain/record.rs",
    "words in src/pages/timeline.rs",
    "cause in src/cli/trigger.rs",
    "members in src/api/payments/show.rs",
    "public in src/api/openapi/mod.rs",
    "shown_parameters in src/api/openapi/document/shared.rs",
];

/// The folders of what is installed.
const INSTALLED: [&str; 5] = ["src", "actors/src", "wal/src", "handoff/src", "persistent/src"];

const BEGINNINGS: &[&str] = &[
    "who", "whose", "whom", "what", "whatever", "which", "whether", "how", "when", "where", "why", "it",
    "its", "he", "she", "they", "their", "them", "this", "that", "these", "those", "we", "our", "us", "you",
    "your", "i", "of", "by", "as", "so", "until", "to",
];

/// The words after which "the same" is of something that the comment does not name.
const NOT_NAMED: &[&str] = &["in", "of", "for", "as", "where", "with", "is", "but", "and", "to"];

fn sources() -> Vec<(String, Vec<String>)> {
    sources_in(&INSTALLED)
}

/// The name of each file that is no test, with its lines up to the tests in it.
pub fn sources_in(folders: &[&str]) -> Vec<(String, Vec<String>)> {
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

/// The functions of a file that are too long: rustfmt puts a last brace under the first letter.
fn long_functions(file: &str, lines: &[String]) -> Vec<String> {
    let head =
        Regex::new(r"^( *)(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe) )*fn (\w+)").expect("a pattern");
    let ends = |line: &&String| line.ends_with([';', '{', '}']);
    let long = |(at, line): (usize, &String)| {
        let head = head.captures(line)?;
        let rest = &lines[at..];
        let is_body = rest.iter().find(ends)?.ends_with('{');
        let length = rest.iter().position(|line| *line == format!("{}}}", &head[1]))? + 1;
        let name = format!("{} in {file}", &head[2]);
        let is_table = TABLES.contains(&name.as_str()) || file.contains("/description");
        (is_body && length > LINES_MAX && !is_table).then(|| format!("{length} {name}"))
    };
    lines.iter().enumerate().filter_map(long).collect()
}

/// The text of a line that is a comment; empty for the line between two paragraphs.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']).trim_start())
}

/// Whether a comment begins with a word that names nothing.
fn is_private_beginning(text: &str) -> bool {
    let mut words = text.split(' ').map(|word| word.trim_end_matches(['.', ';', ':']).to_lowercase());
    let first = words.next().unwrap_or_default();
    let (second, third) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let word = first.split(['\'', ',']).next().unwrap_or_default();
    match (word, second.trim_end_matches(',')) {
        ("the", "same") => second.ends_with(',') || third.is_empty() || NOT_NAMED.contains(&third.as_str()),
        (word, _) => BEGINNINGS.contains(&word),
    }
}

/// Whether the first item of these lines is a bool, or a function that gives one.
fn is_of_bool(lines: &[String]) -> bool {
    let code = lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.starts_with("//") && !line.starts_with("#["));
    let item = code.take(8).collect::<Vec<_>>().join(" ");
    let function = Regex::new(r"^(pub(\([^)]*\))? )?((const|async|unsafe) )*fn ").expect("a pattern");
    let head = match function.is_match(&item) {
        true => item.split(['{', ';']).next().and_then(|head| head.split("->").nth(1)),
        false => item.split([',', ';', '{', '}']).next(),
    };
    head.is_some_and(|head| head.contains("bool") || head.contains("Bool"))
}

/// The first sentences of a file that begin with no noun.
fn private_beginnings(file: &str, lines: &[String]) -> Vec<String> {
    let begins = |at: usize| at == 0 || comment(&lines[at - 1]).is_none_or(str::is_empty);
    let found = |(at, line): (usize, &String)| {
        let text = comment(line).filter(|text| !text.is_empty() && begins(at))?;
        let is_private = is_private_beginning(text)
            && !(text.to_lowercase().starts_with("whether") && is_of_bool(&lines[at..]));
        is_private.then(|| format!("{file}:{}: {text}", at + 1))
    };
    lines.iter().enumerate().filter_map(found).collect()
}

#[test]
fn functions_are_short() {
    let long: Vec<_> = sources().iter().flat_map(|(file, lines)| long_functions(file, lines)).collect();
    assert!(long.len() <= LONG_MAX, "more functions than {LONG_MAX} have over {LINES_MAX} lines: {long:#?}");
}

#[test]
fn comments_say_what_a_thing_is() {
    let private: Vec<_> =
        sources().iter().flat_map(|(file, lines)| private_beginnings(file, lines)).collect();
    assert!(
        private.is_empty(),
        "these comments do not begin with a noun (docs/glossary.md, \"Comments\"): {private:#?}"
    );
}

#[test]
fn errors_have_types() {
    for (file, lines) in sources() {
        let text = lines
            .iter()
            .find(|line| comment(line).is_none() && line.contains(", String>") && line.contains("Result<"));
        assert!(text.is_none(), "{file} has a text for an error: {text:?}");
    }
}
