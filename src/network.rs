//! Addresses of peers: networks as the configuration writes them, and who sent a request that came
//! through a proxy.
//!
//! A client is an IPv4 address, or the 64 bits of an IPv6 address that name a site: whoever has a
//! site has all of its addresses. It must not know what is counted by client.

use hyper::header::{HeaderMap, HeaderName};
use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
pub fn network(text: &str) -> Result<IpNet, &'static str> {
    let network = text.trim().parse().or_else(|_| text.trim().parse().map(|address: IpAddr| address.into()));
    network.map_err(|_| "must be an address or a network such as 10.0.0.0/8")
}

/// The sender of requests, as far as limits tell senders apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Client(IpAddr);

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Client {
    pub fn of(address: IpAddr) -> Client {
        Client(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
            address => address,
        })
    }

    /// The /48 of an address of IPv6, which is the most that a network gives one customer.
    pub fn site_of(address: IpAddr) -> Option<Client> {
        match address.to_canonical() {
            IpAddr::V6(address) => Some(Client(Ipv6Addr::from_bits(address.to_bits() >> 80 << 80).into())),
            IpAddr::V4(_) => None,
        }
    }
}

/// The proxies that are believed when they name the sender of a request.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(pub Vec<IpNet>);

impl TrustedProxies {
    /// The sender of a request: the peer or, if that is a trusted proxy, the last address in
    /// `X-Forwarded-For` that is none. Anybody may have written the addresses before that one.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Client {
        let mut client = peer.to_canonical();
        let values = headers.get_all(X_FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
        let named: Vec<&str> = values.flat_map(|value| value.split(',')).collect();
        for name in named.into_iter().rev() {
            if !self.0.iter().any(|network| network.contains(&client)) {
                break;
            }
            let Some(before) = address(name.trim()) else { break };
            client = before.to_canonical();
        }
        Client::of(client)
    }
}

/// An address as proxies write it: some add the port, and brackets around IPv6.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn networks_are_read_and_contain_their_addresses() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("0.0.0.0/0", "203.0.113.9", "::1"),
            ("fd00::/8", "fd12::1", "fe80::1"),
            ("::1", "::1", "::2"),
            ("::/0", "2001:db8::1", "192.0.2.1"),
        ] {
            let network = super::network(network).expect("a network");
            assert!(network.contains(&ip(inside)) && !network.contains(&ip(outside)), "{network:?}");
        }
        for bad in ["", "10.0.0.0/33", "10.0.0.0/", "::/129", "10.0.0/8", "localhost", "10.0.0.0/-1"] {
            assert!(network(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_site_of_ipv6_is_all_that_a_customer_has() {
        let site = |text: &str| Client::site_of(ip(text)).map(|site| site.to_string());
        for (address, expected) in [
            ("2001:db8:7:1::1", Some("2001:db8:7::")),
            ("2001:db8:7:ffff::9", Some("2001:db8:7::")),
            ("2001:db8:8::1", Some("2001:db8:8::")),
            ("192.0.2.1", None),
            ("::ffff:192.0.2.1", None),
        ] {
            assert_eq!(site(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_is_believed_and_only_for_what_it_saw() {
        let proxies = TrustedProxies(
            ["127.0.0.1", "10.0.0.0/8"].map(|text| network(text).expect("a network")).to_vec(),
        );
        for (peer, forwarded, client) in [
            ("192.0.2.1", "203.0.113.9", "192.0.2.1"),
            ("127.0.0.1", "203.0.113.9", "203.0.113.9"),
            ("::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"),
            ("127.0.0.1", "192.0.2.66, 203.0.113.9, 10.1.2.3", "203.0.113.9"),
            ("127.0.0.1", "203.0.113.9:4711", "203.0.113.9"),
            ("127.0.0.1", "[2001:db8::7]:4711", "2001:db8::"),
            ("127.0.0.1", "2001:db8::ffff", "2001:db8::"),
            ("127.0.0.1", "203.0.113.9, unknown", "127.0.0.1"),
            ("127.0.0.1", "10.1.1.1", "10.1.1.1"),
            ("127.0.0.1", "", "127.0.0.1"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(X_FORWARDED_FOR, HeaderValue::from_static(forwarded));
            assert_eq!(proxies.client(ip(peer), &headers), Client(ip(client)), "{peer} {forwarded}");
        }
        let mut headers = HeaderMap::new();
        for each in ["192.0.2.66", "203.0.113.9"] {
            headers.append(X_FORWARDED_FOR, HeaderValue::from_static(each));
        }
        assert_eq!(proxies.client(ip("127.0.0.1"), &headers), Client(ip("203.0.113.9")));
        assert_eq!(TrustedProxies::default().client(ip("127.0.0.1"), &headers), Client(ip("127.0.0.1")));
    }
}
