//! `pasarela listen`: brings a test tenant's events to a developer's machine, signed as webhooks
//! are, or prints them.

use super::client::{Api, Event, PAGE, web_address};
use super::{Failure, runtime};
use crate::webhooks::has_older_signature;
use crate::webhooks::names::Lookups;
use crate::webhooks::post::{HeaderNames, Message, Poster};
use crate::webhooks::secret::{Secret, Signing};
use actors::Clock;
use api::writer::Object;
use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args};
use domain::entities::webhook::EVENT_NAMES;
use domain::values::ids::Id;
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio::runtime::Handle;

const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_FAILED: Duration = Duration::from_secs(5);

/// Forward a test tenant's events to an address of your own, or print them
///
/// They are signed with a secret that is printed at the start. It is the same at
/// each start with the same key, and not that of your endpoints.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("target").args(["forward_to", "print"]).required(true).multiple(true))]
#[command(after_help = "Examples:
  pasarela listen --forward-to http://localhost:3000/hooks --key pk_test_demo
  pasarela listen --print --events payment.completed,payment.failed
  pasarela listen --print --after 0 --count 10 | jq .data")]
pub struct Listen {
    #[command(flatten)]
    api: Api,
    /// The address that events are sent to, such as http://localhost:3000/hooks
    #[arg(long, value_name = "URL", value_parser = web_address)]
    forward_to: Option<String>,
    /// Print each event on stdout as its webhook's body, one per line
    #[arg(long)]
    print: bool,
    /// Only these events, which `pasarela trigger --list` names [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(EVENT_NAMES))]
    events: Vec<String>,
    /// Begin after the event with this number [default: with the next that happens]
    #[arg(long, value_name = "SEQUENCE")]
    after: Option<u64>,
    /// Stop after this many events
    #[arg(long, value_name = "N")]
    count: Option<usize>,
}

impl Listen {
    pub fn run(self) -> Result<(), Failure> {
        runtime()?.block_on(self.forward())
    }

    async fn forward(self) -> Result<(), Failure> {
        let caller = self.api.caller()?;
        let lookups = Lookups::new(Handle::current());
        let poster = Poster::new(true, None, HeaderNames::default(), &lookups, Clock::system())?;
        // The secret derives from the key, so that it is set up once.
        let secret = Secret::new(
            Sha256::new().chain_update(b"pasarela listen ").chain_update(&caller.key).finalize().into(),
        );
        let mut after = match self.after {
            Some(sequence) => sequence,
            None => caller.newest_event().await?,
        };
        let base = &caller.base;
        if let Some(url) = &self.forward_to {
            eprintln!("forwarding the events of {base} after {after} to {url}; stop with Ctrl-C");
            eprintln!("signing secret: {}", secret.expose());
        } else {
            eprintln!("printing the events of {base} after {after}; stop with Ctrl-C");
        }
        let mut left = self.count.unwrap_or(usize::MAX);
        let (mut failing, mut is_hinted) = (false, false);
        while left > 0 {
            let events = match caller.events(after, PAGE).await {
                Ok(events) => events,
                Err(Failure::Other(why)) => {
                    if !failing {
                        eprintln!("{why}; trying again");
                    }
                    failing = true;
                    tokio::time::sleep(PAUSE_FAILED).await;
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            failing = false;
            if events.is_empty() {
                tokio::time::sleep(PAUSE).await;
            }
            for event in events {
                after = event.sequence;
                if left == 0 || !(self.events.is_empty() || self.events.contains(&event.event)) {
                    continue;
                }
                left -= 1;
                let body = body(&event);
                if self.print {
                    super::print(&[body.as_slice(), b"\n"].concat())?;
                }
                let Some(url) = &self.forward_to else { continue };
                let line = format!("{} {} {}", event.sequence, event.event, event.id);
                let sent = poster.post(message(&event, url, &secret, body)).await;
                let outcome = sent.error.unwrap_or_else(|| {
                    sent.http_status.map_or_else(String::new, |status| status.to_string())
                });
                let line = format!("{line} → {outcome} ({} ms)", sent.latency_ms);
                if self.print {
                    eprintln!("{line}");
                } else {
                    println!("{line}");
                }
                if sent.http_status == Some(400) && !is_hinted {
                    is_hinted = true;
                    eprintln!(
                        "does the receiver verify with the signing secret above? listen --after {} sends this again",
                        event.sequence.saturating_sub(1)
                    );
                }
            }
        }
        Ok(())
    }
}

fn body(event: &Event) -> Vec<u8> {
    Object::new()
        .text("event", &event.event)
        .json("data", event.data.get().as_bytes())
        .text("timestamp", &event.timestamp)
        .end()
}

fn message(event: &Event, url: &str, secret: &Secret, body: Vec<u8>) -> Message {
    Message {
        url: url.to_owned(),
        livemode: false,
        event: Id::parse(&event.id).unwrap_or(Id::from_bytes([0; 16])),
        sequence: Some(event.sequence),
        older_signature: has_older_signature(&event.event),
        attempt: 1,
        body,
        signing: Signing::plain(secret.clone()),
    }
}
