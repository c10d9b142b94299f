//! Reversals of C2P payments: the money is set aside, the bank is asked, and only then the money
//! goes back (`docs/contract.md, 5.10`).

use super::charge::{agreed, look_on};
use super::sale;
use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::means::{Debtor, Means};
use crate::entities::payment::{CHARGE, EarlierReversal, Payment, Phase, REVERSALS_MAX, Status};
use crate::entities::sale::{Aside, Part, Taken};
use crate::ledger::Account;
use crate::ledger::book::Book;
use crate::rail::{Effect, How, Order, RailAnswer, RailReply, Service, UNSENT_RETRY_SECONDS};
use crate::refusal::{PaymentRefusal, Refusal};
use crate::resources::collections::sale::HOLD_MS;
use crate::resources::collections::set_aside::SetAside;
use crate::trace::OrderState;
use crate::values::ids::EntityId;
use crate::values::money::Currency;
use crate::values::time::Timestamp;

/// The refusal of a reversal of this payment, whatever rails and balances allow; `None` where one may be
/// asked for.
pub fn barred(payment: &Payment, now: Timestamp) -> Option<PaymentRefusal> {
    if !matches!(payment.means, Means::C2p { .. }) {
        return Some(PaymentRefusal::NotReversible);
    }
    // A bank that is asked on may have given it back under that operation: a second one would take the
    // place of the question, and the money may go back under both.
    let is_asked_on = payment.reversals > 0 && payment.order.is_asked_on(payment.reversal());
    if matches!(payment.phase, Phase::Reversing { .. }) || is_asked_on && payment.status == Status::Completed
    {
        return Some(PaymentRefusal::ReversalInProgress);
    }
    let (Status::Completed, Some(completed_at)) = (payment.status, payment.completed_at) else {
        return Some(PaymentRefusal::NotCompleted);
    };
    if now >= completed_at.plus_ms(HOLD_MS) {
        return Some(PaymentRefusal::ReversalWindowExpired);
    }
    (payment.reversals >= REVERSALS_MAX).then_some(PaymentRefusal::NotReversible)
}

pub fn reverse(book: &Book, payment: &Payment, turn: &Turn) -> Ruled {
    if let Some(refusal) = barred(payment, turn.now) {
        return Err(refusal.into());
    }
    let debtor = payment.debtor().ok_or(PaymentRefusal::NotReversible)?;
    turn.terms(Service::C2p, order(payment, debtor, How::Ask, turn).order.bank_call()).may_send()?;
    let drawn = turn.may_take(book, (Currency::Ves, payment.ves.minor()))?;
    let aside = set_aside(book, payment)?;
    // The reversal is an operation of its own: for one that it refused, the bank might repeat its
    // refusal, or take it for sent twice.
    let reversals = payment.reversals.checked_add(1).ok_or(PaymentRefusal::NotReversible)?;
    let made = |reference| Box::new(EarlierReversal { operation: payment.reversal(), reference });
    let mut reversing = Payment {
        phase: Phase::Reversing { aside: aside.clone() },
        kept: turn.keep.clone(),
        reversals,
        reversal_ref: None,
        earlier_reversal: payment.reversal_ref.clone().map(made).or_else(|| payment.earlier_reversal.clone()),
        drawn,
        ..payment.clone()
    };
    reversing.order = payment.order.followed_by(OrderState::first(reversing.reversal(), false, turn));
    let effect = order(&reversing, debtor, How::Send, turn);
    let drawn = reversing.drawn.clone();
    let mut draft = Draft::changed(Cause::ReversalBegun, payment, reversing);
    draft.spend(&drawn, Currency::Ves, payment.ves.minor());
    aside_of(payment, &aside).begin(&mut draft);
    Ok(Ruling::write_then(draft, vec![effect]))
}

