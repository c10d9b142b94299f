//! Fields as R4 wants them written (`docs/contract.md, 18.3`): every value is a text.

use deunicode::deunicode_char;
use domain::values::money::Ves;
use domain::values::venezuela::IdentityDocument;

/// Eight digits before the point.
pub const AMOUNT_MAX: Ves = Ves::from_minor(9_999_999_999);
const NAME_CHARACTERS_MAX: usize = 20;
const CONCEPT_CHARACTERS_MAX: usize = 30;

/// Exactly two decimals; above nothing, and up to [`AMOUNT_MAX`].
pub fn monto(amount: Ves) -> Option<String> {
    (Ves::ZERO < amount && amount <= AMOUNT_MAX).then(|| amount.to_string())
}

/// The letter, and the number padded to eight digits; to nine where it is the RIF of a firm or of
/// the state, whose last is a check digit. A person's number of nine keeps them all.
pub fn cedula(document: IdentityDocument) -> String {
    let digits = if matches!(document.letter(), 'J' | 'G') { 9 } else { 8 };
    format!("{}{:0digits$}", document.letter(), document.number())
}

pub fn nombre(name: &str) -> String {
    plain(name, NAME_CHARACTERS_MAX, |character| character.is_ascii_alphabetic())
}

pub fn concepto(concept: &str) -> String {
    plain(concept, CONCEPT_CHARACTERS_MAX, |character| character.is_ascii_alphanumeric())
}

fn plain(text: &str, characters_max: usize, is_fine: fn(char) -> bool) -> String {
    let mut letters = String::with_capacity(text.len());
    for character in text.chars() {
        match deunicode_char(character) {
            // An accent that stands behind its letter.
            Some("") if !character.is_control() => {}
            Some(plain) if character.is_alphanumeric() => letters.push_str(plain),
            _ => letters.push(character),
        }
    }
    let ascii: String =
        letters.chars().map(|character| if is_fine(character) { character } else { ' ' }).collect();
    let single = ascii.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    single[..single.len().min(characters_max)].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::values::venezuela::MobilePhone;
    use proptest::prelude::*;

    #[test]
    fn amounts_have_two_decimals_and_eight_digits() {
        for (minor, written) in [
            (1, Some("0.01")),
            (100, Some("1.00")),
            (123_450, Some("1234.50")),
            (9_999_999_999, Some("99999999.99")),
            (10_000_000_000, None),
            (0, None),
            (-1, None),
        ] {
            assert_eq!(monto(Ves::from_minor(minor)).as_deref(), written, "{minor}");
        }
    }

    #[test]
    fn documents_have_eight_digits_or_nine() {
        for (given, written) in [
            ("V12345678", "V12345678"),
            ("e-84211905", "E84211905"),
            ("V12345", "V00012345"),
            ("J000029709", "J000029709"),
            ("J29709", "J000029709"),
            ("g-200099976", "G200099976"),
            ("P12345", "P00012345"),
            ("J301234567", "J301234567"),
            ("V012345678", "V12345678"),
        ] {
            assert_eq!(cedula(IdentityDocument::parse(given).expect(given)), written);
        }
    }

    #[test]
    fn names_and_concepts_are_plain() {
        for (given, name, concept) in [
            ("José Núñez", "Jose Nunez", "Jose Nunez"),
            ("  María\t de  los Ángeles Pérez", "Maria de los Angeles", "Maria de los Angeles Perez"),
            ("O'Brien-Gómez, 3º", "O Brien Gomez o", "O Brien Gomez 3o"),
            ("Pago #42 (orden A-7)", "Pago orden A", "Pago 42 orden A 7"),
            // The cut falls on a space, which goes too.
            (
                "abcdefghijklmnopqrs tuvwxyzabcdefghij",
                "abcdefghijklmnopqrs",
                "abcdefghijklmnopqrs tuvwxyzabc",
            ),
            ("", "", ""),
            ("123", "", "123"),
            // Signs have names, which nobody wrote.
            ("Año 2026: pago N° 5 😀", "Ano pago N", "Ano 2026 pago N 5"),
            ("último\tdía", "ultimo dia", "ultimo dia"),
            ("u\u{301}ltimo", "ultimo", "ultimo"),
        ] {
            assert_eq!((nombre(given).as_str(), concepto(given).as_str()), (name, concept), "{given}");
        }
    }

    proptest! {
        #[test]
        fn whatever_people_write_becomes_what_the_bank_takes(text in any::<String>()) {
            for (written, characters_max) in [(nombre(&text), 20), (concepto(&text), 30)] {
                prop_assert!(written.len() <= characters_max && written.trim() == written, "{}", written);
                prop_assert!(!written.contains("  "));
                prop_assert!(written.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' '));
            }
            prop_assert!(!nombre(&text).bytes().any(|byte| byte.is_ascii_digit()));
        }

        #[test]
        fn an_amount_is_read_back(minor in 1..=AMOUNT_MAX.minor()) {
            let written = monto(Ves::from_minor(minor)).expect("it fits");
            let (whole, cents) = written.split_once('.').expect("a point");
            prop_assert!((1..=8).contains(&whole.len()) && cents.len() == 2);
            prop_assert_eq!(format!("{whole}{cents}").parse::<i64>(), Ok(minor));
        }

        #[test]
        fn phones_are_local(prefix in prop::sample::select(vec!["0412", "58414", "+58426"]), line in 0..10_000_000_u32) {
            let phone = MobilePhone::parse(&format!("{prefix}{line:07}")).expect("a phone").clear().to_string();
            prop_assert!(phone.len() == 11 && phone.starts_with("04"), "{}", phone);
        }

        #[test]
        fn documents_are_a_letter_and_eight_digits_or_nine(letter in "[VEJPG]", number in "[0-9]{5,9}") {
            let document = IdentityDocument::parse(&format!("{letter}{number}")).expect("a document");
            let written = cedula(document);
            let least = if matches!(document.letter(), 'J' | 'G') { 10 } else { 9 };
            prop_assert!((least..=10).contains(&written.len()));
            prop_assert_eq!(written[1..].parse::<u32>(), Ok(document.number()));
        }
    }
}
