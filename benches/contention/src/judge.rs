//! Whether a history of debits and reads of one balance can have happened: nothing acknowledged is
//! lost, nothing is debited twice, nobody overdraws, nobody is refused while there is money, and all
//! of it fits one order that agrees with the clock (linearizability).
//!
//! All debits of a history have the same amount. So the balance counts down by ones, a refusal is a
//! read of nothing left, and whether an order exists can be decided exactly, in n log n: reads are
//! sorted by what they saw, and between two neighbours stand as many debits as they differ by. Each
//! debit has a first place (behind every read that ended before it began) and a last one (before
//! every read that began after it ended), and places are filled by who has to go first. If that does
//! not work out, nothing does.

use super::loader::{Answer, Call, What};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::fmt;

/// Ids that a finding shows.
const SHOWN: usize = 3;

/// What happened, and what was there in the end.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The balance before all, in minor units: a multiple of `minor`.
    pub funds: i64,
    /// The amount of every debit.
    pub minor: i64,
    /// Every call with its answer.
    pub calls: Vec<Call>,
    /// The balance when all had ended and the server was started once more.
    pub balance: i64,
    /// The ids of all debits that the peer then has, as often as it has them.
    pub debited: Vec<u64>,
}

/// Something that cannot have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Acknowledged, and not there in the end.
    Lost(Vec<u64>),
    /// There more than once.
    Twice(Vec<u64>),
    /// Refused, and there in the end.
    RefusedAndDebited(Vec<u64>),
    /// There, and never asked for.
    NeverAsked(Vec<u64>),
    /// The balance in the end is not what the debits leave: is, and should be.
    Balance(i64, i64),
    /// More was debited than there was: by so many minor units.
    Overdrawn(i64),
    /// A refusal, at this instant, while there was money.
    RefusedWithMoney(u64),
    /// A read of the balance, of so many minor units, that no order explains.
    Read(i64, &'static str),
}

/// What the judge has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Debits that were acknowledged.
    pub done: usize,
    /// Debits that were refused.
    pub refused: usize,
    /// Debits whose outcome nobody was told.
    pub unknown: usize,
    /// Reads of the balance.
    pub reads: usize,
    /// What is wrong; nothing if all is well.
    pub findings: Vec<Finding>,
}

/// Judges a history.
pub fn judge(history: &History) -> Verdict {
    let mut verdict = Verdict::default();
    let mut asked: HashMap<u64, Answer> = HashMap::new();
    for call in &history.calls {
        match call.what {
            What::Read(_) => verdict.reads += 1,
            What::Debit(id, answer) => {
                asked.insert(id, answer);
                match answer {
                    Answer::Done => verdict.done += 1,
                    Answer::Refused => verdict.refused += 1,
                    Answer::Unknown => verdict.unknown += 1,
                }
            }
        }
    }
    let mut there: BTreeMap<u64, usize> = BTreeMap::new();
    for id in &history.debited {
        *there.entry(*id).or_default() += 1;
    }
    let of = |answer: Answer| {
        let mut ids: Vec<u64> =
            asked.iter().filter(|(_, given)| **given == answer).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.into_iter()
    };
    let lost: Vec<u64> = of(Answer::Done).filter(|id| !there.contains_key(id)).collect();
    let phantom: Vec<u64> = there.keys().filter(|id| !asked.contains_key(id)).copied().collect();
    let twice: Vec<u64> = there.iter().filter(|(_, times)| **times > 1).map(|(id, _)| *id).collect();
    let refused: Vec<u64> = of(Answer::Refused).filter(|id| there.contains_key(id)).collect();
    let left = history.funds - history.minor * history.debited.len() as i64;
    let mut find = |is: bool, finding: Finding| {
        if is {
            verdict.findings.push(finding);
        }
    };
    let is_whole = lost.is_empty() && history.balance == left;
    find(!lost.is_empty(), Finding::Lost(lost));
    find(!twice.is_empty(), Finding::Twice(twice));
    find(!refused.is_empty(), Finding::RefusedAndDebited(refused));
    find(!phantom.is_empty(), Finding::NeverAsked(phantom));
    find(history.balance != left, Finding::Balance(history.balance, left));
    find(left < 0, Finding::Overdrawn(-left));
    // Refusals of a balance below zero are right, whatever else is wrong then.
    if left >= 0 {
        verdict.findings.extend(order(history, &there, is_whole));
    }
    verdict
}

