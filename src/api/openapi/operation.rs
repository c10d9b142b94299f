//! The description of one operation: what a row of a route table does not say. Policy (path, key,
//! scope, what every call may be refused for) comes from the row.

use super::schema::{Schema, named, text};
use crate::fields::{Expected, Need};
use crate::page::ListOf;
use crate::query::{self, Query};

/// An answer that is no refusal.
pub(super) struct Response {
    pub status: u16,
    pub about: &'static str,
    pub schema: Option<Schema>,
    pub media: &'static str,
    /// The other media types that it can be had in.
    pub also: &'static [&'static str],
}

pub(super) struct Parameter {
    pub name: &'static str,
    pub place: &'static str,
    pub schema: Schema,
    pub required: bool,
    pub repeatable: bool,
}

/// The description of an operation: what it takes, what it answers and what it refuses.
pub struct Operation {
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) about: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) pages: bool,
    pub(super) body: Option<(Schema, bool)>,
    pub(super) takes: &'static str,
    pub(super) examples: Vec<(&'static str, &'static str)>,
    pub(super) answers: Vec<Response>,
    pub(super) refusals: Vec<(u16, Vec<&'static str>)>,
    /// Members that are never in this list, of a schema that several lists share.
    pub(super) absent: &'static [&'static str],
}

pub fn operation(id: &'static str, summary: &'static str) -> Operation {
    Operation {
        id,
        summary,
        about: "",
        parameters: Vec::new(),
        pages: false,
        body: None,
        takes: "application/json",
        examples: Vec::new(),
        answers: Vec::new(),
        refusals: Vec::new(),
        absent: &[],
    }
}

pub fn summary(summary: &'static str) -> Operation {
    operation("", summary)
}

impl Operation {
    pub(crate) fn of(self, id: &'static str) -> Operation {
        Operation { id, ..self }
    }

    /// Says which members of a schema that several lists share are never in this one: they are no columns.
    pub fn without(self, absent: &'static [&'static str]) -> Operation {
        Operation { absent, ..self }
    }

    pub fn about(self, about: &'static str) -> Operation {
        Operation { about, ..self }
    }

    /// Parameters of the query, as `reader` asks for them.
    pub fn query<T, E>(self, reader: impl FnOnce(Query<'_>) -> Result<T, E>) -> Operation {
        let (asked, pages) = query::describe(reader);
        let asked = asked.into_iter().map(|Expected { name, schema, need }| Parameter {
            name,
            place: "query",
            schema,
            required: need == Need::Required,
            repeatable: need == Need::Repeatable,
        });
        Operation { parameters: self.parameters.into_iter().chain(asked).collect(), pages, ..self }
    }

    /// Parameters of the query of a list, as `reader` asks for them.
    pub fn list<T, E>(self, reader: impl FnOnce(Query<'_>, ListOf<'_>) -> Result<T, E>) -> Operation {
        self.query(|query| reader(query, ListOf::DESCRIBED))
    }

    /// A header that may be missing.
    pub fn header(mut self, name: &'static str, schema: Schema) -> Operation {
        self.parameters.push(Parameter { name, place: "header", schema, required: false, repeatable: false });
        self
    }

    pub fn has_query(&self) -> bool {
        self.pages || self.parameters.iter().any(|parameter| parameter.place == "query")
    }

    pub fn body(self, name: &'static str) -> Operation {
        Operation { body: Some((named(name), true)), ..self }
    }

    /// A body that may be missing.
    pub fn body_optional(self, name: &'static str) -> Operation {
        Operation { body: Some((named(name), false)), ..self }
    }

    /// A body of text in another media type than JSON.
    pub fn body_in(self, media: &'static str, schema: Schema) -> Operation {
        Operation { body: Some((schema, true)), takes: media, ..self }
    }

    /// A body as one may send it, and what it is an example of.
    pub fn example(mut self, name: &'static str, json: &'static str) -> Operation {
        self.examples.push((name, json));
        self
    }

    /// A success with JSON of the schema with this name.
    pub fn answers(self, status: u16, name: &'static str, about: &'static str) -> Operation {
        self.answers_with(status, named(name), about)
    }

    pub fn answers_with(mut self, status: u16, schema: Schema, about: &'static str) -> Operation {
        self.answers.push(Response {
            status,
            about,
            schema: Some(schema),
            media: "application/json",
            also: &[],
        });
        self
    }

    /// A success with a text in one of these media types, the first unless the caller accepts another.
    pub fn answers_in(
        mut self,
        status: u16,
        forms: &'static [&'static str],
        about: &'static str,
    ) -> Operation {
        if let [media, also @ ..] = forms {
            self.answers.push(Response { status, about, schema: Some(text()), media, also });
        }
        self
    }

    /// A success with nothing in it.
    pub fn answers_nothing(mut self, status: u16, about: &'static str) -> Operation {
        self.answers.push(Response { status, about, schema: None, media: "", also: &[] });
        self
    }

    /// Adds codes with which the operation may be refused, beside those of every call.
    pub fn refuses(mut self, status: u16, codes: &[&'static str]) -> Operation {
        self.refusals.push((status, codes.to_vec()));
        self
    }
}
