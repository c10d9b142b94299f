//! A receipt as a PDF: one page of A4 in the letters that every reader has.
//!
//! The standard fonts know the letters of Windows-1252, which are those of Spanish and English; a letter
//! that is not among them shows as a question mark, and stands in the page of HTML.

use super::Receipt;
use super::words::{Words, words};
use pdf_writer::types::PageMode;
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

/// The width and height of A4, in points.
const PAGE: (i16, i16) = (595, 842);
/// The edges of what is written, in points.
const LEFT: i16 = 57;
const RIGHT: i16 = 538;
/// The place where values begin.
const VALUES: i16 = 218;
/// The lowest line: what is longer is cut, which takes a description of many lines.
const BOTTOM: i16 = 50;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const ONLY_PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
const PLAIN_FONT: Ref = Ref::new(6);
const BOLD_FONT: Ref = Ref::new(7);

/// A font of the page.
#[derive(Clone, Copy)]
enum Font {
    Plain,
    Bold,
}

impl Font {
    const fn name(self) -> Name<'static> {
        match self {
            Font::Plain => Name(b"F1"),
            Font::Bold => Name(b"F2"),
        }
    }
}

pub fn pdf(receipt: &Receipt) -> Vec<u8> {
    let w = words(receipt.language);
    let mut pdf = Pdf::new();
    let mut catalog = pdf.catalog(CATALOG);
    catalog.pages(PAGES).page_mode(PageMode::UseNone).lang(TextStr(receipt.language.code()));
    catalog.viewer_preferences().display_doc_title(true);
    catalog.finish();
    pdf.document_info(INFO).title(TextStr(w.title)).author(TextStr(&receipt.shop.name));
    pdf.pages(PAGES).kids([ONLY_PAGE]).count(1);
    let mut page = pdf.page(ONLY_PAGE);
    page.media_box(Rect::new(0.0, 0.0, f32::from(PAGE.0), f32::from(PAGE.1)));
    page.parent(PAGES);
    page.contents(CONTENT);
    let mut resources = page.resources();
    resources.fonts().pair(Font::Plain.name(), PLAIN_FONT).pair(Font::Bold.name(), BOLD_FONT);
    resources.finish();
    page.finish();
    for (font, base) in [(PLAIN_FONT, &b"Helvetica"[..]), (BOLD_FONT, b"Helvetica-Bold")] {
        pdf.type1_font(font).base_font(Name(base)).encoding_predefined(Name(b"WinAnsiEncoding"));
    }
    pdf.stream(CONTENT, &content(receipt, &w));
    pdf.finish()
}

fn content(receipt: &Receipt, w: &Words) -> Vec<u8> {
    let mut canvas = Canvas { content: Content::new(), y: 780 };
    if !receipt.livemode {
        canvas.text(LEFT, Font::Bold, 10, w.test_mode);
        canvas.y -= 26;
    }
    canvas.wrapped(LEFT, Font::Bold, 16, &receipt.shop.name);
    if let Some(rif) = &receipt.shop.rif {
        canvas.text(LEFT, Font::Plain, 10, &format!("{} {rif}", w.rif));
        canvas.y -= 16;
    }
    canvas.text(LEFT, Font::Plain, 11, w.title);
    canvas.y -= 12;
    canvas.rule();
    canvas.y -= 22;
    canvas.text(LEFT, Font::Plain, 10, w.amount);
    canvas.y -= 28;
    canvas.wrapped(LEFT, Font::Bold, 24, &receipt.amount.shown);
    canvas.text(LEFT, Font::Bold, 11, if receipt.is_reversed { w.reversed } else { w.completed });
    canvas.y -= 16;
    for line in &receipt.lines {
        canvas.rule();
        canvas.y -= 16;
        canvas.text(LEFT, Font::Plain, 10, line.label.words(receipt.language));
        canvas.wrapped(VALUES, Font::Plain, 10, &line.value.shown);
    }
    canvas.rule();
    canvas.content.finish().to_vec()
}

/// A page while it is written, from its top.
struct Canvas {
    content: Content,
    /// The base of the present line, in points from the bottom.
    y: i16,
}

impl Canvas {
    fn text(&mut self, x: i16, font: Font, size: u8, text: &str) {
        if self.y < BOTTOM {
            return;
        }
        self.content.begin_text();
        self.content.set_font(font.name(), f32::from(size));
        self.content.next_line(f32::from(x), f32::from(self.y));
        self.content.show(Str(&encoded(text)));
        self.content.end_text();
    }

    /// A text in as many lines as it takes, and the room below it.
    fn wrapped(&mut self, x: i16, font: Font, size: u8, text: &str) {
        for line in lines(text, size, RIGHT - x) {
            self.text(x, font, size, &line);
            self.y = self.y.saturating_sub(i16::from(size) + 4);
        }
        self.y = self.y.saturating_add(4);
    }

    /// A thin line from edge to edge.
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

/// The widths of the printable letters of ASCII in Helvetica, from the space on, in thousandths of the
/// size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
    556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// The width of the widest letter, which every other letter is taken to have; bold ones are a tenth
/// wider than the others.
const WIDEST: u16 = 1_015;

/// The lines of a text in letters of `size`, none wider than `width` points: broken at spaces, and inside
/// a word that is longer than a line.
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

/// A text in Windows-1252, as the fonts of a reader expect it.
fn encoded(text: &str) -> Vec<u8> {
    text.chars()
        .map(|letter| match letter {
            ' '..='~' => letter as u8,
            '\u{a0}'..='ÿ' => letter as u8,
            '€' => 0x80,
            '…' => 0x85,
            '‘' => 0x91,
            '’' => 0x92,
            '“' => 0x93,
            '”' => 0x94,
            '•' => 0x95,
            '–' => 0x96,
            '—' => 0x97,
            '™' => 0x99,
            _ => b'?',
        })
        .collect()
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