/// Reads of the same number of debits, which stand next to each other in every order.
struct Group {
    debits: i64,
    /// The latest start and the earliest end of its reads.
    latest_start: u64,
    earliest_end: u64,
    /// A refusal of them, which is nicer to be told of than a read.
    refusal: Option<u64>,
}

/// Looks for an order; what is in the way of one if there is none. The balance in the end is a read
/// after all others, unless it is wrong by itself.
fn order(history: &History, there: &BTreeMap<u64, usize>, with_the_end: bool) -> Option<Finding> {
    let minor = history.minor.max(1);
    let mut reads: BTreeMap<i64, Group> = BTreeMap::new();
    let mut read = |debits: i64, start: u64, end: u64, is_refusal: bool| {
        let group = reads.entry(debits).or_insert(Group {
            debits,
            latest_start: start,
            earliest_end: end,
            refusal: None,
        });
        group.latest_start = group.latest_start.max(start);
        group.earliest_end = group.earliest_end.min(end);
        if is_refusal {
            group.refusal = Some(group.refusal.map_or(start, |at| at.max(start)));
        }
    };
    let mut debits: Vec<(u64, u64)> = Vec::new();
    for call in &history.calls {
        match call.what {
            What::Read(balance) => {
                let gone = history.funds - balance;
                if gone % minor != 0 || gone < 0 {
                    return Some(Finding::Read(balance, "no number of debits leaves that"));
                }
                read(gone / minor, call.start, call.end, false);
            }
            What::Debit(_, Answer::Refused) => read(history.funds / minor, call.start, call.end, true),
            What::Debit(id, answer) => match (answer, there.contains_key(&id)) {
                (Answer::Done, _) => debits.push((call.start, call.end)),
                // Nobody was told, and it is there: it happened at any time after it was asked for.
                (_, true) => debits.push((call.start, u64::MAX)),
                (_, false) => {}
            },
        }
    }
    if with_the_end {
        read((history.funds - history.balance) / minor, u64::MAX, u64::MAX, false);
    }
    let groups: Vec<Group> = reads.into_values().collect();
    let wrong = |group: &Group, why: &'static str| match group.refusal {
        Some(at) if [MORE, SPLIT, LESS_LATER].contains(&why) => Finding::RefusedWithMoney(at),
        _ => Finding::Read(history.funds - group.debits * minor, why),
    };
    // The latest start of any read up to here, and the earliest end of any from here on.
    let mut starts: Vec<u64> = Vec::with_capacity(groups.len());
    for group in &groups {
        starts.push(group.latest_start.max(starts.last().copied().unwrap_or(0)));
    }
    let mut ends: Vec<u64> = vec![u64::MAX; groups.len()];
    for nth in (0..groups.len()).rev() {
        ends[nth] = groups[nth].earliest_end.min(ends.get(nth + 1).copied().unwrap_or(u64::MAX));
    }
    if let Some(nth) = (1..groups.len()).find(|nth| ends[*nth] < starts[nth - 1]) {
        return Some(wrong(&groups[nth], LESS_LATER));
    }
    // By the first place; in a place by the last, then by the end, which keeps the clock's order.
    let mut places: Vec<(usize, usize, u64)> = debits
        .into_iter()
        .map(|(start, end)| {
            (
                ends.partition_point(|before| *before < start),
                starts.partition_point(|after| *after <= end),
                end,
            )
        })
        .collect();
    // Asked for after a read of the very number had ended, and acknowledged before another began.
    if let Some((_, last, _)) = places.iter().find(|(first, last, _)| first > last) {
        return Some(wrong(&groups[*last], SPLIT));
    }
    places.sort_unstable();
    let (mut waiting, mut places, mut before) = (BinaryHeap::new(), places.into_iter().peekable(), 0);
    for (place, group) in groups.iter().enumerate() {
        while let Some((_, last, end)) = places.next_if(|(first, _, _)| *first <= place) {
            waiting.push(Reverse((last, end)));
        }
        for _ in before..group.debits {
            if waiting.pop().is_none() {
                return Some(wrong(group, MORE));
            }
        }
        if waiting.peek().is_some_and(|Reverse((last, _))| *last <= place) {
            return Some(wrong(group, NOT_IN_IT));
        }
        before = group.debits;
    }
    None
}

