//! The sources of samples: each is a task that looks every so often; a manual one waits for an
//! operator. A source that fails is asked ever more rarely, and its last price stays. Prices are
//! decimals throughout. A simulated walk follows from its seed alone, so that a demonstration can
//! be repeated.

use crate::rates::board::RateBoard;
use crate::rates::error::{FeedError, SourceError};
use crate::rates::http::{HttpCall, HttpSource};
use domain::resources::rates::samples::{PRICE_DECIMALS, Sample, Series};
use domain::values::money::Rate;
use domain::values::time::{Date, Timestamp, Zone};
use rust_decimal::{Decimal, RoundingStrategy};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// Unless the feed looks even more rarely: a good source is back before its last price is too old
/// for money (`[rates] max_age_seconds`, 900).
const REST_MAX: Duration = Duration::from_secs(600);

const ASKED_AGAIN: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct FeedSpec {
    pub series: Series,
    pub kind: FeedKind,
    pub every: Duration,
}

impl fmt::Debug for FeedSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.series.fmt(f)
    }
}

#[derive(Clone)]
pub enum FeedKind {
    Fixed {
        price: Rate,
    },
    /// The official rate takes one step a day, at the first look of a day in Caracas.
    Simulated {
        /// The walk stays within a fifth of the first price.
        price: Rate,
        step_percent: Rate,
        seed: u64,
    },
    Manual,
    Http(HttpCall),
    Asked(Quoting),
}

impl FeedKind {
    /// Made-up prices never price live mode.
    pub const fn is_made_up(&self) -> bool {
        matches!(self, FeedKind::Fixed { .. } | FeedKind::Simulated { .. })
    }
}

pub struct Feeds {
    tasks: Vec<JoinHandle<()>>,
    pub health: Arc<[FeedHealth]>,
}

impl Drop for Feeds {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// The first sample of each feed that is made here is on the board when this returns; those that
/// are fetched come when they come. Fails when a feed can't be asked at all; what its source does
/// later is no reason to stop.
pub fn start(
    specs: Vec<FeedSpec>,
    board: &Arc<RateBoard>,
    now: impl Fn() -> Timestamp + Clone + Send + Sync + 'static,
) -> Result<Feeds, FeedError> {
    let mut sources = Vec::new();
    for spec in specs.into_iter().filter(|spec| !matches!(spec.kind, FeedKind::Manual)) {
        let failed = |source| FeedError { series: spec.series.clone(), source };
        let fetched = match spec.kind.clone() {
            FeedKind::Http(call) => Some(Fetched::Http(HttpSource::new(call).map_err(failed)?)),
            FeedKind::Asked(source) => Some(Fetched::Asked(source)),
            FeedKind::Manual | FeedKind::Fixed { .. } | FeedKind::Simulated { .. } => None,
        };
        sources.push((spec, fetched));
    }
    let health = |(spec, _): &(FeedSpec, _)| FeedHealth {
        series: spec.series.clone(),
        is_made_up: spec.kind.is_made_up(),
        state: Mutex::default(),
    };
    let health: Arc<[FeedHealth]> = sources.iter().map(health).collect();
    let mut tasks = Vec::new();
    for (n, (spec, fetched)) in sources.into_iter().enumerate() {
        let (board, clock, now, health) = (Arc::clone(board), now.clone(), now.clone(), Arc::clone(&health));
        let every = spec.every;
        if let Some(source) = fetched {
            let note = move |looked| match looked {
                Ok(sample) => {
                    board.record(sample);
                    health[n].succeeded(now());
                    0
                }
                Err(error) => health[n].failed(&error),
            };
            tasks.push(tokio::spawn(keep_fetching(spec, source, clock, note)));
        } else if let Some(mut source) = Source::of(spec) {
            let mut made = move || {
                let at = now();
                board.record(source.look(at));
                health[n].succeeded(at);
            };
            made();
            let mut ticks = interval_at(Instant::now() + every, every);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
            tasks.push(tokio::spawn(async move {
                loop {
                    ticks.tick().await;
                    made();
                }
            }));
        }
    }
    Ok(Feeds { tasks, health })
}

async fn keep_fetching(
    spec: FeedSpec,
    source: Fetched,
    now: impl Fn() -> Timestamp,
    note: impl Fn(Result<Sample, SourceError>) -> u32,
) {
    let source = Arc::new(source);
    loop {
        let (at, look, series) = (now(), Arc::clone(&source), spec.series.clone());
        // A task of its own: what a defect makes of an answer is one look that failed, and not the
        // end of the feed.
        let looked = tokio::spawn(async move { look.look(&series, at).await }).await;
        let defect = |_| Err(SourceError("reading the answer failed by a defect of this server".to_owned()));
        let failures = note(looked.unwrap_or_else(defect));
        tokio::time::sleep(source.rest(spec.every, failures)).await;
    }
}

fn rest(every: Duration, failures: u32) -> Duration {
    let doubled = every.saturating_mul(1 << failures.saturating_sub(1).min(16));
    doubled.min(every.max(REST_MAX))
}

enum Fetched {
    Http(HttpSource),
    Asked(Quoting),
}

impl Fetched {
    async fn look(&self, series: &Series, now: Timestamp) -> Result<Sample, SourceError> {
        match self {
            Fetched::Http(source) => source.look(series, now).await,
            Fetched::Asked(source) => {
                let (rate, value_date) =
                    source().await.ok_or_else(|| SourceError("the bank says no rate".to_owned()))?;
                Ok(Sample::new(series.clone(), rate, value_date.start_in(Zone::Caracas), now))
            }
        }
    }

