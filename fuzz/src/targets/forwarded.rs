//! The client behind proxies: an input is the peer's address, the networks that are trusted, and
//! the header.
//!
//! Who is no trusted proxy says nothing about itself; what stands before the first stranger, seen
//! from us, changes nothing.

use crate::bytes::first_line;
use hyper::header::{HeaderMap, HeaderValue};
use pasarela::network::{TrustedProxies, network};
use std::net::IpAddr;

pub fn run(input: &[u8]) {
    let (peer, rest) = first_line(input);
    let (networks, header) = first_line(rest);
    let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
    let Ok(peer) = text(peer).parse::<IpAddr>() else { return };
    let networks = text(networks).split(',').filter_map(|text| network(text).ok()).collect();
    let headers = |value: &[u8]| {
        let mut headers = HeaderMap::new();
        if let Ok(value) = HeaderValue::from_bytes(value) {
            headers.insert("x-forwarded-for", value);
        }
        headers
    };
    let nobody = TrustedProxies::default();
    let peer_itself = nobody.client(peer, &HeaderMap::new());
    assert_eq!(nobody.client(peer, &headers(header)), peer_itself, "a stranger is believed");

    let trusted = TrustedProxies(networks);
    let client = trusted.client(peer, &headers(header));
    if client != peer_itself {
        // A client that is not trusted stands before its own address, and may have written anything
        // there.
        let lied = [b"203.0.113.77, not an address,", header].concat();
        let seen = trusted.client(peer, &headers(&lied));
        let is_end_of_chain = text(header).split(',').all(|name| {
            let bare = name.trim().trim_start_matches('[').trim_end_matches(']');
            bare.parse::<IpAddr>().is_ok_and(|address| {
                trusted.client(address, &headers(b"203.0.113.77"))
                    != nobody.client(address, &HeaderMap::new())
            })
        });
        assert!(seen == client || is_end_of_chain, "what a client wrote before its address counts");
    }
}
