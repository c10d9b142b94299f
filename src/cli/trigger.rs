//! `pasarela trigger`: makes an event happen in test mode, through the public API as a tenant
//! would. Which calls make which event is in `trigger/flows.rs`.

mod flows;

use super::caller::{Api, Caller};
use super::{Failure, runtime};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use domain::entities::webhook::EVENT_NAMES;

const ALL: &str = "all";
/// `pasarela admin tenant live-status` makes it, so it is not among those listed.
const OF_OPERATORS: &str = "tenant.live_status_changed";
/// The event that takes away all that the others made, so it is not among `all` of them.
const RESET: &str = "test.reset";

/// The first way is what happens unless another is asked for.
const WAYS: [(&str, &[&str]); 5] = [
    ("payment.completed", &["c2p", "card", "debit", "pago-movil", "cop", "link"]),
    ("payment.failed", &["c2p", "card", "cop"]),
    ("payment.canceled", &["c2p", "cop"]),
    ("payment.reversed", &["c2p", "cop", "chargeback"]),
    ("payment.chargeback_closed", &["won", "lost"]),
];

/// Make an event happen in test mode
///
/// Prints each event that happened: its number, name and id.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pasarela trigger payment.completed --key pk_test_demo
  pasarela trigger payment.completed --by link
  pasarela trigger payment.reversed --by cop
  pasarela trigger all
  pasarela trigger --list")]
pub struct Trigger {
    /// The event, or `all`
    #[arg(value_name = "EVENT", required_unless_present = "list", value_parser = events())]
    event: Option<String>,
    /// The cause of the event; --list shows the causes of each
    #[arg(long, value_name = "WAY", requires = "event")]
    by: Option<String>,
    /// Print the events and the causes of each
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    api: Api,
}

fn events() -> PossibleValuesParser {
    let names = EVENT_NAMES.map(|event| PossibleValue::new(event).hide(event == OF_OPERATORS));
    PossibleValuesParser::new(names.into_iter().chain([PossibleValue::new(ALL)]))
}

/// Empty if there is one alone.
fn ways(event: &str) -> &'static [&'static str] {
    WAYS.iter().find(|(known, _)| *known == event).map_or(&[], |(_, ways)| ways)
}

impl Trigger {
    pub fn run(self) -> Result<(), Failure> {
        let Some(event) = self.event.filter(|_| !self.list) else {
            return super::print(listed().as_bytes());
        };
        let asked = asked(&event, self.by.as_deref())?;
        runtime()?.block_on(async {
            let caller = self.api.caller()?;
            for (event, way) in asked {
                make(&caller, event, way).await?;
            }
            Ok(())
        })
    }
}

fn asked<'a>(event: &'a str, by: Option<&'a str>) -> Result<Vec<(&'a str, &'a str)>, Failure> {
    if event == ALL {
        if by.is_some() {
            return Err(Failure::Other("--by goes with one event".to_owned()));
        }
        let made = EVENT_NAMES.into_iter().filter(|event| ![OF_OPERATORS, RESET].contains(event));
        return Ok(made.map(|event| (event, ways(event).first().copied().unwrap_or_default())).collect());
    }
    let ways = ways(event);
    match by {
        None => Ok(vec![(event, ways.first().copied().unwrap_or_default())]),
        Some(way) if ways.contains(&way) => Ok(vec![(event, way)]),
        Some(_) if ways.is_empty() => {
            Err(Failure::Other(format!("{event} comes in one way: leave --by out")))
        }
        Some(way) => Err(Failure::Other(format!("{event} does not come by {way}; by {}", ways.join(", ")))),
    }
}

async fn make(caller: &Caller, event: &str, way: &str) -> Result<(), Failure> {
    let before = caller.newest_event().await?;
    flows::cause(caller, event, way).await?;
    let happened = caller.events_after(before).await?;
    for event in &happened {
        println!("{} {} {}", event.sequence, event.event, event.id);
    }
    if happened.iter().any(|made| made.event == event) {
        Ok(())
    } else {
        Err(Failure::Other(format!("{event} did not happen")))
    }
}

fn listed() -> String {
    let mut lines = String::new();
    for event in EVENT_NAMES {
        let line = match (event, ways(event)) {
            (OF_OPERATORS, _) => format!("{event:<28} by operators: pasarela admin tenant live-status\n"),
            (RESET, _) => format!("{event:<28} by itself alone: all test data begins anew\n"),
            (_, []) => format!("{event}\n"),
            (_, ways) => format!("{event:<28} --by {}\n", ways.join(" | ")),
        };
        lines.push_str(&line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_belong_to_events_that_are() {
        assert!(WAYS.iter().all(|(event, ways)| EVENT_NAMES.contains(event) && ways.len() > 1));
        assert!(EVENT_NAMES.iter().all(|event| listed().contains(event)));
    }

    #[test]
    fn a_way_has_to_be_one_of_the_event() {
        assert_eq!(asked("payment.failed", None).expect("sound"), [("payment.failed", "c2p")]);
        assert_eq!(asked("payment.failed", Some("cop")).expect("sound"), [("payment.failed", "cop")]);
        assert_eq!(asked(ALL, None).expect("sound").len(), EVENT_NAMES.len() - 2);
        for (event, way, why) in [
            ("payment.failed", "link", "c2p, card, cop"),
            ("payout.failed", "cop", "one way"),
            (ALL, "cop", "one event"),
        ] {
            assert!(asked(event, Some(way)).expect_err("refused").to_string().contains(why), "{event} {way}");
        }
    }
}
