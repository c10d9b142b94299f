//! Lines and entries in small worlds, where references, amounts and days collide often.

use super::*;
use domain::rail::Service;
use domain::values::ids::Id;
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;

fn day(day: i32) -> Date {
    Date::from_days(20_000 + day)
}

fn line(number: u32, reference: &str, cents: i64, on: i32) -> Line {
    let reference = reference.to_owned();
    Line { number, date: day(on), reference, cents, side: Side::Credit, phone: None, bank: None }
}

fn entry(n: u8, reference: Option<&str>, cents: i64, on: i32) -> Entry {
    Entry {
        kind: "payment",
        id: Id::from_bytes([n; 16]),
        tenant_key: 2,
        service: Service::C2p,
        cents,
        currency: Currency::Ves,
        side: Side::Credit,
        reference: reference.map(str::to_owned),
        day: day(on),
        created_at: Timestamp::from_unix_ms(i64::from(n)),
        phone: None,
        bank: None,
    }
}

fn all(lines: &[Line], done: &[Entry], open: &[Entry]) -> Matched {
    matched(lines, done, open, (day(0), day(9)))
}

#[test]
fn a_reference_is_known_by_its_end_and_days_may_be_one_apart() {
    let done = [entry(1, Some("0000812345"), 100, 3)];
    for (reference, on, met) in [
        ("812345", 3, Met::Matched(0)),
        ("00012345", 2, Met::Matched(0)),
        ("99812345", 4, Met::Matched(0)),
        ("2345", 3, Met::Matched(0)),
        ("345", 3, Met::MissingHere),
        ("812346", 3, Met::MissingHere),
        ("812345", 5, Met::MissingHere),
    ] {
        assert_eq!(all(&[line(2, reference, 100, on)], &done, &[]).lines, [met], "{reference} on {on}");
    }
    assert_eq!(all(&[line(2, "812345", 101, 3)], &done, &[]).lines, [Met::AmountDiffers(0)]);
    let debit = Line { side: Side::Debit, ..line(2, "812345", 100, 3) };
    let none = all(&[debit], &done, &[]);
    assert_eq!((none.lines, none.missing_there), (vec![Met::MissingHere], vec![0]));
}

#[test]
fn marks_are_no_part_of_a_reference_and_three_digits_are_none() {
    let done = [entry(1, Some("1292-1602113476-10985"), 100, 3), entry(2, Some("123"), 100, 3)];
    for (reference, met) in [
        ("1292160211347610985", Met::Matched(0)),
        ("10985", Met::Matched(0)),
        ("610985", Met::Matched(0)),
        ("123", Met::MissingHere),
        ("0123", Met::MissingHere),
    ] {
        assert_eq!(all(&[line(2, reference, 100, 3)], &done, &[]).lines, [met], "{reference}");
    }
}

#[test]
fn a_whole_reference_wins_over_an_end_whatever_the_order() {
    let done = [entry(1, Some("992345"), 100, 3), entry(2, Some("2345"), 100, 3)];
    let lines = [line(2, "2345", 100, 3), line(3, "992345", 100, 3)];
    assert_eq!(all(&lines, &done, &[]).lines, [Met::Matched(1), Met::Matched(0)]);
}

#[test]
fn a_phone_and_then_a_bank_decide_among_equals() {
    let with = |n, phone, bank| Entry { phone, bank, ..entry(n, None, 100, 3) };
    let open = [
        with(1, Some(4_141_234_567), Some(102)),
        with(2, Some(4_141_234_567), Some(134)),
        with(3, None, None),
    ];
    let said = |phone: Option<&str>, bank: Option<&str>| Line {
        phone: phone.map(str::to_owned),
        bank: bank.map(str::to_owned),
        ..line(2, "5", 100, 3)
    };
    for (phone, bank, met) in [
        (None, None, Met::Ambiguous),
        (Some("+58 414-1234567"), None, Met::Ambiguous),
        (Some("04141234567"), Some("0134"), Met::Proposal(1)),
        (Some("04141234567"), Some("0108"), Met::Proposal(2)),
        (Some("04149999999"), None, Met::Proposal(2)),
        (Some("0414***4567"), Some("0102 Venezuela"), Met::Proposal(0)),
    ] {
        assert_eq!(all(&[said(phone, bank)], &[], &open).lines, [met], "{phone:?} {bank:?}");
    }
    assert_eq!(all(&[line(2, "5", 100, 5)], &[], &open).lines, [Met::MissingHere]);
}

