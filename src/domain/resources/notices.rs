//! Notices: messages of banks and processors, sent unasked, about money that came
//! (`docs/contract.md, 18.6`). They are the platform's. A notice of a transfer verifies one Pago
//! Móvil payment, of any tenant.
//!
//! A notice is claimed in a record of its own, before the payment is decided, and stays that
//! payment's for ever: so a payment that is asked about again finds the notice that it has claimed,
//! and no other payment does.

use crate::cause::Cause;
use crate::decision::{Draft, Ruling};
use crate::entities::notice::{About, Claim, Notice};
use crate::refusal::Refusal;
use crate::values::ids::Id;
use crate::values::time::Timestamp;

/// Wrong references for one phone, bank and day after which the whole reference has to be right.
pub const GUESSES_OF_A_PART: usize = 5;
/// Wrong references after which an operator alone says whose the transfer is.
pub const GUESSES: usize = 20;

/// Whether a bank's reference, without its leading zeros, ends with the digits that a payer typed. Typed
/// zeros count: `0001` is the end of `550001` and not of `558881`. Those that reach beyond the
/// reference are the zeros that it was cut of.
pub fn ends_with(reference: &str, typed: &str) -> bool {
    let (cut_off, end) = typed.split_at(typed.len().saturating_sub(reference.len()));
    cut_off.bytes().all(|digit| digit == b'0') && reference.ends_with(end)
}

pub enum Command {
    /// The arrival of the notice; a repeat changes nothing.
    Receive(Box<Notice>),
    /// An operator says whose the transfer is; the tenant's next payment with its reference claims it.
    Give { tenant: u64 },
    /// The claim of a payment, which the notice verifies unless it verified another.
    Claim { tenant: u64, payment: Id },
}

