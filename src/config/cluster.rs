//! `[cluster]`: more than one machine, with a log that etcd agrees on.

use super::Secret;
use super::error::ValueError;
use super::keys::{Keys, settings};
use super::values::{address, path, text_if, url};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

// Without endpoints there is one machine, and nothing else of this counts.
settings! {
    Cluster {
        etcd: Vec<String> = list(Vec::new(), endpoint),
        /// Of the partitions that have one of their own.
        etcd_of: BTreeMap<u8, Vec<String>> = numbered(0..=63, endpoint),
        partition: String = parsed("main".to_owned(), name),
        /// Of the whole cluster; `None` makes no claim.
        partitions: Option<u8> = optional_integer(1..=64),
        partitions_preview: bool = boolean(false),
        node: String = parsed(host_name(), name),
        advertise: Option<String> = optional(url),
        peer_listen: SocketAddr = parsed(SocketAddr::from(([127, 0, 0, 1], 9091)), address),
        peer_advertise: Option<String> = optional(url),
        failover_ms: u64 = integer(1_500, 500..=60_000),
        spread_seconds: u64 = integer(60, 1..=86_400),
        window_bytes_max: u64 = integer(512 << 20, 2 << 20..=1 << 40),
        ca_file: Option<PathBuf> = optional(path),
        cert_file: Option<PathBuf> = optional(path),
        key_file: Option<PathBuf> = optional(path),
        username: Option<String> = optional(|text| Ok(text.to_owned())),
        password_file: Option<PathBuf> = optional(path),
    } refused where {
        |cluster| cluster.etcd_of.contains_key(&0) => "etcd_of.0", "partition 0 is in cluster.etcd";
        |cluster| !cluster.is_on() && !cluster.etcd_of.is_empty() => "etcd_of", "goes with cluster.etcd";
        |cluster| cluster.partitions.is_some_and(|number| cluster.etcd_beyond(number).is_some())
            => "etcd_of", "names a partition beyond cluster.partitions, of which the first is 0";
        |cluster| cluster.is_on() && cluster.peer_listen.ip().is_unspecified() && cluster.peer_advertise.is_none()
            => "peer_advertise", "is required where cluster.peer_listen is a wildcard";
        |cluster| cluster.is_on() && cluster.cert_file.is_some() != cluster.key_file.is_some()
            => "key_file", "goes with cluster.cert_file";
        |cluster| cluster.is_on() && cluster.username.is_some() != cluster.password_file.is_some()
            => "password_file", "goes with cluster.username";
        |cluster| cluster.is_on() && cluster.ca_file.is_some() && !cluster.etcd.iter().any(|url| url.starts_with("https://"))
            => "ca_file", "goes with https endpoints in cluster.etcd";
    }
}

impl Cluster {
    /// The etcd of a partition, also as another partition's process knows it.
    pub fn etcd_for(&self, partition: u8) -> &[String] {
        let of_others = self.etcd_of.get(&0).unwrap_or(&self.etcd);
        self.etcd_of.get(&partition).unwrap_or(of_others)
    }

    pub fn is_on(&self) -> bool {
        !self.etcd.is_empty()
    }

    /// Whether a node goes by a higher number of partitions once the cluster has it.
    pub fn takes_more(&self) -> bool {
        self.partitions_preview && self.partitions.is_none()
    }

    /// A partition that has an etcd of its own and is none of so many.
    pub fn etcd_beyond(&self, number: u8) -> Option<u8> {
        self.etcd_of.keys().copied().find(|partition| *partition >= number)
    }

    pub fn peer_hosts(&self) -> impl Iterator<Item = String> {
        let listen = Some(self.peer_listen).filter(|listen| !listen.ip().is_unspecified());
        let urls = [listen.map(|listen| format!("http://{listen}")), self.peer_advertise.clone()];
        let host = |url: String| Some(url.parse::<hyper::Uri>().ok()?.host()?.to_owned());
        urls.into_iter().flatten().filter_map(host)
    }

    /// After the system has chosen a port. One that was configured may be known to others by another.
    pub fn listens_to_peers_at(&mut self, address: SocketAddr) {
        if self.peer_listen.port() != 0 {
            return;
        }
        self.peer_listen = address;
        let Some(mut url) = self.peer_advertise.as_deref().and_then(|url| url::Url::parse(url).ok()) else {
            return;
        };
        if url.set_port(Some(address.port())).is_ok() {
            self.peer_advertise = Some(url.as_str().trim_end_matches('/').to_owned());
        }
    }

    /// For the front of this process, which is on the same machine: over TLS by the name that the certificate has.
    pub fn peer_address(&self, has_tls: bool) -> String {
        let mut near = self.peer_listen;
        match near.ip() {
            _ if has_tls => return advertised(&self.peer_advertise, near, true),
            IpAddr::V4(ip) if ip.is_unspecified() => near.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => near.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        format!("http://{near}")
    }

    pub fn failover(&self) -> Duration {
        Duration::from_millis(self.failover_ms)
    }

    /// The time that a node has to be there before it gets leaders, and for which an operator's word holds.
    pub fn settled(&self) -> Duration {
        Duration::from_secs(self.spread_seconds)
    }

    pub fn password(&self) -> std::io::Result<Option<Secret>> {
        let Some(file) = &self.password_file else { return Ok(None) };
        Ok(Some(Secret::new(std::fs::read_to_string(file)?.trim_end().to_owned())))
    }
}

/// The address of a listener for others, if the configuration names none.
pub fn advertised(given: &Option<String>, listen: SocketAddr, has_tls: bool) -> String {
    let scheme = if has_tls { "https" } else { "http" };
    given.clone().unwrap_or_else(|| format!("{scheme}://{listen}"))
}

fn endpoint(text: &str) -> Result<String, ValueError> {
    url(text).map(|url| url.trim_end_matches('/').to_owned())
}

fn name(text: &str) -> Result<String, ValueError> {
    let fits = wal::cluster::is_node_name(text);
    text_if(fits, text, "must be up to 63 letters, digits, dots, dashes or underscores")
}

fn host_name() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if wal::cluster::is_node_name(&host) { host } else { "node".to_owned() }
}
