//! What answers show, declared once: a table of members writes the JSON, and describes it.

/// `fn SHOW(OF: TYPE), SCHEMA, BYTES [ LET …; ] { KIND "NAME" = VALUE, ITS SCHEMA; … }` makes two functions: one
/// writes the values straight into bytes, the other is the schema, whose parts may be named without their path. The
/// kinds are methods of [`Object`](crate::writer::Object): before them stands `maybe` of what may be null, `optional`
/// of what may be missing, both of an `Option`.
#[macro_export]
macro_rules! shown {
    (
        $(#[$attribute:meta])*
        $vis:vis fn $show:ident($($of:ident: $type:ty),+), $schema:ident, $bytes:tt
        $([ $($before:tt)* ])?
        { $($($kind:ident)+ $name:literal = $value:expr $(, $is:expr)?;)* }
    ) => {
        $(#[$attribute])*
        $vis fn $show($($of: $type),+) -> Vec<u8> {
            $($($before)*)?
            let object = $crate::writer::Object::with_capacity($bytes);
            $(let object = $crate::written!(object, $($kind)+ $name = $value);)*
            object.end()
        }

        pub fn $schema() -> $crate::openapi::schema::Schema {
            #[allow(unused_imports)]
            use $crate::openapi::{schema::*, values::*};
            let schema = $crate::openapi::schema::object();
            $(let schema = $crate::described!(schema, $($kind)+ $name = $value $(, $is)?);)*
            schema
        }
    };
}

/// How a member is written.
#[doc(hidden)]
#[macro_export]
macro_rules! written {
    ($object:ident, optional $($kind:ident)+ $name:literal = $value:expr) => {
        match $value {
            Some(value) => $crate::written!($object, $($kind)+ $name = value),
            None => $object,
        }
    };
    ($object:ident, maybe $kind:ident $name:literal = $value:expr) => {
        match $value {
            Some(value) => $object.$kind($name, value),
            None => $object.number($name, "null"),
        }
    };
    ($object:ident, constant $name:literal = $value:expr) => { $object.plain($name, $value) };
    ($object:ident, boolean $name:literal = $value:expr) => { $object.number($name, $value) };
    ($object:ident, $kind:ident $name:literal = $value:expr) => { $object.$kind($name, $value) };
}

/// How a member is described.
#[doc(hidden)]
#[macro_export]
macro_rules! described {
    ($schema:ident, optional maybe $kind:ident $name:literal = $value:expr, $is:expr) => {
        $schema.optional($name, $is.or_null())
    };
    ($schema:ident, optional $kind:ident $name:literal = $value:expr, $is:expr) => {
        $schema.optional($name, $is)
    };
    ($schema:ident, maybe $kind:ident $name:literal = $value:expr, $is:expr) => {
        $schema.member($name, $is.or_null())
    };
    ($schema:ident, constant $name:literal = $value:expr) => {
        $schema.member($name, $crate::openapi::schema::text().constant($value))
    };
    ($schema:ident, $kind:ident $name:literal = $value:expr, $is:expr) => {
        $schema.member($name, $is)
    };
}

pub use shown;
