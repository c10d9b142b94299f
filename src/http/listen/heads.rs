//! Looks at the lines of HTTP/1 heads before they are parsed, and makes those with a bare line feed
//! unreadable.
//!
//! hyper takes a bare line feed for the end of a line, as RFC 9112 allows; a proxy that does not
//! sees other requests in the same bytes, which is what request smuggling rests on. So the first
//! byte at hand of a head with a bare line feed is replaced by a NUL, which no head may have: the
//! answer is a 400 and the end of the connection. The line feeds stay, because hyper parses no head
//! before it has an end. Bodies of a stated length are passed over; behind a chunked one this looks
//! again when the connection has rested.

/// Characters of a line that are kept: enough for the names and values that are looked for.
const LINE_KEPT: usize = 48;

/// The part of the byte stream that is read next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A head, so many lines of which are over.
    Head(u32),
    /// The rest of a body, in bytes.
    Body(u64),
    /// An unknown part: a chunked body, or a head that was made unreadable.
    Unknown,
    /// HTTP/2 frames, which are not looked at.
    Frames,
}

/// The heads of one connection.
pub struct Heads {
    state: State,
    line: [u8; LINE_KEPT],
    /// Bytes of the line so far, also beyond those that are kept.
    line_len: usize,
    last: u8,
    body_bytes: u64,
    is_chunked: bool,
}

impl Heads {
    /// The heads of a new connection.
    pub fn new() -> Heads {
        Heads {
            state: State::Head(0),
            line: [0; LINE_KEPT],
            line_len: 0,
            last: 0,
            body_bytes: 0,
            is_chunked: false,
        }
    }

    /// A request begins after a rest.
    pub fn begin(&mut self) {
        if self.state == State::Unknown {
            *self = Heads::new();
        }
    }

    /// Looks at what came in.
    pub fn look(&mut self, bytes: &mut [u8]) {
        // `head` is the offset in these bytes at which the head begins, or goes on.
        let (mut at, mut head) = (0, 0);
        while at < bytes.len() {
            match self.state {
                State::Head(lines) => {
                    if lines == 0 && self.line_len == 0 {
                        head = at;
                    }
                    let rest = &bytes[at..];
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    self.keep(&rest[..end.unwrap_or(rest.len())]);
                    let Some(end) = end else { return };
                    if self.last != b'\r' {
                        bytes[head] = 0;
                        self.state = State::Unknown;
                        return;
                    }
                    self.end_line(lines);
                    at += end + 1;
                }
                State::Body(left) => {
                    let passed = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len() - at);
                    at += passed;
                    self.state = match left - passed as u64 {
                        0 => State::Head(0),
                        left => State::Body(left),
                    };
                }
                State::Unknown | State::Frames => return,
            }
        }
    }

    /// Takes a part of a line.
    fn keep(&mut self, part: &[u8]) {
        let Some(last) = part.last() else { return };
        self.last = *last;
        if let Some(room) = self.line.get_mut(self.line_len..) {
            let kept = room.len().min(part.len());
            room[..kept].copy_from_slice(&part[..kept]);
        }
        self.line_len = self.line_len.saturating_add(part.len());
    }

    fn end_line(&mut self, lines: u32) {
        let line = &self.line[..self.line_len.min(LINE_KEPT)];
        self.state = match (line, lines) {
            // Empty lines before a request are allowed.
            (b"\r", 0) => State::Head(0),
            (b"\r", _) if self.is_chunked => State::Unknown,
            (b"\r", _) => match std::mem::take(&mut self.body_bytes) {
                0 => State::Head(0),
                length => State::Body(length),
            },
            (line, 0) if line.starts_with(b"PRI * HTTP/2") => State::Frames,
            (line, _) => {
                if let Some(value) = value_of(line, b"content-length:") {
                    self.body_bytes = std::str::from_utf8(value)
                        .ok()
                        .and_then(|text| text.trim().parse().ok())
                        .unwrap_or(0);
                } else if value_of(line, b"transfer-encoding:").is_some() {
                    self.is_chunked = true;
                }
                State::Head(lines.saturating_add(1))
            }
        };
        (self.line_len, self.last) = (0, 0);
    }
}

/// The heads of a new connection.
impl Default for Heads {
    fn default() -> Self {
        Heads::new()
    }
}

fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    line.split_at_checked(name.len())
        .filter(|(start, _)| start.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes a text through in parts of this size, and returns what is left of it.
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
        ] {
            assert_eq!(seen(text, 1_000), after);
            for part in [1, 2, 3, 7] {
                assert_eq!(seen(text, part).matches('\0').count(), 1, "in parts of {part}");
            }
        }
    }

    #[test]
    fn after_a_rest_it_looks_again() {
        let mut heads = Heads::new();
        let chunked = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
        heads.look(&mut chunked.as_bytes().to_vec());
        heads.begin();
        let mut next = b"GET /\nx".to_vec();
        heads.look(&mut next);
        assert_eq!(next, b"\0ET /\nx");
    }
}
