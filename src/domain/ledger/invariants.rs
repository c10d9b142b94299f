//! Invariants of every record and of the book after it. Checked before a record is written and when
//! it is replayed, in release builds too; a breach halts the book.

use crate::cause::Cause;
use crate::ledger::book::Book;
use crate::ledger::{Account, Ledger, Posting};
use crate::record::Record;
use crate::resources::conversions::spend;
use crate::values::ids::Id;
use crate::values::money::Currency;
use std::collections::BTreeSet;

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
    sums_to_zero(record)?;
    freed_names_have_a_space(record)?;
    movements_are_of_the_tenant_or_a_seller(record)?;
    for account in touched(book, record) {
        holds_agree(account)?;
    }
    nothing_is_overdrawn(book, record)
}

fn sums_to_zero(record: &Record) -> Result<(), Breach> {
    // At most three currencies; a map would cost more than it saves.
    let mut sums = [0_i128; 3];
    for posting in &record.postings {
        if posting.minor == 0 {
            return Err(Breach::EmptyPosting);
        }
        sums[posting.currency as usize] += i128::from(posting.minor);
    }
    if sums == [0; 3] { Ok(()) } else { Err(Breach::Unbalanced { cause: record.cause, sums }) }
}

fn movements_are_of_the_tenant_or_a_seller(record: &Record) -> Result<(), Breach> {
    for posting in &record.postings {
        let owned = matches!(posting.ledger, Ledger::Tenant | Ledger::Seller(_));
        if owned != posting.row.is_some() {
            return Err(Breach::WrongRow { ledger: posting.ledger });
        }
    }
    if record.holds.iter().any(|change| !matches!(change.ledger, Ledger::Tenant | Ledger::Seller(_))) {
        return Err(Breach::HoldWithoutAccount);
    }
    Ok(())
}

/// Checks that the index will know which names are free again.
const fn freed_names_have_a_space(record: &Record) -> Result<(), Breach> {
    if !record.freed.is_empty() && record.cause.freed_space().is_none() {
        return Err(Breach::FreedWithoutSpace { cause: record.cause });
    }
    Ok(())
}

/// The accounts that the record changed.
fn touched<'a>(book: &'a Book, record: &Record) -> impl Iterator<Item = &'a Account> {
    let currencies: BTreeSet<_> = record
        .postings
        .iter()
        .filter(|posting| posting.ledger == Ledger::Tenant)
        .map(|posting| posting.currency)
        .collect();
    let seller = |posting: &Posting| {
        if let Ledger::Seller(id) = posting.ledger { Some((id, posting.currency)) } else { None }
    };
    let sellers: BTreeSet<(Id, Currency)> = record.postings.iter().filter_map(seller).collect();
    let own = currencies.into_iter().map(|currency| book.account(currency));
    own.chain(sellers.into_iter().filter_map(|(id, currency)| Some(book.sellers.get(&id)?.account(currency))))
}

/// Checks that the running total agrees with the holds, as far as that can be said without adding
/// all of them up (`pasarela wal verify` does).
fn holds_agree(account: &Account) -> Result<(), Breach> {
    if account.held < 0 {
        return Err(Breach::HeldBelowZero { held: account.held });
    }
    if account.holds.is_empty() != (account.held == 0) {
        return Err(Breach::HoldsDisagree { held: account.held, holds: account.holds.len() });
    }
    if account.holds.first_key_value().is_some_and(|(_, held)| *held < 0) {
        return Err(Breach::HoldBelowZero);
    }
    Ok(())
}

/// Checks that the accounts had the money that the record took. Income to a balance that an
/// operator's correction left below zero may leave it below zero, and is no breach.
fn nothing_is_overdrawn(book: &Book, record: &Record) -> Result<(), Breach> {
    if !record.cause.debits() {
        return Ok(());
    }
    for posting in record.postings.iter().filter(|posting| posting.minor < 0) {
        match posting.ledger {
            Ledger::Tenant if spend::available(book, posting.currency) < 0 => {
                let (cause, currency) = (record.cause, posting.currency);
                return Err(Breach::Overdrawn { cause, left: spend::available(book, currency), currency });
            }
            Ledger::Seller(id)
                if book.sellers.get(&id).is_none_or(|seller| seller.account(posting.currency).free() < 0) =>
            {
                return Err(Breach::SellerOverdrawn { cause: record.cause, seller: id });
            }
            Ledger::Tenant
            | Ledger::Seller(_)
            | Ledger::Fees
            | Ledger::Rail
            | Ledger::Operator
            | Ledger::Exchange => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{self, PersonMarks, Space};
    use crate::indexing;
    use crate::values::mode::PLATFORM;
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
            let deleted: Vec<_> = ops.iter(1).map(|(key, value)| (key.into_owned(), value)).collect();
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
        assert!(ops.is_empty(), "no merchant loses its reference to it");
    }
}
