//! Reading: by seek, at most as many entries as are shown.

use super::{
    ACCEPTED, LINE, Line, PIN, RateStore, RateStoreError, SAMPLE, Shelf, begin, decoded, key_at, letter,
};
use domain::resources::rates::buckets::{Bucket, Kept, Placed, Point, Step, Window, ticks};
use domain::resources::rates::pins::Pin;
use domain::resources::rates::samples::{Filter, Pair, Quotation, Sample, Series};
use domain::values::time::Timestamp;
use rocksdb::{DB, IteratorMode, ReadOptions};
use std::sync::{Arc, PoisonError};

pub(super) fn lines(db: &DB) -> Result<Vec<Arc<Line>>, RateStoreError> {
    let mut lines: Vec<Arc<Line>> = Vec::new();
    for entry in scan(db, vec![LINE], vec![LINE + 1], false) {
        let (key, value) = entry?;
        let number = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        if *key != *begin(LINE, number) {
            return Err(RateStoreError::Damaged(format!("line {number} is missing")));
        }
        lines.push(Arc::new(Line { number, series: Arc::new(decoded(&value, "a line")?) }));
    }
    Ok(lines)
}

type Entry = Result<(Box<[u8]>, Box<[u8]>), rocksdb::Error>;

fn scan(db: &DB, from: Vec<u8>, to: Vec<u8>, newest_first: bool) -> impl Iterator<Item = Entry> + '_ {
    let mut options = ReadOptions::default();
    options.set_iterate_lower_bound(from);
    options.set_iterate_upper_bound(to);
    db.iterator_opt(if newest_first { IteratorMode::End } else { IteratorMode::Start }, options)
}

fn number_in(key: &[u8], at: usize) -> Result<u64, RateStoreError> {
    let bytes = key.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u64::from_be_bytes).ok_or_else(|| RateStoreError::Damaged("a key is too short".to_owned()))
}

fn time_in(key: &[u8]) -> Result<Timestamp, RateStoreError> {
    Ok(Timestamp::from_unix_ms((number_in(key, 5)? as i64) ^ i64::MIN))
}

impl RateStore {
    pub fn lines(&self, pair: Pair, filter: Filter<'_>) -> Vec<Arc<Line>> {
        let lines = self.shelf.lines.read().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|line| line.series.pair == pair && filter.admits(&line.series)).cloned().collect()
    }

    pub fn has(&self, is_meant: impl Fn(&Series) -> bool) -> bool {
        let lines = self.shelf.lines.read().unwrap_or_else(PoisonError::into_inner);
        lines.iter().any(|line| is_meant(&line.series))
    }

    /// `None` if nothing is in any of these lines.
    pub fn begins(&self, lines: &[Arc<Line>]) -> Result<Option<Timestamp>, RateStoreError> {
        let mut earliest = Vec::new();
        for line in lines {
            let (from, to) = (begin(SAMPLE, line.number), begin(SAMPLE, line.number + 1));
            if let Some(entry) = scan(&self.shelf.db, from, to, false).next() {
                earliest.push(time_in(&entry?.0)?);
            }
        }
        Ok(earliest.into_iter().min())
    }

    /// In the order of time: single samples without a step, else its buckets; at most `limit`.
    pub fn history(
        &self,
        lines: &[Arc<Line>],
        step: Option<Step>,
        window: Window,
        newest_first: bool,
        limit: usize,
    ) -> Result<Vec<Point>, RateStoreError> {
        let mut points = Vec::new();
        for line in lines {
            self.shelf.points(line, (step, window), newest_first, limit, &mut points)?;
        }
        // The points of each line are in order already; the sort is stable, so points of the same
        // time stay in the order of their lines.
        if newest_first {
            points.sort_by_key(|point| std::cmp::Reverse(point.at));
        } else {
            points.sort_by_key(|point| point.at);
        }
        points.truncate(limit);
        Ok(points)
    }

    /// What a board begins with: of every line the newest that may price live mode, of lines with
    /// value dates those of the day in force and of days ahead.
    pub fn newest(&self, now: Timestamp) -> Result<Vec<Sample>, RateStoreError> {
        let lines = self.shelf.lines.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut newest = Vec::new();
        for line in lines {
            let (from, to) = (begin(ACCEPTED, line.number), begin(ACCEPTED, line.number + 1));
            for entry in scan(&self.shelf.db, from, to, true) {
                let key = entry?.1;
                let missing = || RateStoreError::Damaged("a sample is missing".to_owned());
                let value = self.shelf.db.get_pinned(&key)?.ok_or_else(missing)?;
                let stored: Quotation = decoded(&value, "a sample")?;
                let series = Series { payment_method: stored.payment_method, ..Series::clone(&line.series) };
                let sample = Sample::new(series, stored.price, time_in(&key)?, stored.fetched_at);
                let is_in_force = sample.has_begun(now);
                newest.push(sample);
                if is_in_force {
                    break;
                }
            }
        }
        Ok(newest)
    }

    pub fn pins(&self, now: Timestamp) -> Result<Vec<Pin>, RateStoreError> {
        let mut pins = Vec::new();
        for entry in scan(&self.shelf.db, vec![PIN], vec![PIN + 1], false) {
            let pin: Pin = decoded(&entry?.1, "a pin")?;
            pins.extend(pin.lasts(now).then_some(pin));
        }
        Ok(pins)
    }
}

