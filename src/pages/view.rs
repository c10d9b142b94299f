//! The parts that pages are made of. A page is data: what it says, in parts that look the same on
//! every page, and the templates write it. So nothing that somebody typed reaches a page unescaped,
//! and a page is read without a script.

mod forms;

pub use forms::{Button, Form, Input, Kind};

use crate::pages::language::Language;
use crate::pages::qr::Drawing;
use api::problem::Problem;
use askama::Template;
use serde_json::Value;

pub struct Page {
    /// The name of the page, its `data-page`.
    pub name: &'static str,
    /// The heading.
    pub title: String,
    /// The state that the page is about, as the API writes it; `error` after a form that failed.
    pub status: Option<String>,
    /// The HTTP status.
    pub code: u16,
    /// The parts of the page.
    pub blocks: Vec<Block>,
}

impl Page {
    /// A page without anything on it yet.
    pub fn new(name: &'static str, title: impl Into<String>) -> Page {
        Page { name, title: title.into(), status: None, code: 200, blocks: Vec::new() }
    }

    /// The page with a state.
    pub fn status(mut self, status: &str) -> Page {
        self.status = Some(status.to_owned());
        self
    }

    /// The page with one more part.
    pub fn with(mut self, block: impl Into<Block>) -> Page {
        self.blocks.push(block.into());
        self
    }

    /// The page with one more part, if there is one.
    pub fn maybe(mut self, block: Option<impl Into<Block>>) -> Page {
        self.blocks.extend(block.map(Into::into));
        self
    }

    /// The page of a form that failed, with this part first.
    pub fn failed(mut self, code: u16, why: impl Into<Block>) -> Page {
        (self.code, self.status) = (code, Some("error".to_owned()));
        self.blocks.insert(0, why.into());
        self
    }
}

/// A part of a page.
pub enum Block {
    Heading(String),
    /// A heading to which an address leads by its fragment.
    Anchor(&'static str, String),
    /// A paragraph.
    Text(String),
    /// A message that stands out.
    Note(Note),
    /// Names with values.
    Facts(Vec<Fact>),
    Table(Table),
    Form(Form),
    /// Steps in their order.
    Timeline(Vec<Step>),
    /// Figures with a plot of them.
    Plot(Plot),
    /// A text that is shown as it is and can be copied.
    Code(Code),
    /// A QR code.
    Qr(Qr),
    /// Links side by side.
    Links(Vec<Link>),
    /// Parts that are shown anew every few seconds where there is a script: already written.
    Live(String),
    /// A long part that was written where no request waits behind it.
    Written(String),
}

/// The tone of a message or a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The deed went well.
    Good,
    /// The deed failed.
    Bad,
    /// Neither.
    Plain,
}

impl Tone {
    /// The class in the style sheet.
    pub const fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Plain => "plain",
        }
    }
}

/// A message that stands out.
pub struct Note {
    /// The tone of how it ended.
    pub tone: Tone,
    /// The message.
    pub text: String,
    /// Further lines.
    pub more: Vec<String>,
}

impl Note {
    /// A message of a single sentence.
    pub fn new(tone: Tone, text: impl Into<String>) -> Note {
        Note { tone, text: text.into(), more: Vec::new() }
    }
}

/// A text in a table or beside a name.
#[derive(Clone, Default)]
pub struct Cell {
    pub text: String,
    /// A second, quieter line.
    pub sub: String,
    /// The address that it leads to.
    pub href: Option<String>,
    /// The state that it says, as the API writes it.
    pub status: Option<String>,
    /// Whether it is a figure, which stands to the right.
    pub is_figure: bool,
    /// Whether it is written in letters of one width.
    pub is_code: bool,
    /// Whether it stays in one line.
    pub is_whole: bool,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    pub fn figure(text: impl Into<String>) -> Cell {
        Cell { is_figure: true, ..Cell::text(text) }
    }

    /// A text that stays in one line, such as an instant.
    pub fn whole(text: impl Into<String>) -> Cell {
        Cell { is_whole: true, ..Cell::text(text) }
    }

    /// An id or another text for machines.
    pub fn code(text: impl Into<String>) -> Cell {
        Cell { is_code: true, ..Cell::text(text) }
    }

    /// A state: `name` as the API writes it, in words.
    pub fn state(name: &str, words: impl Into<String>) -> Cell {
        Cell { status: Some(name.to_owned()), ..Cell::text(words) }
    }

    /// The text as a link.
    pub fn to(mut self, href: impl Into<String>) -> Cell {
        self.href = Some(href.into());
        self
    }

    /// The text with a second line.
    pub fn with_sub(mut self, text: impl Into<String>) -> Cell {
        self.sub = text.into();
        self
    }
}

