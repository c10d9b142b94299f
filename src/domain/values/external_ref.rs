//! The caller's own name for what it asks for: trimmed, 1 to 64 characters, never made up here
//! (`docs/contract.md, 1.7`).

use crate::codec::stored;
use crate::values::free_text::{is_bidi_control, is_blank};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The length of the longest reference, in characters, not bytes.
pub const CHARACTERS_MAX: usize = 64;

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
        let characters = trimmed.chars().take(CHARACTERS_MAX + 1).count();
        if !(1..=CHARACTERS_MAX).contains(&characters) || is_blank(trimmed) && !has_control(trimmed) {
            return Err("must have 1 to 64 characters");
        }
        if has_control(trimmed) {
            return Err("must not contain control characters");
        }
        Ok(ExternalRef(Arc::from(trimmed)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
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

fn has_control(text: &str) -> bool {
    text.chars().any(|character| character.is_control() || is_bidi_control(character))
}

#[cfg(test)]
mod tests {
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
            assert_eq!(ExternalRef::parse(given).expect(given).as_str(), kept);
        }
        assert_eq!(ExternalRef::parse(&format!("  {longest}\t")).expect("64 characters").as_str(), longest);
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
