//! `[server]`: the listener of the API, and the certificates that a listener of any kind shows.

use super::error::ValueError;
use super::keys::Keys;
use super::values::{address, path, url};
use crate::network::Network;
use std::net::SocketAddr;
use std::path::PathBuf;

/// `[server]`: the listener of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Address and port.
    pub listen: SocketAddr,
    /// The server's public URL; see [`Server::base_url`].
    pub public_base_url: Option<String>,
    /// The proxies that are believed when they name the sender of a request.
    pub trusted_proxies: Vec<Network>,
    /// Connections at once.
    pub max_connections: usize,
    /// The most connections from one address; 0 = no limit.
    pub max_connections_per_peer: usize,
    /// The time limit until a head is complete.
    pub head_timeout_seconds: u64,
    /// The bytes that a head may have.
    pub head_bytes_max: usize,
    /// The time limit until a body is complete.
    pub body_timeout_seconds: u64,
    /// Bytes of all bodies that are being read.
    pub bodies_bytes_max: usize,
    /// The time after which an idle connection ends.
    pub idle_timeout_seconds: u64,
    /// The time for requests under way on stop.
    pub shutdown_seconds: u64,
    /// Threads of the runtime; 0 = one per core.
    pub worker_threads: usize,
    /// Whether debuggers and profilers of the same user may look into the process.
    pub traceable: bool,
    /// `[server.tls]`.
    pub tls: Option<Tls>,
}

impl Server {
    /// The base of links to this server, without a slash at the end.
    pub fn base_url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        self.public_base_url.clone().unwrap_or_else(|| format!("{scheme}://{}", self.listen))
    }
}

/// `[server.tls]` or `[admin.tls]`: what a listener shows, as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The server's certificate, then those between it and the root.
    pub certificate: PathBuf,
    /// The file with its private key.
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

/// Certificate and key of a listener; none of both: it speaks plain HTTP.
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
