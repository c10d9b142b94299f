//! One page of A4 in the letters that every reader has: the standard fonts know those of
//! Windows-1252. Letters are composed first, so that an accent stands on its letter. One that the
//! fonts lack is spelt with the letters that it is made of (`Łukasz` is `Lukasz`); of another
//! script it shows as a question mark, and stands in the page of HTML.

use super::Receipt;
use super::words::Label;
use deunicode::deunicode_char;
use domain::values::text::is_invisible;
use encoding_rs::WINDOWS_1252;
use pdf_writer::types::PageMode;
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::iter;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A4, in points.
const PAGE: (i16, i16) = (595, 842);
/// In points.
const LEFT: i16 = 57;
const RIGHT: i16 = 538;
const VALUES: i16 = 218;
/// What is longer is cut, which takes a description of many lines.
const BOTTOM: i16 = 50;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const ONLY_PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
const PLAIN_FONT: Ref = Ref::new(6);
const BOLD_FONT: Ref = Ref::new(7);

const PLAIN: Name<'static> = Name(b"F1");
const BOLD: Name<'static> = Name(b"F2");

pub fn pdf(receipt: &Receipt) -> Vec<u8> {
    let mut pdf = Pdf::new();
    let mut catalog = pdf.catalog(CATALOG);
    catalog.pages(PAGES).page_mode(PageMode::UseNone).lang(TextStr(receipt.language.code()));
    catalog.viewer_preferences().display_doc_title(true);
    catalog.finish();
    pdf.document_info(INFO)
        .title(TextStr(Label::TITLE.words(receipt.language)))
        .author(TextStr(&receipt.shop.name));
    pdf.pages(PAGES).kids([ONLY_PAGE]).count(1);
    let mut page = pdf.page(ONLY_PAGE);
    page.media_box(Rect::new(0.0, 0.0, f32::from(PAGE.0), f32::from(PAGE.1)));
    page.parent(PAGES);
    page.contents(CONTENT);
    let mut resources = page.resources();
    resources.fonts().pair(PLAIN, PLAIN_FONT).pair(BOLD, BOLD_FONT);
    resources.finish();
    page.finish();
    for (font, base) in [(PLAIN_FONT, &b"Helvetica"[..]), (BOLD_FONT, b"Helvetica-Bold")] {
        pdf.type1_font(font).base_font(Name(base)).encoding_predefined(Name(b"WinAnsiEncoding"));
    }
    pdf.stream(CONTENT, &content(receipt));
    pdf.finish()
}

fn content(receipt: &Receipt) -> Vec<u8> {
    let mut canvas = Canvas { content: Content::new(), y: 780 };
    if !receipt.livemode {
        canvas.text(LEFT, BOLD, 10, Label::TEST_MODE.words(receipt.language));
        canvas.y -= 26;
    }
    canvas.wrapped(LEFT, BOLD, 16, &receipt.shop.name);
    if let Some(rif) = &receipt.shop.rif {
        canvas.text(LEFT, PLAIN, 10, &format!("RIF {rif}"));
        canvas.y -= 16;
    }
    canvas.text(LEFT, PLAIN, 11, Label::TITLE.words(receipt.language));
    canvas.y -= 12;
    canvas.rule();
    canvas.y -= 22;
    canvas.text(LEFT, PLAIN, 10, Label::AMOUNT.words(receipt.language));
    canvas.y -= 28;
    canvas.wrapped(LEFT, BOLD, 24, &receipt.amount.shown);
    canvas.text(LEFT, BOLD, 11, receipt.outcome().words(receipt.language));
    canvas.y -= 16;
    for line in &receipt.lines {
        canvas.rule();
        canvas.y -= 16;
        canvas.text(LEFT, PLAIN, 10, line.label.words(receipt.language));
        canvas.wrapped(VALUES, PLAIN, 10, &line.value.shown);
    }
    canvas.rule();
    canvas.content.finish().to_vec()
}

struct Canvas {
    content: Content,
    /// In points from the bottom.
    y: i16,
}

impl Canvas {
    fn text(&mut self, x: i16, font: Name<'_>, size: u8, text: &str) {
        if self.y < BOTTOM {
            return;
        }
        self.content.begin_text();
        self.content.set_font(font, f32::from(size));
        self.content.next_line(f32::from(x), f32::from(self.y));
        self.content.show(Str(&encoded(text)));
        self.content.end_text();
    }

    fn wrapped(&mut self, x: i16, font: Name<'_>, size: u8, text: &str) {
        for line in lines(&spelt(text), size, RIGHT - x) {
            self.text(x, font, size, &line);
            self.y = self.y.saturating_sub(i16::from(size) + 4);
        }
        self.y = self.y.saturating_add(4);
    }

    fn rule(&mut self) {
        if self.y < BOTTOM {
            return;
        }
        self.content.set_line_width(0.5);
        self.content.set_stroke_gray(0.75);
        self.content.move_to(f32::from(LEFT), f32::from(self.y));
        self.content.line_to(f32::from(RIGHT), f32::from(self.y));
        self.content.stroke();
    }
}

/// In Helvetica, from the space on, in thousandths of the size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
    556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// Every letter beyond ASCII is taken to be so wide; bold ones are a tenth wider than the others.
const WIDEST: u16 = 1_015;

