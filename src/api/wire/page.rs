//! Lists in pages: opaque cursors and the JSON around the items.
//!
//! A cursor is base64url of version (1 byte), position and tag (16). The tag is a keyed hash of the
//! position, under a key that derives from the server's secret and from what makes the list this
//! list: tenant and mode, kind, filters. So nobody else can make one, none can continue another
//! list, and each is valid across restarts. This file must not know what a position means.

use crate::problem::Problem;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Items on a page when the caller does not say.
pub const LIMIT_DEFAULT: usize = 25;
pub const LIMIT_MAX: usize = 100;

/// The message about a text that is not a cursor of the list.
pub const BAD_CURSOR: &str = "must be a nextCursor of this list with the same filters";

/// The version of the cursor's layout; version 1 had a checksum that anybody could compute.
const VERSION: u8 = 2;
const TAG_LEN: usize = 16;
/// The most characters of a cursor of ours: one over 64 partitions has one of each.
const TEXT_LEN_MAX: usize = 8 << 10;

pub type Mark<'a> = &'a dyn Fn(&[&[u8]]) -> [u8; 16];

/// The key of a list's cursors. It follows from what makes it this list, without the limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ListKey([u8; 16]);

#[derive(Clone, Copy)]
pub struct ListOf<'a> {
    pub mark: Mark<'a>,
    pub tenant_key: u64,
    /// The kind of the list: `payments`.
    pub kind: &'a str,
}

impl ListOf<'_> {
    /// A list that nobody reads, to describe what a list is asked.
    pub const DESCRIBED: ListOf<'static> = ListOf { mark: &|_| [0; 16], tenant_key: 0, kind: "" };

    /// The key of the list under these filters in their order.
    pub fn key(self, filters: &[(&str, &str)]) -> ListKey {
        let tenant_key = self.tenant_key.to_be_bytes();
        let mut parts: Vec<&[u8]> = vec![b"cursor", &tenant_key, self.kind.as_bytes()];
        parts.extend(filters.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]));
        ListKey((self.mark)(&parts))
    }
}

impl ListKey {
    fn seal(self, position: &[u8]) -> String {
        let mut bytes = Vec::with_capacity(1 + position.len() + TAG_LEN);
        bytes.push(VERSION);
        bytes.extend_from_slice(position);
        let tag = self.over(&bytes).finalize().into_bytes();
        bytes.extend_from_slice(&tag[..TAG_LEN]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position, if `text` is a cursor of this very list.
    pub fn open(self, text: &str) -> Option<Vec<u8>> {
        if text.len() > TEXT_LEN_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (framed, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG_LEN)?)?;
        let (version, position) = framed.split_first()?;
        self.over(framed).verify_truncated_left(tag).ok()?;
        (*version == VERSION).then(|| position.to_vec())
    }

    fn over(self, framed: &[u8]) -> Hmac<Sha256> {
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            unreachable!("HMAC takes keys of any length")
        };
        mac.chain_update(framed)
    }
}

/// The key is secret, so it is not shown.
impl std::fmt::Debug for ListKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ListKey")
    }
}

/// 400: what is no cursor of the list.
pub fn bad_cursor() -> Problem {
    Problem::invalid_field("cursor", BAD_CURSOR)
}

/// The page of a list that a caller asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub limit: usize,
    /// The position that the page follows; `None` for the first page.
    pub after: Option<Vec<u8>>,
    pub list: ListKey,
}

impl Page {
    pub fn next(&self, position: &[u8]) -> String {
        self.list.seal(position)
    }

    /// The position that it follows, in a list whose positions are so long.
    pub fn position<const LENGTH: usize>(&self) -> Result<Option<[u8; LENGTH]>, Problem> {
        let read = |bytes: &[u8]| bytes.try_into().map_err(|_| bad_cursor());
        self.after.as_deref().map(read).transpose()
    }
}

/// `{"items": [...], "nextCursor": …}` around items that are JSON already.
pub fn page_json<I: AsRef<[u8]>>(items: impl IntoIterator<Item = I>, next: Option<&str>) -> Vec<u8> {
    let mut out = array(b"{\"items\":", items);
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
    let mut out = array(b"{\"items\":", items);
    out.push(b'}');
    out
}

/// `[...]`, for what is a bare array.
pub fn array_json<I: AsRef<[u8]>>(items: impl IntoIterator<Item = I>) -> Vec<u8> {
    array(b"", items)
}

fn array<I: AsRef<[u8]>>(before: &[u8], items: impl IntoIterator<Item = I>) -> Vec<u8> {
    let items = items.into_iter();
    let mut out = Vec::with_capacity(32 + 512 * items.size_hint().0);
    out.extend_from_slice(before);
    out.push(b'[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item.as_ref());
    }
    out.push(b']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A keyed hash like the server's: each part with its length before it.
    fn mark(key: u8) -> impl Fn(&[&[u8]]) -> [u8; 16] {
        move |parts| {
            let mut mac = Hmac::<Sha256>::new_from_slice(&[key; 32]).expect("a key of any length");
            for part in parts {
                mac.update(&(part.len() as u64).to_be_bytes());
                mac.update(part);
            }
            mac.finalize().into_bytes()[..16].try_into().expect("16 bytes")
        }
    }

    fn key(mark: Mark<'_>, tenant_key: u64, kind: &str, filters: &[(&str, &str)]) -> ListKey {
        ListOf { mark, tenant_key, kind }.key(filters)
    }

    #[test]
    fn a_cursor_comes_back_to_its_own_list_only() {
        let completed: &[(&str, &str)] = &[("status", "COMPLETED")];
        let list = key(&mark(1), 7, "payments", completed);
        for position in [&b""[..], b"\x00", b"0123456789abcdef"] {
            let text = list.seal(position);
            assert_eq!(list.open(&text).as_deref(), Some(position));
            for other in [
                key(&mark(1), 8, "payments", completed),
                key(&mark(1), 7, "payouts", completed),
                key(&mark(1), 7, "payments", &[("status", "FAILED")]),
                key(&mark(1), 7, "payments", &[("statusCOMPLETED", "")]),
                key(&mark(1), 7, "payments", &[]),
                key(&mark(2), 7, "payments", completed),
            ] {
                assert_eq!(other.open(&text), None);
            }
        }
    }

    #[test]
    fn what_is_no_cursor_is_none() {
        let list = key(&mark(1), 1, "payments", &[]);
        let text = list.seal(b"position");
        for bad in [
            "",
            "@@@",
            "not-a-cursor",
            "AAAA",
            &text[1..],
            &text[..text.len() - 1],
            &format!("{text}="),
            &"A".repeat(9_000),
        ] {
            assert_eq!(list.open(bad), None, "{bad}");
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            assert_eq!(list.open(&changed), None, "{changed}");
        }
    }

    #[test]
    fn the_format_does_not_change() {
        let list = key(&mark(1), 3, "payments", &[]);
        assert_eq!((list.seal(b"\x01\x02").as_str(), list.open(GOLDEN)), (GOLDEN, Some(vec![1, 2])));
    }

    const GOLDEN: &str = "AgECldKxip-YlXbK_gZpEXQV2g";

    #[test]
    fn a_page_is_written_around_its_items() {
        assert_eq!(
            page_json(["{\"a\":1}", "2"], Some("abc")),
            br#"{"items":[{"a":1},2],"nextCursor":"abc"}"#
        );
        assert_eq!(page_json(Vec::<Vec<u8>>::new(), None), br#"{"items":[],"nextCursor":null}"#);
        assert_eq!(list_json(["1"]), br#"{"items":[1]}"#);
    }
}
