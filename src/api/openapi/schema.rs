//! A schema of the description, built by words and written as JSON Schema 2020-12. It knows how
//! such a schema is written, and nothing about payments.

use crate::writer::{Object, text as literal};
use std::ops::RangeInclusive;

#[derive(Clone, Debug)]
pub struct Schema {
    pub(super) kind: Kind,
    nullable: bool,
    closed: bool,
    choices: Vec<String>,
    pub(super) members: Vec<Member>,
    pub(super) items: Option<Box<Schema>>,
    facts: Vec<(&'static str, Vec<u8>)>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Type(&'static str),
    Named(&'static str),
    AnyOf(Vec<Schema>),
    Free,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) schema: Schema,
    pub(super) required: bool,
}

fn of(kind: Kind) -> Schema {
    Schema {
        kind,
        nullable: false,
        closed: false,
        choices: Vec::new(),
        members: Vec::new(),
        items: None,
        facts: Vec::new(),
    }
}

pub fn text() -> Schema {
    of(Kind::Type("string"))
}

pub fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Schema {
    Schema { choices: names.into_iter().map(str::to_owned).collect(), ..text() }
}

pub fn number() -> Schema {
    of(Kind::Type("number"))
}

pub fn integer() -> Schema {
    of(Kind::Type("integer"))
}

pub fn boolean() -> Schema {
    of(Kind::Type("boolean"))
}

pub fn object() -> Schema {
    of(Kind::Type("object"))
}

pub fn list(items: Schema) -> Schema {
    let json = items.to_json();
    Schema { items: Some(Box::new(items)), ..of(Kind::Type("array")) }.fact("items", json)
}

pub fn named(name: &'static str) -> Schema {
    of(Kind::Named(name))
}

pub fn any_of(schemas: impl IntoIterator<Item = Schema>) -> Schema {
    of(Kind::AnyOf(schemas.into_iter().collect()))
}

pub fn anything() -> Schema {
    of(Kind::Free)
}

impl Schema {
    fn fact(mut self, keyword: &'static str, json: Vec<u8>) -> Schema {
        self.facts.retain(|(known, _)| *known != keyword);
        self.facts.push((keyword, json));
        self
    }

    pub fn about(self, words: &str) -> Schema {
        self.fact("description", literal(words))
    }

    pub fn or_null(mut self) -> Schema {
        self.nullable = true;
        self
    }

    pub fn pattern(self, pattern: &str) -> Schema {
        self.fact("pattern", literal(pattern))
    }

    pub fn format(self, format: &str) -> Schema {
        self.fact("format", literal(format))
    }

    pub fn chars(self, count: RangeInclusive<usize>) -> Schema {
        self.fact("minLength", count.start().to_string().into())
            .fact("maxLength", count.end().to_string().into())
    }

    /// Bounds a number from both sides, each bound as JSON writes it.
    pub fn range(self, least: &str, most: &str) -> Schema {
        self.at_least(least).fact("maximum", most.into())
    }

    /// Bounds a number from below, as JSON writes the bound.
    pub fn at_least(self, least: &str) -> Schema {
        self.fact("minimum", least.into())
    }

    pub fn count(self, count: RangeInclusive<usize>) -> Schema {
        self.fact("minItems", count.start().to_string().into())
            .fact("maxItems", count.end().to_string().into())
    }

    pub fn distinct(self) -> Schema {
        self.fact("uniqueItems", b"true".to_vec())
    }

    pub fn constant(self, only: &str) -> Schema {
        self.fact("const", literal(only))
    }

    /// Adds the value, as JSON, that counts when the member is missing.
    pub fn default(self, json: &str) -> Schema {
        self.fact("default", json.into())
    }

    pub fn example(self, json: &str) -> Schema {
        self.fact("examples", format!("[{}]", on_one_line(json)).into())
    }

    pub(super) fn known_fact(&self, keyword: &str) -> Option<&[u8]> {
        self.facts.iter().find(|(known, _)| *known == keyword).map(|(_, json)| json.as_slice())
    }

