//! Looks at a run: what was done since the look before, and what the server took then. Quarters of a run
//! are compared by them.

use crate::Outcome;
use crate::load::histogram;
use crate::table::{median, per_second};
use hdrhistogram::Histogram;
use std::path::Path;
use std::time::Duration;

/// A look.
pub struct Look {
    /// The time since the look before.
    pub time: Duration,
    /// The microseconds of the wishes granted since, from when they were due.
    pub took: Histogram<u64>,
    /// The server's processor time since.
    pub cpu: Duration,
    /// The server's own resident memory, in bytes.
    pub memory: u64,
    /// The bytes of its data directory.
    pub disk: u64,
    /// Snapshots written since the start.
    pub snapshots_written: u64,
    /// Snapshots that are on disk, where they were counted.
    pub snapshots_kept: Option<u64>,
    /// Events that have not arrived at their endpoint.
    pub deliveries_pending: u64,
    /// Wishes that are due and were not granted yet.
    pub waiting: u64,
}

/// Looks that follow each other, as one.
pub struct Span<'a>(pub &'a [Look]);

impl Span<'_> {
    /// The wishes that were granted.
    pub fn wishes(&self) -> u64 {
        self.0.iter().map(|look| look.took.len()).sum()
    }

    /// Their rate per second.
    pub fn rate(&self) -> u64 {
        per_second(self.wishes(), self.0.iter().map(|look| look.time).sum())
    }

    /// A quantile of their time, in microseconds.
    pub fn quantile_us(&self, quantile: f64) -> Outcome<u64> {
        let mut all = histogram();
        for look in self.0 {
            all.add(&look.took).map_err(|error| error.to_string())?;
        }
        Ok(all.value_at_quantile(quantile))
    }

    /// The server's processor time.
    pub fn cpu(&self) -> Duration {
        self.0.iter().map(|look| look.cpu).sum()
    }

    /// The median of its memory: memtables fill and are flushed.
    pub fn memory(&self) -> u64 {
        median(self.0.iter().map(|look| look.memory))
    }

    /// The bytes by which the disk grows for a wish: the slope of the line that is nearest to all looks,
    /// as a compaction more or less at either end is not growth.
    pub fn bytes_each(&self) -> i64 {
        let mut wishes = 0_i128;
        let points: Vec<(i128, i128)> = self
            .0
            .iter()
            .map(|look| {
                wishes += i128::from(look.took.len());
                (wishes, i128::from(look.disk))
            })
            .collect();
        slope(&points)
    }
}

/// The quarters that are compared, if there are enough looks: the second and the last.
pub fn quarters(looks: &[Look]) -> Option<[Span<'_>; 2]> {
    let quarter = looks.len() / 4;
    (quarter > 1).then(|| [Span(&looks[quarter..2 * quarter]), Span(&looks[looks.len() - quarter..])])
}

/// The slope of the line with the least squares.
fn slope(points: &[(i128, i128)]) -> i64 {
    let count = points.len() as i128;
    let sum = |of: &dyn Fn(&(i128, i128)) -> i128| points.iter().map(of).sum::<i128>();
    let (x, y) = (sum(&|point| point.0), sum(&|point| point.1));
    let (xy, xx) = (sum(&|point| point.0 * point.1), sum(&|point| point.0 * point.0));
    (count * xy - x * y)
        .checked_div(count * xx - x * x)
        .and_then(|slope| i64::try_from(slope).ok())
        .unwrap_or(0)
}

/// The bytes of all files below a directory.
pub fn bytes_below(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    let each = entries.filter_map(Result::ok).map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
        Ok(metadata) => metadata.len(),
        // The server removed it meanwhile.
        Err(_) => 0,
    });
    each.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(wishes: u64, disk: u64, memory: u64) -> Look {
        let mut took = histogram();
        took.record_n(1_000 * memory, wishes).expect("in its bounds");
        Look {
            time: Duration::from_secs(60),
            took,
            cpu: Duration::from_secs(1),
            memory,
            disk,
            snapshots_written: 0,
            snapshots_kept: None,
            deliveries_pending: 0,
            waiting: 0,
        }
    }

    #[test]
    fn quarters_are_compared_as_wholes() {
        let looks: Vec<Look> = (1..=8).map(|nth| look(600, 1_000 + nth * nth * 600, nth)).collect();
        let Some([second, last]) = quarters(&looks) else { panic!("there are eight looks") };
        assert_eq!((second.wishes(), second.rate(), second.memory()), (1_200, 10, 3));
        assert_eq!((second.bytes_each(), last.bytes_each()), (7, 15));
        assert_eq!(last.cpu(), Duration::from_secs(2));
        let p99 = last.quantile_us(0.99).expect("of one kind");
        assert!((8_000..=8_010).contains(&p99), "{p99}");
        assert!(quarters(&looks[..7]).is_none());
    }

    #[test]
    fn a_flush_within_is_not_growth() {
        let disks = [100, 200, 900, 400, 500, 600];
        let looks: Vec<Look> = disks.map(|disk| look(100, disk, 1)).into();
        assert!((0..=1).contains(&Span(&looks).bytes_each()), "{}", Span(&looks).bytes_each());
        assert_eq!(slope(&[(1, 1)]), 0);
    }
}
