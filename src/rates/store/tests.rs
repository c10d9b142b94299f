//! The store against a naive model, across closing and opening, and under a late sample.

use super::*;
use crate::rates::board::Hook;
use crate::rates::{RateBoard, Steps};
use domain::resources::rates::buckets::{Aggregation, Bucket, Kept, Placed, Window, price, ticks};
use domain::resources::rates::samples::{BCV, Filter, OFFICIAL, Pair};
use domain::values::ids::Mode;
use domain::values::time::{DAY_MS, HOUR_MS, MINUTE_MS};
use proptest::prelude::*;
use std::collections::BTreeMap;

const ALL: Filter<'static> = Filter { source: None, side: None, method: None };

/// A store on a disk without a reserve.
fn opened(directory: &Path) -> Result<RateStore, RateStoreError> {
    RateStore::open(directory, &Arc::new(Disk::new(directory, 0)))
}

#[test]
fn a_sample_of_a_feed_is_not_written_while_the_disk_has_no_room() {
    let directory = tempfile::tempdir().expect("a directory");
    let disk = Arc::new(Disk::new(directory.path(), u64::MAX));
    let store = RateStore::open(directory.path(), &disk).expect("it opens");
    store.note(&sample(p2p("BUY"), 100, at("2026-11-20T23:30:00Z")));
    assert_eq!(store.stats(), [0, 1]);
    assert!(store.lines(Pair::USDT_VES, ALL).is_empty());
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).expect("an instant")
}

fn p2p(side: &str) -> Series {
    Series::of(Pair::USDT_VES, "p2p").side(side)
}

fn sample(series: Series, ticks: i128, as_of: Timestamp) -> Arc<Sample> {
    Arc::new(Sample::new(series, price(ticks), as_of, as_of))
}

fn keep(store: &RateStore, samples: impl IntoIterator<Item = Arc<Sample>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        for sample in samples {
            store.keep(Item::Sample(sample)).await.expect("it is kept");
        }
    });
}

fn whole() -> Window {
    Window { from: Timestamp::MIN, to: Timestamp::MAX }
}

#[test]
fn what_was_kept_is_there_after_closing_and_opening() {
    let directory = tempfile::tempdir().expect("a directory");
    let start = at("2026-11-20T23:30:00Z");
    for run in 0..3 {
        let store = opened(directory.path()).expect("it opens");
        keep(
            &store,
            [
                sample(p2p("BUY"), 100 + run, start.plus_ms(run as i64 * HOUR_MS)),
                sample(p2p("SELL"), 90, start),
            ],
        );
        let lines = store.lines(Pair::USDT_VES, Filter { side: Some("BUY"), ..ALL });
        assert_eq!(lines.len(), 1);
        let points = store.history(&lines, None, whole(), false, 1000).expect("it reads");
        assert_eq!(points.len() as i128, run + 1);
        let days = store.history(&lines, Some(Step::Day), whole(), false, 1000).expect("it reads");
        assert_eq!(days.len(), if run == 0 { 1 } else { 2 });
        assert_eq!(store.stats(), [2, 0]);
        assert_eq!(store.lines(Pair::USDT_VES, ALL).len(), 2);
        assert!(store.lines(Pair::USD_VES, ALL).is_empty());
    }
}

#[test]
fn a_late_sample_lands_in_its_own_bucket() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = opened(directory.path()).expect("it opens");
    let noon = at("2026-11-20T12:00:00Z");
    keep(
        &store,
        [
            sample(p2p("BUY"), 20, noon.plus_ms(10 * MINUTE_MS)),
            sample(p2p("BUY"), 90, noon.plus_ms(HOUR_MS)),
            sample(p2p("BUY"), 10, noon),
        ],
    );
    let lines = store.lines(Pair::USDT_VES, ALL);
    let hours = store.history(&lines, Some(Step::Hour), whole(), false, 10).expect("it reads");
    let shown = |aggregation| {
        let prices = hours.iter().map(|point| match &point.kept {
            Kept::Many(bucket) => ticks(bucket.price(aggregation)),
            Kept::One { .. } => panic!("not a bucket"),
        });
        prices.collect::<Vec<i128>>()
    };
    assert_eq!(hours.iter().map(|point| point.at).collect::<Vec<_>>(), [noon, noon.plus_ms(HOUR_MS)]);
    assert_eq!(
        (shown(Aggregation::First), shown(Aggregation::Last), shown(Aggregation::Avg)),
        (vec![10, 90], vec![20, 90], vec![15, 90])
    );
}

