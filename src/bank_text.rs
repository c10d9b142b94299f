//! JSON as banks, processors, feeds and nodes write it, which is not always as RFC 8259 has it: in
//! Latin-1, behind a byte-order mark, with raw line ends in texts, with references that begin with zeros
//! and no quotes. What can be understood in one way alone is read; nothing else is guessed.
//!
//! A member that is there twice with different values is null: nobody can tell which of them counts.
//! What a member means must not be known here.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;

const DEPTH_MAX: usize = 64;
/// The text that bytes are: UTF-8, or UTF-16 if a byte-order mark says so; else Windows-1252, of which
/// Latin-1 is the part that people write.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or((UTF_8, 0));
    match str::from_utf8(&bytes[mark..]) {
        Ok(text) if encoding == UTF_8 => Cow::Borrowed(text),
        Err(_) if encoding == UTF_8 => WINDOWS_1252.decode_without_bom_handling(&bytes[mark..]).0,
        // A line end of one byte after it is none of UTF-16.
        _ => encoding.decode_without_bom_handling(&bytes[mark..bytes.len() & !1]).0,
    }
}

pub fn json(bytes: &[u8]) -> Option<Value> {
    let text = decoded(bytes);
    let mut rest = Rest(&text);
    let value = rest.value(0)?;
    rest.space();
    rest.0.is_empty().then_some(value)
}

struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn space(&mut self) {
        self.0 = self.0.trim_start_matches(|character: char| character == ' ' || character.is_control());
    }

    /// Whether this comes next, after space; it is read then.
    fn comes(&mut self, expected: &str) -> bool {
        self.space();
        let rest = self.0.strip_prefix(expected);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEPTH_MAX {
            return None;
        }
        self.space();
        match self.0.as_bytes().first()? {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => self.text().map(Value::String),
            b'-' | b'0'..=b'9' => Some(self.number()),
            _ if self.comes("true") => Some(Value::Bool(true)),
            _ if self.comes("false") => Some(Value::Bool(false)),
            _ => self.comes("null").then_some(Value::Null),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        self.parts("{", "}", |rest| {
            rest.space();
            let name = rest.text()?;
            if !rest.comes(":") {
                return None;
            }
            let value = rest.value(depth + 1)?;
            match members.get_mut(&name) {
                Some(before) if *before != value => *before = Value::Null,
                Some(_) => {}
                None => drop(members.insert(name, value)),
            }
            Some(())
        })?;
        Some(Value::Object(members))
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let mut values = Vec::new();
        self.parts("[", "]", |rest| {
            values.push(rest.value(depth + 1)?);
            Some(())
        })?;
        Some(Value::Array(values))
    }

    /// What stands between two brackets, divided by commas.
    fn parts(
        &mut self,
        open: &str,
        close: &str,
        mut part: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.comes(open);
        if self.comes(close) {
            return Some(());
        }
        loop {
            part(self)?;
            if self.comes(close) {
                return Some(());
            }
            if !self.comes(",") {
                return None;
            }
        }
    }

    fn number(&mut self) -> Value {
        let is_part = |character: char| character.is_ascii_digit() || "+-.eE".contains(character);
        let end = self.0.find(|character| !is_part(character)).unwrap_or(self.0.len());
        let (written, rest) = self.0.split_at(end);
        self.0 = rest;
        match serde_json::from_str::<Number>(written) {
            Ok(number) => Value::Number(number),
            Err(_) => Value::String(written.to_owned()),
        }
    }

    /// A text, with the control characters that stand in it; a backslash before what it does not
    /// belong to is one.
    fn text(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut rest = self.0.strip_prefix('"')?;
        loop {
            let end = rest.find(['"', '\\'])?;
            text.push_str(&rest[..end]);
            let after = &rest[end + 1..];
            if rest.as_bytes()[end] == b'"' {
                self.0 = after;
                return Some(text);
            }
            let escaped = after.chars().next()?;
            rest = &after[escaped.len_utf8()..];
            let character = match escaped {
                '"' | '\\' | '/' => escaped,
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' if unit(rest).is_some() => {
                    let first = unit(rest)?;
                    rest = &rest[4..];
                    let second = rest.strip_prefix("\\u").and_then(unit);
                    let pair = second.map(|second| [first, second]);
                    let both = pair.and_then(|pair| char::decode_utf16(pair).next()?.ok());
                    match (both, u32::from(first)) {
                        (Some(both), 0xD800..=0xDBFF) => {
                            rest = &rest[6..];
                            both
                        }
                        // Half of a pair is no character.
                        (_, one) => char::from_u32(one).unwrap_or(char::REPLACEMENT_CHARACTER),
                    }
                }
                other => {
                    text.push('\\');
                    other
                }
            };
            text.push(character);
        }
    }
}

