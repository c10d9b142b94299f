//! Reads what a form sent: pairs of names and texts, percent-encoded, with plus signs for spaces.

use crate::api::query::percent_decode;
use zeroize::Zeroizing;

/// More members than this are no form of ours.
const MEMBERS_MAX: usize = 20;

/// The members of a form, or of a query. One of them may be a code, so their memory is zeroed.
pub struct Form(Vec<(String, Zeroizing<String>)>);

impl Form {
    /// Reads a body; what is not well-formed is left out.
    pub fn read(body: &[u8]) -> Form {
        Form::parse(std::str::from_utf8(body).unwrap_or_default())
    }

    /// Reads what stands after a question mark.
    pub fn query(query: Option<&str>) -> Form {
        Form::parse(query.unwrap_or_default())
    }

    fn parse(text: &str) -> Form {
        let decode = |part: &str| percent_decode(&part.replace('+', " ")).map(std::borrow::Cow::into_owned);
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).take(MEMBERS_MAX);
        Form(
            pairs
                .filter_map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    Some((decode(name)?, Zeroizing::new(decode(value)?)))
                })
                .collect(),
        )
    }

    /// A member, without white space around it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim())
    }

    /// The same, empty when it is missing.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_and_the_rest_is_left_out() {
        let form = Form::read(b"a=1+2&b=%C3%B1&c&bad=%zz&a=second");
        assert_eq!((form.get("a"), form.get("b"), form.get("c"), form.get("bad"), form.text("d")), (Some("1 2"), Some("ñ"), Some(""), None, ""));
        assert_eq!(Form::read(b"\xff\xfe").get("a"), None);
        assert_eq!(Form::query(None).get("a"), None);
    }
}
