//! Which snapshots are kept, so that the room they take grows with the age of a log and not with
//! the number of its writes. The two newest of a tenant are always kept (a start needs the newest,
//! a self-check the one before it); thinning again after a crash comes to the same; the oldest of
//! an hour, a day and a month stays, so that what was kept for a day is still there when only days
//! count. Ages count back from a tenant's newest snapshot, not from a clock, so a tenant that rests
//! loses nothing. A tenant's clock that was set back begins another series, whose ages count by themselves.

use crate::snapshot::SnapshotHead;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const MONTH_MS: i64 = 30 * DAY_MS;
const NEWEST: usize = 2;

/// Ages in milliseconds; beyond the last one of each 30 days is kept for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub all_ms: i64,
    pub hourly_ms: i64,
    pub daily_ms: i64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { all_ms: HOUR_MS, hourly_ms: DAY_MS, daily_ms: 365 * DAY_MS }
    }
}

/// Only [`Retention::superfluous`] and `Log::forget_snapshots` make such a list, so that nothing
/// else can be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superfluous(pub(crate) Vec<SnapshotHead>);

impl Superfluous {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, head: &SnapshotHead) -> bool {
        self.0.contains(head)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl Retention {
    /// `heads` are all of one tenant, oldest first; at most `max` are returned.
    pub fn superfluous(&self, heads: &[SnapshotHead], max: usize) -> Superfluous {
        let old = &heads[..heads.len().saturating_sub(NEWEST)];
        let mut superfluous = Vec::new();
        let (mut kept_ms, mut newest_ms): (Option<i64>, _) = (None, i64::MIN);
        for (n, head) in old.iter().enumerate() {
            if head.time_ms > newest_ms || n.checked_sub(1).is_some_and(|n| heads[n].time_ms > head.time_ms) {
                // Up to where the tenant's clock was set back, if it was.
                let rises = heads[n..].windows(2).take_while(|pair| pair[0].time_ms <= pair[1].time_ms);
                newest_ms = rises.last().map_or(head.time_ms, |pair| pair[1].time_ms);
                kept_ms = None;
            }
            let Some(period_ms) = self.period_ms(newest_ms.saturating_sub(head.time_ms)) else { continue };
            let period = head.time_ms.div_euclid(period_ms);
            if kept_ms.is_some_and(|kept_ms: i64| kept_ms.div_euclid(period_ms) == period) {
                superfluous.push(*head);
            } else {
                kept_ms = Some(head.time_ms);
            }
            if superfluous.len() == max {
                break;
            }
        }
        Superfluous(superfluous)
    }

    fn period_ms(&self, age_ms: i64) -> Option<i64> {
        match age_ms {
            age if age <= self.all_ms => None,
            age if age <= self.hourly_ms => Some(HOUR_MS),
            age if age <= self.daily_ms => Some(DAY_MS),
            _ => Some(MONTH_MS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn heads(times_ms: impl IntoIterator<Item = i64>) -> Vec<SnapshotHead> {
        (1..)
            .zip(times_ms)
            .map(|(seq, time_ms)| SnapshotHead { tenant: 7, seq, time_ms, ..SnapshotHead::default() })
            .collect()
    }

    fn thinned(retention: Retention, heads: &[SnapshotHead], max: usize) -> Vec<SnapshotHead> {
        let mut left = heads.to_vec();
        loop {
            let Superfluous(gone) = retention.superfluous(&left, max);
            if gone.is_empty() {
                return left;
            }
            let gone: HashSet<u64> = gone.iter().map(|head| head.seq).collect();
            left.retain(|head| !gone.contains(&head.seq));
        }
    }

    #[test]
    fn a_year_of_every_minute_is_an_hour_of_them_a_day_of_hours_and_a_year_of_days() {
        let minute_ms = 60_000;
        let minutes = 2 * 365 * 24 * 60;
        let all = heads((0..=minutes).map(|minute| minute * minute_ms));
        let left = thinned(Retention::default(), &all, usize::MAX);
        let newest_ms = minutes * minute_ms;
        let within = |from_ms: i64, to_ms: i64| {
            left.iter().filter(|head| (from_ms + 1..=to_ms).contains(&(newest_ms - head.time_ms))).count()
        };
        assert_eq!(within(-1, HOUR_MS), 61, "all of an hour");
        assert_eq!(within(HOUR_MS, DAY_MS), 23, "hourly for a day");
        assert_eq!(within(DAY_MS, 365 * DAY_MS), 364, "daily for a year");
        assert_eq!(within(365 * DAY_MS, i64::MAX), 13, "monthly for ever");
        assert_eq!(left.last(), all.last());
        assert_eq!(left.first(), all.first());
    }

    #[test]
    fn the_two_newest_stay_however_far_apart_the_others_are() {
        assert!(Retention::default().superfluous(&[], 9).is_empty());
        let never = Retention { all_ms: -1, hourly_ms: -1, daily_ms: -1 };
        let left = thinned(never, &heads([0, 1, 2, 3, 4]), usize::MAX);
        assert_eq!(left.iter().map(|head| head.time_ms).collect::<Vec<_>>(), [0, 3, 4]);
    }

    proptest! {
        /// Snapshot by snapshot as a server writes them, or all at once at the end, with crashes in
        /// between: a crash only makes a step smaller.
        #[test]
        fn thinning_often_or_seldom_keeps_the_newest_and_some_of_each_period(
            mut times in prop::collection::vec(-5 * DAY_MS..500 * DAY_MS, 1..80),
            max in 1_usize..5,
        ) {
            times.sort_unstable();
            let all = heads(times);
            let retention = Retention::default();
            let mut left: Vec<SnapshotHead> = Vec::new();
            for head in &all {
                left.push(*head);
                let Superfluous(gone) = retention.superfluous(&left, max);
                left.retain(|head| !gone.contains(head));
            }
            let left = thinned(retention, &left, max);
            prop_assert_eq!(&left, &thinned(retention, &left, usize::MAX));
            prop_assert!(left.ends_with(&all[all.len().saturating_sub(2)..]));
            let newest_ms = all.last().map_or(0, |head| head.time_ms);
            for head in &all {
                // For each snapshot that is gone one before it is kept, no further away than the
                // period at its age, or at that of the one that it gave way to.
                let age_ms = newest_ms - head.time_ms;
                let Some(own_ms) = retention.period_ms(age_ms) else {
                    prop_assert!(left.contains(head));
                    continue;
                };
                let period_ms = retention.period_ms(age_ms + own_ms).unwrap_or(own_ms);
                prop_assert!(left.iter().any(|kept| kept.time_ms <= head.time_ms && head.time_ms - kept.time_ms < period_ms));
            }
        }
    }
}
