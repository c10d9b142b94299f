//! The parts of a row in the table of verbs: what is named, what may be said, and where each goes.

/// A verb and the call that it makes.
pub struct Verb {
    /// The subject; a verb without a name of its own is its noun alone.
    pub noun: &'static str,
    /// The verb's name.
    pub verb: &'static str,
    /// The sentence about the verb in its help.
    pub about: &'static str,
    /// An example of its use, after `pasarela admin`.
    pub example: &'static str,
    /// The call.
    pub method: &'static str,
    /// The path that is called, as in the table of the operators' API.
    pub path: &'static str,
    /// The arguments that must be given, in order.
    pub operands: &'static [Operand],
    /// The arguments that may be given by name.
    pub options: &'static [Opt],
}

impl Verb {
    /// Whether it lists pages.
    pub fn pages(&self) -> bool {
        self.options.iter().any(|option| option.member == CURSOR.member)
    }
}

/// An argument that must be given, by its place.
pub struct Operand {
    /// The operand's name in the help.
    pub name: &'static str,
    /// The part of the request that it fills.
    pub fills: Fills,
    /// The sentence about the operand in the help.
    pub about: &'static str,
}

/// The part of the request that an operand fills.
pub enum Fills {
    /// A parameter of the path.
    Path(&'static str),
    /// A member of the body.
    Member(&'static str),
    /// A member of the body, as an absolute path.
    Directory(&'static str),
    /// The whole body.
    Body,
    /// A file of this machine, which is the whole body; options are parameters then.
    File,
    /// An option of this name, by which it may be given instead.
    Option(&'static str),
}

/// A member of the body, or a parameter of a list.
pub struct Opt {
    /// The member's name in the API, which is taken too.
    pub member: &'static str,
    /// The option's name on the command line.
    pub long: &'static str,
    /// The form of its value.
    pub is: Is,
    /// Whether it must be said.
    pub required: bool,
    /// Whether one is made when none is said.
    pub fresh: bool,
    /// The sentence about the option in the help.
    pub about: &'static str,
}

/// The form of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// A string.
    Text,
    /// A JSON value.
    Json,
    /// A truth value.
    Truth,
    /// A whole number.
    Whole,
    /// Strings, separated by commas.
    List,
}

/// An operand that fills a parameter of the path.
pub const fn named(name: &'static str, parameter: &'static str, about: &'static str) -> Operand {
    Operand { name, fills: Fills::Path(parameter), about }
}

/// An option that may be said.
pub const fn may(member: &'static str, long: &'static str, is: Is, about: &'static str) -> Opt {
    Opt { member, long, is, required: false, fresh: false, about }
}

/// An option that must be said.
pub const fn must(member: &'static str, long: &'static str, is: Is, about: &'static str) -> Opt {
    Opt { required: true, ..may(member, long, is, about) }
}

/// The tenant that a call is about.
pub const TENANT: Operand = named("TENANT", ":id", "The tenant's id");
/// The API key that a call is about.
pub const KEY: Operand = named("KEY", ":keyId", "The key's id");
/// Anything else that a call is about.
pub const ID: Operand = named("ID", ":id", "Its id");
/// The option `--mode`: live or test.
pub const MODE: Opt = must("mode", "mode", Is::Text, "live or test");
/// The first of some days.
pub const FIRST_DAY: Opt = must("from", "from", Is::Text, "The first day: 2026-11-01");
/// The last of some days.
pub const LAST_DAY: Opt = must("to", "to", Is::Text, "The last day");
/// The length of a page.
pub const LIMIT: Opt = may("limit", "limit", Is::Whole, "How many at most, 1 to 100");
/// The place of a page in its list.
pub const CURSOR: Opt = may("cursor", "cursor", Is::Text, "The nextCursor of the page before");
/// The reference that makes a repetition harmless.
pub const REFERENCE: Opt = Opt {
    fresh: true,
    ..may(
        "externalRef",
        "external-ref",
        Is::Text,
        "Makes a repetition harmless; if it is missing, one is made, and shown in the answer",
    )
};
