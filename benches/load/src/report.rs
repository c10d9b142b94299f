//! The results of a part of the benchmark: tables, the figures that count, the bars and whether
//! they are met, and charts. Whatever is in the report is made from these; nothing is typed in.

use crate::chart::Chart;
use crate::table::{Table, decimal, grouped, microseconds, ratio};
use serde_json::{Value, json};
use std::fmt;

/// A figure that counts, beside its baseline.
pub struct Line {
    /// The name of what was measured.
    pub what: String,
    /// The figure.
    pub figure: String,
    /// The baseline's figure in the same run; empty when there is none.
    pub baseline: String,
    /// The ratio of the two.
    pub ratio: String,
}

/// The unit that a bar is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A ratio of two figures, in hundredths.
    Ratio,
    /// Microseconds, shown as milliseconds.
    Time,
    /// Nanoseconds, shown as microseconds.
    Cpu,
    /// Bytes.
    Bytes,
    /// A number per second.
    Rate,
}

impl Unit {
    fn show(self, figure: u64) -> String {
        match self {
            Unit::Ratio => decimal(figure, 2),
            Unit::Time => format!("{} ms", decimal((figure + 5) / 10, 2)),
            Unit::Cpu => format!("{} µs", microseconds(figure)),
            Unit::Bytes => format!("{} bytes", grouped(figure)),
            Unit::Rate => format!("{}/s", grouped(figure)),
        }
    }
}

/// The bound that a figure has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A least value.
    AtLeast(u64),
    /// A greatest value.
    AtMost(u64),
}

/// A figure that has to be so good.
pub struct Bar {
    /// The name of the figure.
    pub what: String,
    /// The unit of the figure and of the bound.
    pub unit: Unit,
    /// The figure.
    pub figure: u64,
    /// The bound that it has to keep.
    pub bound: Bound,
    /// The measurements that it was made from.
    pub from: String,
}

impl Bar {
    /// A ratio of two figures of the same run, which has to be at least so many hundredths.
    pub fn ratio(what: &str, part: u64, whole: u64, hundredths_min: u64) -> Bar {
        let figure = part.saturating_mul(100).checked_div(whole).unwrap_or(0);
        Bar {
            what: what.to_owned(),
            unit: Unit::Ratio,
            figure,
            bound: Bound::AtLeast(hundredths_min),
            from: format!("{}/s of {}/s", grouped(part), grouped(whole)),
        }
    }

    /// A figure that may be at most so much.
    pub fn at_most(what: &str, unit: Unit, figure: u64, most: u64, from: String) -> Bar {
        Bar { what: what.to_owned(), unit, figure, bound: Bound::AtMost(most), from }
    }

    /// A figure that has to be at least so much.
    pub fn at_least(what: &str, unit: Unit, figure: u64, least: u64, from: String) -> Bar {
        Bar { what: what.to_owned(), unit, figure, bound: Bound::AtLeast(least), from }
    }

    /// Whether it is met.
    pub fn is_met(&self) -> bool {
        match self.bound {
            Bound::AtLeast(least) => self.figure >= least,
            Bound::AtMost(most) => self.figure <= most,
        }
    }

    /// The figure as it is shown.
    pub fn figure(&self) -> String {
        self.unit.show(self.figure)
    }

    /// The bound as it is shown.
    pub fn bound(&self) -> String {
        match self.bound {
            Bound::AtLeast(least) => format!("≥ {}", self.unit.show(least)),
            Bound::AtMost(most) => format!("≤ {}", self.unit.show(most)),
        }
    }

    /// The figure as a share of its bound: above 1 is more than was asked for, whichever way better
    /// is.
    pub fn of_bound(&self) -> String {
        match self.bound {
            Bound::AtLeast(least) => ratio(self.figure, least),
            Bound::AtMost(most) => ratio(most, self.figure),
        }
    }

    fn to_json(&self) -> Value {
        let (kind, bound) = match self.bound {
            Bound::AtLeast(least) => ("atLeast", least),
            Bound::AtMost(most) => ("atMost", most),
        };
        let unit = match self.unit {
            Unit::Ratio => "hundredths",
            Unit::Time => "microseconds",
            Unit::Cpu => "nanoseconds",
            Unit::Bytes => "bytes",
            Unit::Rate => "perSecond",
        };
        json!({ "what": self.what, "unit": unit, "figure": self.figure, kind: bound, "from": self.from, "met": self.is_met() })
    }
}

/// The results of a part of the benchmark.
#[derive(Default)]
pub struct Report {
    /// The tables with all measurements.
    pub tables: Vec<Table>,
    /// The figures that count.
    pub lines: Vec<Line>,
    /// The bars.
    pub bars: Vec<Bar>,
    /// The charts.
    pub charts: Vec<Chart>,
}

impl Report {
    /// Prints the report to stdout.
    pub fn print(&self) {
        print!("{self}");
        if !self.bars.is_empty() {
            println!("{}", bars(&self.bars));
        }
    }

    /// The report as JSON, for programs.
    pub fn to_json(&self) -> Value {
        let line = |line: &Line| json!({ "what": line.what, "figure": line.figure, "baseline": line.baseline, "ratio": line.ratio });
        json!({
            "tables": self.tables.iter().map(Table::to_json).collect::<Vec<_>>(),
            "lines": self.lines.iter().map(line).collect::<Vec<_>>(),
            "bars": self.bars.iter().map(Bar::to_json).collect::<Vec<_>>(),
            "charts": self.charts.iter().map(Chart::to_json).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tables.iter().try_for_each(|table| table.fmt(f))
    }
}

/// The table of the bars, each with its figure.
pub fn bars<'a>(bars: impl IntoIterator<Item = &'a Bar>) -> Table {
    let mut table =
        Table::new("Bars", &["what", "figure", "asked for", "of what is asked for", "met", "from"]);
    for bar in bars {
        let met = if bar.is_met() { "yes" } else { "**no**" };
        table.row([
            bar.what.clone(),
            bar.figure(),
            bar.bound(),
            bar.of_bound(),
            met.to_owned(),
            bar.from.clone(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_met_or_it_is_not() {
        let least = |part| Bar::ratio("x", part, 1_000, 55);
        assert!(least(550).is_met() && !least(549).is_met() && !Bar::ratio("x", 1, 0, 1).is_met());
        assert_eq!(
            (least(550).figure(), least(550).bound(), least(550).from.as_str()),
            ("0.55".to_owned(), "≥ 0.55".to_owned(), "550/s of 1,000/s")
        );
        let most = |figure| Bar::at_most("x", Unit::Time, figure, 20_000, String::new());
        assert!(most(20_000).is_met() && !most(20_001).is_met());
        assert_eq!(
            (most(20_000).bound(), most(10_000).of_bound()),
            ("≤ 20.00 ms".to_owned(), "2.00".to_owned())
        );
        let table = bars([&least(1), &most(1)]).to_string();
        assert!(table.contains("**no**") && table.contains("yes"), "{table}");
    }
}
