//! What keys have spent of their mandates, and what is left (`docs/contract.md, 3.11`). Every record that takes money out
//! or gives it back says so ([`Spending`]); whatever took it remembers of which mandate and on which day ([`Drawn`]), so
//! that what fails is given back to that day.

use crate::codec::{stored, stored_as};
use crate::ledger::{HoldChange, Ledger, Posting, Release};
use crate::platform::mandate::{Limit, Limits, Mandate};
use crate::refusal::{MandateRefusal, Refusal};
use crate::values::ids::Id;
use crate::values::money::Currency;
use crate::values::time::{Date, Timestamp, Zone};
use persistent::SortedMap;

stored! {
    /// What something was drawn from: a mandate, on a day in Caracas.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Purse {
        0 pub mandate: Id,
        1 pub date: Date,
    }

    /// A change of what was spent of a mandate on a day, in minor units; what is given back is below zero.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Spending {
        0 pub purse: Purse,
        1 pub currency: Currency,
        2 pub minor: i64,
    }

    /// What was spent of a mandate in a currency, on the newest day on which any was, and in the month of that day.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Spent {
        0 pub date: Date,
        1 pub day: i64,
        2 pub month: i64,
    }
}

/// The proof that whoever asked may take money out: only this file makes one. What took the money keeps it, as it must
/// give back to the same purse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn(Option<Box<Purse>>);

stored_as! { Drawn as Option<Box<Purse>>: |it| it.0, |purse| Ok(Drawn(purse)) }

impl Drawn {
    /// Nothing was drawn: an operator, a deadline or whoever has no mandate asked.
    pub const NONE: Drawn = Drawn(None);

    /// The mandate that it was drawn from.
    pub fn mandate(&self) -> Option<Id> {
        self.0.as_ref().map(|purse| purse.mandate)
    }

    pub fn spending(&self, currency: Currency, minor: i64) -> Option<Spending> {
        self.0.as_deref().filter(|_| minor != 0).map(|purse| Spending { purse: *purse, currency, minor })
    }
}

#[cfg(test)]
impl crate::codec::tests::Sampled for Drawn {
    fn sample(full: bool, number: &mut u64) -> Drawn {
        Drawn(Option::sample(full, number))
    }
}

/// The currency in which what a record moves takes more out of an account and its sellers, or sets more aside for a payer, than it
/// says was drawn from a mandate.
pub fn uncounted(postings: &[Posting], holds: &[HoldChange], spent: &[Spending]) -> Option<Currency> {
    let is_own = |ledger| matches!(ledger, Ledger::Tenant | Ledger::Seller(_));
    [Currency::Ves, Currency::Cop, Currency::Usdt].into_iter().find(|currency| {
        let moved = postings.iter().filter(|one| one.currency == *currency && is_own(one.ledger));
        let moved: i128 = moved.map(|one| i128::from(one.minor)).sum();
        let aside = holds.iter().filter(|one| {
            one.currency == *currency && one.release_at == Release::WhenDecided && is_own(one.ledger)
        });
        let aside: i128 = aside.map(|one| i128::from(one.minor.max(0))).sum();
        let drawn = spent.iter().filter(|one| one.currency == *currency);
        let drawn: i128 = drawn.map(|one| i128::from(one.minor)).sum();
        aside + (-moved).max(0) > drawn
    })
}

fn month_of(date: Date) -> (i32, u32) {
    let (year, month, _) = date.civil();
    (year, month)
}

/// Whether so much may go out of a mandate at this instant; `taken` is what the same call has taken by now.
pub fn draw(
    all: &AllSpent,
    mandate: &Mandate,
    now: Timestamp,
    taken: &[Spending],
    (currency, minor): (Currency, i64),
) -> Result<Drawn, Refusal> {
    let date = now.date_in(Zone::Caracas);
    let in_call: i64 = taken.iter().filter(|one| one.currency == currency).map(|one| one.minor).sum();
    let (day, month) = spent(all, mandate.id, currency, date);
    let limits = [
        (Limit::PerCall, &mandate.per_call, 0),
        (Limit::PerDay, &mandate.per_day, day),
        (Limit::PerMonth, &mandate.per_month, month),
    ];
    let mut is_bound = false;
    for (limit, limits, before) in limits {
        let Some(limits) = limits else { continue };
        is_bound = true;
        let most = limits.0.get(&currency).copied().unwrap_or(0);
        let remaining = most.saturating_sub(before).saturating_sub(in_call).max(0);
        if minor > remaining {
            let resets_at = resets_at(limit, date);
            return Err(MandateRefusal::Exceeded { limit, currency, remaining, resets_at }.into());
        }
    }
    // One that names no limit lets nothing out.
    if !is_bound {
        return Err(MandateRefusal::nothing(currency).into());
    }
    Ok(Drawn(Some(Box::new(Purse { mandate: mandate.id, date }))))
}

