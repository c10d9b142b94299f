//! Addresses of the web that a tenant gives: https, or http to loopback in test mode
//! (`docs/contract.md, 1.6`).

use super::fields::{Kind, kind};
use super::value::{Bad, Lines, Value};
use crate::openapi::schema::text;
use domain::values::text::misleads_in_address;
use url::{Host, Url};

const CHARACTERS_MAX: usize = 2048;

/// An address; kept as it was written.
pub fn web_address(value: Value<'_>, livemode: bool) -> Result<String, Bad> {
    let text = value.prose(1..=CHARACTERS_MAX, Lines::One)?;
    if is_fit(&text, livemode) {
        return Ok(text.into_owned());
    }
    Err(Bad::from(if livemode {
        "must be an https address"
    } else {
        "must be an https address, or http to loopback"
    }))
}

pub fn clearable<'a>(livemode: bool) -> impl Kind<'a, Option<String>> {
    let read = move |value: Value<'a>| match value.string()?.is_empty() {
        true => Ok(None),
        false => web_address(value, livemode).map(Some),
    };
    kind(read, text)
}

/// Whether an address is written so that every reader sees the same in it: the parser of browsers forgives
/// missing and superfluous slashes too.
pub fn is_plain(text: &str) -> bool {
    let has_slashes = text.split_once("://").is_some_and(|(scheme, rest)| {
        !scheme.contains(':') && rest.starts_with(|first: char| !"/?#".contains(first))
    });
    has_slashes && !misleads_in_address(text)
}

fn is_fit(text: &str, livemode: bool) -> bool {
    let Some(url) = Some(text).filter(|text| is_plain(text)).and_then(|text| Url::parse(text).ok()) else {
        return false;
    };
    // A name and password of somebody's are no part of an address that buyers are sent to.
    url.username().is_empty()
        && url.password().is_none()
        && match url.scheme() {
            "https" => url.host().is_some(),
            "http" => !livemode && is_loopback(&url),
            _ => false,
        }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_or_loopback_in_test_mode() {
        for fine in ["https://shop.example/ok?x=1", "https://127.0.0.1", "https://shop.example:8443/a#b"] {
            assert!(is_fit(fine, true) && is_fit(fine, false), "{fine}");
        }
        for local in ["http://localhost:3000/ok", "http://127.0.0.1:9/", "http://[::1]:9/"] {
            assert!(!is_fit(local, true) && is_fit(local, false), "{local}");
        }
        for bad in [
            "",
            "shop.example",
            "/ok",
            "http://shop.example",
            "ftp://shop.example",
            "javascript:alert(1)",
            "https://a:b@shop.example",
            "https://",
            "data:text/html,x",
            "https:evil.example",
            "https:/evil.example",
            "https:///evil.example",
            "https:\\\\evil.example",
            "https://\\evil.example",
            "https://?evil.example",
            "https:evil.example?x=https://shop.example",
            "https://a.example\\@b.example",
            "https://a.example/x\\y",
            "https://a.example/?x=\\",
            "https://a.example/\u{202e}gpj.x",
            "https://a\u{200b}.example/",
            "https://a.example/a b",
        ] {
            assert!(!is_fit(bad, false), "{bad}");
        }
    }
}
