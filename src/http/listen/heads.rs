//! Looks at the lines of HTTP/1 heads before they are parsed, and makes those with a bare line feed
//! unreadable. hyper takes a bare line feed for the end of a line, as RFC 9112 allows; a proxy that
//! does not sees other requests in the same bytes, which is what request smuggling rests on. So the
//! first byte at hand of such a head is replaced by a NUL, which no head may have: the answer is a
//! 400 and the end of the connection. The line feeds stay, because hyper parses no head before it
//! has an end. Bodies are passed over, of a stated length and chunked ones, however their length is
//! padded: a byte of a body is never touched.

use std::mem;

/// Enough for the names that are looked for.
const LINE_KEPT: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So many lines of which are over.
    Head(u32),
    /// In bytes.
    Body(u64),
    ChunkLength,
    /// The rest in bytes, with the end of its line.
    Chunk(u64),
    Trailers,
    /// Refused when it is parsed: nothing behind it is answered.
    Refused,
    /// Not looked at.
    Frames,
}

#[derive(Clone, Copy, Debug, Default)]
struct Number {
    value: Option<u64>,
    is_over: bool,
}

impl Number {
    /// What are no digits changes nothing.
    fn take(&mut self, byte: u8, radix: u32) {
        let digit = char::from(byte).to_digit(radix);
        match digit.filter(|_| !self.is_over) {
            // One that is too large is refused when it is parsed.
            Some(digit) => {
                let value = self.value.unwrap_or(0).checked_mul(u64::from(radix));
                self.value = value.and_then(|value| value.checked_add(u64::from(digit))).or(Some(u64::MAX));
            }
            None => self.is_over = self.value.is_some(),
        }
    }
}

#[derive(Debug)]
pub struct Heads {
    state: State,
    line: [u8; LINE_KEPT],
    /// Also beyond those that are kept.
    line_len: usize,
    last: u8,
    /// The value of a length.
    number: Number,
    body_bytes: u64,
    is_chunked: bool,
}

impl Heads {
    pub fn new() -> Heads {
        Heads {
            state: State::Head(0),
            line: [0; LINE_KEPT],
            line_len: 0,
            last: 0,
            number: Number::default(),
            body_bytes: 0,
            is_chunked: false,
        }
    }

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
                    let end = rest.iter().position(|byte| *byte == b'\n');
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
        part[name..].iter().for_each(|byte| self.number.take(*byte, radix));
    }

    fn end_line(&mut self) {
        let is_empty = self.line_len == 1;
        let value = self.number.value.unwrap_or(0);
        self.state = match self.state {
            // Empty lines before a request are allowed.
            State::Head(0) if is_empty => State::Head(0),
            // The next head says its own.
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
            // With the end of its line.
            State::ChunkLength => State::Chunk(value.saturating_add(2)),
            State::Trailers if is_empty => State::Head(0),
            other => other,
        };
        (self.line_len, self.last, self.number) = (0, 0, Number::default());
    }

    fn has_name(&self, name: &[u8]) -> bool {
        let line = &self.line[..self.line_len.min(LINE_KEPT)];
        line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
    }
}

const CONTENT_LENGTH: &[u8] = b"content-length:";

impl Default for Heads {
    fn default() -> Self {
        Heads::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In parts of this size.
    fn seen(text: &str, part: usize) -> String {
        let mut heads = Heads::new();
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
}
