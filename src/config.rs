//! The configuration: what can be set, its defaults and its bounds.
//!
//! Every key has a default here, so an empty file is valid; `config.toml` at the root documents
//! each of them. A variable such as `PASARELA__SERVER__LISTEN` wins over the file. An unknown key
//! or a value out of bounds is a [`ConfigError`], one line that names the key. Secrets do not show
//! in Debug output.

mod admin;
mod feeds;
mod keys;
mod limits;
mod live_rails;
mod rails;
mod tenants;
#[cfg(test)]
mod tests;

pub use admin::{Admin, AdminAccess, TOKEN_CHARACTERS_MIN, TOKEN_FILE};
pub use feeds::{Feed, FeedKind, HttpFeed, Rates};
pub use limits::Limits;
pub use live_rails::{R4, SecretSource, Wompi};
pub use rails::{Rails, SimulatorFault};
pub use tenants::{
    BootstrapTenant, Conversions, Crypto, Fee, NETWORKS, TenantDefaults, Tier, WITHDRAW_POLICIES, Withdraw,
};

use crate::network::Network;
use chrono::NaiveDate;
use keys::{Keys, Source};
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use zeroize::Zeroize;

/// Read when no other file is named: the first of these that is there, in the current directory or
/// where the package installs it.
pub const DEFAULT_FILES: [&str; 2] = ["config.toml", "/etc/pasarela/config.toml"];

/// Why there is no configuration: one line that names the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    /// In words, the key first.
    pub fn new(text: impl AsRef<str>) -> Self {
        // One line, whatever a file name or a parser brings along.
        ConfigError(text.as_ref().split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// A text that must not appear in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The text itself: to compare it, to hash it or to send it where it belongs.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `[server]`.
    pub server: Server,
    /// `[admin]`.
    pub admin: Admin,
    /// `[storage]`.
    pub storage: Storage,
    /// `[engine]`.
    pub engine: Engine,
    /// `[limits]`.
    pub limits: Limits,
    /// `[rates]`.
    pub rates: Rates,
    /// `[calendar] holidays`: days that are no business days in Caracas.
    pub holidays: Vec<NaiveDate>,
    /// `[tenant_defaults]`.
    pub tenant_defaults: TenantDefaults,
    /// `[[bootstrap.tenants]]`.
    pub bootstrap_tenants: Vec<BootstrapTenant>,
    /// `[webhooks]`.
    pub webhooks: Webhooks,
    /// `[public] allowed_origins`: sites that browsers may call the public interface from.
    pub public_allowed_origins: Vec<String>,
    /// `[rails]`.
    pub rails: Rails,
    /// `[banks] feed_url`: where the catalogue is refreshed from.
    pub banks_feed_url: Option<String>,
    /// `[crypto]`.
    pub crypto: Crypto,
    /// `[withdraw]`.
    pub withdraw: Withdraw,
    /// `[log]`.
    pub log: Log,
    /// `[telemetry]`.
    pub telemetry: Telemetry,
    /// The file that this was read from, if it has the operators' token in it.
    pub file_with_token: Option<PathBuf>,
}

/// `[server]`: the listener of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Address and port.
    pub listen: SocketAddr,
    /// How the outside reaches it; see [`Server::base_url`].
    pub public_base_url: Option<String>,
    /// Proxies that are believed who sent a request.
    pub trusted_proxies: Vec<Network>,
    /// Connections at once.
    pub max_connections: usize,
    /// Of them from one address; 0 = no limit.
    pub max_connections_per_peer: usize,
    /// Until a head is complete.
    pub head_timeout_seconds: u64,
    /// Size of a head.
    pub head_bytes_max: usize,
    /// Until a body is complete.
    pub body_timeout_seconds: u64,
    /// Bytes of all bodies that are being read.
    pub bodies_bytes_max: usize,
    /// Until an idle connection ends.
    pub idle_timeout_seconds: u64,
    /// For requests under way on stop.
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
    /// Its private key.
    pub key: PathBuf,
}

/// `[storage]`: the data directory and the log in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The directory.
    pub path: PathBuf,
    /// The key of cards' hashes; none: `card.key` in the directory.
    pub card_key_file: Option<PathBuf>,
    /// With less room than this on the disk writes are refused; 0 = never.
    pub reserve_bytes: u64,
    /// Records between two rounds of snapshots.
    pub snapshot_records: u64,
    /// Seconds between two rounds of snapshots, if anything was written.
    pub snapshot_seconds: u64,
    /// Hours for which every snapshot of a book is kept, counted back from its newest.
    pub snapshot_all_hours: u32,
    /// Days for which one of each hour is.
    pub snapshot_hourly_days: u32,
    /// Days for which one of each day is; older ones monthly, for ever.
    pub snapshot_daily_days: u32,
    /// Bytes that wait for the disk.
    pub pending_bytes_max: usize,
    /// Records that wait for the disk.
    pub pending_records_max: usize,
    /// Records that are written and synced at once.
    pub batch_records_max: usize,
}

