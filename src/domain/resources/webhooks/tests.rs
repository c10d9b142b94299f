//! The rules of endpoints, case by case.

use super::*;
use crate::codec::tests::Sampled;
use crate::entities::Entity;
use crate::entities::webhook::TRIES_WAITING_MAX;
use crate::entities::webhook::{EVENT_NAMES, first_delivery};
use crate::events::EventKind;
use crate::refusal::WebhookRefusal;
use crate::values::time::Timestamp;

fn register(book: &Book, new: NewWebhook, turn: &Turn<'_>) -> Ruling {
    super::register(book, new, turn).unwrap_or_else(Ruling::refuse)
}

fn change(book: &Book, webhook: &Webhook, change: WebhookChange) -> Ruling {
    super::change(book, webhook, change).unwrap_or_else(Ruling::refuse)
}

fn resend(webhook: &Webhook, event: EventRef, turn: &Turn<'_>) -> Ruling {
    super::resend(webhook, event, turn).unwrap_or_else(Ruling::refuse)
}

fn name(text: &str) -> EventKind {
    EventKind::from_name(text).expect("a name")
}

fn turn() -> Turn<'static> {
    Turn { seed: 7, ..Turn::at(Timestamp::from_unix_ms(1_795_226_000_000)) }
}

fn id(n: u8) -> Id {
    Id::derived(1_795_226_000_000, u64::from(n) << 40, 0)
}

fn book(events: u64) -> Book {
    Book { events, ..Book::default() }
}

fn written(outcome: Ruling) -> Webhook {
    let draft = outcome.record.expect("a record");
    match &*draft.record.entities[0].state {
        Entity::Webhook(webhook) => webhook.clone(),
        _ => panic!("another entity"),
    }
}

fn endpoint(events: &[&str], at: u64) -> Webhook {
    let new = NewWebhook {
        id: id(1),
        url: "https://shop.example.com/hook".to_owned(),
        events: events.iter().map(|text| name(text)).collect(),
        retry: Retry::None,
        signature: Signature::Hex,
    };
    written(register(&book(at), new, &turn()))
}

fn event(number: u64, kind: EventKind) -> EventRef {
    EventRef { number, id: id(9), kind }
}

#[test]
fn every_event_that_happens_can_be_listed() {
    let kinds = EventKind::samples(&mut 0);
    assert!(kinds.len() >= 14);
    for kind in kinds {
        assert!(EventKind::from_name(kind.name()).is_some(), "{} is in no list", kind.name());
    }
    assert!(
        EventKind::from_name("payment.unknown").is_none()
            && EventKind::from_name("notification.test").is_none()
    );
}

#[test]
fn an_event_is_due_by_the_terms_of_its_own_moment() {
    let first = endpoint(&["payment.completed"], 10);
    assert!(!first.is_due(10, EventKind::PaymentCompleted), "before it was there");
    assert!(first.is_due(11, EventKind::PaymentCompleted) && !first.is_due(11, EventKind::PaymentFailed));
    let listed = written(change(
        &book(20),
        &first,
        WebhookChange { events: Some(vec![name("payment.failed")]), ..WebhookChange::default() },
    ));
    let off = written(change(
        &book(30),
        &listed,
        WebhookChange { enabled: Some(false), ..WebhookChange::default() },
    ));
    assert!(off.is_due(20, EventKind::PaymentCompleted) && !off.is_due(21, EventKind::PaymentCompleted));
    assert!(off.is_due(30, EventKind::PaymentFailed) && !off.is_due(31, EventKind::PaymentFailed));
    assert!(!off.is_enabled() && off.facet() == 0);
}

