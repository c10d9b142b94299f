//! Writes JSON objects straight into bytes: members in the order of the code, amounts as the exact
//! text of their decimals, no tree in between.

use std::fmt::Display;
use std::io::Write as _;

/// `NAME: MEMBER OF, TYPE;`: members that are null where there is no value.
macro_rules! or_null {
    ($($name:ident: $kind:ident, $type:ty;)*) => {
        impl Object {
            $(pub fn $name(self, name: &str, value: Option<$type>) -> Self {
                match value {
                    Some(value) => self.$kind(name, value),
                    None => self.number(name, "null"),
                }
            })*
        }
    };
}

or_null! {
    maybe_text: text, impl AsRef<str>;
    maybe_plain: plain, impl Display;
    maybe_number: number, impl Display;
    json_or_null: json, impl AsRef<[u8]>;
}

pub struct Object {
    out: Vec<u8>,
}

impl Object {
    pub fn new() -> Object {
        Object::with_capacity(512)
    }

    pub fn with_capacity(bytes: usize) -> Object {
        let mut out = Vec::with_capacity(bytes);
        out.push(b'{');
        Object { out }
    }

    /// Opens an object again that was ended, to add members.
    pub fn reopened(mut ended: Vec<u8>) -> Object {
        ended.pop();
        Object { out: ended }
    }

    fn name(&mut self, name: &str) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    /// A member that is text from outside, escaped.
    pub fn text(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.name(name);
        // serde_json knows the escapes; writing to memory does not fail.
        let _ = serde_json::to_writer(&mut self.out, value.as_ref());
        self
    }

    /// A member that is text which needs no escapes, such as an id, an amount or an instant.
    pub fn plain(mut self, name: &str, value: impl Display) -> Self {
        self.name(name);
        self.out.push(b'"');
        let _ = write!(self.out, "{value}");
        self.out.push(b'"');
        self
    }

    /// A number, from the exact text of its decimals.
    pub fn number(mut self, name: &str, value: impl Display) -> Self {
        self.name(name);
        let _ = write!(self.out, "{value}");
        self
    }

    pub fn boolean(self, name: &str, value: bool) -> Self {
        self.number(name, value)
    }

    pub fn null(self, name: &str) -> Self {
        self.number(name, "null")
    }

    /// A member that is JSON already.
    pub fn json(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.name(name);
        self.out.extend_from_slice(value.as_ref());
        self
    }

    pub fn list<I: AsRef<[u8]>>(mut self, name: &str, items: impl IntoIterator<Item = I>) -> Self {
        self.name(name);
        self.out.push(b'[');
        for (n, item) in items.into_iter().enumerate() {
            if n > 0 {
                self.out.push(b',');
            }
            self.out.extend_from_slice(item.as_ref());
        }
        self.out.push(b']');
        self
    }

    pub fn end(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }
}

impl Default for Object {
    fn default() -> Self {
        Object::new()
    }
}

pub fn text(value: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len() + 2);
    let _ = serde_json::to_writer(&mut out, value);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_in_order_with_escapes_only_where_they_are_needed() {
        let json = Object::new()
            .text("a\u{e9}", "\"\\\n\u{1}ñ")
            .plain("b", 12)
            .number("c", "10.50")
            .maybe_text("d", None::<&str>)
            .list("e", [b"1".as_slice(), b"2"])
            .boolean("f", true)
            .end();
        let read: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        assert_eq!(read["a\u{e9}"], "\"\\\n\u{1}ñ");
        assert_eq!(
            (read["b"].as_str(), read["d"].is_null(), read["e"][1].as_i64(), read["f"].as_bool()),
            (Some("12"), true, Some(2), Some(true))
        );
        assert!(String::from_utf8_lossy(&json).contains("\"c\":10.50,"));
        assert_eq!(Object::new().end(), b"{}");
        assert_eq!(Object::reopened(Object::new().end()).number("a", 1).end(), br#"{"a":1}"#);
        assert_eq!(Object::reopened(br#"{"a":1}"#.to_vec()).null("b").end(), br#"{"a":1,"b":null}"#);
    }
}
