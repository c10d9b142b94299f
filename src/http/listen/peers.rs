//! Open connections of each address, looked up once per connection, never per request.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

/// An address without any has no entry.
#[derive(Debug, Default)]
pub(super) struct Peers(Mutex<HashMap<IpAddr, usize>>);

impl Peers {
    /// Returns how many the address has now.
    pub(super) fn enter(&self, peer: IpAddr) -> usize {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(network(peer)).or_default();
        *count += 1;
        *count
    }

    pub(super) fn leave(&self, peer: IpAddr) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut entry) = counts.entry(network(peer)) {
            *entry.get_mut() -= 1;
            if *entry.get() == 0 {
                entry.remove();
            }
        }
    }
}

/// Of IPv6, the network of the first 64 bits, because one peer commands all of it.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_address_and_forgotten_with_the_last() {
        let peers = Peers::default();
        let of = |text: &str| text.parse::<IpAddr>().expect("an address");
        assert_eq!(
            [peers.enter(of("10.0.0.1")), peers.enter(of("::ffff:10.0.0.1")), peers.enter(of("10.0.0.2"))],
            [1, 2, 1]
        );
        assert_eq!(
            [
                peers.enter(of("2001:db8::1")),
                peers.enter(of("2001:db8::2")),
                peers.enter(of("2001:db8:0:1::1"))
            ],
            [1, 2, 1]
        );
        peers.leave(of("10.0.0.1"));
        assert_eq!(peers.enter(of("10.0.0.1")), 2);
        for peer in
            ["10.0.0.1", "10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8::1", "2001:db8:0:1::1", "192.0.2.1"]
        {
            peers.leave(of(peer));
        }
        assert!(peers.0.lock().expect("not poisoned").is_empty());
    }
}