#[test]
fn terms_under_which_nothing_happened_are_not_kept_and_the_others_as_long_as_they_are_needed() {
    let mut webhook = endpoint(&["payment.completed"], 10);
    let toggle = |webhook: &Webhook, at, on| {
        written(change(&book(at), webhook, WebhookChange { enabled: Some(on), ..WebhookChange::default() }))
    };
    for _ in 0..100 {
        webhook = toggle(&toggle(&webhook, 10, false), 10, true);
    }
    assert_eq!(webhook.terms.len(), 1);
    for at in 11..=40 {
        webhook = toggle(&webhook, at, at % 2 == 0);
    }
    assert_eq!(webhook.terms.len(), 31);
    let later = written(progress(
        &Book::default(),
        &webhook,
        Progress { outcomes: Vec::new(), reached: 40, open: vec![25] },
        &turn(),
    ));
    assert_eq!(
        later.terms.first().map(|term| term.from),
        Some(25),
        "25 is on its way under the terms of its moment"
    );
    let end = written(progress(
        &Book::default(),
        &later,
        Progress { outcomes: Vec::new(), reached: 40, open: Vec::new() },
        &turn(),
    ));
    assert_eq!(end.terms.len(), 1);
}

#[test]
fn endless_changes_over_a_backlog_are_refused() {
    let mut webhook = endpoint(&["payment.completed"], 0);
    for at in 1.. {
        let outcome = change(
            &book(at),
            &webhook,
            WebhookChange { enabled: Some(at % 2 == 0), ..WebhookChange::default() },
        );
        if outcome.refusal.is_some() {
            assert_eq!((outcome.refusal, at), (Some(WebhookRefusal::Busy.into()), 64));
            return;
        }
        webhook = written(outcome);
    }
}

#[test]
fn the_same_again_changes_nothing() {
    let webhook = endpoint(&["payment.completed"], 0);
    let same = WebhookChange {
        url: Some(webhook.url.clone()),
        events: Some(vec![name("payment.completed")]),
        enabled: Some(true),
        retry: Some(Retry::None),
        signature: Some(Signature::Hex),
    };
    assert!(change(&book(5), &webhook, same).record.is_none());
}

#[test]
fn twenty_and_no_more() {
    let mut full = book(0);
    full.webhooks = (0..20).map(id).collect();
    let new = NewWebhook {
        id: id(99),
        url: String::new(),
        events: Vec::new(),
        retry: Retry::None,
        signature: Signature::Hex,
    };
    assert_eq!(register(&full, new, &turn()).refusal, Some(WebhookRefusal::TooMany.into()));
}

#[test]
fn a_rotation_counts_up_and_older_secrets_sign_until_their_end() {
    let webhook = endpoint(&["payment.completed"], 3);
    let at = |now: Timestamp| Turn { now, ..turn() };
    let older =
        |version, seconds: i64| OlderSecret { version, until: turn().now.plus_ms(seconds * SECOND_MS) };
    let second = written(rotate_secret(&webhook, 60, &turn()));
    assert_eq!(second, Webhook { secret_version: 2, older_secrets: vec![older(1, 60)], ..webhook });
    let third = written(rotate_secret(&second, 600, &turn()));
    assert_eq!(third.older_secrets, [older(1, 60), older(2, 600)]);
    assert!(deadline(&third, &at(turn().now.plus_ms(59_999))).record.is_none());
    let later = written(deadline(&third, &at(older(1, 60).until)));
    assert_eq!(
        (&later.older_secrets[..], later.deadline()),
        (&[older(2, 600)][..], Some(older(2, 600).until))
    );
    let alone = written(rotate_secret(&later, 0, &turn()));
    assert_eq!((alone.secret_version, alone.older_secrets.len(), alone.deadline()), (4, 0, None));
    let many =
        (0..20).fold(alone, |webhook, _| written(rotate_secret(&webhook, OVERLAP_SECONDS_MAX, &turn())));
    assert_eq!(
        many.older_secrets.iter().map(|older| older.version).collect::<Vec<_>>(),
        (16..24).collect::<Vec<_>>()
    );
}

/// The outcome of a try of event 4 that failed.
fn failed(attempt: u32, created_at: Timestamp) -> Delivered {
    Delivered {
        id: id(40),
        event: event(4, EventKind::PaymentCompleted),
        created_at,
        http_status: Some(500),
        latency_ms: 9,
        error: Some("it answered 500".to_owned()),
        attempt,
    }
}

fn noted(webhook: &Webhook, outcome: Delivered, turn: &Turn<'_>) -> Webhook {
    let progress_made = Progress { outcomes: vec![outcome], reached: 4, open: Vec::new() };
    written(progress(&Book::default(), webhook, progress_made, turn))
}

