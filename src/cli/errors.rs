//! `pasarela errors`: the table of error codes, which the server itself answers by.

use super::{Failure, print};
use api::codes::{self, Code, Tongue, Words};
use clap::{Args, ValueEnum};

/// Print what the codes in the API's refusals mean, and what to do next
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pasarela errors external_ref_conflict
  pasarela errors insufficient_balance --lang es
  pasarela errors --json | jq -r '.[].error'
  pasarela errors > errors.md")]
pub struct Errors {
    /// The code, as the member `error` has it [default: all, as a page in Markdown]
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// The language
    #[arg(long, value_enum, default_value_t = Lang::En)]
    lang: Lang,
    /// The table as JSON, in both languages
    #[arg(long, conflicts_with = "lang")]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Lang {
    /// English
    En,
    /// Spanish
    Es,
}

impl Errors {
    pub fn run(self) -> Result<(), Failure> {
        let tongue = match self.lang {
            Lang::En => Tongue::English,
            Lang::Es => Tongue::Spanish,
        };
        let meant: Vec<&Code> =
            codes::all().filter(|code| self.code.as_deref().is_none_or(|name| name == code.name)).collect();
        if let (Some(name), []) = (&self.code, meant.as_slice()) {
            return Err(Failure::Other(format!("there is no code {name}; pasarela errors lists them")));
        }
        if self.json {
            let rows: Vec<serde_json::Value> = meant.into_iter().map(json).collect();
            return print(format!("{:#}\n", serde_json::Value::from(rows)).as_bytes());
        }
        if self.code.is_none() {
            return print(codes::page(tongue).as_bytes());
        }
        meant.into_iter().try_for_each(|code| print(paragraph(code, tongue.of(code)).as_bytes()))
    }
}

fn paragraph(code: &Code, Words { meaning, next }: Words) -> String {
    let statuses: Vec<String> = code.statuses.iter().map(u16::to_string).collect();
    format!("{} ({})\n  {meaning}\n  → {next}\n", code.name, statuses.join(", "))
}

fn json(code: &Code) -> serde_json::Value {
    let words = |Words { meaning, next }| serde_json::json!({ "meaning": meaning, "next": next });
    serde_json::json!({ "error": code.name, "statuses": code.statuses, "en": words(code.en), "es": words(code.es) })
}
