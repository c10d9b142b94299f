//! Prometheus' text format, version 0.0.4. Times are whole microseconds inside and exact decimals
//! of seconds on the page.

use std::fmt::{self, Write};
use wal::Counted;

/// Families of metrics: kind, name, help, then what is gone through, the labels of each, and its figure.
macro_rules! families {
    (@each $family:ident [] [$($label:tt)*] $figure:expr) => {
        $family.sample(&[$($label)*], $figure)
    };
    (@each $family:ident [($one:pat) ($all:expr) $($more:tt)*] $labels:tt $figure:expr) => {
        for $one in $all {
            families!(@each $family [$($more)*] $labels $figure);
        }
    };
    ($page:ident $($kind:ident $name:literal $help:literal
        $(for $one:pat in $all:expr,)* $(by($($label:literal $named:expr),+))? => $figure:expr;)*) => {
        $({
            let mut family = $page.family($name, stringify!($kind), $help);
            families!(@each family [$(($one) ($all))*] [$($(($label, $named),)+)?] $figure);
        })*
    };
}
pub(super) use families;

#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Whole(u64),
    Micros(u64),
    /// Of a currency with so many decimals, shown as units.
    Minor(u64, u32),
    /// A histogram, with what its bounds and its sum are.
    Counted(&'a Counted, fn(u64) -> Value<'static>),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Whole(number) => write!(f, "{number}"),
            Value::Minor(minor, decimals) => {
                let unit = 10_u64.pow(decimals);
                match (minor / unit, minor % unit) {
                    (units, 0) => write!(f, "{units}"),
                    (units, rest) => write!(f, "{units}.{rest:0width$}", width = decimals as usize),
                }
            }
            Value::Micros(micros) => match (micros / 1_000_000, micros % 1_000_000) {
                (seconds, 0) => write!(f, "{seconds}"),
                (seconds, rest) => f.write_str(format!("{seconds}.{rest:06}").trim_end_matches('0')),
            },
            Value::Counted(counted, _) => write!(f, "{}", counted.total()),
        }
    }
}

macro_rules! whole {
    ($($number:ty),*) => {
        $(impl From<$number> for Value<'_> {
            fn from(number: $number) -> Self {
                Value::Whole(number as u64)
            }
        })*
    };
}
whole!(u64, u32, usize, bool);

impl From<std::time::Duration> for Value<'_> {
    fn from(time: std::time::Duration) -> Self {
        Value::Micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
    }
}

pub type Labels<'a> = &'a [(&'a str, &'a str)];

#[derive(Default)]
pub struct Page {
    pub text: String,
}

pub struct Family<'p> {
    text: &'p mut String,
    name: &'static str,
}

impl Page {
    pub fn family(&mut self, name: &'static str, kind: &str, help: &str) -> Family<'_> {
        let text = &mut self.text;
        push(text, format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        Family { text, name }
    }
}

impl Family<'_> {
    pub fn sample<'v>(&mut self, labels: Labels<'_>, value: impl Into<Value<'v>>) {
        let value = value.into();
        let Value::Counted(counted, unit) = value else { return self.line("", labels, None, value) };
        let mut below = 0_u64;
        for (bound, count) in counted.bounds.iter().zip(&counted.counts) {
            below += count;
            self.line("_bucket", labels, Some(&unit(*bound).to_string()), below.into());
        }
        self.line("_bucket", labels, Some("+Inf"), value);
        self.line("_sum", labels, None, unit(counted.sum));
        self.line("_count", labels, None, value);
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, bound: Option<&str>, value: Value<'_>) {
        push(self.text, format_args!("{}{suffix}", self.name));
        let all = labels.iter().copied().chain(bound.map(|bound| ("le", bound)));
        let mut open = '{';
        for (name, label) in all {
            self.text.push(open);
            let label = label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            push(self.text, format_args!("{name}=\"{label}\""));
            open = ',';
        }
        if open == ',' {
            self.text.push('}');
        }
        push(self.text, format_args!(" {value}\n"));
    }
}

fn push(text: &mut String, arguments: fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;
    use wal::Histogram;

    #[test]
    fn a_page_is_what_prometheus_reads() {
        let mut page = Page::default();
        let odd = [("/a/:id", "a\"b\\c\nd", 3_u64), ("/b", "", 0)];
        families! { page
            counter "x_total" "What." for (route, odd, count) in odd, by("route" route, "odd" odd) => count;
            gauge "y_seconds" "How long." => Value::Micros(1_250_000);
        }
        let expected = "# HELP x_total What.\n# TYPE x_total \
            counter\nx_total{route=\"/a/:id\",odd=\"a\\\"b\\\\c\\nd\"} 3\nx_total{route=\"/b\",odd=\"\"} 0\n\
            # HELP y_seconds How long.\n# TYPE y_seconds gauge\ny_seconds 1.25\n";
        assert_eq!(page.text, expected);
    }

    #[test]
    fn buckets_add_up() {
        let histogram = Histogram::new(&[500, 1_000]);
        [100, 700, 900, 4_000].into_iter().for_each(|value| histogram.note(value));
        let mut page = Page::default();
        families! { page
            histogram "z" "Z." by("a" "b") => Value::Counted(&histogram.counted(), Value::Micros);
        }
        let lines: Vec<&str> = page.text.lines().skip(2).collect();
        let expected = [
            "z_bucket{a=\"b\",le=\"0.0005\"} 1",
            "z_bucket{a=\"b\",le=\"0.001\"} 3",
            "z_bucket{a=\"b\",le=\"+Inf\"} 4",
            "z_sum{a=\"b\"} 0.0057",
            "z_count{a=\"b\"} 4",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn seconds_are_exact() {
        let shown =
            [0, 1, 10, 250_000, 1_000_000, 60_000_001].map(|micros| Value::Micros(micros).to_string());
        assert_eq!(shown, ["0", "0.000001", "0.00001", "0.25", "1", "60.000001"]);
    }
}
