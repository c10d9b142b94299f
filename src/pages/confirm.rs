//! The page between a form and an act that moves money or cuts somebody off: amount, payee and
//! consequence once more, and what the call would do now. Nothing is done before its button, which
//! sends what was typed again, under the same name of the act.

use crate::pages::inside::ApiResult;
use crate::pages::site::{Shown, Visit};
use crate::pages::view::{self, Block, Fact, Link, Note, Page, Tone};
use hyper::Method;
use serde_json::Value;

const CONFIRMED: &str = "confirmed";
/// Members that the page's own form sets.
const OWN: [&str; 3] = ["csrf", "once", CONFIRMED];

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
    pub fn is_confirmed(&self) -> bool {
        self.form.text(CONFIRMED) == "yes"
    }

    pub fn confirmation(&self, asked: Confirm) -> Shown {
        let Confirm { page: (name, title), facts, consequence, figures, label, back } = asked;
        let nothing_yet = self.say("Todavía no se hizo nada.", "Nothing has been done yet.");
        let note = Note { more: vec![nothing_yet.to_owned()], ..Note::new(Tone::Warning, consequence) };
        let to = self.arrival.head.uri.path();
        let form = view::Form::new(to, "confirm", label).once(self.form.text("once")).tone(Tone::Bad);
        let typed = self.form.pairs().filter(|(member, _)| !OWN.contains(member));
        let form = typed.fold(form, |form, (member, value)| form.hidden(member, value));
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

/// Whether a call that was rehearsed would do nothing, as it was made before under the same name.
pub fn is_done(shown: &Value) -> bool {
    let none = |name: &str| shown[name].as_array().is_none_or(Vec::is_empty);
    none("movements") && none("orders") && none("events")
}
