//! What a form sent: pairs of names and texts, percent-encoded, or parts with a file among them.

use crate::http::body::{self, Inbound};
use api::problem::Problem;
use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use multer::{Constraints, Multipart, SizeLimit};
use serde_json::Value;
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

    pub fn query(query: Option<&str>) -> Form {
        Form::parse(query.unwrap_or_default())
    }

    pub fn of(members: Vec<(String, String)>) -> Form {
        let members = members.into_iter().take(MEMBERS_MAX);
        Form(members.map(|(name, value)| (name, Zeroizing::new(value))).collect())
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

    pub fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|text| !text.is_empty())
    }

    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// All members, for a form that sends them once more.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.trim()))
    }

    pub fn members(&self, names: &[&str]) -> Value {
        names.iter().map(|name| ((*name).to_owned(), Value::from(self.text(name)))).collect()
    }

    pub fn filled_members(&self, names: &[&str]) -> Value {
        names.iter().filter_map(|name| Some(((*name).to_owned(), Value::from(self.filled(name)?)))).collect()
    }
}

const PARTS_MAX: usize = 20;

pub struct Sent {
    pub form: Form,
    pub file: Option<Bytes>,
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Without a file.
pub fn is_form(headers: &HeaderMap) -> bool {
    let media = content_type(headers).split(';').next().unwrap_or_default();
    media.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// 413 if the form is longer than `bytes_max`, 415 if it is none.
pub async fn read(inbound: &mut Inbound, headers: &HeaderMap, bytes_max: usize) -> Result<Sent, Problem> {
    inbound.cap(bytes_max);
    body::is_plain(headers)?;
    let body = inbound.bytes().await?;
    let content_type = content_type(headers);
    if is_form(headers) || body.is_empty() {
        return Ok(Sent { form: Form::read(&body), file: None });
    }
    let unsupported = |_| Problem::refused(415, "unsupported_media_type", "send the body as a form");
    let boundary = multer::parse_boundary(content_type).map_err(unsupported)?;
    parts(body, boundary, bytes_max).await
}

async fn parts(body: Bytes, boundary: String, bytes_max: usize) -> Result<Sent, Problem> {
    let limit = SizeLimit::new().per_field(bytes_max as u64);
    let constraints = Constraints::new().size_limit(limit);
    let mut parts = Multipart::with_reader_with_constraints(&body[..], boundary, constraints);
    let (mut texts, mut file) = (Vec::new(), None);
    while let Some(part) = parts.next_field().await.map_err(broken)? {
        if texts.len() >= PARTS_MAX {
            return Err(Problem::invalid_field("body", "has too many parts"));
        }
        let name = part.name().unwrap_or_default().to_owned();
        if part.file_name().is_some() {
            file = Some(part.bytes().await.map_err(broken)?);
            continue;
        }
        let bytes = part.bytes().await.map_err(broken)?;
        let text =
            String::from_utf8(bytes.into()).map_err(|_| Problem::invalid_field("body", "must be UTF-8"))?;
        texts.push((name, text));
    }
    Ok(Sent { form: Form::of(texts), file })
}

fn broken(_: multer::Error) -> Problem {
    Problem::invalid_field("body", "is no form that can be read")
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
