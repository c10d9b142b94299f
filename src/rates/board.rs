//! The latest sample of every series, in memory: every payment asks for the official rate. Samples
//! of the BCV whose day is still to come are kept beside the one in force, so that midnight in
//! Caracas changes the rate without anybody doing anything. A price that an operator pinned hides
//! the samples that it stands for: they are taken all the same, and count again when the pin ends.
//! What is suspect (`judge.rs`) never comes here, and what a `simulated` or `fixed` feed made up
//! prices test mode alone.

use super::judge::{Judge, Steps};
use domain::resources::rates::pins::{Pin, PinPlace};
use domain::resources::rates::samples::{Filter, Pair, Sample, Series};
use domain::values::ids::Mode;
use domain::values::time::Timestamp;
use std::cmp::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Called with every sample that is new; must not block for long.
pub type Hook = Box<dyn Fn(&Arc<Sample>) + Send + Sync>;

pub struct RateBoard {
    /// Replaced as a whole: a reader holds the lock for as long as it takes to copy a pointer.
    shown: RwLock<Arc<Shown>>,
    writing: Mutex<Judge>,
    hook: Hook,
}

#[derive(Clone, Default)]
struct Shown {
    /// The newest of each series, real and made up, and several of the BCV: the one in force and those ahead.
    samples: Vec<Arc<Sample>>,
    /// At most one of a place; also those that have ended since the last change.
    pins: Vec<Arc<Pin>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    pub sample: Arc<Sample>,
    /// A pinned price is in force however old it is.
    pub is_pinned: bool,
}

impl InForce {
    pub fn is_fresh(&self, age_ms: i64, age_ms_max: i64) -> bool {
        self.is_pinned || age_ms <= age_ms_max
    }
}

impl RateBoard {
    pub fn new(steps: Steps, hook: Hook) -> RateBoard {
        RateBoard { shown: RwLock::default(), writing: Mutex::new(Judge::new(steps)), hook }
    }

    /// Another that begins as this one is, and tells nobody.
    pub fn copied(&self) -> RateBoard {
        let (writing, shown) = (self.judge().clone(), self.shown());
        RateBoard { shown: RwLock::new(shown), writing: Mutex::new(writing), hook: Box::new(|_| {}) }
    }

    /// In force at once if it is the newest of its series and not suspect.
    pub fn record(&self, sample: Sample) -> Arc<Sample> {
        let mut judge = self.judge();
        // Feeds say when a price was made; when it was heard is ours to say.
        let received_at = sample.fetched_at;
        let sample = self.judged(&mut judge, sample, received_at);
        self.take(&sample);
        (self.hook)(&sample);
        sample
    }

    /// An operator's sample may be of earlier: the operator's word on its time counts.
    /// [`RateBoard::restore`] puts it in force once it is kept.
    pub fn judge_by_hand(&self, sample: Sample) -> Arc<Sample> {
        let received_at = sample.as_of.min(sample.fetched_at);
        self.judged(&mut self.judge(), sample, received_at)
    }

    /// The sample is in the history already. Those that were made up are not put back: their feeds
    /// make others.
    pub fn restore(&self, sample: Sample) {
        if sample.prices(Mode::Live) {
            let mut judge = self.judge();
            let sample = Arc::new(sample);
            judge.note(&sample);
            self.take(&sample);
        }
    }

    fn judge(&self) -> MutexGuard<'_, Judge> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A sample that comes too late to be the newest decides nothing, and what was made up is what
    /// the configuration says.
    fn judged(&self, judge: &mut Judge, sample: Sample, received_at: Timestamp) -> Arc<Sample> {
        if sample.test_only {
            return Arc::new(sample);
        }
        let shown = self.shown();
        let line = sample.series.line();
        let of_line: Vec<&Arc<Sample>> =
            shown.samples.iter().filter(|other| other.series.line() == line).collect();
        let before = |test_only: bool| {
            let until = of_line
                .iter()
                .filter(|other| other.test_only == test_only && other.value_date <= sample.value_date);
            until.copied().max_by_key(|other| other.freshness())
        };
        let real = before(false);
        if real.is_some_and(|known| known.freshness() > sample.freshness()) {
            return Arc::new(sample);
        }
        let pin =
            shown.pins.iter().find(|pin| pin.lasts(sample.fetched_at) && pin.stands_for(&sample.series));
        // A price of before all that are known is as far from the next one as from the one before it.
        let real_ones = of_line.iter().filter(|other| !other.test_only);
        let next = || real_ones.copied().min_by_key(|other| other.freshness());
        let known = real.or_else(next).or_else(|| before(true)).into_iter();
        let known: Vec<Arc<Sample>> = known.chain(pin.map(|pin| &pin.sample)).cloned().collect();
        let suspect = judge.suspects(&sample, &known, received_at);
        let sample = Arc::new(Sample { suspect, ..sample });
        judge.note(&sample);
        sample
    }

