//! The page of all codes, in Markdown: docs/en/error-codes.md and docs/es/error-codes.md.

use super::{CHAPTERS, Chapter, Code, Words};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tongue {
    English,
    Spanish,
}

impl Tongue {
    pub const fn of(self, code: &Code) -> Words {
        match self {
            Tongue::English => code.en,
            Tongue::Spanish => code.es,
        }
    }

    const fn heading(self, chapter: &Chapter) -> &'static str {
        match self {
            Tongue::English => chapter.en,
            Tongue::Spanish => chapter.es,
        }
    }

    const fn head(self) -> &'static str {
        match self {
            Tongue::English => include_str!("head.en.md"),
            Tongue::Spanish => include_str!("head.es.md"),
        }
    }

    const fn columns(self) -> &'static str {
        match self {
            Tongue::English => "| `error` | status | meaning | next step |",
            Tongue::Spanish => "| `error` | estado | significado | qué hacer |",
        }
    }
}

/// The whole page.
pub fn page(tongue: Tongue) -> String {
    let mut page = tongue.head().to_owned();
    for chapter in &CHAPTERS {
        let (heading, columns) = (tongue.heading(chapter), tongue.columns());
        push(&mut page, format_args!("\n## {heading}\n\n{columns}\n|---|---|---|---|\n"));
        for code in chapter.codes {
            let Words { meaning, next } = tongue.of(code);
            let statuses: Vec<String> = code.statuses.iter().map(u16::to_string).collect();
            let (name, statuses) = (code.name, statuses.join(", "));
            push(&mut page, format_args!("| `{name}` | {statuses} | {meaning} | {next} |\n"));
        }
    }
    page
}

fn push(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a String takes every text");
}
