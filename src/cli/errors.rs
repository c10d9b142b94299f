//! `pasarela errors`: the table of error codes, which the server itself answers by.

use super::{Failure, print};
use api::codes::{self, Code, Tongue, Words};
use clap::{Args, ValueEnum};

/// Print what the codes in the API's refusals mean, and what to do next; and
/// what banks mean by theirs
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pasarela errors external_ref_conflict
  pasarela errors insufficient_balance --lang es
  pasarela errors AM04
  pasarela errors --json | jq -r '.[].error'
  pasarela errors > errors.md")]
pub struct Errors {
    /// The code, as the member `error` or `failureCode` has it [default: all of `error`, as a page in Markdown]
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
        let meant: Vec<&Code> = match &self.code {
            None => codes::all().collect(),
            Some(name) => codes::all().chain(codes::of_banks()).filter(|code| code.name == *name).collect(),
        };
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
    let whose = if statuses.is_empty() { "failureCode".to_owned() } else { statuses.join(", ") };
    let next = if next.is_empty() { String::new() } else { format!("  → {next}\n") };
    format!("{} ({whose})\n  {meaning}\n{next}", code.name)
}

fn json(code: &Code) -> serde_json::Value {
    let words = |Words { meaning, next }| serde_json::json!({ "meaning": meaning, "next": next });
    serde_json::json!({ "error": code.name, "statuses": code.statuses, "en": words(code.en), "es": words(code.es) })
}