    pub fn suspect(&self) -> Vec<Arc<Sample>> {
        self.judge().suspect()
    }

    pub fn pin(&self, pin: Pin) {
        let mut judge = self.judge();
        judge.settle(|series| pin.stands_for(series));
        self.take(&pin.sample);
        let (place, now) = (pin.place(), pin.sample.fetched_at);
        self.change(|shown| {
            shown.pins.retain(|other| other.lasts(now) && other.place() != place);
            shown.pins.push(Arc::new(pin));
        });
    }

    pub fn unpin(&self, place: &PinPlace) {
        let _writing = self.judge();
        self.change(|shown| shown.pins.retain(|pin| pin.place() != *place));
    }

    /// In the order in which they were made.
    pub fn pins(&self, now: Timestamp) -> Vec<Arc<Pin>> {
        self.shown().pins.iter().filter(|pin| pin.lasts(now)).cloned().collect()
    }

    pub fn pin_of(&self, place: &PinPlace, now: Timestamp) -> Option<Arc<Pin>> {
        self.shown().pins.iter().find(|pin| pin.lasts(now) && pin.place() == *place).cloned()
    }

    /// Of the series that `admits` accepts: a pinned rate, or the newest whose value date has begun
    /// in Caracas.
    pub fn official(
        &self,
        admits: impl Fn(&Series) -> bool,
        mode: Mode,
        now: Timestamp,
    ) -> Option<Arc<Sample>> {
        let by_value_date = |a: &Sample, b: &Sample| a.freshness().cmp(&b.freshness());
        self.shown().in_force(admits, by_value_date, mode, now).map(|found| found.sample)
    }

    /// Of those that the filter admits: a pinned price, or the freshest.
    pub fn latest(&self, pair: Pair, filter: Filter<'_>, mode: Mode, now: Timestamp) -> Option<InForce> {
        self.latest_of(pair, |series| filter.admits(series), mode, now)
    }

    pub fn latest_of(
        &self,
        pair: Pair,
        admits: impl Fn(&Series) -> bool,
        mode: Mode,
        now: Timestamp,
    ) -> Option<InForce> {
        let by_time = |a: &Sample, b: &Sample| (a.as_of, a.fetched_at).cmp(&(b.as_of, b.fetched_at));
        self.shown().in_force(|series| series.pair == pair && admits(series), by_time, mode, now)
    }

    pub fn all(&self) -> Vec<Arc<Sample>> {
        self.shown().samples.clone()
    }

    fn shown(&self) -> Arc<Shown> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut Shown)) {
        let mut next = Shown::clone(&self.shown());
        change(&mut next);
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
    }

    fn take(&self, sample: &Arc<Sample>) {
        if sample.suspect {
            return;
        }
        self.change(|next| next.take(sample));
    }
}

impl Shown {
    fn take(&mut self, sample: &Arc<Sample>) {
        let of_series = |other: &Sample| other.series == sample.series && other.test_only == sample.test_only;
        let same = |other: &Sample| of_series(other) && other.value_date == sample.value_date;
        match self.samples.iter_mut().find(|other| same(other)) {
            Some(other) if other.freshness() > sample.freshness() => return,
            Some(other) => *other = Arc::clone(sample),
            None => self.samples.push(Arc::clone(sample)),
        }
        // A rate of the BCV that another one has replaced will never be in force again: time only
        // goes forward.
        let begun =
            self.samples.iter().filter(|other| of_series(other) && other.has_begun(sample.fetched_at));
        if let Some(in_force) = begun.filter_map(|other| other.value_date).max() {
            let is_past = |other: &Sample| other.value_date.is_some_and(|date| date < in_force);
            self.samples.retain(|other| !of_series(other) || !is_past(other));
        }
    }

