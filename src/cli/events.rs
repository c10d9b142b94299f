//! `pasarela events`: what happened to an account, and sending it again to its webhook endpoints.

use super::client::{Api, Event};
use super::{Failure, print, runtime};
use clap::{Args, Subcommand};
use domain::values::ids::Id;

const SHOWN: usize = 20;

/// List an account's events, and send one again to its webhook endpoints
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pasarela events list --key pk_test_demo
  pasarela events get 01975a2e-7c00-7000-8000-000000000000
  pasarela events resend 01975a2e-7c00-7000-8000-000000000000")]
pub struct Events {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(List),
    Get(Get),
    Resend(Resend),
}

/// Print events, oldest first: number, name, id and time, a line each
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pasarela events list
  pasarela events list --after 120 --limit 100")]
struct List {
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
struct Get {
    /// The event's id
    #[arg(value_name = "ID", value_parser = id)]
    id: String,
    #[command(flatten)]
    api: Api,
}

/// Send an event again to every enabled endpoint that lists it now
///
/// The event keeps its Svc-Event-Id, so a receiver recognises a repeat.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  pasarela events resend 01975a2e-7c00-7000-8000-000000000000")]
struct Resend {
    /// The event's id
    #[arg(value_name = "ID", value_parser = id)]
    id: String,
    #[command(flatten)]
    api: Api,
}

fn limit(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|limit| (1..=100).contains(limit)).ok_or("is no number from 1 to 100")
}

fn id(text: &str) -> Result<String, &'static str> {
    Id::parse(text).map(|id| id.to_string()).ok_or("is no UUID")
}

impl Events {
    pub fn run(self) -> Result<(), Failure> {
        runtime()?.block_on(async {
            match self.command {
                Command::List(list) => list.run().await,
                Command::Get(Get { id, api }) => {
                    let event = api.any_caller()?.get(&format!("/v1/events/{id}")).await?;
                    print(format!("{event:#}\n").as_bytes())
                }
                Command::Resend(Resend { id, api }) => {
                    let path = format!("/v1/events/{id}/resend");
                    let sent = api.any_caller()?.post(&path, &serde_json::json!({})).await?;
                    if sent["deliveries"].as_array().is_some_and(Vec::is_empty) {
                        eprintln!("pasarela: no enabled endpoint lists this event now");
                    }
                    print(format!("{sent:#}\n").as_bytes())
                }
            }
        })
    }
}

impl List {
    async fn run(&self) -> Result<(), Failure> {
        let caller = self.api.any_caller()?;
        let after = match self.after {
            Some(after) => after,
            None => caller.newest_event().await?.saturating_sub(self.limit as u64),
        };
        for Event { id, sequence, event, timestamp, .. } in caller.events(after, self.limit).await? {
            print(format!("{sequence} {event} {id} {timestamp}\n").as_bytes())?;
        }
        Ok(())
    }
}