    /// A bank is looked at rarely, and sooner again after a failure.
    fn rest(&self, every: Duration, failures: u32) -> Duration {
        match self {
            Fetched::Asked(_) if failures > 0 => rest(every.min(ASKED_AGAIN), failures).min(every),
            Fetched::Asked(_) | Fetched::Http(_) => rest(every, failures),
        }
    }
}

struct Source {
    series: Series,
    price: Decimal,
    bounds: [Decimal; 2],
    step_percent: Decimal,
    state: u64,
    last_look: Option<Option<Date>>,
}

impl Source {
    fn of(spec: FeedSpec) -> Option<Source> {
        let (Rate(price), Rate(step_percent), state) = match spec.kind {
            FeedKind::Manual | FeedKind::Http(_) | FeedKind::Asked(_) => return None,
            FeedKind::Fixed { price } => (price, Rate(Decimal::ZERO), 0),
            FeedKind::Simulated { price, step_percent, seed } => (price, step_percent, seed),
        };
        let bounds = [8, 12].map(|tenths| price * Decimal::new(tenths, 1));
        Some(Source { series: spec.series, price, bounds, step_percent, state, last_look: None })
    }

    fn look(&mut self, now: Timestamp) -> Sample {
        let mut sample = Sample::new(self.series.clone(), Rate(self.price), now, now);
        sample.test_only = true;
        let moves =
            self.last_look.is_some_and(|value_date| value_date.is_none() || value_date != sample.value_date);
        self.last_look = Some(sample.value_date);
        if moves && !self.step_percent.is_zero() {
            self.step();
            sample.price = Rate(self.price);
        }
        sample
    }

    fn step(&mut self) {
        // The random part is between −1000 and 1000 thousandths of the longest step.
        let thousandths = (self.random() % 2001) as i64 - 1000;
        let [lowest, highest] = self.bounds;
        let change = |thousandths| self.price * self.step_percent * Decimal::new(thousandths, 5);
        let mut next = self.price + change(thousandths);
        if next < lowest || next > highest {
            next = self.price + change(-thousandths);
        }
        let next = next.clamp(lowest, highest);
        self.price = next.round_dp_with_strategy(PRICE_DECIMALS, RoundingStrategy::MidpointAwayFromZero);
    }

