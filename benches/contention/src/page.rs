//! The page that a person reads and cites: Markdown, the same as HTML with its plots in it, and the
//! plots as SVG.

use crate::Outcome;
use crate::chart::{Chart, Series};
use crate::loader::Seen;
use crate::peer::About;
use crate::speed::{Cell, Plan, Settings, rate};
use crate::table::{Table, grouped, median, milliseconds};
use crate::verdict::Found;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Characters of a reason that the page shows.
const WHY_MAX: usize = 300;
/// Open loops that did less than this part, in hundredths, did not keep up.
const KEPT_UP: u64 = 95;

const METHOD: &str = "One balance, debited by everybody. **Closed loop**: each caller asks again when it was answered. \
**Open loop**: debits are due at a fixed rate, and a latency counts from when its debit was due, so a stall is felt by \
everybody who would have come meanwhile. Callers, servers and the loader share the machine; one peer runs at a time, on \
fresh data each round, and medians of the rounds are shown. A debit counts when its caller was told that it is \
durable; after every cell the balance is held against what was acknowledged, and a cell where they differ is an \
error, not a figure.\n\nEach peer is reached by its own protocol and does its own work: the table of what each does \
besides says what that is. A debit of Pasarela over HTTP is two durable records with their events and list entries; \
one of PostgreSQL is an update and a row; one of Redis is three writes in memory and their log; one of TigerBeetle is \
a transfer. So the figures compare what a team would run, not one and the same work.";

const JUDGED: &str = "A history: 32 callers debit a balance that suffices for 8,000 debits until it is used up, at most \
4,000 a second, 2 others read it, and the server is ended by SIGKILL three times meanwhile and started again. A caller \
that does not know what became of a debit asks again under the same id. In the end the server is started once more, and \
the judge holds every call against the balance and the debits that are there: nothing acknowledged is lost, nothing is \
debited twice, nothing is overdrawn, nobody is refused while there is money, and there is one order of all debits, \
refusals and reads that agrees with the clock (linearizability; decided exactly). SIGKILL leaves the kernel's cache: \
this says nothing about a power cut. The same is done with a fault planted in each peer, which has to be found. \
Append-only with roll-up takes no lock, so debits that do not see each other may overdraw: that is a property of the \
way, and no fault that was planted.";

