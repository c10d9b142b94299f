//! Answers that are written to a socket without hyper: to a connection over the limit, and in the
//! place of hyper's own. A head that hyper cannot parse reaches no service: hyper answers a status
//! without a body and ends the connection. The caller is to get the same problem as of any other
//! refusal, so the stream looks for such an answer at the end of what hyper writes first, and
//! writes another one. No answer of the service ends like it: theirs have an `x-request-id` in the
//! head, and bodies of text that end otherwise.

use super::connection::HSTS;
use crate::http::respond::{Reply, RequestId};
use api::problem::Problem;
use hyper::Version;
use hyper::header::{DATE, HeaderValue, STRICT_TRANSPORT_SECURITY};

const OWN_BYTES_MAX: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Own<'a> {
    /// Where it begins; it is the last of the bytes.
    pub at: usize,
    /// Too large, and not unreadable.
    is_too_large: bool,
    date: &'a str,
}

impl<'a> Own<'a> {
    pub(super) fn at_end_of(bytes: &'a [u8]) -> Option<Own<'a>> {
        if !bytes.ends_with(b" GMT\r\n\r\n") {
            return None;
        }
        let from = bytes.len().saturating_sub(OWN_BYTES_MAX);
        let at = from + bytes[from..].windows(7).rposition(|window| window == b"HTTP/1.")?;
        let mut lines = std::str::from_utf8(&bytes[at..]).ok()?.trim_end().split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?;
        let is_too_large = match status {
            "400" => false,
            "414" | "431" => true,
            _ => return None,
        };
        let mut date = None;
        for line in lines {
            match line {
                "connection: close" | "content-length: 0" => {}
                _ => date = Some(line.strip_prefix("date: ")?),
            }
        }
        Some(Own { at, is_too_large, date: date? })
    }

    pub(super) fn replaced(self, is_secure: bool) -> Vec<u8> {
        let problem = if self.is_too_large {
            Problem::head_too_large()
        } else {
            Problem::invalid_field(
                "head",
                "must be a request line and headers as HTTP/1.1 has them, with at most one Content-Length, a \
                 whole number",
            )
        };
        answer(&problem, Some(self.date), is_secure)
    }
}

/// In HTTP/1.1, head and body, after which the connection ends.
pub(super) fn answer(problem: &Problem, date: Option<&str>, is_secure: bool) -> Vec<u8> {
    let request_id = RequestId::generate();
    let mut reply = Reply::problem(problem, &request_id).close();
    if is_secure {
        reply = reply.header(STRICT_TRANSPORT_SECURITY, HSTS);
    }
    if let Some(date) = date.and_then(|date| HeaderValue::from_str(date).ok()) {
        reply = reply.header(DATE, date);
    }
    let body = reply.body().clone();
    let response = reply.into_response(&request_id, Version::HTTP_11);
    let mut bytes =
        format!("HTTP/1.1 {}\r\ncontent-length: {}\r\n", response.status(), body.len()).into_bytes();
    for (name, value) in response.headers() {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            bytes.extend_from_slice(part);
        }
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&body);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE_LINE: &str = "date: Wed, 25 Nov 2026 21:30:00 GMT\r\n";

    fn found(text: &str) -> Option<(usize, bool)> {
        Own::at_end_of(text.as_bytes()).map(|own| (own.at, own.is_too_large))
    }

    #[test]
    fn hypers_own_answers_are_found_alone_and_behind_others() {
        let before = "HTTP/1.1 204 No Content\r\nx-request-id: a\r\n\r\n";
        for (status, is_too_large) in [
            ("400 Bad Request", false),
            ("414 URI Too Long", true),
            ("431 Request Header Fields Too Large", true),
        ] {
            for rest in [
                "connection: close\r\ncontent-length: 0\r\n",
                "content-length: 0\r\n",
                "connection: close\r\n",
            ] {
                for version in ["1.0", "1.1"] {
                    let own = format!("HTTP/{version} {status}\r\n{rest}{DATE_LINE}\r\n");
                    assert_eq!(found(&own), Some((0, is_too_large)), "{own}");
                    assert_eq!(found(&format!("{before}{own}")), Some((before.len(), is_too_large)), "{own}");
                }
            }
        }
    }

    #[test]
    fn answers_of_the_service_are_none_of_hypers() {
        for text in [
            String::new(),
            format!("HTTP/1.1 400 Bad Request\r\nx-request-id: a\r\ncontent-length: 0\r\n{DATE_LINE}\r\n"),
            format!("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n{DATE_LINE}\r\n"),
            format!("HTTP/1.1 400 Bad Request\r\ncontent-length: 7\r\n{DATE_LINE}\r\n"),
            format!("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n{DATE_LINE}\r\n{{}}"),
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".to_owned(),
            format!("text\r\n{DATE_LINE}\r\n"),
        ] {
            assert_eq!(found(&text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_instead_keeps_the_date_and_ends_the_connection() {
        let own = format!("HTTP/1.1 431 x\r\n{DATE_LINE}\r\n");
        let own = Own::at_end_of(own.as_bytes()).expect("hyper's");
        for is_secure in [true, false] {
            let written = String::from_utf8(own.replaced(is_secure)).expect("text");
            let (head, body) = written.split_once("\r\n\r\n").expect("a head");
            assert!(head.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"), "{head}");
            assert!(
                format!("{head}\r\n").contains(DATE_LINE) && head.contains("\r\nconnection: close"),
                "{head}"
            );
            assert!(head.contains(&format!("\r\ncontent-length: {}", body.len())), "{head}");
            assert_eq!(head.contains("strict-transport-security"), is_secure);
            assert!(body.contains("head_too_large"), "{body}");
        }
    }
}
