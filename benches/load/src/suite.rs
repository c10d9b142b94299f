//! All parts of the benchmark, one after the other, and one report of them: Markdown for people,
//! JSON for programs, charts. The report is written anew after every part, so that what was
//! measured is there whatever becomes of the rest; a part that fails says so in it and does not end
//! the run.

use crate::abuse::Abuse;
use crate::day::Day;
use crate::growth::Growth;
use crate::http::Http;
use crate::in_process::InProcess;
use crate::latency::Latency;
use crate::live::Live;
use crate::memory::Memory;
use crate::overload::Overload;
use crate::pause::Pause;
use crate::rates::Rates;
use crate::report::{Report, bars};
use crate::restart::{self, Restart};
use crate::slow_disk::SlowDisk;
use crate::soak::Soak;
use crate::table::Table;
use crate::webhooks::Webhooks;
use crate::widths::Widths;
use crate::{Outcome, Place, cleanup, machine, progress};
use chrono::Utc;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Figures of peers that cannot be run here, with their sources and conditions.
const QUOTED: &str = include_str!("../quoted.md");

/// Characters of a reason that a report shows; it may have a whole answer in it.
const WHY_MAX: usize = 400;

/// Everything, and one report of it
#[derive(Args, Debug)]
pub struct All {
    #[command(flatten)]
    place: Place,
    /// The library that makes syncs slower (benches/load/slow_sync.c), for the part that needs it
    #[arg(long)]
    slow_sync: Option<PathBuf>,
    /// Directory for report.md, report.json and the charts; without it the report goes to stdout
    /// alone
    #[arg(long)]
    out: Option<PathBuf>,
    /// These parts alone
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Name>,
    /// All but these parts
    #[arg(long, value_enum, value_delimiter = ',', conflicts_with = "only")]
    skip: Vec<Name>,
    /// Rounds of every part, instead of what each has by itself
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds per case and round of every part, instead of what each has by itself
    #[arg(long)]
    seconds: Option<u64>,
    /// A hundredth of every size: whether it works, not how fast
    #[arg(long)]
    small: bool,
    /// What is measured, for the report: a commit
    #[arg(long)]
    commit: Option<String>,
}

/// A part of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    Day,
    Soak,
    Engine,
    Http,
    Widths,
    SlowDisk,
    Latency,
    Overload,
    Abuse,
    Live,
    Pause,
    Growth,
    Restart,
    Memory,
    Webhooks,
    Rates,
}

/// A part that is ready to be run.
struct Part {
    name: Name,
    takes: Duration,
    run: Box<dyn Fn() -> Outcome<Report>>,
}

/// A part that was run.
struct Done {
    name: Name,
    took: Duration,
    report: Outcome<Report>,
}

impl All {
    /// Measures, prints and writes.
    pub fn run(self) -> Outcome<()> {
        if self.rounds == Some(0) || self.seconds == Some(0) {
            return Err("there must be at least one round of at least a second".to_owned());
        }
        let parts: Vec<Part> = Name::value_variants()
            .iter()
            .filter(|name| self.has(**name))
            .map(|name| self.part(*name))
            .collect::<Outcome<_>>()?;
        let takes: Duration = parts.iter().map(|part| part.takes).sum();
        cleanup::watch(takes * 3 + Duration::from_secs(120));
        progress(&format!("{} parts, about {} minutes", parts.len(), takes.as_secs().div_ceil(60)));
        let place = self.place.made()?;
        let run = Run {
            machine: machine::describe(&place),
            at: Utc::now().format("%Y-%m-%d %H:%M UTC").to_string(),
            commit: self.commit.clone(),
            began: Instant::now(),
        };
        let mut done: Vec<Done> = Vec::new();
        for (nth, part) in parts.iter().enumerate() {
            let left: Duration = parts[nth..].iter().map(|part| part.takes).sum();
            progress(&format!(
                "part {} of {}: {} (about {} s; everything that is left about {} s)",
                nth + 1,
                parts.len(),
                part.name.name(),
                part.takes.as_secs(),
                left.as_secs()
            ));
            let began = Instant::now();
            let report = catch_unwind(AssertUnwindSafe(|| (part.run)()))
                .unwrap_or_else(|_| Err("it panicked; stderr says why".to_owned()));
            let report = report.map_err(|why| why.chars().take(WHY_MAX).collect());
            match &report {
                Ok(report) => report.print(),
                Err(why) => progress(&format!("{}: {why}", part.name.name())),
            }
            done.push(Done { name: part.name, took: began.elapsed(), report });
            if let Some(out) = &self.out {
                run.write(out, &done)?;
            }
        }
        println!("{}", run.summary(&done));
        let failed: Vec<&str> =
            done.iter().filter(|done| done.report.is_err()).map(|done| done.name.name()).collect();
        if failed.is_empty() { Ok(()) } else { Err(format!("not measured: {}", failed.join(", "))) }
    }

    fn has(&self, name: Name) -> bool {
        if self.only.is_empty() { !self.skip.contains(&name) } else { self.only.contains(&name) }
    }

