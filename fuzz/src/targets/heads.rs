//! The bytes of a connection before hyper parses them: the first byte of an input says in what
//! parts, the rest is the stream.
//!
//! However it is divided, as much is changed; nothing is changed but the first byte of a head, to
//! one that no head may have; and no head that hyper's parser takes has a bare line feed.

use crate::bytes::Bytes;
use pasarela::http::listen::heads::Heads;

pub fn run(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let part = 1 + usize::from(bytes.byte());
    let stream = bytes.rest();
    let (whole, divided) = (looked(stream, stream.len().max(1)), looked(stream, part));
    if !stream.contains(&0) {
        assert_eq!(changes(stream, &whole).len(), changes(stream, &divided).len());
    }
    for after in [&whole, &divided] {
        let changes = changes(stream, after);
        assert!(changes.len() <= 1 && changes.iter().all(|at| after[*at] == 0), "it changed {changes:?}");
        assert_heads_are_sound(after);
    }
}

fn looked(stream: &[u8], part: usize) -> Vec<u8> {
    let mut heads = Heads::default();
    let mut bytes = stream.to_vec();
    bytes.chunks_mut(part).for_each(|part| heads.look(part));
    bytes
}

fn changes(before: &[u8], after: &[u8]) -> Vec<usize> {
    assert_eq!(before.len(), after.len());
    (0..before.len()).filter(|at| before[*at] != after[*at]).collect()
}

/// Goes through the requests as hyper does, as long as it can be said where the next one begins.
fn assert_heads_are_sound(stream: &[u8]) {
    let mut rest = stream;
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 100];
        let mut request = httparse::Request::new(&mut headers);
        let Ok(httparse::Status::Complete(length)) = request.parse(rest) else { return };
        let head = &rest[..length];
        let bare = (0..length).find(|at| head[*at] == b'\n' && (*at == 0 || head[*at - 1] != b'\r'));
        assert_eq!(bare, None, "a head has a bare line feed: {:?}", String::from_utf8_lossy(head));
        let Some(body) = body_bytes(&request) else { return };
        let Some(next) = rest.get(length..).and_then(|rest| rest.get(body..)) else { return };
        rest = next;
    }
}

/// The length of a body as hyper reads it; `None` where it refuses the request, or the body is
/// chunked.
fn body_bytes(request: &httparse::Request<'_, '_>) -> Option<usize> {
    let mut found = None;
    for header in request.headers.iter() {
        if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return None;
        }
        if header.name.eq_ignore_ascii_case("content-length") {
            let value = header.value;
            let is_plain = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
            let length: u64 = std::str::from_utf8(value).ok()?.parse().ok().filter(|_| is_plain)?;
            if found.replace(length).is_some_and(|before| before != length) {
                return None;
            }
        }
    }
    usize::try_from(found.unwrap_or(0)).ok()
}
