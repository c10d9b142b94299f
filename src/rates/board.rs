//! The latest sample of every series, in memory, cheap to read: every payment asks for the official
//! rate.
//!
//! Of the BCV all samples whose day is still to come are kept beside the one in force, so that
//! midnight in Caracas changes the rate without anybody doing anything. The history is somebody
//! else's: each accepted sample is handed to a hook.

use domain::resources::rates::samples::{Filter, Pair, Sample, Series};
use domain::values::time::Timestamp;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The function that is called with every sample that is new; it must not block for long.
pub type Hook = Box<dyn Fn(&Arc<Sample>) + Send + Sync>;

/// The latest samples.
pub struct RateBoard {
    /// The samples, replaced as a whole: a reader holds the lock for as long as it takes to copy a
    /// pointer.
    shown: RwLock<Arc<Shown>>,
    /// The lock that is held while new samples are prepared.
    writing: Mutex<()>,
    hook: Hook,
}

#[derive(Clone, Default)]
struct Shown {
    /// The newest sample of each series, and several of the BCV: the one in force and those ahead.
    samples: Vec<Arc<Sample>>,
}

impl RateBoard {
    /// An empty board; `hook` gets every sample that is recorded, in order.
    pub fn new(hook: Hook) -> RateBoard {
        RateBoard { shown: RwLock::default(), writing: Mutex::new(()), hook }
    }