fn unit(text: &str) -> Option<u16> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json as value;

    #[test]
    fn what_banks_write() {
        for (bytes, read) in [
            (
                &b"{\"code\":\"15\",\"message\":\"Llave err\xF3nea\"}"[..],
                value!({"code": "15", "message": "Llave errónea"}),
            ),
            ("{\"message\":\"Llave errónea\"}".as_bytes(), value!({"message": "Llave errónea"})),
            (b"\xEF\xBB\xBF{\"code\":\"00\"}", value!({"code": "00"})),
            (b"\xFF\xFE{\0\"\0a\0\"\0:\x001\0}\0", value!({"a": 1})),
            (b"\xFE\xFF\0{\0\"\0a\0\"\0:\x001\0}", value!({"a": 1})),
            (b"{\"m\":\"uno\r\ndos\ttres\0\"}", value!({"m": "uno\r\ndos\ttres\0"})),
            (b"\0\r\n{ \"a\" :\x0b[ true ,null, false,[]]\n}\0", value!({"a": [true, null, false, []]})),
            (b"{\"reference\":00123456,\"code\":00}", value!({"reference": "00123456", "code": "00"})),
            (
                br#"{"m":"C:\Users\u12","n":"\ud83d","o":"\ud83d\ude00","p":"\ud83d\u0041","q":"\""}"#,
                value!({"m": "C:\\Users\\u12", "n": "\u{fffd}", "o": "😀", "p": "\u{fffd}A", "q": "\""}),
            ),
            (b"{\"precio\":\"\x80 5\",\"otro\":\"\x81\"}", value!({"precio": "€ 5", "otro": "\u{81}"})),
            // Nobody can tell which of two values counts.
            (br#"{"code":"00","code":"51","id":1}"#, value!({"code": null, "id": 1})),
            (br#"{"code":"00","code":"51","code":"00"}"#, value!({"code": null})),
            (br#"{"code":"00","code":"00"}"#, value!({"code": "00"})),
            (br#"{"a":{"b":[1],"b":[2]}}"#, value!({"a": {"b": null}})),
        ] {
            assert_eq!(json(bytes), Some(read), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn what_is_no_json() {
        for text in [
            "",
            " ",
            "<html>",
            "{",
            "{\"code\":\"00\"",
            "{\"code\":\"00\",",
            "{\"code\":\"00\",}",
            "{\"a\" 1}",
            "[1,]",
            "[1",
            "{} {}",
            "{\"code\":\"00\"}x",
            "\"open",
            "\"\\",
            "{code:1}",
            "nul",
            "'a'",
        ] {
            assert_eq!(json(text.as_bytes()), None, "{text}");
        }
        assert_eq!(json("[".repeat(1_000).as_bytes()), None, "too deep");
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\",:\\\\u0-9a-f\n ]{0,60}") {
            let _ = (json(&bytes), json(text.as_bytes()));
        }

        #[test]
        fn json_is_read_as_it_is(name in any::<String>(), texts in prop::collection::vec(any::<String>(), 0..5),
            number in any::<f64>().prop_filter("finite", |number| number.is_finite()), whole in any::<i64>()) {
            let written = value!({"list": texts, "number": number, "deep": {name: [whole, null, true]}});
            prop_assert_eq!(json(written.to_string().as_bytes()), Some(written.clone()));
            prop_assert_eq!(json(format!("{written:#}").as_bytes()), Some(written));
        }
    }
}
