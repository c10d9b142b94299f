//! A document without what its reader can do without who wants to call: examples, refusals (each says in `docs` where
//! it is explained), headers of answers, and the messages that are sent. What a call takes and gives is all there.

use serde_json::Value;

const LEFT_OUT: [&str; 5] = ["example", "examples", "headers", "tags", "webhooks"];
/// Members whose own members have names of the document's, which are no keywords.
pub(super) const NAMED: [&str; 10] = [
    "paths",
    "properties",
    "schemas",
    "parameters",
    "securitySchemes",
    "content",
    "responses",
    "examples",
    "headers",
    "webhooks",
];

/// The shorter form of a document, in JSON.
pub fn compact(document: &[u8]) -> serde_json::Result<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(document)?;
    shorten(&mut document, false);
    serde_json::to_vec(&document)
}

fn shorten(value: &mut Value, has_names: bool) {
    match value {
        Value::Object(members) => {
            if !has_names {
                members.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
            }
            for (name, member) in members {
                if name == "responses"
                    && !has_names
                    && let Value::Object(answers) = &mut *member
                {
                    answers.retain(|status, _| status.starts_with('2'));
                }
                shorten(member, !has_names && NAMED.contains(&name.as_str()));
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| shorten(value, false)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_call_takes_and_gives_stays() {
        let schema = json!({ "type": "object", "properties": { "example": { "type": "string", "example": "x" },
            "tags": { "type": "array" } }, "required": ["tags"] });
        let short = json!({ "type": "object", "properties": { "example": { "type": "string" },
            "tags": { "type": "array" } }, "required": ["tags"] });
        let document = |schema: &Value, more: bool| {
            let mut get = json!({ "operationId": "a", "summary": "A", "security": [],
                "parameters": [{ "name": "examples", "in": "query" }],
                "responses": { "200": { "description": "it", "content": { "application/json": { "schema": schema } } } } });
            let mut all =
                json!({ "openapi": "3.1.0", "info": {}, "components": { "schemas": { "headers": schema } } });
            if more {
                get["tags"] = json!(["x"]);
                get["responses"]["200"]["headers"] = json!({});
                get["responses"]["200"]["content"]["application/json"]["example"] = json!({});
                get["responses"]["404"] = json!({ "description": "not there" });
                all["webhooks"] = json!({});
                all["components"]["headers"] = json!({});
            }
            all["paths"] = json!({ "/tags": { "get": get } });
            all
        };
        let made = compact(document(&schema, true).to_string().as_bytes()).expect("JSON");
        assert_eq!(serde_json::from_slice::<Value>(&made).expect("JSON"), document(&short, false));
    }
}
