//! Everything, one after the other, and the figures that count in one table at the end.

use super::http::Http;
use super::in_process::InProcess;
use super::memory::Memory;
use super::rates::Rates;
use super::restart::{self, Restart};
use super::table::{Report, Table};
use super::webhooks::Webhooks;
use super::{Outcome, Place, cleanup, machine, progress};
use clap::Args;
use std::time::{Duration, Instant};

/// Everything, and the machine it ran on
#[derive(Args, Debug)]
pub struct All {
    #[command(flatten)]
    place: Place,
    /// Also the start with ten million records
    #[arg(long)]
    full: bool,
}

impl All {
    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        let place = &self.place;
        let engine = InProcess { place: place.clone(), callers: vec![1, 64, 1024], seconds: 2, rounds: 3 };
        let http = Http {
            place: place.clone(),
            connections: vec![1, 64, 256],
            batch_connections: vec![1, 8],
            tenants: vec![1, 1000],
            seconds: 3,
            rounds: 3,
            threads: 2,
            no_baseline: false,
            no_conversions: false,
        };
        let mut restarts = vec![Restart { place: place.clone(), records: 1_000_000, tail: 1_000_000 }];
        if self.full {
            restarts.push(Restart { place: place.clone(), records: 10_000_000, tail: 100_000 });
        }
        let memory = Memory { place: place.clone(), tenants: 10_000, payouts: 200_000 };
        let webhooks = Webhooks { place: place.clone(), endpoints: vec![1, 100], connections: 64, seconds: 3, rounds: 3 };
        let rates = Rates { place: place.clone(), samples: 1_000_000, connections: vec![1, 64], seconds: 2, rounds: 3, threads: 2 };
        let restarting: Duration = restarts.iter().map(Restart::takes).sum();
        let takes = engine.takes() + http.takes() + rates.takes() + webhooks.takes() + restarting + memory.takes();
        cleanup::watch(takes * 3 + Duration::from_secs(60));
        progress(&format!("this takes about {} minutes", takes.as_secs().div_ceil(60)));
        let (machine, began) = (machine::describe(&place.made()?), Instant::now());
        let parts: [&dyn Fn() -> Outcome<Report>; 6] =
            [&|| engine.report(), &|| http.report(), &|| rates.report(), &|| webhooks.report(), &|| restart::report(&restarts), &|| memory.report()];
        let mut lines = Vec::new();
        for part in parts {
            let report = part()?;
            report.print();
            lines.extend(report.lines);
        }
        let mut table = Table::new("All of it", &["what", "figure", "baseline of the same run", "ratio"]);
        table.remark(machine);
        table.remark(format!("Release {}, {} s for everything.", env!("CARGO_PKG_VERSION"), began.elapsed().as_secs()));
        for line in lines {
            table.row([line.what, line.figure, line.baseline, line.ratio]);
        }
        println!("{table}");
        Ok(())
    }
}
