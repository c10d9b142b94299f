//! Cursors: a position of one list, and a text that somebody made up.
//!
//! A cursor comes back to its own list as it was, and to no other: another tenant, kind or filter
//! refuses it. What opens at all is a text that the list itself makes.

use super::call::mark;
use crate::bytes::Bytes;
use api::page::{ListKey, ListOf, Page};

pub fn run(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let tenants = [bytes.array(), bytes.array()].map(u64::from_le_bytes);
    let kinds = [bytes.text(), bytes.text()];
    let filters = [(bytes.text(), bytes.text()), (bytes.text(), bytes.text())];
    let position = bytes.sized();
    let made_up = std::str::from_utf8(bytes.rest()).unwrap_or_default();

    let key =
        |tenant_key, kind, filters: &[(&str, &str)]| ListOf { mark: &mark, tenant_key, kind }.key(filters);
    let own = key(tenants[0], kinds[0], &filters[..1]);
    let cursor = next(own, position);
    let opened = own.open(&cursor);
    // Longer texts are none of ours: no position is.
    if cursor.len() <= 512 {
        assert_eq!(opened.as_deref(), Some(position), "a cursor does not come back");
    }
    for (other, is_same) in [
        (key(tenants[1], kinds[0], &filters[..1]), tenants[0] == tenants[1]),
        (key(tenants[0], kinds[1], &filters[..1]), kinds[0] == kinds[1]),
        (key(tenants[0], kinds[0], &filters[1..]), filters[0] == filters[1]),
        (key(tenants[0], kinds[0], &filters), false),
        (key(tenants[0], kinds[0], &[]), false),
    ] {
        assert_eq!(other == own, is_same, "two lists share a key");
        assert!(is_same || other.open(&cursor).is_none(), "a cursor of another list is taken");
    }
    if let Some(position) = own.open(made_up) {
        assert_eq!(next(own, &position), made_up, "two texts are the same cursor");
    }
}

fn next(list: ListKey, position: &[u8]) -> String {
    Page { limit: 1, after: None, list }.next(position)
}
