//! The body of a form: pairs of names and texts, or parts with a file among them.

use crate::http::body::{self, Inbound};
use crate::pages::form::Form;
use api::problem::Problem;
use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use multer::{Constraints, Multipart, SizeLimit};

const PARTS_MAX: usize = 20;

pub struct Sent {
    pub form: Form,
    pub file: Option<Bytes>,
}

/// 413 if the form is longer than `bytes_max`, 415 if it is none.
pub async fn read(inbound: &mut Inbound, headers: &HeaderMap, bytes_max: usize) -> Result<Sent, Problem> {
    inbound.cap(bytes_max);
    body::is_plain(headers)?;
    let body = inbound.bytes().await?;
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = content_type.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case("application/x-www-form-urlencoded") || body.is_empty() {
        return Ok(Sent { form: Form::read(&body), file: None });
    }
    let boundary = multer::parse_boundary(content_type).map_err(|_| unsupported())?;
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

fn unsupported() -> Problem {
    Problem::refused(415, "unsupported_media_type", "send the body as a form")
}

fn broken(_: multer::Error) -> Problem {
    Problem::invalid_field("body", "is no form that can be read")
}
