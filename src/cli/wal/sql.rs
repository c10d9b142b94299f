//! `pasarela wal sql`: a query over the whole state, as it was after a record.

use super::records::keys_of;
use super::{LogSettings, Looked, end, look, open, print};
use crate::cli::Failure;
use crate::cli::progress::{Shown, shown};
use crate::recovery::Failed;
use crate::recovery::moment::When;
use crate::recovery::sql::{Answer, Database, Room, ValueRef};
use api::csv::{self, Separator};
use api::writer::Object;
use clap::Args;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;

/// As many bytes of an answer wait for its end: of a query that fails nothing is printed, and a table takes the widths of
/// its columns from them. What follows is printed as it comes; what is wider is not cut.
const WAITING_BYTES: usize = 8 << 20;

/// Ask the whole state by SQL, as it is or as it was
///
/// One SELECT, as SQLite reads it, over what the API shows of tenants, keys, payments, payouts,
/// merchants, payout_methods, conversions, cop_payments, crypto_payouts, deposits, chargebacks,
/// products, links, sessions, webhooks, approvals, movements, holds, events and records.
/// docs/wal-sql.md has their columns; SELECT sql FROM sqlite_schema shows them too. Money is in minor units; views such
/// as payments_decimal write it with decimals. A time means the last record that was written at it
/// or before it, on the server's clock. The log is only read, also beside a running server.
///
/// What the query reads is loaded into a file without a name, in the directory that TMPDIR says, else
/// /var/tmp, and is gone afterwards.
///
/// Example: pasarela wal sql "SELECT status, count(*) FROM payments GROUP BY status"
#[derive(Args, Debug)]
pub struct Sql {
    #[command(flatten)]
    settings: LogSettings,
    /// The state after this record, or at this time: 2026-11-21T12:00:00Z [default: the newest]
    #[arg(long, value_name = "SEQ|TIME", value_parser = When::parse)]
    at: Option<When>,
    /// Only of this tenant, in both modes
    #[arg(long, value_name = "TENANT_ID")]
    tenant: Option<String>,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
    /// CSV, with the names of the columns
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Also keep the database, with all tables, as this new file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The query
    #[arg(value_name = "SELECT")]
    sql: String,
}

impl Sql {
    pub fn run(self) -> Looked {
        look(|| {
            let (config, reader) = open(&self.settings)?;
            let only = self.tenant.as_deref().map(|id| keys_of(&reader, id)).transpose()?;
            let room = Room::beside(&config.storage, temporary().as_deref(), self.out.as_deref());
            let mut database = Database::new(self.out.as_deref(), room)?;
            let wanted = database.check(&self.sql)?;
            shown(|tell| {
                let seq = self.at.map_or_else(|| Ok(reader.last_seq()), |at| at.seq(&reader, tell))?;
                database.load(&reader, only, seq, &wanted, tell)
            })?;
            let form = match (self.json, self.csv) {
                (true, _) => Form::Json,
                (_, true) => Form::Csv,
                _ => Form::Table,
            };
            let mut printed = Printed::new(form, io::BufWriter::new(io::stdout().lock()));
            let mut progress = Shown::new();
            database.query(&self.sql, move |steps| progress.tell("query", steps, 0), &mut printed)?;
            shown(|tell| database.finish(tell))?;
            // Nothing stays of what could not be said.
            printed.end().inspect_err(|_| {
                if let Some(kept) = &self.out {
                    let _ = std::fs::remove_file(kept);
                }
            })?;
            Ok(None)
        })
    }
}