/// `[engine]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Requests under way at once.
    pub permits_max: usize,
}

/// `[webhooks]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhooks {
    /// Delivers to loopback and private addresses too.
    pub allow_private_targets: bool,
    /// Certificates to trust beside those of the system, as PEM.
    pub extra_ca_file: Option<PathBuf>,
}

/// `[log]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// A level, or directives such as `info,pasarela::server=debug`.
    pub level: String,
    /// The form of the lines.
    pub format: LogFormat,
}

/// `[telemetry]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// The collector of traces; none: there are no traces.
    pub otlp_endpoint: Option<String>,
    /// Of the traces that begin here, one in so many is recorded.
    pub sample_one_in: u32,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// One JSON object per line.
    Json,
    /// For people.
    Text,
}

impl Config {
    /// Reads `file`, or the first of [`DEFAULT_FILES`] that is there, and the environment.
    pub fn load(file: Option<&Path>) -> Result<Self, ConfigError> {
        let default = || DEFAULT_FILES.iter().map(Path::new).find(|file| file.exists());
        let file = file.or_else(default);
        let text = match file {
            Some(file) => std::fs::read_to_string(file)
                .map_err(|error| ConfigError::new(format!("{}: {error}", file.display())))?,
            None => String::new(),
        };
        let mut environment = Vec::new();
        for (name, value) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with(keys::PREFIX) {
                let value =
                    value.into_string().map_err(|_| ConfigError::new(format!("{name}: must be UTF-8")))?;
                environment.push((name, value));
            }
        }
        let config = Self::parse(&text, environment).map_err(|error| match file {
            Some(file) => ConfigError::new(format!("{}: {error}", file.display())),
            None => error,
        })?;
        Ok(Config { file_with_token: file.filter(|_| has_token(&text)).map(Path::to_owned), ..config })
    }

    /// Reads a text and variables.
    pub fn parse(
        text: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = &text[..error.span().map_or(0, |span| span.start.min(text.len()))];
            ConfigError::new(format!("line {}: {}", before.matches('\n').count() + 1, error.message()))
        })?;
        let source = Source::new(environment);
        let config = Self::read(Keys::root(table, &source));
        let findings = source.finish();
        if findings.is_empty() { Ok(config) } else { Err(ConfigError::new(findings.join("; "))) }
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
            text.parse().map_err(|_| "must be a date such as 2026-12-24".to_owned())
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
            engine: Engine::read(keys.section("engine")),
            limits: Limits::read(keys.section("limits")),
            rates: Rates::read(keys.section("rates")),
            holidays,
            tenant_defaults: TenantDefaults::read(keys.section("tenant_defaults")),
            bootstrap_tenants: BootstrapTenant::read_all(keys.section("bootstrap")),
            webhooks: Webhooks::read(keys.section("webhooks")),
            public_allowed_origins,
            rails: Rails::read(keys.section("rails")),
            banks_feed_url,
            crypto: Crypto::read(keys.section("crypto")),
            withdraw: Withdraw::read(keys.section("withdraw")),
            log: Log::read(keys.section("log")),
            telemetry: Telemetry::read(keys.section("telemetry")),
            file_with_token: None,
        };
        keys.done();
        config
    }
}