#[test]
fn a_way_of_paying_makes_no_line_of_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = opened(directory.path()).expect("it opens");
    let noon = at("2026-11-20T12:00:00Z");
    let banesco = Series { payment_method: Some(Arc::from("Banesco")), ..p2p("BUY") };
    keep(&store, [sample(p2p("BUY"), 20, noon), sample(banesco.clone(), 30, noon.plus_ms(1))]);
    assert_eq!(store.lines(Pair::USDT_VES, ALL).len(), 1);
    let newest = store.newest(noon.plus_ms(5)).expect("it reads");
    assert_eq!(newest.iter().map(|sample| &sample.series).collect::<Vec<_>>(), [&banesco]);
}

#[test]
fn a_board_begins_with_the_official_rate_in_force_and_those_ahead() {
    let directory = tempfile::tempdir().expect("a directory");
    let bcv = |price, as_of: &str, fetched_at: &str| {
        Arc::new(Sample::new(
            Series::of(Pair::USD_VES, BCV).side(OFFICIAL),
            domain::resources::rates::buckets::price(price),
            at(as_of),
            at(fetched_at),
        ))
    };
    {
        let store = opened(directory.path()).expect("it opens");
        keep(
            &store,
            [
                bcv(1, "2026-11-18T12:00:00Z", "2026-11-18T12:00:00Z"),
                bcv(2, "2026-11-19T20:00:00Z", "2026-11-19T12:00:00Z"),
                bcv(3, "2026-11-19T12:00:00Z", "2026-11-19T21:00:00Z"),
                bcv(4, "2026-11-23T12:00:00Z", "2026-11-20T21:00:00Z"),
                sample(p2p("BUY"), 7, at("2026-11-19T12:00:00Z")),
                sample(p2p("BUY"), 8, at("2026-11-20T12:00:00Z")),
                // What decides nothing in live mode does not begin a board, however new it is.
                Arc::new(Sample {
                    suspect: true,
                    ..Sample::clone(&sample(p2p("BUY"), 9, at("2026-11-20T13:00:00Z")))
                }),
                Arc::new(Sample {
                    test_only: true,
                    ..Sample::clone(&sample(p2p("BUY"), 9, at("2026-11-20T14:00:00Z")))
                }),
                Arc::new(Sample {
                    suspect: true,
                    ..Sample::clone(&bcv(9, "2026-11-19T12:00:00Z", "2026-11-19T22:00:00Z"))
                }),
            ],
        );
    }
    let store = opened(directory.path()).expect("it opens");
    let hook: Hook = Box::new(|_| panic!("what is restored is in the history already"));
    let board = RateBoard::new(Steps::default(), hook);
    let now = at("2026-11-21T12:00:00Z");
    for sample in store.newest(now).expect("it reads") {
        board.restore(sample);
    }
    let in_force =
        |now: &str| board.official(Series::is_bcv, Mode::Live, at(now)).map(|sample| ticks(sample.price));
    assert_eq!(in_force("2026-11-21T12:00:00Z"), Some(3), "within a day the last word counts");
    assert_eq!((in_force("2026-11-23T03:59:59.999Z"), in_force("2026-11-23T04:00:00Z")), (Some(3), Some(4)));
    assert_eq!(
        board.latest(Pair::USDT_VES, ALL, Mode::Test, now).map(|found| ticks(found.sample.price)),
        Some(8)
    );
}

