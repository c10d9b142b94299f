//! Keeps pages of other sites away from the operators' listener. A browser on an operator's machine
//! reaches loopback on behalf of any page that it shows. A page whose name resolves to loopback
//! (DNS rebinding) is known by its `Host`, one that sends requests across sites by its `Origin` or
//! `Sec-Fetch-Site`. All of them are checked before the token, so that a listener for local work
//! without one is safe too.

use api::problem::Problem;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use std::net::{Ipv4Addr, Ipv6Addr};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[derive(Clone, Debug)]
pub struct OriginCheck {
    hosts: Vec<String>,
    scheme: &'static str,
}

impl OriginCheck {
    pub fn new(hosts: Vec<String>, is_tls: bool) -> OriginCheck {
        OriginCheck { hosts, scheme: if is_tls { "https" } else { "http" } }
    }

    pub fn check(&self, head: &Parts) -> Result<(), Problem> {
        let own = named(head).filter(|own| self.is_good(own)).ok_or_else(Problem::misdirected)?;
        let is_own =
            |value: &HeaderValue| value.to_str().is_ok_and(|origin| is_origin(origin, self.scheme, &own));
        if head.headers.get_all(ORIGIN).iter().all(is_own) && is_from_here(&head.headers) {
            Ok(())
        } else {
            Err(Problem::cross_site())
        }
    }

    fn is_good(&self, own: &Authority) -> bool {
        let host = own.host();
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
            || bracketed.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback()))
            || self.hosts.iter().any(|known| host.eq_ignore_ascii_case(known))
    }
}

/// None if the request does not say, or says two things.
fn named(head: &Parts) -> Option<Authority> {
    let mut sent = head.headers.get_all(HOST).iter();
    let in_header = match (sent.next(), sent.next()) {
        (None, _) => None,
        (Some(one), None) => Some(one.to_str().ok()?.parse::<Authority>().ok()?),
        (Some(_), Some(_)) => return None,
    };
    let named = match (head.uri.authority(), in_header) {
        (Some(one), Some(other)) if *one != other => return None,
        (Some(one), _) => one.clone(),
        (None, other) => other?,
    };
    (!named.as_str().contains('@')).then_some(named)
}

fn is_origin(origin: &str, scheme: &str, own: &Authority) -> bool {
    let port_of =
        |authority: &Authority| authority.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    let Some((said, authority)) = origin.split_once("://") else { return false };
    let Ok(authority) = authority.parse::<Authority>() else { return false };
    said.eq_ignore_ascii_case(scheme)
        && !authority.as_str().contains('@')
        && authority.host().eq_ignore_ascii_case(own.host())
        && port_of(&authority) == port_of(own)
}

fn is_from_here(headers: &HeaderMap) -> bool {
    headers
        .get_all(SEC_FETCH_SITE)
        .iter()
        .all(|site| matches!(site.as_bytes(), b"same-origin" | b"same-site" | b"none"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn status(scheme: &'static str, headers: &[(&str, &str)]) -> u16 {
        let guard = OriginCheck { hosts: vec!["ops.example.com".to_owned(), "10.1.2.3".to_owned()], scheme };
        let mut request = Request::builder().uri("/admin/status");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        guard.check(&head).map_or_else(|problem| problem.status, |()| 200)
    }

    #[test]
    fn hosts() {
        let under = |host: &str| status("http", &[("host", host)]);
        for good in [
            "127.0.0.1",
            "127.9.9.9:9090",
            "[::1]",
            "[::1]:1",
            "localhost",
            "LocalHost:9090",
            "ops.example.com",
            "ops.example.com:444",
            "10.1.2.3:9090",
        ] {
            assert_eq!(under(good), 200, "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "ops.example.com.evil",
            "x.ops.example.com",
            "10.1.2.4",
            "0.0.0.0",
            "[::]",
            "a@localhost",
            "localhost@evil.example",
            "2130706433",
            "128.0.0.1",
            "[::ffff:1.2.3.4]",
        ] {
            assert_eq!(under(bad), 421, "{bad}");
        }
        assert_eq!(status("http", &[]), 421);
        assert_eq!(status("http", &[("host", "localhost"), ("host", "localhost")]), 421);
    }

    #[test]
    fn origins() {
        let from = |origin: &str| status("http", &[("host", "localhost:9090"), ("origin", origin)]);
        assert_eq!((from("http://localhost:9090"), from("http://LOCALHOST:9090")), (200, 200));
        for foreign in [
            "null",
            "",
            "http://localhost",
            "https://localhost:9090",
            "http://127.0.0.1:9090",
            "http://localhost:9091",
            "http://evil.example",
            "localhost:9090",
        ] {
            assert_eq!(from(foreign), 403, "{foreign}");
        }
        assert_eq!(
            status("https", &[("host", "ops.example.com:443"), ("origin", "https://ops.example.com")]),
            200
        );
        assert_eq!(
            status("http", &[("host", "evil.example"), ("origin", "http://evil.example")]),
            421,
            "the host comes first"
        );
    }

    #[test]
    fn sites() {
        for (site, expected) in [
            ("same-origin", 200),
            ("same-site", 200),
            ("none", 200),
            ("cross-site", 403),
            ("Cross-Site", 403),
        ] {
            assert_eq!(
                status("http", &[("host", "localhost"), ("sec-fetch-site", site)]),
                expected,
                "{site}"
            );
        }
    }
}
