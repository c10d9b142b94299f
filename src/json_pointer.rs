//! A pointer to a price in a JSON answer: a JSON pointer (RFC 6901), in which `*` stands for every
//! element of a list, so that several offers are found at once.
//!
//! The value that is found is its very text: a price never becomes a float on its way.

use serde_json::value::RawValue;
use std::collections::HashMap;

const FOUND_MAX: usize = 10_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointer {
    tokens: Vec<String>,
}

impl Pointer {
    pub fn parse(text: &str) -> Result<Pointer, &'static str> {
        const EXPECTED: &str = "must be a JSON pointer such as /data/price or /data/*/price";
        let rest = text.strip_prefix('/').ok_or(EXPECTED)?;
        let token = |token: &str| {
            let escapes_well = token.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
            escapes_well.then(|| token.replace("~1", "/").replace("~0", "~")).ok_or(EXPECTED)
        };
        Ok(Pointer { tokens: rest.split('/').map(token).collect::<Result<_, _>>()? })
    }

    /// The texts of the values there; none if nothing is there. The error goes on after "the answer".
    pub fn find<'a>(&self, json: &'a str) -> Result<Vec<&'a str>, String> {
        let not_json = |error: serde_json::Error| format!("is no JSON: {error}");
        let whole: &RawValue = serde_json::from_str(json).map_err(not_json)?;
        let mut found = vec![whole.get()];
        for token in &self.tokens {
            let mut next = Vec::new();
            for text in found {
                step(text, token, &mut next).map_err(not_json)?;
            }
            if next.len() > FOUND_MAX {
                return Err(format!("has more than {FOUND_MAX} values there"));
            }
            found = next;
        }
        Ok(found)
    }
}

fn step<'a>(text: &'a str, token: &str, into: &mut Vec<&'a str>) -> Result<(), serde_json::Error> {
    match text.as_bytes().first() {
        Some(b'{') => {
            let members: HashMap<String, &'a RawValue> = serde_json::from_str(text)?;
            into.extend(members.get(token).map(|value| value.get()));
        }
        Some(b'[') => {
            let elements: Vec<&'a RawValue> = serde_json::from_str(text)?;
            if token == "*" {
                into.extend(elements.iter().map(|value| value.get()));
            } else if let Ok(index) = token.parse::<usize>() {
                into.extend(elements.get(index).map(|value| value.get()));
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_as_they_were_written() {
        let json = concat!(
            r#" {"data":[{"adv":{"price":"245.10"}},{"adv":{"price":246.00}},{"other":1}],"#,
            r#""a/b":{"~":[1,[2.50]]},"":7} "#,
        );
        for (pointer, found) in [
            ("/data/0/adv/price", &["\"245.10\""][..]),
            ("/data/*/adv/price", &["\"245.10\"", "246.00"]),
            ("/a~1b/~0/1/0", &["2.50"]),
            ("/", &["7"]),
            ("/data/3/adv", &[]),
            ("/data/x", &[]),
            ("/data/0/adv/price/deeper", &[]),
            ("/none", &[]),
        ] {
            let there = Pointer::parse(pointer).expect(pointer).find(json).expect("JSON");
            assert_eq!(there, found, "{pointer}");
        }
        for json in ["", "<html>", "{\"data\":", "{} {}"] {
            assert!(Pointer::parse("/data").expect("a pointer").find(json).is_err(), "{json}");
        }
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        for text in ["", "data", "/~", "/a~2b"] {
            assert!(Pointer::parse(text).is_err(), "{text}");
        }
    }
}
