//! The parts of a row in the table of verbs: what is named, what may be said, and where each goes.

pub struct Verb {
    /// A verb without a name of its own is its noun alone.
    pub noun: &'static str,
    pub verb: &'static str,
    pub about: &'static str,
    /// After `pasarela admin`.
    pub example: &'static str,
    pub method: &'static str,
    /// As in the table of the operators' API.
    pub path: &'static str,
    pub operands: &'static [Operand],
    pub options: &'static [Opt],
}

impl Verb {
    pub fn pages(&self) -> bool {
        self.options.iter().any(|option| option.member == CURSOR.member)
    }
}

pub struct Operand {
    pub name: &'static str,
    pub fills: Fills,
    pub about: &'static str,
}

pub enum Fills {
    Path(&'static str),
    Member(&'static str),
    Directory(&'static str),
    Body,
    /// A file of this machine, which is the whole body; options are parameters then.
    File,
    /// An option by which it may be given instead.
    Option(&'static str),
}

pub struct Opt {
    /// In the API, which is taken too.
    pub member: &'static str,
    pub long: &'static str,
    pub is: Is,
    pub required: bool,
    /// One is made when none is said.
    pub fresh: bool,
    pub about: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    Text,
    Json,
    Truth,
    Whole,
    List,
}

pub const fn named(name: &'static str, parameter: &'static str, about: &'static str) -> Operand {
    Operand { name, fills: Fills::Path(parameter), about }
}

pub const fn may(member: &'static str, long: &'static str, is: Is, about: &'static str) -> Opt {
    Opt { member, long, is, required: false, fresh: false, about }
}

pub const fn must(member: &'static str, long: &'static str, is: Is, about: &'static str) -> Opt {
    Opt { required: true, ..may(member, long, is, about) }
}

pub const TENANT: Operand = named("TENANT", ":id", "The tenant's id");
pub const KEY: Operand = named("KEY", ":keyId", "The key's id");
pub const ID: Operand = named("ID", ":id", "Its id");
pub const MODE: Opt = must("mode", "mode", Is::Text, "live or test");
pub const FIRST_DAY: Opt = must("from", "from", Is::Text, "The first day: 2026-11-01");
pub const LAST_DAY: Opt = must("to", "to", Is::Text, "The last day");
pub const LIMIT: Opt = may("limit", "limit", Is::Whole, "How many at most, 1 to 100");
pub const CURSOR: Opt = may("cursor", "cursor", Is::Text, "The nextCursor of the page before");
/// Makes a repetition harmless.
pub const REFERENCE: Opt = Opt {
    fresh: true,
    ..may(
        "externalRef",
        "external-ref",
        Is::Text,
        "Makes a repetition harmless; if it is missing, one is made, and shown in the answer",
    )
};