/// What is left of a mandate's limits of the day and of the month, by currency.
pub fn remaining(all: &AllSpent, mandate: &Mandate, now: Timestamp) -> Vec<(Limit, Limits)> {
    let date = now.date_in(Zone::Caracas);
    let left = |limits: &Limits, of: fn((i64, i64)) -> i64| {
        let left = limits.0.iter().map(|(currency, most)| {
            let spent = of(spent(all, mandate.id, *currency, date));
            (*currency, most.saturating_sub(spent).max(0))
        });
        Limits(left.collect())
    };
    let of_day = mandate.per_day.iter().map(|limits| (Limit::PerDay, left(limits, |(day, _)| day)));
    let of_month = mandate.per_month.iter().map(|limits| (Limit::PerMonth, left(limits, |(_, month)| month)));
    of_day.chain(of_month).collect()
}

/// When a limit begins anew, after this day.
fn resets_at(limit: Limit, date: Date) -> Option<Timestamp> {
    let begins = match limit {
        Limit::PerCall => return None,
        Limit::PerDay => date.plus_days(1),
        Limit::PerMonth => {
            let (.., day) = date.civil();
            let mut first = date.plus_days(29 - day as i32);
            // The 29th or, of a short February, the first of March.
            while month_of(first) == month_of(date) {
                first = first.plus_days(1);
            }
            first
        }
    };
    Some(begins.start_in(Zone::Caracas))
}

pub type AllSpent = SortedMap<(Id, Currency), Spent>;

/// What was spent of a mandate on this day and in its month.
fn spent(all: &AllSpent, mandate: Id, currency: Currency, date: Date) -> (i64, i64) {
    let Some(spent) = all.get(&(mandate, currency)) else { return (0, 0) };
    let day = if spent.date == date { spent.day } else { 0 };
    (day, if spent.date == date || month_of(spent.date) == month_of(date) { spent.month } else { 0 })
}

/// Applies what a record took or gave back. What comes back to a day that is over counts for its month, and to a month
/// that is over for nothing.
pub fn apply(all: &mut AllSpent, Spending { purse, currency, minor }: Spending) {
    let key = (purse.mandate, currency);
    if !all.contains_key(&key) {
        if minor <= 0 {
            return;
        }
        forget(all, purse.date);
    }
    all.with(key, Spent::default, |spent| {
        // The clock of an account never goes back, so what is taken is of the newest day.
        if minor > 0 && purse.date != spent.date {
            let month = if month_of(spent.date) == month_of(purse.date) { spent.month } else { 0 };
            *spent = Spent { date: purse.date, day: 0, month };
        }
        if purse.date == spent.date {
            spent.day = spent.day.saturating_add(minor).max(0);
        }
        if month_of(purse.date) == month_of(spent.date) {
            spent.month = spent.month.saturating_add(minor).max(0);
        }
    });
}

