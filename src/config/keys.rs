//! Reads keys out of a TOML table and the environment, by type, and names everything that can't be
//! accepted. A key that is not asked for is unknown. A variable of the environment wins over the
//! file and is read as the type that the key has, which only the reader knows; so there is no list
//! of keys beside the code that reads them. Money and prices are strings, never floats.

use super::error::{BadKey, ValueError};
use rust_decimal::Decimal;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use toml::{Table, Value};

/// Declares a section: its settings, each with its type and how [`Keys`] reads it, and what is refused of them
/// together.
macro_rules! settings {
    ($name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $read:ident($($argument:expr),* $(,)?),)*
    } $(refused where { $($is_wrong:expr => $key:literal, $why:literal;)* })?) => {
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $name {
            pub(super) fn read(mut keys: Keys<'_>) -> Self {
                let settings = $name { $($field: keys.$read(stringify!($field), $($argument),*),)* };
                $($({
                    let is_wrong: fn(&$name) -> bool = $is_wrong;
                    if is_wrong(&settings) {
                        keys.bad($key, $why);
                    }
                })*)?
                keys.done();
                settings
            }
        }
    };
}
pub(super) use settings;

pub(super) const PREFIX: &str = "PASARELA__";

#[derive(Debug, Default)]
pub(super) struct Source {
    variables: RefCell<BTreeMap<String, String>>,
    findings: RefCell<Vec<BadKey>>,
    pub(super) reads_secrets: bool,
}

impl Source {
    pub(super) fn new(environment: impl IntoIterator<Item = (String, String)>, reads_secrets: bool) -> Self {
        let variables = environment
            .into_iter()
            .filter_map(|(name, value)| {
                let path = name.strip_prefix(PREFIX)?;
                Some((path.to_ascii_lowercase().replace("__", "."), value))
            })
            .collect();
        Source { variables: RefCell::new(variables), findings: RefCell::default(), reads_secrets }
    }

    pub(super) fn bad(&self, path: &str, error: impl Into<ValueError>) {
        self.note(path, error.into(), None);
    }

    fn note(&self, path: &str, error: ValueError, variable: Option<String>) {
        self.findings.borrow_mut().push(BadKey { key: path.to_owned(), error, variable });
    }

    pub(super) fn finish(self) -> Vec<BadKey> {
        let mut findings = self.findings.into_inner();
        for path in self.variables.into_inner().into_keys() {
            let error = ValueError::from(format!("there is no key {path}"));
            findings.push(BadKey { key: variable(&path), error, variable: None });
        }
        findings
    }
}

fn variable(path: &str) -> String {
    format!("{PREFIX}{}", path.replace('.', "__").to_ascii_uppercase())
}

enum Given {
    File(Value),
    Variable(String),
}

impl Given {
    fn bare<T: FromStr>(self, of: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        match self {
            Given::File(value) => of(&value),
            Given::Variable(text) => text.trim().parse().ok(),
        }
    }

    fn text<T>(self, parse: impl FnOnce(&str) -> Result<T, ValueError>) -> Result<T, ValueError> {
        match self {
            Given::File(Value::String(text)) | Given::Variable(text) => parse(&text),
            Given::File(_) => Err("must be a text in quotes".into()),
        }
    }
}

/// Call [`Keys::done`] at its end.
pub(super) struct Keys<'s> {
    path: String,
    table: Table,
    pub(super) source: &'s Source,
    /// A secret of the section may be in a file that is not read.
    pub(super) is_unread: bool,
}

impl<'s> Keys<'s> {
    pub(super) fn root(table: Table, source: &'s Source) -> Self {
        Keys { path: String::new(), table, source, is_unread: false }
    }

