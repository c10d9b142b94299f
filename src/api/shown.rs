//! The members of what is shown, declared once: a declaration writes the JSON of an answer, and
//! describes it.
//!
//! A declaration is a function over [`Members`], with a line per member: its name, its schema, and
//! where its value comes from. [`Writing`] takes the values and writes them straight into bytes;
//! [`Describing`] takes the schemas. Which of the two it is, is known when it is compiled, so
//! writing costs what it costs by hand.

use crate::openapi::schema::{Schema, object, text};
use crate::writer::Object;
use std::fmt::Display;

/// The members of an object that shows a `T`, one after the other.
pub trait Members<'a, T: 'a>: Sized {
    /// Text from outside, escaped.
    fn text<V: AsRef<str>>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> V,
    ) -> Self;

    /// Text from outside, or null.
    fn maybe_text<V: AsRef<str>>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> Option<V>,
    ) -> Self;

    /// Text from outside, in what has it.
    fn optional_text<V: AsRef<str>>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> Option<V>,
    ) -> Self;

    /// Text that needs no escapes.
    fn plain<V: Display>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> V,
    ) -> Self;

    /// Text that needs no escapes, or null.
    fn maybe_plain<V: Display>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> Option<V>,
    ) -> Self;

    /// Text that needs no escapes, in what has it.
    fn optional_plain<V: Display>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> Option<V>,
    ) -> Self;

    /// Text that needs no escapes or null, in what has it.
    fn optional_maybe_plain<V: Display>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> Option<Option<V>>,
    ) -> Self;

    /// A number.
    fn number<V: Display>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> V,
    ) -> Self;

    /// A number, or null.
    fn maybe_number<V: Display>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> Option<V>,
    ) -> Self;

    /// True or false.
    fn boolean(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> bool,
    ) -> Self;

    /// Adds a member whose value is JSON already.
    fn json<V: AsRef<[u8]>>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> V,
    ) -> Self;

    /// Adds a member whose value is JSON already, or null.
    fn json_or_null<V: AsRef<[u8]>>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> Option<V>,
    ) -> Self;

    /// A list of what is JSON already.
    fn list<V: AsRef<[u8]>, I: IntoIterator<Item = V>>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> I,
    ) -> Self;

    /// The same text in every object.
    fn constant(self, name: &'static str, only: &'static str) -> Self {
        self.plain(name, || text().constant(only), |_| only)
    }
}

/// Writes the members of a value.
pub struct Writing<'a, T> {
    out: Object,
    of: &'a T,
}

impl<'a, T> Writing<'a, T> {
    /// An object that shows `of`, with room for so many bytes.
    pub fn of(of: &'a T, bytes: usize) -> Writing<'a, T> {
        Writing { out: Object::with_capacity(bytes), of }
    }

    /// The object, which may get more members.
    pub fn object(self) -> Object {
        self.out
    }

    /// The bytes.
    pub fn end(self) -> Vec<u8> {
        self.out.end()
    }
}

macro_rules! written {
    ($($kind:ident: $value:ty, $bound:path;)*) => {
        $(#[inline]
        fn $kind<V: $bound>(
            self,
            name: &'static str,
            _: impl FnOnce() -> Schema,
            value: impl FnOnce(&'a T) -> $value,
        ) -> Self {
            Writing { out: self.out.$kind(name, value(self.of)), of: self.of }
        })*
    };
}

impl<'a, T> Members<'a, T> for Writing<'a, T> {
    written! {
        text: V, AsRef<str>;
        maybe_text: Option<V>, AsRef<str>;
        plain: V, Display;
        maybe_plain: Option<V>, Display;
        number: V, Display;
        maybe_number: Option<V>, Display;
        json_or_null: Option<V>, AsRef<[u8]>;
    }

    #[inline]
    fn optional_maybe_plain<V: Display>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> Option<Option<V>>,
    ) -> Self {
        match value(self.of) {
            Some(value) => self.maybe_plain(name, schema, |_| value),
            None => self,
        }
    }

    #[inline]
    fn optional_text<V: AsRef<str>>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> Option<V>,
    ) -> Self {
        match value(self.of) {
            Some(value) => self.text(name, schema, |_| value),
            None => self,
        }
    }

    #[inline]
    fn optional_plain<V: Display>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> Option<V>,
    ) -> Self {
        match value(self.of) {
            Some(value) => self.plain(name, schema, |_| value),
            None => self,
        }
    }

    #[inline]
    fn boolean(
        self,
        name: &'static str,
        _: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> bool,
    ) -> Self {
        Writing { out: self.out.boolean(name, value(self.of)), of: self.of }
    }

    #[inline]
    fn json<V: AsRef<[u8]>>(
        self,
        name: &'static str,
        _: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> V,
    ) -> Self {
        Writing { out: self.out.json(name, value(self.of).as_ref()), of: self.of }
    }

    #[inline]
    fn list<V: AsRef<[u8]>, I: IntoIterator<Item = V>>(
        self,
        name: &'static str,
        _: impl FnOnce() -> Schema,
        value: impl FnOnce(&'a T) -> I,
    ) -> Self {
        Writing { out: self.out.list(name, value(self.of)), of: self.of }
    }
}

/// Describes the members of every value.
pub struct Describing(Schema);

impl Describing {
    /// An object without members so far.
    pub fn object() -> Describing {
        Describing(object())
    }

    /// The schema.
    pub fn schema(self) -> Schema {
        self.0
    }
}

macro_rules! described {
    ($($kind:ident: $value:ty, $bound:path, $member:ident $(, $null:ident)?;)*) => {
        $(fn $kind<V: $bound>(
            self,
            name: &'static str,
            schema: impl FnOnce() -> Schema,
            _: impl FnOnce(&'a T) -> $value,
        ) -> Self {
            Describing(self.0.$member(name, schema()$(.$null())?))
        })*
    };
}

impl<'a, T: 'a> Members<'a, T> for Describing {
    described! {
        text: V, AsRef<str>, member;
        maybe_text: Option<V>, AsRef<str>, member, or_null;
        plain: V, Display, member;
        maybe_plain: Option<V>, Display, member, or_null;
        optional_plain: Option<V>, Display, optional;
        optional_text: Option<V>, AsRef<str>, optional;
        number: V, Display, member;
        maybe_number: Option<V>, Display, member, or_null;
        json: V, AsRef<[u8]>, member;
        json_or_null: Option<V>, AsRef<[u8]>, member, or_null;
        optional_maybe_plain: Option<Option<V>>, Display, optional, or_null;
    }

    fn boolean(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        _: impl FnOnce(&'a T) -> bool,
    ) -> Self {
        Describing(self.0.member(name, schema()))
    }

    fn list<V: AsRef<[u8]>, I: IntoIterator<Item = V>>(
        self,
        name: &'static str,
        schema: impl FnOnce() -> Schema,
        _: impl FnOnce(&'a T) -> I,
    ) -> Self {
        Describing(self.0.member(name, schema()))
    }
}
