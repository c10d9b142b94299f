//! Checks of a value against a schema of the description, by a public validator of JSON Schema
//! 2020-12. Objects whose members are listed have no others: what a server sends and does not
//! describe is found. A word that the validator would pass over is refused, so that a misspelt one
//! checks something.

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

/// The keywords that the schemas of the description use.
const WORDS: [&str; 22] = [
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "default",
    "description",
    "enum",
    "examples",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];
/// The keyword for a list without equals.
const UNIQUE: &str = "uniqueItems";

/// Validators by the document and the schema that they are of.
static VALIDATORS: LazyLock<Mutex<Validators>> = LazyLock::new(Mutex::default);

type Validators = HashMap<(usize, String), Arc<Validator>>;

/// A document whose schemas refer to each other. It lives as long as the process.
pub struct Schemas<'a>(pub &'a Value);

impl Schemas<'_> {
    /// The schema that a reference leads to.
    pub fn resolve<'a>(&'a self, node: &'a Value) -> &'a Value {
        match node.get("$ref").and_then(Value::as_str) {
            Some(reference) => self
                .0
                .pointer(reference.trim_start_matches('#'))
                .unwrap_or_else(|| panic!("{reference} leads nowhere")),
            None => node,
        }
    }

    /// The faults of `value` against a schema, each with its place.
    pub fn misfits(&self, value: &Value, schema: &Value) -> Vec<String> {
        self.validator(schema)
            .iter_errors(value)
            .map(|error| format!("${}: {error}", error.instance_path()))
            .collect()
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let key = (std::ptr::from_ref(self.0) as usize, schema.to_string());
        let mut known = VALIDATORS.lock().expect("validators");
        let made = known.entry(key).or_insert_with(|| {
            let shared: Map<String, Value> = self.0["components"]["schemas"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.clone(), closed(schema)))
                .collect();
            // References lead into the components, so these stand where the document has them.
            let whole = json!({ "allOf": [closed(schema)], "components": { "schemas": shared } });
            let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
            Arc::new(options.build(&whole).unwrap_or_else(|error| panic!("{schema} is no schema: {error}")))
        });
        Arc::clone(made)
    }
}

/// The schema with its lists of members closed, at every depth.
fn closed(schema: &Value) -> Value {
    let Value::Object(words) = schema else { return schema.clone() };
    let mut closed_words = Map::new();
    for (word, said) in words {
        assert!(WORDS.contains(&word.as_str()) || word == UNIQUE, "nobody checks {word} of {schema}");
        let said = match (word.as_str(), said) {
            ("properties", Value::Object(members)) => {
                Value::Object(members.iter().map(|(name, schema)| (name.clone(), closed(schema))).collect())
            }
            ("items" | "additionalProperties", said) => closed(said),
            ("anyOf", Value::Array(choices)) => choices.iter().map(closed).collect(),
            (_, said) => said.clone(),
        };
        closed_words.insert(word.clone(), said);
    }
    // A schema beside a reference narrows it and lists no members of its own.
    if words.contains_key("properties")
        && !words.contains_key("additionalProperties")
        && !words.contains_key("$ref")
    {
        closed_words.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(closed_words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_described_does_not_fit() {
        let document = Box::leak(Box::new(json!({ "components": { "schemas": {
            "Money": { "type": "object", "required": ["amount"], "properties": { "amount": { "type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$" } } },
        } } })));
        let schemas = Schemas(document);
        let list = json!({ "type": "array", "items": { "$ref": "#/components/schemas/Money" } });
        let misfits = |value: Value| schemas.misfits(&value, &list).len();
        assert_eq!(misfits(json!([{ "amount": "1.00" }])), 0);
        assert_eq!(misfits(json!([{ "amount": "1.0" }, {}])), 2);
        assert_eq!(misfits(json!([{ "amount": "1.00", "secret": 1 }])), 1);
        assert_eq!(
            schemas.misfits(&json!("2026-13-01"), &json!({ "type": "string", "format": "date" })).len(),
            1
        );
    }
}
