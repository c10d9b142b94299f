//! `[server]`: the listener of the API, and the certificates that a listener of any kind shows.

use super::error::ValueError;
use super::keys::Keys;
use super::values::{address, path, url};
use crate::network::Network;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub listen: SocketAddr,
    pub public_base_url: Option<String>,
    /// They are believed when they name the sender of a request.
    pub trusted_proxies: Vec<Network>,
    pub max_connections: usize,
    /// From one address; 0 = no limit.
    pub max_connections_per_peer: usize,
    pub head_timeout_seconds: u64,
    pub head_bytes_max: usize,
    pub body_timeout_seconds: u64,
    /// Of all bodies that are being read.
    pub bodies_bytes_max: usize,
    pub idle_timeout_seconds: u64,
    /// For requests under way on stop.
    pub shutdown_seconds: u64,
    /// 0 = one per core.
    pub worker_threads: usize,
    /// Debuggers and profilers of the same user may look into the process.
    pub traceable: bool,
    pub tls: Option<Tls>,
}

impl Server {
    /// Without a slash at the end.
    pub fn base_url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        self.public_base_url.clone().unwrap_or_else(|| format!("{scheme}://{}", self.listen))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Server {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let server = Server {
            listen: keys.parsed("listen", ([127, 0, 0, 1], 8080).into(), address),
            public_base_url: keys.optional("public_base_url", |text| {
                url(text).map(|url| url.trim_end_matches('/').to_owned())
            }),
            trusted_proxies: keys
                .list("trusted_proxies", Vec::new(), |text| text.parse().map_err(ValueError::from)),
            max_connections: keys.integer("max_connections", 10_000, 1..=1_000_000),
            max_connections_per_peer: keys.integer("max_connections_per_peer", 5_000, 0..=1_000_000),
            head_timeout_seconds: keys.integer("head_timeout_seconds", 10, 1..=300),
            head_bytes_max: keys.integer("head_bytes_max", 65_536, 8_192..=1_048_576),
            body_timeout_seconds: keys.integer("body_timeout_seconds", 30, 1..=300),
            bodies_bytes_max: keys.integer("bodies_bytes_max", 64 << 20, 4 << 20..=64 << 30),
            idle_timeout_seconds: keys.integer("idle_timeout_seconds", 75, 1..=3_600),
            shutdown_seconds: keys.integer("shutdown_seconds", 10, 0..=300),
            worker_threads: keys.integer("worker_threads", 0, 0..=1_024),
            traceable: keys.boolean("traceable", false),
            tls: tls(keys.section("tls")),
        };
        keys.done();
        server
    }
}

/// None of both: the listener speaks plain HTTP.
pub(super) fn tls(mut keys: Keys<'_>) -> Option<Tls> {
    let files = match (keys.optional("certificate", path), keys.optional("key", path)) {
        (Some(certificate), Some(key)) => Some(Tls { certificate, key }),
        (None, None) => None,
        (Some(_), None) => {
            keys.bad("key", "is required beside the certificate");
            None
        }
        (None, Some(_)) => {
            keys.bad("certificate", "is required beside the key");
            None
        }
    };
    keys.done();
    files
}