    /// Splitmix64: any seed will do, zero too.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A source of the official rate that knows by itself how it is asked: a bank.
pub type Quoting = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Option<(Rate, Date)>> + Send>> + Send + Sync>;

/// As plain numbers, for metrics and for operators.
pub struct FeedHealth {
    pub series: Series,
    /// Made-up prices never price live mode.
    pub is_made_up: bool,
    state: Mutex<FeedState>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedState {
    /// On the server's clock.
    pub last_success: Option<Timestamp>,
    pub failures: u64,
    pub failures_in_a_row: u32,
    /// Without secrets.
    pub last_error: Option<String>,
}

impl FeedState {
    pub const fn is_new(&self) -> bool {
        self.last_success.is_none() && self.failures == 0
    }

    /// Since the last price; `None` if there never was one.
    pub fn age_seconds(&self, now: Timestamp) -> Option<i64> {
        self.last_success.map(|at| now.since_ms(at).max(0) / 1_000)
    }
}

impl FeedHealth {
    pub fn state(&self) -> FeedState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn succeeded(&self, at: Timestamp) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failures_in_a_row > 0 {
            let (series, failures) = (&self.series, state.failures_in_a_row);
            tracing::info!(pair = %series.pair, source = &*series.source, side = series.side.as_deref(), failures, "a rate feed is back");
        }
        state.last_success = Some(at);
        state.failures_in_a_row = 0;
    }

    fn failed(&self, error: &SourceError) -> u32 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures += 1;
        state.failures_in_a_row = state.failures_in_a_row.saturating_add(1);
        let (series, failures) = (&self.series, state.failures_in_a_row);
        tracing::warn!(pair = %series.pair, source = &*series.source, side = series.side.as_deref(), failures, %error, "a rate feed got no price; the last one stays");
        state.last_error = Some(error.to_string());
        failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rates::Steps;
    use crate::rates::board::Hook;
    use domain::resources::rates::samples::{BCV, Filter, Pair};
    use domain::values::ids::Mode;
    use domain::values::time::{DAY_MS, HOUR_MS};

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("an instant")
    }

    fn simulated(series: Series, seed: u64) -> Source {
        let kind = FeedKind::Simulated {
            price: Rate(Decimal::from(245)),
            step_percent: Rate(Decimal::new(50, 2)),
            seed,
        };
        Source::of(FeedSpec { series, kind, every: Duration::from_secs(60) }).expect("a source")
    }

    fn prices(source: &mut Source, looks: i64, apart_ms: i64) -> Vec<Decimal> {
        let start = at("2026-11-20T12:00:00Z");
        (0..looks).map(|look| source.look(start.plus_ms(look * apart_ms)).price.0).collect()
    }

    #[test]
    fn a_walk_follows_from_its_seed_and_stays_near_its_start() {
        let series = Series::of(Pair::USDT_VES, "p2p").side("FLOOR");
        let walked = prices(&mut simulated(series.clone(), 7), 5_000, 60_000);
        assert_eq!(walked, prices(&mut simulated(series.clone(), 7), 5_000, 60_000));
        assert_ne!(walked, prices(&mut simulated(series, 8), 5_000, 60_000));
        assert_eq!(walked[0], Decimal::from(245), "the first price is the one configured");
        for (before, after) in walked.iter().zip(&walked[1..]) {
            assert!((*after - *before).abs() <= *before * Decimal::new(51, 4), "{before} to {after}");
            assert!((Decimal::from(196)..=Decimal::from(294)).contains(after) && after.scale() <= 8);
        }
        assert!(walked.iter().filter(|price| **price == walked[0]).count() < 10, "it does walk");
    }