#[test]
fn eight_tries_at_their_waits_then_the_event_is_given_up_until_it_arrives() {
    for livemode in [false, true] {
        let new = endpoint(&["payment.completed"], 3);
        let mut webhook = Webhook { retry: Retry::Backoff, ..new };
        let (mut due, mut nominal) = (turn().now, 70_000);
        for attempt in 1..TRIES {
            // In live mode the wait begins when the try failed; the test clock has leapt beyond.
            let now = due.plus_ms(7_000);
            webhook = noted(
                &webhook,
                failed(attempt, due),
                &Turn { now, livemode, seed: 7 + u64::from(attempt), ..turn() },
            );
            let next = webhook.next_tries[0];
            let wait = next.due.since_ms(if livemode { now } else { due });
            assert!((nominal * 9 / 10..=nominal * 11 / 10).contains(&wait), "{attempt}: {wait} ms");
            assert_eq!((next.attempt, webhook.deadline()), (attempt + 1, Some(next.due)));
            let at = |now| Turn { now, livemode, ..turn() };
            assert!(deadline(&webhook, &at(next.due.plus_ms(-1))).record.is_none());
            webhook = written(deadline(&webhook, &at(next.due.plus_ms(99))));
            let resend = webhook.resends[0];
            assert_eq!(
                (resend.attempt, resend.created_at, webhook.next_tries.len()),
                (attempt + 1, next.due, 0)
            );
            webhook.resends.clear();
            (due, nominal) = (next.due, nominal * 3);
        }
        let given_up = noted(&webhook, failed(TRIES, due), &turn());
        assert_eq!((given_up.next_tries.len(), given_up.exhausted.len(), given_up.deadline()), (0, 1, None));
        let arrived = Delivered { error: None, attempt: 1, ..failed(1, due) };
        assert!(noted(&given_up, arrived, &turn()).exhausted.is_empty());
    }
}

#[test]
fn tries_wait_while_the_endpoint_is_disabled_and_end_when_it_wants_none() {
    let webhook = Webhook { retry: Retry::Backoff, ..endpoint(&["payment.completed"], 3) };
    assert!(
        noted(&Webhook { retry: Retry::None, ..webhook.clone() }, failed(1, turn().now), &turn())
            .next_tries
            .is_empty()
    );
    let waiting = noted(&webhook, failed(1, turn().now), &turn());
    let changed = |asked| written(change(&book(5), &waiting, asked));
    let off = changed(WebhookChange { enabled: Some(false), ..WebhookChange::default() });
    assert_eq!((off.deadline(), off.next_tries.len()), (None, 1));
    let none = changed(WebhookChange { retry: Some(Retry::None), ..WebhookChange::default() });
    assert_eq!((none.deadline(), none.next_tries.len()), (None, 0));
}

#[test]
fn a_resend_waits_until_its_outcome() {
    let webhook = endpoint(&["payment.completed"], 3);
    assert!(
        resend(&webhook, event(1, EventKind::PaymentFailed), &turn()).record.is_none(),
        "it is not listed"
    );
    let waiting = written(resend(&webhook, event(1, EventKind::PaymentCompleted), &turn()));
    let resent = waiting.resends[0];
    let outcome = Delivered {
        id: resent.delivery,
        event: resent.event,
        created_at: resent.created_at,
        http_status: Some(200),
        latency_ms: 3,
        error: None,
        attempt: 1,
    };
    let done = written(progress(
        &Book::default(),
        &waiting,
        Progress { outcomes: vec![outcome], reached: 3, open: Vec::new() },
        &turn(),
    ));
    assert!(done.resends.is_empty() && done.outcomes.len() == 1);
    assert!(
        written(rotate_secret(&done, 0, &turn())).outcomes.is_empty(),
        "outcomes are in the record that wrote them, and in no other"
    );
    let full = Webhook { resends: vec![resent; 100], ..webhook.clone() };
    // What is asked for by hand and fails waits with the others.
    let flooded = Webhook { next_tries: waiting_tries(TRIES_WAITING), ..webhook };
    for webhook in [full, flooded] {
        assert_eq!(
            resend(&webhook, event(1, EventKind::PaymentCompleted), &turn()).refusal,
            Some(WebhookRefusal::ResendsWaiting.into())
        );
    }
}