#[test]
fn one_line_answers_one_operation() {
    let open = [entry(1, None, 100, 3)];
    let lines = [line(2, "5", 100, 3), line(3, "6", 100, 3)];
    assert_eq!(all(&lines, &[], &open).lines, [Met::Proposal(0), Met::MissingHere]);
}

fn reference() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["1234", "001234", "991234", "81991234", "34", "5678", "0"])
        .prop_map(str::to_owned)
}

fn phone() -> impl Strategy<Value = Option<u64>> {
    prop::sample::select(vec![None, Some(4_141_234_567), Some(4_149_999_999)])
}

prop_compose! {
    fn any_entry(is_done: bool)(
        reference in reference(), cents in 1..4_i64, on in -2..6_i32, is_debit: bool, phone in phone(), n: u8,
    ) -> Entry {
        let side = if is_debit { Side::Debit } else { Side::Credit };
        Entry { side, phone, ..entry(n, Some(reference.as_str()).filter(|_| is_done), cents, on) }
    }
}

prop_compose! {
    fn any_line()(
        reference in reference(), cents in 1..4_i64, on in 0..5_i32, is_debit: bool, phone in phone(),
    ) -> Line {
        let side = if is_debit { Side::Debit } else { Side::Credit };
        Line { side, phone: phone.map(|phone| format!("0{phone}")), ..line(2, &reference, cents, on) }
    }
}

proptest! {
    #[test]
    fn one_line_meets_one_entry_that_fits_it_and_the_numbers_sum(
        lines in vec(any_line(), 0..12),
        done in vec(any_entry(true), 0..12),
        open in vec(any_entry(false), 0..6),
    ) {
        let found = matched(&lines, &done, &open, (day(0), day(4)));
        prop_assert_eq!(found.lines.len(), lines.len());
        let (mut met, mut answered) = (vec![0; done.len()], vec![0; open.len()]);
        for (line, came) in lines.iter().zip(&found.lines) {
            let ours = match came {
                Met::Matched(place) | Met::AmountDiffers(place) => {
                    met[*place] += 1;
                    let same = done[*place].cents == line.cents;
                    prop_assert_eq!(same, matches!(came, Met::Matched(_)));
                    &done[*place]
                }
                Met::Proposal(place) => {
                    answered[*place] += 1;
                    prop_assert_eq!(open[*place].cents, line.cents);
                    &open[*place]
                }
                Met::MissingHere | Met::Ambiguous => continue,
            };
            prop_assert!(ours.side == line.side && are_near(ours.day, line.date));
        }
        prop_assert!(met.iter().chain(&answered).all(|times| *times <= 1));
        let unmet = (0..done.len()).filter(|place| met[*place] == 0 && (day(0)..=day(4)).contains(&done[*place].day));
        let mut missing = found.missing_there.clone();
        missing.sort_unstable();
        prop_assert_eq!(missing, unmet.collect::<Vec<_>>());
    }

    #[test]
    fn the_order_of_ours_does_not_count(
        lines in vec(any_line(), 0..8),
        done in vec(any_entry(true), 0..8),
        open in vec(any_entry(false), 0..6),
    ) {
        let named = |done: &[Entry], open: &[Entry]| {
            let found = matched(&lines, done, open, (day(0), day(4)));
            let name = |entry: &Entry| (entry.id, entry.created_at, entry.cents, entry.side == Side::Debit);
            let of = |met: &Met| match met {
                Met::Matched(place) | Met::AmountDiffers(place) => Some(name(&done[*place])),
                Met::Proposal(place) => Some(name(&open[*place])),
                Met::MissingHere | Met::Ambiguous => None,
            };
            found.lines.iter().map(of).collect::<Vec<_>>()
        };
        let back = |entries: &[Entry]| entries.iter().rev().cloned().collect::<Vec<_>>();
        prop_assert_eq!(named(&done, &open), named(&back(&done), &back(&open)));
    }
}