/// Forgets what was spent in months before that of `date`, of which no limit is left: so keys of long ago take no room.
fn forget(all: &mut AllSpent, date: Date) {
    let is_over = |spent: &Spent| month_of(spent.date) < month_of(date);
    let over: Vec<_> = all.iter().filter(|(_, spent)| is_over(spent)).map(|(key, _)| *key).collect();
    for key in over {
        all.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::Cause;
    use crate::codec::tests::Sampled as _;
    use crate::decision::Draft;
    use crate::record::Record;
    use crate::values::time::{DAY_MS, HOUR_MS};
    use proptest::prelude::*;

    fn limits(of: &[(Currency, i64)]) -> Option<Limits> {
        Some(Limits(of.iter().copied().collect()))
    }

    fn mandate() -> Mandate {
        Mandate {
            id: Id::derived(1, 1, 1),
            agent: None,
            per_call: None,
            per_day: None,
            per_month: None,
            payees: Vec::new(),
            approval_above: None,
        }
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("an instant")
    }

    fn refused(limit: Limit, currency: Currency, remaining: i64, resets_at: Option<&str>) -> Refusal {
        MandateRefusal::Exceeded { limit, currency, remaining, resets_at: resets_at.map(at) }.into()
    }

    const VES: Currency = Currency::Ves;
    const NOON: &str = "2026-02-28T12:00:00-04:00";

    #[test]
    fn each_object_binds_by_itself_and_says_when_it_begins_anew() {
        let (mut all, now) = (AllSpent::default(), at("2026-02-28T23:00:00-04:00"));
        let bound = Mandate {
            per_call: limits(&[(VES, 50), (Currency::Usdt, 5)]),
            per_day: limits(&[(VES, 80)]),
            per_month: limits(&[(VES, 100), (Currency::Usdt, 9)]),
            ..mandate()
        };
        let march = Some("2026-03-01T00:00:00-04:00");
        let mut draws = |currency, minor: i64| {
            let drawn = draw(&all, &bound, now, &[], (currency, minor))?;
            drawn.spending(currency, minor).into_iter().for_each(|one| apply(&mut all, one));
            Ok(())
        };
        assert_eq!(draws(VES, 51), Err(refused(Limit::PerCall, VES, 50, None)));
        assert_eq!(draws(VES, 50), Ok(()));
        assert_eq!(draws(VES, 31), Err(refused(Limit::PerDay, VES, 30, march)));
        assert_eq!(draws(Currency::Cop, 1), Err(refused(Limit::PerCall, Currency::Cop, 0, None)));
        assert_eq!(draws(Currency::Usdt, 1), Err(refused(Limit::PerDay, Currency::Usdt, 0, march)));
        assert_eq!(draws(VES, 30), Ok(()));
        let other_day = draw(&all, &bound, now.plus_ms(-DAY_MS), &[], (VES, 21));
        assert_eq!(other_day, Err(refused(Limit::PerMonth, VES, 20, march)));
        let next_month = draw(&all, &bound, now.plus_ms(HOUR_MS), &[], (VES, 50));
        assert!(next_month.is_ok(), "it begins at midnight in Caracas");
        let left = remaining(&all, &bound, now);
        let of = |limit| left.iter().find(|(known, _)| *known == limit).map(|(_, limits)| limits.clone());
        assert_eq!(of(Limit::PerDay), limits(&[(VES, 0)]));
        assert_eq!(of(Limit::PerMonth), limits(&[(VES, 20), (Currency::Usdt, 9)]));
        let december = at("2026-12-31T12:00:00-04:00");
        let of_month = Mandate { per_month: limits(&[]), ..mandate() };
        let january = Some("2027-01-01T00:00:00-04:00");
        let none = draw(&all, &of_month, december, &[], (VES, 1));
        assert_eq!(none, Err(refused(Limit::PerMonth, VES, 0, january)));
        let unlimited = draw(&all, &mandate(), december, &[], (VES, 1));
        assert_eq!(unlimited, Err(refused(Limit::PerCall, VES, 0, None)));
    }

    #[test]
    fn a_call_counts_what_it_has_taken() {
        let bound = Mandate { per_call: limits(&[(VES, 10)]), ..mandate() };
        let all = AllSpent::default();
        let drawn = draw(&all, &bound, Timestamp::EPOCH, &[], (VES, 6)).expect("so much may go out");
        let taken = [drawn.spending(VES, 6).expect("a spending")];
        let over = draw(&all, &bound, Timestamp::EPOCH, &taken, (VES, 5));
        assert_eq!(over, Err(refused(Limit::PerCall, VES, 4, None)));
        assert!(draw(&all, &bound, Timestamp::EPOCH, &taken, (VES, 4)).is_ok());
    }

    proptest! {
        /// Takes and returns in any order over some months: a day and a month are never passed, and when all has come
        /// back all can be spent again.
        #[test]
        fn never_a_cent_above_and_all_that_comes_back_can_be_spent_again(
            steps in prop::collection::vec((0_i64..90, 1_i64..60, any::<bool>()), 1..60),
        ) {
            let bound = Mandate { per_day: limits(&[(VES, 50)]), per_month: limits(&[(VES, 120)]), ..mandate() };
            let mut all = AllSpent::default();
            let (mut now, mut out) = (Timestamp::EPOCH, Vec::<Spending>::new());
            for (hours, minor, returns) in steps {
                now = now.plus_ms(hours * HOUR_MS);
                if returns && !out.is_empty() {
                    let back = out.remove(minor as usize % out.len());
                    apply(&mut all, Spending { minor: -back.minor, ..back });
                } else if let Ok(drawn) = draw(&all, &bound, now, &[], (VES, minor)) {
                    let spending = drawn.spending(VES, minor).expect("a spending");
                    apply(&mut all, spending);
                    out.push(spending);
                }
                let today = now.date_in(Zone::Caracas);
                let of_day: i64 = out.iter().filter(|one| one.purse.date == today).map(|one| one.minor).sum();
                let of_month = out.iter().filter(|one| month_of(one.purse.date) == month_of(today));
                let of_month: i64 = of_month.map(|one| one.minor).sum();
                prop_assert!(of_day <= 50 && of_month <= 120);
                prop_assert_eq!(spent(&all, mandate().id, VES, today), (of_day, of_month));
            }
            for back in out {
                apply(&mut all, Spending { minor: -back.minor, ..back });
            }
            prop_assert!(draw(&all, &bound, now, &[], (VES, 50)).is_ok());
        }
    }

    #[test]
    fn what_goes_out_or_is_set_aside_is_all_drawn() {
        let drawn = draw(
            &AllSpent::default(),
            &Mandate { per_day: limits(&[(VES, 100)]), ..mandate() },
            at(NOON),
            &[],
            (VES, 100),
        );
        let drawn = drawn.expect("so much may go out");
        let out = |draft: &mut Draft, ledger: Ledger, minor: i64| {
            draft.post((VES, -minor), (ledger, None), (Ledger::Rail, None));
        };
        let aside = |draft: &mut Draft, ledger: Ledger, minor: i64| {
            draft.hold((ledger, VES), Release::WhenDecided, Id::derived(1, 1, 1), minor);
        };
        let of = |record: &Record| uncounted(&record.postings, &record.holds, &record.spent);
        let seller = Ledger::Seller(Id::derived(1, 1, 2));
        type Moves<'a> = &'a dyn Fn(&mut Draft);
        let cases: [(&str, Cause, Moves<'_>, i64); 6] = [
            ("a payout with its fee", Cause::PayoutCreated, &|draft| out(draft, Ledger::Tenant, 40), 40),
            ("a seller's", Cause::PayoutCreated, &|draft| out(draft, seller, 40), 40),
            (
                "between the account and a seller",
                Cause::PayoutCreated,
                &|draft| draft.post((VES, 40), (seller, None), (Ledger::Tenant, None)),
                0,
            ),
            ("a reversal", Cause::ReversalBegun, &|draft| aside(draft, Ledger::Tenant, 40), 40),
            (
                "a reversal of a seller's sale",
                Cause::ReversalBegun,
                &|draft| {
                    aside(draft, Ledger::Tenant, 10);
                    aside(draft, seller, 30);
                },
                40,
            ),
            ("nothing", Cause::BatchCreated, &|_| {}, 0),
        ];
        for (what, cause, moves, minor) in cases {
            let record = |spent: i64| {
                let mut draft = Draft::new(cause);
                moves(&mut draft);
                draft.spend(&drawn, VES, spent);
                draft.record
            };
            assert_eq!(of(&record(minor)), None, "{what}");
            assert_eq!(of(&record(minor + 1)), None, "{what}: more");
            if minor > 0 {
                assert_eq!(of(&record(minor - 1)), Some(VES), "{what}: a cent less");
                assert_eq!(of(&record(0)), Some(VES), "{what}: nothing");
            }
        }
    }

    #[test]
    fn what_was_spent_long_ago_takes_no_room() {
        let mut all = AllSpent::default();
        for n in 0..5_u16 {
            let date = Date::from_days(i32::from(n) * 31);
            let purse = Purse { mandate: Id::derived(1, 1, n), date };
            apply(&mut all, Spending { purse, currency: VES, minor: 1 });
        }
        assert_eq!(all.len(), 1);
        let gone = Purse { mandate: Id::derived(1, 1, 0), date: Date::sample(false, &mut 0) };
        apply(&mut all, Spending { purse: gone, currency: VES, minor: -1 });
        assert_eq!(all.len(), 1, "nobody counts it any more");
    }
}
