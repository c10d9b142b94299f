//! Answers of the feed of the catalogue of banks.
//!
//! What is believed names each bank once, with a name that may be shown and a logo of the web.

use pasarela::gateway::bank_feed;
use std::collections::BTreeSet;

pub fn run(input: &[u8]) {
    let Ok(answer) = std::str::from_utf8(input) else { return };
    let Ok(listed) = bank_feed::read(answer) else { return };
    let codes: BTreeSet<_> = listed.iter().map(|bank| bank.code).collect();
    assert_eq!(codes.len(), listed.len(), "a bank is there twice");
    for bank in &listed {
        assert!(!bank.name.trim().is_empty() && bank.name.chars().count() <= 120);
        assert!(bank.logo_url.as_deref().is_none_or(is_of_the_web), "{:?}", bank.logo_url);
    }
}

/// Whether nobody reads the address otherwise than a browser does: the scheme, two slashes, a host.
fn is_of_the_web(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.starts_with(['/', '\\', '?', '#', ',', '@']))
        && !url.contains(char::is_whitespace)
}
