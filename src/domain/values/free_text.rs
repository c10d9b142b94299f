//! Characters that a name, a description or another free text may not have.

/// Whether a text of several lines has a character that nobody types and that misleads its readers:
/// U+0000 and the other controls apart from tabs and line ends, or a mark that changes the direction of
/// writing, which makes a text read as another one.
pub fn is_misleading(text: &str) -> bool {
    !is_printable_ascii(text)
        && text.chars().any(|character| is_control(character) || is_bidi_control(character))
}

/// Whether a text of one line has a tab or the end of a line: what stands behind that reads as a line of
/// somebody else's.
pub fn has_line_break(text: &str) -> bool {
    !is_printable_ascii(text) && text.contains(['\t', '\n', '\r', '\u{2028}', '\u{2029}'])
}

/// Most texts are, and one pass over their bytes is cheaper than one over their characters.
fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

const fn is_control(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// Whether a character has the Unicode property `Bidi_Control`.
pub const fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

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
