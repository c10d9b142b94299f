//! The search over the guides: sections by words. Accents and case make no difference, a word finds those
//! that begin with it, and every word has to be found.

use crate::guides::contents::Source;
use crate::guides::render::{Rendered, Section};
use crate::language::Language;
use deunicode::deunicode;

/// The longest text that is searched for; what is behind it is left out.
const CHARACTERS_MAX: usize = 128;
/// The number of sections that are shown.
const SHOWN_MAX: usize = 30;
/// The length of an excerpt, and what of it stands before the word, in characters.
const EXCERPT: (usize, usize) = (200, 60);

/// A section, as it is searched.
struct Entry {
    path: String,
    page: String,
    title: String,
    prose: String,
    code: String,
    /// The words of the title, the prose and the code, without accents, in lower case.
    title_words: Vec<String>,
    prose_words: Vec<String>,
    code_words: Vec<String>,
    /// Whether the section is the beginning of its page.
    is_first: bool,
}

/// The index of one language.
pub struct Index(Vec<Entry>);

/// A section that was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// The address.
    pub path: &'a str,
    /// The title of the page.
    pub page: &'a str,
    /// The heading of the section.
    pub title: &'a str,
    /// A part of the text around the first word, in three parts: what is before it, the word, what follows.
    pub excerpt: (String, String, String),
}

/// Words without accents, in lower case.
fn words(text: &str) -> Vec<String> {
    let plain = deunicode(text).to_lowercase();
    plain
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A word that is searched for, without the ending of a plural, which both languages write with an s.
fn stem(word: &str) -> &str {
    let stem = word.strip_suffix("es").or(word.strip_suffix('s')).unwrap_or(word);
    if stem.len() < 4 { word } else { stem }
}

impl Index {
    /// The index of all pages.
    pub fn new(language: Language, pages: Vec<(&Source, Rendered)>) -> Index {
        Index(pages.into_iter().flat_map(|(source, page)| entries(&source.path(language), page)).collect())
    }

    /// The sections with every word of a text, the best first: where it is in the heading, then where it is
    /// said most.
    pub fn find(&self, sought: &str) -> Vec<Found<'_>> {
        let sought: String = sought.chars().take(CHARACTERS_MAX).collect();
        let sought = words(&sought);
        let stems: Vec<&str> = sought.iter().map(|word| stem(word)).collect();
        if stems.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(usize, &Entry)> =
            self.0.iter().filter_map(|entry| Some((entry.score(&stems)?, entry))).collect();
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        found.truncate(SHOWN_MAX);
        found.into_iter().map(|(_, entry)| entry.found(stems[0])).collect()
    }
}

fn entries(path: &str, page: Rendered) -> Vec<Entry> {
    let name = page.title().to_owned();
    let entry = |(at, section): (usize, Section)| Entry {
        path: if section.anchor.is_empty() { path.to_owned() } else { format!("{path}#{}", section.anchor) },
        page: name.clone(),
        title_words: words(&section.title),
        prose_words: words(&section.prose),
        code_words: words(&section.code),
        title: section.title,
        prose: in_one_line(&section.prose),
        code: in_one_line(&section.code),
        is_first: at == 0,
    };
    page.sections.into_iter().enumerate().map(entry).collect()
}

impl Entry {
    /// The fit of the section; `None` if a word is not in it.
    fn score(&self, stems: &[&str]) -> Option<usize> {
        let count = |words: &[String], stem: &str| words.iter().filter(|word| word.starts_with(stem)).count();
        let mut score = 0;
        for stem in stems {
            let in_title = count(&self.title_words, stem).min(1);
            let (in_prose, in_code) = (count(&self.prose_words, stem), count(&self.code_words, stem));
            if in_title + in_prose + in_code == 0 {
                return None;
            }
            // The place that explains a word comes before those that merely use it.
            let heading = if self.is_first { 400 } else { 200 };
            score += in_title * heading + in_prose.min(15) * 10 + in_code.min(5);
        }
        Some(score)
    }

    fn found(&self, stem: &str) -> Found<'_> {
        let prose: Vec<char> = self.prose.chars().collect();
        let code: Vec<char> = self.code.chars().collect();
        let in_code = || place(&code, stem).map(|found| (&code, found));
        let found = place(&prose, stem).map(|found| (&prose, found)).or_else(in_code);
        let (characters, (at, end)) = found.unwrap_or((&prose, (0, 0)));
        let from = at.saturating_sub(EXCERPT.1);
        let to = characters.len().min((from + EXCERPT.0).max(end));
        let part = |from: usize, to: usize| characters[from..to].iter().collect::<String>();
        let before = if from > 0 { format!("… {}", part(from, at)) } else { part(from, at) };
        let after = if to < characters.len() { format!("{} …", part(end, to)) } else { part(end, to) };
        Found {
            path: &self.path,
            page: &self.page,
            title: &self.title,
            excerpt: (before, part(at, end), after),
        }
    }
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The place of the first word that begins so: the first character of it, and the one behind it.
fn place(characters: &[char], stem: &str) -> Option<(usize, usize)> {
    let is_word = |c: &char| c.is_alphanumeric();
    let mut at = 0;
    while at < characters.len() {
        if !is_word(&characters[at]) {
            at += 1;
            continue;
        }
        let end =
            characters[at..].iter().position(|c| !is_word(c)).map_or(characters.len(), |length| at + length);
        let word: String = characters[at..end].iter().collect();
        if deunicode(&word).to_lowercase().starts_with(stem) {
            return Some((at, end));
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guides::{contents, render};

    fn index(language: Language) -> Index {
        let page = |source: &'static Source| (source, render::page(language, source.document(language)));
        Index::new(language, contents::pages().map(page).collect())
    }

    #[test]
    fn words_of_the_domain_are_found_in_both_languages() {
        for (language, sought) in [
            (Language::Spanish, "cédula"),
            (Language::Spanish, "cedula"),
            (Language::Spanish, "reintegro"),
            (Language::Spanish, "Débito inmediato"),
            (Language::Spanish, "contracargos"),
            (Language::Spanish, "webhooks"),
            (Language::English, "refund"),
            (Language::English, "webhook"),
            (Language::English, "chargebacks"),
            (Language::English, "AM04"),
        ] {
            let index = index(language);
            let found = index.find(sought);
            assert!(!found.is_empty(), "{sought}");
            assert!(found.iter().all(|one| one.path.starts_with(&format!("/docs/{}", language.code()))));
        }
    }

    #[test]
    fn what_is_nowhere_is_not_found() {
        let index = index(Language::Spanish);
        for sought in ["xyzzy", "", "   ", "¿?", "webhook xyzzy"] {
            assert_eq!(index.find(sought), [], "{sought}");
        }
    }

    #[test]
    fn the_page_about_a_thing_comes_first_and_shows_where_it_is_said() {
        let index = index(Language::English);
        let found = index.find("WEBHOOK");
        assert_eq!(found[0].path, "/docs/en/webhooks");
        assert!(found[0].excerpt.1.to_lowercase().starts_with("webhook"), "{:?}", found[0].excerpt);
        let index = self::index(Language::Spanish);
        // What asks the payer for it, not the many calls that send it.
        let found = index.find("cédula");
        assert!(
            found[..3].iter().any(|one| one.path == "/docs/es/c2p#qué-pedirle-al-comprador"),
            "{found:?}"
        );
        assert!(index.find("reintegro")[0].path.starts_with("/docs/es/cop#reintegro"));
    }
}
