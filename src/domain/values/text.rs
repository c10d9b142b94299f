//! References of callers, and the characters that a name, a description or another free text may not have.

use crate::codec::stored;
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The length of the longest reference, in characters, not bytes.
pub const REFERENCE_CHARACTERS_MAX: usize = 64;

stored! {
    /// A reference. Copies share the text: it travels with the payment, its record, its index entries
    /// and its answer.
    #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct ExternalRef(pub(crate) Arc<str>);
}

impl ExternalRef {
    /// Reads a reference, trimming white space; the error is a message for the caller.
    pub fn parse(text: &str) -> Result<ExternalRef, &'static str> {
        let trimmed = text.trim();
        let (mut characters, mut is_blank, mut has_control) = (0, true, false);
        for character in trimmed.chars().take(REFERENCE_CHARACTERS_MAX + 1) {
            characters += 1;
            is_blank &= character.is_whitespace() || is_invisible(character);
            has_control |= character.is_control() || is_bidi_control(character);
        }
        if characters > REFERENCE_CHARACTERS_MAX || is_blank && !has_control {
            return Err("must have 1 to 64 characters");
        }
        if has_control {
            return Err("must not contain control characters");
        }
        Ok(ExternalRef(Arc::from(trimmed)))
    }
}

impl Deref for ExternalRef {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ExternalRef {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExternalRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ExternalRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// Whether a text of several lines has a character that nobody types and that misleads its readers:
/// U+0000 and the other controls apart from tabs and line ends, or a mark that changes the direction of
/// writing, which makes a text read as another one.
pub fn is_misleading(text: &str) -> bool {
    // Most texts are printable ASCII, and one pass over their bytes is cheaper than one over their characters.
    for byte in text.bytes() {
        if !matches!(byte, b' '..=b'~') {
            return text.chars().any(|character| is_control(character) || is_bidi_control(character));
        }
    }
    false
}

/// Whether a text of one line has a tab or the end of a line: what stands behind that reads as a line of
/// somebody else's.
pub fn has_line_break(text: &str) -> bool {
    text.contains(['\t', '\n', '\r', '\u{2028}', '\u{2029}'])
}

const fn is_control(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// Whether a reader sees nothing of a text: an empty one, white space, and characters that no font draws.
pub fn is_blank(text: &str) -> bool {
    for character in text.chars() {
        if !character.is_whitespace() && !is_invisible(character) {
            return false;
        }
    }
    true
}

/// Whether a character is drawn as nothing: those with the Unicode property `Default_Ignorable_Code_Point`,
/// the other controls, the marks of annotations, and the blank of Braille.
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether an address has a character that two readers take in two ways: a backslash, which browsers turn into
/// a slash, so that `https://a.example\@b.example` leads to the first and reads as the second; white space and
/// what nobody sees, which they skip.
pub fn misleads_in_address(address: &str) -> bool {
    let is_bad = |character: char| character == '\\' || character.is_whitespace() || is_invisible(character);
    address.contains(is_bad)
}

/// Whether a character has the Unicode property `Bidi_Control`.
pub const fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The number that these digits are; `None` if one is none.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    let mut number: u64 = 0;
    for digit in digits {
        let digit = char::from(*digit).to_digit(10)?;
        number = number.checked_mul(10)?.checked_add(digit.into())?;
    }
    Some(number)
}

/// Writes a number into all of these places, with zeros before it.
pub(crate) fn write_digits(out: &mut [u8], mut number: u64) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod external_ref_tests {
    use super::*;

    #[test]
    fn trimmed_and_counted_in_characters() {
        let longest = format!("{}{}", "a".repeat(16), "ñ".repeat(48));
        assert_eq!(longest.len(), 112);
        for (given, kept) in [
            ("a", "a"),
            ("  order 7\t\n", "order 7"),
            (" \u{a0}x\u{2003}", "x"),
            (longest.as_str(), longest.as_str()),
        ] {
            assert_eq!(&*ExternalRef::parse(given).expect(given), kept);
        }
        assert_eq!(*ExternalRef::parse(&format!("  {longest}\t")).expect("64 characters"), *longest);
    }

    #[test]
    fn refused() {
        let long = "x".repeat(65);
        for given in [
            "",
            "   ",
            "\t\n",
            long.as_str(),
            "a\nb",
            "a\u{0}b",
            "a\u{7f}",
            "a\u{85}b",
            "a\u{202e}b",
            "\u{200b}",
            "\u{3164} \u{e0041}",
        ] {
            assert!(ExternalRef::parse(given).is_err(), "{given:?}");
        }
    }
}

#[cfg(test)]
mod free_text_tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_blank() {
        for text in [
            "",
            " \u{a0}\u{3000}",
            "\u{200b}",
            "\u{2060}\u{feff}",
            "\u{3164}",
            "\u{ffa0}",
            "\u{e0041}",
            "\u{2800} \u{ad}",
            "\u{fe0f}",
        ] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a", "\u{200b}a", "ñ", "日", "👩\u{200d}💻", "\u{301}", ".", "\u{fffd}"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn what_people_write_is_fine() {
        for text in
            ["", "Ñandú & Cía.", "línea\r\n\tdos", "日本語", "שלום", "مرحبا", "👩\u{200d}💻", "a\u{a0}b"]
        {
            assert!(!is_misleading(text), "{text:?}");
            assert_eq!(has_line_break(text), text.contains('\n'), "{text:?}");
        }
        for end in ["\t", "\n", "\r", "\u{2028}", "\u{2029}"] {
            assert!(has_line_break(&format!("a{end}b")) && !is_misleading(&format!("a{end}b")), "{end:?}");
        }
        for text in [
            "a\0",
            "\u{1b}[31m",
            "\u{7f}",
            "\u{85}",
            "a\u{202e}b",
            "\u{200f}",
            "\u{2066}x\u{2069}",
            "\u{61c}",
        ] {
            assert!(is_misleading(text), "{text:?}");
        }
    }
}
