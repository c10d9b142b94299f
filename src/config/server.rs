//! The sections about the server itself: `[server]` with the certificates that a listener of any kind shows,
//! `[limits]`, `[storage]`, `[engine]`, `[requests]`, `[test]`, `[log]` and `[telemetry]`.

use super::error::ValueError;
use super::keys::{Keys, settings};
use super::values::{address, level, path, url};
use crate::network::network;
use ipnet::IpNet;
use std::net::SocketAddr;
use std::path::PathBuf;

settings! {
    Server {
        listen: SocketAddr = parsed(([127, 0, 0, 1], 8080).into(), address),
        public_base_url: Option<String> = optional(bare_url),
        trusted_proxies: Vec<IpNet> = list(Vec::new(), |text| network(text).map_err(ValueError::from)),
        max_connections: usize = integer(10_000, 1..=1_000_000),
        max_connections_per_peer: usize = integer(5_000, 0..=1_000_000),
        head_timeout_seconds: u64 = integer(10, 1..=300),
        head_bytes_max: usize = integer(65_536, 8_192..=1_048_576),
        body_timeout_seconds: u64 = integer(30, 1..=300),
        bodies_bytes_max: usize = integer(64 << 20, 4 << 20..=64 << 30),
        idle_timeout_seconds: u64 = integer(75, 1..=3_600),
        shutdown_seconds: u64 = integer(10, 0..=300),
        worker_threads: usize = integer(0, 0..=1_024),
        traceable: bool = boolean(false),
        tls: Option<Tls> = nested(tls),
    }
}

impl Server {
    /// Without a slash at the end.
    pub fn base_url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        self.public_base_url.clone().unwrap_or_else(|| format!("{scheme}://{}", self.listen))
    }

    /// The same for what callers are to follow: empty where no address is known that leads here.
    pub fn known_url(&self) -> String {
        let is_known = self.public_base_url.is_some() || !self.listen.ip().is_unspecified();
        if is_known { self.base_url() } else { String::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

fn bare_url(text: &str) -> Result<String, ValueError> {
    url(text).map(|url| url.trim_end_matches('/').to_owned())
}

/// None of both: the listener speaks plain HTTP.
pub(super) fn tls(mut keys: Keys<'_>) -> Option<Tls> {
    let (certificate, key) = (keys.optional("certificate", path), keys.optional("key", path));
    match (&certificate, &key) {
        (Some(_), None) => keys.bad("key", "is required beside the certificate"),
        (None, Some(_)) => keys.bad("certificate", "is required beside the key"),
        _ => {}
    }
    keys.done();
    Some(Tls { certificate: certificate?, key: key? })
}

settings! {
    Limits {
        requests_per_second: u32 = integer(0, 0..=1_000_000),
        burst: u32 = integer(0, 0..=1_000_000),
        misses_per_minute: u32 = integer(60, 0..=1_000_000),
        misses_burst: u32 = integer(60, 1..=1_000_000),
        share_percent: usize = integer(75, 1..=100),
        live_reserve_percent: usize = integer(25, 0..=90),
        live_slots: usize = integer(32, 1..=1_048_576),
        test_slots: usize = integer(4, 1..=1_048_576),
        waiting_max: usize = integer(2_048, 1..=1_048_576),
        long_reads_max: usize = integer(64, 1..=65_536),
        long_reads_per_tenant_max: usize = integer(4, 1..=65_536),
    }
}

settings! {
    Storage {
        path: PathBuf = parsed(PathBuf::from("data"), path),
        card_key_file: Option<PathBuf> = optional(path),
        reserve_bytes: u64 = integer(256 << 20, 0..=1 << 50),
        snapshot_records: u64 = integer(100_000, 1..=1_000_000_000),
        snapshot_seconds: u64 = integer(60, 1..=86_400),
        snapshot_all_hours: u32 = integer(1, 1..=87_600),
        snapshot_hourly_days: u32 = integer(1, 1..=3_650),
        snapshot_daily_days: u32 = integer(365, 1..=36_500),
        pending_bytes_max: usize = integer(64 << 20, 16 << 20..=4 << 30),
        pending_records_max: usize = integer(65_536, 64..=16_777_216),
        batch_records_max: usize = integer(8_192, 1..=1_048_576),
    } refused where {
        |storage| storage.batch_records_max > storage.pending_records_max
            => "batch_records_max", "must not exceed storage.pending_records_max";
        |storage| storage.snapshot_all_hours > 24 * storage.snapshot_hourly_days
            => "snapshot_all_hours", "must not exceed storage.snapshot_hourly_days";
        |storage| storage.snapshot_hourly_days > storage.snapshot_daily_days
            => "snapshot_hourly_days", "must not exceed storage.snapshot_daily_days";
    }
}

settings! {
    Engine {
        permits_max: usize = integer(16_384, 1..=1_048_576),
    }
}

settings! {
    Test {
        open_accounts: bool = boolean(false),
    }
}

settings! {
    Requests {
        bytes_max: u64 = integer(1 << 30, 1 << 20..=1 << 40),
    }
}

settings! {
    Log {
        level: String = parsed("info".to_owned(), level),
        format: LogFormat = one_of(LogFormat::Auto, &FORMATS),
    }
}

const FORMATS: [(&str, LogFormat); 3] =
    [("auto", LogFormat::Auto), ("json", LogFormat::Json), ("text", LogFormat::Text)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Auto,
    Json,
    Text,
}

settings! {
    Telemetry {
        otlp_endpoint: Option<String> = optional(url),
        sample_one_in: u32 = integer(1, 1..=1_000_000),
    }
}