    /// Takes a new sample, which is in force at once if it is the newest of its series.
    pub fn record(&self, sample: Sample) -> Arc<Sample> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let sample = Arc::new(sample);
        self.take(&sample);
        (self.hook)(&sample);
        sample
    }

    /// Puts back a sample that is in the history already.
    pub fn restore(&self, sample: Sample) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.take(&Arc::new(sample));
    }

    /// The official rate that is in force: the newest whose value date has begun in Caracas.
    pub fn bcv_in_force(&self, now: Timestamp) -> Option<Arc<Sample>> {
        let shown = self.shown();
        let begun = shown.samples.iter().filter(|sample| sample.series.is_bcv() && sample.has_begun(now));
        begun.max_by_key(|sample| sample.freshness()).cloned()
    }

    /// The freshest sample of a pair that the filter admits, of those in force.
    pub fn latest(&self, pair: Pair, filter: Filter<'_>, now: Timestamp) -> Option<Arc<Sample>> {
        self.latest_of(pair, |series| filter.admits(series), now)
    }

    /// The freshest sample like [`RateBoard::latest`], of the series that `admits` accepts.
    pub fn latest_of(
        &self,
        pair: Pair,
        admits: impl Fn(&Series) -> bool,
        now: Timestamp,
    ) -> Option<Arc<Sample>> {
        let shown = self.shown();
        let fitting = shown
            .samples
            .iter()
            .filter(|sample| sample.series.pair == pair && admits(&sample.series) && sample.has_begun(now));
        fitting.max_by_key(|sample| (sample.as_of, sample.fetched_at)).cloned()
    }

    /// Every sample on the board, also those whose day is still to come.
    pub fn all(&self) -> Vec<Arc<Sample>> {
        self.shown().samples.clone()
    }

    fn shown(&self) -> Arc<Shown> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn take(&self, sample: &Arc<Sample>) {
        let mut next = Shown::clone(&self.shown());
        let same = |other: &Sample| other.series == sample.series && other.value_date == sample.value_date;
        match next.samples.iter_mut().find(|other| same(other)) {
            Some(other) if other.freshness() > sample.freshness() => return,
            Some(other) => *other = Arc::clone(sample),
            None => next.samples.push(Arc::clone(sample)),
        }
        // A rate of the BCV that another one has replaced will never be in force again: time only
        // goes forward.
        if let Some(in_force) = next
            .samples
            .iter()
            .filter(|other| other.series == sample.series && other.has_begun(sample.fetched_at))
            .filter_map(|other| other.value_date)
            .max()
        {
            next.samples.retain(|other| {
                other.series != sample.series || other.value_date.is_none_or(|date| date >= in_force)
            });
        }
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::resources::rates::samples::BCV;
    use domain::values::money::Rate;
    use rust_decimal::Decimal;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("an instant")
    }

    fn bcv(price: i64, as_of: &str, fetched_at: &str) -> Sample {
        Sample::new(
            Series::of(Pair::USD_VES, BCV).side("OFFICIAL"),
            Rate(Decimal::from(price)),
            at(as_of),
            at(fetched_at),
        )
    }

    fn p2p(side: &str, price: i64, as_of: &str) -> Sample {
        let series = Series::of(Pair::USDT_VES, "p2p").side(side);
        let series = if side == "FLOOR" { series.method("p2p_floor") } else { series };
        Sample::new(series, Rate(Decimal::from(price)), at(as_of), at(as_of))
    }

    fn board() -> RateBoard {
        RateBoard::new(Box::new(|_| {}))
    }

    fn in_force(board: &RateBoard, now: &str) -> Option<Decimal> {
        board.bcv_in_force(at(now)).map(|sample| sample.price.0)
    }

    #[test]
    fn midnight_in_caracas_brings_the_next_rate_into_force() {
        let board = board();
        assert_eq!(in_force(&board, "2026-11-20T20:00:00Z"), None);
        board.record(bcv(200, "2026-11-20T12:00:00-04:00", "2026-11-19T21:00:00Z"));
        board.record(bcv(210, "2026-11-23T00:00:00-04:00", "2026-11-20T21:00:00Z"));
        assert_eq!(in_force(&board, "2026-11-19T22:00:00Z"), None, "not before its day");
        assert_eq!(in_force(&board, "2026-11-20T04:00:00Z"), Some(Decimal::from(200)));
        assert_eq!(in_force(&board, "2026-11-23T03:59:59.999Z"), Some(Decimal::from(200)));
        assert_eq!(in_force(&board, "2026-11-23T04:00:00.000Z"), Some(Decimal::from(210)));
        assert_eq!(board.all().len(), 2);
        board.record(bcv(211, "2026-11-24T00:00:00-04:00", "2026-11-24T09:00:00Z"));
        assert_eq!(board.all().len(), 1, "what is over is forgotten");
    }

    #[test]
    fn a_correction_counts_and_an_older_day_does_not() {
        let board = board();
        board.record(bcv(200, "2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"));
        board.record(bcv(201, "2026-11-20T08:00:00Z", "2026-11-20T13:00:00Z"));
        board.record(bcv(150, "2026-11-19T12:00:00Z", "2026-11-20T14:00:00Z"));
        assert_eq!(in_force(&board, "2026-11-20T15:00:00Z"), Some(Decimal::from(201)));
        assert_eq!(board.all().len(), 1);
    }

    #[test]
    fn the_latest_of_what_the_filter_admits() {
        let board = board();
        board.record(p2p("BUY", 250, "2026-11-20T12:00:00Z"));
        board.record(p2p("FLOOR", 245, "2026-11-20T12:01:00Z"));
        board.record(p2p("SELL", 240, "2026-11-20T12:00:30Z"));
        board.record(p2p("SELL", 239, "2026-11-20T11:00:00Z"));
        let now = at("2026-11-20T12:02:00Z");
        let price = |filter| board.latest(Pair::USDT_VES, filter, now).map(|sample| sample.price.0);
        assert_eq!(price(Filter::default()), Some(Decimal::from(245)));
        assert_eq!(price(Filter { side: Some("BUY"), ..Filter::default() }), Some(Decimal::from(250)));
        assert_eq!(
            price(Filter { side: Some("SELL"), ..Filter::default() }),
            Some(Decimal::from(240)),
            "an old sample changes nothing"
        );
        assert_eq!(
            price(Filter { method: Some("p2p_floor"), ..Filter::default() }),
            Some(Decimal::from(245))
        );
        assert_eq!(price(Filter { source: Some("bcv"), ..Filter::default() }), None);
        assert_eq!(board.latest(Pair::USDT_COP, Filter::default(), now), None);
    }

    #[test]
    fn a_rate_ahead_is_not_the_latest_yet() {
        let board = board();
        board.record(bcv(200, "2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"));
        board.record(bcv(210, "2026-11-23T12:00:00Z", "2026-11-20T21:00:00Z"));
        let latest = board.latest(Pair::USD_VES, Filter::default(), at("2026-11-21T12:00:00Z"));
        assert_eq!(latest.map(|sample| sample.price.0), Some(Decimal::from(200)));
    }

    #[test]
    fn the_hook_gets_what_is_recorded_and_not_what_is_restored() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let board = RateBoard::new(Box::new(move |sample| {
            sender.send(Arc::clone(sample)).expect("somebody listens")
        }));
        board.restore(p2p("BUY", 1, "2026-11-20T12:00:00Z"));
        board.record(p2p("BUY", 2, "2026-11-20T12:01:00Z"));
        board.record(p2p("BUY", 3, "2026-11-20T11:00:00Z"));
        let prices: Vec<Decimal> = receiver.try_iter().map(|sample| sample.price.0).collect();
        assert_eq!(prices, [Decimal::from(2), Decimal::from(3)], "the history gets late samples too");
    }
}