    #[test]
    fn the_official_rate_changes_once_a_day() {
        let mut source = simulated(Series::of(Pair::USD_VES, BCV).side("OFFICIAL"), 7);
        let walked = prices(&mut source, 4 * 24, HOUR_MS);
        let mut distinct = walked.clone();
        distinct.dedup();
        // 12:00Z is 08:00 in Caracas: 16 hours of that day, then three whole days, then 8 hours.
        assert_eq!(distinct.len(), 5);
        assert!(walked[..16].iter().all(|price| *price == walked[0]) && walked[16] != walked[15]);
    }

    #[test]
    fn a_fixed_price_stays_and_a_manual_feed_is_nobody() {
        let series = Series::of(Pair::USDT_VES, "p2p");
        let spec = |kind| FeedSpec { series: series.clone(), kind, every: Duration::from_secs(60) };
        let mut fixed =
            Source::of(spec(FeedKind::Fixed { price: Rate(Decimal::from(245)) })).expect("a source");
        assert!(prices(&mut fixed, 10, DAY_MS).iter().all(|price| *price == Decimal::from(245)));
        assert!(Source::of(spec(FeedKind::Manual)).is_none());
    }

    #[test]
    fn a_source_that_fails_is_asked_ever_more_rarely() {
        let rests = |every: u64| {
            (0..6)
                .map(move |failures| rest(Duration::from_secs(every), failures).as_secs())
                .collect::<Vec<_>>()
        };
        assert_eq!(rests(60), [60, 60, 120, 240, 480, 600]);
        assert_eq!(rests(3600), [3600; 6]);
        assert_eq!(rest(Duration::from_secs(60), u32::MAX), REST_MAX);
    }

    fn embedded_feeds() -> Vec<FeedSpec> {
        let p2p = |pair, side| Series::of(pair, "p2p").side(side);
        // Series, first price in hundredths, longest step in hundredths of a percent, seed. One market
        // has one seed: its sides walk side by side.
        let rows = [
            (Series::of(Pair::USD_VES, BCV).side("OFFICIAL"), 23_650, 10, 1),
            (p2p(Pair::USDT_VES, "BUY"), 25_000, 5, 2),
            (p2p(Pair::USDT_VES, "SELL"), 24_000, 5, 2),
            (p2p(Pair::USDT_VES, "FLOOR").method("p2p_floor"), 24_500, 5, 2),
            (p2p(Pair::USDT_COP, "BUY"), 395_000, 5, 3),
        ];
        let simulated = |(series, hundredths, step, seed)| FeedSpec {
            series,
            kind: FeedKind::Simulated {
                price: Rate(Decimal::new(hundredths, 2)),
                step_percent: Rate(Decimal::new(step, 2)),
                seed,
            },
            every: Duration::from_secs(60),
        };
        rows.into_iter().map(simulated).collect()
    }

    #[tokio::test]
    async fn the_first_samples_are_there_at_once_and_more_come() {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let hook: Hook = Box::new(move |sample| {
            let _ = sender.send(Arc::clone(sample));
        });
        let board = Arc::new(RateBoard::new(Steps::default(), hook));
        let now = at("2026-11-20T12:00:00Z");
        let specs: Vec<FeedSpec> = embedded_feeds()
            .into_iter()
            .map(|spec| FeedSpec { every: Duration::from_millis(1), ..spec })
            .collect();
        let feeds = start(specs, &board, move || now).expect("nothing is fetched");
        assert!(feeds.health.iter().all(|feed| feed.state().last_success == Some(now)));
        assert_eq!(board.all().len(), 5);
        assert!(board.official(Series::is_bcv, Mode::Test, now).is_some());
        assert!(board.official(Series::is_bcv, Mode::Live, now).is_none(), "made up");
        let floor = board.latest(
            Pair::USDT_VES,
            Filter { source: Some("p2p"), side: Some("FLOOR"), method: None },
            Mode::Test,
            now,
        );
        assert_eq!(floor.map(|found| found.sample.price.0), Some(Decimal::new(24_500, 2)));
        for _ in 0..15 {
            receiver.recv().await.expect("the feeds run");
        }
        drop(feeds);
    }
}
