//! The server's reports about itself while it runs: log lines here, [`spans`] for a collector of
//! traces.
//!
//! Log lines are one JSON object each, or text for people, always on stderr ([`journal`]); stdout
//! belongs to the commands.
//!
//! A line about one request carries its id in the field `request_id`. There is no span of `tracing`
//! per request: it would cost more than the rest of the way through the front. Values are fields,
//! and no secret is one.

mod journal;
pub mod spans;

use crate::config::{Log, LogFormat};
use journal::Lines;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::Display;
use std::io::IsTerminal as _;
use std::panic::PanicHookInfo;
use tracing::Level;
use tracing::field::display;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Says on stderr why the process ends or a command was not done: one line for people, in whatever form
/// log lines are.
pub fn say_last(why: &dyn Display) {
    eprintln!("{}pasarela: {why}", Lines::to_stderr().mark(Level::ERROR));
}

/// `partition` is in each line of a process behind a front.
pub fn start(log: &Log, partition: Option<u8>) {
    journal::of_partition(partition);
    let is_text = match log.format {
        LogFormat::Auto => std::io::stderr().is_terminal(),
        LogFormat::Json => false,
        LogFormat::Text => true,
    };
    // ractor opens a span per actor, and a payout is an actor: only its warnings are worth that. rmcp warns of whatever
    // an agent does wrong.
    let filter = log
        .level
        .parse::<Targets>()
        .unwrap_or_default()
        .with_target("ractor", Level::WARN)
        .with_target("rmcp", Level::ERROR);
    let subscriber = tracing_subscriber::registry().with(filter);
    let lines = tracing_subscriber::fmt::layer().with_writer(Lines::to_stderr());
    let started = if is_text {
        subscriber.with(lines.with_ansi(std::io::stderr().is_terminal())).try_init()
    } else {
        subscriber
            .with(lines.json().flatten_event(true).with_current_span(false).with_span_list(false))
            .try_init()
    };
    match started {
        Ok(()) => std::panic::set_hook(Box::new(report_panic)),
        Err(_) => tracing::debug!("logging was started already"),
    }
}

/// Logs a panic like every other error: with its place, which the journal shows among what needs a look.
fn report_panic(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(display);
    let message = panic.payload_as_str().unwrap_or("a payload that is no text");
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| display(&backtrace));
    tracing::error!(place, message = format_args!("a panic: {message}"), backtrace);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::panic::{catch_unwind, set_hook, take_hook};
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no panic holds it").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_is_an_error_with_its_place() {
        let (kept, before) = (Kept::default(), take_hook());
        set_hook(Box::new(report_panic));
        let writer = kept.clone();
        let lines =
            tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), || {
            catch_unwind(|| panic!("the ledger does not add up")).expect_err("it panics");
        });
        set_hook(before);
        let said = String::from_utf8(kept.0.lock().expect("no panic holds it").clone()).expect("text");
        let line: serde_json::Value = serde_json::from_str(&said).expect("one line of JSON");
        assert_eq!(
            (&line["level"], &line["message"]),
            (&"ERROR".into(), &"a panic: the ledger does not add up".into())
        );
        assert!(line["place"].as_str().is_some_and(|place| place.starts_with("src/telemetry.rs:")), "{line}");
    }
}