impl Server {
    fn read(mut keys: Keys<'_>) -> Self {
        let server = Server {
            listen: keys.parsed("listen", ([127, 0, 0, 1], 8080).into(), address),
            public_base_url: keys.optional("public_base_url", |text| {
                url(text).map(|url| url.trim_end_matches('/').to_owned())
            }),
            trusted_proxies: keys
                .list("trusted_proxies", Vec::new(), |text| text.parse().map_err(str::to_owned)),
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

impl Storage {
    fn read(mut keys: Keys<'_>) -> Self {
        let storage = Storage {
            path: keys.parsed("path", PathBuf::from("data"), path),
            card_key_file: keys.optional("card_key_file", path),
            reserve_bytes: keys.integer("reserve_bytes", 256 << 20, 0..=1 << 50),
            snapshot_records: keys.integer("snapshot_records", 100_000, 1..=1_000_000_000),
            snapshot_seconds: keys.integer("snapshot_seconds", 60, 1..=86_400),
            snapshot_all_hours: keys.integer("snapshot_all_hours", 1, 1..=87_600),
            snapshot_hourly_days: keys.integer("snapshot_hourly_days", 1, 1..=3_650),
            snapshot_daily_days: keys.integer("snapshot_daily_days", 365, 1..=36_500),
            pending_bytes_max: keys.integer("pending_bytes_max", 64 << 20, 16 << 20..=4 << 30),
            pending_records_max: keys.integer("pending_records_max", 65_536, 64..=16_777_216),
            batch_records_max: keys.integer("batch_records_max", 8_192, 1..=1_048_576),
        };
        if storage.batch_records_max > storage.pending_records_max {
            keys.bad("batch_records_max", "must not exceed storage.pending_records_max");
        }
        if storage.snapshot_all_hours > 24 * storage.snapshot_hourly_days {
            keys.bad("snapshot_all_hours", "must not exceed storage.snapshot_hourly_days");
        }
        if storage.snapshot_hourly_days > storage.snapshot_daily_days {
            keys.bad("snapshot_hourly_days", "must not exceed storage.snapshot_daily_days");
        }
        keys.done();
        storage
    }
}

impl Engine {
    fn read(mut keys: Keys<'_>) -> Self {
        let engine = Engine { permits_max: keys.integer("permits_max", 16_384, 1..=1_048_576) };
        keys.done();
        engine
    }
}

impl Webhooks {
    fn read(mut keys: Keys<'_>) -> Self {
        let webhooks = Webhooks {
            allow_private_targets: keys.boolean("allow_private_targets", false),
            extra_ca_file: keys.optional("extra_ca_file", path),
        };
        keys.done();
        webhooks
    }
}

impl Log {
    fn read(mut keys: Keys<'_>) -> Self {
        let formats = [("auto", LogFormat::Auto), ("json", LogFormat::Json), ("text", LogFormat::Text)];
        let log = Log {
            level: keys.parsed("level", "info".to_owned(), level),
            format: keys.one_of("format", LogFormat::Auto, &formats),
        };
        keys.done();
        log
    }
}

impl Telemetry {
    fn read(mut keys: Keys<'_>) -> Self {
        let telemetry = Telemetry {
            otlp_endpoint: keys.optional("otlp_endpoint", url),
            sample_one_in: keys.integer("sample_one_in", 1, 1..=1_000_000),
        };
        keys.done();
        telemetry
    }
}

/// Whether a file has the operators' token in it.
fn has_token(text: &str) -> bool {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    table
        .get("admin")
        .and_then(|admin| admin.get("token"))
        .and_then(toml::Value::as_str)
        .is_some_and(|token| !token.is_empty())
}

/// Certificate and key of a listener; none of both: it speaks plain HTTP.
fn tls(mut keys: Keys<'_>) -> Option<Tls> {
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

/// A level for everything, or directives such as `info,pasarela::server=debug`.
fn level(text: &str) -> Result<String, String> {
    let is_level = |part: &str| matches!(part, "off" | "error" | "warn" | "info" | "debug" | "trace");
    let known = text.split(',').all(|part| is_level(part.rsplit('=').next().unwrap_or(part)));
    if known && text.parse::<tracing_subscriber::filter::Targets>().is_ok() {
        Ok(text.to_owned())
    } else {
        Err("must be off, error, warn, info, debug or trace, or directives such as info,pasarela::server=debug".to_owned())
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "must be an address and a port such as 127.0.0.1:8080".to_owned())
}

fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() || text.contains('\0') {
        return Err("must be a path".to_owned());
    }
    Ok(PathBuf::from(text))
}

/// An address of the web.
fn url(text: &str) -> Result<String, String> {
    let parsed = text.parse::<hyper::Uri>().ok();
    let fine = parsed.is_some_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    });
    if fine { Ok(text.to_owned()) } else { Err("must be an http or https URL".to_owned()) }
}

/// Scheme, host and port of a site, as browsers send it in `Origin`.
fn origin(text: &str) -> Result<String, String> {
    let bare = text.split_once("://").is_some_and(|(_, rest)| !rest.contains(['/', '?', '#', '@']));
    match url(text) {
        Ok(_) if bare => Ok(text.to_ascii_lowercase()),
        _ => Err("must be an origin such as https://app.example.com".to_owned()),
    }
}
