//! Counts of values by size: fixed bounds, plain atomics, no lock and no allocation where something
//! is counted. It must not know who shows them.

use std::sync::atomic::{AtomicU64, Ordering};

/// Values counted by size.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// One per bound, and one for what is larger than the last.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// The counts of a histogram at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The upper bounds, each included, in order.
    pub bounds: &'static [u64],
    /// How many values were up to each bound and above the one before it; the last is of those
    /// above all bounds.
    pub counts: Vec<u64>,
    /// All values added up.
    pub sum: u64,
}

impl Histogram {
    /// With these upper bounds, in order.
    pub fn new(bounds: &'static [u64]) -> Histogram {
        Histogram {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    /// Counts a value.
    pub fn note(&self, value: u64) {
        let place = self.bounds.partition_point(|bound| *bound < value);
        self.counts[place].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// The counts until now. Values that are counted meanwhile may be in a part of it.
    pub fn counted(&self) -> Counted {
        Counted {
            bounds: self.bounds,
            counts: self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
            sum: self.sum.load(Ordering::Relaxed),
        }
    }
}

impl Counted {
    /// How many values there were.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_what_is_below_it() {
        let histogram = Histogram::new(&[1, 10, 100]);
        [0, 1, 2, 10, 11, 100, 101, 5_000].into_iter().for_each(|value| histogram.note(value));
        let counted = histogram.counted();
        assert_eq!(
            (counted.counts.as_slice(), counted.sum, counted.total()),
            ([2, 2, 2, 2].as_slice(), 5_225, 8)
        );
    }
}
