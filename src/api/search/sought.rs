//! A text that is searched for, and what it can be.

use super::people::{Person, people};
use crate::fields::{Invalid, Kind as _, read};
use crate::openapi::kinds;
use crate::query::Query;
use domain::index::{self, PersonMarks, Trait};
use domain::values::ids::Id;
use std::ops::RangeInclusive;
use unicode_normalization::UnicodeNormalization;

/// Characters of what is searched for.
const CHARACTERS: RangeInclusive<usize> = 1..=128;

/// A text that is searched for, and what it can be.
#[derive(Clone)]
pub struct Sought {
    /// The text, without white space around it.
    pub text: String,
    pub(super) id: Option<Id>,
    /// The text in each Unicode normal form: who types é may send one character or two.
    pub(super) spellings: Vec<String>,
    /// The documents and phones that the text may be.
    pub(super) people: Vec<Person>,
}

impl Sought {
    pub fn read(mut query: Query<'_>) -> Result<Sought, Invalid> {
        let text = kinds::sought(CHARACTERS).about(
            "An id in any case, or a text as it was sent; a document or a phone in any form in which people \
             type them, such as `V-12.345.678` or `0414-1234567`.",
        );
        let people = kinds::boolean()
            .about("Whether documents and phones are looked for, which counts; yes if missing.");
        Ok(read!(query {
            required text = "q", text;
            optional people = "people", people;
        } => {
            let sought = Sought::of(text);
            if people == Some(false) { sought.without_people() } else { sought }
        }))
    }

    fn of(text: String) -> Sought {
        let mut spellings = vec![text.clone()];
        for spelling in [text.nfc().collect::<String>(), text.nfd().collect()] {
            if !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        }
        Sought { id: Id::parse(&text), people: people(&text), spellings, text }
    }

    /// Whether the text is a document or a phone, and nothing else.
    pub fn is_person(&self) -> bool {
        self.people.iter().any(|person| person.is_plain)
    }

    /// Whether the text may be a document or a phone.
    pub fn may_be_person(&self) -> bool {
        !self.people.is_empty()
    }

    /// The document or the phone that the text most likely is, as people who may not see it are shown it.
    pub fn masked(&self) -> Option<&str> {
        self.people.first().map(|person| &*person.masked)
    }

    pub fn without_people(self) -> Sought {
        Sought { people: Vec::new(), ..self }
    }

    /// Whether something is named so, or begins so, whatever the case and the Unicode normal form.
    pub fn begins(&self, name: &str) -> bool {
        folded(name).starts_with(&folded(&self.text))
    }

    /// The prefixes of the index under which it may be known, with what it is there.
    pub fn prefixes(&self, marks: &PersonMarks) -> Vec<(Trait, String, Vec<u8>)> {
        let hash = (Trait::TxHash, index::searched_hash(&self.text));
        let of_spelling =
            |text: &String| [Trait::BankReference, Trait::Reference].map(|by| (by, text.clone()));
        let people = self.people.iter().map(|person| (person.by, person.text.clone()));
        let found = |(by, text): (Trait, String)| {
            let prefix = index::found_by(marks, by, &text)?;
            Some((by, text, prefix))
        };
        self.spellings.iter().flat_map(of_spelling).chain([hash]).chain(people).filter_map(found).collect()
    }
}

/// A name as names are compared: composed, and in lower case.
fn folded(text: &str) -> String {
    text.nfkc().collect::<String>().to_lowercase()
}