    fn part(&self, name: Name) -> Outcome<Part> {
        let place = self.place.clone();
        let (rounds, seconds) = (|usual| self.rounds.unwrap_or(usual), |usual| self.seconds.unwrap_or(usual));
        let size = |usual: u64| if self.small { usual / 100 } else { usual };
        let count = |usual: u64| usize::try_from(size(usual)).unwrap_or(usize::MAX);
        let slow_sync = self.slow_sync.clone();
        Ok(match name {
            Name::Day => {
                let part = Day {
                    place,
                    connections: 64,
                    shops: 20,
                    endpoints: 100,
                    items: 20,
                    seconds: seconds(3),
                    rounds: rounds(3),
                    seed: 1,
                };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Soak => {
                let part = Soak {
                    place,
                    minutes: 1,
                    rate: 300,
                    connections: 64,
                    shops: 20,
                    endpoints: 100,
                    clock_minutes: 60,
                    seed: 1,
                };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Engine => {
                let part =
                    InProcess { place, callers: vec![1, 64, 1024], seconds: seconds(2), rounds: rounds(3) };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Http => {
                let tenants = vec![1, count(1_000)];
                let connections = vec![16, 64, 256];
                let part = Http {
                    place,
                    connections,
                    batch_connections: vec![1, 8],
                    tenants,
                    seconds: seconds(2),
                    rounds: rounds(3),
                    threads: 2,
                    only: Vec::new(),
                };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Widths => {
                let part = Widths {
                    place,
                    connections: vec![16, 64, 256, 1_024, count(4_096).max(2_048)],
                    tenants: vec![1, 10, count(1_000).max(20)],
                    seconds: seconds(2),
                    rounds: rounds(2),
                };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::SlowDisk => match slow_sync {
                Some(slow_sync) => {
                    let part = SlowDisk {
                        place,
                        slow_sync,
                        slower_us: 1_000,
                        connections: vec![64, 256],
                        seconds: seconds(2),
                        rounds: rounds(2),
                    };
                    Part::new(name, part.takes(), move || part.report())
                }
                None => Part::new(name, Duration::ZERO, || {
                    Err("--slow-sync does not say where the library is that makes syncs slower".to_owned())
                }),
            },
            Name::Latency => {
                let part = Latency {
                    place,
                    percent: vec![10, 25, 50, 75, 90],
                    seconds: seconds(3),
                    rounds: rounds(2),
                };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Overload => {
                let part = Overload {
                    place,
                    connections: count(4_000).max(400),
                    percent: vec![120, 200, 500],
                    tenants: 20,
                    seconds: seconds(5),
                    without_shares: false,
                };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Abuse => {
                let part = Abuse {
                    place,
                    connections: 256,
                    rate: 300,
                    seconds: seconds(4),
                    rounds: rounds(3),
                    without_shares: false,
                };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Live => {
                let part = Live { place, seconds: seconds(4), rounds: rounds(3) };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Pause => {
                let part = Pause { place, holds: size(1_000_000), snapshots: 5 };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Growth => {
                let tenants =
                    [1_000, 100_000].map(|tenants| u32::try_from(size(tenants)).unwrap_or(u32::MAX)).to_vec();
                let (holds, history) =
                    ([1_000, 1_000_000].map(size).to_vec(), [1_000_000, 10_000_000].map(size).to_vec());
                let part = Growth {
                    place,
                    tenants,
                    active: 0,
                    holds,
                    history,
                    seconds: seconds(2),
                    rounds: rounds(3),
                };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Restart => {
                let part = Restart { place, records: size(1_000_000), tail: size(1_000_000) };
                Part::new(name, part.takes(), move || restart::report(std::slice::from_ref(&part)))
            }
            Name::Memory => {
                let part = Memory { place, tenants: count(10_000), payouts: size(600_000) };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Webhooks => {
                let part = Webhooks {
                    place,
                    endpoints: vec![1, count(100).max(2)],
                    connections: 64,
                    seconds: seconds(2),
                    rounds: rounds(2),
                };
                Part::new(name, part.takes(), move || part.report())
            }
            Name::Rates => {
                // With fewer samples there are hours without any, and answers are shorter than they
                // should be.
                let samples = u32::try_from(size(1_000_000)).unwrap_or(u32::MAX).max(50_000);
                let part = Rates {
                    place,
                    samples,
                    connections: vec![1, 64],
                    seconds: seconds(1),
                    rounds: rounds(2),
                    threads: 2,
                };
                Part::new(name, part.takes(), move || part.report())
            }
        })
    }
}

impl Part {
    fn new(name: Name, takes: Duration, run: impl Fn() -> Outcome<Report> + 'static) -> Part {
        Part { name, takes, run: Box::new(run) }
    }
}

impl Name {
    /// The part's name on the command line.
    fn name(self) -> &'static str {
        match self {
            Name::Day => "day",
            Name::Soak => "soak",
            Name::Engine => "engine",
            Name::Http => "http",
            Name::Widths => "widths",
            Name::SlowDisk => "slow-disk",
            Name::Latency => "latency",
            Name::Overload => "overload",
            Name::Abuse => "abuse",
            Name::Live => "live",
            Name::Pause => "pause",
            Name::Growth => "growth",
            Name::Restart => "restart",
            Name::Memory => "memory",
            Name::Webhooks => "webhooks",
            Name::Rates => "rates",
        }
    }
}

/// The head of the report, which holds for all parts.
struct Run {
    machine: String,
    at: String,
    commit: Option<String>,
    began: Instant,
}

impl Run {
    fn write(&self, out: &Path, done: &[Done]) -> Outcome<()> {
        let fail = |error: std::io::Error| format!("{}: {error}", out.display());
        std::fs::create_dir_all(out).map_err(fail)?;
        std::fs::write(out.join("report.md"), self.to_markdown(done)).map_err(fail)?;
        let json = serde_json::to_string_pretty(&self.to_json(done)).map_err(|error| error.to_string())?;
        std::fs::write(out.join("report.json"), json + "\n").map_err(fail)?;
        for chart in
            done.iter().filter_map(|done| done.report.as_ref().ok()).flat_map(|report| &report.charts)
        {
            std::fs::write(out.join(format!("{}.svg", chart.file)), chart.to_svg()).map_err(fail)?;
        }
        Ok(())
    }

    /// The bars and the figures that count.
    fn summary(&self, done: &[Done]) -> String {
        let reports = || done.iter().filter_map(|done| done.report.as_ref().ok());
        let mut lines = Table::new("Figures", &["what", "figure", "baseline of the same run", "ratio"]);
        for line in reports().flat_map(|report| &report.lines) {
            lines.row([line.what.clone(), line.figure.clone(), line.baseline.clone(), line.ratio.clone()]);
        }
        let met = reports().flat_map(|report| &report.bars).filter(|bar| bar.is_met()).count();
        let mut bars = bars(reports().flat_map(|report| &report.bars));
        bars.remark(format!(
            "{met} of {} are met.",
            reports().map(|report| report.bars.len()).sum::<usize>()
        ));
        for (name, why) in
            done.iter().filter_map(|done| Some((done.name.name(), done.report.as_ref().err()?)))
        {
            bars.remark(format!("**Not measured**: {name}: {why}."));
        }
        format!("{bars}{lines}")
    }

    fn to_markdown(&self, done: &[Done]) -> String {
        let mut text = format!(
            "# How fast it is\n\nMade by `make bench` ({}{}, release {}, {} s so far); do not edit, run it again. Every figure stands beside a baseline of the same run: compare ratios, not \
             machines.\n\n{}\n",
            self.at,
            self.commit.as_ref().map_or_else(String::new, |commit| format!(", commit {commit}")),
            env!("CARGO_PKG_VERSION"),
            self.began.elapsed().as_secs(),
            self.machine
        );
        text.push_str(&self.summary(done));
        for done in done {
            let Ok(report) = &done.report else { continue };
            for chart in &report.charts {
                let _ = write!(text, "\n![{}]({}.svg)\n", chart.title, chart.file);
            }
            let _ =
                write!(text, "{report}\n`pasarela-bench {}`, {} s.\n", done.name.name(), done.took.as_secs());
        }
        text.push('\n');
        text.push_str(QUOTED);
        text
    }

    fn to_json(&self, done: &[Done]) -> Value {
        let part = |done: &Done| {
            let (report, failure) = match &done.report {
                Ok(report) => (report.to_json(), Value::Null),
                Err(why) => (Value::Null, Value::String(why.clone())),
            };
            json!({ "name": done.name.name(), "seconds": done.took.as_secs(), "failure": failure, "report": report })
        };
        json!({
            "at": self.at,
            "commit": self.commit,
            "release": env!("CARGO_PKG_VERSION"),
            "machine": self.machine,
            "seconds": self.began.elapsed().as_secs(),
            "parts": done.iter().map(part).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Bar;

    #[test]
    fn what_failed_is_said_and_what_was_measured_stays() {
        let run = Run {
            machine: "m".to_owned(),
            at: "now".to_owned(),
            commit: Some("abc".to_owned()),
            began: Instant::now(),
        };
        let report = Report { bars: vec![Bar::ratio("fast", 1, 2, 49)], ..Report::default() };
        let done = [
            Done { name: Name::Engine, took: Duration::ZERO, report: Ok(report) },
            Done { name: Name::Http, took: Duration::ZERO, report: Err("no disk".to_owned()) },
        ];
        let text = run.to_markdown(&done);
        assert!(
            text.contains("**Not measured**: http: no disk.")
                && text.contains("1 of 1 are met")
                && text.contains("commit abc"),
            "{text}"
        );
        let json = run.to_json(&done);
        assert_eq!(
            (&json["parts"][0]["report"]["bars"][0]["met"], &json["parts"][1]["failure"]),
            (&json!(true), &json!("no disk"))
        );
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        for name in Name::value_variants() {
            assert_eq!(
                name.to_possible_value().map(|value| value.get_name().to_owned()),
                Some(name.name().to_owned())
            );
        }
    }
}
