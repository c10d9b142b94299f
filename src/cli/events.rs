//! `pasarela events`: what happened to an account, and sending it again to its webhook endpoints.

use super::client::{Api, Event};
use super::{Failure, id, print, runtime};
use clap::Subcommand;
use domain::values::ids::Id;
use serde_json::Value;

const SHOWN: usize = 20;

#[derive(Debug, Subcommand)]
pub enum Events {
    /// Print events, oldest first: number, name, id and time, a line each
    #[command(after_help = "Examples:
  pasarela events list
  pasarela events list --after 120 --limit 100")]
    List {
        /// Begin after the event with this number [default: with the last ones]
        #[arg(long, value_name = "SEQUENCE")]
        after: Option<u64>,
        /// The number of events
        #[arg(long, value_name = "N", default_value_t = SHOWN, value_parser = limit)]
        limit: usize,
        #[command(flatten)]
        api: Api,
    },
    /// Print an event as the API shows it
    #[command(after_help = "Example:
  pasarela events get 01975a2e-7c00-7000-8000-000000000000 | jq .data")]
    Get {
        /// The event's id
        #[arg(value_name = "ID", value_parser = id)]
        id: Id,
        #[command(flatten)]
        api: Api,
    },
    /// Send an event again to every enabled endpoint that lists it now
    ///
    /// The event keeps its Svc-Event-Id, so a receiver recognises a repeat.
    #[command(after_help = "Example:
  pasarela events resend 01975a2e-7c00-7000-8000-000000000000")]
    Resend {
        /// The event's id
        #[arg(value_name = "ID", value_parser = id)]
        id: Id,
        #[command(flatten)]
        api: Api,
    },
}

fn limit(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|limit| (1..=100).contains(limit)).ok_or("is no number from 1 to 100")
}

impl Events {
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Events::List { after, limit, api } => {
                let caller = api.any_caller()?;
                let events = runtime()?.block_on(async {
                    let after = match after {
                        Some(after) => after,
                        None => caller.newest_event().await?.saturating_sub(limit as u64),
                    };
                    caller.events(after, limit).await
                })?;
                events.iter().try_for_each(|Event { id, sequence, event, timestamp, .. }| {
                    print(format!("{sequence} {event} {id} {timestamp}\n").as_bytes())
                })
            }
            Events::Get { id, api } => {
                let (caller, path) = (api.any_caller()?, format!("/v1/events/{id}"));
                let event: Value = runtime()?.block_on(caller.call("GET", &path, None, None))?;
                print(format!("{event:#}\n").as_bytes())
            }
            Events::Resend { id, api } => {
                let (caller, path) = (api.any_caller()?, format!("/v1/events/{id}/resend"));
                let sent: Value = runtime()?.block_on(caller.call("POST", &path, None, Some("{}")))?;
                if sent["deliveries"].as_array().is_some_and(Vec::is_empty) {
                    eprintln!("pasarela: no enabled endpoint lists this event now");
                }
                print(format!("{sent:#}\n").as_bytes())
            }
        }
    }
}
