//! Histograms: counts of values by size, with fixed bounds and plain atomics, so that counting
//! takes no lock and no allocation. They must not know who shows them.

use std::sync::atomic::{AtomicU64, Ordering};

/// A histogram of values by their size.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// A count for each bound, and one for the values above the last.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// The counts of a histogram at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The upper bounds, each included, in order.
    pub bounds: &'static [u64],
    /// The number of values up to each bound and above the one before it; the last counts those
    /// above all bounds.
    pub counts: Vec<u64>,
    /// The sum of all values.
    pub sum: u64,
}

impl Histogram {
    /// Makes a histogram with these upper bounds, in order.
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

    /// The counts until now. A value that is counted meanwhile may be in `counts` and not in `sum`,
    /// or the reverse.
    pub fn counted(&self) -> Counted {
        Counted {
            bounds: self.bounds,
            counts: self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
            sum: self.sum.load(Ordering::Relaxed),
        }
    }
}

impl Counted {
    /// The number of values.
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
