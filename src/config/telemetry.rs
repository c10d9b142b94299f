//! `[log]` and `[telemetry]`: log lines, and traces for a collector.

use super::keys::Keys;
use super::values::{level, url};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Or directives such as `info,pasarela::http=debug`.
    pub level: String,
    pub format: LogFormat,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// None: there are no traces.
    pub otlp_endpoint: Option<String>,
    /// Of traces that begin here.
    pub sample_one_in: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    Json,
    Text,
}

impl Log {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
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
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let telemetry = Telemetry {
            otlp_endpoint: keys.optional("otlp_endpoint", url),
            sample_one_in: keys.integer("sample_one_in", 1, 1..=1_000_000),
        };
        keys.done();
        telemetry
    }
}