/// The parts that tenant and seller give: first the rest of the sale's own holds, then the
/// available balance; all or nothing.
fn set_aside(book: &Book, payment: &Payment) -> Result<Aside, Refusal> {
    // The operator's share of a sale through a link comes back with the fee, so the tenant gives
    // what the sale left it.
    let net = payment.net().and_then(|net| net.minus(payment.platform_fee())).unwrap_or_default().minor();
    let share = payment.marketplace.as_ref().and_then(|sale| sale.seller_net).unwrap_or_default().minor();
    let refusal = || Refusal::InsufficientBalance { available: book.available() };
    let own = take(book.account(Currency::Ves), payment, payment.available_at, net - share);
    if own.from_available > 0 && own.from_available > book.spendable(Currency::Ves) {
        return Err(refusal());
    }
    let sale = payment.marketplace.as_ref();
    let seller = sale.and_then(|sale| Some((sale, book.sellers.get(&sale.merchant)?)));
    let Some((sale, seller)) = seller else { return Ok(Aside { own, sellers: Taken::default() }) };
    let account = seller.account(Currency::Ves);
    let sellers = take(account, payment, sale.seller_available_at, share);
    if sellers.from_available > 0 && sellers.from_available > account.free() {
        return Err(refusal());
    }
    Ok(Aside { own, sellers })
}

/// The parts of `minor` that come from the rest of the sale's own hold and from the available balance.
fn take(account: &Account, payment: &Payment, held_until: Option<Timestamp>, minor: i64) -> Taken {
    let part = |release_at| {
        let minor = account.held_for(release_at, payment.id).min(minor);
        Part { release_at, hold: payment.id, minor }
    };
    let from_holds: Vec<Part> = held_until.map(part).into_iter().collect();
    let from_available = minor - from_holds.iter().map(|part| part.minor).sum::<i64>();
    Taken { from_holds, from_available }
}

fn aside_of<'a>(payment: &Payment, money: &'a Aside) -> SetAside<'a> {
    let seller = payment.marketplace.as_ref().map(|sale| sale.merchant);
    SetAside { currency: Currency::Ves, payment: payment.id, seller, money }
}

fn order(payment: &Payment, debtor: &Debtor, how: How, turn: &Turn) -> Effect {
    let order = Order::ReverseC2p {
        original: payment.id.operation(CHARGE),
        bank: debtor.bank,
        debtor: debtor.id,
        reference: payment.bank_reference.clone().unwrap_or_default(),
        amount: payment.ves,
    };
    payment.order.call(EntityId::payment(payment.id), payment.reversal(), how, turn.now, order)
}

pub fn deadline(payment: &Payment, turn: &Turn) -> Ruling {
    let Some(debtor) = payment.debtor() else { return Ruling::unchanged() };
    Ruling::effects(vec![order(payment, debtor, How::Ask, turn)])
}

/// The ruling on the bank's reply. A reply about an earlier try moves no money.
pub fn on_rail_reply(book: &Book, payment: &Payment, reply: RailReply, turn: &Turn) -> Ruling {
    let (Phase::Reversing { aside }, Some(debtor)) = (&payment.phase, payment.debtor()) else {
        return contradicted(payment, reply, turn);
    };
    if reply.operation != payment.id.operation(payment.reversal()) {
        return contradicted(payment, reply, turn);
    }
    let newest = payment.reversal();
    match (&reply.answer, reply.how) {
        (RailAnswer::Done { reference }, _) => {
            let reference = reference.clone().unwrap_or_default();
            reversed(book, &payment.noting(newest, &reply.said), aside, reference, turn)
        }
        (RailAnswer::Refused { code: _ }, _) => {
            let draft = put_back(book, &payment.noting(newest, &reply.said), aside, turn);
            Ruling::write_and_refuse(draft, PaymentRefusal::ReversalRefused)
        }
        (RailAnswer::NotSent, How::Send | How::Offer) => {
            let refusal = Refusal::RailUnavailable { retry_after_seconds: UNSENT_RETRY_SECONDS };
            Ruling::write_and_refuse(put_back(book, payment, aside, turn), refusal)
        }
        (RailAnswer::NeverReceived, How::Ask) if payment.order.sends < 2 => {
            let again = Payment { order: payment.order.resent(turn), ..payment.clone() };
            let effect = order(&again, debtor, How::Send, turn);
            Ruling::write_then(Draft::changed(Cause::BankAsked, payment, again), vec![effect])
        }
        (
            RailAnswer::Waiting
            | RailAnswer::Silent
            | RailAnswer::Unaskable
            | RailAnswer::NeverReceived
            | RailAnswer::NotAsked
            | RailAnswer::NotSent,
            _,
        ) => look_on(payment, &reply, None, turn),
    }
}

