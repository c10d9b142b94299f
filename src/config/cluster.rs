//! `[cluster]`: more than one machine, with a log that etcd agrees on.

use super::error::ValueError;
use super::keys::Keys;
use super::secret::Secret;
use super::values::{address, path, url};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// `[cluster]`. Without endpoints there is one machine, and nothing else of it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The endpoints of etcd; none: one machine.
    pub etcd: Vec<String>,
    /// The name of the log that is agreed on.
    pub partition: String,
    /// The name of this node.
    pub node: String,
    /// The address under which others reach this node's API.
    pub advertise: Option<String>,
    /// The address where other nodes ask for checkpoints and pass requests to.
    pub peer_listen: SocketAddr,
    /// The address under which other nodes reach that.
    pub peer_advertise: Option<String>,
    /// The silence of a leader, in milliseconds, after which a standby takes over.
    pub failover_ms: u64,
    /// The bytes in etcd from which writes are refused while only one node is left.
    pub window_bytes_max: u64,
    /// Certificates that etcd's is checked against.
    pub ca_file: Option<PathBuf>,
    /// The certificate shown to etcd.
    pub cert_file: Option<PathBuf>,
    /// The certificate's key.
    pub key_file: Option<PathBuf>,
    /// The user at etcd.
    pub username: Option<String>,
    /// The file with the user's password.
    pub password_file: Option<PathBuf>,
}

impl Cluster {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let cluster = Cluster {
            etcd: keys.list("etcd", Vec::new(), endpoint),
            partition: keys.parsed("partition", "main".to_owned(), name),
            node: keys.parsed("node", host_name(), name),
            advertise: keys.optional("advertise", url),
            peer_listen: keys.parsed("peer_listen", SocketAddr::from(([127, 0, 0, 1], 9091)), address),
            peer_advertise: keys.optional("peer_advertise", url),
            failover_ms: keys.integer("failover_ms", 1_500, 500..=60_000),
            window_bytes_max: keys.integer("window_bytes_max", 512 << 20, 2 << 20..=1 << 40),
            ca_file: keys.optional("ca_file", path),
            cert_file: keys.optional("cert_file", path),
            key_file: keys.optional("key_file", path),
            username: keys.optional("username", |text| Ok(text.to_owned())),
            password_file: keys.optional("password_file", path),
        };
        cluster.check(&keys);
        keys.done();
        cluster
    }

    fn check(&self, keys: &Keys<'_>) {
        if !self.is_on() {
            return;
        }
        if self.peer_listen.ip().is_unspecified() && self.peer_advertise.is_none() {
            keys.bad("peer_advertise", "is required where cluster.peer_listen is a wildcard");
        }
        if self.cert_file.is_some() != self.key_file.is_some() {
            keys.bad("key_file", "goes with cluster.cert_file");
        }
        if self.username.is_some() != self.password_file.is_some() {
            keys.bad("password_file", "goes with cluster.username");
        }
        let is_tls = self.etcd.iter().any(|endpoint| endpoint.starts_with("https://"));
        if self.ca_file.is_some() && !is_tls {
            keys.bad("ca_file", "goes with https endpoints in cluster.etcd");
        }
    }

    /// Whether there is more than one machine.
    pub fn is_on(&self) -> bool {
        !self.etcd.is_empty()
    }

    /// The names under which other nodes call [`Cluster::peer_listen`].
    pub fn peer_hosts(&self) -> impl Iterator<Item = String> {
        let listen = Some(self.peer_listen).filter(|listen| !listen.ip().is_unspecified());
        let urls = [listen.map(|listen| format!("http://{listen}")), self.peer_advertise.clone()];
        let host = |url: String| Some(url.parse::<hyper::Uri>().ok()?.host()?.to_owned());
        urls.into_iter().flatten().filter_map(host)
    }

    /// The silence after which a standby takes over.
    pub fn failover(&self) -> Duration {
        Duration::from_millis(self.failover_ms)
    }

    /// The password at etcd, from its file.
    pub fn password(&self) -> std::io::Result<Option<Secret>> {
        let Some(file) = &self.password_file else { return Ok(None) };
        Ok(Some(Secret::new(std::fs::read_to_string(file)?.trim_end().to_owned())))
    }
}

fn endpoint(text: &str) -> Result<String, ValueError> {
    url(text).map(|url| url.trim_end_matches('/').to_owned())
}

fn name(text: &str) -> Result<String, ValueError> {
    if wal::cluster::is_node_name(text) {
        Ok(text.to_owned())
    } else {
        Err("must be up to 63 letters, digits, dots, dashes or underscores".into())
    }
}

/// The host's name, as far as it may be a node's.
fn host_name() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if wal::cluster::is_node_name(&host) { host } else { "node".to_owned() }
}
