//! Looks at the lines of HTTP/1 heads before they are parsed, and makes those with a bare line feed
//! unreadable. hyper takes a bare line feed for the end of a line, as RFC 9112 allows; a proxy that
//! does not sees other requests in the same bytes, which is what request smuggling rests on. So the
//! first byte at hand of such a head is replaced by a NUL, which no head may have: the answer is a
//! 400 and the end of the connection. The line feeds stay, because hyper parses no head before it
//! has an end. Bodies are passed over, of a stated length and chunked ones, however their length is
//! padded: a byte of a body is never touched.
//!
//! A head that hyper cannot parse reaches no service: hyper answers a status without a body and ends
//! the connection. The caller is to get the same problem as of any other refusal, so the stream
//! looks for such an answer ([`Own`]) at the end of what hyper writes first, and writes another one.
//! No answer of the service ends like it: theirs have an `x-request-id` in the head, and bodies of
//! text that end otherwise.

use crate::http::respond::{Reply, RequestId};
use api::problem::Problem;
use hyper::Version;
use hyper::header::{DATE, HeaderValue, STRICT_TRANSPORT_SECURITY};
use memchr::{memchr, memmem};
use std::mem;

/// Browsers that came by TLS once come by nothing else for a year.
pub(super) const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

const OWN_BYTES_MAX: usize = 200;
const CONTENT_LENGTH: &[u8] = b"content-length:";

const LINE_KEPT: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head(u32),
    /// In bytes.
    Body(u64),
    ChunkLength,
    /// The rest in bytes, with the end of its line.
    Chunk(u64),
    Trailers,
    /// Refused when it is parsed: nothing behind it is answered.
    Refused,
    Frames,
}

#[derive(Debug)]
pub struct Heads {
    state: State,
    line: [u8; LINE_KEPT],
    line_len: usize,
    last: u8,
    number: Option<u64>,
    number_is_over: bool,
    body_bytes: u64,
    is_chunked: bool,
}

impl Default for Heads {
    fn default() -> Heads {
        Heads {
            state: State::Head(0),
            line: [0; LINE_KEPT],
            line_len: 0,
            last: 0,
            number: None,
            number_is_over: false,
            body_bytes: 0,
            is_chunked: false,
        }
    }
}

