//! The matching of a statement's lines with our entries: the same whatever the order in which our
//! entries come.
//!
//! One line meets one entry. First a reference decides: the shorter of two has at least four digits
//! and ends the longer, leading zeros and all but digits aside; kind and amount are equal, and the
//! days at most one apart. Of several such entries the one is taken that has the line's phone, then
//! its bank, then its whole reference, then its day, then the oldest. What is left may differ in
//! its amount alone. After that a line may answer an open operation, which has no reference: by
//! kind, amount and day, then phone, then bank; if several are left, it answers none of them. A
//! phone or a bank that is known on both sides and differs is no answer.

use super::entries::{Entry, Side, bank_digits, phone_digits};
use super::statement::Line;
use domain::values::time::Date;
use std::cmp::Reverse;
use std::collections::HashMap;

const SUFFIX_DIGITS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    Matched(usize),
    AmountDiffers(usize),
    Proposal(usize),
    MissingHere,
    /// Several open operations are like it, and it does not say which.
    Ambiguous,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    pub lines: Vec<Met>,
    /// Between the days of the statement, oldest first.
    pub missing_there: Vec<usize>,
}

struct Wanted<'a> {
    line: &'a Line,
    reference: &'a str,
    phone: Option<u64>,
    bank: Option<u16>,
}

pub fn matched(lines: &[Line], done: &[Entry], open: &[Entry], (from, to): (Date, Date)) -> Matched {
    let wanted: Vec<Wanted<'_>> = lines
        .iter()
        .map(|line| Wanted {
            line,
            reference: without_zeros(&line.reference),
            phone: line.phone.as_deref().and_then(phone_digits),
            bank: line.bank.as_deref().and_then(bank_digits),
        })
        .collect();
    let mut met = vec![None; lines.len()];
    let mut used = vec![false; done.len()];
    let digits: Vec<String> = done.iter().map(digits_of).collect();
    let known = by_end(&digits);
    for (is_whole, same_amount) in [(true, true), (false, true), (true, false), (false, false)] {
        for (wanted, met) in wanted.iter().zip(&mut met).filter(|(_, met)| met.is_none()) {
            let fits = |place: &usize| {
                let entry = &done[*place];
                !used[*place]
                    && wanted.line.side == entry.side
                    && (wanted.line.cents == entry.cents) == same_amount
                    && are_near(wanted.line.date, entry.day)
                    && is_end(&digits[*place], wanted.reference)
                    && (!is_whole || digits[*place] == wanted.reference)
            };
            let candidates = known.get(end(wanted.reference)).into_iter().flatten().copied().filter(fits);
            let Some(best) = candidates.min_by_key(|place| rank(wanted, &done[*place], &digits[*place]))
            else {
                continue;
            };
            used[best] = true;
            *met = Some(if same_amount { Met::Matched(best) } else { Met::AmountDiffers(best) });
        }
    }
    propose(&wanted, open, &mut met);
    let is_missing = |place: &usize| !used[*place] && (from..=to).contains(&done[*place].day);
    let mut missing_there: Vec<usize> = (0..done.len()).filter(is_missing).collect();
    missing_there.sort_by_cached_key(|place| age(&done[*place]));
    Matched { lines: met.into_iter().map(|met| met.unwrap_or(Met::MissingHere)).collect(), missing_there }
}

/// What a line answers is no candidate of another, which may leave that one a single one; so it
/// goes round until nothing changes.
fn propose(wanted: &[Wanted<'_>], open: &[Entry], met: &mut [Option<Met>]) {
    let mut like: HashMap<(Side, i64), Vec<usize>> = HashMap::new();
    for (place, entry) in open.iter().enumerate() {
        like.entry((entry.side, entry.cents)).or_default().push(place);
    }
    let mut used = vec![false; open.len()];
    let mut left: Vec<usize> = (0..wanted.len())
        .filter(|place| met[*place].is_none())
        .filter(|place| like.contains_key(&(wanted[*place].line.side, wanted[*place].line.cents)))
        .collect();
    loop {
        let before = left.len();
        left.retain(|place| {
            let wanted = &wanted[*place];
            let all = like.get(&(wanted.line.side, wanted.line.cents)).into_iter().flatten();
            let fitting = all.copied().filter(|entry| !used[*entry] && may_answer(wanted, &open[*entry]));
            let mut fitting: Vec<usize> = fitting.collect();
            narrow(&mut fitting, |entry| wanted.phone.is_some() && open[entry].phone == wanted.phone);
            narrow(&mut fitting, |entry| wanted.bank.is_some() && open[entry].bank == wanted.bank);
            match fitting.as_slice() {
                [] => {
                    met[*place] = Some(Met::MissingHere);
                    false
                }
                [one] => {
                    used[*one] = true;
                    met[*place] = Some(Met::Proposal(*one));
                    false
                }
                _ => true,
            }
        });
        if left.len() == before {
            break;
        }
    }
    for place in left {
        met[place] = Some(Met::Ambiguous);
    }
}

fn narrow(found: &mut Vec<usize>, fits: impl Fn(usize) -> bool) {
    if found.len() > 1 && found.iter().any(|place| fits(*place)) {
        found.retain(|place| fits(*place));
    }
}

fn may_answer(wanted: &Wanted<'_>, entry: &Entry) -> bool {
    let agree = |one: Option<u64>, other: Option<u64>| one.is_none() || other.is_none() || one == other;
    are_near(wanted.line.date, entry.day)
        && agree(wanted.phone, entry.phone)
        && agree(wanted.bank.map(u64::from), entry.bank.map(u64::from))
}

fn are_near(one: Date, other: Date) -> bool {
    one.days().abs_diff(other.days()) <= 1
}

fn rank(wanted: &Wanted<'_>, entry: &Entry, digits: &str) -> impl Ord + use<> {
    let has_phone = wanted.phone.is_some() && wanted.phone == entry.phone;
    let has_bank = wanted.bank.is_some() && wanted.bank == entry.bank;
    let days = wanted.line.date.days().abs_diff(entry.day.days());
    (Reverse(has_phone), Reverse(has_bank), digits.len().abs_diff(wanted.reference.len()), days, age(entry))
}

/// No two entries share it that are not alike.
fn age(entry: &Entry) -> impl Ord + use<> {
    let other_side = (entry.phone, entry.bank, entry.reference.clone());
    (entry.created_at, entry.id, entry.side == Side::Debit, entry.cents, entry.day.days(), other_side)
}

fn without_zeros(reference: &str) -> &str {
    reference.trim_start_matches('0')
}

fn end(reference: &str) -> &str {
    reference.get(reference.len().saturating_sub(SUFFIX_DIGITS)..).unwrap_or(reference)
}

fn digits_of(entry: &Entry) -> String {
    let digits = entry.reference.as_deref().unwrap_or_default().chars().filter(char::is_ascii_digit);
    digits.skip_while(|digit| *digit == '0').collect()
}

fn by_end(digits: &[String]) -> HashMap<&str, Vec<usize>> {
    let mut known: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, digits) in digits.iter().enumerate().filter(|(_, digits)| !digits.is_empty()) {
        known.entry(end(digits)).or_default().push(place);
    }
    known
}

fn is_end(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short.len() >= SUFFIX_DIGITS && long.ends_with(short)
}

#[cfg(test)]
mod tests;
