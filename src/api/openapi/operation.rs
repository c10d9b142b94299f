//! The description of one operation: what a row of a route table does not say. Policy (path, key,
//! scope, what every call may be refused for) comes from the row.

use super::schema::{Schema, any_of, named, text};
use crate::fields::{Expected, Got, Need};
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

#[derive(Default)]
pub struct Operation {
    pub(super) summary: &'static str,
    pub(super) about: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) pages: bool,
    pub(super) body: Option<(Schema, bool)>,
    pub(super) takes: &'static str,
    pub(super) examples: Vec<(&'static str, &'static str)>,
    pub(super) answers: Vec<Response>,
    pub(super) refusals: Vec<(u16, &'static [&'static str])>,
    /// Members that are never in this list, of a schema that several lists share.
    pub(super) absent: &'static [&'static str],
    /// Its commands on the operators' command line; the first one names the act in the audit.
    pub commands: Vec<Verb>,
}

/// A command of `pasarela admin` for an operation: what it takes follows from what the operation takes.
#[derive(Clone, Copy)]
pub struct Verb {
    pub name: &'static str,
    pub about: &'static str,
    /// What follows the name and the ids of the path in the example.
    pub example: &'static str,
    /// What follows the ids of the path without a name of its own.
    pub operand: Option<Operand>,
    pub fixed: Option<(&'static str, &'static str)>,
    /// A member that the command asks for though the call may go without it.
    pub asks_for: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub struct Operand {
    pub name: &'static str,
    pub fills: Fills,
    pub about: &'static str,
}

#[derive(Clone, Copy)]
pub enum Fills {
    Member(&'static str),
    /// A member, made absolute: the server has a working directory of its own.
    Directory(&'static str),
    Body,
    /// A file of this machine, which is the body; options are parameters then.
    File,
    /// A parameter, by whose name it may be given instead.
    Option(&'static str),
}

pub fn summary(summary: &'static str) -> Operation {
    Operation { summary, takes: "application/json", ..Operation::default() }
}

impl Operation {
    /// A command with its help and, for its example, what follows its name and the ids of the path.
    pub fn command(mut self, name: &'static str, about: &'static str, example: &'static str) -> Operation {
        self.commands.push(Verb { name, about, example, operand: None, fixed: None, asks_for: None });
        self
    }

    /// Says what the last command takes without a name, after the ids of the path.
    pub fn operand(self, name: &'static str, fills: Fills, about: &'static str) -> Operation {
        self.last_command(|verb| verb.operand = Some(Operand { name, fills, about }))
    }

    pub fn asking_for(self, member: &'static str) -> Operation {
        self.last_command(|verb| verb.asks_for = Some(member))
    }

    pub fn fixed(self, name: &'static str, value: &'static str) -> Operation {
        self.last_command(|verb| verb.fixed = Some((name, value)))
    }

    fn last_command(mut self, change: impl FnOnce(&mut Verb)) -> Operation {
        self.commands.last_mut().map(change);
        self
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

    /// Parameters of the query of a list with these filters.
    pub fn filters<F>(self, filters: impl FnOnce(&mut Query<'_>) -> Got<F>) -> Operation {
        self.list(|query, list| query::listed(query, list, filters))
    }

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

    /// It may wait for a second person.
    pub fn waits(self) -> Operation {
        self.answers(202, "AskedApproval", "It waits for a second person")
    }

    /// What several operations have in common.
    pub fn with(self, change: impl FnOnce(Operation) -> Operation) -> Operation {
        change(self)
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

    /// A success with lines of JSON, each of the schema with this name.
    pub fn answers_lines(
        mut self,
        status: u16,
        media: &'static str,
        name: &'static str,
        about: &'static str,
    ) -> Operation {
        self.answers.push(Response { status, about, schema: Some(named(name)), media, also: &[] });
        self
    }

    pub fn answers_nothing(mut self, status: u16, about: &'static str) -> Operation {
        self.answers.push(Response { status, about, schema: None, media: "", also: &[] });
        self
    }

    /// It pays somebody, so a mandate may refuse it.
    pub fn draws(self) -> Operation {
        self.takes_out().refuses(403, &["mandate_payee"])
    }

    /// It takes money out, so a mandate may refuse it, or have it wait for an approval.
    pub fn takes_out(self) -> Operation {
        self.waits_for_approval().refuses(403, &["mandate_exceeded"])
    }

    pub fn waits_for_approval(mut self) -> Operation {
        let awaiting = named("AwaitingApproval");
        match self.answers.iter_mut().find(|answer| answer.status == 202) {
            Some(Response { schema: Some(schema), .. }) => *schema = any_of([schema.clone(), awaiting]),
            _ => self = self.answers_with(202, awaiting, "It waits for an approval; nothing is debited"),
        }
        self.refuses(429, &["too_many_attempts"])
    }

    /// Adds codes with which the operation may be refused, beside those of every call.
    pub fn refuses(mut self, status: u16, codes: &'static [&'static str]) -> Operation {
        self.refusals.push((status, codes));
        self
    }
}
