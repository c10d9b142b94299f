//! THE TABLE of error codes: under which statuses each comes, what it means and what to do next, in both
//! languages. The OpenAPI descriptions, `pasarela errors`, docs/en/error-codes.md and
//! docs/es/error-codes.md are made of it, so that a code is explained once.
//!
//! The message of a certain refusal is in `refusals.rs` and `wire/problem.rs`; codes and statuses
//! are the contract's. A code that a description names and this table lacks is found at start-up,
//! and by the tests that make the descriptions.

pub mod faults;
mod money;
mod page;
mod rest;
mod usual;

pub use page::{Tongue, page};

#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// The code, as the member `error` has it.
    pub name: &'static str,
    pub statuses: &'static [u16],
    pub en: Words,
    pub es: Words,
}

#[derive(Clone, Copy, Debug)]
pub struct Words {
    pub meaning: &'static str,
    pub next: &'static str,
}

const fn code(
    name: &'static str,
    statuses: &'static [u16],
    [en_meaning, en_next]: [&'static str; 2],
    [es_meaning, es_next]: [&'static str; 2],
) -> Code {
    Code {
        name,
        statuses,
        en: Words { meaning: en_meaning, next: en_next },
        es: Words { meaning: es_meaning, next: es_next },
    }
}

/// The chapters of the table, in reading order.
pub const CHAPTERS: [Chapter; 3] = [
    Chapter { en: "Any call", es: "Cualquier llamada", codes: usual::CODES },
    Chapter { en: "Money", es: "Dinero", codes: money::CODES },
    Chapter {
        en: "Checkout, products, webhooks, public rates, operators",
        es: "Checkout, productos, webhooks, tasas públicas, operadores",
        codes: rest::CODES,
    },
];

pub struct Chapter {
    pub en: &'static str,
    pub es: &'static str,
    pub codes: &'static [Code],
}

pub fn all() -> impl Iterator<Item = &'static Code> {
    CHAPTERS.iter().flat_map(|chapter| chapter.codes)
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
    fn a_code_stands_once_for_a_status_and_in_its_order() {
        let mut known = HashSet::new();
        for chapter in &CHAPTERS {
            assert!(chapter.codes.is_sorted_by_key(|code| (code.name, code.statuses)), "{}", chapter.en);
        }
        for code in all() {
            assert!(!code.statuses.is_empty() && code.statuses.is_sorted(), "{}", code.name);
            for status in code.statuses {
                assert!(known.insert((code.name, status)), "{status} {} is there twice", code.name);
            }
            for words in [code.en.meaning, code.en.next, code.es.meaning, code.es.next] {
                assert!(
                    !words.is_empty() && !words.ends_with('.') && !words.contains('|'),
                    "{}: {words}",
                    code.name
                );
            }
        }
    }
}