/// Broken at spaces, and inside a word that is longer than a line.
fn lines(text: &str, size: u8, width: i16) -> Vec<String> {
    let of = |letter: char| {
        let at = usize::try_from(u32::from(letter)).ok().and_then(|code| code.checked_sub(32));
        let width = at.and_then(|at| WIDTHS.get(at)).copied().unwrap_or(WIDEST);
        u32::from(width) * u32::from(size) * 11 / 10
    };
    let most = u32::from(width.unsigned_abs()) * 1_000;
    let (mut lines, mut line, mut wide) = (Vec::new(), String::new(), 0);
    for word in text.split_inclusive(char::is_whitespace) {
        let its: u32 = word.trim_end().chars().map(of).sum();
        if wide + its > most && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            wide = 0;
        }
        for letter in word.chars() {
            let letter = if letter.is_whitespace() { ' ' } else { letter };
            if wide + of(letter) > most && letter != ' ' && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
                wide = 0;
            }
            line.push(letter);
            wide += of(letter);
        }
    }
    lines.push(line);
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

fn spelt(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.nfc() {
        if letter.is_whitespace() || windows_1252(letter).is_some() {
            out.push(letter);
        } else if is_combining_mark(letter) || is_invisible(letter) {
            // A mark that no letter is composed with is left out, as is what nobody would see.
        } else {
            // Also what stands for letters: a Roman numeral, a letter in a circle or in bold.
            let bare: String = iter::once(letter).nfkd().filter(|part| !is_combining_mark(*part)).collect();
            for part in bare.chars() {
                if is_latin(letter) || is_latin(part) { out.push_str(base(part)) } else { out.push(part) }
            }
        }
    }
    out
}

/// For letters without marks, which the table of transliterations does not know.
fn base(letter: char) -> &'static str {
    match letter {
        'Ə' | 'Ǝ' => "E",
        'ə' | 'ǝ' => "e",
        'ɚ' => "er",
        'Ʌ' => "A",
        'ʌ' => "a",
        'ʘ' | '\u{a7cb}' => "O",
        '\u{a7cc}' => "S",
        '\u{a7cd}' => "s",
        '\u{a7d2}' => "Th",
        '\u{a7d4}' => "W",
        '\u{a7da}' | '\u{a7dc}' => "L",
        '\u{a7db}' => "l",
        'ʔ' | 'ʕ' | 'ʖ' | 'ʡ' | 'ʢ' | '\u{a7ce}' | '\u{a7cf}' => "'",
        letter => deunicode_char(letter).unwrap_or("?").trim_end_matches(['.', ',', '*']),
    }
}

/// Its blocks beyond those of Windows-1252, ligatures and wide forms.
const fn is_latin(letter: char) -> bool {
    matches!(letter,
        '\u{100}'..='\u{2af}' | '\u{1d00}'..='\u{1dbf}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}'
        | '\u{a722}'..='\u{a7ff}' | '\u{ab30}'..='\u{ab6f}' | '\u{fb00}'..='\u{fb06}'
        | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}')
}

fn windows_1252(letter: char) -> Option<u8> {
    let mut utf8 = [0; 4];
    let (bytes, _, is_lossy) = WINDOWS_1252.encode(letter.encode_utf8(&mut utf8));
    bytes.first().copied().filter(|_| !is_lossy && !letter.is_control())
}

fn encoded(text: &str) -> Vec<u8> {
    text.chars().map(|letter| windows_1252(letter).unwrap_or(b'?')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn letters_of_spanish_are_those_of_the_fonts() {
        assert_eq!(encoded("Ñandú – 5 €"), b"\xd1and\xfa \x96 5 \x80");
        assert_eq!(encoded("日本\u{7f}\n"), b"????");
    }

    #[test]
    fn every_letter_of_the_latin_script_is_shown() {
        for (text, shown) in [
            ("Cafe\u{301} Sen\u{303}orial", "Café Señorial"),
            ("Łukasz Žižek ﬁn Œuvre", "Lukasz Žižek fin Œuvre"),
            ("Đặng Nguyễn, Ĳsland, Şişli, Əliyev", "Dang Nguyen, IJsland, Sisli, Eliyev"),
            ("x\u{302}\u{200b}y\u{ad}", "xy\u{ad}"),
            ("Ａbｃ", "Abc"),
            ("Juan Pablo Ⅱ, 𝐌𝐚𝐫í𝐚, Ⓐ", "Juan Pablo II, María, A"),
            ("日本 Ж", "日本 Ж"),
        ] {
            assert_eq!(spelt(text), shown, "{text:?}");
        }
        let wrong: Vec<String> = ('\u{a0}'..='\u{ffff}')
            .filter(|letter| is_latin(*letter) && letter.is_alphabetic())
            .map(|letter| (letter, spelt(&letter.to_string())))
            .filter(|(_, shown)| shown.is_empty() || encoded(shown).iter().any(|byte| b"?@".contains(byte)))
            .map(|(letter, shown)| format!("{letter} U+{:04X} {shown:?}", u32::from(letter)))
            .collect();
        assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join(", "));
    }

    proptest! {
        #[test]
        fn lines_hold_every_letter_and_none_is_too_wide(text in "[a-zW ]{0,200}", size in 8_u8..24) {
            let broken = lines(&text, size, 300);
            let letters = |text: &str| text.chars().filter(|letter| *letter != ' ').collect::<String>();
            prop_assert_eq!(letters(&broken.concat()), letters(&text));
            for line in broken {
                let wide: u32 = line.bytes().map(|byte| u32::from(WIDTHS[usize::from(byte) - 32])).sum();
                prop_assert!(wide * u32::from(size) <= 300_000, "{line}");
            }
        }
    }
}
