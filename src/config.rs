//! The configuration: what can be set, its defaults and its bounds.
//!
//! Every key has a default here, so an empty file is valid; `config.toml` at the root documents
//! each of them. A variable such as `PASARELA__SERVER__LISTEN` wins over the file. An unknown key
//! or a value out of bounds is a [`ConfigError`], one line that names the key. Secrets do not show
//! in Debug output.
//!
//! It knows nothing of the parts of the server but the types of rates and rails that a setting is read into.

mod admin;
mod cluster;
mod error;
mod evm;
mod feeds;
mod keys;
mod live_rails;
mod pins;
mod rails;
mod server;
mod tenants;
#[cfg(test)]
mod tests;
mod values;
mod webhooks;

pub use crate::rails::secret::ApiSecret as Secret;
pub use admin::{Admin, TOKEN_CHARACTERS_MIN, TOKEN_FILE};
pub use cluster::{Cluster, advertised};
pub use error::{ConfigError, ValueError};
pub use evm::{EVM_NETWORKS, Evm};
pub use feeds::Rates;
pub use live_rails::R4;
pub use rails::Rails;
pub use server::{Engine, Limits, Log, LogFormat, Requests, Server, Storage, Telemetry, Test, Tls};
pub use tenants::BootstrapTenant;
pub use webhooks::Webhooks;

use domain::platform::settings::Settings;
use domain::resources::rates::withdrawals::Withdrawals;
use domain::values::money::Usdt;
use domain::values::time::Date;
use keys::{Keys, Source};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use values::{origin, url};
use wal::cluster::partition_name;

/// In the current directory, or where the package installs it: the first that is there counts.
pub const DEFAULT_FILES: [&str; 2] = ["config.toml", "/etc/pasarela/config.toml"];

/// In the data directory of a node: that of each partition but the first.
pub const PARTITIONS_DIRECTORY: &str = "partitions";

#[derive(Clone, Debug)]
pub struct Config {
    pub server: Server,
    pub admin: Admin,
    pub storage: Storage,
    pub cluster: Cluster,
    pub engine: Engine,
    pub limits: Limits,
    pub rates: Rates,
    pub holidays: Vec<Date>,
    pub tenant_defaults: Settings,
    pub bootstrap_tenants: Vec<BootstrapTenant>,
    pub webhooks: Webhooks,
    pub requests: Requests,
    pub test: Test,
    pub public_allowed_origins: Vec<String>,
    pub rails: Rails,
    pub banks_feed_url: Option<String>,
    /// `[crypto] network_fee_usdt`, in the order of `Network::NAMES`.
    pub network_fees: [Usdt; 4],
    pub withdraw: Withdrawals,
    pub log: Log,
    pub telemetry: Telemetry,
    /// The file that this was read from, if it has the operators' token in it.
    pub file_with_token: Option<PathBuf>,
    /// The partition that a process behind a front serves.
    pub partition: Option<u8>,
    /// Where its front listens for it alone.
    pub front: Option<SocketAddr>,
    /// That this process goes by: those of the configuration, until the cluster's are known.
    pub partitions: u8,
}

