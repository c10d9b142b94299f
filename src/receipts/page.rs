//! Without a script, and for paper.

use super::words::{Label, Words, words};
use super::{Line, Receipt};
use askama::Template;

#[derive(Template)]
#[template(path = "receipt.html", config = "src/receipts/askama.toml")]
struct Page<'a> {
    receipt: &'a Receipt,
    w: Words,
}

impl Page<'_> {
    fn lang(&self) -> &'static str {
        self.receipt.language.code()
    }

    fn label(&self, line: &Line) -> &'static str {
        line.label.words(self.receipt.language)
    }
}

impl Line {
    fn is_moment(&self) -> bool {
        matches!(self.label, Label::Date | Label::ReversedAt)
    }
}

pub fn page(receipt: &Receipt) -> String {
    let page = Page { receipt, w: words(receipt.language) };
    match page.render() {
        Ok(html) => html,
        // Writing to a text does not fail, and the template does nothing else.
        Err(error) => unreachable!("a receipt could not be written: {error}"),
    }
}
