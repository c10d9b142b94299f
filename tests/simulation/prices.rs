//! The feed of the market's prices, which jumps and lies, and what of its words decides: the rule of
//! `docs/contract.md, 14.1` written down a second time.

use domain::resources::rates::samples::{Pair, Sample, Series};
use domain::values::money::{Currency, Rate};
use domain::values::time::{DAY_MS, MINUTE_MS, Timestamp};
use pasarela::rates::{Market, RateBoard, Steps};
use rust_decimal::Decimal;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The age at which nobody knows a price any more.
const STALE_MS: i64 = 3 * DAY_MS;

/// What a feed says next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// Its last price, a little changed, in thousandths.
    Near(i64),
    /// Any price, in ten thousandths.
    Anything(i64),
    /// The price that it said last, once more.
    Again,
}

/// A pair's price as it may decide.
#[derive(Clone, Debug)]
struct Line {
    in_force: (i64, Decimal),
    /// The last word, believed or not.
    said: Decimal,
    /// The prices in a row that are alike and not believed yet.
    alike: Vec<(i64, Decimal)>,
}

impl Line {
    /// Hears a price, and says what became of it.
    fn hears(&mut self, at_ms: i64, price: Decimal) -> &'static str {
        let is_within = |from: Decimal, to: Decimal, percent: i64| {
            (to - from).abs() * Decimal::ONE_HUNDRED <= from * Decimal::from(percent)
        };
        self.said = price;
        if at_ms < self.in_force.0 {
            return "price.late";
        }
        let is_near = is_within(self.in_force.1, price, 25);
        if !is_near {
            let is_alike = |alike: &[(i64, Decimal)]| {
                let of = || alike.iter().map(|(_, price)| *price);
                let (least, most) = of().min().zip(of().max()).expect("at least this one");
                is_within(least, most, 2)
            };
            self.alike.push((at_ms, price));
            while !is_alike(&self.alike) {
                self.alike.remove(0);
            }
            if self.alike.len() < 3 || at_ms - self.alike[0].0 < 15 * MINUTE_MS {
                return "price.suspect";
            }
        }
        (self.in_force, self.alike) = ((at_ms, price), Vec::new());
        if is_near { "price.near" } else { "price.insisted" }
    }
}

/// The feed, and what it said: the store of rates, which outlives the server.
pub struct Feed {
    kept: Arc<Mutex<Vec<Sample>>>,
    lines: [Line; 2],
    /// What became of its words.
    pub seen: BTreeSet<&'static str>,
}

const PAIRS: [(Currency, Pair, &str, i64); 2] =
    [(Currency::Ves, Pair::USDT_VES, "FLOOR", 245), (Currency::Cop, Pair::USDT_COP, "BUY", 4_000)];

impl Feed {
    /// A feed that said its first prices at an instant.
    pub fn new(at_ms: i64) -> Feed {
        let at = Timestamp::from_unix_ms(at_ms);
        let first = PAIRS.map(|(_, pair, side, price)| {
            Sample::new(Series::of(pair, "p2p").side(side), Rate(Decimal::from(price)), at, at)
        });
        let lines = PAIRS.map(|(.., price)| {
            let price = Decimal::from(price);
            Line { in_force: (at_ms, price), said: price, alike: Vec::new() }
        });
        Feed { kept: Arc::new(Mutex::new(first.to_vec())), lines, seen: BTreeSet::new() }
    }

    /// The prices as a server finds them at its start: it has forgotten what it did not believe yet.
    pub fn restart(&mut self) -> (Arc<RateBoard>, Market) {
        self.lines.iter_mut().for_each(|line| line.alike.clear());
        let kept = Arc::clone(&self.kept);
        let keep = move |sample: &Arc<Sample>| {
            kept.lock().expect("nobody panics with it").push(Sample::clone(sample));
        };
        let board = Arc::new(RateBoard::new(Steps::default(), Box::new(keep)));
        let kept = self.kept.lock().expect("nobody panics with it").clone();
        kept.into_iter().for_each(|sample| board.restore(sample));
        (Arc::clone(&board), Market::new(board, STALE_MS))
    }

    /// Takes another price for the one in force.
    pub fn spoil(&mut self) {
        self.lines[0].in_force.1 += Decimal::ONE;
    }

    /// Says a price.
    pub fn say(&mut self, board: &RateBoard, is_pesos: bool, says: Says, at_ms: i64) {
        let (_, pair, side, _) = PAIRS[usize::from(is_pesos)];
        let line = &mut self.lines[usize::from(is_pesos)];
        let price = match says {
            Says::Near(thousandths) => (line.said * Decimal::new(thousandths, 3)).round_dp(4),
            Says::Anything(ten_thousandths) => Decimal::new(ten_thousandths, 4),
            Says::Again => line.said,
        };
        // What rounds to nothing is refused where feeds are read.
        if price <= Decimal::ZERO {
            return;
        }
        self.seen.insert(line.hears(at_ms, price));
        let at = Timestamp::from_unix_ms(at_ms);
        board.record(Sample::new(Series::of(pair, "p2p").side(side), Rate(price), at, at));
    }

    /// Whether this is the price that must decide at an instant.
    pub fn check(&self, currency: Currency, got: Option<Rate>, now_ms: i64) -> Result<(), String> {
        let at = PAIRS.iter().position(|(of, ..)| *of == currency).expect("a currency that is priced");
        let (said_ms, price) = self.lines[at].in_force;
        let expected = (now_ms - said_ms <= STALE_MS).then_some(price);
        match got.map(|rate| rate.0) == expected {
            true => Ok(()),
            false => {
                Err(format!("{currency:?} at {now_ms}: priced by {got:?}, and {expected:?} is believed"))
            }
        }
    }
}