    pub(super) fn section(&mut self, name: &str) -> Keys<'s> {
        let path = self.path_of(name);
        let table = match self.take_from_file(name) {
            Some(Value::Table(table)) => table,
            Some(_) => {
                self.source.bad(&path, "must be a section");
                Table::new()
            }
            None => Table::new(),
        };
        Keys { path, table, source: self.source, is_unread: false }
    }

    pub(super) fn nested<T>(&mut self, name: &str, read: impl FnOnce(Keys<'s>) -> T) -> T {
        read(self.section(name))
    }

    /// Adds what `known` says to a section that may say no more than these keys itself.
    pub(super) fn fill(&mut self, known: &Table, own: &[&str]) {
        let mut filled = known.clone();
        for (name, value) in std::mem::take(&mut self.table) {
            if own.contains(&&*name) {
                filled.insert(name, value);
            } else {
                self.bad(&name, "there is no such key");
            }
        }
        self.table = filled;
    }

    pub(super) fn is_given(&self) -> bool {
        let below = format!("{}.", self.path).to_ascii_lowercase();
        let variables = self.source.variables.borrow();
        !self.table.is_empty() || variables.keys().any(|path| path.starts_with(&below))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        let path = self.path_of(name).to_ascii_lowercase();
        self.table.keys().any(|known| known.eq_ignore_ascii_case(name))
            || self.source.variables.borrow().contains_key(&path)
    }

    pub(super) fn sections(&mut self, name: &str) -> Option<Vec<Keys<'s>>> {
        let path = self.path_of(name);
        let list = match self.given(name)? {
            Given::File(value) => value,
            Given::Variable(text) => self.inline(&path, &text)?,
        };
        self.sections_of(name, list)
    }

    pub(super) fn sections_of(&self, name: &str, list: Value) -> Option<Vec<Keys<'s>>> {
        let path = self.path_of(name);
        let Value::Array(elements) = list else {
            self.source.bad(&path, "must be a list of sections");
            return None;
        };
        let mut sections = Vec::with_capacity(elements.len());
        for (index, element) in elements.into_iter().enumerate() {
            let path = format!("{path}[{index}]");
            match element {
                Value::Table(table) => {
                    sections.push(Keys { path, table, source: self.source, is_unread: false })
                }
                _ => self.source.bad(&path, "must be a section"),
            }
        }
        Some(sections)
    }

    pub(super) fn integer<T>(&mut self, name: &str, default: T, range: RangeInclusive<T>) -> T
    where
        T: TryFrom<i64> + PartialOrd + Display,
    {
        self.optional_integer(name, range).unwrap_or(default)
    }

    pub(super) fn optional_integer<T>(&mut self, name: &str, range: RangeInclusive<T>) -> Option<T>
    where
        T: TryFrom<i64> + PartialOrd + Display,
    {
        let wanted =
            || ValueError::from(format!("must be a whole number from {} to {}", range.start(), range.end()));
        self.read(name, None, |given| {
            let value = given.bare(Value::as_integer).and_then(|value| T::try_from(value).ok());
            value.filter(|value| range.contains(value)).map(Some).ok_or_else(wanted)
        })
    }

    pub(super) fn boolean(&mut self, name: &str, default: bool) -> bool {
        self.read(name, default, |given| given.bare(Value::as_bool).ok_or("must be true or false".into()))
    }

    pub(super) fn parsed<T>(
        &mut self,
        name: &str,
        default: T,
        parse: impl FnOnce(&str) -> Result<T, ValueError>,
    ) -> T {
        self.read(name, default, |given| given.text(parse))
    }

    /// Without it there is no configuration, so what is returned for a bad one is never seen.
    pub(super) fn required<T: Default>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, ValueError>,
    ) -> T {
        match self.attempt(name, |given| given.text(parse)) {
            Some(value) => value.unwrap_or_default(),
            None => {
                self.bad(name, "is required");
                T::default()
            }
        }
    }

    pub(super) fn text(&mut self, name: &str, default: &str) -> String {
        self.parsed(name, default.to_owned(), |text| Ok(text.to_owned()))
    }

    /// The empty text means that there is none.
    pub(super) fn optional<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, ValueError>,
    ) -> Option<T> {
        self.parsed(name, None, |text| if text.is_empty() { Ok(None) } else { parse(text).map(Some) })
    }

    pub(super) fn one_of<T: Clone>(&mut self, name: &str, default: T, choices: &[(&str, T)]) -> T {
        self.parsed(name, default, |text| choice(text, choices))
    }

    /// In quotes or bare (`"1.5"` or `1.5`), with so many decimals at most. A bare number is read
    /// as its shortest text, which is what was written as long as it has at most 15 digits; money
    /// has to stand in quotes.
    pub(super) fn percentage(
        &mut self,
        name: &str,
        default: Decimal,
        range: RangeInclusive<Decimal>,
        decimals: u32,
    ) -> Decimal {
        self.read(name, default, |given| match given {
            Given::File(Value::Float(bare)) => exact(&bare.to_string(), &range, decimals),
            Given::File(Value::Integer(bare)) => exact(&bare.to_string(), &range, decimals),
            given => given.text(|text| exact(text, &range, decimals)),
        })
    }

    /// In a variable texts are divided by commas, or written as a TOML list.
    pub(super) fn list<T>(
        &mut self,
        name: &str,
        default: Vec<T>,
        parse: impl Fn(&str) -> Result<T, ValueError>,
    ) -> Vec<T> {
        let path = self.path_of(name);
        let elements = match self.given(name) {
            None => return default,
            Some(Given::File(value)) => value,
            Some(Given::Variable(text)) if text.trim_start().starts_with('[') => {
                match self.inline(&path, &text) {
                    Some(value) => value,
                    None => return default,
                }
            }
            Some(Given::Variable(text)) => {
                text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().into()
            }
        };
        let Value::Array(elements) = elements else {
            self.source.bad(&path, "must be a list");
            return default;
        };
        let mut values = Vec::with_capacity(elements.len());
        for (index, element) in elements.into_iter().enumerate() {
            let read = match element {
                Value::String(text) => parse(&text),
                Value::Datetime(instant) => parse(&instant.to_string()),
                _ => Err("must be a text in quotes".into()),
            };
            match read {
                Ok(value) => values.push(value),
                Err(error) => self.source.bad(&format!("{path}[{index}]"), error),
            }
        }
        values
    }

    /// A section of lists, each under a number; what is empty is as if it were not there.
    pub(super) fn numbered<T>(
        &mut self,
        name: &str,
        numbers: RangeInclusive<u8>,
        parse: impl Fn(&str) -> Result<T, ValueError>,
    ) -> BTreeMap<u8, Vec<T>> {
        let mut section = self.section(name);
        let lists = numbers.map(|number| (number, section.list(&number.to_string(), Vec::new(), &parse)));
        let lists = lists.filter(|(_, list)| !list.is_empty()).collect();
        section.done();
        lists
    }

    pub(super) fn texts(&mut self, name: &str) -> Vec<(String, String)> {
        let section = self.section(name);
        let mut texts = Vec::with_capacity(section.table.len());
        for (name, value) in section.table {
            match value {
                Value::String(text) => texts.push((name, text)),
                _ => section.source.bad(&format!("{}.{name}", section.path), "must be a text in quotes"),
            }
        }
        texts
    }

    pub(super) fn bad(&self, name: &str, error: impl Into<ValueError>) {
        self.source.bad(&self.path_of(name), error);
    }

    pub(super) fn done(self) {
        for name in self.table.keys() {
            self.source.bad(&self.path_of(name), "there is no such key");
        }
    }

    fn read<T>(&mut self, name: &str, default: T, parse: impl FnOnce(Given) -> Result<T, ValueError>) -> T {
        self.attempt(name, parse).flatten().unwrap_or(default)
    }

    /// `None` if the key is not given, `Some(None)` if its value is bad and was noted.
    fn attempt<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(Given) -> Result<T, ValueError>,
    ) -> Option<Option<T>> {
        let path = self.path_of(name);
        let given = self.given(name)?;
        let origin = match given {
            Given::File(_) => None,
            Given::Variable(_) => Some(variable(&path)),
        };
        let read = parse(given).map_err(|error| self.source.note(&path, error, origin));
        Some(read.ok())
    }

    fn given(&mut self, name: &str) -> Option<Given> {
        let in_file = self.take_from_file(name);
        let path = self.path_of(name).to_ascii_lowercase();
        match self.source.variables.borrow_mut().remove(&path) {
            Some(text) => Some(Given::Variable(text)),
            None => in_file.map(Given::File),
        }
    }

    /// Case does not matter, so that `TRC20` may be written as it is spoken.
    fn take_from_file(&mut self, name: &str) -> Option<Value> {
        let known = self.table.keys().find(|known| known.eq_ignore_ascii_case(name))?.clone();
        self.table.remove(&known)
    }

    fn inline(&self, path: &str, text: &str) -> Option<Value> {
        let parsed: Option<Table> = format!("value = {text}").parse().ok();
        let value = parsed.and_then(|mut table| table.remove("value"));
        if value.is_none() {
            self.source.note(path, "must be a TOML list".into(), Some(variable(path)));
        }
        value
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

pub(super) fn choice<T: Clone>(text: &str, choices: &[(&str, T)]) -> Result<T, ValueError> {
    match choices.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(value.clone()),
        None => {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            Err(format!("must be one of {}", names.join(", ")).into())
        }
    }
}

pub(super) fn exact(
    text: &str,
    range: &RangeInclusive<Decimal>,
    decimals: u32,
) -> Result<Decimal, ValueError> {
    Decimal::from_str_exact(text)
        .ok()
        .filter(|value| range.contains(value) && value.normalize().scale() <= decimals)
        .ok_or_else(|| {
            format!(
                "must be a number from {} to {} with at most {decimals} decimals",
                range.start(),
                range.end()
            )
            .into()
        })
}
