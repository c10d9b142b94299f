//! Whether a value fits a schema of the description. It knows the words that the description uses and refuses any other, so that none is passed over. Objects whose members are listed
//! have no others: what a server sends and does not describe is found.

use chrono::{DateTime, NaiveDate};
use regex::Regex;
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{LazyLock, Mutex};

static PATTERNS: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);

/// A document whose schemas refer to each other.
pub struct Schemas<'a>(pub &'a Value);

fn decimal(value: &Value) -> Option<Decimal> {
    let text = value.as_number()?.to_string();
    Decimal::from_str(&text).or_else(|_| Decimal::from_scientific(&text)).ok()
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => decimal(value).is_some_and(|number| number.is_integer()),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        other => panic!("{other} is no type"),
    }
}

fn has_format(text: &str, format: &str) -> bool {
    match format {
        "uuid" => text.len() == 36 && uuid::Uuid::try_parse(text).is_ok(),
        "date-time" => DateTime::parse_from_rfc3339(text).is_ok(),
        "date" => NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok(),
        "email" => text.contains('@'),
        "uri" => url::Url::parse(text).is_ok(),
        other => panic!("{other} is a format that nobody checks"),
    }
}

fn fits_pattern(text: &str, pattern: &str) -> bool {
    let mut known = PATTERNS.lock().expect("patterns");
    known.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"))).is_match(text)
}

impl Schemas<'_> {
    /// What a reference leads to.
    pub fn resolve<'a>(&'a self, node: &'a Value) -> &'a Value {
        match node.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.0.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference} leads nowhere")),
            None => node,
        }
    }

    /// Everything about `value` that does not fit, each with where it is.
    pub fn misfits(&self, value: &Value, schema: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.check(value, schema, "$", true, &mut found);
        found
    }

    fn check(&self, value: &Value, schema: &Value, at: &str, closed: bool, found: &mut Vec<String>) {
        let words = schema.as_object().unwrap_or_else(|| panic!("{at}: {schema} is no schema"));
        if words.contains_key("$ref") {
            self.check(value, self.resolve(schema), at, closed, found);
        }
        // What stands beside a reference narrows it and lists nothing anew.
        let closed = closed && !words.contains_key("$ref");
        for (word, said) in words {
            let fits = match word.as_str() {
                "$ref" | "description" | "default" | "examples" | "required" | "title" => true,
                "type" => match said {
                    Value::String(kind) => is_a(value, kind),
                    kinds => kinds.as_array().is_some_and(|kinds| kinds.iter().filter_map(Value::as_str).any(|kind| is_a(value, kind))),
                },
                "enum" => said.as_array().is_some_and(|choices| choices.contains(value)),
                "const" => said == value,
                "pattern" => value.as_str().is_none_or(|text| fits_pattern(text, said.as_str().unwrap_or_default())),
                "format" => value.as_str().is_none_or(|text| has_format(text, said.as_str().unwrap_or_default())),
                "minLength" => value.as_str().is_none_or(|text| text.chars().count() as u64 >= said.as_u64().unwrap_or(0)),
                "maxLength" => value.as_str().is_none_or(|text| text.chars().count() as u64 <= said.as_u64().unwrap_or(0)),
                "minimum" => decimal(value).is_none_or(|number| Some(number) >= decimal(said)),
                "maximum" => decimal(value).is_none_or(|number| Some(number) <= decimal(said)),
                "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= said.as_u64().unwrap_or(0)),
                "maxItems" => value.as_array().is_none_or(|list| list.len() as u64 <= said.as_u64().unwrap_or(0)),
                "uniqueItems" => value.as_array().is_none_or(|list| list.iter().enumerate().all(|(n, one)| !list[..n].contains(one))),
                "minProperties" => value.as_object().is_none_or(|members| members.len() as u64 >= said.as_u64().unwrap_or(0)),
                "items" => {
                    for (n, element) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(element, said, &format!("{at}[{n}]"), true, found);
                    }
                    true
                }
                "anyOf" => {
                    let tries = said.as_array().into_iter().flatten().map(|one| {
                        let mut inner = Vec::new();
                        self.check(value, one, at, true, &mut inner);
                        inner
                    });
                    let best = tries.min_by_key(Vec::len).unwrap_or_default();
                    found.extend(best);
                    true
                }
                "properties" => {
                    self.check_members(value, schema, at, closed, found);
                    true
                }
                "additionalProperties" => match said {
                    Value::Bool(_) => true,
                    said => {
                        let listed = schema["properties"].as_object();
                        for (name, member) in
                            value.as_object().into_iter().flatten().filter(|(name, _)| listed.is_none_or(|listed| !listed.contains_key(*name)))
                        {
                            self.check(member, said, &format!("{at}.{name}"), true, found);
                        }
                        true
                    }
                },
                other => panic!("{at}: nobody checks {other}"),
            };
            if !fits {
                found.push(format!("{at}: {value} does not fit {word} {said}"));
            }
        }
    }

    fn check_members(&self, value: &Value, schema: &Value, at: &str, closed: bool, found: &mut Vec<String>) {
        let Some(members) = value.as_object() else { return };
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                found.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, member) in members {
            match schema["properties"].get(name) {
                Some(described) => self.check(member, described, &format!("{at}.{name}"), true, found),
                None if closed && schema["additionalProperties"].is_null() => found.push(format!("{at}: {name} is not described")),
                None if schema["additionalProperties"] == Value::Bool(false) => found.push(format!("{at}: {name} is not described")),
                None => {}
            }
        }
    }
}
