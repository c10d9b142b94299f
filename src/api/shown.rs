//! What answers show, declared once: a table of members writes the JSON, and describes it.

/// `fn SHOW(OF: TYPE), SCHEMA, BYTES [ LET …; ] { KIND "NAME" = VALUE, ITS SCHEMA; … }` makes two functions: one writes
/// the values straight into bytes, the other is the schema. The kinds are methods of
/// [`Object`](crate::writer::Object): what may be null is `maybe_…`, what may be missing `optional_…`. Schemas may be
/// named without the path of what they are made of.
#[macro_export]
macro_rules! shown {
    (
        $(#[$attribute:meta])*
        $vis:vis fn $show:ident($($of:ident: $type:ty),+), $schema:ident, $bytes:tt
        $([ $($before:tt)* ])?
        { $($kind:ident $name:literal = $value:expr $(, $is:expr)?;)* }
    ) => {
        $(#[$attribute])*
        $vis fn $show($($of: $type),+) -> Vec<u8> {
            $($($before)*)?
            $crate::writer::Object::with_capacity($bytes)$(.$kind($name, $value))*.end()
        }

        pub fn $schema() -> $crate::openapi::schema::Schema {
            #[allow(unused_imports)]
            use $crate::openapi::{schema::*, values::*};
            let schema = $crate::openapi::schema::object();
            $(let schema = $crate::described!($kind, schema, $name, $value $(, $is)?);)*
            schema
        }
    };
}

/// How a kind of member is described. A kind that is not here does not compile.
#[doc(hidden)]
#[macro_export]
macro_rules! described {
    (constant, $object:ident, $name:literal, $only:expr) => {
        $object.member($name, $crate::openapi::schema::text().constant($only))
    };
    (boolean, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.member($name, $is)
    };
    (json, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.member($name, $is)
    };
    (list, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.member($name, $is)
    };
    (number, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.member($name, $is)
    };
    (plain, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.member($name, $is)
    };
    (text, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.member($name, $is)
    };
    (json_or_null, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.member($name, $is.or_null())
    };
    (maybe_number, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.member($name, $is.or_null())
    };
    (maybe_plain, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.member($name, $is.or_null())
    };
    (maybe_text, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.member($name, $is.or_null())
    };
    (optional_number, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.optional($name, $is)
    };
    (optional_plain, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.optional($name, $is)
    };
    (optional_text, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.optional($name, $is)
    };
    (optional_maybe_plain, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.optional($name, $is.or_null())
    };
    (optional_maybe_text, $object:ident, $name:literal, $value:expr, $is:expr) => {
        $object.optional($name, $is.or_null())
    };
}

pub use shown;
