//! Invariants of every record and of the book after it. Checked before a record is written and when
//! it is replayed, in release builds too; a breach halts the book.

use crate::cause::{Cause, SideEffect};
use crate::ledger::Ledger;
use crate::ledger::book::Book;
use crate::record::Record;
use crate::values::ids::Id;
use crate::values::money::Currency;

/// The invariant that a record or the book after it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    #[error("a posting of nothing")]
    EmptyPosting,
    #[error("the postings of {} do not sum to zero: {sums:?}", cause.name())]
    Unbalanced { cause: Cause, sums: [i128; 3] },
    /// A movement is missing, or belongs to nobody who sees it.
    #[error("a posting to {ledger:?} with the wrong kind of row")]
    WrongRow { ledger: Ledger },
    /// Names are freed by a cause that frees none.
    #[error("{} frees names of no space", cause.name())]
    FreedWithoutSpace { cause: Cause },
    /// A hold is on a ledger without holds.
    #[error("a hold on an account that has none")]
    HoldWithoutAccount,
    #[error("less than nothing is held: {held}")]
    HeldBelowZero { held: i64 },
    /// The running total and the holds do not agree.
    #[error("{held} is held by {holds} holds")]
    HoldsDisagree { held: i64, holds: usize },
    #[error("a hold of less than nothing")]
    HoldBelowZero,
    /// A debit takes more than the tenant's balance had.
    #[error("{} overdraws the balance: {left} {} left", cause.name(), currency.code())]
    Overdrawn { cause: Cause, left: i64, currency: Currency },
    /// A debit takes more than a seller's balance had.
    #[error("{} overdraws seller {seller}", cause.name())]
    SellerOverdrawn { cause: Cause, seller: Id },
}

/// Checks `record` and what `book` became by it; the error names the first thing that is wrong.
pub fn check(book: &Book, record: &Record) -> Result<(), Breach> {
    // At most three currencies; a map would cost more than it saves.
    let mut sums = [0_i128; 3];
    for posting in &record.postings {
        if posting.minor == 0 {
            return Err(Breach::EmptyPosting);
        }
        sums[posting.currency as usize] += i128::from(posting.minor);
    }
    if sums != [0; 3] {
        return Err(Breach::Unbalanced { cause: record.cause, sums });
    }
    // Else the index would not know which names are free again.
    let side_effect = record.cause.side_effect();
    if !record.freed.is_empty() && !matches!(side_effect, SideEffect::Free(_)) {
        return Err(Breach::FreedWithoutSpace { cause: record.cause });
    }
    for posting in &record.postings {
        if matches!(posting.ledger, Ledger::Tenant | Ledger::Seller(_)) != posting.row.is_some() {
            return Err(Breach::WrongRow { ledger: posting.ledger });
        }
    }
    for change in &record.holds {
        if !matches!(change.ledger, Ledger::Tenant | Ledger::Seller(_)) {
            return Err(Breach::HoldWithoutAccount);
        }
    }
    for posting in &record.postings {
        let Some(account) = book.owned(posting.ledger, posting.currency) else { continue };
        // Whether the running total agrees with the holds, as far as that can be said without adding all of
        // them up (`pasarela wal verify` does).
        if account.held < 0 {
            return Err(Breach::HeldBelowZero { held: account.held });
        }
        if account.holds.is_empty() != (account.held == 0) {
            return Err(Breach::HoldsDisagree { held: account.held, holds: account.holds.len() });
        }
        if let Some((_, &first)) = account.holds.first_key_value()
            && first < 0
        {
            return Err(Breach::HoldBelowZero);
        }
    }
    if side_effect != SideEffect::Debit {
        return Ok(());
    }
    // The accounts had the money that the record took. Income to a balance that an operator's correction left
    // below zero may leave it below zero, and is no breach.
    for posting in &record.postings {
        let (cause, currency) = (record.cause, posting.currency);
        match posting.ledger {
            _ if posting.minor >= 0 => {}
            Ledger::Tenant => {
                let left = book.spendable(currency);
                if left < 0 {
                    return Err(Breach::Overdrawn { cause, left, currency });
                }
            }
            Ledger::Seller(seller) => match book.owned(posting.ledger, currency) {
                Some(account) if account.free() >= 0 => {}
                _ => return Err(Breach::SellerOverdrawn { cause, seller }),
            },
            Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{self, PersonMarks, Space};
    use crate::indexing;
    use crate::values::ids::PLATFORM;
    use crate::values::time::Timestamp;
    use wal::IndexOps;

    const TENANT: u64 = 7;

    fn freeing(cause: Cause) -> Record {
        Record { freed: vec!["name".to_owned()], first_event: 1, ..Record::new(cause) }
    }

    #[test]
    fn a_freed_name_is_deleted_in_the_space_of_its_cause_and_in_no_other() {
        let spaces = [
            (Cause::MerchantDeleted, TENANT, Space::Merchant),
            (Cause::ProductDeleted, PLATFORM, Space::Slug),
            (Cause::LinkDeleted, PLATFORM, Space::Slug),
            (Cause::PaymentUnsent, TENANT, Space::Payment),
            (Cause::VerificationUnsent, TENANT, Space::DepositStart),
            (Cause::CopPaymentUnsent, TENANT, Space::CheckoutCop),
        ];
        for (cause, owner, space) in spaces {
            let record = freeing(cause);
            assert_eq!(check(&Book::default(), &record), Ok(()), "{cause:?}");
            let mut ops = IndexOps::new();
            indexing::entries(TENANT, Timestamp::EPOCH, &record, &PersonMarks::default(), &mut ops);
            let ops = ops.resolved(1);
            let deleted: Vec<_> = ops.ops().map(|op| (op.key.to_vec(), op.value)).collect();
            assert_eq!(deleted, [(index::name(owner, space, "name"), None)], "{cause:?}");
        }
    }

    #[test]
    fn a_cause_without_a_space_frees_no_name() {
        let record = freeing(Cause::PayoutFailed);
        let breach = Breach::FreedWithoutSpace { cause: Cause::PayoutFailed };
        assert_eq!(check(&Book::default(), &record), Err(breach));
        let mut ops = IndexOps::new();
        indexing::entries(TENANT, Timestamp::EPOCH, &record, &PersonMarks::default(), &mut ops);
        assert_eq!(ops, IndexOps::new(), "no merchant loses its reference to it");
    }
}