fn waiting_tries(count: usize) -> Vec<NextTry> {
    let event = event(1, EventKind::PaymentCompleted);
    vec![NextTry { event, attempt: 2, due: turn().now.plus_ms(70_000) }; count]
}

#[test]
fn so_many_tries_wait_whatever_the_endpoint_answers() {
    for (waiting, is_failing, is_flooded) in [
        (TRIES_WAITING - 1, true, false),
        (TRIES_WAITING, true, true),
        (TRIES_WAITING, false, false),
        (TRIES_WAITING_MAX - 1, false, false),
        (TRIES_WAITING_MAX, false, true),
    ] {
        let next_tries = waiting_tries(waiting);
        let webhook = Webhook { retry: Retry::Backoff, next_tries, ..endpoint(&["payment.completed"], 3) };
        assert_eq!(webhook.is_flooded(is_failing), is_flooded, "{waiting} {is_failing}");
        assert!(!Webhook { retry: Retry::None, ..webhook }.is_flooded(true));
    }
}

#[test]
fn names_of_deliveries_sort_as_they_became_due_and_differ_between_endpoints() {
    let webhook = endpoint(&["payment.completed"], 0);
    let other = Webhook { id: id(2), ..webhook.clone() };
    let at = Timestamp::from_unix_ms(1_795_226_000_000);
    assert!(
        first_delivery(webhook.id, 1, at) < first_delivery(webhook.id, 2, at)
            && first_delivery(webhook.id, 2, at) < first_delivery(webhook.id, 1, at.plus_ms(1))
    );
    assert_ne!(first_delivery(webhook.id, 1, at), first_delivery(other.id, 1, at));
}

#[test]
fn every_kind_of_event_can_be_listed_once() {
    let sorted = |mut names: Vec<&'static str>| {
        names.sort_unstable();
        names
    };
    // The samples have every variant.
    let kinds = EventKind::samples(&mut 0);
    assert_eq!(kinds, EventKind::ALL);
    assert_eq!(sorted(EVENT_NAMES.to_vec()), sorted(kinds.into_iter().map(EventKind::name).collect()));
}

#[test]
fn the_stored_positions_of_event_names_stay() {
    let at = |text| EVENT_NAMES.iter().position(|name| *name == text);
    assert_eq!((at("payment.completed"), at("payment.chargeback")), (Some(0), Some(4)));
    assert_eq!((at("tenant.live_status_changed"), at("crypto_deposit.completed")), (Some(16), Some(19)));
}

#[test]
fn of_a_book_that_began_anew_only_what_came_since_is_outstanding() {
    let tried = Webhook { retry: Retry::Backoff, ..endpoint(&["payment.completed"], 3) };
    let book = Book { events: 9, begun_at: 10, offset_ms: 86_400_000, ..Book::default() };
    let until = Timestamp::from_unix_ms(100_000_000);
    let before = Webhook {
        older_secrets: vec![OlderSecret { version: 1, until }],
        open: vec![3],
        reached: 5,
        next_tries: vec![NextTry { event: event(4, EventKind::PaymentCompleted), attempt: 2, due: until }],
        ..tried
    };
    let after = begun_anew(&book, &before);
    assert_eq!((after.reached, after.open.len(), after.next_tries.len()), (9, 0, 0));
    assert_eq!(after.terms.iter().map(|term| term.from).collect::<Vec<_>>(), [10]);
    assert_eq!(after.older_secrets[0].until, Timestamp::from_unix_ms(13_600_000), "as long as it would");
    // An outcome of before that comes late is nobody's.
    let late = Progress { outcomes: vec![failed(1, until)], reached: 10, open: vec![3, 10] };
    let noted = written(progress(&book, &after, late, &turn()));
    assert_eq!((noted.outcomes.len(), noted.open, noted.next_tries.len()), (0, vec![10], 0));
}