/// The reversal was not made: what was set aside goes back where it came from.
fn put_back(book: &Book, payment: &Payment, aside: &Aside, turn: &Turn) -> Draft {
    let mut restored = Payment { phase: Phase::Idle, kept: None, ..payment.clone() };
    restored.order.stop();
    let mut draft = Draft::changed(Cause::ReversalRefused, payment, restored);
    aside_of(payment, aside).put_back(&mut draft, book, turn.now);
    draft.spend(&payment.drawn, Currency::Ves, -payment.ves.minor());
    draft.replaces_kept = payment.kept.clone();
    draft
}

/// The bank's word about a reversal that is settled: that one which it refused was made after all,
/// or that it refused one which it made. No money moves by it.
fn contradicted(payment: &Payment, reply: RailReply, turn: &Turn) -> Ruling {
    let (operation, newest) = (reply.operation.entity_and_operation().1, payment.reversal());
    let payment = &payment.noting(operation, &reply.said);
    let order = payment.order.contradicted(operation);
    let said = match (payment.status, &reply.answer, &payment.phase) {
        (Status::Completed, RailAnswer::Done { reference }, Phase::Idle)
            if operation == newest && payment.reversal_ref.is_none() =>
        {
            Payment { reversal_ref: Some(reference.clone().unwrap_or_default()), order, ..payment.clone() }
        }
        (Status::Completed | Status::Reversed, RailAnswer::Done { reference }, _)
            if operation < newest && payment.earlier_reversal.is_none() =>
        {
            let earlier = EarlierReversal { operation, reference: reference.clone().unwrap_or_default() };
            Payment { earlier_reversal: Some(Box::new(earlier)), order, ..payment.clone() }
        }
        (Status::Reversed, RailAnswer::Refused { code }, Phase::Idle) if operation == newest => {
            Payment { phase: Phase::ReversalDenied { code: code.clone() }, order, ..payment.clone() }
        }
        _ => return agreed(payment, operation, &reply, turn),
    };
    Ruling::write(Draft::changed(Cause::OperationContradicted, payment, said))
}

