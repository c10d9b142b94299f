//! Slugs: the end of a payment link's address, 3 to 64 of a–z, 0–9 and dash
//! (`docs/contract.md, 12.2`), made from the product's name when none is given.

use crate::values::ids::Id;
use crate::values::text::is_invisible;
use deunicode::deunicode_char;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The length of the shortest slug, in characters.
pub const CHARACTERS_MIN: usize = 3;
/// The length of the longest slug, in characters.
pub const CHARACTERS_MAX: usize = 64;

/// The slug, or its beginning, for a name of which too little remains.
const STAND_IN: &str = "pago";

/// The number of random characters that tell a slug from an equal one that is taken.
const SUFFIX_CHARACTERS: usize = 8;

/// Checks a slug that was given; the error is a message for the caller.
pub fn parse(text: &str) -> Result<String, &'static str> {
    let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (CHARACTERS_MIN..=CHARACTERS_MAX).contains(&text.len()) && text.bytes().all(fine) {
        Ok(text.to_owned())
    } else {
        Err("must have 3 to 64 characters of a-z, 0-9 and dash")
    }
}

/// The slug of a name: of its letters and digits, accents folded. Everything else is a dash, however it is
/// called: a cake in a name does not make it `torta-birthday`.
pub fn of_name(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for character in name.nfc().filter(|character| !is_invisible(*character)) {
        let folded = match character {
            // A mark belongs to the letter before it.
            mark if is_combining_mark(mark) => deunicode_char(mark).unwrap_or(""),
            // Words of a script without an alphabet come with a space behind each.
            letter if letter.is_alphanumeric() => deunicode_char(letter).unwrap_or("-"),
            _ => "-",
        };
        for letter in folded.chars() {
            match letter.to_ascii_lowercase() {
                letter @ ('a'..='z' | '0'..='9') => slug.push(letter),
                _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
                _ => {}
            }
        }
    }
    slug.truncate(CHARACTERS_MAX);
    let slug = slug.trim_end_matches('-');
    match slug.len() {
        0 => STAND_IN.to_owned(),
        1 | 2 => format!("{STAND_IN}-{slug}"),
        _ => slug.to_owned(),
    }
}

/// The slug with random digits of an id at its end, for when it is taken.
pub fn with_suffix(slug: &str, id: Id) -> String {
    let random: String = id.to_string().chars().filter(|character| *character != '-').collect();
    // The last 4 hexadecimal digits of an entity's id are 0, those before them are random.
    let suffix = &random[random.len() - 4 - SUFFIX_CHARACTERS..random.len() - 4];
    let kept = slug.len().min(CHARACTERS_MAX - SUFFIX_CHARACTERS - 1);
    format!("{}-{suffix}", slug[..kept].trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_slugs() {
        for (name, slug) in [
            ("Café de Mérida", "cafe-de-merida"),
            ("  ¡Ñoquis & Salsa!  ", "noquis-salsa"),
            ("CAMISA talla L/XL", "camisa-talla-l-xl"),
            ("Pingüino № 7", "pinguino-7"),
            ("Torta 🎂", "torta"),
            ("N° 5", "n-5"),
            ("Nº 5", "no-5"),
            ("50% €uro ™ © ½", "50-uro-1-2"),
            ("Cafe\u{301} Sen\u{303}orial", "cafe-senorial"),
            ("tor\u{ad}ta\u{200b}s", "tortas"),
            ("👩\u{200d}💻", "pago"),
            ("A", "pago-a"),
            ("¿?", "pago"),
            ("北京", "bei-jing"),
        ] {
            assert_eq!(of_name(name), slug, "{name}");
            assert!(parse(&of_name(name)).is_ok(), "{name}");
        }
        let long = of_name(&"quesito ".repeat(30));
        assert!(
            long.len() == 63 && long.ends_with("-quesito"),
            "cut after 64 characters, and no dash at the end: {long}"
        );
    }

    #[test]
    fn a_suffix_keeps_it_within_bounds() {
        let id = Id::derived(1_795_226_000_123, 0x1234_5678_9abc_def0, 0);
        for slug in ["abc", &"a".repeat(64), &format!("{}-b", "a".repeat(54))] {
            let other = with_suffix(slug, id);
            assert!(parse(&other).is_ok() && other != slug && !other.contains("--"), "{other}");
        }
    }

    #[test]
    fn given_ones_are_checked() {
        for fine in ["abc", "a-1", "---", &"z".repeat(64)] {
            assert!(parse(fine).is_ok(), "{fine}");
        }
        for bad in ["", "ab", "Abc", "a b", "café", "a_b", &"z".repeat(65)] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