impl Heads {
    pub fn look(&mut self, bytes: &mut [u8]) {
        // `head` is the offset in these bytes at which the head begins, or goes on.
        let (mut at, mut head) = (0, 0);
        while at < bytes.len() {
            match self.state {
                State::Head(_) | State::ChunkLength | State::Trailers => {
                    let is_first = matches!(self.state, State::Head(0) | State::ChunkLength);
                    if is_first && self.line_len == 0 {
                        head = at;
                    }
                    let rest = &bytes[at..];
                    let end = memchr(b'\n', rest);
                    self.keep(&rest[..end.unwrap_or(rest.len())]);
                    let Some(end) = end else { return };
                    if self.last != b'\r' {
                        bytes[head] = 0;
                        self.state = State::Refused;
                        return;
                    }
                    self.end_line();
                    at += end + 1;
                }
                State::Body(left) | State::Chunk(left) => {
                    let passed = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len() - at);
                    at += passed;
                    self.state = match (self.state, left - passed as u64) {
                        (State::Chunk(_), 0) => State::ChunkLength,
                        (State::Chunk(_), left) => State::Chunk(left),
                        (_, 0) => State::Head(0),
                        (_, left) => State::Body(left),
                    };
                }
                State::Refused | State::Frames => return,
            }
        }
    }

    fn keep(&mut self, part: &[u8]) {
        let Some(last) = part.last() else { return };
        self.last = *last;
        let before = self.line_len;
        if let Some(room) = self.line.get_mut(before..) {
            let kept = room.len().min(part.len());
            room[..kept].copy_from_slice(&part[..kept]);
        }
        self.line_len = before.saturating_add(part.len());
        let (from, radix) = match self.state {
            State::ChunkLength => (0, 16),
            State::Head(1..) if self.has_name(CONTENT_LENGTH) => (CONTENT_LENGTH.len(), 10),
            _ => return,
        };
        let name = from.saturating_sub(before).min(part.len());
        for byte in &part[name..] {
            match char::from(*byte).to_digit(radix) {
                // One that is too large is refused when it is parsed.
                Some(digit) if !self.number_is_over => {
                    let value = self.number.unwrap_or(0).saturating_mul(u64::from(radix));
                    self.number = Some(value.saturating_add(u64::from(digit)));
                }
                _ => self.number_is_over = self.number.is_some(),
            }
        }
    }

    fn end_line(&mut self) {
        let is_empty = self.line_len == 1;
        let value = self.number.unwrap_or(0);
        self.state = match self.state {
            // Empty lines before a request are allowed.
            State::Head(0) if is_empty => State::Head(0),
            State::Head(_) if is_empty => {
                match (mem::take(&mut self.is_chunked), mem::take(&mut self.body_bytes)) {
                    (true, _) => State::ChunkLength,
                    (false, 0) => State::Head(0),
                    (false, length) => State::Body(length),
                }
            }
            State::Head(0) if self.has_name(b"PRI * HTTP/2") => State::Frames,
            State::Head(lines) => {
                if self.has_name(CONTENT_LENGTH) {
                    self.body_bytes = value;
                } else if self.has_name(b"transfer-encoding:") {
                    self.is_chunked = true;
                }
                State::Head(lines.saturating_add(1))
            }
            State::ChunkLength if value == 0 => State::Trailers,
            State::ChunkLength => State::Chunk(value.saturating_add(2)),
            State::Trailers if is_empty => State::Head(0),
            other => other,
        };
        (self.line_len, self.last, self.number, self.number_is_over) = (0, 0, None, false);
    }

    fn has_name(&self, name: &[u8]) -> bool {
        self.line_len >= name.len() && self.line[..name.len()].eq_ignore_ascii_case(name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Own<'a> {
    /// Where it begins; it is the last of the bytes.
    pub at: usize,
    is_too_large: bool,
    date: &'a str,
}

impl<'a> Own<'a> {
    pub(super) fn at_end_of(bytes: &'a [u8]) -> Option<Own<'a>> {
        if !bytes.ends_with(b" GMT\r\n\r\n") {
            return None;
        }
        let from = bytes.len().saturating_sub(OWN_BYTES_MAX);
        let at = from + memmem::rfind(&bytes[from..], b"HTTP/1.")?;
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

pub(super) fn answer(problem: &Problem, date: Option<&str>, is_secure: bool) -> Vec<u8> {
    let request_id = RequestId::generate();
    let mut reply = Reply::problem(problem, &request_id).close();
    if is_secure {
        reply = reply.header(STRICT_TRANSPORT_SECURITY, HSTS);
    }
    if let Some(date) = date.and_then(|date| HeaderValue::from_str(date).ok()) {
        reply = reply.header(DATE, date);
    }
    let body = reply.body.clone();
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

    /// In parts of this size.
    fn seen(text: &str, part: usize) -> String {
        let mut heads = Heads::default();
        let mut bytes = text.as_bytes().to_vec();
        bytes.chunks_mut(part).for_each(|part| heads.look(part));
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn bare_line_feeds_in_heads_become_unreadable_and_those_in_bodies_stay() {
        let fine = [
            "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\nContent-Length:  6 \r\n\r\na\nb\n\ncGET / HTTP/1.1\r\nhost: \
             x\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\na\nb\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n0A ;x=3\r\n0\n\n\n\n\n\n\n\n\n\r\n\
             00\r\nx: y\r\n\r\nPOST / HTTP/1.1\r\ncontent-length: 1\r\n\r\n\nGET / HTTP/1.1\r\n\r\n",
            "PUT / HTTP/1.1\r\ncontent-length: 9\r\n\r\n123456789GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\n\n\n",
        ];
        for text in fine {
            for part in [1, 2, 3, 7, 1_000] {
                assert_eq!(seen(text, part), text, "in parts of {part}");
            }
        }
        for (text, after) in [
            ("GET / HTTP/1.1\nhost: x\r\n\r\n", "\0ET / HTTP/1.1\nhost: x\r\n\r\n"),
            ("GET / HTTP/1.1\r\nhost: x\n\r\n", "\0ET / HTTP/1.1\r\nhost: x\n\r\n"),
            ("GET / HTTP/1.1\r\nhost: x\r\n\n", "\0ET / HTTP/1.1\r\nhost: x\r\n\n"),
            ("\nGET / HTTP/1.1\r\n\r\n", "\0GET / HTTP/1.1\r\n\r\n"),
            ("\r\nGET / HTTP/1.1\n\r\n", "\r\n\0ET / HTTP/1.1\n\r\n"),
            (
                "GET / HTTP/1.1\r\nhost: x\r\n\r\nPUT / HTTP/1.1\n\n",
                "GET / HTTP/1.1\r\nhost: x\r\n\r\n\0UT / HTTP/1.1\n\n",
            ),
            (
                "PUT / HTTP/1.1\r\ncontent-length: 1\r\n\r\n\nGET /\n",
                "PUT / HTTP/1.1\r\ncontent-length: 1\r\n\r\n\n\0ET /\n",
            ),
            (
                "PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\nGET /\n",
                "PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n\0ET /\n",
            ),
            (
                "PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\nx: y\n\r\n",
                "PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n\n\r\n\0\r\nx: y\n\r\n",
            ),
        ] {
            assert_eq!(seen(text, 1_000), after);
            for part in [1, 2, 3, 7] {
                assert_eq!(seen(text, part).matches('\0').count(), 1, "in parts of {part}");
            }
        }
    }

    #[test]
    fn a_padded_length_is_read_to_its_end() {
        let spaces = " ".repeat(500);
        for length in
            [format!("{spaces}6"), format!("{}6{spaces}", "0".repeat(500)), format!("\t{spaces}6\t")]
        {
            let text = format!(
                "POST / HTTP/1.1\r\nhost: x\r\ncontent-length:{length}\r\n\r\na\nb\n\ncGET / HTTP/1.1\r\n\r\n"
            );
            for part in [1, 2, 3, 7, 1_000, 10_000] {
                assert_eq!(seen(&text, part), text, "in parts of {part}");
            }
        }
    }

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