/// Where SQLite has its temporary files.
fn temporary() -> Option<PathBuf> {
    let named = ["SQLITE_TMPDIR", "TMPDIR"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    named.chain(["/var/tmp", "/usr/tmp", "/tmp"].map(PathBuf::from)).find(|path| path.is_dir())
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Table,
    Json,
    Csv,
}

struct Printed<W> {
    form: Form,
    out: W,
    names: Vec<String>,
    /// Cells of a table, or one line of another form.
    waiting: Vec<Vec<String>>,
    waiting_bytes: usize,
    widths: Vec<usize>,
    has_begun: bool,
    is_read: bool,
}

impl<W: Write> Answer for Printed<W> {
    fn columns(&mut self, names: Vec<String>) {
        let mut unlike: Vec<String> = Vec::with_capacity(names.len());
        for name in names {
            let numbered = (2..).map(|n| format!("{name}_{n}"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|name| !unlike.contains(name));
            unlike.extend(free);
        }
        self.names = unlike;
        let header = match self.form {
            Form::Table => Some(self.names.clone()),
            Form::Csv => Some(vec![csv_line(self.names.iter().map(|name| csv::text_cell(name)))]),
            Form::Json => None,
        };
        self.waiting.extend(header);
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> Result<bool, Failed> {
        let row = match self.form {
            Form::Table => values.iter().map(|value| table_cell(*value)).collect(),
            Form::Csv => vec![csv_line(values.iter().map(|value| csv_cell(*value)))],
            Form::Json => vec![self.object(values)],
        };
        self.waiting_bytes += row.iter().map(String::len).sum::<usize>();
        self.waiting.push(row);
        if !self.has_begun && self.waiting_bytes < WAITING_BYTES {
            return Ok(true);
        }
        self.print_waiting().map_err(|failure| Failed::NotDone(failure.to_string()))?;
        Ok(self.is_read)
    }
}

impl<W: Write> Printed<W> {
    fn new(form: Form, out: W) -> Printed<W> {
        let (names, waiting, widths) = Default::default();
        Printed { form, out, names, waiting, waiting_bytes: 0, widths, has_begun: false, is_read: true }
    }

    fn object(&self, values: &[ValueRef<'_>]) -> String {
        let mut object = Object::new();
        for (name, value) in self.names.iter().zip(values) {
            // Names are what the SQL says.
            let name = String::from_utf8(api::writer::text(name)).unwrap_or_default();
            let name = &name[1..name.len() - 1];
            object = match value {
                ValueRef::Null => object.null(name),
                ValueRef::Integer(number) => object.number(name, number),
                ValueRef::Real(number) if number.is_finite() => {
                    object.number(name, format_args!("{number:?}"))
                }
                value => object.text(name, text_of(*value)),
            };
        }
        String::from_utf8_lossy(&object.end()).into_owned()
    }

    fn print_waiting(&mut self) -> Result<(), Failure> {
        if !self.has_begun && self.form == Form::Table {
            let width = |n: usize| self.waiting.iter().map(|row| row[n].chars().count()).max().unwrap_or(0);
            self.widths = (0..self.names.len()).map(width).collect();
            let rule = self.widths.iter().map(|width| "-".repeat(*width)).collect();
            self.waiting.insert(1, rule);
        }
        self.has_begun = true;
        for row in std::mem::take(&mut self.waiting) {
            let line = match self.form {
                Form::Table => padded(&row, &self.widths),
                _ => row.concat(),
            };
            if self.is_read {
                self.is_read = print(&mut self.out, &line)?;
            }
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), Failure> {
        self.print_waiting()?;
        end(self.out)
    }
}

fn padded(row: &[String], widths: &[usize]) -> String {
    let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// A value as text: bytes that are none are hexadecimal.
fn text_of(value: ValueRef<'_>) -> Cow<'_, str> {
    match value {
        ValueRef::Null => Cow::Borrowed(""),
        ValueRef::Integer(number) => Cow::Owned(number.to_string()),
        ValueRef::Real(number) => Cow::Owned(format!("{number:?}")),
        ValueRef::Text(text) => String::from_utf8_lossy(text),
        ValueRef::Blob(bytes) => Cow::Owned(hex::encode(bytes)),
    }
}

/// On one line, and nothing that a terminal would obey. What is null is NULL, and the text NULL is in quotes.
fn table_cell(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Text(b"NULL") => "'NULL'".to_owned(),
        value => {
            let shown = |character: char| match character.is_control() {
                true => character.escape_default().collect(),
                false => String::from(character),
            };
            text_of(value).chars().map(shown).collect()
        }
    }
}

fn csv_cell(value: ValueRef<'_>) -> Cow<'_, str> {
    match (value, text_of(value)) {
        (ValueRef::Text(_), Cow::Borrowed(text)) => csv::text_cell(text),
        (ValueRef::Text(_), Cow::Owned(text)) => Cow::Owned(csv::text_cell(&text).into_owned()),
        (_, text) => text,
    }
}

/// Without the end of the line but its first sign: whoever prints it ends it.
fn csv_line<'a>(cells: impl Iterator<Item = Cow<'a, str>>) -> String {
    let mut line = String::new();
    csv::line(&mut line, cells, Separator::Comma);
    line.pop();
    line
}
