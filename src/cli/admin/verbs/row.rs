//! The parts of a row in the table of verbs: what is named, what may be said, and where each goes.

/// A verb and the call that it makes.
pub struct Verb {
    /// The subject; a verb without a name of its own is its noun alone.
    pub noun: &'static str,
    /// What is done.
    pub verb: &'static str,
    /// What that means.
    pub about: &'static str,
    /// How it looks, after `pasarela admin`.
    pub example: &'static str,
    /// The call.
    pub method: &'static str,
    /// Its path, as in the table of the operators' API.
    pub path: &'static str,
    /// What must be named, in order.
    pub operands: &'static [Operand],
    /// What may be said besides.
    pub options: &'static [Opt],
}

/// Something that must be named.
pub struct Operand {
    /// As the help shows it.
    pub name: &'static str,
    /// Where it goes.
    pub fills: Fills,
    /// What it is.
    pub about: &'static str,
}

/// Where an operand goes.
pub enum Fills {
    /// Into this parameter of the path.
    Path(&'static str),
    /// Into this member of the body.
    Member(&'static str),
    /// Into this member of the body, as a path from the root.
    Directory(&'static str),
    /// It is the body.
    Body,
}

/// A member of the body, or a parameter of a list.
pub struct Opt {
    /// Its name in the API, which is taken too.
    pub member: &'static str,
    /// Its name here.
    pub long: &'static str,
    /// What it looks like.
    pub is: Is,
    /// Whether it must be said.
    pub required: bool,
    /// Whether one is made when none is said.
    pub fresh: bool,
    /// What it is.
    pub about: &'static str,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// A string.
    Text,
    /// Any JSON.
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
/// Whose money it is.
pub const MODE: Opt = must("mode", "mode", Is::Text, "live or test");
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
