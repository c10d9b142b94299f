//! Prometheus' text format, version 0.0.4. Times are whole microseconds inside and exact decimals
//! of seconds on the page.

use std::fmt::{self, Write};
use wal::Counted;

macro_rules! figures {
    ($page:ident $($kind:ident $name:literal $help:literal => $value:expr;)*) => {
        $($page.$kind($name, $help).is($value);)*
    };
}
pub(super) use figures;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Whole(u64),
    Micros(u64),
    /// Of a currency with so many decimals, shown as units.
    Minor(u64, u32),
}

impl fmt::Display for Value {
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
        }
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Whole(number)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Value {
        Value::Whole(number as u64)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Whole(number.into())
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Whole(truth.into())
    }
}

impl From<std::time::Duration> for Value {
    fn from(time: std::time::Duration) -> Value {
        Value::Micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
    }
}

pub type Labels<'a> = &'a [(&'a str, &'a str)];

#[derive(Default)]
pub struct Page {
    text: String,
}

pub struct Family<'p> {
    text: &'p mut String,
    name: &'static str,
}

impl Page {
    /// Its name ends with `_total`.
    pub fn counter(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, "counter", help)
    }

    pub fn gauge(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, "gauge", help)
    }

    pub fn histogram(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, "histogram", help)
    }

    pub fn end(self) -> String {
        self.text
    }

    fn family(&mut self, name: &'static str, kind: &str, help: &str) -> Family<'_> {
        let text = &mut self.text;
        push(text, format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        Family { text, name }
    }
}

impl Family<'_> {
    pub fn is(self, value: impl Into<Value>) {
        let mut family = self;
        family.sample(&[], value);
    }

    pub fn sample(&mut self, labels: Labels<'_>, value: impl Into<Value>) -> &mut Self {
        self.line("", labels, None, value.into());
        self
    }

    pub fn by<T, V: Into<Value>>(
        mut self,
        label: &str,
        of: impl IntoIterator<Item = T>,
        read: impl Fn(&T) -> (&str, V),
    ) {
        for one in of {
            let (named, value) = read(&one);
            self.sample(&[(label, named)], value);
        }
    }

    /// `unit` says what the bounds and the sum are.
    pub fn counted(&mut self, labels: Labels<'_>, counted: &Counted, unit: fn(u64) -> Value) -> &mut Self {
        let mut below = 0_u64;
        for (bound, count) in counted.bounds.iter().zip(&counted.counts) {
            below += count;
            self.line("_bucket", labels, Some(&unit(*bound).to_string()), below.into());
        }
        let total = counted.total();
        self.line("_bucket", labels, Some("+Inf"), total.into());
        self.line("_sum", labels, None, unit(counted.sum));
        self.line("_count", labels, None, total.into());
        self
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, bound: Option<&str>, value: Value) {
        push(self.text, format_args!("{}{suffix}", self.name));
        let all = labels.iter().copied().chain(bound.map(|bound| ("le", bound)));
        let mut open = '{';
        for (name, label) in all {
            self.text.push(open);
            push(self.text, format_args!("{name}=\""));
            escape(self.text, label);
            self.text.push('"');
            open = ',';
        }
        if open == ',' {
            self.text.push('}');
        }
        push(self.text, format_args!(" {value}\n"));
    }
}

fn escape(text: &mut String, label: &str) {
    for letter in label.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            letter => text.push(letter),
        }
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
        page.counter("x_total", "What.")
            .sample(&[("route", "/a/:id"), ("odd", "a\"b\\c\nd")], 3_u64)
            .sample(&[("route", "/b"), ("odd", "")], 0_u64);
        page.gauge("y_seconds", "How long.").is(Value::Micros(1_250_000));
        let expected = "# HELP x_total What.\n# TYPE x_total \
            counter\nx_total{route=\"/a/:id\",odd=\"a\\\"b\\\\c\\nd\"} 3\nx_total{route=\"/b\",odd=\"\"} 0\n\
            # HELP y_seconds How long.\n# TYPE y_seconds gauge\ny_seconds 1.25\n";
        assert_eq!(page.end(), expected);
    }

    #[test]
    fn buckets_add_up() {
        let histogram = Histogram::new(&[500, 1_000]);
        [100, 700, 900, 4_000].into_iter().for_each(|value| histogram.note(value));
        let mut page = Page::default();
        page.histogram("z", "Z.").counted(&[("a", "b")], &histogram.counted(), Value::Micros);
        let text = page.end();
        let lines: Vec<&str> = text.lines().skip(2).collect();
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