#[test]
fn a_store_of_another_format_does_not_open() {
    let directory = tempfile::tempdir().expect("a directory");
    drop(opened(directory.path()).expect("it opens"));
    let db = DB::open_default(directory.path()).expect("it opens");
    db.put(FORMAT_KEY, [9]).expect("written");
    drop(db);
    assert!(matches!(opened(directory.path()), Err(RateStoreError::Damaged(_))));
}

/// The history that is expected, found by looking at every sample.
fn naive(
    samples: &[(usize, i64, i128)],
    step: Option<Step>,
    window: Window,
    newest_first: bool,
    limit: usize,
) -> Vec<(i64, usize, Bucket)> {
    let mut points: BTreeMap<(i64, usize, usize), Bucket> = BTreeMap::new();
    for (n, (line, ms, price)) in samples.iter().enumerate() {
        let at = Timestamp::from_unix_ms(*ms);
        if at < window.from || at >= window.to {
            continue;
        }
        let one = Bucket::of(Placed { at, number: n as u64, ticks: *price });
        let key = match step {
            Some(step) => (step.start_of(at).unix_ms(), *line, 0),
            None => (*ms, *line, n),
        };
        points.entry(key).and_modify(|bucket| *bucket = bucket.joined(one)).or_insert(one);
    }
    let mut points: Vec<_> = points.into_iter().map(|((ms, line, _), bucket)| (ms, line, bucket)).collect();
    if newest_first {
        points.reverse();
        points.sort_by_key(|(ms, line, _)| (std::cmp::Reverse(*ms), *line));
    }
    points.truncate(limit);
    points
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn a_history_is_what_a_naive_look_at_all_samples_says(
        samples in proptest::collection::vec((0_usize..2, -2 * DAY_MS..2 * DAY_MS, 1_i128..1_000_000), 1..150),
        looks in proptest::collection::vec((-50_i64..50, 1_i64..60, 0_i64..HOUR_MS, 0_usize..3, any::<bool>(), 1_usize..40), 30),
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = opened(directory.path()).expect("it opens");
        let sides = ["BUY", "SELL"];
        // The lines get their numbers in the order of their first samples; here that order is
        // fixed.
        let mut samples = samples;
        samples.insert(0, (0, 0, 5));
        samples.insert(1, (1, 0, 6));
        keep(&store, samples.iter().map(|(line, ms, price)| sample(p2p(sides[*line]), *price, Timestamp::from_unix_ms(*ms))));
        let lines = store.lines(Pair::USDT_VES, ALL);
        for (from, hours, odd, step, newest_first, limit) in looks {
            // Some windows begin and end within an hour, some at its edge.
            let from = Timestamp::from_unix_ms(from * HOUR_MS + if odd % 3 == 0 { 0 } else { odd });
            let window = Window { from, to: from.plus_ms(hours * HOUR_MS - if odd % 2 == 0 { 0 } else { odd % (30 * MINUTE_MS) }) };
            let step = [None, Some(Step::Hour), Some(Step::Day)][step];
            let points = store.history(&lines, step, window, newest_first, limit).expect("it reads");
            let shown: Vec<(i64, usize, i128, u64)> = points
                .iter()
                .map(|point| {
                    let line = sides.iter().position(|side| Some(*side) == point.series.side.as_deref()).expect("a side");
                    match &point.kept {
                        Kept::One { price, .. } => (point.at.unix_ms(), line, ticks(*price), 1),
                        Kept::Many(bucket) => (point.at.unix_ms(), line, bucket.sum, bucket.count),
                    }
                })
                .collect();
            let expected: Vec<(i64, usize, i128, u64)> =
                naive(&samples, step, window, newest_first, limit).into_iter().map(|(ms, line, bucket)| (ms, line, bucket.sum, bucket.count)).collect();
            prop_assert_eq!(shown, expected, "{:?} {:?} {} {}", step, window, newest_first, limit);
        }
    }
}
