//! The table of error codes: under which statuses each comes, what it means and what to do next, in both languages.
//! It is written in docs/en/error-codes.md and docs/es/error-codes.md, and nowhere else: the OpenAPI descriptions,
//! `pasarela errors` and the pages read it there.
//!
//! The message of a certain refusal is in `refusals.rs` and `wire/problem.rs`; codes and statuses
//! are the contract's. A code that a description names and this table lacks is found at start-up,
//! and by the tests that make the descriptions.

pub mod faults;

use std::sync::LazyLock;

#[derive(Clone, Debug)]
pub struct Code {
    /// The code, as the member `error` has it.
    pub name: &'static str,
    pub statuses: Vec<u16>,
    pub en: Words,
    pub es: Words,
}

#[derive(Clone, Copy, Debug)]
pub struct Words {
    pub meaning: &'static str,
    pub next: &'static str,
}

impl Words {
    /// As descriptions list refusals.
    pub fn line(&self, name: &str) -> String {
        format!("- `{name}`: {}; {}", self.meaning, self.next)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tongue {
    English,
    Spanish,
}

impl Tongue {
    pub const fn of(self, code: &Code) -> Words {
        match self {
            Tongue::English => code.en,
            Tongue::Spanish => code.es,
        }
    }
}

/// The path of the page about a code.
pub fn path(tongue: Tongue, code: &str) -> String {
    let language = match tongue {
        Tongue::English => "en",
        Tongue::Spanish => "es",
    };
    format!("/docs/{language}/errors/{code}")
}

pub const fn page(tongue: Tongue) -> &'static str {
    match tongue {
        Tongue::English => include_str!("../../docs/en/error-codes.md"),
        Tongue::Spanish => include_str!("../../docs/es/error-codes.md"),
    }
}

/// The rows of a page: code, statuses, meaning, next step. Its other lines are none.
fn rows(tongue: Tongue) -> impl Iterator<Item = (&'static str, Vec<u16>, Words)> {
    page(tongue).lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ").collect();
        let [name, statuses, meaning, next] = cells[..] else { return None };
        let statuses: Result<Vec<u16>, _> = statuses.split(", ").map(str::parse).collect();
        Some((name.strip_suffix('`')?, statuses.ok()?, Words { meaning, next }))
    })
}

pub fn all() -> impl Iterator<Item = &'static Code> {
    static CODES: LazyLock<Vec<Code>> = LazyLock::new(|| {
        let both = rows(Tongue::English).zip(rows(Tongue::Spanish));
        both.map(|((name, statuses, en), (.., es))| Code { name, statuses, en, es }).collect()
    });
    CODES.iter()
}

/// The codes by which banks refuse (`failureCode`), as the page on errors has the commonest: what each means, and what to
/// tell the buyer. They come under no status.
pub fn of_banks() -> impl Iterator<Item = &'static Code> {
    static CODES: LazyLock<Vec<Code>> = LazyLock::new(|| {
        let both = bank_rows(include_str!("../../docs/en/errors.md"));
        let both = both.zip(bank_rows(include_str!("../../docs/es/errors.md")));
        both.map(|((name, en), (_, es))| Code { name, statuses: Vec::new(), en, es }).collect()
    });
    CODES.iter()
}

/// The rows of the last table of the page: code, meaning, what to tell.
fn bank_rows(page: &'static str) -> impl Iterator<Item = (&'static str, Words)> {
    let table = page.rsplit("| `failureCode` |").next().unwrap_or_default();
    table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.strip_suffix('|')?.split(" | ").collect();
        let [name, meaning, next] = cells[..] else { return None };
        Some((name.strip_suffix('`')?, Words { meaning, next: next.trim() }))
    })
}

/// The words for a code under a status, in English. Every code of the descriptions has some.
pub fn words(status: u16, name: &str) -> Words {
    let found = all().find(|code| code.name == name && code.statuses.contains(&status));
    found.expect("a code has a meaning under its status").en
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_of_banks_are_in_the_same_rows_of_both_pages() {
        let names = |page| bank_rows(page).map(|(name, _)| name).collect::<Vec<_>>();
        let english = names(include_str!("../../docs/en/errors.md"));
        assert_eq!(english, names(include_str!("../../docs/es/errors.md")));
        assert!(english.len() > 10 && english.contains(&"AM04"), "{english:?}");
    }

    #[test]
    fn a_code_stands_once_for_a_status_and_in_the_same_row_of_both_pages() {
        let named = |tongue| rows(tongue).map(|(name, statuses, _)| (name, statuses)).collect::<Vec<_>>();
        assert_eq!(named(Tongue::English), named(Tongue::Spanish));
        let mut known = HashSet::new();
        for code in all() {
            assert!(!code.statuses.is_empty() && code.statuses.is_sorted(), "{}", code.name);
            for status in &code.statuses {
                assert!(known.insert((code.name, *status)), "{status} {} is there twice", code.name);
            }
            for words in [code.en.meaning, code.en.next, code.es.meaning, code.es.next] {
                assert!(!words.is_empty() && !words.ends_with('.'), "{}: {words}", code.name);
            }
        }
        // No row is passed over: whatever looks like one but the heading is a code.
        for tongue in [Tongue::English, Tongue::Spanish] {
            let lines =
                page(tongue).lines().filter(|line| line.starts_with("| `") && !line.contains("| `error` |"));
            assert_eq!(lines.count(), all().count());
        }
    }

    #[test]
    fn the_rows_of_a_chapter_are_sorted() {
        for chapter in page(Tongue::English).split("\n## ") {
            let names = chapter.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
            let names: Vec<&str> = names.map(|(name, _)| name).filter(|name| *name != "error").collect();
            assert!(names.is_sorted(), "{names:?}");
        }
    }
}
