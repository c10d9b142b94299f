//! Looks names up and gives out only addresses that a webhook may go to: what is connected to is what was checked.

use crate::api::targets::is_public;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::fmt;
use std::net::SocketAddr;

/// Why a name leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAddress {
    /// Nobody knows it.
    Unknown,
    /// It leads, also, to an address that is not public.
    Special,
}

impl fmt::Display for NoAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoAddress::Unknown => "the name was not found",
            NoAddress::Special => "the name leads to a loopback, private or otherwise special address",
        })
    }
}

impl std::error::Error for NoAddress {}

/// The system's resolver, with a look at every address.
pub struct CheckedNames {
    /// Loopback, private and other special addresses are allowed.
    pub allow_private: bool,
}

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await.map_err(|_| NoAddress::Unknown)?;
            let addresses: Vec<SocketAddr> = found.collect();
            if addresses.is_empty() {
                return Err(NoAddress::Unknown.into());
            }
            // A name that leads to both kinds is not given the benefit of the doubt.
            if !allow_private && addresses.iter().any(|address| !is_public(address.ip())) {
                return Err(NoAddress::Special.into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
