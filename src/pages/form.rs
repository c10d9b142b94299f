//! What a form sent: pairs of names and texts, percent-encoded, with plus signs for spaces.

use zeroize::Zeroizing;

/// One form has a box for each event.
const MEMBERS_MAX: usize = 64;

/// One of them may be a code, so their memory is zeroed.
pub struct Form(Vec<(String, Zeroizing<String>)>);

impl Form {
    /// A body that is not UTF-8 has no members.
    pub fn read(body: &[u8]) -> Form {
        Form::parse(std::str::from_utf8(body).unwrap_or_default())
    }

    /// What stands after a question mark.
    pub fn query(query: Option<&str>) -> Form {
        Form::parse(query.unwrap_or_default())
    }

    pub fn of(members: Vec<(String, String)>) -> Form {
        let members = members.into_iter().take(MEMBERS_MAX);
        Form(members.map(|(name, value)| (name, Zeroizing::new(value))).collect())
    }

    pub fn with(&self, name: &str, value: &str) -> Form {
        let others = self.0.iter().filter(|(known, _)| known != name).cloned();
        let set = (name.to_owned(), Zeroizing::new(value.to_owned()));
        Form(others.chain([set]).collect())
    }

    fn parse(text: &str) -> Form {
        let pairs = url::form_urlencoded::parse(text.as_bytes()).take(MEMBERS_MAX);
        Form(pairs.map(|(name, value)| (name.into_owned(), Zeroizing::new(value.into_owned()))).collect())
    }

    /// Without white space around it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.trim())
    }

    /// Somebody wrote something into it.
    pub fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|text| !text.is_empty())
    }

    /// Empty when it is missing.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_and_a_broken_escape_stays_as_it_is() {
        let form = Form::read(b"a=1+2&b=%C3%B1&c&bad=%zz&a=second");
        assert_eq!(
            (form.get("a"), form.get("b"), form.get("c"), form.get("bad"), form.text("d")),
            (Some("1 2"), Some("ñ"), Some(""), Some("%zz"), "")
        );
        assert_eq!(Form::read(b"\xff\xfe").get("a"), None);
        assert_eq!(Form::query(None).get("a"), None);
    }
}
