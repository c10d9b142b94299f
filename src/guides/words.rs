//! Words that mean the same: who searches "refund" wants the page about a "reintegro". The table of
//! them is that of the reference's search too.

use crate::http::documents::SYNONYMS;
use serde::Deserialize;
use std::sync::LazyLock;

/// Of the shortest word that may be mistyped: any two shorter ones are alike.
const MISTYPED_MIN: usize = 5;
const BEGINNING_MIN: usize = 4;
const SMALL_WORDS_OF_A_QUESTION: usize = 2;

#[derive(Default, Deserialize)]
struct Table {
    /// They stand in every sentence and every question. Without accents.
    small: Vec<String>,
    same: Vec<Meaning>,
}

#[derive(Deserialize)]
struct Meaning {
    /// Without accents. One with spaces is a name of several.
    words: Vec<String>,
    page: Option<String>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| serde_json::from_str(SYNONYMS).unwrap_or_default());

#[derive(Debug)]
pub struct Term {
    /// Beginnings of words, of which a section has one at least.
    pub stems: Vec<String>,
    /// Beginnings of the words of names that mean it, which stand beside each other.
    pub names: Vec<Vec<String>>,
    pub page: Option<&'static str>,
    /// Whether a question is not answered without it.
    pub is_known: bool,
}

/// What is sought.
#[derive(Debug)]
pub struct Sought {
    pub terms: Vec<Term>,
    pub is_question: bool,
}

impl Term {
    /// How many of the first words are what is sought, if they are.
    pub fn length_at(&self, words: &[String]) -> Option<usize> {
        let [first, ..] = words else { return None };
        if self.stems.iter().any(|stem| first.starts_with(stem.as_str())) {
            return Some(1);
        }
        let begins = |name: &&Vec<String>| {
            name.len() <= words.len()
                && name.iter().zip(words).all(|(stem, word)| word.starts_with(stem.as_str()))
        };
        self.names.iter().filter(begins).map(Vec::len).max()
    }
}

fn is_small(word: &str) -> bool {
    TABLE.small.iter().any(|small| small == word)
}

/// Without the ending of a plural, which both languages write with an s.
fn stem(word: &str) -> &str {
    let stem = word.strip_suffix("es").or(word.strip_suffix('s')).unwrap_or(word);
    if stem.len() < 4 { word } else { stem }
}

fn is(typed: &str, word: &str) -> bool {
    let is_plural = typed.strip_suffix('s') == Some(word);
    is_plural || stem(typed) == stem(word) || (typed.len() >= BEGINNING_MIN && word.starts_with(stem(typed)))
}

/// One letter too many, one that is missing, another one, or two that changed places.
fn is_near(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    while let ([first, rest @ ..], [same, others @ ..]) = (one, other)
        && first == same
    {
        (one, other) = (rest, others);
    }
    while let ([rest @ .., last], [others @ .., same]) = (one, other)
        && last == same
    {
        (one, other) = (rest, others);
    }
    match (one, other) {
        ([_] | [], [_] | []) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// A word that nothing begins with is the first that it is a letter away from; one of the table
/// before any other word of the pages.
fn corrected<'a>(
    typed: Vec<String>,
    vocabulary: impl Fn() -> Box<dyn Iterator<Item = &'a str> + 'a>,
) -> Vec<String> {
    let tabled = || TABLE.same.iter().flat_map(|one| &one.words).flat_map(|words| words.split(' '));
    let mean = |word: String| {
        let known = |it: &str| it.starts_with(stem(&word));
        if word.len() < MISTYPED_MIN || is_small(&word) || tabled().any(known) || vocabulary().any(known) {
            return word;
        }
        let near =
            |it: &&str| it.len() >= BEGINNING_MIN && (is_near(&word, it) || is_near(stem(&word), stem(it)));
        let meant = tabled().find(near).or_else(|| vocabulary().find(near)).map(str::to_owned);
        meant.unwrap_or(word)
    };
    typed.into_iter().map(mean).collect()
}

pub fn sought<'a>(
    typed: Vec<String>,
    vocabulary: impl Fn() -> Box<dyn Iterator<Item = &'a str> + 'a>,
) -> Sought {
    let typed = corrected(typed, vocabulary);
    let (mut terms, mut small) = (Vec::new(), 0);
    let mut left = &typed[..];
    while let [first, rest @ ..] = left {
        let named = TABLE
            .same
            .iter()
            .filter_map(|one| Some((one.words.iter().filter_map(|it| length(it, left)).max()?, one)))
            .filter(|(words, _)| *words > 1 || !is_small(first));
        // The longest name is the one that is meant: a payment link is no payment.
        let Some((words, meaning)) = named.reduce(|best, one| if one.0 > best.0 { one } else { best }) else {
            if is_small(first) {
                small += 1;
            } else {
                let stems = vec![stem(first).to_owned()];
                terms.push(Term { stems, names: Vec::new(), page: None, is_known: false });
            }
            left = rest;
            continue;
        };
        let (names, single): (Vec<&String>, Vec<&String>) =
            meaning.words.iter().partition(|word| word.contains(' '));
        let own = if words == 1 { Some(stem(first)) } else { None };
        let single = single.into_iter().map(|word| stem(word));
        let stems = own.into_iter().chain(single).map(str::to_owned).collect();
        let parts = |name: &String| name.split(' ').map(|word| stem(word).to_owned()).collect();
        let names = names.into_iter().map(parts).collect();
        terms.push(Term { stems, names, page: meaning.page.as_deref(), is_known: true });
        left = &left[words..];
    }
    Sought { terms, is_question: small >= SMALL_WORDS_OF_A_QUESTION }
}

fn length(name: &str, typed: &[String]) -> Option<usize> {
    let words = name.split(' ').count();
    let fits = words <= typed.len() && name.split(' ').zip(typed).all(|(word, typed)| is(typed, word));
    fits.then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_may_be_wrong() {
        for (one, other) in
            [("refund", "refnd"), ("webhook", "webhoook"), ("retiro", "ritero"), ("llave", "lalve")]
        {
            assert_eq!(is_near(one, other), one != "retiro", "{one} {other}");
        }
        assert!(is_near("clave", "clabe") && !is_near("clave", "llavero"));
    }

    #[test]
    fn the_table_is_read_and_names_pages_that_there_are() {
        assert!(TABLE.same.len() > 30);
        for page in TABLE.same.iter().filter_map(|one| one.page.as_deref()) {
            assert!(crate::guides::contents::pages().any(|source| source.name == page), "{page}");
        }
    }
}
