//! Micro-deposits that banks make, refuse, lose and contradict themselves about.

use super::*;
use crate::entities::verification::references_of_two;
use crate::values::venezuela::{BankCode, MobilePhone};

const MINUTE: i64 = 60_000;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_unix_ms(minutes * MINUTE)
}

fn turn_at(minutes: i64) -> Turn<'static> {
    Turn::at(at(minutes))
}

fn started() -> (MethodStatus, Deposits) {
    let turn = turn_at(0);
    let phone = KnownPhone {
        bank: BankCode::parse("0134").expect("a bank"),
        phone: MobilePhone::parse("04141234567").expect("a phone"),
        starts: Vec::new(),
    };
    let start = Start { amounts: (Ves::from_minor(32), Ves::from_minor(45)), phone };
    MethodStatus::default()
        .started(&Attempts::default(), &start, &Book::default(), &turn)
        .expect("it can be started")
}

#[test]
fn deposits_that_the_bank_never_received_are_sent_again_as_the_same_operation() {
    let (status, sent) = started();
    assert_eq!((status.due(at(0)), status.deadline()), (None, Some(at(1))));
    let deposits = status.due(at(1)).expect("the bank is to be asked");
    assert_eq!(deposits, sent);
    let (status, unsent) = status
        .after_answer(&RailAnswer::NeverReceived, How::Ask, &turn_at(1))
        .expect("that changes something");
    assert_eq!((unsent, status.deadline()), (Some(deposits), Some(at(3))));
    assert_eq!(status.after_answer(&RailAnswer::Silent, How::Send, &turn_at(1)), None);
    let (status, unsent) =
        status.after_answer(&RailAnswer::done("1"), How::Send, &turn_at(1)).expect("that changes something");
    assert_eq!((unsent, status.deadline(), status.waits_for(sent.operation)), (None, None, false));
}

#[test]
fn only_a_bank_that_was_asked_can_say_that_it_never_received_deposits() {
    let (status, _) = started();
    for minutes in [1, 24 * 60] {
        let turn = turn_at(minutes);
        assert_eq!(status.after_answer(&RailAnswer::NeverReceived, How::Send, &turn), None);
    }
}

#[test]
fn each_deposit_has_its_reference() {
    let some = |text: &str| Some(text.to_owned());
    for (first, second, kept) in [
        (some("81"), some("82"), some("81/82")),
        (some("81"), some("81"), some("81")),
        (None, some("82"), some("82")),
        (None, None, None),
    ] {
        assert_eq!(references_of_two(first, second), kept);
    }
    let (started, _) = started();
    let word = |reference: &str| {
        let answer = RailAnswer::done(reference);
        let made = started.after_answer(&answer, How::Send, &turn_at(1)).expect("that changes something");
        made.0.word.clone().expect("a word")
    };
    assert_eq!(word("81/82").references(), (Some("81"), Some("82")));
    assert_eq!(word("81").references(), (Some("81"), Some("81")));
    assert_eq!(word("").references(), (None, None));
}

#[test]
fn a_second_word_about_deposits_is_a_contradiction_and_changes_no_status() {
    let done = RailAnswer::done("81");
    let refused = RailAnswer::Refused { code: "AC01".to_owned() };
    let (started, sent) = started();
    let (made, _) = started.after_answer(&done, How::Ask, &turn_at(1)).expect("that changes something");
    let verified = made.tried(sent.amounts, at(2)).expect("a try").0;
    let rejected = started.refused("AC01");
    for (first, same, opposite) in
        [(&made, &done, &refused), (&verified, &done, &refused), (&rejected, &refused, &done)]
    {
        assert_eq!(first.contradicted(sent.operation, same, at(3)), None, "{first:?}");
        assert_eq!(first.contradicted(Id::derived(1, 2, 3), opposite, at(3)), None, "{first:?}");
        let second = first.contradicted(sent.operation, opposite, at(3)).expect("a contradiction");
        let word = second.word.as_ref().expect("both words");
        assert_eq!(
            (word.reference.as_deref(), word.code.as_deref(), word.contradicted_at),
            (Some("81"), Some("AC01"), Some(at(3)))
        );
        assert_eq!((second.name(), second.verified_at()), (first.name(), first.verified_at()));
        assert_eq!(second.contradicted(sent.operation, opposite, at(4)), None, "once");
    }
    assert_eq!((made.name(), verified.name(), rejected.name()), ("verifying", "verified", "unverified"));
}

#[test]
fn whatever_is_sent_is_asked_about_until_it_is_decided_or_void() {
    for (word, least_sends) in [(RailAnswer::Silent, 0), (RailAnswer::NeverReceived, 20)] {
        let (mut status, _) = started();
        let (mut now, mut sends) = (at(0), 0);
        while let Some(next) = status.deadline().filter(|next| *next < at(72 * 60)) {
            now = next;
            let (later, unsent) = status
                .after_answer(&word, How::Ask, &Turn { now, ..turn_at(0) })
                .expect("that changes something");
            if unsent.is_some() {
                sends += 1;
                assert!(now < at(24 * 60), "a start lives for a day");
                assert!(later.deadline().is_some(), "sent at {now:?}, and nobody would ask");
            }
            status = later;
        }
        assert!(sends >= least_sends, "{word:?}: {sends}");
        assert!(now >= at(24 * 60), "{word:?}: nobody asked after {now:?}");
        assert_eq!(status.deadline().is_none(), word == RailAnswer::NeverReceived, "{word:?}");
    }
    let (mut status, _) = started();
    for _ in 0..TRIES {
        status = status.tried((Ves::ZERO, Ves::ZERO), at(0)).expect("a try").0;
    }
    assert_eq!((status.deadline(), status.name()), (None, "unverified"));
}