/// The ruling on a command. Whether a claim succeeded is seen in the notice.
pub fn decide(notice: Option<&Notice>, command: Command, now: Timestamp) -> Ruling {
    match (command, notice) {
        (Command::Receive(new), None) => {
            let received = Notice { created_at: now, claim: None, given_to: None, ..*new };
            Ruling::write(Draft::created(Cause::NoticeReceived, received))
        }
        (Command::Claim { tenant, payment }, Some(notice))
            if notice.claim.is_none()
                && notice.given_to.is_none_or(|owner| owner == tenant)
                && matches!(notice.about, About::Transfer(_)) =>
        {
            let claim = Some(Claim { tenant, payment, at: now });
            Ruling::write(Draft::changed(Cause::NoticeClaimed, notice, Notice { claim, ..notice.clone() }))
        }
        (Command::Give { .. }, Some(notice))
            if notice.claim.is_some() || !matches!(notice.about, About::Transfer(_)) =>
        {
            Ruling::refuse(Refusal::NoticeClaimed)
        }
        (Command::Give { tenant }, Some(notice)) if notice.given_to != Some(tenant) => {
            let given = Notice { given_to: Some(tenant), ..notice.clone() };
            Ruling::write(Draft::changed(Cause::NoticeGiven, notice, given))
        }
        (Command::Receive(_) | Command::Claim { .. } | Command::Give { .. }, Some(_)) => Ruling::unchanged(),
        (Command::Claim { .. } | Command::Give { .. }, None) => Ruling::refuse(Refusal::NotFound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entities::Entity;
    use crate::entities::notice::CLAIMED;
    use crate::entities::notice::NoticedDocument;
    use crate::entities::notice::Transfer;
    use crate::entities::notice::UNMATCHED;
    use crate::entities::resource::Resource;
    use crate::values::money::Ves;
    use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};

    fn transfer(reference: &str, paid_at: &str) -> Transfer {
        Transfer {
            reference: reference.to_owned(),
            bank: BankCode::parse("0134").expect("a bank"),
            phone: MobilePhone::parse("04141234567").expect("a phone"),
            amount: Ves::from_minor(123_450),
            paid_at: Timestamp::parse(paid_at).expect("an instant"),
            document: None,
        }
    }

    fn notice(about: About) -> Notice {
        Notice { id: Id::derived(1, 2, 0), about, created_at: Timestamp::EPOCH, claim: None, given_to: None }
    }

    #[test]
    fn the_day_is_that_of_caracas() {
        let day = |paid_at| transfer("1", paid_at).traits().day.to_string();
        assert_eq!(day("2026-11-23T03:59:59Z"), "2026-11-22");
        assert_eq!(day("2026-11-23T04:00:00Z"), "2026-11-23");
        assert_eq!(day("2026-11-22T23:59:59-04:00"), "2026-11-22");
    }

    #[test]
    fn a_reference_ends_with_what_was_typed() {
        for (reference, typed, matches) in [
            ("12340056", "12340056", true),
            ("12340056", "000012340056", true),
            ("12340056", "0056", true),
            ("12340056", "912340056", false),
            ("12340056", "1234", false),
            ("55550001", "0001", true),
            ("55558881", "0001", false),
            ("91234560", "0000", false),
            ("1", "0001", true),
        ] {
            assert_eq!(ends_with(reference, typed), matches, "{reference} {typed}");
        }
    }

    #[test]
    fn the_same_transfer_has_one_name() {
        let at = "2026-11-23T12:00:00Z";
        let name = |transfer| notice(About::Transfer(transfer)).name();
        let one = name(transfer("0042", at));
        assert_eq!(one, name(transfer("42", "2026-11-23T20:00:00Z")));
        assert_ne!(one, name(transfer("43", at)));
        assert_ne!(one, name(transfer("42", "2026-11-24T12:00:00Z")));
        assert_ne!(one, name(Transfer { amount: Ves::from_minor(1), ..transfer("42", at) }));
        assert!(one.starts_with(&transfer("7", at).traits().prefix()));
    }

    #[test]
    fn a_transfer_that_was_given_to_a_tenant_is_claimed_by_nobody_else() {
        let now = Timestamp::from_unix_ms(7);
        let fresh = notice(About::Transfer(transfer("42", "2026-11-23T12:00:00Z")));
        let claim = |tenant| Command::Claim { tenant, payment: Id::derived(3, 4, 0) };
        let written = |ruling: Ruling| match &*ruling.record.expect("written").record.entities[0].state {
            Entity::Notice(notice) => notice.clone(),
            _ => panic!("a notice"),
        };
        let given = written(decide(Some(&fresh), Command::Give { tenant: 2 }, now));
        assert!(decide(Some(&given), Command::Give { tenant: 2 }, now).record.is_none());
        assert!(decide(Some(&given), claim(4), now).record.is_none(), "another tenant");
        let other = written(decide(Some(&given), Command::Give { tenant: 4 }, now));
        assert!(decide(Some(&other), claim(2), now).record.is_none(), "given to another one since");
        let claimed = written(decide(Some(&other), claim(4), now));
        assert!(decide(Some(&claimed), Command::Give { tenant: 2 }, now).refusal.is_some(), "it has paid");
    }

    #[test]
    fn a_document_is_compared_as_far_as_a_notice_has_it() {
        let document = |text| IdentityDocument::parse(text).expect("a document");
        let noticed = |letter, number| NoticedDocument { letter, number };
        for (noticed, text, is) in [
            (noticed(None, 12_345_678), "V12345678", true),
            (noticed(None, 12_345_678), "E12345678", true),
            (noticed(Some(b'V'), 12_345_678), "V12345678", true),
            (noticed(Some(b'V'), 12_345_678), "E12345678", false),
            (noticed(None, 12_345_678), "V12345679", false),
        ] {
            assert_eq!(noticed.is(document(text)), is, "{noticed:?} {text}");
        }
    }

    #[test]
    fn a_notice_is_claimed_once() {
        let now = Timestamp::from_unix_ms(7);
        let fresh = notice(About::Transfer(transfer("42", "2026-11-23T12:00:00Z")));
        let claim = |payment| Command::Claim { tenant: 2, payment };
        let (one, other) = (Id::derived(3, 4, 0), Id::derived(5, 6, 0));
        let draft = decide(Some(&fresh), claim(one), now).record.expect("written");
        let Entity::Notice(claimed) = &*draft.record.entities[0].state else { panic!("a notice") };
        assert!(claimed.claim.is_some_and(|claim| claim.is_of(2, one) && !claim.is_of(4, one)));
        assert_eq!((fresh.facet(), claimed.facet()), (UNMATCHED, CLAIMED));
        for again in [one, other] {
            assert!(decide(Some(claimed), claim(again), now).record.is_none());
        }
        assert!(decide(None, claim(one), now).refusal.is_some());
        let transaction = notice(About::Transaction { id: "7".to_owned(), reference: None });
        assert!(decide(Some(&transaction), claim(one), now).record.is_none());
    }
}