impl Shelf {
    fn between(
        &self,
        letter: u8,
        line: &Line,
        from: Timestamp,
        to: Timestamp,
        newest_first: bool,
    ) -> impl Iterator<Item = Entry> {
        let (from, to) = (key_at(letter, line.number, from), key_at(letter, line.number, to));
        scan(&self.db, from, to, newest_first)
    }

    fn points(
        &self,
        line: &Arc<Line>,
        (step, window): (Option<Step>, Window),
        newest_first: bool,
        limit: usize,
        into: &mut Vec<Point>,
    ) -> Result<(), RateStoreError> {
        let full = into.len() + limit;
        let first = step.map_or(window.from, |step| step.start_of(window.from));
        for entry in self.between(step.map_or(SAMPLE, letter), line, first, window.to, newest_first) {
            if into.len() == full {
                break;
            }
            let (key, value) = entry?;
            let (series, at) = (Arc::clone(&line.series), time_in(&key)?);
            if let Some(step) = step {
                let bucket = self.cut(line, step, at, decoded(&value, "a bucket")?, window)?;
                into.extend(bucket.map(|bucket| Point { series, at, kept: Kept::Many(bucket) }));
            } else {
                let Quotation { price, suspect, .. } = decoded(&value, "a sample")?;
                into.push(Point { series, at, kept: Kept::One { price, suspect } });
            }
        }
        Ok(())
    }

    /// Only the two buckets at the window's ends can be cut; of a day its hours are put together
    /// again, of an hour its samples.
    fn cut(
        &self,
        line: &Line,
        step: Step,
        start: Timestamp,
        bucket: Bucket,
        window: Window,
    ) -> Result<Option<Bucket>, RateStoreError> {
        if window.from <= bucket.first.at && bucket.last.at < window.to {
            return Ok(Some(bucket));
        }
        let window =
            Window { from: window.from.max(start), to: window.to.min(start.plus_ms(step.width_ms())) };
        let mut part = None;
        let mut join = |more: Bucket| part = Some(part.map_or(more, |before: Bucket| before.joined(more)));
        match step {
            Step::Day => {
                let (hour, first) = (Step::Hour, Step::Hour.start_of(window.from));
                for entry in self.between(letter(hour), line, first, window.to, false) {
                    let (key, value) = entry?;
                    let cut = self.cut(line, hour, time_in(&key)?, decoded(&value, "a bucket")?, window)?;
                    cut.into_iter().for_each(&mut join);
                }
            }
            Step::Hour => {
                for entry in self.between(SAMPLE, line, window.from, window.to, false) {
                    let (key, value) = entry?;
                    let stored: Quotation = decoded(&value, "a sample")?;
                    let (at, number) = (time_in(&key)?, number_in(&key, 13)?);
                    join(Bucket::of(Placed { at, number, ticks: ticks(stored.price) }));
                }
            }
        }
        Ok(part)
    }
}
