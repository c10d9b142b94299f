//! Counts of values by size, with fixed bounds and plain atomics: no lock and no allocation.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// One more than bounds: the values above the last.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Upper bounds, each included, in order.
    pub bounds: &'static [u64],
    /// Values up to each bound and above the one before it; the last counts those above all bounds.
    pub counts: Vec<u64>,
    pub sum: u64,
}

impl Histogram {
    pub fn new(bounds: &'static [u64]) -> Histogram {
        Histogram {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    pub fn note(&self, value: u64) {
        let place = self.bounds.partition_point(|bound| *bound < value);
        self.counts[place].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// A value that is counted meanwhile may be in `counts` and not in `sum`, or the reverse.
    pub fn counted(&self) -> Counted {
        Counted {
            bounds: self.bounds,
            counts: self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
            sum: self.sum.load(Ordering::Relaxed),
        }
    }
}

impl Counted {
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