    /// The type of JSON: that of what has a name is an object, and of several the integer if there is one.
    pub fn type_name(&self) -> Option<&'static str> {
        match &self.kind {
            Kind::Type(name) => Some(name),
            Kind::Named(_) => Some("object"),
            Kind::AnyOf(schemas) => {
                schemas.iter().filter_map(Schema::type_name).find(|name| *name == "integer")
            }
            Kind::Free => None,
        }
    }

    pub fn words(&self) -> Option<String> {
        let about = self.known_fact("description").and_then(|json| serde_json::from_slice(json).ok());
        let choices = (!self.choices.is_empty()).then(|| self.choices.join(", "));
        about.or(choices).or_else(|| self.items.as_ref().and_then(|items| items.words()))
    }

    /// The texts of which it has to be one; of any text, none.
    pub fn choices(&self) -> &[String] {
        &self.choices
    }

    /// The names of the members that are neither lists nor objects.
    pub fn scalars(&self) -> Vec<&'static str> {
        let is_scalar = |(_, is): &(&str, Option<&str>)| !matches!(is, Some("array" | "object") | None);
        self.typed_members().filter(is_scalar).map(|(name, _)| name).collect()
    }

    /// The names of the members, each with its type of JSON.
    pub fn typed_members(&self) -> impl Iterator<Item = (&'static str, Option<&'static str>)> + '_ {
        self.members.iter().map(|member| (member.name, member.schema.type_name()))
    }

    /// A value that fits, as JSON: the example, or one that is made of the samples of its parts.
    /// `find` knows the schemas that have names. A text with a pattern needs an example.
    pub fn sample(&self, find: &dyn Fn(&str) -> Option<Schema>) -> Option<Vec<u8>> {
        let fact = |keyword: &str| self.known_fact(keyword);
        if let Some(example) = fact("examples").and_then(|list| list.strip_prefix(b"[")?.strip_suffix(b"]")) {
            return Some(example.to_vec());
        }
        if let Some(only) = fact("const").or(fact("default")) {
            return Some(only.to_vec());
        }
        if self.nullable {
            return Some(b"null".to_vec());
        }
        if let Some(choice) = self.choices.first() {
            return Some(literal(choice));
        }
        match &self.kind {
            Kind::Named(name) => find(name)?.sample(find),
            Kind::AnyOf(schemas) => schemas.iter().find_map(|schema| schema.sample(find)),
            Kind::Free => Some(b"{}".to_vec()),
            Kind::Type("boolean") => Some(b"true".to_vec()),
            Kind::Type("number" | "integer") => Some(fact("minimum").unwrap_or(b"1").to_vec()),
            Kind::Type("array") => {
                let items = self.items.as_ref().and_then(|items| items.sample(find));
                items.map(|item| [b"[", item.as_slice(), b"]"].concat())
            }
            Kind::Type("object") => {
                let mut out = Object::with_capacity(512);
                for member in self.members.iter().filter(|member| member.required) {
                    out = out.json(member.name, &member.schema.sample(find)?);
                }
                Some(out.end())
            }
            Kind::Type(_) => match (fact("format"), fact("pattern")) {
                (Some(br#""uuid""#), _) => Some(literal("01975a2e-7c00-7000-8000-000000000000")),
                (Some(br#""date""#), _) => Some(literal("2026-11-21")),
                (None, None) => Some(literal("text")),
                _ => None,
            },
        }
    }

    /// A member that is always there. What had an example has none that fits any more.
    pub fn member(mut self, name: &'static str, schema: Schema) -> Schema {
        self.facts.retain(|(keyword, _)| *keyword != "examples");
        self.members.push(Member { name, schema, required: true });
        self
    }

    pub fn optional(mut self, name: &'static str, schema: Schema) -> Schema {
        self.members.push(Member { name, schema, required: false });
        self
    }

    /// Another schema for a member that is there. What had an example has none that fits any more.
    pub fn instead(mut self, name: &str, schema: Schema) -> Schema {
        self.facts.retain(|(keyword, _)| *keyword != "examples");
        let known = self.members.iter_mut().find(|member| member.name == name);
        debug_assert!(known.is_some(), "there is no member {name}");
        if let Some(member) = known {
            member.schema = schema;
        }
        self
    }

    /// Describes these members after all others, in this order.
    pub fn last(mut self, names: &[&str]) -> Schema {
        self.members
            .sort_by_key(|member| names.iter().position(|name| *name == member.name).map_or(0, |n| n + 1));
        self
    }

    pub fn and(mut self, other: Schema) -> Schema {
        self.members.extend(other.members);
        self
    }

    /// No other members: in a body they are refused by name.
    pub fn closed(mut self) -> Schema {
        self.closed = true;
        self
    }

    pub fn members_min(self, least: usize) -> Schema {
        self.fact("minProperties", least.to_string().into())
    }

    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Object::with_capacity(256);
        match &self.kind {
            Kind::Free => {}
            Kind::Named(name) if self.nullable => {
                out = out.list("anyOf", [reference(name), br#"{"type":"null"}"#.to_vec()])
            }
            Kind::Named(name) => out = out.plain("$ref", format_args!("#/components/schemas/{name}")),
            Kind::AnyOf(schemas) => {
                let null = self.nullable.then(|| br#"{"type":"null"}"#.to_vec());
                out = out.list("anyOf", schemas.iter().map(Schema::to_json).chain(null));
            }
            Kind::Type(name) if self.nullable => out = out.list("type", [literal(name), literal("null")]),
            Kind::Type(name) => out = out.plain("type", name),
        }
        if !self.choices.is_empty() {
            let null = self.nullable.then(|| b"null".to_vec());
            out = out.list("enum", self.choices.iter().map(|choice| literal(choice)).chain(null));
        }
        for (keyword, json) in &self.facts {
            out = out.json(keyword, json);
        }
        if !self.members.is_empty() {
            let mut properties = Object::with_capacity(1024);
            for member in &self.members {
                properties = properties.json(member.name, member.schema.to_json());
            }
            out = out.json("properties", properties.end());
            let required: Vec<Vec<u8>> = self
                .members
                .iter()
                .filter(|member| member.required)
                .map(|member| literal(member.name))
                .collect();
            if !required.is_empty() {
                out = out.list("required", required);
            }
        }
        if self.closed {
            out = out.boolean("additionalProperties", false);
        }
        out.end()
    }
}

/// JSON that is written on several lines, each indented.
pub(super) fn on_one_line(json: &str) -> String {
    json.lines().map(str::trim_start).collect()
}

fn reference(name: &str) -> Vec<u8> {
    Object::with_capacity(64).plain("$ref", format_args!("#/components/schemas/{name}")).end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(schema: &Schema) -> String {
        String::from_utf8(schema.to_json()).expect("text")
    }

    #[test]
    fn schemas_are_written_in_the_order_of_the_code() {
        let schema = object()
            .member("b", text().chars(1..=64).about("a \"name\""))
            .optional("a", integer().range("1", "9").or_null())
            .closed();
        let json = r#"{"type":"object","properties":{"b":{"type":"string","minLength":1,"maxLength":64,
            "description":"a \"name\""},"a":{"type":["integer","null"],"minimum":1,"maximum":9}},
            "required":["b"],"additionalProperties":false}"#;
        assert_eq!(written(&schema), on_one_line(json));
    }

    #[test]
    fn null_is_one_of_what_it_may_be() {
        assert_eq!(
            written(&named("A").or_null()),
            r##"{"anyOf":[{"$ref":"#/components/schemas/A"},{"type":"null"}]}"##
        );
        assert_eq!(
            written(&one_of(["x", "y"]).or_null()),
            r#"{"type":["string","null"],"enum":["x","y",null]}"#
        );
        assert_eq!(
            written(&list(named("A")).count(1..=2)),
            r##"{"type":"array","items":{"$ref":"#/components/schemas/A"},"minItems":1,"maxItems":2}"##
        );
        assert_eq!(
            written(&any_of([number(), text()]).or_null()),
            r#"{"anyOf":[{"type":"number"},{"type":"string"},{"type":"null"}]}"#
        );
    }

    #[test]
    fn what_is_said_again_replaces_what_was_said() {
        assert_eq!(
            written(&text().about("one").about("other")),
            r#"{"type":"string","description":"other"}"#
        );
        assert_eq!(
            written(&object().and(object().member("a", boolean())).members_min(1)),
            r#"{"type":"object","minProperties":1,"properties":{"a":{"type":"boolean"}},"required":["a"]}"#
        );
    }
}
