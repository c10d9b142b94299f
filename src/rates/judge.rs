//! A sample that is too far from the last accepted price of its series is suspect, and decides
//! nothing until it has been said often enough, or an operator pins it (`docs/contract.md, 14.1`).
//! No source is believed once that was wrong once by accident.

use domain::resources::rates::samples::{Sample, Series};
use domain::values::time::{MINUTE_MS, Timestamp};
use rust_decimal::Decimal;
use std::collections::VecDeque;
use std::sync::Arc;

const IN_A_ROW: usize = 3;
const IN_A_ROW_MS: i64 = 15 * MINUTE_MS;
const ALIKE_PERCENT: Decimal = Decimal::TWO;
/// One a second, and some. Of a series with more of them an operator says what holds.
const REMEMBERED_MAX: usize = 1_024;

/// How far a price may be from the one before it, in percent; 0: as far as it likes.
#[derive(Clone, Debug)]
pub struct Steps {
    pub default: Decimal,
    pub own: Vec<(Series, Decimal)>,
}

impl Default for Steps {
    fn default() -> Self {
        Steps { default: Decimal::from(25), own: Vec::new() }
    }
}

impl Steps {
    fn of(&self, series: &Series) -> Decimal {
        let own = self.own.iter().find(|(of, _)| of.line() == series.line());
        own.map_or(self.default, |(_, percent)| *percent)
    }
}

#[derive(Clone)]
struct Line {
    of: Series,
    /// That nobody pinned.
    accepted: Option<Arc<Sample>>,
    suspect: Option<Arc<Sample>>,
    /// In a row, oldest first: when each was heard, and its price.
    alike: VecDeque<(Timestamp, Decimal)>,
}

#[derive(Clone)]
pub(super) struct Judge {
    steps: Steps,
    lines: Vec<Line>,
}

impl Judge {
    pub fn new(steps: Steps) -> Judge {
        Judge { steps, lines: Vec::new() }
    }

    fn line(&mut self, of: Series) -> &mut Line {
        let at = self.lines.iter().position(|line| line.of == of).unwrap_or_else(|| {
            self.lines.push(Line { of, accepted: None, suspect: None, alike: VecDeque::new() });
            self.lines.len() - 1
        });
        &mut self.lines[at]
    }

    /// Heard at this time, beside these prices, which are in force or were.
    pub fn suspects(&mut self, sample: &Sample, before: &[Arc<Sample>], received_at: Timestamp) -> bool {
        let percent = self.steps.of(&sample.series);
        let line = self.line(sample.series.line());
        let own = line.accepted.iter().filter(|own| own.value_date <= sample.value_date);
        let mut known = before.iter().chain(own).peekable();
        let is_near =
            known.peek().is_none() || known.any(|known| is_within(known.price.0, sample.price.0, percent));
        if percent.is_zero() || is_near {
            return false;
        }
        line.alike.push_back((received_at, sample.price.0));
        while line.alike.len() > REMEMBERED_MAX || !are_alike(&line.alike) {
            line.alike.pop_front();
        }
        let span_ms = line.alike.front().map_or(0, |(first, _)| received_at.since_ms(*first));
        line.alike.len() < IN_A_ROW || span_ms < IN_A_ROW_MS
    }

    /// Of a feed, or of an operator who pins nothing, as it was judged.
    pub fn note(&mut self, sample: &Arc<Sample>) {
        let line = self.line(sample.series.line());
        if sample.suspect {
            if line.suspect.is_none() {
                let Series { pair, source, side, .. } = &sample.series;
                tracing::error!(%pair, %source, side = side.as_deref(), price = %sample.price.0, "a price is too far from the one before it: it is kept, and decides nothing until it is said again for a quarter of an hour, or an operator pins it");
            }
            line.suspect = Some(Arc::clone(sample));
            return;
        }
        line.alike.clear();
        line.suspect = None;
        if line.accepted.as_ref().is_none_or(|known| known.freshness() <= sample.freshness()) {
            line.accepted = Some(Arc::clone(sample));
        }
    }

    /// What is suspect of series that an operator has pinned is forgotten.
    pub fn settle(&mut self, is_pinned: impl Fn(&Series) -> bool) {
        for line in self.lines.iter_mut().filter(|line| is_pinned(&line.of)) {
            line.alike.clear();
            line.suspect = None;
        }
    }

    pub fn suspect(&self) -> Vec<Arc<Sample>> {
        self.lines.iter().filter_map(|line| line.suspect.clone()).collect()
    }
}

fn is_within(before: Decimal, price: Decimal, percent: Decimal) -> bool {
    (price - before).abs() * Decimal::ONE_HUNDRED <= before * percent
}

fn are_alike(prices: &VecDeque<(Timestamp, Decimal)>) -> bool {
    let of = || prices.iter().map(|(_, price)| *price);
    of().min().zip(of().max()).is_none_or(|(least, most)| is_within(least, most, ALIKE_PERCENT))
}
