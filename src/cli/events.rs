//! `pasarela events`: what happened to an account, and sending it again to its webhook endpoints.

use super::client::{Api, Event};
use super::{Failure, id, print, runtime};
use clap::Args;
use domain::values::ids::Id;

const SHOWN: usize = 20;

commands! { Events {
    List(List),
    Get(Get),
    Resend(Resend),
} }

/// Print events, oldest first: number, name, id and time, a line each
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pasarela events list
  pasarela events list --after 120 --limit 100")]
pub struct List {
    /// Begin after the event with this number [default: with the last ones]
    #[arg(long, value_name = "SEQUENCE")]
    after: Option<u64>,
    /// The number of events
    #[arg(long, value_name = "N", default_value_t = SHOWN, value_parser = limit)]
    limit: usize,
    #[command(flatten)]
    api: Api,
}

/// Print an event as the API shows it
#[derive(Args, Debug)]
#[command(after_help = "Example:
  pasarela events get 01975a2e-7c00-7000-8000-000000000000 | jq .data")]
pub struct Get {
    /// The event's id
    #[arg(value_name = "ID", value_parser = id)]
    id: Id,
    #[command(flatten)]
    api: Api,
}

/// Send an event again to every enabled endpoint that lists it now
///
/// The event keeps its Svc-Event-Id, so a receiver recognises a repeat.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  pasarela events resend 01975a2e-7c00-7000-8000-000000000000")]
pub struct Resend {
    /// The event's id
    #[arg(value_name = "ID", value_parser = id)]
    id: Id,
    #[command(flatten)]
    api: Api,
}

fn limit(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|limit| (1..=100).contains(limit)).ok_or("is no number from 1 to 100")
}

impl Get {
    fn run(self) -> Result<(), Failure> {
        let caller = self.api.any_caller()?;
        let event = runtime()?.block_on(caller.get(&format!("/v1/events/{}", self.id)))?;
        print(format!("{event:#}\n").as_bytes())
    }
}

impl Resend {
    fn run(self) -> Result<(), Failure> {
        let (caller, path) = (self.api.any_caller()?, format!("/v1/events/{}/resend", self.id));
        let sent = runtime()?.block_on(caller.post(&path, &serde_json::json!({})))?;
        if sent["deliveries"].as_array().is_some_and(Vec::is_empty) {
            eprintln!("pasarela: no enabled endpoint lists this event now");
        }
        print(format!("{sent:#}\n").as_bytes())
    }
}

impl List {
    fn run(self) -> Result<(), Failure> {
        let caller = self.api.any_caller()?;
        let events = runtime()?.block_on(async {
            let after = match self.after {
                Some(after) => after,
                None => caller.newest_event().await?.saturating_sub(self.limit as u64),
            };
            caller.events(after, self.limit).await
        })?;
        for Event { id, sequence, event, timestamp, .. } in events {
            print(format!("{sequence} {event} {id} {timestamp}\n").as_bytes())?;
        }
        Ok(())
    }
}
