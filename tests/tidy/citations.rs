//! Citations: each names a section that is in the contract, a file that is there, and no document
//! outside the repository.

use crate::{root, rust_files};
use regex::Regex;
use std::collections::BTreeSet;
use std::fs;

/// The document whose sections code, tests and documents cite.
const CONTRACT: &str = "docs/contract.md";

/// Texts of other projects, which name documents of their own.
const QUOTATIONS: [&str; 2] = ["benches/load/quoted.md", "benches/report/"];

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
    for (name, text) in texts().into_iter().filter(|(name, _)| name != CONTRACT && name != file!()) {
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
    for (name, text) in texts.iter().filter(|(name, _)| !is_quoted(name) && name != file!()) {
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

/// A comment names a file by its path from the root, or by the end of it that leads to one.
#[test]
fn files_that_comments_name_exist() {
    let files: Vec<String> = texts().into_iter().map(|(name, _)| format!("/{name}")).collect();
    let named = Regex::new(r"`([A-Za-z0-9_./-]+\.(?:rs|html|css|js|py|sh))`").expect("a pattern");
    let mut found = 0;
    for folder in ["src", "actors", "benches", "fuzz", "handoff", "persistent", "sandbox", "tests", "wal"] {
        for path in rust_files(folder) {
            let place = path.strip_prefix(root()).expect("a path below the root").display().to_string();
            let text = fs::read_to_string(&path).expect("a readable file");
            let comments = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//"));
            for (at, line) in comments {
                for file in
                    named.captures_iter(line).map(|named| format!("/{}", named[1].trim_start_matches("../")))
                {
                    let is_there = files.iter().any(|name| name.ends_with(&file));
                    assert!(is_there, "{place}:{} names {file}, which is not there", at + 1);
                    found += 1;
                }
            }
        }
    }
    assert!(found > 100, "only {found} files are named: has their form changed?");
}
