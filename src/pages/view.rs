//! The parts that pages are made of. A page is data, in parts that look the same on every page, and
//! the templates write it. So nothing that somebody typed reaches a page unescaped, and a page is
//! read without a script.

mod forms;

pub use forms::{Button, Form, Input, Kind, owned};

use crate::language::Language;
use crate::pages::qr::Drawing;
use api::problem::Problem;
use askama::Template;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub struct Page {
    pub name: &'static str,
    pub title: String,
    /// As the API writes it; `error` after a form that failed.
    pub status: Option<String>,
    pub code: u16,
    /// The address by which it is read, where a form's answer may show it too.
    pub at: Option<String>,
    pub blocks: Vec<Block>,
}

/// What somebody opens a page for: an amount and its state.
pub struct Headline {
    pub amount: String,
    pub state: Cell,
}

impl Page {
    pub fn new(name: &'static str, title: impl Into<String>) -> Page {
        Page { name, title: title.into(), status: None, code: 200, at: None, blocks: Vec::new() }
    }

    pub fn at(self, address: impl Into<String>) -> Page {
        Page { at: Some(address.into()), ..self }
    }

    pub fn status(mut self, status: &str) -> Page {
        self.status = Some(status.to_owned());
        self
    }

    pub fn with(mut self, block: impl Into<Block>) -> Page {
        self.blocks.push(block.into());
        self
    }

    pub fn with_all(mut self, blocks: impl IntoIterator<Item = Block>) -> Page {
        self.blocks.extend(blocks);
        self
    }

    pub fn maybe(mut self, block: Option<impl Into<Block>>) -> Page {
        self.blocks.extend(block.map(Into::into));
        self
    }

    pub fn heading(self, text: impl Into<String>) -> Page {
        self.with(Block::Heading(text.into()))
    }

    pub fn text(self, text: impl Into<String>) -> Page {
        self.with(Block::Text(text.into()))
    }

    pub fn live(self, blocks: &[Block], on: &Writing<'_>) -> Result<Page, Problem> {
        Ok(self.with(Block::Live(html(blocks, on)?)))
    }

    pub fn failed(mut self, code: u16, why: impl Into<Block>) -> Page {
        (self.code, self.status) = (code, Some("error".to_owned()));
        self.blocks.insert(0, why.into());
        self
    }
}

pub enum Block {
    Heading(String),
    /// An address leads to it by its fragment.
    Anchor(&'static str, String),
    Text(String),
    Headline(Headline),
    Note(Note),
    Facts(Vec<Fact>),
    Table(Table),
    Listed(Box<Listed>),
    Form(Form),
    Timeline(Vec<Step>),
    Plot(Plot),
    Code(Code),
    Qr(Qr),
    Links(Vec<Link>),
    /// Shown anew every few seconds where there is a script: already written.
    Live(String),
    /// A long part that was written where no request waits behind it.
    Written(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    /// Before something that cannot be taken back.
    Warning,
    /// Of a button that is not what its page is for.
    Quiet,
    Plain,
}

impl Tone {
    pub const fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Warning => "warning",
            Tone::Quiet => "quiet",
            Tone::Plain => "plain",
        }
    }
}

pub struct Note {
    pub tone: Tone,
    pub text: String,
    pub more: Vec<String>,
}