impl Config {
    /// The configuration of `file`, or of the first of [`DEFAULT_FILES`] that is there, and of the
    /// environment. Where files of secrets are not read, a rail that has one is left out: whoever else
    /// reads the configuration may not be allowed to.
    pub fn load(file: Option<&Path>, reads_secrets: bool) -> Result<Self, ConfigError> {
        let default = || DEFAULT_FILES.iter().map(Path::new).find(|file| file.exists());
        let file = file.or_else(default);
        let text = match file {
            Some(file) => std::fs::read_to_string(file).map_err(|error| ConfigError::in_file(file, error))?,
            None => String::new(),
        };
        let mut environment = Vec::new();
        for (name, value) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with(keys::PREFIX) {
                let Ok(value) = value.into_string() else {
                    return Err(ConfigError::new(format_args!("{name}: must be UTF-8")));
                };
                environment.push((name, value));
            }
        }
        let config =
            Self::parsed(&text, Source::new(environment, reads_secrets)).map_err(|error| match file {
                Some(file) => ConfigError::in_file(file, error),
                None => error,
            })?;
        Ok(Config { file_with_token: file.filter(|_| has_token(&text)).map(Path::to_owned), ..config })
    }

    pub fn parse(
        text: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        Self::parsed(text, Source::new(environment, false))
    }

    fn parsed(text: &str, source: Source) -> Result<Self, ConfigError> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = &text[..error.span().map_or(0, |span| span.start.min(text.len()))];
            let line = before.matches('\n').count() + 1;
            ConfigError::new(format_args!("line {line}: {}", error.message()))
        })?;
        let config = Self::read(Keys::root(table, &source));
        let findings = source.finish();
        if findings.is_empty() {
            return Ok(config);
        }
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        Err(ConfigError::new(findings.join("; ")))
    }

    /// The people who may use the operators' API, and take a node's data in a cluster; an error if nobody
    /// was named, or with too little where other machines can try it.
    pub fn access(&self) -> Result<Option<Secret>, ConfigError> {
        let peers = self.cluster.is_on().then_some(("cluster.peer_listen", self.cluster.peer_listen));
        let listeners = [Some(("admin.listen", self.admin.listen)), peers];
        let exposed = listeners.into_iter().flatten().find(|(_, address)| !address.ip().is_loopback());
        self.admin.access(&self.storage.path, exposed.map(|(key, _)| key), self.cluster.is_on())
    }

    /// Of one of a node's partitions, out of the node's own: its directory, its etcd and its keys there, its listener for
    /// nodes. Feeds, which the first one alone asks, and the tenants of the configuration are that one's; a network of
    /// USDT is served where there is a wallet for it.
    pub fn of_partition(&self, partition: u8) -> Config {
        let mut config = Config { partition: Some(partition), ..self.clone() };
        if partition == 0 {
            return config;
        }
        // The operators' token may be in the node's own directory.
        config.admin.token = self.admin.presented(&self.storage.path).ok().flatten();
        config.storage.path = self.storage.path.join(PARTITIONS_DIRECTORY).join(partition.to_string());
        config.cluster.partition = partition_name(&self.cluster.partition, partition);
        if let Some(own) = self.cluster.etcd_of.get(&partition) {
            // The others' is needed as well: this one asks their leaders.
            config.cluster.etcd_of.insert(0, self.cluster.etcd.clone());
            config.cluster.etcd.clone_from(own);
        }
        config.cluster.peer_listen.set_port(0);
        config.bootstrap_tenants.clear();
        config.banks_feed_url = None;
        config.rails.evm = self.rails.evm.iter().filter_map(|evm| evm.of_partition(partition)).collect();
        config
    }

    /// A test key that may be shown to whoever asks: the configuration itself names it, and only
    /// this machine can ask.
    pub fn demo_key(&self) -> Option<&str> {
        let named = self.bootstrap_tenants.iter().find_map(|tenant| tenant.test_key.as_ref());
        named.filter(|_| self.server.listen.ip().is_loopback()).map(Secret::expose)
    }

    fn read(mut keys: Keys<'_>) -> Self {
        let mut calendar = keys.section("calendar");
        let holidays = calendar.list("holidays", Vec::new(), |text| {
            Date::parse(text).map_err(|_| ValueError::from("must be a date such as 2026-12-24"))
        });
        calendar.done();
        let mut public = keys.section("public");
        let public_allowed_origins = public.list("allowed_origins", Vec::new(), origin);
        public.done();
        let mut banks = keys.section("banks");
        let banks_feed_url = banks.optional("feed_url", url);
        banks.done();
        let config = Config {
            server: Server::read(keys.section("server")),
            admin: Admin::read(keys.section("admin")),
            storage: Storage::read(keys.section("storage")),
            cluster: Cluster::read(keys.section("cluster")),
            engine: Engine::read(keys.section("engine")),
            limits: Limits::read(keys.section("limits")),
            rates: Rates::read(keys.section("rates")),
            holidays,
            tenant_defaults: tenants::tenant_defaults(keys.section("tenant_defaults")),
            bootstrap_tenants: BootstrapTenant::read_all(keys.section("bootstrap")),
            webhooks: Webhooks::read(keys.section("webhooks")),
            requests: Requests::read(keys.section("requests")),
            test: Test::read(keys.section("test")),
            public_allowed_origins,
            rails: Rails::read(keys.section("rails"), banks_feed_url.is_some()),
            banks_feed_url,
            network_fees: tenants::network_fees(keys.section("crypto")),
            withdraw: tenants::withdrawals(keys.section("withdraw")),
            log: Log::read(keys.section("log")),
            telemetry: Telemetry::read(keys.section("telemetry")),
            file_with_token: None,
            partition: None,
            front: None,
            partitions: 1,
        };
        keys.done();
        Config { partitions: config.cluster.partitions.unwrap_or(1), ..config }
    }
}

fn has_token(text: &str) -> bool {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    table
        .get("admin")
        .and_then(|admin| admin.get("token"))
        .and_then(toml::Value::as_str)
        .is_some_and(|token| !token.is_empty())
}