const MORE: &str = "fewer debits had been asked for";
const NOT_IN_IT: &str = "debits that were acknowledged before it are not in it";
const SPLIT: &str = "debits were made between two reads of it";
const LESS_LATER: &str = "a later read saw more money";

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = |ids: &Vec<u64>| {
            let shown: Vec<String> = ids.iter().take(SHOWN).map(u64::to_string).collect();
            format!("{} (such as {})", ids.len(), shown.join(", "))
        };
        match self {
            Finding::Lost(lost) => write!(f, "acknowledged debits are lost: {}", ids(lost)),
            Finding::Twice(twice) => write!(f, "debited more than once: {}", ids(twice)),
            Finding::RefusedAndDebited(refused) => write!(f, "refused and debited: {}", ids(refused)),
            Finding::NeverAsked(phantom) => write!(f, "debited and never asked for: {}", ids(phantom)),
            Finding::Balance(is, should) => {
                write!(f, "lost updates: the balance is {is} and its debits leave {should}")
            }
            Finding::Overdrawn(by) => write!(f, "overdrawn by {by}"),
            Finding::RefusedWithMoney(at) => write!(f, "refused while there was money (at {at} ns)"),
            Finding::Read(balance, why) => write!(f, "not linearizable: a read of {balance}: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Answer::{Done, Refused, Unknown};

    /// What is given, the calls, the balance in the end, what is debited then, and what is found.
    type Wrong = (&'static str, Vec<Call>, i64, Vec<u64>, Vec<Finding>);

    fn debit(id: u64, start: u64, end: u64, answer: Answer) -> Call {
        Call { start, end, what: What::Debit(id, answer) }
    }

    fn read(balance: i64, start: u64, end: u64) -> Call {
        Call { start, end, what: What::Read(balance) }
    }

    /// A history of debits of 10 out of 50.
    fn found(calls: &[Call], balance: i64, debited: &[u64]) -> Vec<Finding> {
        let history =
            History { funds: 50, minor: 10, calls: calls.to_vec(), balance, debited: debited.to_vec() };
        judge(&history).findings
    }

    #[test]
    fn what_can_have_happened_is_believed() {
        let all: &[(&str, &[Call], i64, &[u64])] = &[
            ("nothing", &[], 50, &[]),
            (
                "one debit and reads around it",
                &[read(50, 0, 1), debit(1, 2, 5, Done), read(40, 6, 7)],
                40,
                &[1],
            ),
            (
                "a read beside a debit sees either",
                &[debit(1, 0, 9, Done), read(50, 1, 2), read(40, 3, 4)],
                40,
                &[1],
            ),
            (
                "nobody knows, and it is there",
                &[debit(1, 0, u64::MAX, Unknown), read(50, 5, 6), read(40, 7, 8)],
                40,
                &[1],
            ),
            ("nobody knows, and it is not there", &[debit(1, 0, u64::MAX, Unknown), read(50, 5, 6)], 50, &[]),
            (
                "refused when all is gone, beside the last debit",
                &[
                    debit(1, 0, 1, Done),
                    debit(2, 0, 1, Done),
                    debit(3, 0, 1, Done),
                    debit(4, 0, 1, Done),
                    debit(5, 2, 9, Done),
                    debit(6, 3, 4, Refused),
                    read(0, 5, 6),
                ],
                0,
                &[5, 4, 3, 2, 1],
            ),
        ];
        for (given, calls, balance, debited) in all {
            assert_eq!(found(calls, *balance, debited), [], "{given}");
        }
    }

    #[test]
    fn what_cannot_have_happened_is_found() {
        use Finding::{
            Balance, Lost, NeverAsked, Overdrawn, Read, RefusedAndDebited, RefusedWithMoney, Twice,
        };
        let done = |ids: std::ops::RangeInclusive<u64>| ids.map(|id| debit(id, id * 10, id * 10 + 5, Done));
        let all: Vec<Wrong> = vec![
            ("an acknowledged debit is lost", done(1..=2).collect(), 40, vec![1], vec![Lost(vec![2])]),
            ("a lost update", done(1..=2).collect(), 40, vec![1, 2], vec![Balance(40, 30)]),
            (
                "a debit is there twice",
                done(1..=1).collect(),
                30,
                vec![1, 1],
                vec![Twice(vec![1]), Read(30, MORE)],
            ),
            ("debited twice and noted once", done(1..=1).collect(), 30, vec![1], vec![Balance(30, 40)]),
            (
                "refused and debited",
                vec![debit(1, 0, 1, Refused)],
                40,
                vec![1],
                vec![RefusedAndDebited(vec![1]), RefusedWithMoney(0)],
            ),
            ("nobody asked for it", vec![], 40, vec![7], vec![NeverAsked(vec![7]), Read(40, MORE)]),
            ("overdrawn", done(1..=6).collect(), -10, (1..=6).collect(), vec![Overdrawn(10)]),
            (
                "refused while there was money",
                done(1..=4).chain([debit(9, 60, 65, Refused)]).collect(),
                10,
                (1..=4).collect(),
                vec![RefusedWithMoney(60)],
            ),
            (
                "refused before the last debit was asked for",
                done(1..=4).chain([debit(9, 60, 65, Refused), debit(5, 70, 75, Done)]).collect(),
                0,
                (1..=5).collect(),
                vec![RefusedWithMoney(60)],
            ),
            (
                "a read that does not see an acknowledged debit",
                done(1..=1).chain([read(50, 20, 21)]).collect(),
                40,
                vec![1],
                vec![Read(50, NOT_IN_IT)],
            ),
            (
                "a read that sees a debit before it is asked for",
                [read(40, 0, 5)].into_iter().chain(done(1..=1)).collect(),
                40,
                vec![1],
                vec![Read(40, SPLIT)],
            ),
            (
                "a later read that sees less",
                vec![debit(1, 0, 100, Done), read(40, 10, 20), read(50, 30, 40)],
                40,
                vec![1],
                vec![Read(40, LESS_LATER)],
            ),
            (
                "a read of half a debit",
                vec![read(45, 0, 1)],
                50,
                vec![],
                vec![Read(45, "no number of debits leaves that")],
            ),
            // Each read alone agrees with what was asked for and acknowledged; together they do not: three of
            // the long debits are in the first, and two more were made between the two.
            (
                "two debits between reads that differ by one",
                (1..=3)
                    .map(|id| debit(id, 0, 1_000, Done))
                    .chain([
                        read(20, 10, 20),
                        debit(4, 30, 40, Done),
                        debit(5, 30, 40, Done),
                        read(10, 50, 60),
                    ])
                    .collect(),
                0,
                (1..=5).collect(),
                vec![Read(10, NOT_IN_IT)],
            ),
        ];
        for (given, calls, balance, debited, then) in all {
            assert_eq!(found(&calls, balance, &debited), then, "{given}");
        }
    }

    /// Every order of a few calls, tried one by one, decides as the judge does.
    #[test]
    fn it_decides_as_trying_every_order_does() {
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let (mut right, mut wrong) = (0, 0);
        for _ in 0..20_000 {
            let funds = 3;
            let calls: Vec<Call> = (0..6)
                .map(|id| {
                    let start = random(12);
                    let end = start + 1 + random(8);
                    match random(5) {
                        0 | 1 => debit(id, start * 2, end * 2 + 1, Done),
                        2 => debit(id, start * 2, end * 2 + 1, Refused),
                        _ => read(random(4) as i64, start * 2, end * 2 + 1),
                    }
                })
                .collect();
            let debited: Vec<u64> = calls
                .iter()
                .filter_map(|call| match call.what {
                    What::Debit(id, Done) => Some(id),
                    _ => None,
                })
                .collect();
            let balance = funds - debited.len() as i64;
            if balance < 0 {
                continue;
            }
            let history = History { funds, minor: 1, calls: calls.clone(), balance, debited };
            let judged = judge(&history).findings.is_empty();
            let tried = some_order(&calls, funds);
            assert_eq!(judged, tried, "{calls:?}");
            *if tried { &mut right } else { &mut wrong } += 1;
        }
        assert!(right > 500 && wrong > 500, "{right} right, {wrong} wrong");
    }

    /// Whether the calls can be put one behind the other.
    fn some_order(left: &[Call], balance: i64) -> bool {
        left.is_empty()
            || (0..left.len()).any(|nth| {
                let call = left[nth];
                if left.iter().any(|other| other.end < call.start) {
                    return false;
                }
                let after = match call.what {
                    What::Debit(_, Done) if balance > 0 => balance - 1,
                    What::Debit(_, Refused) if balance == 0 => 0,
                    What::Read(seen) if seen == balance => balance,
                    _ => return false,
                };
                let rest: Vec<Call> = left
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != nth)
                    .map(|(_, call)| *call)
                    .collect();
                some_order(&rest, after)
            })
    }
}
