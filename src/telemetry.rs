//! The server's reports about itself while it runs: log lines here, [`spans`] for a collector of
//! traces.
//!
//! Log lines are one JSON object each, or text for people, always on stderr ([`journal`]); stdout
//! belongs to the commands.
//!
//! A line about one request carries its id in the field `request_id`. There is no span of `tracing`
//! per request: it would cost more than the rest of the way through the front. Values are fields,
//! and no secret is one.
//!
//! The form of reports belongs here; the reports are made where their causes are.

mod journal;
pub mod spans;

use crate::config::{Log, LogFormat};
use journal::Lines;
use std::fmt::Display;
use std::io::IsTerminal as _;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Says on stderr why the process ends or a command was not done: one line for people, in whatever form
/// log lines are.
pub fn say_last(why: &dyn Display) {
    eprintln!("{}pasarela: {why}", Lines::to_stderr().mark(Level::ERROR));
}

/// Starts logging. Only the first call of a process counts.
pub fn start(log: &Log) {
    let is_text = match log.format {
        LogFormat::Auto => std::io::stderr().is_terminal(),
        LogFormat::Json => false,
        LogFormat::Text => true,
    };
    // The configuration has checked the level.
    // ractor opens a span per actor, and a payout is an actor: only its warnings are worth that.
    let filter = log.level.parse::<Targets>().unwrap_or_default().with_target("ractor", Level::WARN);
    let subscriber = tracing_subscriber::registry().with(filter);
    let lines = tracing_subscriber::fmt::layer().with_writer(Lines::to_stderr());
    let started = if is_text {
        subscriber.with(lines.with_ansi(std::io::stderr().is_terminal())).try_init()
    } else {
        subscriber
            .with(lines.json().flatten_event(true).with_current_span(false).with_span_list(false))
            .try_init()
    };
    if started.is_err() {
        tracing::debug!("logging was started already");
    }
}
