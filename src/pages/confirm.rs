//! The page between a form and an act that moves money or cuts somebody off: amount, payee and
//! consequence once more, and what the call would do now. Nothing is done before its button, which
//! sends what was typed again, under the same name of the act.

use crate::language::Language;
use crate::pages::inside::ApiResult;
use crate::pages::show;
use crate::pages::site::{Shown, Visit};
use crate::pages::view::{self, Block, Cell, Fact, Input, Link, Note, Page, Row, Tone};
use crate::pages::words::words;
use hyper::Method;
use serde_json::Value;

const CONFIRMED: &str = "confirmed";
/// Members that the page's own form sets.
const OWN: [&str; 4] = ["csrf", "once", CONFIRMED, AGAIN];
/// What has to be typed once more, where a slip of the hand would be dear.
pub const AGAIN: &str = "again";

pub struct Confirm {
    /// The page's name and its title, a question or what is about to be done.
    pub page: (&'static str, String),
    pub facts: Vec<Fact>,
    /// What follows, and whether there is a way back.
    pub consequence: String,
    /// What the call would do, where it can be said.
    pub figures: Vec<Block>,
    /// The words of its button: the act and its amount.
    pub label: String,
    /// Where whoever does not want it goes.
    pub back: String,
}

impl<W> Visit<'_, W> {
    /// Whether the visitor has seen what would be done, and wants it.
    pub fn is_confirmed(&self) -> bool {
        self.form.text(CONFIRMED) == "yes"
    }

    pub fn confirmation(&self, asked: Confirm) -> Shown {
        self.confirmation_with(asked, None)
    }

    /// With what has to be typed for it.
    pub fn confirmation_with(&self, asked: Confirm, typed_again: Option<Input>) -> Shown {
        let Confirm { page: (name, title), facts, consequence, figures, label, back } = asked;
        let nothing_yet = self.say("Todavía no se hizo nada.", "Nothing has been done yet.");
        let note = Note::new(Tone::Warning, format!("{consequence} {nothing_yet}"));
        let to = self.arrival.head.uri.path();
        let form = view::Form::new(to, "confirm", label).once(self.form.text("once")).tone(Tone::Bad);
        let typed = self.form.pairs().filter(|(member, _)| !OWN.contains(member));
        let form = typed.fold(form, |form, (member, value)| form.hidden(member, value));
        let form = typed_again.into_iter().fold(form, view::Form::input);
        let page = Page::new(name, title)
            .with(note)
            .with(facts)
            .with_all(figures)
            .with(form.hidden(CONFIRMED, "yes"))
            .with(vec![Link::new(self.say("Volver sin hacerlo", "Go back without doing it"), back)]);
        Shown::Page(page)
    }

    /// What a call would answer now, or why it would be refused.
    pub async fn rehearsed(&self, method: Method, path: &str, body: Option<&Value>) -> ApiResult {
        self.inside.rehearse(method, path, body, self.form.text("once")).await
    }
}

/// The money that a rehearsed call would move, and what it would order of banks.
pub fn figures(language: Language, shown: &Value) -> Vec<Block> {
    let list = |name: &str| shown[name].as_array().map_or(&[][..], Vec::as_slice);
    let movement = |item: &Value| {
        let amount = ["amountVes", "amountCop", "amountUsdt"].map(|name| show::text(&item[name])).concat();
        let kind = show::member(language, item, "type");
        let seller = language.say("Del saldo del vendedor", "From the seller's balance");
        Row::new([
            if item["merchantId"].is_string() { kind.with_sub(seller) } else { kind },
            Cell::money(language, &amount, show::str_of(item, "currency")),
        ])
    };
    let order = |item: &Value| {
        Row::new([
            Cell::text(words(language, show::str_of(item, "kind")))
                .with_sub(words(language, show::str_of(item, "rail"))),
            Cell::money(language, &show::text(&item["amount"]), show::str_of(item, "currency")),
        ])
    };
    let amount = language.say("Monto", "Amount");
    let table = |caption: &'static str, rows: Vec<Row>| {
        let heads = [language.say("Qué", "What"), amount];
        [Block::Heading(caption.to_owned()), show::headed(language, caption, heads).rows(rows).into()]
    };
    let mut blocks = Vec::new();
    if !list("movements").is_empty() {
        let caption = language.say("El dinero que se movería", "The money that would move");
        blocks.extend(table(caption, list("movements").iter().map(movement).collect()));
    }
    if !list("orders").is_empty() {
        let caption = language.say("Órdenes al banco", "Orders to the bank");
        blocks.extend(table(caption, list("orders").iter().map(order).collect()));
    }
    blocks
}
