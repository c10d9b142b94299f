//! A description in Spanish: its titles and what it says of operations, members and answers, from docs/es/reference.toml,
//! and its refusals from the table of error codes. Names, paths, values and examples are the API's and stay.

use super::compact::NAMED;
use super::document::COLUMNS;
use crate::codes::{self, Tongue};
use serde_json::Value;
use std::collections::BTreeMap;

/// Members with values of the API's, in which no words are people's.
const VALUES: [&str; 5] = ["const", "default", "enum", "example", "value"];

/// Lines in English, each with its Spanish.
pub fn table() -> BTreeMap<String, String> {
    toml::from_str(include_str!("../../../docs/es/reference.toml")).unwrap_or_default()
}

/// A line that the table lacks stays in English: `tests/golden.rs` says which one it is.
pub fn spanish(document: &[u8]) -> serde_json::Result<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(document)?;
    let table = table();
    translate(&mut document, &mut |line| table.get(line).cloned());
    serde_json::to_vec(&document)
}

/// Puts in the place of each line what `say` makes of it; lines about refusals have their own table.
pub fn translate(document: &mut Value, say: &mut dyn FnMut(&str) -> Option<String>) {
    let line = |tongue: Tongue| codes::all().map(move |code| tongue.of(code).line(code.name));
    let refusals: BTreeMap<String, String> = line(Tongue::English).zip(line(Tongue::Spanish)).collect();
    let mut line = |line: &str| match (refusals.get(line), line.split_once(COLUMNS)) {
        (Some(refusal), _) => Some(refusal.clone()),
        (None, Some((about, names))) => Some(format!("{} Columnas: {names}", say(about)?)),
        (None, None) => say(line),
    };
    each_text(document, false, &mut |text| {
        let lines = text.split('\n').map(|one| line(one).unwrap_or_else(|| one.to_owned()));
        *text = lines.collect::<Vec<_>>().join("\n");
    });
}

fn each_text(value: &mut Value, has_names: bool, visit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    (_, member) if has_names => each_text(member, false, visit),
                    ("description" | "summary" | "title", Value::String(text)) => visit(text),
                    ("tags", Value::Array(tags)) => tags.iter_mut().for_each(|tag| match tag {
                        Value::String(name) => visit(name),
                        tag => {
                            if let Some(Value::String(name)) = tag.get_mut("name") {
                                visit(name);
                            }
                            each_text(tag, false, visit);
                        }
                    }),
                    (name, _) if VALUES.contains(&name) => {}
                    ("examples", Value::Array(_)) => {}
                    (name, member) => each_text(member, NAMED.contains(&name), visit),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| each_text(value, false, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_translated_and_the_api_stays() {
        let document = |name: &str, about: &str, refusal: &str, columns: &str| {
            json!({
                "info": { "title": "Pasarela", "description": format!("{about}\n\nno row") },
                "tags": [{ "name": name, "description": about }],
                "paths": { "/description": { "get": {
                    "operationId": "listBanks", "tags": [name], "summary": about,
                    "responses": {
                        "200": { "description": about, "content": {
                            "application/json": {
                                "schema": { "properties": { "description": { "const": "Balance", "description": about },
                                    "value": { "enum": ["Balance"], "examples": [{ "description": "Balance" }] } } },
                                "examples": { "one": { "summary": about, "value": { "description": "Balance" } } } },
                            "text/csv": { "schema": { "description": columns } } } },
                        "404": { "description": refusal } } } } },
            })
        };
        let [english, spanish] = [Tongue::English, Tongue::Spanish].map(|tongue| {
            let code = codes::all().find(|code| code.name == "not_found").expect("a code");
            tongue.of(code).line("not_found")
        });
        let mut made = document("Payments", "Balance", &english, "Balance Columns: `code`, `name`.");
        translate(&mut made, &mut |line| table().get(line).cloned());
        assert_eq!(made, document("Cobros", "Saldo", &spanish, "Saldo Columnas: `code`, `name`."));
    }
}