impl Note {
    pub fn new(tone: Tone, text: impl Into<String>) -> Note {
        Note { tone, text: text.into(), more: Vec::new() }
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Cell {
    pub text: String,
    pub sub: String,
    pub href: Option<String>,
    pub status: Option<String>,
    /// A word that sets it apart from its like: that it is of test mode.
    pub mark: String,
    pub is_figure: bool,
    pub is_code: bool,
    pub is_whole: bool,
    /// What its button copies: an id that programs read.
    pub copies: String,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    pub fn figure(text: impl Into<String>) -> Cell {
        Cell { is_figure: true, ..Cell::text(text) }
    }

    pub fn whole(text: impl Into<String>) -> Cell {
        Cell { is_whole: true, ..Cell::text(text) }
    }

    pub fn code(text: impl Into<String>) -> Cell {
        Cell { is_code: true, ..Cell::text(text) }
    }

    pub fn id(text: impl Into<String>) -> Cell {
        let text = text.into();
        Cell { copies: text.clone(), ..Cell::code(text) }
    }

    /// With the code of its currency.
    pub fn money(language: Language, plain: &str, currency: &str) -> Cell {
        Cell::figure(format!("{} {currency}", language.figure(plain)))
    }

    /// `name` as the API writes it.
    pub fn state(name: &str, words: impl Into<String>) -> Cell {
        Cell { status: Some(name.to_owned()), ..Cell::text(words) }
    }

    pub fn to(mut self, href: impl Into<String>) -> Cell {
        self.href = Some(href.into());
        self
    }

    pub fn copying(mut self, id: impl Into<String>) -> Cell {
        self.copies = id.into();
        self
    }

    pub fn marked(mut self, mark: impl Into<String>) -> Cell {
        self.mark = mark.into();
        self
    }

    pub fn with_sub(mut self, text: impl Into<String>) -> Cell {
        self.sub = text.into();
        self
    }
}

#[derive(Serialize, Deserialize)]
pub struct Fact {
    pub field: String,
    pub label: String,
    pub cell: Cell,
}

impl Fact {
    pub fn new(field: impl Into<String>, label: impl Into<String>, cell: Cell) -> Fact {
        Fact { field: field.into(), label: label.into(), cell }
    }
}

pub struct Row {
    pub status: Option<String>,
    pub cells: Vec<Cell>,
    pub forms: Vec<Form>,
}

impl Row {
    pub fn new(cells: impl Into<Vec<Cell>>) -> Row {
        Row { status: None, cells: cells.into(), forms: Vec::new() }
    }

    pub fn link(mut self, at: usize, href: String) -> Row {
        self.cells[at].href = Some(href);
        self
    }

    pub fn status(mut self, status: &str) -> Row {
        self.status = Some(status.to_owned());
        self
    }
}

#[derive(Default)]
pub struct Table {
    pub caption: String,
    pub field: Option<&'static str>,
    pub heads: Vec<String>,
    pub rows: Vec<Row>,
    /// Of all rows, below them.
    pub totals: Vec<Cell>,
    /// The last column stays in sight however wide the others are.
    pub keeps_last: bool,
    pub none: String,
    pub next: Option<String>,
    pub next_label: String,
}

impl Table {
    pub fn rows(self, rows: impl IntoIterator<Item = Row>) -> Table {
        Table { rows: rows.into_iter().collect(), ..self }
    }

    pub fn next(self, next: Option<String>) -> Table {
        Table { next, ..self }
    }

    pub fn field(self, field: &'static str) -> Table {
        Table { field: Some(field), ..self }
    }

    fn head(&self, at: &usize) -> &str {
        self.heads.get(*at).map_or("", String::as_str)
    }

    /// A column of figures has its name above them.
    fn is_of_figures(&self, at: &usize) -> bool {
        self.rows.first().and_then(|row| row.cells.get(*at)).is_some_and(|cell| cell.is_figure)
    }

    pub fn has_forms(&self) -> bool {
        self.rows.iter().any(|row| !row.forms.is_empty())
    }
}

/// A list to work with: its filters, what it comes to, and its table.
#[derive(Default)]
pub struct Listed {
    /// The lists of the site.
    pub lists: Vec<Link>,
    pub modes: Vec<Link>,
    pub states: Vec<Link>,
    pub days: Vec<Link>,
    pub form: Form,
    /// Whether the form is shown where there is little room.
    pub is_open: bool,
    /// Each with its words, and whether it is shown.
    pub columns: Vec<(String, String, bool)>,
    /// The address without filters.
    pub clear: Option<String>,
    /// What it comes to, and an address that tells more.
    pub totals: Option<Vec<(String, Option<String>)>>,
    pub files: Vec<Link>,
    pub table: Table,
}

impl Listed {
    fn form(&self) -> &Form {
        &self.form
    }

    fn table(&self) -> &Table {
        &self.table
    }

    /// The groups of links by which it is filtered with one press, each with its name.
    fn picks(&self, language: &Language) -> Vec<(&'static str, &[Link])> {
        let groups: [(&str, &[Link]); 3] = [
            (language.say("Modo", "Mode"), &self.modes),
            (language.say("Estado", "State"), &self.states),
            (language.say("Días", "Days"), &self.days),
        ];
        groups.into_iter().filter(|(_, links)| !links.is_empty()).collect()
    }
}

impl From<Listed> for Block {
    fn from(list: Listed) -> Block {
        Block::Listed(Box::new(list))
    }
}

pub struct Step {
    pub when: String,
    pub what: String,
    pub more: Vec<String>,
    pub tone: Tone,
    pub link: Option<Link>,
}

pub struct Code {
    pub label: String,
    pub field: &'static str,
    pub text: String,
    pub copy: &'static str,
}

pub struct Qr {
    pub label: String,
    pub drawing: Drawing,
}

#[derive(Clone)]
pub struct Link {
    pub label: String,
    pub href: String,
    pub is_current: bool,
    /// What tests know it by.
    pub action: &'static str,
}

impl Link {
    pub fn new(label: impl Into<String>, href: impl Into<String>) -> Link {
        Link { label: label.into(), href: href.into(), is_current: false, action: "" }
    }

    pub fn action(self, action: &'static str) -> Link {
        Link { action, ..self }
    }
}

/// A table where there is no script.
pub struct Plot {
    pub label: String,
    /// Of the instants, then of the series.
    pub heads: Vec<String>,
    /// Seconds since 1970, with their text.
    pub at: Vec<(i64, String)>,
    /// Decimal texts; empty where there is none.
    pub series: Vec<Vec<String>>,
    pub is_bars: bool,
    /// Times that are set apart, in seconds since 1970, with what they are.
    pub bands: Vec<(i64, i64, String)>,
    pub table: &'static str,
}

impl Plot {
    fn data(&self) -> String {
        let number = |text: &String| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
        let series: Vec<Vec<Value>> =
            self.series.iter().map(|figures| figures.iter().map(number).collect()).collect();
        let at: Vec<i64> = self.at.iter().map(|(at, _)| *at).collect();
        serde_json::json!({ "at": at, "series": series, "labels": self.heads, "bars": self.is_bars, "bands": self.bands })
            .to_string()
    }

    fn rows(&self) -> Vec<Vec<&str>> {
        let mut rows = Vec::with_capacity(self.at.len());
        for (n, (_, text)) in self.at.iter().enumerate() {
            let figures = self.series.iter().map(|figures| figures.get(n).map_or("", String::as_str));
            rows.push([text.as_str()].into_iter().chain(figures).collect());
        }
        rows
    }
}

macro_rules! blocks {
    ($($of:ty => $block:ident),* $(,)?) => {
        $(impl From<$of> for Block {
            fn from(part: $of) -> Block {
                Block::$block(part)
            }
        })*
    };
}

blocks! {
    Headline => Headline, Note => Note, Vec<Fact> => Facts, Table => Table, Form => Form, Vec<Step> => Timeline, Plot => Plot,
    Code => Code, Qr => Qr, Vec<Link> => Links,
}

pub struct Writing<'a> {
    pub language: Language,
    pub csrf: &'a str,
    /// From where a page shows a part of itself anew, empty for its own address; not at all where no address reads it.
    pub refresh: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "blocks.html", config = "src/pages/askama.toml")]
struct Blocks<'a> {
    blocks: &'a [Block],
    on: &'a Writing<'a>,
}

pub fn html(blocks: &[Block], on: &Writing<'_>) -> Result<String, Problem> {
    Blocks { blocks, on }.render().map_err(Problem::internal_error)
}