    /// A pinned price before all others, else the last in the order.
    fn in_force(
        &self,
        admits: impl Fn(&Series) -> bool,
        order: impl Fn(&Sample, &Sample) -> Ordering,
        mode: Mode,
        now: Timestamp,
    ) -> Option<InForce> {
        let pins = || self.pins.iter().filter(|pin| pin.is_in_force(now));
        // A pin that names no method stands for all of them, also for one that is asked for.
        let is_meant = |pin: &Pin| {
            admits(&pin.sample.series)
                || self.samples.iter().any(|other| pin.stands_for(&other.series) && admits(&other.series))
        };
        let pinned = pins().filter(|pin| is_meant(pin)).map(|pin| &pin.sample).max_by(|a, b| order(a, b));
        if let Some(sample) = pinned {
            return Some(InForce { sample: Arc::clone(sample), is_pinned: true });
        }
        let may =
            |sample: &&Arc<Sample>| admits(&sample.series) && sample.has_begun(now) && sample.prices(mode);
        let begun = self.samples.iter().filter(may);
        let sample = begun.max_by(|a, b| order(a, b))?;
        Some(InForce { sample: Arc::clone(sample), is_pinned: false })
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
        RateBoard::new(Steps::default(), Box::new(|_| {}))
    }

    fn in_force(board: &RateBoard, now: &str) -> Option<Decimal> {
        board.official(Series::is_bcv, Mode::Live, at(now)).map(|sample| sample.price.0)
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
    fn a_day_before_all_that_are_known_is_judged_by_the_next() {
        let board = board();
        board.record(bcv(200, "2026-11-23T12:00:00Z", "2026-11-20T21:00:00Z"));
        assert!(board.record(bcv(2, "2026-11-20T12:00:00Z", "2026-11-20T22:00:00Z")).suspect);
        assert_eq!(in_force(&board, "2026-11-20T23:00:00Z"), None);
        assert!(!board.record(bcv(190, "2026-11-20T12:00:00Z", "2026-11-20T23:00:00Z")).suspect);
        assert_eq!(in_force(&board, "2026-11-20T23:30:00Z"), Some(Decimal::from(190)));
        assert_eq!(in_force(&board, "2026-11-23T12:00:00Z"), Some(Decimal::from(200)));
    }

    #[test]
    fn the_latest_of_what_the_filter_admits() {
        let board = board();
        board.record(p2p("BUY", 250, "2026-11-20T12:00:00Z"));
        board.record(p2p("FLOOR", 245, "2026-11-20T12:01:00Z"));
        board.record(p2p("SELL", 240, "2026-11-20T12:00:30Z"));
        board.record(p2p("SELL", 239, "2026-11-20T11:00:00Z"));
        let now = at("2026-11-20T12:02:00Z");
        let price =
            |filter| board.latest(Pair::USDT_VES, filter, Mode::Live, now).map(|found| found.sample.price.0);
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
        assert_eq!(board.latest(Pair::USDT_COP, Filter::default(), Mode::Live, now), None);
    }

    #[test]
    fn a_rate_ahead_is_not_the_latest_yet() {
        let board = board();
        board.record(bcv(200, "2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"));
        board.record(bcv(210, "2026-11-23T12:00:00Z", "2026-11-20T21:00:00Z"));
        let latest = board.latest(Pair::USD_VES, Filter::default(), Mode::Live, at("2026-11-21T12:00:00Z"));
        assert_eq!(latest.map(|found| found.sample.price.0), Some(Decimal::from(200)));
    }

    #[test]
    fn the_hook_gets_what_is_recorded_and_not_what_is_restored() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let hook: Hook = Box::new(move |sample| sender.send(Arc::clone(sample)).expect("somebody listens"));
        let board = RateBoard::new(Steps::default(), hook);
        board.restore(p2p("BUY", 1, "2026-11-20T12:00:00Z"));
        board.record(p2p("BUY", 2, "2026-11-20T12:01:00Z"));
        board.record(p2p("BUY", 3, "2026-11-20T11:00:00Z"));
        let prices: Vec<Decimal> = receiver.try_iter().map(|sample| sample.price.0).collect();
        assert_eq!(prices, [Decimal::from(2), Decimal::from(3)], "the history gets late samples too");
    }