/// A name with a value.
pub struct Fact {
    /// The name of the member in the API, its `data-field`.
    pub field: String,
    /// The name for people.
    pub label: String,
    /// The value.
    pub cell: Cell,
}

impl Fact {
    /// A name with a value.
    pub fn new(field: impl Into<String>, label: impl Into<String>, cell: Cell) -> Fact {
        Fact { field: field.into(), label: label.into(), cell }
    }
}

/// A row of a table.
pub struct Row {
    /// The state of what the row is about.
    pub status: Option<String>,
    pub cells: Vec<Cell>,
    /// The forms at its end.
    pub forms: Vec<Form>,
}

impl Row {
    /// A row of these cells.
    pub fn new(cells: Vec<Cell>) -> Row {
        Row { status: None, cells, forms: Vec::new() }
    }

    /// The row with a state.
    pub fn status(mut self, status: &str) -> Row {
        self.status = Some(status.to_owned());
        self
    }
}

#[derive(Default)]
pub struct Table {
    /// The subject of the table, for those who do not see it.
    pub caption: String,
    /// The `data-field`, if it has one.
    pub field: Option<&'static str>,
    /// The headings of the columns.
    pub heads: Vec<String>,
    pub rows: Vec<Row>,
    /// The text in the place of no rows.
    pub none: String,
    /// The address of the next page.
    pub next: Option<String>,
    /// The words of the link to it.
    pub next_label: String,
}

impl Table {
    /// Whether rows have forms at their end.
    pub fn has_forms(&self) -> bool {
        self.rows.iter().any(|row| !row.forms.is_empty())
    }
}

/// A step of a timeline.
pub struct Step {
    /// The instant.
    pub when: String,
    /// The thing that happened.
    pub what: String,
    /// Further lines.
    pub more: Vec<String>,
    /// The tone of how it went.
    pub tone: Tone,
}

/// A text that is shown as it is.
pub struct Code {
    /// The name of the text.
    pub label: String,
    /// The `data-field`.
    pub field: &'static str,
    pub text: String,
    /// The words of the button that copies it.
    pub copy: &'static str,
}

/// A QR code.
pub struct Qr {
    /// The words of the picture.
    pub label: String,
    pub drawing: Drawing,
}

pub struct Link {
    /// The words.
    pub label: String,
    /// The address.
    pub href: String,
    /// Whether it is the page that is shown.
    pub is_current: bool,
}

impl Link {
    /// A link to another page.
    pub fn new(label: impl Into<String>, href: impl Into<String>) -> Link {
        Link { label: label.into(), href: href.into(), is_current: false }
    }
}

/// Figures over time with a plot. They are a table where there is no script.
pub struct Plot {
    /// The subject of the plot.
    pub label: String,
    /// The heads of the table: of the instants, then of the series.
    pub heads: Vec<String>,
    /// Instants, in seconds since 1970, with their text.
    pub at: Vec<(i64, String)>,
    /// The figures of each series, as decimal texts; empty where there is none.
    pub series: Vec<Vec<String>>,
    /// Whether the figures are drawn as bars.
    pub is_bars: bool,
    /// The words of the table's heading.
    pub table: &'static str,
}

impl Plot {
    /// The values that the script draws.
    fn data(&self) -> String {
        let number = |text: &String| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
        let series: Vec<Vec<Value>> =
            self.series.iter().map(|figures| figures.iter().map(number).collect()).collect();
        let at: Vec<i64> = self.at.iter().map(|(at, _)| *at).collect();
        serde_json::json!({ "at": at, "series": series, "labels": self.heads, "bars": self.is_bars })
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
    Note => Note, Vec<Fact> => Facts, Table => Table, Form => Form, Vec<Step> => Timeline, Plot => Plot,
    Code => Code, Qr => Qr, Vec<Link> => Links,
}

/// The values that a template needs to write parts of a page.
pub struct Writing<'a> {
    pub language: Language,
    /// The token that every form carries.
    pub csrf: &'a str,
}

#[derive(Template)]
#[template(path = "blocks.html", config = "src/pages/askama.toml")]
struct Blocks<'a> {
    blocks: &'a [Block],
    on: &'a Writing<'a>,
}

/// Parts of a page, as HTML.
pub fn html(blocks: &[Block], on: &Writing<'_>) -> Result<String, Problem> {
    Blocks { blocks, on }.render().map_err(Problem::internal_error)
}

/// Parts that are shown anew every few seconds.
pub fn live(blocks: &[Block], on: &Writing<'_>) -> Result<Block, Problem> {
    html(blocks, on).map(Block::Live)
}
