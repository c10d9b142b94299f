//! Lists in pages: opaque cursors and the JSON around the items.
//!
//! A cursor is base64url of version (1 byte), fingerprint of the list (4), position and checksum (2). It carries no secret and no authority:
//! whoever reads the position still reads under the caller's own tenant. The fingerprint ties it to tenant, list and filters, so that
//! it can't silently continue another list; it stays valid across restarts and has the same bytes on every machine.
//! This file must not know what a position means.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Items on a page when the caller does not say.
pub const LIMIT_DEFAULT: usize = 25;
/// The most items on a page.
pub const LIMIT_MAX: usize = 100;

const VERSION: u8 = 1;
const CHECKSUM_LEN: usize = 2;
const FRAME_LEN: usize = 1 + 4 + CHECKSUM_LEN;
/// Longer texts are no cursors of ours.
const TEXT_LEN_MAX: usize = 512;

/// What makes a list this list: tenant and mode, kind, filters; not the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u32);

impl Fingerprint {
    /// The unfiltered list of a kind, `payments`, of a tenant key.
    pub fn of(tenant_key: u64, kind: &str) -> Self {
        let mut hash = Fnv::new();
        hash.part(&tenant_key.to_be_bytes());
        hash.part(kind.as_bytes());
        hash.fingerprint()
    }

    /// The same list under one more filter.
    pub fn filtered(self, name: &str, value: &str) -> Self {
        let mut hash = Fnv::new();
        hash.part(&self.0.to_be_bytes());
        hash.part(name.as_bytes());
        hash.part(value.as_bytes());
        hash.fingerprint()
    }
}

/// Opaque cursors, to and fro.
#[derive(Debug)]
pub struct Cursor;

impl Cursor {
    /// The text for a position in the list.
    pub fn encode(list: Fingerprint, position: &[u8]) -> String {
        let mut bytes = Vec::with_capacity(FRAME_LEN + position.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&list.0.to_be_bytes());
        bytes.extend_from_slice(position);
        bytes.extend_from_slice(&checksum(&bytes));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position, if `text` is a cursor of this very list.
    pub fn decode(text: &str, list: Fingerprint) -> Option<Vec<u8>> {
        if text.len() > TEXT_LEN_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        if bytes.len() < FRAME_LEN {
            return None;
        }
        let (framed, sum) = bytes.split_at(bytes.len() - CHECKSUM_LEN);
        let known = sum == checksum(framed) && framed[0] == VERSION && framed[1..5] == list.0.to_be_bytes();
        known.then(|| framed[5..].to_vec())
    }
}

/// Which page a caller asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Items on it, 1 to 100.
    pub limit: usize,
    /// The position that the page follows; `None` for the first page.
    pub after: Option<Vec<u8>>,
    /// The list.
    pub list: Fingerprint,
}

impl Page {
    /// The cursor that continues after `position`.
    pub fn next(&self, position: &[u8]) -> String {
        Cursor::encode(self.list, position)
    }
}

/// `{"items": [...], "nextCursor": …}` around items that are JSON already.
pub fn page_json<I: AsRef<[u8]>>(items: impl IntoIterator<Item = I>, next: Option<&str>) -> Vec<u8> {
    let mut out = list_start(items);
    out.extend_from_slice(b",\"nextCursor\":");
    match next {
        Some(cursor) => {
            // base64url needs no escapes.
            out.push(b'"');
            out.extend_from_slice(cursor.as_bytes());
            out.push(b'"');
        }
        None => out.extend_from_slice(b"null"),
    }
    out.push(b'}');
    out
}

/// `{"items": [...]}`, for the short lists without pages.
pub fn list_json<I: AsRef<[u8]>>(items: impl IntoIterator<Item = I>) -> Vec<u8> {
    let mut out = list_start(items);
    out.push(b'}');
    out
}

fn list_start<I: AsRef<[u8]>>(items: impl IntoIterator<Item = I>) -> Vec<u8> {
    let items = items.into_iter();
    let mut out = Vec::with_capacity(32 + 512 * items.size_hint().0);
    out.extend_from_slice(b"{\"items\":[");
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item.as_ref());
    }
    out.push(b']');
    out
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_LEN] {
    let mut hash = Fnv::new();
    hash.part(bytes);
    let folded = hash.fingerprint().0;
    [(folded >> 8) as u8 ^ (folded >> 24) as u8, folded as u8 ^ (folded >> 16) as u8]
}

/// FNV-1a of 64 bits: fixed for ever, unlike the standard library's hasher.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes and their number, so that parts can't flow into each other.
    fn part(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&(bytes.len() as u64).to_be_bytes()) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint((self.0 >> 32) as u32 ^ self.0 as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_to_its_own_list_only() {
        let list = Fingerprint::of(7, "payments").filtered("status", "COMPLETED");
        for position in [&b""[..], b"\x00", b"0123456789abcdef"] {
            let text = Cursor::encode(list, position);
            assert_eq!(Cursor::decode(&text, list).as_deref(), Some(position));
            for other in [
                Fingerprint::of(8, "payments").filtered("status", "COMPLETED"),
                Fingerprint::of(7, "payouts").filtered("status", "COMPLETED"),
                Fingerprint::of(7, "payments").filtered("status", "FAILED"),
                Fingerprint::of(7, "payments"),
            ] {
                assert_eq!(Cursor::decode(&text, other), None);
            }
        }
    }

    #[test]
    fn what_is_no_cursor_is_none() {
        let list = Fingerprint::of(1, "payments");
        let text = Cursor::encode(list, b"position");
        for bad in ["", "@@@", "not-a-cursor", "AAAA", &text[1..], &text[..text.len() - 1], &format!("{text}="), &"A".repeat(600)] {
            assert_eq!(Cursor::decode(bad, list), None, "{bad}");
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            assert_eq!(Cursor::decode(&changed, list), None, "{changed}");
        }
    }

    #[test]
    fn the_format_does_not_change() {
        assert_eq!(Cursor::encode(Fingerprint::of(3, "payments"), b"\x01\x02"), GOLDEN);
        assert!(Cursor::decode(GOLDEN, Fingerprint::of(3, "payments")).is_some());
    }

    const GOLDEN: &str = "AShWuHQBAu9l";

    #[test]
    fn a_page_is_written_around_its_items() {
        assert_eq!(page_json(["{\"a\":1}", "2"], Some("abc")), br#"{"items":[{"a":1},2],"nextCursor":"abc"}"#);
        assert_eq!(page_json(Vec::<Vec<u8>>::new(), None), br#"{"items":[],"nextCursor":null}"#);
        assert_eq!(list_json(["1"]), br#"{"items":[1]}"#);
    }
}