    fn pinned(sample: Sample, until: &str) -> Pin {
        Pin {
            sample: Arc::new(sample),
            until: at(until),
            reason: "the market is shut".to_owned(),
            operator_id: "root".to_owned(),
            operator_name: "root".to_owned(),
        }
    }

    #[test]
    fn a_pinned_price_counts_until_its_end_and_then_the_newest_of_the_feed() {
        let board = board();
        let floor = Filter { source: Some("p2p"), side: Some("FLOOR"), method: None };
        let price = |filter, now: &str| {
            let found = board.latest(Pair::USDT_VES, filter, Mode::Live, at(now));
            found.map(|found| (found.sample.price.0, found.is_pinned))
        };
        board.record(p2p("FLOOR", 245, "2026-11-20T12:00:00Z"));
        board.pin(pinned(
            Sample {
                series: Series { method: None, ..p2p("FLOOR", 1, "2026-11-20T12:00:30Z").series },
                ..p2p("FLOOR", 300, "2026-11-20T12:00:30Z")
            },
            "2026-11-20T13:00:00Z",
        ));
        board.record(p2p("FLOOR", 246, "2026-11-20T12:01:00Z"));
        board.record(p2p("BUY", 250, "2026-11-20T12:02:00Z"));
        assert_eq!(price(floor, "2026-11-20T12:59:59.999Z"), Some((Decimal::from(300), true)));
        let by_method = Filter { method: Some("p2p_floor"), ..floor };
        assert_eq!(price(by_method, "2026-11-20T12:30:00Z"), Some((Decimal::from(300), true)), "all methods");
        let buy = Filter { side: Some("BUY"), ..floor };
        assert_eq!(price(buy, "2026-11-20T12:30:00Z"), Some((Decimal::from(250), false)), "another side");
        assert_eq!(price(floor, "2026-11-20T13:00:00.000Z"), Some((Decimal::from(246), false)), "it ended");
        let place = PinPlace::of(&p2p("FLOOR", 1, "2026-11-20T12:00:00Z").series);
        assert!(board.pin_of(&place, at("2026-11-20T12:30:00Z")).is_some());
        assert!(board.pin_of(&place, at("2026-11-20T13:00:00Z")).is_none());
        board.unpin(&place);
        assert_eq!(price(floor, "2026-11-20T12:30:00Z"), Some((Decimal::from(246), false)));
        assert!(board.pins(at("2026-11-20T12:30:00Z")).is_empty());
    }

    #[test]
    fn a_pinned_official_rate_outlives_midnight_and_waits_for_its_day() {
        let board = board();
        board.record(bcv(200, "2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"));
        board.pin(pinned(bcv(205, "2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"), "2026-11-23T12:00:00Z"));
        board.record(bcv(210, "2026-11-21T12:00:00Z", "2026-11-20T21:00:00Z"));
        assert_eq!(in_force(&board, "2026-11-22T12:00:00Z"), Some(Decimal::from(205)));
        assert_eq!(in_force(&board, "2026-11-23T12:00:00Z"), Some(Decimal::from(210)));
        board.pin(pinned(bcv(220, "2026-11-22T12:00:00Z", "2026-11-20T22:00:00Z"), "2026-11-23T12:00:00Z"));
        assert_eq!(board.pins(at("2026-11-21T12:00:00Z")).len(), 1, "a new pin replaces the old");
        assert_eq!(in_force(&board, "2026-11-21T12:00:00Z"), Some(Decimal::from(210)), "not before its day");
        assert_eq!(in_force(&board, "2026-11-22T12:00:00Z"), Some(Decimal::from(220)));
    }
}