fn reversed(book: &Book, payment: &Payment, aside: &Aside, reference: String, turn: &Turn) -> Ruling {
    let mut reversed = Payment {
        status: Status::Reversed,
        phase: Phase::Idle,
        reversed_at: Some(turn.now),
        reversal_ref: Some(reference),
        kept: None,
        ..payment.clone()
    };
    reversed.order.stop();
    let mut draft = Draft::changed(Cause::PaymentReversed, payment, reversed);
    let (aside, kept) = (aside_of(payment, aside), payment.kept.clone());
    sale::of_payment(payment).give_back(&mut draft, book, "payment reversed", &aside, kept);
    Ruling::write(draft)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entities::Entity;
    use crate::entities::payment::{REVERSE, REVERSE_AGAIN};
    use crate::ledger::Ledger;
    use crate::record::Record;
    use crate::resources::operations;
    use crate::resources::payments::charge::Figured;
    use crate::values::ids::Id;
    use crate::values::money::{Rate, Usd, Ves};
    use crate::values::text::ExternalRef;
    use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
    use std::sync::Arc;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_795_226_000_000);

    fn turn() -> Turn<'static> {
        Turn::at(NOW)
    }

    /// A payment of which nothing is left to give back but what is available.
    fn completed() -> Payment {
        let debtor = Debtor {
            bank: BankCode::parse("0134").expect("a bank"),
            id: IdentityDocument::parse("V12345678").expect("a document"),
            phone: MobilePhone::parse("04141234567").expect("a phone"),
        };
        let means = Means::C2p { debtor, otp_requested: false, token_mark: None };
        let price =
            Figured { usd: Usd::from_minor(1_000), ves: Ves::from_minor(200_000), rate: Rate(200.into()) };
        let external_ref = ExternalRef::parse("pedido").expect("a reference");
        Payment {
            status: Status::Completed,
            completed_at: Some(NOW),
            fee: Some(Ves::ZERO),
            order: OrderState { operation: CHARGE, ..OrderState::default() },
            ..Payment::new(Id::derived(1, 2, 0), external_ref, means, price, &turn())
        }
    }

    /// The payment after what a rule came to, and the operations that the bank is sent.
    fn after(outcome: Ruling, before: &Payment) -> (Payment, Vec<u16>) {
        let sent = outcome
            .effects
            .iter()
            .filter(|effect| effect.how == How::Send)
            .map(|effect| effect.operation.entity_and_operation().1)
            .collect();
        let written = outcome.record.and_then(|draft| draft.record.entities.into_iter().next());
        match written.map(|written| Arc::unwrap_or_clone(written.state)) {
            Some(Entity::Payment(payment)) => (payment, sent),
            _ => (before.clone(), sent),
        }
    }

    fn book() -> Book {
        let mut book = Book::default();
        let mut draft = Draft::new(Cause::Funded);
        draft.post((Currency::Ves, 1_000_000), (Ledger::Tenant, None), (Ledger::Operator, None));
        let record = Record { seed: 1, first_event: 1, ..draft.record };
        book.evolve(&record, NOW);
        book
    }

    fn hears(payment: &Payment, operation: u16, answer: RailAnswer) -> Payment {
        let reply = RailReply::plain(payment.id.operation(operation), How::Ask, answer);
        after(on_rail_reply(&book(), payment, reply, &turn()), payment).0
    }

    fn begins(payment: &Payment) -> (Payment, Vec<u16>) {
        after(reverse(&book(), payment, &turn()).unwrap_or_else(Ruling::refuse), payment)
    }

    fn refused() -> RailAnswer {
        RailAnswer::Refused { code: "41".to_owned() }
    }

    fn done(reference: &str) -> RailAnswer {
        RailAnswer::done(reference)
    }

    #[test]
    fn every_reversal_after_a_refusal_is_an_operation_of_its_own() {
        let mut payment = completed();
        let mut sent = Vec::new();
        for _ in 0..4 {
            let (reversing, operations) = begins(&payment);
            assert_eq!(reversing.operation(), Some(payment.id.operation(operations[0])));
            sent.extend(operations.iter().copied());
            // An order that the bank never received is the same one when it is sent again.
            let operation = payment.id.operation(operations[0]);
            let reply = RailReply::plain(operation, How::Ask, RailAnswer::NeverReceived);
            let (again, resent) = after(on_rail_reply(&book(), &reversing, reply, &turn()), &reversing);
            assert_eq!(resent, operations);
            payment = hears(&again, operations[0], refused());
            assert_eq!((payment.status, &payment.phase), (Status::Completed, &Phase::Idle));
        }
        assert_eq!(sent, [REVERSE, REVERSE_AGAIN, REVERSE_AGAIN + 1, REVERSE_AGAIN + 2]);
        let last = Payment { reversals: REVERSALS_MAX, ..completed() };
        assert_eq!((last.reversal(), begins(&last).1), (u16::MAX, Vec::new()));
    }

    #[test]
    fn a_late_word_about_an_earlier_one_finds_its_payment_and_moves_no_money() {
        let (first, _) = begins(&completed());
        let (second, _) = begins(&hears(&first, REVERSE, refused()));
        for answer in [refused(), RailAnswer::Waiting, RailAnswer::NeverReceived] {
            assert_eq!(hears(&second, REVERSE, answer), second, "nothing new");
        }
        let told = hears(&second, REVERSE, done("R-1"));
        assert_eq!(
            (told.status, &told.phase),
            (Status::Completed, &second.phase),
            "the second is waited for"
        );
        assert_eq!(told.contradicted(), Some(REVERSE));
        let operation = Entity::Payment(told.clone()).rules().contradiction(NOW).expect("an order");
        assert_eq!((operation.id, operation.reference.as_deref()), (told.id.operation(REVERSE), Some("R-1")));
        assert_eq!(hears(&told, REVERSE, done("R-1")), told, "once");
        let reversed = hears(&told, REVERSE_AGAIN, done("R-2"));
        assert_eq!((reversed.status, reversed.reversal_ref.as_deref()), (Status::Reversed, Some("R-2")));
        assert_eq!(reversed.contradicted(), Some(REVERSE), "the bank gave it back twice");
    }

    #[test]
    fn what_the_newest_was_contradicted_by_stays_with_it_when_another_begins() {
        let (first, _) = begins(&completed());
        let told = hears(&hears(&first, REVERSE, refused()), REVERSE, done("R-1"));
        assert_eq!((told.contradicted(), told.reversal_ref.as_deref()), (Some(REVERSE), Some("R-1")));
        let (second, sent) = begins(&told);
        assert_eq!((sent, second.reversal_ref.as_deref()), (vec![REVERSE_AGAIN], None));
        let earlier = EarlierReversal { operation: REVERSE, reference: "R-1".to_owned() };
        assert_eq!(second.earlier_reversal.as_deref(), Some(&earlier));
        let open = Entity::Payment(second.clone()).rules().unanswered();
        assert_eq!(open.iter().map(|open| open.id).collect::<Vec<_>>(), [second.id.operation(REVERSE_AGAIN)]);
    }

    #[test]
    fn none_begins_while_the_bank_is_asked_on_about_one_before() {
        let (first, _) = begins(&completed());
        let refused_by_operator = hears(&first, REVERSE, refused());
        let mut settled = refused_by_operator;
        settled.order.ask_on(&turn());
        let refusal = reverse(&book(), &settled, &turn()).err();
        assert_eq!(refusal, Some(PaymentRefusal::ReversalInProgress.into()));
        // The bank agrees, and nobody asks about the first any more.
        let agreed = hears(&settled, REVERSE, refused());
        assert_eq!((&agreed.phase, begins(&agreed).1), (&Phase::Idle, vec![REVERSE_AGAIN]));
        // A charge that is asked on about is in nobody's way, and what was given back is not completed.
        let mut of_charge = Payment { order: OrderState::first(CHARGE, false, &turn()), ..completed() };
        of_charge.order.ask_on(&turn());
        assert_eq!(begins(&of_charge).1, [REVERSE]);
        let reversed = Payment { status: Status::Reversed, ..settled };
        let refusal = reverse(&book(), &reversed, &turn()).err();
        assert_eq!(refusal, Some(PaymentRefusal::NotCompleted.into()));
    }

    #[test]
    fn an_operators_refusal_of_one_that_nobody_can_be_asked_about_lets_another_begin() {
        let (first, _) = begins(&completed());
        let operation = first.id.operation(REVERSE);
        for (is_unaskable, next) in [(true, vec![REVERSE_AGAIN]), (false, Vec::new())] {
            let noted = if is_unaskable { RailAnswer::Unaskable } else { RailAnswer::Silent };
            let open = hears(&first, REVERSE, noted);
            let reply = RailReply::plain(operation, How::Ask, refused());
            let ruling = on_rail_reply(&book(), &open, reply, &turn());
            let (settled, _) = after(operations::resolved(ruling, operation, &turn()), &open);
            assert_eq!(settled.order.next_look.is_none(), is_unaskable, "{:?}", settled.order);
            assert_eq!(begins(&settled).1, next);
        }
    }

    #[test]
    fn only_a_bank_that_was_asked_can_say_that_it_never_received_one() {
        let (first, _) = begins(&completed());
        let operation = first.id.operation(REVERSE);
        let reply = RailReply::plain(operation, How::Send, RailAnswer::NeverReceived);
        let ruling = on_rail_reply(&book(), &first, reply, &turn());
        assert!(ruling.record.is_none() && ruling.effects.is_empty(), "it is asked about first");
    }
}