/// Everything that is known until now.
pub struct Page {
    hardware: String,
    commit: String,
    plan: Plan,
    peers: Vec<(&'static str, About, String)>,
    skipped: Vec<(&'static str, String)>,
    verdicts: BTreeMap<&'static str, Result<Found, String>>,
    cells: BTreeMap<(&'static str, Cell), Vec<Seen>>,
    settings: Settings,
    failures: Vec<String>,
}

/// What was found, in a line.
pub fn in_a_line(found: &Result<Found, String>) -> String {
    match found {
        Err(why) => format!("not judged: {}", why.chars().take(WHY_MAX).collect::<String>()),
        Ok(found) => {
            let planted = found
                .planted
                .findings
                .first()
                .map_or("NOT found".to_owned(), |first| format!("found ({first})"));
            format!("{}; the planted fault is {planted}", holds(found))
        }
    }
}

fn holds(found: &Found) -> String {
    match found.killed.findings.as_slice() {
        [] => format!("right after {} kills", found.kills),
        findings => findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    }
}

impl Page {
    /// A page about nothing yet.
    pub fn new(hardware: String, commit: String, plan: &Plan) -> Page {
        Page {
            hardware,
            commit,
            plan: plan.clone(),
            peers: Vec::new(),
            skipped: Vec::new(),
            verdicts: BTreeMap::new(),
            cells: BTreeMap::new(),
            settings: Settings::default(),
            failures: Vec::new(),
        }
    }

    /// A peer that takes part.
    pub fn peer(&mut self, name: &'static str, about: About, version: String) {
        self.peers.push((name, about, version));
    }

    /// A peer that does not, and why.
    pub fn skipped(&mut self, name: &'static str, why: &str) {
        self.skipped.push((name, why.to_owned()));
    }

    /// What the judge says of a peer.
    pub fn verdict(&mut self, name: &'static str, found: Result<Found, String>) {
        self.verdicts.insert(name, found);
    }

    /// A round of a peer.
    pub fn cells(&mut self, name: &'static str, cells: Vec<(Cell, Seen)>) {
        for (cell, seen) in cells {
            self.cells.entry((name, cell)).or_default().push(seen);
        }
    }

    /// The settings that were the best.
    pub fn settings(&mut self, settings: &Settings) {
        self.settings = settings.clone();
    }

    /// What could not be measured.
    pub fn failures(&mut self, failures: &[String]) {
        self.failures = failures.iter().map(|why| why.chars().take(WHY_MAX).collect()).collect();
    }

    fn seen(&self, name: &'static str, cell: Cell) -> Option<&Vec<Seen>> {
        self.cells.get(&(name, cell))
    }

    fn rate(&self, name: &'static str, cell: Cell) -> Option<u64> {
        self.seen(name, cell).map(|rounds| median(rounds.iter().map(rate)))
    }

    fn us(&self, name: &'static str, cell: Cell, nth: usize) -> Option<u64> {
        self.seen(name, cell).map(|rounds| median(rounds.iter().map(|seen| seen.us[nth])))
    }

    /// Whether an open loop kept up with its rate.
    fn kept_up(&self, name: &'static str, offered: u64) -> bool {
        self.rate(name, Cell::Open(offered)).is_some_and(|done| done * 100 >= offered * KEPT_UP)
    }

    fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.judged()];
        if !self.cells.is_empty() {
            tables.extend([self.throughput(), self.latency(), self.open()]);
        }
        tables.extend([self.besides(), self.versions()]);
        tables
    }

    fn judged(&self) -> Table {
        let columns = [
            "peer",
            "done",
            "refused",
            "not known",
            "reads",
            "kills",
            "verdict",
            "planted fault",
            "was it found",
        ];
        let mut table = Table::new("Is it right?", &columns);
        table.remark(JUDGED);
        for (name, about, _) in &self.peers {
            let row = match self.verdicts.get(name) {
                None => continue,
                Some(Err(why)) => {
                    let dash = || "–".to_owned();
                    let why = why.chars().take(WHY_MAX).collect::<String>().replace(['\n', '|'], " ");
                    [
                        about.title.to_owned(),
                        dash(),
                        dash(),
                        dash(),
                        dash(),
                        dash(),
                        format!("not judged: {why}"),
                        about.plant.to_owned(),
                        dash(),
                    ]
                }
                Some(Ok(found)) => {
                    let count = |number: usize| grouped(number as u64);
                    let planted = match found.planted.findings.first() {
                        Some(first) => format!("yes: {first}"),
                        None => "**no**".to_owned(),
                    };
                    [
                        about.title.to_owned(),
                        count(found.killed.done),
                        count(found.killed.refused),
                        count(found.killed.unknown),
                        count(found.killed.reads),
                        count(found.kills),
                        holds(found),
                        about.plant.to_owned(),
                        planted,
                    ]
                }
            };
            table.row(row);
        }
        table
    }

    fn throughput(&self) -> Table {
        let callers: Vec<String> =
            self.plan.callers.iter().map(|callers| format!("{} callers", grouped(*callers as u64))).collect();
        let columns: Vec<&str> =
            ["peer", "debits in a call"].into_iter().chain(callers.iter().map(String::as_str)).collect();
        let mut table = Table::new("Durable debits a second, closed loop", &columns);
        table.remark("A dash: more than 600,000 debits would be under way at once.");
        for (name, about, _) in &self.peers {
            let rates = self.plan.callers.iter().map(|callers| self.rate(name, Cell::Closed(*callers)));
            let rates = rates.map(|rate| rate.map_or("–".to_owned(), grouped));
            table.row([about.title.to_owned(), grouped(about.per_call as u64)].into_iter().chain(rates));
        }
        table
    }

    fn latency(&self) -> Table {
        let callers: Vec<String> =
            self.plan.callers.iter().map(|callers| format!("{} callers", grouped(*callers as u64))).collect();
        let columns: Vec<&str> = ["peer"].into_iter().chain(callers.iter().map(String::as_str)).collect();
        let mut table = Table::new("Latency of a call, closed loop: p50 / p99 / p99.9 in ms", &columns);
        for (name, about, _) in &self.peers {
            let cells = self.plan.callers.iter().map(|callers| self.three(name, Cell::Closed(*callers)));
            table.row([about.title.to_owned()].into_iter().chain(cells));
        }
        table
    }

    fn three(&self, name: &'static str, cell: Cell) -> String {
        let three: Option<Vec<String>> =
            (0..3).map(|nth| self.us(name, cell, nth).map(milliseconds)).collect();
        three.map_or("–".to_owned(), |three| three.join(" / "))
    }

    fn open(&self) -> Table {
        let rates: Vec<String> = self.plan.rates.iter().map(|rate| format!("{}/s", grouped(*rate))).collect();
        let columns: Vec<&str> = ["peer"].into_iter().chain(rates.iter().map(String::as_str)).collect();
        let mut table = Table::new(
            "The same work for all: debits due at a fixed rate, p50 / p99 / p99.9 in ms",
            &columns,
        );
        table.remark("Open loop, 256 callers; a latency counts from when the call was due. Where a peer did less than 95 % of what was due, what it did is shown. A dash: too few calls at that rate.");
        for (name, about, _) in &self.peers {
            let cells = self.plan.rates.iter().map(|offered| match self.rate(name, Cell::Open(*offered)) {
                Some(done) if !self.kept_up(name, *offered) => format!("{}/s done", grouped(done)),
                _ => self.three(name, Cell::Open(*offered)),
            });
            table.row([about.title.to_owned()].into_iter().chain(cells));
        }
        table
    }

    fn besides(&self) -> Table {
        let columns = ["peer", "a debit is", "the same id again", "events", "lists", "past balances"];
        let mut table = Table::new("What each does besides", &columns);
        for (_, about, _) in &self.peers {
            table.row([about.title, about.how].into_iter().chain(about.besides).map(str::to_owned));
        }
        table
    }

    fn versions(&self) -> Table {
        let mut table = Table::new(
            "Versions and settings",
            &["peer", "version", "reached by", "durable by", "best of the settings tried"],
        );
        for (name, why) in &self.skipped {
            table.remark(format!("{name} was skipped: {why}.\n"));
        }
        for (name, about, version) in &self.peers {
            let setting = self.settings.0.get(*name).map_or("–".to_owned(), |(_, setting)| setting.clone());
            table.row([
                about.title.to_owned(),
                version.replace('|', " "),
                about.reached.to_owned(),
                about.durable.to_owned(),
                setting,
            ]);
        }
        table
    }

    fn charts(&self) -> Vec<Chart> {
        if self.cells.is_empty() {
            return Vec::new();
        }
        let series = |points: &dyn Fn(&'static str) -> Vec<Option<u64>>| -> Vec<Series> {
            self.peers
                .iter()
                .map(|(name, about, _)| Series { name: about.title.to_owned(), points: points(name) })
                .collect()
        };
        let closed = |of: &dyn Fn(&'static str, Cell) -> Option<u64>, name| {
            self.plan
                .callers
                .iter()
                .map(|callers| of(name, Cell::Closed(*callers)).filter(|value| *value > 0))
                .collect()
        };
        let callers: Vec<String> = self.plan.callers.iter().map(ToString::to_string).collect();
        vec![
            Chart {
                file: "contention-throughput",
                title: "Durable debits on one balance, closed loop".to_owned(),
                across: "callers",
                upwards: "debits per second",
                steps: callers.clone(),
                series: series(&|name| closed(&|name, cell| self.rate(name, cell), name)),
                by_factors: true,
            },
            Chart {
                file: "contention-p99",
                title: "p99 of a call, closed loop".to_owned(),
                across: "callers",
                upwards: "microseconds",
                steps: callers,
                series: series(&|name| closed(&|name, cell| self.us(name, cell, 1), name)),
                by_factors: true,
            },
            Chart {
                file: "contention-open",
                title: "p99 at a fixed rate, of those that kept up".to_owned(),
                across: "debits due per second",
                upwards: "microseconds",
                steps: self.plan.rates.iter().map(ToString::to_string).collect(),
                series: series(&|name| {
                    let at = |offered: &u64| {
                        self.us(name, Cell::Open(*offered), 1).filter(|_| self.kept_up(name, *offered))
                    };
                    self.plan.rates.iter().map(at).collect()
                }),
                by_factors: true,
            },
        ]
    }

    fn head(&self) -> String {
        let commit =
            if self.commit.is_empty() { String::new() } else { format!(" · commit {}", self.commit) };
        format!("{} rounds of {} ms a cell{commit} · {}", self.plan.rounds, self.plan.time_ms, self.hardware)
    }

    /// The page as Markdown.
    pub fn markdown(&self) -> String {
        let mut page = format!("# One hot balance\n\n{}\n\n{METHOD}\n", self.head());
        for why in &self.failures {
            let _ = writeln!(page, "\n**Not measured** {why}.");
        }
        for chart in self.charts() {
            let _ = write!(page, "\n![{}]({}.svg)\n", chart.title, chart.file);
        }
        self.tables().iter().for_each(|table| page += &table.to_string());
        page
    }

    fn html(&self) -> String {
        let mut page = String::from(
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>One hot balance</title>\n<style>body{font:15px/1.5 sans-serif;max-width:1200px;margin:2em auto;padding:0 1em;color:#222}\
             table{border-collapse:collapse;font-size:13px;margin:1em 0}td,th{border:1px solid #ddd;padding:4px 8px;text-align:right;vertical-align:top}\
             td:first-child,th:first-child,.text td,.text th{text-align:left}svg{max-width:100%;height:auto}.wide{overflow-x:auto}</style>\n",
        );
        let paragraphs = |page: &mut String, text: &str| {
            for paragraph in text.split("\n\n") {
                let marked = escaped(paragraph);
                let mut bold = false;
                let html: Vec<String> = marked
                    .split("**")
                    .map(|part| {
                        let piece = if bold { format!("<b>{part}</b>") } else { part.to_owned() };
                        bold = !bold;
                        piece
                    })
                    .collect();
                let _ = writeln!(page, "<p>{}</p>", html.concat());
            }
        };
        let _ = writeln!(page, "<h1>One hot balance</h1>");
        paragraphs(&mut page, &self.head());
        paragraphs(&mut page, METHOD);
        self.failures.iter().for_each(|why| paragraphs(&mut page, &format!("**Not measured** {why}.")));
        self.charts().iter().for_each(|chart| page += &chart.to_svg());
        for table in self.tables() {
            let json = table.to_json();
            let _ = writeln!(page, "<h2>{}</h2>", escaped(json["title"].as_str().unwrap_or_default()));
            for remark in json["remarks"].as_array().into_iter().flatten() {
                paragraphs(&mut page, remark.as_str().unwrap_or_default());
            }
            let rows: Vec<_> =
                json["rows"].as_array().into_iter().flatten().filter_map(|row| row.as_object()).collect();
            let Some(first) = rows.first() else { continue };
            let cell = |tag: &str, text: &str| format!("<{tag}>{}</{tag}>", escaped(text));
            let _ = write!(page, "<div class=\"wide\"><table>\n<tr>");
            first.keys().for_each(|name| page += &cell("th", name));
            let _ = writeln!(page, "</tr>");
            for row in &rows {
                let cells: Vec<String> =
                    row.values().map(|value| cell("td", value.as_str().unwrap_or_default())).collect();
                let _ = writeln!(page, "<tr>{}</tr>", cells.concat());
            }
            let _ = writeln!(page, "</table></div>");
        }
        page + "</html>\n"
    }

    /// Writes the page and its plots.
    pub fn write(&self, out: &Path) -> Outcome<()> {
        let fail = |error: std::io::Error| format!("{}: {error}", out.display());
        std::fs::create_dir_all(out).map_err(fail)?;
        let page = out.join("contention");
        std::fs::write(page.with_extension("md"), self.markdown()).map_err(fail)?;
        std::fs::write(page.with_extension("html"), self.html()).map_err(fail)?;
        self.charts().iter().try_for_each(|chart| {
            std::fs::write(out.join(format!("{}.svg", chart.file)), chart.to_svg()).map_err(fail)
        })
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
