//! The documents and phones that a text may be, in every form in which people type them: `V-12.345.678`,
//! `12.345.678`, `0414-1234567`, `+58 414 123 45 67`.

use domain::index::Trait;
use domain::values::colombia::{ColombianPhone, DocumentNumber};
use domain::values::venezuela::{IdentityDocument, MobilePhone};
use unicode_normalization::UnicodeNormalization;

/// Digits of the shortest number that is taken for a document's: shorter ones are parts of references.
const DOCUMENT_DIGITS_MIN: usize = 5;
/// Digits of a cédula that is typed without its letter.
const CEDULA_DIGITS: std::ops::RangeInclusive<usize> = 6..=8;
const CEDULA_LETTERS: [char; 2] = ['V', 'E'];

/// A document or a phone that a text may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Which of both.
    pub by: Trait,
    pub text: String,
    /// The text as people who may not see it are shown it.
    pub masked: String,
    /// Whether the text is nothing else: digits alone may be a bank's reference as well.
    pub is_plain: bool,
}

/// What of people a text may be.
pub fn people(text: &str) -> Vec<Person> {
    let compact = compact(text);
    let mut people = Vec::new();
    let mut add = |by, text: String, masked: String, is_plain| {
        if !people.iter().any(|known: &Person| (known.by, &known.text) == (by, &text)) {
            people.push(Person { by, text, masked, is_plain });
        }
    };
    let is_cedula =
        CEDULA_DIGITS.contains(&compact.len()) && compact.bytes().all(|byte| byte.is_ascii_digit());
    let lettered =
        CEDULA_LETTERS.into_iter().filter(|_| is_cedula).map(|letter| format!("{letter}{compact}"));
    for (typed, is_plain) in [(compact.clone(), true)].into_iter().chain(lettered.map(|one| (one, false))) {
        if let Ok(document) = IdentityDocument::parse(&typed) {
            add(Trait::Document, document.clear().to_string(), document.masked().to_string(), is_plain);
        }
    }
    let international = compact.strip_prefix("00").map(|rest| format!("+{rest}"));
    let dialled = international.as_deref().unwrap_or(&compact);
    if let Ok(phone) = MobilePhone::parse(dialled) {
        add(Trait::Phone, phone.clear().to_string(), phone.masked().to_string(), true);
    }
    if let Ok(phone) = ColombianPhone::parse(dialled) {
        add(Trait::Phone, phone.clear().to_string(), phone.masked().to_string(), dialled.starts_with('+'));
    }
    // Numbers of documents are kept as they were sent, with their dashes.
    for typed in [text, &compact] {
        let digits = typed.bytes().filter(u8::is_ascii_digit).count();
        if let Some(number) = DocumentNumber::parse(typed).ok().filter(|_| digits >= DOCUMENT_DIGITS_MIN) {
            add(Trait::Document, number.clear().to_owned(), number.masked().to_string(), false);
        }
    }
    people
}

/// A text without what people put between digits, in the usual width.
fn compact(text: &str) -> String {
    let is_between =
        |c: char| c.is_whitespace() || matches!(c, '.' | '-' | '(' | ')' | '/' | '\u{2010}'..='\u{2015}');
    text.nfkc().filter(|c| !is_between(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_known_in_every_form_in_which_they_are_typed() {
        for (typed, by, clear, masked, is_plain) in [
            ("V12345678", Trait::Document, "V12345678", "V***678", true),
            ("v-12345678", Trait::Document, "V12345678", "V***678", true),
            ("V-12.345.678", Trait::Document, "V12345678", "V***678", true),
            ("V 12 345 678", Trait::Document, "V12345678", "V***678", true),
            ("V\u{2013}12.345.678", Trait::Document, "V12345678", "V***678", true),
            ("Ｖ１２３４５６７８", Trait::Document, "V12345678", "V***678", true),
            ("J-12345678-9", Trait::Document, "J123456789", "J***789", true),
            ("12.345.678", Trait::Document, "V12345678", "V***678", false),
            ("12345678", Trait::Document, "E12345678", "E***678", false),
            ("04141234567", Trait::Phone, "04141234567", "0414***4567", true),
            ("0414-1234567", Trait::Phone, "04141234567", "0414***4567", true),
            ("(0414) 123.45.67", Trait::Phone, "04141234567", "0414***4567", true),
            ("+58 414 123 45 67", Trait::Phone, "04141234567", "0414***4567", true),
            ("+58\u{a0}414-1234567", Trait::Phone, "04141234567", "0414***4567", true),
            ("0058 414 1234567", Trait::Phone, "04141234567", "0414***4567", true),
            ("+57 300 123 4567", Trait::Phone, "3001234567", "300***4567", true),
            ("300 123 4567", Trait::Phone, "3001234567", "300***4567", false),
            ("1.020.304.050", Trait::Document, "1020304050", "***050", false),
            ("CE-123456", Trait::Document, "CE-123456", "***456", false),
        ] {
            let found = people(typed);
            let wanted = Person { by, text: clear.to_owned(), masked: masked.to_owned(), is_plain };
            assert!(found.contains(&wanted), "{typed}: {found:?}");
        }
    }

    #[test]
    fn other_texts_are_nobody() {
        for typed in ["", "order-42", "a@b.co", "café", "4141", "V1234", "' OR 1=1"] {
            assert_eq!(people(typed), [], "{typed}");
        }
        for typed in ["order-20261126", "0414123456", "4141234567"] {
            assert!(people(typed).iter().all(|person| !person.is_plain), "{typed}");
        }
    }
}
