//! The addresses that a webhook may have: the rules for its URL, and for the IP addresses that its
//! name resolves to (`docs/contract.md, 13.2`). The same rules hold when an endpoint is registered
//! and when something is sent to it.

use crate::web_address::is_plain;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::{Host, Url};

/// Characters of an address.
pub(super) const URL_MAX: usize = 2048;

#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// Real money: https alone.
    pub livemode: bool,
    /// Loopback, private and other special addresses too.
    pub private: bool,
}

/// Reads an address; the error completes "url …". A host that is a name is still to be looked up.
pub fn check(text: &str, allowed: Allowed) -> Result<Url, &'static str> {
    const WANTED: &str = "must be an http or https URL of at most 2048 characters";
    if text.chars().count() > URL_MAX || !is_plain(text) {
        return Err(WANTED);
    }
    let url = Url::parse(text).map_err(|_| WANTED)?;
    match url.scheme() {
        "https" => {}
        "http" if !allowed.livemode => {}
        "http" => return Err("must be an https URL in live mode"),
        _ => return Err(WANTED),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not hold a user or a password");
    }
    if url.port() == Some(0) {
        return Err("must not have port 0");
    }
    let public = match url.host() {
        None => return Err(WANTED),
        Some(Host::Ipv4(address)) => is_public(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => is_public(IpAddr::V6(address)),
        Some(Host::Domain(name)) => !is_local_name(name),
    };
    if public || allowed.private {
        Ok(url)
    } else {
        Err("must not lead to a loopback, private or otherwise special address")
    }
}

/// Names that are loopback by definition (RFC 6761).
fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name.eq_ignore_ascii_case("localhost")
        || name.len() > 10
            && name.get(name.len() - 10..).is_some_and(|end| end.eq_ignore_ascii_case(".localhost"))
}

pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The special-purpose registry of IPv4 (RFC 6890 and its successors).
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        // "This network" (0/8), private (10/8), loopback (127/8).
        (0 | 10 | 127, _, _) => true,
        // Shared by providers (CGNAT).
        (100, 64..=127, _) => true,
        // Link-local.
        (169, 254, _) => true,
        (172, 16..=31, _) => true,
        // Protocol assignments, documentation, the old 6to4 relay, AS112.
        (192, 0, 0 | 2) | (192, 88, 99) | (192, 31, 196) | (192, 52, 193) | (192, 175, 48) => true,
        (192, 168, _) => true,
        // Benchmarks.
        (198, 18 | 19, _) => true,
        (198, 51, 100) | (203, 0, 113) => true,
        // Multicast, reserved, broadcast.
        (224.., _, _) => true,
        _ => false,
    };
    !special
}

/// Whether an IPv6 address is public: only addresses that are given out to networks are, and one
/// that carries an IPv4 address is as public as that.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let s = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match s {
        // NAT64, the well-known prefix and the local one.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0x64, 0xff9b, ..] => false,
        // Mapped, translated, and the outdated compatible form; unspecified and loopback look like
        // the latter.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => v4(high, low),
        [0, 0, 0, 0, 0, 0, ..] => false,
        // 6to4.
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo and other protocol assignments, documentation.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // Global unicast as assigned; everything else is local, multicast or reserved.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: Allowed = Allowed { livemode: false, private: false };

    #[test]
    fn special_addresses_are_not_public() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.1.2.3",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2002:c0a8:101::1",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "4000::1",
        ] {
            assert!(!is_public(text.parse().expect(text)), "{text}");
        }
    }

    #[test]
    fn public_addresses_are_public_in_every_form() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "2001:4860:4860::8888",
        ] {
            assert!(is_public(text.parse().expect(text)), "{text}");
        }
    }

    #[test]
    fn an_address_is_checked_in_all_its_disguises() {
        for text in [
            "http://127.0.0.1/x",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://[::1]:80/",
            "http://[::ffff:127.0.0.1]/",
            "http://localhost/",
            "http://LOCALHOST:8080/",
            "http://localhost./",
            "http://a.localhost/",
            "http://169.254.169.254/latest",
            "http://①②⑦.0.0.1/",
        ] {
            assert_eq!(
                check(text, STRICT).map(|_| ()),
                Err("must not lead to a loopback, private or otherwise special address"),
                "{text}"
            );
            assert!(check(text, Allowed { private: true, ..STRICT }).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_of_the_web_is_refused() {
        let long = format!("https://shop.example.com/{}", "a".repeat(URL_MAX));
        for text in [
            "",
            "shop.example.com",
            "/hook",
            "ftp://shop.example.com/",
            "file:///etc/passwd",
            "https://",
            "https:///x",
            "javascript:alert(1)",
            "https://a b.com/",
            "https://a.example\\@b.example/",
            "https://shop.example.com/a\\b",
            "https://shop.example.com/\u{202e}gpj.x",
            "https://shop\u{200b}.example.com/",
            &long,
        ] {
            assert!(check(text, STRICT).is_err(), "{text}");
        }
        for text in [
            "https://user@shop.example.com/",
            "https://user:secret@shop.example.com/",
            "https://:secret@shop.example.com/",
        ] {
            assert_eq!(check(text, STRICT).map(|_| ()), Err("must not hold a user or a password"), "{text}");
        }
        assert!(check("https://shop.example.com:0/", STRICT).is_err());
        assert!(check("http://shop.example.com/hook?a=b", STRICT).is_ok());
        assert!(check("http://shop.example.com/hook", Allowed { livemode: true, private: true }).is_err());
        assert!(check("https://shop.example.com/hook", Allowed { livemode: true, private: false }).is_ok());
    }
}
